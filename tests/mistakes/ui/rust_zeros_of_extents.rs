use mind::Tensor;

fn main() {
    let _ = Tensor::<f32, _>::zeros((5, 3));
}
