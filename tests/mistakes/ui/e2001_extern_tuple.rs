mind::ks!("(def both (Tuple (Vec Float) Float) (x : Vec Float) (tuple x (sum x)))");

mind::mind! {
    extern fn both(x: f64[8]) -> (f64[8], f64);
    pub fn f(x: f64[8]) -> f64 { let (y, s) = both(x); sum(y) * s }
}

fn main() {}
