//! The type of a parameter contains `..` twice.

mind::mind! {
    fn total(x: float[.., 2, ..]) { sum(x) }
}

fn main() {}
