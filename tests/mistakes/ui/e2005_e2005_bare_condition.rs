//! A variable that another use shows to be a number cannot be a condition.

fn main() {
    let x: mind::Tensor![f32; 3] = mind::Tensor::zeros();
    _ = mind::mind!(where(x, x, 0.0));
    _ = mind::mind!(any(x > 0.0) && x);
}
