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

mod other {
    mind::mind! {
        pub fn dense(x: f32) -> f32 {
            x
        }
    }
}

mind::mind! {
    use crate::{layers::dense, other::dense};

    fn net(x: f32) -> f32 {
        dense(x)
    }
}

fn main() {}
