use mind::{Tensor, angle};

angle! {
    fn dense(
        x: &Tensor![f32; 2, 3],
        w: &Tensor![f32; 3, 4],
        b: &Tensor![f32; 4],
    ) -> Tensor![f32; 2, 4] {
        let y = mind::mind!< relu(x @ w + b) >;
        y.into()
    }
}

fn main() {
    println!("{}", dense(&Tensor::full(1.0), &Tensor::full(0.5), &Tensor::zeros()));
}
