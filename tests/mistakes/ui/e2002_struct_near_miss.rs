use mind::mind;

mind! {
    struct Dense<I, O> { w: f32[I, O], b: f32[O] }

    fn layer<N>(x: f32[N, 64], p: Dens<64, 32>) -> f32[N, 32] { x @ p.w + p.b }
}

fn main() {}
