use mind::{Tensor, mind};

fn main() {
    let x = Tensor::from([1.0, 2.0]);
    let _ = mind!(jvp(sum(x * x), wrt = x));
}
