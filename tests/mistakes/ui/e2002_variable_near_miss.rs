use mind::mind;

mind! {
    fn f(logits: f32[32, 10]) -> f32 {
        sum(exp(logit))
    }
}

fn main() {}
