use mind::mind;

mind! {
    fn loss(weights: f32[3]) -> f32 {
        sum(weights * weights)
    }

    fn f(weights: f32[3]) -> f32[3] {
        grad(loss, wrt = weight)(weights)
    }
}

fn main() {}
