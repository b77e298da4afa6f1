mod layers {
    mind::mind! {
        pub struct Dense<I, O> { pub w: f32[I, O], b: f32[O] }

        pub fn dense<N, I, O>(x: f32[N, I], p: Dense<I, O>) -> f32[N, O] { x @ p.w + p.b }
    }
}

fn main() {
    let mut p = layers::Dense::zeros_with(2, 3);
    p.w[[0, 0]] = 1.0;
    p.b[[0]] = 1.0;
}
