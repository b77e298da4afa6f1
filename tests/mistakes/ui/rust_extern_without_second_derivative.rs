mind::ks!("(def cell (Vec Float) (x : Vec Float) (map (lam (a : Float) (mul a a)) x))", grad = [rev cell]);

mind::mind! {
    extern fn cell(x: f64[8]) -> f64[8];
    pub fn f(x: f64[8]) -> f64 { sum(cell(x)) }
    #[grad(x)]
    pub fn g(x: f64[8]) -> f64 { sum(grad(f, wrt = x)(x)) }
}

fn main() {}
