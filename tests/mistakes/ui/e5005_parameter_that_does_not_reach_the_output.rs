use mind::mind;

mind! {
    #[grad(w, b)]
    fn loss(x: f32[3], w: f32[3], b: f32) -> f32 {
        let y = x * w + b;
        sum(x * w)
    }
}

fn main() {}
