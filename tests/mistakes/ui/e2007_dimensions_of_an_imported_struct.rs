mod layers {
    mind::mind! {
        pub struct Dense<I, O> { pub w: f32[I, O] }
    }
}

mind::mind! {
    use layers::Dense;
    fn net<N>(x: f32[N, 2], p: Dense<2>) -> f32[N, 3] { x @ p.w }
}

fn main() {}
