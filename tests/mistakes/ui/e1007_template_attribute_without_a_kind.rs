//! It is not told what an attribute of a template is.

mind::mind! {
    fn total(x: float[..], const axis = -1) { sum(x, axis = axis) }
}

fn main() {}
