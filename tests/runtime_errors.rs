//! Errors of running programs: their messages, and that nothing visible to the caller was written.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;

use mind::{Const, Error, Tensor, Workspace, mind};

/// The message that `f` panics with.
fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let Err(payload) = catch_unwind(AssertUnwindSafe(f)) else { panic!("nothing failed") };
    *payload.downcast::<String>().expect("panics carry a message")
}

/// A vector of `n` ones whose length is dynamic.
fn ones(n: usize) -> Tensor![f32; ?] {
    Tensor::full_with((n,), 1.0)
}

mod dimensions {
    use super::*;

    mind! {
        fn loss<N>(x: f32[N, 3], y: f32[N]) -> f32 {
            mean(sum(x, axes = [1]) * y)
        }
    }

    #[test]
    fn one_symbol_of_two_extents_is_an_error_that_names_both() {
        let x: Tensor![f32; ?, 3] = Tensor::full_with((32, Const), 1.0);
        let expected = "E6009: `loss`: parameter `y`: dimension 0 is 31, needed 32 (N, from `x`)";
        let error = try_loss(&x, &ones(31)).expect_err("31 is not 32");
        assert_eq!((error.code(), error.to_string()), ("E6009", expected.to_owned()));
        assert!(matches!(
            error,
            Error::DimensionMismatch {
                function: "loss",
                parameter: "y",
                dimension: 0,
                found: 31,
                needed: 32,
                ..
            }
        ));
        assert_eq!(panic_of(|| loss(&x, &ones(31))), expected);
        let mut out = 7.0;
        let mut workspace = Workspace::with_bytes(loss::peak_bytes(32));
        assert_eq!(loss_into(&x, &ones(31), &mut out, &mut workspace), Err(error));
        assert_eq!(out, 7.0);
        assert_eq!(try_loss(&x, &ones(32)), Ok(3.0));
    }

    #[test]
    fn a_gradient_function_names_itself() {
        mind! {
            #[grad(x)]
            fn product<N>(x: f32[N], y: f32[N]) -> f32 {
                sum(x * y)
            }
        }
        let expected = "E6009: `product_grad`: parameter `y`: dimension 0 is 2, needed 3 (N, from `x`)";
        assert_eq!(try_product_grad(&ones(3), &ones(2)).expect_err("2 is not 3").to_string(), expected);
        assert_eq!(panic_of(|| product_grad(&ones(3), &ones(2))), expected);
    }

    #[test]
    fn an_extent_of_zero_is_an_error() {
        let x: Tensor![f32; ?, 3] = Tensor::full_with((0, Const), 1.0);
        let expected = "E3006: `loss`: parameter `x`: dimension 0 is 0, needed 1 or more";
        assert_eq!(try_loss(&x, &ones(0)).expect_err("0 is not 1").to_string(), expected);
        assert_eq!(panic_of(|| loss(&x, &ones(0))), expected);
    }

    #[test]
    fn a_static_extent_of_zero_is_an_error_too() {
        mind! {
            fn total<N>(x: f32[N]) -> f32 {
                sum(x)
            }
        }
        let error = try_total(&Tensor::from([0.0_f32; 0])).expect_err("0 is not 1");
        assert_eq!(error.to_string(), "E3006: `total`: parameter `x`: dimension 0 is 0, needed 1 or more");
    }

    #[test]
    fn a_derived_extent_of_a_parameter_is_checked() {
        mind! {
            fn differences<N>(x: f32[N + 1], w: f32[N]) -> f32[N] {
                (x[1..] - x[..-1]) * w
            }
        }
        let error = try_differences(&ones(3), &ones(3)).expect_err("3 is not 4");
        assert_eq!(error.code(), "E6009");
        assert_eq!(
            error.to_string(),
            "E6009: `differences`: parameter `x`: dimension 0 is 3, needed 4 (N + 1)"
        );
        assert!(try_differences(&ones(4), &ones(3)).is_ok());
    }

