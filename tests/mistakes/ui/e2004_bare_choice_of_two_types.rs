//! The operands that `where` selects from must have the same element type.

fn main() {
    let x: mind::Tensor![f32; 3] = mind::Tensor::zeros();
    let y: mind::Tensor![f64; 3] = mind::Tensor::zeros();
    _ = mind::mind!(where(x > 0.0, x, y));
}
