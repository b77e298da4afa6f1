use mind::mind;

mind! {
    fn squared<N>(x: f32[N]) -> f32[N] {
        let twice = 2.0 * x;
        x * twice / 2.0
    } pullback(_, dy) {
        dy * twice
    }
}

fn main() {}
