//! A mistake that only shows in the types of variables is reported when rustc evaluates the rules.

fn main() {
    let x: mind::Tensor![f32; 3] = mind::Tensor::zeros();
    let mask: mind::Tensor![bool; 3] = mind::mind!(x > 0.0);
    _ = mind::mind!(x + mask);
}
