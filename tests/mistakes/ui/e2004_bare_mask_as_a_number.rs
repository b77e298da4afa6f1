//! What only the types of variables tell is told by the rules.

fn main() {
    let x: mind::Tensor![f32; 3] = mind::Tensor::zeros();
    let mask: mind::Tensor![bool; 3] = mind::mind!(x > 0.0);
    _ = mind::mind!(x + mask);
}
