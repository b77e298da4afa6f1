use mind::{Tensor, mind};

mind! {
    /// The largest element of each window of 3×3, with stride 2.
    fn max_pooled<N, H, W, C>(x: float[N, H, W, C]) {
        max_pool(x, [3, 3], strides = [2, 2], padding = [[1, 1], [1, 1]])
    }

    /// The mean of each square of 2×2.
    fn mean_pooled<N, H, W, C>(x: float[N, H, W, C]) {
        avg_pool(x, [2, 2], strides = [2, 2])
    }

    /// The mean of the whole image, for each channel.
    fn global<N, H, W, C>(x: float[N, H, W, C]) {
        mean(x, axes = [1, 2])
    }

    /// The spread of the elements in each window of a signal.
    fn spread<N>(x: f32[N, 6]) -> f32[N, 4] {
        let windows = unfold(x, 3, axes = 1);
        max(windows, axis = 2) - min(windows, axis = 2)
    }

    #[grad(x)]
    fn loss<N>(x: f32[N, 4, 4, 1]) -> f32 {
        let y = max_pooled(x);
        sum(y * y)
    }
}

fn main() {
    let x: Tensor![f32; 1, 4, 4, 1] = Tensor::from_fn(|[_, i, j, _]| (4 * i + j) as f32);
    println!("{}", mind!(self::max_pooled(x)[0, .., 0]));
    println!("{}", mind!(self::mean_pooled(x)[0, .., 0]));
    println!("{}", mind!(self::global(x)));
    println!("{}", spread(&Tensor::from([[1.0, 4.0, 2.0, 2.0, 9.0, 0.0]])));

    // The cotangent of each window goes to its largest element.
    let (value, dx) = loss_grad(&x);
    println!("{value} {}", mind!(dx[0, .., 0]));
}
