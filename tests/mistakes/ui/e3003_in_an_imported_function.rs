mod layers {
    mind::mind! {
        pub fn dense<N>(x: f32[N, 3], w: f32[4, 5]) -> f32[N, 5] {
            x @ w
        }
    }
}

mind::mind! {
    use crate::layers::dense;

    pub fn net<N>(x: f32[N, 3], w: f32[4, 5]) -> f32[N, 5] {
        relu(dense(x, w))
    }
}

mod far {
    mind::mind! {
        use crate::net;

        pub fn twice<N>(x: f32[N, 3], w: f32[4, 5]) -> f32[N, 5] {
            net(x, w) + net(x, w)
        }
    }
}

fn main() {
    let x = mind::Tensor::from([[1.0_f32, 2.0, 3.0]]);
    far::twice(&x, &mind::Tensor::full(1.0));
}
