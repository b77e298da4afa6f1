use mind::mind;

mind! {
    fn step(w: &mut f32[3], dw: f32[3]) -> f32 {
        w -= dw;
        sum(w)
    } pullback(y, dy) {
        dw
    }
}

fn main() {}
