use mind::{Tensor, mind};

mind! {
    const WIDTH: dim = 2;

    /// The means of neighbours: one element fewer than `x` has.
    fn between<N>(x: f32[N]) -> f32[N - 1] {
        (x[..-1] + x[1..]) / 2.0
    }

    /// The rows, one after the other.
    fn flat<N>(x: f32[N, WIDTH]) -> f32[WIDTH * N] {
        reshape(x, [-1])
    }

    /// Each row divided by its sum, and the number of rows.
    fn shares<N, M>(x: f32[N, M]) -> (f32[N, M], i64) {
        (x / sum(x, axis = 1, keepdims = true), N)
    }
}

fn main() {
    let x: Tensor![f32; 4] = Tensor::from([1.0, 2.0, 4.0, 8.0]);
    println!("{}", between(&x));
    let (of_rows, rows) = shares(&Tensor::from([[1.0, 3.0], [2.0, 2.0]]));
    println!("{} of {rows} rows", flat(&of_rows));

    let t: Tensor![i64; 2, 3] = Tensor::from_fn(|[i, j]| (10 * i + j) as i64);
    println!("{} {} {}", mind!(t[1]), mind!(t[.., 0]), mind!(t[-1, 1..]));
    println!("{} {}", mind!(t[.., ..;2]), mind!(t[0, _]));
    println!("{} {}", mind!(t.T), mind!(sum(t, axes = [0, 1])));
    println!("{}", mind!(concat([t, 100 + t], axis = -1)));
}
