use mind::{Tensor, mind};

struct Net {
    w1: Tensor![f32; 64, 32],
    w2: Tensor![f32; 10, 32],
}

fn main() {
    let net = Net { w1: Tensor::zeros(), w2: Tensor::zeros() };
    let x: Tensor![f32; 8, 64] = Tensor::zeros();
    let h = mind!(relu(x @ net.w1));
    let _ = mind!(h @ net.w2);
}
