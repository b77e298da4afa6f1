mind::ks!("(edef f Float (Float)) (def g Float (x : Float) (f x))", grad = [g]);

fn main() {}
