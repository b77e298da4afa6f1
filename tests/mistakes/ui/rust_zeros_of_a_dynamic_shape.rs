use mind::Tensor;

fn main() {
    let _: Tensor![f32; ?, 3] = Tensor::zeros();
}
