//! A sort along an axis that does not exist.

mind::mind! {
    fn f<N>(x: f32[N]) -> f32[N] { sort(x, axis = 3) }

    fn g(x: f32) -> f32 { num::median(x) }

    fn h<N, M>(x: f32[N, M]) -> f32[M, N] { moveaxis(x, 0, 2) }
}

fn main() {}
