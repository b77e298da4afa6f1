mod layers {
    pub struct Dense {
        pub w: mind::Tensor![f32; 2, 3],
    }
}

mind::mind! {
    use layers::Dense;
    fn net<N>(x: f32[N, 2], p: Dense) -> f32[N, 3] { x @ p.w }
    fn of_it<N>(x: f32[N, 2]) -> f32[N, 2] { x * 2.0 }
}

fn main() {}