    #[test]
    fn a_derived_extent_below_1_is_an_error() {
        mind! {
            fn tail<N>(x: f32[N]) -> f32[N - 2] {
                x[2..]
            }

            fn window<H>(x: f32[1, H, H, 1], k: f32[3, 3, 1, 1]) -> f32[1, (H - 3) / 2 + 1, (H - 3) / 2 + 1, 1] {
                conv2d(x, k, strides = [2, 2])
            }

            fn parameter<N>(x: f32[N], y: f32[N - 1]) -> f32 {
                sum(x) + sum(y)
            }
        }
        assert_eq!(try_tail(&ones(3)).map(Tensor::into_vec), Ok(vec![1.0]));
        for n in [1, 2] {
            let error = try_tail(&ones(n)).expect_err("nothing is left");
            assert_eq!(error.code(), "E3006", "{error}");
            assert!(error.to_string().starts_with("E3006: `tail`: "), "{error}");
            assert_eq!(panic_of(|| tail(&ones(n))), error.to_string());
        }
        let k = Tensor::full(1.0);
        for h in [1, 2] {
            let x = Tensor::full_with((Const, h, h, Const), 1.0);
            let error = try_window(&x, &k).expect_err("the window does not fit");
            assert_eq!(error.code(), "E3006", "{error}");
        }
        assert_eq!(
            try_window(&Tensor::full_with((Const, 3, 3, Const), 1.0), &k).map(Tensor::into_vec),
            Ok(vec![9.0])
        );
        let error = try_parameter(&ones(1), &ones(0)).expect_err("0 is not 1");
        assert_eq!(error.code(), "E3006", "{error}");
    }

    #[test]
    fn bounds_that_only_the_symbols_decide_are_checked() {
        mind! {
            fn head<N>(x: f32[N]) -> f32[5] {
                x[..5]
            }

            fn element<N>(x: f32[N]) -> f32 {
                x[4]
            }

            fn from_the_end<N>(x: f32[N]) -> f32 {
                x[-5]
            }

            fn rows<N, M>(x: f32[N], y: f32[M]) -> f32[M] {
                x[..M] * y
            }
        }
        for n in [1, 4] {
            let errors = [
                try_head(&ones(n)).map(|_| ()),
                try_element(&ones(n)).map(|_| ()),
                try_from_the_end(&ones(n)).map(|_| ()),
                try_rows(&ones(n), &ones(5)).map(|_| ()),
            ];
            for result in errors {
                let error = result.expect_err("outside the extent");
                assert_eq!(error.code(), "E6009", "{error}");
            }
        }
        let message = try_head(&ones(4)).expect_err("4 is not 5").to_string();
        assert!(message.contains("`head`") && message.contains('5') && message.contains('4'), "{message}");
        assert_eq!(panic_of(|| head(&ones(4))), message);
        assert_eq!(try_head(&ones(5)).map(Tensor::into_vec), Ok(vec![1.0; 5]));
        assert_eq!((try_element(&ones(5)), try_from_the_end(&ones(5))), (Ok(1.0), Ok(1.0)));
        assert_eq!(try_rows(&ones(7), &ones(5)).map(Tensor::into_vec), Ok(vec![1.0; 5]));
    }

    #[test]
    fn bounds_of_a_called_function_are_checked_on_entry() {
        mind! {
            fn head<N>(x: f32[N]) -> f32[3] {
                x[..3]
            }

            fn f<N>(x: f32[N], w: &mut f32[3]) {
                w += head(x);
            }
        }
        let mut w = Tensor::from([1.0, 2.0, 3.0]);
        assert_eq!(try_f(&ones(2), &mut w).expect_err("2 is not 3").code(), "E6009");
        assert_eq!(w, Tensor::from([1.0, 2.0, 3.0]));
        assert_eq!(try_f(&ones(3), &mut w), Ok(()));
        assert_eq!(w, Tensor::from([2.0, 3.0, 4.0]));
    }

    #[test]
    fn outputs_of_another_extent_are_errors() {
        mind! {
            fn double<N>(x: f32[N]) -> f32[N] {
                x + x
            }

            fn tail<N>(x: f32[N]) -> (f32[N], f32[N - 1]) {
                (x + x, x[1..] * 2.0)
            }
        }
        let mut out: Tensor![f32; ?] = Tensor::zeros_with((2,));
        let error = double_into(&ones(3), &mut out, &mut Workspace::new()).expect_err("2 is not 3");
        assert_eq!(error.code(), "E6009", "{error}");
        assert_eq!(out.as_slice(), [0.0; 2]);
        let (mut a, mut b) = (Tensor::zeros_with((3,)), Tensor::zeros_with((3,)));
        let mut workspace = Workspace::with_bytes(tail::peak_bytes(3));
        let error = tail_into(&ones(3), (&mut a, &mut b), &mut workspace).expect_err("3 is not 2");
        assert_eq!(error.to_string(), "E6009: `tail`: parameter `out`: dimension 0 is 3, needed 2 (N - 1)");
        assert_eq!(a.as_slice(), [0.0; 3]);
    }

