use mind::mind;

mind! {
    fn f<N>(x: f32[N, 784], w: f32[256, 784]) -> f32[N, 256] {
        x @ w
    }
}

fn main() {}
