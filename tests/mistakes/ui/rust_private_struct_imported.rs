mod layers {
    mind::mind! {
        struct Dense { w: f32[2, 3] }
        pub fn dense<N>(x: f32[N, 2], w: f32[2, 3]) -> f32[N, 3] { x @ w }
    }
}

mind::mind! {
    use layers::Dense;
    fn net<N>(x: f32[N, 2], p: Dense) -> f32[N, 3] { x @ p.w }
}

fn main() {}
