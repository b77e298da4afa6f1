use mind::{Tensor, mind};

const N: usize = 4;

fn main() {
    let x: Tensor![f32; {N}, 3] = Tensor::zeros();
    let _ = mind!(late: x * 2.0 : f32[N, 3]);
}
