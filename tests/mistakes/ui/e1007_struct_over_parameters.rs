//! Only structs of the library can have a `params` parameter.

mind::mind! {
    struct Average<P: params> { mean: P, steps: i64 }
    fn steps(average: Average) -> i64 { average.steps }
}

fn main() {}
