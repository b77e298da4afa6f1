mind::ks!("(def square Float (x : Float) (mul x x))", export = [sqare]);

fn main() {}
