use mind::{Tensor, mind};

mind! {
    /// The sum of the logarithms, or 0 if an element has none.
    #[grad(x)]
    fn likelihood<N>(x: f32[N]) -> f32 {
        where(min(x) > 0.0, sum(log(x)), 0.0)
    }

    /// The sum over the elements that have a logarithm.
    #[grad(x)]
    fn logarithms<N>(x: f32[N]) -> f32 {
        sum(where(x > 0.0, log(x), 0.0))
    }
}

fn main() {
    let x = Tensor::from([0.0, 1.0, 4.0]);
    println!("{}", likelihood_grad(&x).1);
    println!("{}", logarithms_grad(&x).1);
}
