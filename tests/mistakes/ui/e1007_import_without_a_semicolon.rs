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
    use crate::layers::dense

    fn net<N>(x: f32[N, 3], w: f32[3, 4]) -> f32[N, 4] {
        dense(x, w)
    }
}

fn main() {}
