//! Programs whose extents are known at run time only.

use mind::{Tensor, mind};

use super::named;
use crate::Case;
use crate::program::{Program, program};

mind! {
    fn layer<B, I, O>(x: f32[B, I], w: f32[I, O], b: f32[O]) -> f32[B, O] { relu(x @ w + b) }

    struct Network<I, H, O> { w1: f32[I, H], b1: f32[H], w2: f32[H, O], b2: f32[O] }

    fn loss<B, I, H, O>(x: f32[B, I], y: f32[B, O], p: Network<I, H, O>) -> f32 {
        let e = layer(x, p.w1, p.b1) @ p.w2 + p.b2 - y;
        mean(e * e)
    }

    fn step<B, I, H, O>(x: f32[B, I], y: f32[B, O], p: &mut Network<I, H, O>) -> f32 {
        let (l, g) = value_and_grad(loss, wrt = p)(x, y, p);
        p -= 0.01 * g;
        l
    }

    fn chain<N>(x: f32[N], y: f32[N]) -> f32 { mean(exp(-(x * y + x)) * x - y * y) }
}

/// The program of a layer, a training step or a chain at any size. Returns `None` for other workloads.
///
/// # Panics
///
/// The inputs of the case cannot be read.
pub fn prepare(case: &Case) -> Option<Box<dyn Program>> {
    let vector = |name, len| Tensor::from_vec((len,), case.input(name, len)).expect("the length is right");
    let matrix = |name, rows, columns| {
        Tensor::from_vec((rows, columns), case.input(name, rows * columns)).expect("the length is right")
    };
    let prepared = match (case.workload.as_str(), case.extents.as_slice()) {
        ("layer", &[b, i, o]) => program(
            (matrix("x", b, i), matrix("w", i, o), vector("b", o)),
            |(x, w, b)| layer(x, w, b),
            |_, out| vec![named("out", &out)],
        ),
        ("mlp_step", &[b, i, h, o]) => program(
            (
                matrix("x", b, i),
                matrix("y", b, o),
                Network {
                    w1: matrix("w1", i, h),
                    b1: vector("b1", h),
                    w2: matrix("w2", h, o),
                    b2: vector("b2", o),
                },
            ),
            |(x, y, p)| step(x, y, p),
            |(_, _, p), loss| {
                vec![
                    ("loss", vec![loss]),
                    named("new_w1", &p.w1),
                    named("new_b1", &p.b1),
                    named("new_w2", &p.w2),
                    named("new_b2", &p.b2),
                ]
            },
        ),
        ("chain", &[n]) => {
            program((vector("x", n), vector("y", n)), |(x, y)| chain(x, y), |_, out| vec![("out", vec![out])])
        }
        _ => return None,
    };
    Some(prepared)
}
