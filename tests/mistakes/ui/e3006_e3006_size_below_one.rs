//! A number of elements below 1.

mind::mind! {
    fn f<N>(c: bool[N]) -> i64[3] { num::nonzero(c, size = -3) }

    fn g<N>(x: f32[N]) -> f32[3] { num::unique(x, size = 0) }
}

fn main() {}
