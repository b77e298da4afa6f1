use mind::mind;

mind! {
    fn step(w: f32[3], dw: f32[3]) -> f32[3] {
        w -= 0.1 * dw;
        w
    }
}

fn main() {}