    #[test]
    fn an_extent_that_comes_to_a_number_is_named_once() {
        mind! {
            struct Wide<N> { w: f32[N + 1], b: f32[N] }

            fn total(p: Wide<2>) -> f32 {
                sum(p.w) + sum(p.b)
            }
        }
        let error = try_total(&Wide { w: ones(4), b: Tensor::full(1.0) }).expect_err("4 is not 3");
        assert_eq!(
            error.to_string(),
            "E6009: `total`: parameter `p.w`: dimension 0 is 4, needed 3 (as declared)"
        );
    }

    #[test]
    fn the_panic_points_at_the_call() {
        let x: Tensor![f32; ?, 3] = Tensor::full_with((2, Const), 1.0);
        static PLACE: Mutex<Option<(String, u32)>> = Mutex::new(None);
        let me = thread::current().id();
        // No other test of this binary sets a hook, but others may panic in their threads meanwhile.
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match thread::current().id() == me {
            true => {
                let place = info.location().map(|place| (place.file().to_owned(), place.line()));
                *PLACE.lock().expect("not poisoned") = place;
            }
            false => others(info),
        }));
        let line = line!() + 1;
        let result = catch_unwind(AssertUnwindSafe(|| loss(&x, &ones(3))));
        assert!(result.is_err());
        assert_eq!(*PLACE.lock().expect("not poisoned"), Some((file!().to_owned(), line)));
    }
}

mod indices {
    use super::*;

    mind! {
        fn pick(table: f32[4, 2], rows: i64[3]) -> f32[3, 2] {
            gather(table, rows) * 2.0
        }
    }

    fn table() -> Tensor![f32; 4, 2] {
        Tensor::from_fn(|[i, j]| (10 * i + j) as f32)
    }

    #[test]
    fn an_index_outside_the_table_is_an_error_that_names_it() {
        for (index, position) in [(4, 0), (-1, 1), (i64::MAX, 2), (i64::MIN, 0)] {
            let mut rows = Tensor::from([0_i64, 1, 2]);
            rows.as_mut_slice()[position] = index;
            let error = try_pick(&table(), &rows).expect_err("outside");
            assert_eq!(error.code(), "E6001");
            let Error::IndexOutOfRange { position: at, index: found, extent: 4, .. } = error.clone() else {
                panic!("{error:?}")
            };
            assert_eq!((at, found), (position, index));
            let message = error.to_string();
            assert!(message.contains(&index.to_string()) && message.ends_with("needed 0 to 3"), "{message}");
            assert_eq!(panic_of(|| pick(&table(), &rows)), message);
        }
        assert_eq!(try_pick(&table(), &Tensor::from([3, 0, 3])).map(|y| y[[0, 1]]), Ok(62.0));
    }

    #[test]
    fn indices_of_32_bits_are_checked_too() {
        mind! {
            fn one(table: f32[4], row: i32) -> f32 {
                gather(table, row)
            }
        }
        let table = Tensor::from([1.0, 2.0, 3.0, 4.0]);
        assert_eq!(try_one(&table, 3), Ok(4.0));
        for row in [4, -1, i32::MIN, i32::MAX] {
            assert_eq!(try_one(&table, row).expect_err("outside").code(), "E6001");
        }
    }

    #[test]
    fn nothing_is_written_before_the_indices_are_known_to_be_good() {
        mind! {
            fn f<N>(w: &mut f32[4, 2], n: &mut i64, x: f32[4, 2], rows: i64[N]) -> (f32[4, 2], f32, f32[N, 2]) {
                let before = w;
                w += x;
                n += 1;
                let picked = gather(w, rows);
                (before + x, sum(w), picked)
            }
        }
        let before = table();
        let (mut w, mut n) = (before.clone(), 5);
        let bad = Tensor::from([0_i64, 4]);
        let error = try_f(&mut w, &mut n, &table(), &bad).expect_err("outside");
        assert_eq!((error.code(), &w, n), ("E6001", &before, 5));

        let (mut sums, mut total, mut picked) =
            (Tensor::full(7.0), 7.0, Tensor::<f32, (Const<2>, Const<2>)>::full(7.0));
        let mut workspace = Workspace::with_bytes(f::peak_bytes(2));
        let out = (&mut *sums, &mut total, &mut *picked);
        let error = f_into(&mut w, &mut n, &table(), &bad, out, &mut workspace).expect_err("outside");
        assert_eq!((error.code(), &w, n), ("E6001", &before, 5));
        assert_eq!((sums, total, picked), (Tensor::full(7.0), 7.0, Tensor::full(7.0)));

        assert!(try_f(&mut w, &mut n, &table(), &Tensor::from([0_i64, 3])).is_ok());
        assert_eq!((w[[3, 1]], n), (62.0, 6));
    }

