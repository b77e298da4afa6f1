use mind::Tensor;

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    let row: Tensor![f32; 3] = Tensor::zeros();
    let _ = &x + &row;
}
