use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3, 4] = Tensor::zeros();
    let y = mind!(x[0, .., 2..5] * 2.0);
    println!("{y:?}");
}
