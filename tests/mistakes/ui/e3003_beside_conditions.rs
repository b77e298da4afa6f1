mind::mind! {
    #[cfg(unix)]
    fn layer<N>(x: f32[N, 784], w: f32[785, 256]) -> f32[N, 256] {
        x @ w
    }

    #[cfg(not(unix))]
    fn layer<N>(x: f32[N, 784], w: f32[785, 256]) -> f32[N, 256] {
        x @ w
    }

    #[cfg(windows)]
    fn other(x: f32) -> f32 { x }
}

fn main() {}
