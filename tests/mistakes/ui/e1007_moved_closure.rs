use mind::{Tensor, mind};

fn main() {
    let double = mind!(move |x: f32[3]| x + x);
    println!("{:?}", double(&Tensor::from([1.0, 2.0, 3.0])));
}
