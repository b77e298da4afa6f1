use mind::{Tensor, mind};

mind! {
    /// The frequency with the largest magnitude, in cycles per sample.
    fn strongest<N>(x: f64[N]) -> f64 {
        let sizes = num::norm(fft::rfft(x - mean(x)));
        gather(fft::rfftfreq(1.0, N), argmax(sizes))
    }

    /// `x` without frequencies above a bound.
    fn smooth<N>(x: f64[N], bound: f64) -> f64[N] {
        let kept = fft::rfftfreq(1.0, N) <= bound;
        fft::irfft(where(kept[.., _], fft::rfft(x), 0.0), N)
    }

    /// How far the frequencies of two signals differ.
    #[grad(x)]
    fn distance<N>(x: f64[N], y: f64[N]) -> f64 { mean((fft::rfft(x) - fft::rfft(y)) ** 2.0) }
}

fn main() {
    let x = Tensor::from([1.0, 0.25, -1.0, 0.25, 1.0, -0.25, -1.0, -0.25]);
    println!("{:.3}", strongest(&x));
    println!("{:.3}", smooth(&x, 0.2));
    let (distance, gradient) = distance_grad(&x, &Tensor::from([0.0; 8]));
    println!("{distance:.3} {gradient:.3}");
}
