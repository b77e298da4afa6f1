//! Leading dimensions stand twice.

mind::mind! {
    fn total(x: float[.., 2, ..]) { sum(x) }
}

fn main() {}
