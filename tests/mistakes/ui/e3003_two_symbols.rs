use mind::mind;

mind! {
    fn f<N, M>(x: f32[2, N], w: f32[M, 3]) -> f32[2, 3] {
        x @ w
    }
}

fn main() {}
