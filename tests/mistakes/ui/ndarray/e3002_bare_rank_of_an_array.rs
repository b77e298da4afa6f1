use mind::mind;
use ndarray::{Array0, Array2};

fn main() {
    let (x, w) = (Array2::<f32>::zeros((2, 3)), Array0::<f32>::zeros(()));
    let _ = mind!(relu(x @ w));
}
