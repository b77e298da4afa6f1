//! `_into`: results in the caller's outputs, temporaries in the caller's workspace.

use mind::{Const, Tensor, Workspace, mind};

use crate::support::small_integers;

#[test]
fn results_are_written_into_what_is_passed() {
    mind! {
        fn f<N>(x: f32[N, 3], w: f32[3, 4]) -> f32[N, 4] {
            relu(x @ w) @ (w.T @ w)
        }
    }
    let (x, w) = (small_integers((5, Const), 1), small_integers((Const, Const), 2));
    let mut out = Tensor::full_with((5, Const), f32::NAN);
    let mut workspace = Workspace::with_bytes(f::peak_bytes(5));
    assert_eq!(f_into(&x, &w, &mut out, &mut workspace), Ok(()));
    assert_eq!(out, f(&x, &w));
    // The previous content of the workspace does not matter.
    out.fill(f32::NAN);
    assert_eq!(f_into(&x, &w, &mut out, &mut workspace), Ok(()));
    assert_eq!(out, f(&x, &w));
}

#[test]
fn outputs_nest_like_results_and_numbers_are_references() {
    mind! {
        fn f(x: f32[2], n: i64) -> (f32, (f32[2], i64), (f32[2],)) {
            (sum(x), (x * 2.0, n + 1), (-x,))
        }
    }
    let (mut total, mut doubled, mut next, mut negative) = (0.0, Tensor::zeros(), 0, Tensor::zeros());
    let mut workspace = Workspace::with_bytes(f::PEAK_BYTES);
    let out = (&mut total, (&mut *doubled, &mut next), (&mut *negative,));
    assert_eq!(f_into(&Tensor::from([1.0, 2.0]), 6, out, &mut workspace), Ok(()));
    assert_eq!((total, next), (3.0, 7));
    assert_eq!((doubled, negative), (Tensor::from([2.0, 4.0]), Tensor::from([-1.0, -2.0])));
}

#[test]
fn a_number_is_written_through_a_reference() {
    mind! {
        fn f(x: f64[3]) -> f64 {
            sum(x * x)
        }
    }
    let mut out = 0.0;
    assert_eq!(
        f_into(&Tensor::from([1.0, 2.0, 3.0]), &mut out, &mut Workspace::with_bytes(f::PEAK_BYTES)),
        Ok(())
    );
    assert_eq!(out, 14.0);
}

#[test]
fn without_results_there_is_no_output() {
    mind! {
        fn f(w: &mut f32[3, 3]) {
            w = w.T @ w;
        }
    }
    let mut w = Tensor::from([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]);
    assert_eq!(f_into(&mut w, &mut Workspace::with_bytes(f::PEAK_BYTES)), Ok(()));
    assert_eq!(w, Tensor::from([[1.0, 2.0, 0.0], [2.0, 5.0, 0.0], [0.0, 0.0, 4.0]]));
}

#[test]
fn gradients_are_written_into_what_is_passed() {
    mind! {
        #[grad(w, b)]
        fn loss<N>(x: f32[N, 3], w: f32[3], b: f32) -> f32 {
            let e = x @ w + b;
            mean(e * e)
        }
    }
    let (x, w) = (small_integers((4, Const), 1), small_integers((Const,), 2));
    let (mut value, mut dw, mut db) = (0.0, Tensor::zeros(), 0.0);
    let mut workspace = Workspace::with_bytes(loss_grad::peak_bytes(4));
    let out = (&mut value, (&mut *dw, &mut db));
    assert_eq!(loss_grad_into(&x, &w, 0.5, out, &mut workspace), Ok(()));
    assert_eq!((value, (dw, db)), loss_grad(&x, &w, 0.5));
}

#[test]
fn a_workspace_that_is_too_small_is_an_error_before_anything_is_written() {
    mind! {
        fn f<N>(x: f32[N, 16], w: &mut f32[16, 16]) -> f32[N, 16] {
            let h = exp(x @ w);
            let y = h @ (h.T @ h);
            w = w @ w + x.T @ y;
            y
        }
    }
    let x = small_integers((8, Const), 1);
    let before = small_integers((Const, Const), 2);
    let mut w = before.clone();
    let mut out = Tensor::full_with((8, Const), 7.0);
    let needed = f::peak_bytes(8);
    assert!(needed > 64);
    for bytes in [0, 64, needed - 64] {
        let mut workspace = Workspace::with_bytes(bytes);
        let error = f_into(&x, &mut w, &mut out, &mut workspace).expect_err("too small");
        assert_eq!(error, mind::Error::WorkspaceTooSmall { needed, found: bytes });
        assert_eq!(error.code(), "E6004");
        assert_eq!((out.as_slice(), &w), (&[7.0; 128][..], &before));
    }
    let mut workspace = Workspace::with_bytes(needed);
    assert_eq!(f_into(&x, &mut w, &mut out, &mut workspace), Ok(()));
    assert_ne!(w, before);
}

