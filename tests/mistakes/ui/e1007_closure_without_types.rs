use mind::{Tensor, mind};

fn main() {
    let double = mind!(|x| x + x);
    let y: Tensor![f32; 3] = double(&Tensor::from([1.0, 2.0, 3.0]));
    println!("{y:?}");
}
