use mind::mind;

mind! {
    fn shapes<N, M>(x: f32[N], y: f32[M]) -> f32[2, N] { stack([x, y]) }

    fn types(x: f32[3], y: f64[3]) -> f32[2, 3] { stack([x, y]) }

    fn axis(x: f32[3]) -> f32[2, 3] { stack([x, x], axis = 2) }
}

fn main() {}
