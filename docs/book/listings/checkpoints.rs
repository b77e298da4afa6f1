use mind::{Tensor, mind};

mind! {
    fn flow(h: f64[64], w: f64[64]) -> f64[64] { tanh(h * w) + 0.9 * h }

    #[grad(w)]
    fn end(h: f64[64], w: f64[64]) -> f64 {
        let h = fold h = h for _i in 0..500 { flow(h, w) };
        sum(h)
    }

    #[grad(w)]
    fn kept(h: f64[64], w: f64[64]) -> f64 {
        let h = fold h = h for _i in 0..500, checkpoint = 25 { flow(h, w) };
        sum(h)
    }
}

fn main() {
    let (h, w) = (Tensor::full(0.5), Tensor::full(0.1));
    println!("{}", end_grad(&h, &w) == kept_grad(&h, &w));
    println!("{} and {} bytes", end_grad::PEAK_BYTES, kept_grad::PEAK_BYTES);
}
