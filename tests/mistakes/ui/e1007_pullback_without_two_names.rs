use mind::mind;

mind! {
    fn doubled<N>(x: f32[N]) -> f32[N] {
        x * 2.0
    } pullback(dy) {
        dy * 2.0
    }
}

fn main() {}
