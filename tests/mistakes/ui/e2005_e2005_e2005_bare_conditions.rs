//! Numbers as truth values and the reverse, in expressions that show this without the types of variables.

fn main() {
    let x: mind::Tensor![f32; 3] = mind::Tensor::zeros();
    _ = mind::mind!(where(x * 2.0, x, 0.0));
    _ = mind::mind!(sum((x > 0.0) * 2.0));
    _ = mind::mind!((x > 0.0) && (x + 1.0));
}
