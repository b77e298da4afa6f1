use mind::{Tensor, mind};

fn main() {
    let scale = 2.0;
    let f = mind!(|x: f32[3]| x * scale);
    println!("{:?}", f(&Tensor::from([1.0, 2.0, 3.0])));
}
