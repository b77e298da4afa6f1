use mind::mind;

mind! {
    #[memory(max = "16 KiB")]
    #[grad(w)]
    fn loss(x: f32[64, 32], w: f32[32, 32]) -> f32 {
        let h = tanh(x @ w);
        let y = tanh(h @ w);
        mean(y @ w)
    }
}

fn main() {}
