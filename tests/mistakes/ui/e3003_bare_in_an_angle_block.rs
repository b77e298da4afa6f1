use mind::{Tensor, angle, mind};

angle! {
    fn dense(x: &Tensor![f32; 2, 3], w: &Tensor![f32; 4, 5]) -> Tensor![f32; 2, 5] {
        mind!< relu(x @ w) >.into()
    }
}

fn main() {
    dense(&Tensor::zeros(), &Tensor::zeros());
}
