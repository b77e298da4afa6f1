use mind::{Tensor, mind};

mind! {
    /// The largest element of each 2×2 square, in an image with even sides.
    fn max_pool<N, H, W, C>(x: float[N, H, W, C]) {
        max(reshape(x, [N, H / 2, 2, W / 2, 2, C]), axes = [2, 4])
    }

    /// The same for squares that overlap, with stride 1.
    fn max_pool_overlapping<N, H, W, C>(x: float[N, H, W, C]) {
        let of_rows = maximum(x[0.., ..-1], x[0.., 1..]);
        maximum(of_rows[0.., 0.., ..-1], of_rows[0.., 0.., 1..])
    }

    /// The mean of each 2×2 square.
    fn mean_pool<N, H, W, C>(x: float[N, H, W, C]) {
        mean(reshape(x, [N, H / 2, 2, W / 2, 2, C]), axes = [2, 4])
    }

    #[grad(x)]
    fn loss<N>(x: f32[N, 2, 4, 1]) -> f32 {
        let y = max_pool(x);
        sum(y * y)
    }
}

fn main() {
    let x: Tensor![f32; 1, 2, 4, 1] = Tensor::from_fn(|[_, i, j, _]| (4 * i + j) as f32);
    println!("{}", mind!(self::max_pool(x)[0, .., 0]));
    println!("{}", mind!(self::mean_pool(x)[0, .., 0]));
    println!("{}", mind!(self::max_pool_overlapping(x)[0, .., 0]));

    // The cotangent goes to the largest element of each square.
    let (value, dx) = loss_grad(&x);
    println!("{value} {}", mind!(dx[0, .., 0]));
}
