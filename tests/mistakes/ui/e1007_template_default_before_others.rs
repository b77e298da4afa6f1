//! A parameter without a default follows one with a default.

mind::mind! {
    fn total(x: float[..], const axis: axis = -1, const keepdims: bool) { sum(x, axis = axis, keepdims = keepdims) }
}

fn main() {}
