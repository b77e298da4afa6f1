use mind::{Tensor, Xoshiro256, mind, optim::Adam};

mind! {
    #[derive(Clone)]
    struct Dense<I, O> { w: f32[I, O], b: f32[O] }
    #[derive(Clone)]
    struct Curve { first: Dense<1, 16>, last: Dense<16, 1> }

    fn curve<N>(x: f32[N, 1], p: Curve) -> f32[N, 1] {
        let h = tanh(nn::dense(x, p.first.w, p.first.b));
        nn::dense(h, p.last.w, p.last.b)
    }

    fn error<N>(x: f32[N, 1], y: f32[N, 1], p: Curve) -> f32 { nn::mse(curve(x, p), y) }

    /// One step of Adam, in place, with a gradient of length 1 at most; returns the error before it.
    fn step<N>(
        x: f32[N, 1], y: f32[N, 1], p: &mut Curve, state: &mut optim::Adam<Curve>, rate: f32,
    ) -> f32 {
        let (e, g) = value_and_grad(error, wrt = p)(x, y, p);
        let (new, next) = optim::adam_step(p, optim::clip_by_global_norm(g, 1.0), state, rate);
        p = new;
        state = next;
        e
    }
}

fn main() {
    let x: Tensor![f32; 64, 1] = Tensor::from_fn(|[i, _]| i as f32 / 32.0 - 1.0);
    let y = x.map(|x| (3.0 * x).sin());
    let mut p = Curve::glorot_uniform(&mut Xoshiro256::new(1));
    let mut state = Adam::zeros_like(&p);

    let first = step(&x, &y, &mut p, &mut state, 0.02);
    for _ in 0..400 {
        step(&x, &y, &mut p, &mut state, 0.02);
    }
    let last = error(&x, &y, &p);
    println!("{} steps", state.steps);
    println!("the error fell a hundredfold: {}", last < first / 100.0);
}
