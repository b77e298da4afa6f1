//! A template takes elements of a class that there is not.

mind::mind! {
    fn total(x: floats[..]) { sum(x) }
}

fn main() {}
