//! A program compiles without a warning, whatever the names of its functions, parameters, symbols and values. No name
//! collides with a name of the emitter, a keyword, or an item of the same name around the block.
#![deny(warnings)]
#![allow(non_upper_case_globals, reason = "constants named like what a block binds")]

use mind::{Tensor, mind};

const h: usize = 3;
#[allow(dead_code, reason = "only its name matters")]
static sum: f32 = 1.0;

mind! {
    fn f<N, n>(
        f: f32[N, n], rt: f32[n], out: f32[N, 1], workspace: f32, sizes: f32[], scalars: f32[2], dim_N: f32[N]
    ) -> (f32[N, n], (f32, f32[n, N])) {
        let h = f * rt + out;
        let j = h * workspace + sizes;
        let target = relu(j);
        let lanes = target.sum(axis = -1);
        (target * 2.0, (sum(lanes * dim_N) + scalars[0] * scalars[-1], target.T))
    }

    fn r#type(r#fn: f32[2], r#mut: &mut f32) -> f32[2] {
        r#mut += 1.0;
        let gen = r#fn * 2.0;
        gen
    }

    fn run(check: f32[2], lens: f32[2], Kernel: f32[2]) -> f32[2] {
        let call = check * lens;
        let into = exp(call) * Kernel;
        into
    }
}

#[test]
fn names_of_the_emitter_are_free() {
    let x: Tensor![f32; 2, 3] = Tensor::from_fn(|[i, j]| (i + j) as f32);
    let ones = Tensor::full(1.0);
    let (doubled, (total, turned)) =
        f(&x, &ones, &Tensor::zeros(), 1.0, 0.5, &Tensor::full(2.0), &Tensor::full(1.0));
    assert_eq!(doubled, Tensor::from([[1.0, 3.0, 5.0], [3.0, 5.0, 7.0]]));
    assert_eq!(total, 16.0);
    assert_eq!(turned, Tensor::from([[0.5, 1.5], [1.5, 2.5], [2.5, 3.5]]));
    assert_eq!(h, 3);
}

#[test]
fn keywords_can_be_names() {
    let mut count = 0.0;
    assert_eq!(r#type(&Tensor::full(1.0), &mut count), Tensor::from([2.0, 2.0]));
    assert_eq!(count, 1.0);
}

#[test]
fn names_of_the_functions_module_are_free() {
    assert_eq!(run(&Tensor::full(0.0), &Tensor::full(1.0), &Tensor::full(3.0)), Tensor::from([3.0, 3.0]));
}

#[test]
fn a_function_configured_away_leaves_nothing_behind() {
    mind! {
        #[cfg(any())]
        #[grad(x)]
        fn absent<N>(x: f32[N]) -> f32 {
            sum(x * x)
        }
    }
    mod absent {
        pub const NUMBER: i32 = 1;
    }
    let (try_absent, absent_into, absent_grad) = (|| 2, || 3, || 4);
    assert_eq!((absent::NUMBER, try_absent(), absent_into(), absent_grad()), (1, 2, 3, 4));
}
