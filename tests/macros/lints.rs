//! Code that `mind!` emits passes the lints that a careful crate denies.
#![deny(
    warnings,
    missing_docs,
    unused,
    nonstandard_style,
    unreachable_pub,
    unsafe_code,
    unused_qualifications,
    unused_results,
    unused_lifetimes,
    missing_debug_implementations,
    missing_copy_implementations,
    trivial_casts,
    trivial_numeric_casts,
    elided_lifetimes_in_paths,
    let_underscore_drop,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use mind::{Tensor, mind};

mind! {
    /// The width of the hidden layer.
    pub const WIDTH: dim = 32;

    /// Two dense layers.
    pub fn mlp<N>(x: f32[N, 64], w1: f32[64, WIDTH], b1: f32[WIDTH], w2: f32[WIDTH, 10], b2: f32[10]) -> f32[N, 10] {
        let h = relu(x @ w1 + b1);
        h @ w2 + b2
    }

    /// Mean cross-entropy of `mlp` against one-hot targets `y`.
    #[grad(w1, b1, w2, b2)]
    pub fn loss<N>(
        x: f32[N, 64], y: f32[N, 10], w1: f32[64, WIDTH], b1: f32[WIDTH], w2: f32[WIDTH, 10], b2: f32[10],
    ) -> f32 {
        let z = mlp(x, w1, b1, w2, b2);
        let logp = z - log(sum(exp(z), axes = [1], keepdims = true));
        -mean(sum(y * logp, axes = [1]))
    }

    /// One step, in place.
    pub fn step<N>(
        x: f32[N, 64], y: f32[N, 10],
        w1: &mut f32[64, WIDTH], b1: &mut f32[WIDTH], w2: &mut f32[WIDTH, 10], b2: &mut f32[10], lr: f32,
    ) -> f32 {
        let (l, (dw1, db1, dw2, db2)) = value_and_grad(loss, wrt = (w1, b1, w2, b2))(x, y, w1, b1, w2, b2);
        w1 -= lr * dw1;
        b1 -= lr * db1;
        w2 -= lr * dw2;
        b2 -= lr * db2;
        l
    }

    /// Calls every kernel, and uses names that are not in Rust's style.
    fn kernels<Rows, cols>(
        X: f64[Rows, cols + 1], rows: i64[cols], image: f32[2, 9, 9, 3], k: f32[3, 3, 3, 4], _unused: f32,
    ) -> (f64[Rows], (i64, f64[cols, cols + 1]), f32[2, 5, 5, 4], f32[4]) {
        let _Unused = 1.0;
        let y = conv2d(image, k, strides = [2, 2], padding = same);
        (sum(X, axes = [1]), (sum(rows), gather(X, rows)), y, mean(y[0, ..;2, 1..], axes = [0, 1]))
    }
}

/// A module that calls the functions of another.
pub mod imports {
    mind::mind! {
        use super::{loss as cost, mlp};
        use self::parts::half;

        /// Half the loss.
        #[grad(w)]
        pub fn half_loss<N>(x: f32[N, 64], y: f32[N, 10], w: f32[64, 32], v: f32[32, 10], b: f32[32], c: f32[10]) -> f32 {
            half(cost(x, y, w, b, v, c))
        }

        fn logits<N>(x: f32[N, 64], w: f32[64, 32], v: f32[32, 10], b: f32[32], c: f32[10]) -> f32[N, 10] {
            mlp(x, w, b, v, c)
        }
    }

    mod parts {
        mind::mind! {
            const TWO: dim = 2;

            pub fn half(x: f32) -> f32 {
                sum(full([TWO], x)) / 4.0
            }
        }
    }

    /// Has blocks inside a function.
    #[must_use]
    pub fn within() -> f32 {
        mind::mind! {
            pub fn double(x: f32) -> f32 {
                2.0 * x
            }
        }
        mind::mind! {
            use self::parts::half;

            fn same(x: f32) -> f32 {
                half(x) + half(x)
            }
        }
        same(double(1.0))
    }
}

#[test]
fn imports_pass_too() {
    assert_eq!(imports::within().to_bits(), 2.0_f32.to_bits());
    let f = mind!(use self::imports::half_loss as _half; use crate::lints::imports::half_loss; |x: f32[1, 64], y: f32[1, 10], w: f32[64, 32], v: f32[32, 10]| half_loss(x, y, w, v, zeros([32]), zeros([10])));
    let value = f(&Tensor::zeros(), &Tensor::zeros(), &Tensor::zeros(), &Tensor::zeros());
    assert_eq!(value.to_bits(), 0);
}

#[test]
fn a_closure_passes_too() {
    let f = mind!(|x: f32[2], by: f32| x * by + 1.0e-10);
    assert_eq!(f(&Tensor::zeros(), 2.0), Tensor::full(1.0e-10));
}
