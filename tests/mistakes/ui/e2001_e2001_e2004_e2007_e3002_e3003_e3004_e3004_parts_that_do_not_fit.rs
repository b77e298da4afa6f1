use mind::mind;

mind! {
    fn extents<N, M>(x: f32[N, 3], y: f32[M, 3]) -> f32[N, 6] { concat([x, y], axis = 1) }

    fn types(x: f32[3], y: f64[3]) -> f32[6] { concat([x, y]) }

    fn axis(x: f32[3], y: f32[3]) -> f32[6] { concat([x, y], axis = 1) }

    fn number(x: f32[3], y: f32) -> f32[4] { concat([x, y]) }

    fn numbers(x: f32, y: f32) -> f32[2] { concat([x, y]) }

    fn no_list(x: f32[3], y: f32[3]) -> f32[6] { concat(x, y) }

    fn nothing(x: f32[3]) -> f32[3] { x + concat([]) }

    fn no_parts(x: f32[3], y: f32[3]) -> f32[6] { [x, y] }
}

fn main() {}
