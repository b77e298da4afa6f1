mod layers {
    mind::mind! {
        pub fn dense<N>(x: f32[N, 3], w: f32[3, 4]) -> f32[N, 4] {
            activation(x @ w)
        }

        fn activation<N>(x: f32[N, 4]) -> f32[N, 4] {
            relu(x)
        }
    }
}

mind::mind! {
    use crate::layers::*;

    fn net<N>(x: f32[N, 3], w: f32[3, 4]) -> f32[N, 4] {
        dense(x, w)
    }
}

fn main() {
    let x = mind::Tensor::from([[1.0_f32, 2.0, 3.0]]);
    net(&x, &mind::Tensor::full(1.0));
}
