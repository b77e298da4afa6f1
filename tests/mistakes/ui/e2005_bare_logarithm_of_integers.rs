use mind::{Tensor, mind};

fn main() {
    let counts: Tensor![i64; 3] = Tensor::zeros();
    let _ = mind!(log(counts));
}
