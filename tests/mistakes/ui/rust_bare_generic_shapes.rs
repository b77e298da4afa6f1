use mind::{Const, Dim, Tensor, TensorRef, mind};

fn rows<N: Dim>(x: &TensorRef<f32, (N, Const<3>)>) -> Vec<f32> {
    mind!(sum(x, axis = 1)).into_vec()
}

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    rows(&x);
}
