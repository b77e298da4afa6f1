use mind::mind;

mind! {
    fn scale<N>(x: f32[N], by: f32) -> f32[N] {
        x * by
    } pullback(y, dy) {
        dy * by
    }
}

fn main() {}
