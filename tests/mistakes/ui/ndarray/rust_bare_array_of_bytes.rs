use mind::mind;
use ndarray::Array2;

fn main() {
    let (x, pixels) = (Array2::<f32>::zeros((2, 3)), Array2::<u16>::zeros((2, 3)));
    let _ = mind!(x + pixels);
}
