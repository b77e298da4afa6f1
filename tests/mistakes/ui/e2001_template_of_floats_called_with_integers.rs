//! A template of floats is called with integers.

mind::mind! {
    fn halved(x: float[..]) { x / 2.0 }
    fn f(i: i64[4]) -> i64[4] { halved(i) }
}

fn main() {}
