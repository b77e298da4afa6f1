use mind::mind;

mind! {
    fn f<N>(x: f32[2, N * 2], w: f32[N + N + 1, 3], unused: f32[N]) -> f32[2, 3] {
        x @ w
    }
}

fn main() {}
