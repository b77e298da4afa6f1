use mind::mind;

mind! {
    fn f<N>(x: f32[N, 784], w: f32[785, 256], b: f32[256]) -> f32[N, 256] {
        relu(x @ w + b)
    }
}

fn main() {}
