//! The divisor of an integer division or of a remainder must not be the constant 0.

mind::mind! {
    fn quotient<N>(x: i32[N]) -> i32[N] {
        x / 0
    }

    fn remainder<N>(x: i64[N]) -> i64[N] {
        x % (2 - 2)
    }
}

fn main() {}
