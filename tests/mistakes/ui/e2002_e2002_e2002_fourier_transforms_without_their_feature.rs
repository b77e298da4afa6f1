use mind::{Tensor, mind};

mind! {
    fn spectrum<N>(x: f64[N]) -> f64[N / 2 + 1, 2] { fft::rfft(x) }

    fn total<B, N>(x: f64[B, N, 2]) -> f64 { fold sum = 0.0 for row in x { sum + row[0, 0] * fft::fft(row)[0, 0] } }
}

fn main() {
    let x = Tensor::from([1.0, 2.0, 3.0]);
    let _ = mind!(fft::rfft(x));
}
