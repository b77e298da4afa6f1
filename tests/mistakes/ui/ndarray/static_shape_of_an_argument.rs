use mind::{Tensor, mind};

mind! {
    pub fn f(x: f32[32, 784], w: f32[784, 256]) -> f32[32, 256] {
        x @ w
    }
}

fn main() {
    let x: Tensor![f32; 32, 783] = Tensor::zeros();
    f(&x, &Tensor::zeros());
}
