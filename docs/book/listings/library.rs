use mind::{Tensor, mind};

mind! {
    /// Any float, any leading axes: inlined and checked at each call.
    pub fn centred(x: float[..], const axis: axis = -1) {
        x - mean(x, axis = axis, keepdims = true)
    }

    fn heads<N>(x: f32[N, 4, 8]) -> f32[N, 4, 8] { nn::attention(x, x, x) }
}

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [1.0, 1.0, 4.0]]);
    println!("{:.3}", mind!(nn::softmax(x)));
    println!("{:.3}", mind!(nn::layer_norm(x, [1.0, 1.0, 1.0], [0.0, 0.0, 0.0])));
    println!("{:.3}", mind!(num::std(x, axis = 0)));
    println!("{:.3}", mind!(self::centred(x, axis = 0)));

    let tokens: Tensor![f32; 1, 4, 8] = Tensor::full(0.5);
    println!("{:?}", heads(&tokens).dims());
}
