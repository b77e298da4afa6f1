mind::ks!(def square Float (x : Float) (mul x x));

fn main() {}
