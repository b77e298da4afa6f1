use mind::{Tensor, mind};

mind! {
    /// The frequency with the largest magnitude, in cycles per sample.
    fn strongest<N>(x: f32[N]) -> f32 {
        let sizes = num::norm(fft::rfft(x - mean(x)));
        gather(fft::rfftfreq(1.0, N), argmax(sizes))
    }

    /// `x` without frequencies above a bound.
    fn smooth<N>(x: f32[N], bound: f32) -> f32[N] {
        let kept = fft::rfftfreq(1.0, N) <= bound;
        fft::irfft(where(kept[.., _], fft::rfft(x), 0.0), N)
    }

    /// How far the frequencies of two signals differ.
    #[grad(x)]
    fn distance<N>(x: f32[N], y: f32[N]) -> f32 {
        let difference = fft::rfft(x) - fft::rfft(y);
        mean(difference * difference)
    }
}

fn main() {
    let x = Tensor::from([1.0, 0.25, -1.0, 0.25, 1.0, -0.25, -1.0, -0.25]);
    println!("{:.3}", strongest(&x));
    println!("{:.3}", smooth(&x, 0.2));
    let (distance, gradient) = distance_grad(&x, &Tensor::from([0.0; 8]));
    println!("{distance:.3} {gradient:.3}");
}
