use mind::mind;

mind! {
    fn scaled<N>(x: f32[N], y: f32) -> f32[N] {
        x * y
    } pullback(y, dy) {
        (dy * y, 0.0)
    }
}

fn main() {}
