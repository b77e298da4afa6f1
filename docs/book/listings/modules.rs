mod layers {
    mind::mind! {
        /// A dense layer.
        pub fn dense<N, I, O>(x: f32[N, I], w: f32[I, O], b: f32[O]) -> f32[N, O] {
            relu(x @ w + b)
        }
    }
}

mind::mind! {
    use self::layers::dense;

    /// The gradient of the mean output with respect to the weights.
    pub fn slope<N>(x: f32[N, 2], w: f32[2, 3], b: f32[3]) -> f32[2, 3] {
        grad(output, wrt = w)(x, w, b)
    }

    fn output<N>(x: f32[N, 2], w: f32[2, 3], b: f32[3]) -> f32 {
        mean(dense(x, w, b))
    }
}

fn main() {
    let x = mind::Tensor::from([[1.0, 2.0], [3.0, 6.0]]);
    println!("{}", slope(&x, &mind::Tensor::full(0.5), &mind::Tensor::zeros()));
}
