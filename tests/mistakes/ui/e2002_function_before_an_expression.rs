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

fn main() {
    let (x, w) = (mind::Tensor::from([[1.0_f32, 2.0, 3.0]]), mind::Tensor::<f32, (mind::Const<3>, mind::Const<4>)>::full(1.0));
    let _ = mind::mind!(use crate::layers::dense; dense(x, w));
}
