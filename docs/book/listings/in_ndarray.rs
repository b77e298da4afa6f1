use ndarray::{Array1, Array2, arr1, arr2};

/// The mean squared error, and its gradient, derived by hand.
fn error(
    x: &Array2<f64>, y: &Array1<f64>, w: &Array1<f64>,
) -> (f64, Array1<f64>) {
    let miss = x.dot(w) - y;
    let n = miss.len() as f64;
    let value = miss.mapv(|m| m * m).sum() / n;
    (value, x.t().dot(&miss) * (2.0 / n))
}

fn main() {
    let x = arr2(&[[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]);
    let y = arr1(&[1.0, 3.0, 5.0]);
    let mut w = Array1::zeros(2);
    for _ in 0..3 {
        let (value, g) = error(&x, &y, &w);
        w = &w - 0.1 * &g;
        println!("{value:.4}");
    }
    println!("{w:.3}");
}
