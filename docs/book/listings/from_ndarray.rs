use mind::{Tensor, mind};

fn main() {
    let x = Tensor::from([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]);
    let y = Tensor::from([1.0, 3.0, 5.0]);
    let mut w: Tensor![f64; 2] = Tensor::zeros();
    for _ in 0..3 {
        let (value, g) = mind!(value_and_grad(
            {
                let miss = x @ w - y;
                mean(miss * miss)
            },
            wrt = w
        ));
        w = mind!(w - 0.1 * g);
        println!("{value:.4}");
    }
    println!("{w:.3}");
}
