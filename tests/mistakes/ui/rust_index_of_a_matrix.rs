use mind::Tensor;

fn main() {
    let matrix: Tensor![f32; 2, 3] = Tensor::zeros();
    let _ = matrix[0];
}
