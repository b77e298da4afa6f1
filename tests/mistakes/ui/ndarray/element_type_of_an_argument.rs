use mind::mind;
use ndarray::Array2;

mind! {
    pub fn total<N>(x: f32[N, 3]) -> f32 {
        sum(x)
    }
}

fn main() {
    total(&Array2::<f64>::zeros((2, 3)));
}
