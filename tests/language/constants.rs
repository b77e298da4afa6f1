//! `const` in a block, and the module that accompanies each function.

use mind::{Tensor, Workspace, mind};
use mind_core::{
    ops::Profile,
    text::{Limits, core_ir, mic},
};

#[test]
fn constants_stand_for_dimensions_in_any_order() {
    mind! {
        pub const WIDTH: dim = 2 * HALF;
        const HALF: dim = 3;
        const ROWS: dim = (WIDTH - HALF) / 2 + 1;

        fn f(x: f32[ROWS, WIDTH]) -> f32[ROWS, HALF] {
            x[.., ..HALF] + x[.., HALF..] * ones([ROWS, HALF])
        }
    }
    assert_eq!(WIDTH, 6);
    let x: Tensor![f32; 2, 6] = Tensor::from_fn(|[i, j]| (10 * i + j) as f32);
    assert_eq!(f(&x), Tensor::from_fn(|[i, j]| x[[i, j]] + x[[i, j + 3]]));
}

#[test]
fn a_constant_is_a_usize_for_rust() {
    mind! {
        pub const WIDTH: dim = 784;
    }
    const BYTES: usize = WIDTH * 4;
    let x: Tensor![f32; 784] = Tensor::zeros();
    assert_eq!((BYTES, x.len()), (3136, WIDTH));
}

#[test]
fn constants_are_numbers_in_expressions() {
    mind! {
        const STEPS: dim = 4;

        fn f(n: i64[2]) -> (i64[2], i64) {
            (n * STEPS, STEPS - 1)
        }
    }
    assert_eq!(f(&Tensor::from([1, 2])), (Tensor::from([4, 8]), 3));
}

#[test]
fn the_module_of_a_static_function_holds_constants() {
    mind! {
        pub fn dense(x: f32[32, 784], w: f32[784, 256]) -> f32[32, 256] {
            x @ w
        }

        fn twice(x: f32[1000]) -> f32[1000] {
            x + x
        }
    }
    const FLOPS: u64 = dense::FLOPS;
    assert_eq!(FLOPS, 2 * 32 * 784 * 256);
    assert_eq!(dense::PARAMS, 32 * 784 + 784 * 256);
    assert_eq!(twice::PEAK_BYTES, 0);
    // A product needs memory for its packed operands.
    let (x, w, mut out) = (Tensor::zeros(), Tensor::zeros(), Tensor::zeros());
    assert!(dense_into(&x, &w, &mut out, &mut Workspace::with_bytes(dense::PEAK_BYTES)).is_ok());
    let error = dense_into(&x, &w, &mut out, &mut Workspace::with_bytes(dense::PEAK_BYTES - 64));
    assert_eq!(error.expect_err("too small").code(), "E6004");
    for word in ["Input", "MatMul", "f32[32, 784]", "f32[784, 256]", "f32[32, 256]"] {
        assert!(dense::CORE_IR.contains(word), "{word} in\n{}", dense::CORE_IR);
    }
    for word in ["matmul", "x", "w", "x + x"] {
        let plans = [dense::PLAN, twice::PLAN].concat();
        assert!(plans.contains(word), "{word} in\n{plans}");
    }
}

#[test]
fn both_texts_of_a_function_are_the_same_verified_module() {
    mind! {
        #[grad(w, b)]
        pub fn loss<N>(x: f32[N, 3], w: f32[3, 2], b: f32[2]) -> f32 {
            let y = relu(x @ w + b);
            mean(y[.., 0] * y[.., 1]) / 0.1
        }
    }
    let limits = Limits::default();
    for [core_ir, mic] in [[loss::CORE_IR, loss::MIC], [loss_grad::CORE_IR, loss_grad::MIC]] {
        let module = mic::parse_document(mic, &limits).unwrap().verify(Profile::Extended).unwrap();
        assert_eq!(core_ir::parse(core_ir, &limits).unwrap(), *module);
        assert_eq!(mic::print(&module), mic);
    }
}

#[test]
fn the_module_of_a_symbolic_function_holds_functions_of_its_symbols() {
    mind! {
        pub fn f<N, K>(x: f32[N, K], w: f32[K, 8]) -> f32[N] {
            sum((x @ w) @ (w.T @ w), axes = [1])
        }
    }
    const FLOPS: u64 = f::flops(10, 20);
    assert_eq!(f::params(10, 20), 10 * 20 + 20 * 8);
    const { assert!(FLOPS >= 2 * (10 * 20 * 8 + 8 * 20 * 8 + 10 * 8 * 8)) };
    assert!(f::peak_bytes(10, 20) >= 4 * 10 * 8);
    assert!(f::peak_bytes(100, 20) > f::peak_bytes(10, 20));
    assert!(f::CORE_IR.contains("f32[N, K]"), "{}", f::CORE_IR);
}

#[test]
fn a_gradient_function_has_a_module_of_its_own() {
    mind! {
        #[grad(w)]
        pub fn loss(x: f32[4, 3], w: f32[3]) -> f32 {
            let e = x @ w;
            mean(e * e)
        }
    }
    const { assert!(loss_grad::FLOPS > loss::FLOPS) };
    assert_eq!((loss::PARAMS, loss_grad::PARAMS), (3, 3));
    assert!(loss_grad::CORE_IR.len() > loss::CORE_IR.len());
}

#[test]
fn params_counts_what_training_changes_or_everything() {
    mind! {
        fn forward(x: f32[4, 3], w: f32[3], b: f32) -> f32[4] {
            x @ w + b
        }

        #[grad(w, b)]
        fn loss<N>(x: f32[N, 3], w: f32[3], b: f32) -> f32 {
            mean(x @ w + b)
        }

        fn step<N>(x: f32[N, 3], w: &mut f32[3], b: &mut f32) {
            w -= sum(x, axes = [0]);
            b -= 1.0;
        }
    }
    assert_eq!(forward::PARAMS, 12 + 3 + 1);
    assert_eq!((loss::params(100), loss_grad::params(100), step::params(100)), (4, 4, 4));
}

#[test]
fn quantities_beyond_64_bits_are_large_numbers() {
    mind! {
        fn f<N>(x: f32[N, N], y: f32[N, N]) -> f32 {
            sum((x @ y) @ (y @ x))
        }
    }
    assert_eq!(f::params(usize::MAX), u64::MAX);
    // Each term is capped at the largest number, so a difference of terms may be a little smaller than that.
    assert!(f::flops(usize::MAX) > u64::MAX / 2);
    assert_eq!(f::peak_bytes(usize::MAX), usize::MAX);
}