#[test]
fn one_workspace_serves_functions_of_all_dtypes() {
    mind! {
        fn f(x: f64[4, 4], n: i32[4, 4], m: i64[4, 4]) -> (f64[4, 4], i32[4, 4], i64[4, 4]) {
            (x @ x @ x, n @ n @ n, m @ m @ m)
        }

        fn g(x: f32[4, 4]) -> f32[4, 4] {
            x @ x @ x
        }
    }
    let mut workspace = Workspace::with_bytes(f::PEAK_BYTES.max(g::PEAK_BYTES));
    let eye = |i: usize, j: usize| u8::from(i == j);
    let (x, n, m) = (
        Tensor::from_fn(|[i, j]| 2.0 * f64::from(eye(i, j))),
        Tensor::from_fn(|[i, j]| -3 * i32::from(eye(i, j))),
        Tensor::from_fn(|[i, j]| 4 * i64::from(eye(i, j))),
    );
    let (mut a, mut b, mut c) = (Tensor::zeros(), Tensor::zeros(), Tensor::zeros());
    assert_eq!(f_into(&x, &n, &m, (&mut *a, &mut *b, &mut *c), &mut workspace), Ok(()));
    assert_eq!((a[[1, 1]], b[[2, 2]], c[[3, 3]], a[[0, 1]], b[[1, 2]]), (8.0, -27, 64, 0.0, 0));
    let mut out = Tensor::zeros();
    assert_eq!(g_into(&Tensor::full(1.0), &mut out, &mut workspace), Ok(()));
    assert_eq!(out, Tensor::full(16.0));
}

#[test]
fn a_new_workspace_serves_functions_of_every_kind_and_grows() {
    mind! {
        #[derive(Clone, Debug, PartialEq)]
        struct Net { w: f32[64, 64], b: f32[64] }

        fn squared(y: float[..]) { y * y }

        fn layer<N>(x: f32[N, 64], p: Net) -> f32[N, 64] {
            tanh(x @ p.w + p.b)
        }

        /// Its gradients are those of slices, gathered rows and cumulative sums.
        #[grad(x, p)]
        fn sliced<N>(x: f32[N, 64], rows: i64[N], p: Net) -> f32 {
            let h = layer(x, p);
            let parts = h[.., 0..32] * h[.., 32..] + x[.., 1..64;2][.., 0..1];
            sum(squared(gather(cumsum(parts, axis = 1), rows))) + sum(h[0])
        }

        fn pulled<N>(x: f32[N, 64], p: Net, cotangent: f32[N, 64]) -> (f32[N, 64], (f32[N, 64], Net)) {
            (layer(x, p), vjp(layer, wrt = (x, p))(x, p, cotangent))
        }

        fn energy<N>(x: f32[N, 64], p: Net) -> f32 {
            sum(squared(x @ p.w))
        }

        /// The gradient through a template.
        fn of_a_template<N>(x: f32[N, 64], p: Net) -> f32[N, 64] {
            grad(energy, wrt = x)(x, p)
        }

        fn descended<N>(x: f32[N, 64], rows: i64[N], p: &mut Net, rate: f32) -> f32 {
            let (loss, (_, dp)) = value_and_grad(sliced, wrt = (x, p))(x, rows, p);
            p -= rate * dp;
            loss
        }
    }
    let mut bytes = 0;
    let mut workspace = Workspace::new();
    for n in [3, 40, 7] {
        let x = small_integers((n, Const), 1).map(|x| x / 8.0);
        let rows = Tensor::from_fn_with((n,), |[i]| i as i64 / 2);
        let p = Net { w: small_integers((Const, Const), 2).map(|w| w / 64.0), b: Tensor::full(0.25) };
        let mut fresh = Workspace::new();
        for workspace in [&mut fresh, &mut workspace] {
            let (mut value, mut dx, mut dp) = (0.0, Tensor::zeros_with((n, Const)), p.clone());
            assert_eq!(sliced_grad_into(&x, &rows, &p, (&mut value, (&mut dx, &mut dp)), workspace), Ok(()));
            assert_eq!((value, (dx.clone(), dp.clone())), sliced_grad(&x, &rows, &p));
            let mut y = dx.clone();
            assert_eq!(pulled_into(&x, &p, &x, (&mut y, (&mut dx, &mut dp)), workspace), Ok(()));
            assert_eq!((y.clone(), (dx, dp)), pulled(&x, &p, &x));
            assert_eq!(of_a_template_into(&x, &p, &mut y, workspace), Ok(()));
            assert_eq!(y, of_a_template(&x, &p));
            let (mut one, mut other) = (p.clone(), p.clone());
            assert_eq!(descended_into(&x, &rows, &mut one, 0.5, &mut value, workspace), Ok(()));
            assert_eq!((value, one), (descended(&x, &rows, &mut other, 0.5), other));
        }
        let sizes = [
            sliced_grad::peak_bytes(n),
            pulled::peak_bytes(n),
            of_a_template::peak_bytes(n),
            descended::peak_bytes(n),
        ];
        assert_eq!(fresh.bytes(), sizes.into_iter().max().unwrap_or(0));
        bytes = fresh.bytes().max(bytes);
        assert_eq!(workspace.bytes(), bytes);
    }
    assert!(bytes > 64);
}
