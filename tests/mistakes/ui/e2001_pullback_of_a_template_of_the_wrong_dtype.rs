use mind::mind;

mind! {
    fn doubled(x: float[..]) {
        x * 2.0
    } pullback(_, dy) {
        f32(dy * 2.0)
    }

    fn narrow<N>(x: f32[N]) -> f32[N] { doubled(x) }

    fn wide<N>(x: f64[N]) -> f64[N] { doubled(x) }
}

fn main() {}
