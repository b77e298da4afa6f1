use mind::mind;

mind! {
    fn f(x: f32[32, 784], w: f32[784, 256]) -> f32[32, 784] {
        relu(x @ w)
    }
}

fn main() {}
