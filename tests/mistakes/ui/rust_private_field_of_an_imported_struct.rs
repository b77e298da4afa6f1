mod layers {
    mind::mind! {
        pub struct Dense<I> { w: f32[I, 3], pub b: f32[3] }
        pub fn dense<N, I>(x: f32[N, I], p: Dense<I>) -> f32[N, 3] { x @ p.w + p.b }
    }
}

mind::mind! {
    use layers::{Dense, dense};
    fn net<N>(x: f32[N, 2], p: Dense<2>) -> f32[N, 3] { dense(x, p) + p.b + x @ p.w }
}

fn main() {}
