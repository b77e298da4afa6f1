use mind::mind;

mind! {
    fn hidden(x: f32[32, 784], w: f32[784, 256]) -> f32[32, 256] {
        relu(x @ w)
    }

    fn f(x: f32[32, 784], w1: f32[784, 256], w2: f32[128, 10]) -> f32[32, 10] {
        let h = hidden(x, w1);
        let scaled = h * 2.0;
        scaled @ w2
    }
}

fn main() {}
