//! Structs over parameters are of the library.

mind::mind! {
    struct Average<P: params> { mean: P, steps: i64 }
    fn steps(average: Average) -> i64 { average.steps }
}

fn main() {}
