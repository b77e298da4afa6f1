use mind::mind;

mind! {
    fn axis<N>(x: f32[N, 3], i: i64[N, 1]) -> f32[N, 1] { take_along(x, i, axis = 2) }

    fn ranks<N>(x: f32[N, 3], i: i64[N]) -> f32[N] { take_along(x, i, axis = 1) }

    fn extents<N, M>(x: f32[N, 3], i: i64[M, 1]) -> f32[M, 1] { take_along(x, i, axis = 1) }

    fn floats<N>(x: f32[N, 3], i: f32[N, 1]) -> f32[N, 1] { take_along(x, i, axis = 1) }

    fn no_axis<N>(x: f32[N, 3], i: i64[N, 1]) -> f32[N, 1] { take_along(x, i) }

    fn as_in_torch<N>(x: f32[N, 3], i: i64[N, 1]) -> f32[N, 1] { gather(x, 1, i) }
}

fn main() {}
