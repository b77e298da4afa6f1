use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 3] = Tensor::zeros();
    let _ = mind! {
        let h = sigmoid(x);
        sum(h)
    };
    let _ = mind!(if true { x } else { x });
}
