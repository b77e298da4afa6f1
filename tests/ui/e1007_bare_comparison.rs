//! Truth values are of functions and closures, whose types are written.

fn main() {
    let x: mind::Tensor![f32; 3] = mind::Tensor::zeros();
    let _ = mind::mind!(x * f32(x > 0.0));
    let _ = mind::mind!(|x: f32[3]| x * f32(x > 0.0))(&x);
}
