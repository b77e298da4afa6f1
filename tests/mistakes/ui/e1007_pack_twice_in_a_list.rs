//! A shape contains the same leading dimensions twice.

mind::mind! {
    fn spread<..B>(x: float[..B]) { broadcast_to(x, [..B, 2, ..B]) }
}

fn main() {}
