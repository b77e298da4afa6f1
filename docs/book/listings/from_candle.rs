use mind::{Tensor, mind};

fn main() {
    let x = Tensor::from([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]);
    let classes = Tensor::from([0, 1]);

    let mut w: Tensor![f32; 3, 2] = Tensor::zeros();
    let mut b: Tensor![f32; 2] = Tensor::zeros();
    for _ in 0..3 {
        let (loss, (dw, db)) = mind!(value_and_grad(
            nn::cross_entropy(x @ w + b, classes),
            wrt = (w, b)
        ));
        w = mind!(w - 0.5 * dw);
        b = mind!(b - 0.5 * db);
        println!("{loss:.4}");
    }
}
