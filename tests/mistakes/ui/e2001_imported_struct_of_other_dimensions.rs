mod layers {
    mind::mind! {
        pub struct Dense<I, O> { pub w: f32[I, O] }
        pub fn dense<N>(x: f32[N, 2], p: Dense<2, 3>) -> f32[N, 3] { x @ p.w }
    }
}

mind::mind! {
    fn net<N>(x: f32[N, 2], p: layers::Dense<2, 4>) -> f32[N, 3] { layers::dense(x, p) }
}

fn main() {}
