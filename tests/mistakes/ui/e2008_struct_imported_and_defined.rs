mod layers {
    mind::mind! {
        pub struct Dense { pub w: f32[2, 3] }
    }
}

mind::mind! {
    use layers::Dense;
    struct Dense { w: f32[4, 3] }
    fn net<N>(x: f32[N, 4], p: Dense) -> f32[N, 3] { x @ p.w }
}

fn main() {}
