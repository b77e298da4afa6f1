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
    use crate::layers::dnese;

    #[grad(w)]
    fn net<N>(x: f32[N, 3], w: f32[3, 4]) -> f32 {
        mean(dnese(x, w))
    }
}

fn main() {
    let (x, w) = (mind::Tensor::from([[1.0_f32, 2.0, 3.0]]), mind::Tensor::full(1.0));
    let _: f32 = net(&x, &w);
    let _ = net_grad(&x, &w);
    let _ = try_net(&x, &w);
}
