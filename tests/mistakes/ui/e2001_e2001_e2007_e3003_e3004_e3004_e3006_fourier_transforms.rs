use mind::mind;

mind! {
    fn threes(x: f64[4, 3]) -> f64[4, 3] { fft::fft(x) }

    fn integers(x: i64[4, 2]) -> i64[4, 2] { fft::ifft(x) }

    fn beyond(x: f64[4, 2]) -> f64[4, 2] { fft::fft(x, axis = 1) }

    fn before(x: f64[4]) -> f64[3, 2] { fft::rfft(x, axis = -2) }

    fn longer(y: f64[4, 2]) -> f64[8] { fft::irfft(y, 8) }

    fn nothing(y: f64[1, 2]) -> f64[1] { fft::irfft(y, 0) }

    fn without_a_length(y: f64[4, 2]) -> f64[6] { fft::irfft(y) }
}

fn main() {}
