use mind::{Const, Tensor, mind};

mind! {
    struct Dense<I, O> { w: f32[I, O], b: f32[O] }

    fn dense<N>(x: f32[N, 3], p: Dense<3, 2>) -> f32[N, 2] { x @ p.w + p.b }
}

fn main() {
    let p = Dense::<Const<3>, Const<4>>::zeros();
    let _ = dense(&Tensor::from([[1.0, 2.0, 3.0]]), &p);
}
