use mind::{Tensor, mind};

fn main() {
    let counts: Tensor![i64; 3] = Tensor::zeros();
    let _ = mind!(grad(sum(counts), wrt = counts));
}
