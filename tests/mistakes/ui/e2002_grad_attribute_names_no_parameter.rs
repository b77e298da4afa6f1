use mind::mind;

mind! {
    #[grad(b)]
    fn loss(w: f32[3]) -> f32 {
        sum(w * w)
    }
}

fn main() {}
