use mind::mind;
use ndarray::Array1;

mind! {
    pub fn total<N, M>(x: f32[N, M]) -> f32 {
        sum(x)
    }
}

fn main() {
    total(&Array1::<f32>::zeros(3));
}
