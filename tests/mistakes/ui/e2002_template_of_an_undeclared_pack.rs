//! Leading dimensions are not declared.

mind::mind! {
    fn rows<D>(x: float[..B, D]) { sum(x, axis = -1) }
}

fn main() {}
