use mind::mind;

mind! {
    fn wide(a: f64[2, 3]) -> f64[2] { linalg::eigvalsh(a) }

    fn rank(a: f64[3]) -> f64[3, 3] { linalg::cholesky(a) }

    fn integers(a: i64[3, 3]) -> i64[3, 3] { let (q, _) = linalg::qr(a); q }

    fn sides(a: f64[3, 3], b: f64[2, 1]) -> f64[3, 1] { linalg::solve(a, b) }

    fn squares(a: f64[3, 2], b: f64[2, 1]) -> f64[2, 1] { linalg::lstsq(a, b) }

    fn values<M, N>(a: f64[M, N]) -> f64[N] { linalg::svdvals(a) }

    fn columns(a: f64[2, 3]) -> f64[3] { values(a) }

    fn vector(a: f64[3, 3], b: f64[2]) -> f64[3] { linalg::solve(a, b) }
}

mind! {
    fn vectors<B>(a: f64[3, 3], b: f64[B, 3]) -> f64[B, 3] { linalg::solve_triangular(a, b) }

    fn number(a: f64[3, 3], b: f64) -> f64[3] { linalg::lstsq(a, b) }

    fn square<M, N>(a: f64[M, N]) -> f64[M, M] { let (q, _) = linalg::qr(a); q }
}

fn main() {}
