use mind::{Tensor, mind};

mind! {
    /// The largest of each 2×2 square, of any image whose sides are even.
    fn max_pool<N, H, W, C>(x: float[N, H, W, C]) {
        max(reshape(x, [N, H / 2, 2, W / 2, 2, C]), axes = [2, 4])
    }

    /// The same of squares that overlap, one for each place but the last ones.
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

    // What flows back goes to the largest.
    let (value, dx) = loss_grad(&x);
    println!("{value} {}", mind!(dx[0, .., 0]));
}
