use mind::{Tensor, mind};

mind! {
    /// Rounds, and passes the cotangent on unchanged.
    fn quantised<N>(x: f32[N]) -> f32[N] { round(x) } pullback(_, dy) { dy }

    #[grad(x)]
    fn error<N>(x: f32[N], target: f32[N]) -> f32 {
        let d = quantised(x) - target;
        sum(d * d)
    }
}

fn main() {
    let (value, dx) = error_grad(&Tensor::from([0.75, 2.25]), &Tensor::from([3.0, 0.0]));
    println!("{value} {dx}");
}
