use mind::mind;
use ndarray::{Array2, ArrayD};

fn main() {
    let (x, w) = (Array2::<f32>::zeros((2, 3)), ArrayD::<f32>::zeros(vec![3, 2]));
    let _ = mind!(relu(x @ w));
}
