use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 6] = Tensor::zeros();
    let _ = mind!(tile(x, [2]));
    let _ = mind!(split(x, 4, axis = -1).0);
}
