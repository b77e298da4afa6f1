mind::ks!("(edef f Float (Float))", bind = [reverse f = f64::exp]);

fn main() {}
