mind::ks!("(def f Float (x : Float) x)", bind = [f = f64::exp]);

fn main() {}
