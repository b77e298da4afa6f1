use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    let rows: &Vec<Vec<f32>> = &vec![vec![1.0; 3]; 2];
    let _ = mind!(relu(x + rows));
}
