use mind::{Tensor, mind};

mind! {
    /// The least squares line through points, by the normal equations.
    fn line<N>(x: f64[N], y: f64[N]) -> f64[2] {
        let a = stack([ones_like(x), x], axis = 1);
        linalg::solve(a.T @ a, a.T @ y)
    }

    /// `vᵀ m⁻¹ v` for a batch of positive definite matrices.
    fn variance<B, N>(m: f64[B, N, N], v: f64[N]) -> f64[B] {
        let z = linalg::solve_triangular(linalg::cholesky(m), v, lower = true);
        sum(z * z, axis = 1)
    }

    #[grad(m)]
    fn volume(m: f64[2, 2]) -> f64 { linalg::logdet(m) }
}

fn main() {
    let (x, y) = (Tensor::from([0.0, 1.0, 2.0]), Tensor::from([1.0, 3.0, 5.0]));
    println!("{:.3}", line(&x, &y));

    let m = Tensor::from([[[4.0, 2.0], [2.0, 5.0]], [[1.0, 2.0], [2.0, 1.0]]]);
    println!("{:.3}", variance(&m, &Tensor::from([2.0, 3.0])));
    match try_variance(&m, &Tensor::from([2.0, 3.0])) {
        Ok(variance) => println!("{variance:.3}"),
        Err(error) => println!("{error}"),
    }
    let (_, gradient) = volume_grad(&Tensor::from([[2.0, 0.0], [1.0, 4.0]]));
    println!("{gradient:.3}");
}
