mind::ks!("(def square Float (x : Float) (mul x x))", precison = f32);

fn main() {}
