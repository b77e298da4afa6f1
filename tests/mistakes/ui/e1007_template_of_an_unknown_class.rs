//! A template names a class of element types that does not exist.

mind::mind! {
    fn total(x: floats[..]) { sum(x) }
}

fn main() {}
