mod model {
    mind::ks!("(def cell (Vec Float) (x : Vec Float) (map (lam (a : Float) (mul a a)) x))");

    mind::mind! {
        extern fn cell(x: f64[8]) -> f64[8];
        pub fn f(x: f64[8]) -> f64[8] { cell(x) }
    }
}

mind::mind! {
    use crate::model::f;
    pub fn g(x: f64[8]) -> f64[8] { f(x) }
}

fn main() {}
