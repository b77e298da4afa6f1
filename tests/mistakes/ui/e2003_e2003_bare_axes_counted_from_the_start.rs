use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 6] = Tensor::zeros();
    let _ = mind!(repeat(x, 2, axis = 0));
    let _ = mind!(split(x, 3, axis = 1).0);
}
