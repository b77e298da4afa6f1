mod layers {
    mind::mind! {
        pub struct Dense { pub w: f32[2, 3] }
    }
}

mind::mind! {
    use layers::Dence;
    fn net<N>(x: f32[N, 2], p: Dence) -> f32[N, 3] { x @ p.w }
    fn of_it<N>(x: f32[N, 2]) -> f32[N, 2] { x * 2.0 }
}

fn main() {
    of_it(&mind::Tensor::from([[1.0, 2.0]]));
}
