//! Index tensors where they cannot stand.

mind::mind! {
    fn mask<N>(x: f32[N], m: bool[N]) -> f32[N] { x[m] }

    fn replaced<N>(x: f32[N, 3], i: i32[2], u: f32[N, 2]) -> f32[N, 3] { replace(x[.., i], u) }

    fn unlike<N, M>(x: f32[N, M], i: i32[2], j: i32[3]) -> f32[2] { x[i, j] }
}

fn main() {}