    #[test]
    fn computed_indices_are_checked_before_anything_is_written() {
        mind! {
            fn f(w: &mut f32[4, 2], rows: i64[2], step: i64) -> f32[2, 2] {
                w *= 2.0;
                gather(w, rows * step + 1)
            }
        }
        let before = table();
        let mut w = before.clone();
        assert_eq!(try_f(&mut w, &Tensor::from([0, 1]), 3).expect_err("1 * 3 + 1 is 4").code(), "E6001");
        assert_eq!(w, before);
        let y = try_f(&mut w, &Tensor::from([0, 1]), 2).expect("1 and 3");
        assert_eq!((y[[0, 0]], y[[1, 1]]), (20.0, 62.0));
    }

    #[test]
    fn computed_indices_are_no_result_before_they_are_known_to_be_good() {
        mind! {
            fn f<N>(table: f32[4, 2], rows: i64[N]) -> (i64[N], f32[N, 2], i64) {
                let next = rows + 1;
                (next, gather(table, next), sum(next))
            }
        }
        let mut workspace = Workspace::with_bytes(f::peak_bytes(2));
        let (mut next, mut picked, mut sum) =
            (Tensor::full(-7), Tensor::<f32, (Const<2>, Const<2>)>::full(7.0), -7);
        let rows = Tensor::from([0_i64, 3]);
        let out = (&mut *next, &mut *picked, &mut sum);
        let error = f_into(&table(), &rows, out, &mut workspace).expect_err("3 + 1 is 4");
        assert_eq!((error.code(), next, picked, sum), ("E6001", Tensor::full(-7), Tensor::full(7.0), -7));
        let (next, picked, sum) = f(&table(), &Tensor::from([0_i64, 2]));
        assert_eq!((next, picked[[1, 0]], sum), (Tensor::from([1, 3]), 30.0, 4));
    }

    #[test]
    fn indices_picked_by_indices_are_checked_before_anything_is_written() {
        mind! {
            fn f(w: &mut f32[4, 2], order: i64[4], rows: i64[2]) -> f32[2, 2] {
                w += 1.0;
                let picked = gather(order, rows);
                w = w + gather(w, order);
                gather(w, picked)
            }
        }
        let before = table();
        let mut w = before.clone();
        let good = Tensor::from([3_i64, 2, 1, 0]);
        for (order, rows) in [([3, 2, 1, 4], [0, 1]), ([3, 2, 1, 0], [0, -1])] {
            let error = try_f(&mut w, &Tensor::from(order), &Tensor::from(rows)).expect_err("outside");
            assert_eq!((error.code(), &w), ("E6001", &before));
        }
        assert!(try_f(&mut w, &good, &Tensor::from([0_i64, 1])).is_ok());
        assert_eq!(w[[0, 0]], 1.0 + 31.0);
    }

    #[test]
    fn indices_that_only_a_gradient_uses_are_checked() {
        mind! {
            fn loss(table: f32[4, 2], rows: i64[3]) -> f32 {
                sum(gather(table, rows))
            }

            fn step(table: &mut f32[4, 2], rows: i64[3]) {
                table -= grad(loss, wrt = table)(table, rows);
            }
        }
        let before = table();
        let mut w = before.clone();
        let error = try_step(&mut w, &Tensor::from([0, 9, 1])).expect_err("outside");
        assert_eq!((error.code(), &w), ("E6001", &before));
        assert_eq!(try_step(&mut w, &Tensor::from([0, 0, 1])), Ok(()));
        assert_eq!((w[[0, 1]], w[[1, 0]], w[[2, 0]]), (-1.0, 9.0, 20.0));
    }
}

mod memory {
    use super::*;

    #[test]
    fn a_result_that_cannot_be_had_is_an_error() {
        mind! {
            fn outer<N, M>(x: f32[N, 1], y: f32[M]) -> f32[N * M, N * M] {
                broadcast_to(sum(x) + sum(y), [N * M, N * M])
            }
        }
        let x: Tensor![f32; ?, 1] = Tensor::zeros_with((100_000, Const));
        let y = ones(100_000);
        let error = try_outer(&x, &y).expect_err("10^20 elements");
        assert_eq!(error.code(), "E6004", "{error}");
        assert_eq!(panic_of(|| outer(&x, &y)), error.to_string());
    }

