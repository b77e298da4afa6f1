//! An attribute of a template is declared without its kind.

mind::mind! {
    fn total(x: float[..], const axis = -1) { sum(x, axis = axis) }
}

fn main() {}
