use mind::mind;

mind! {
    #[grad(w, w)]
    fn loss(w: f32[3]) -> f32 {
        sum(w * w)
    }
}

fn main() {}
