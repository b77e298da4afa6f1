use mind::{Tensor, mind};

mind! {
    /// The square root of `a` by Newton's method, and the number of steps.
    fn steps(a: f64) -> (f64, i64) {
        let (x, _, steps) = while (x, step, n) = (a, a, 0) if abs(step) > 1e-12, at most = 60 {
            let next = 0.5 * (x + a / x);
            (next, next - x, n + 1)
        };
        (x, steps)
    }

    #[grad(a)]
    fn root(a: f64) -> f64 {
        let (x, _) = steps(a);
        x
    }

    /// The Huber loss of the length of a vector.
    fn huber(x: f64[3]) -> f64 {
        let length = sqrt(sum(x * x));
        if length < 1.0 { 0.5 * length * length } else { length - 0.5 }
    }
}

fn main() {
    println!("{:?} {:?}", steps(9.0), steps(2.0));
    println!("{:?}", root_grad(9.0));
    println!("{} {}", huber(&Tensor::from([0.6, 0.0, 0.8])), huber(&Tensor::from([0.0, 3.0, 4.0])));
}
