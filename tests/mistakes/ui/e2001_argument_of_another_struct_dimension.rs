use mind::mind;

mind! {
    struct Dense<I, O> { w: f32[I, O], b: f32[O] }
    struct Net { first: Dense<64, 32>, last: Dense<16, 10> }

    fn dense<N, I, O>(x: f32[N, I], p: Dense<I, O>) -> f32[N, O] { x @ p.w + p.b }

    fn net<N>(x: f32[N, 64], p: Net) -> f32[N, 10] { dense(relu(dense(x, p.first)), p.last) }
}

fn main() {}
