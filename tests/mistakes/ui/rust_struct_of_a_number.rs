use mind::mind;

mind! {
    pub struct Dense<I, O> { pub w: f32[I, O], pub b: f32[O] }

    pub fn apply<N, I, O>(x: f32[N, I], layer: Dense<I, O>) -> f32[N, O] { x @ layer.w + layer.b }
}

struct Net {
    first: Dense<f32, mind::Const<3>>,
}

fn main() {}
