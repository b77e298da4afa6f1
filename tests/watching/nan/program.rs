//! A program in which values become NaN. It is built with `MIND_CHECK=nan` and without.

use std::panic::catch_unwind;

use mind::{Tensor, mind};

mind! {
    pub fn entropy<N>(p: f32[N]) -> f32 {
        let logs = log(p);
        -sum(p * logs)
    }

    pub fn dropped<N>(p: f32[N]) -> f32 {
        sum(where(p > 0.0, log(p), 0.0))
    }

    pub fn fused<N>(x: f64[N]) -> f64[N] {
        let y = relu(x) + 1.0;
        sqrt(y - 2.0) * 0.5 + y
    }

    #[grad(x)]
    pub fn gap(x: f32[2]) -> f32 {
        sqrt(sum(x)) - sqrt(2.0 * sum(x))
    }

    pub fn slope(x: f32[2]) -> f32[2] {
        grad(gap, wrt = x)(x) * 2.0
    }

    fn logarithm(x: float[..]) {
        log(x)
    }

    pub fn templated(x: f32[2]) -> f32[2] {
        logarithm(x - 1.0) + 1.0
    }

    pub fn update(w: &mut f32[2], by: f32) {
        w -= by;
        w = log(w);
    }

    pub fn positions(x: f32[3]) -> (i64, f32[2]) {
        (argmax(log(x)), log(x)[0..2])
    }
}

mind::include!("program.mind");

/// The message of the panic of each call, or its result.
pub fn told() -> Vec<String> {
    fn call<R: std::fmt::Debug>(run: impl FnOnce() -> R + std::panic::UnwindSafe) -> String {
        match catch_unwind(run) {
            Ok(result) => format!("{result:?}"),
            Err(panic) => panic.downcast_ref::<String>().cloned().unwrap_or_default(),
        }
    }
    std::panic::set_hook(Box::new(|_| {}));
    let zero: Tensor![f32; 2] = Tensor::zeros();
    let some = || Tensor::from_vec((3,), vec![0.5_f32, -1.0, 0.25]).expect("three elements");
    let nan = || Tensor::from_vec((2,), vec![1.0, f32::NAN]).expect("two elements");
    let y: Tensor![f32; 2] = Tensor::from([1.0, 0.0]);
    let (a, b, c, d, e) = (y.clone(), y.clone(), y.clone(), y.clone(), zero.clone());
    vec![
        call(move || entropy(&some())),
        call(move || dropped(&some())),
        call(move || entropy(&nan())),
        call(move || fused(&Tensor::from_vec((2,), vec![3.0, -1.0]).expect("two elements"))),
        call({
            let zero = zero.clone();
            move || gap_grad(&zero)
        }),
        call(move || slope(&zero)),
        call(move || templated(&a)),
        call(move || {
            let mut w = b;
            update(&mut w, 0.5);
        }),
        call(move || positions(&Tensor::from([1.0, 2.0, -1.0]))),
        call(move || from_file(&c)),
        call(move || mind!(sum(exp(log(d - 0.5)) * 2.0))),
        call(move || mind!(grad(sqrt(sum(e)) - sqrt(2.0 * sum(e)), wrt = e))),
        call(|| mind!(|x: f32[2]| x / x)(&Tensor::from([1.0, 0.0]))),
        // The message names the NaN that the program computes, not the NaN in its input.
        call(|| {
            mind!(|x: f32[2], w: f32[2]| x + log(w))(
                &Tensor::from([f32::NAN, 1.0]),
                &Tensor::from([1.0, -1.0]),
            )
        }),
    ]
}