    #[test]
    fn an_extent_beyond_64_bits_is_an_error_in_results_and_parameters() {
        mind! {
            fn f<N>(x: f32[N]) -> f32[N * N * N * N] {
                zeros([N * N * N * N]) + sum(x)
            }

            fn g<N>(x: f32[N], y: f32[N * N * N * N]) -> f32 {
                sum(x) + sum(y)
            }

            fn h<N>(x: f32[N], w: &mut f32[2]) -> f32 {
                w += 1.0;
                sum(zeros([N * N * N * N]) + sum(x))
            }
        }
        // 65,536⁴ is 2⁶⁴, which is 0 in 64 bits.
        for n in [65_536, 100_000] {
            assert_eq!(try_f(&ones(n)).expect_err("more than 2^63 elements").code(), "E6004");
            let error = try_g(&ones(n), &ones(1)).expect_err("1 is not 2^64");
            assert!(["E6004", "E6009"].contains(&error.code()), "{error}");
            assert!(!error.to_string().contains("needed 0"), "{error}");
            let mut w = Tensor::from([1.0, 2.0]);
            assert_eq!(try_h(&ones(n), &mut w).expect_err("more than 2^63 elements").code(), "E6004");
            assert_eq!(w, Tensor::from([1.0, 2.0]));
        }
    }

    #[test]
    fn temporaries_that_cannot_be_had_are_an_error_before_anything_is_written() {
        mind! {
            fn f<N>(x: f32[N, 1], w: &mut f32[2]) -> f32 {
                let outer = exp(x * x.T);
                let product = outer @ outer @ outer;
                w += 1.0;
                sum(product)
            }
        }
        let x: Tensor![f32; ?, 1] = Tensor::zeros_with((20_000_000, Const));
        let mut w = Tensor::from([1.0, 2.0]);
        let error = try_f(&x, &mut w).expect_err("4 * 10^14 elements");
        assert_eq!(error.code(), "E6004", "{error}");
        assert_eq!(w, Tensor::from([1.0, 2.0]));
        assert!(f::peak_bytes(20_000_000) > 1 << 50);
        // A size that does not fit in a word saturates.
        assert_eq!(f::peak_bytes(usize::MAX), usize::MAX);
    }

    #[test]
    fn a_workspace_of_given_bytes_does_not_grow() {
        mind! {
            fn f<N>(x: f32[N, N]) -> f32[N, N] {
                x @ x @ x
            }
        }
        let x: Tensor![f32; ?, ?] = Tensor::full_with((8, 8), 1.0);
        let mut out = Tensor::zeros_with((8, 8));
        let mut workspace = Workspace::with_bytes(0);
        let needed = f::peak_bytes(8);
        let error = f_into(&x, &mut out, &mut workspace).expect_err("there is nothing");
        assert_eq!(error, Error::WorkspaceTooSmall { needed, found: 0 });
        let said = format!(
            "E6004: the workspace has 0 bytes, needed {needed}: write `Workspace::with_bytes({needed})`"
        );
        assert!(error.to_string().starts_with(&said), "{error}");
        assert_eq!((workspace.bytes(), out.as_slice()), (0, &[0.0; 64][..]));
        assert_eq!(f_into(&x, &mut out, &mut Workspace::with_bytes(needed)), Ok(()));
        assert_eq!(out, f(&x));
    }

    #[test]
    fn a_workspace_that_cannot_grow_so_far_is_an_error() {
        mind! {
            fn f<N>(x: f32[N, 1]) -> f32 {
                let outer = exp(x * x.T);
                sum(outer @ outer @ outer)
            }
        }
        let x: Tensor![f32; ?, 1] = Tensor::zeros_with((20_000_000, Const));
        let (mut out, mut workspace) = (7.0, Workspace::new());
        let error = f_into(&x, &mut out, &mut workspace).expect_err("4 * 10^14 elements");
        let needed = f::peak_bytes(20_000_000);
        assert_eq!(error, Error::Allocation { shape: format!("a workspace of {needed} bytes") });
        let x: Tensor![f32; ?, 1] = Tensor::zeros_with((20, Const));
        assert_eq!((out, f_into(&x, &mut out, &mut workspace), out), (7.0, Ok(()), 160_000.0));
    }
}
