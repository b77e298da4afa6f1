use mind::mind;

mind! {
    fn axis<N>(x: f32[N]) -> i64[N] { iota(N, axis = 1) }

    fn extent<N>(x: i64[N]) -> f32[N, 2] { one_hot(x, 0) }

    fn floats<N>(x: f32[N]) -> f32[N, 3] { one_hot(x, 3) }

    fn truths<N>(x: bool[N]) -> f32[N, 3] { one_hot(x, 3) }

    fn no_extent<N>(x: f32[N]) -> f32[N] { f32(iota(x)) }

    fn no_dtype<N>(x: i64[N]) -> f32[N, 3] { one_hot(x, 3, 0) }

    fn of_floats<N>(x: f32[N]) -> f32[N] { x + iota(2.0) }
}

fn main() {}
