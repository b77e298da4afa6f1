//! Functions that are faster if all operands of a block are in a range. The result for an element does not depend on
//! its neighbours.

use mind::{Tensor, mind};

mind! {
    fn angles<N>(x: f32[N]) -> (f32[N], f32[N], f32[N]) {
        (sin(x), cos(2.0 * x + 1.0), tan(x))
    }

    fn wide_angles<N>(x: f64[N]) -> (f64[N], f64[N], f64[N]) {
        (sin(x), cos(2.0 * x + 1.0), tan(x))
    }

    fn gammas<N>(x: f64[N]) -> (f64[N], f64[N], f64[N]) {
        (lgamma(x), digamma(x), trigamma(x))
    }

    fn narrow_gammas<N>(x: f32[N]) -> (f32[N], f32[N], f32[N]) {
        (lgamma(x), digamma(x), trigamma(x))
    }

    fn powers<N>(x: f32[N]) -> (f32[N], f32[N], f32[N]) {
        (pow(x, 2.5), pow(3.0, x), pow(abs(x), x))
    }

    /// Operands that are results of other functions, some of which also depend on the range of their operands.
    fn composed<N>(x: f64[N]) -> (f64[N], f64[N], f64[N]) {
        (sin(exp(x)), cos(sin(x)), pow(sin(x), 2.0) + pow(cos(x), 2.0))
    }

    /// The same functions in loops that sum, over rows whose length is not a multiple of a block.
    fn sums<N>(x: f32[N, 7]) -> (f32[N], f32) {
        (sum(sin(x), axis = 1), sum(cos(x)))
    }
}

/// 100 elements in range, except for `strange` at the index `at`.
fn with_one(at: usize, strange: f64) -> Vec<f64> {
    let mut all: Vec<f64> = (0..100).map(|i| 0.25 + f64::from(i) * 0.37).collect();
    all[at] = strange;
    all
}

/// Checks that a function of vectors gives each element the same bits as for that element alone.
macro_rules! each_alone {
    ($function:ident of $ty:ident, $($strange:expr),+) => {
        for strange in [$($strange),+] {
            for at in [0, 5, 31, 32, 63, 95, 96, 99] {
                let all = Tensor::from_fn_with((100,), |[i]| with_one(at, strange)[i] as $ty);
                let of_all = $function(&all);
                for i in 0..100 {
                    let one = $function(&Tensor::from_fn_with((1,), |_| all[[i]]));
                    let bits = |x: [$ty; 3]| x.map(|x| if x.is_nan() { 0 } else { x.to_bits() });
                    let found = bits([of_all.0[[i]], of_all.1[[i]], of_all.2[[i]]]);
                    assert_eq!(found, bits([one.0[[0]], one.1[[0]], one.2[[0]]]), "{} of {strange:e} at {at}", all[[i]]);
                }
            }
        }
    };
}

#[test]
fn an_element_out_of_range_changes_no_other() {
    each_alone!(angles of f32, 1e9, -40_000.0, f64::INFINITY, f64::NAN);
    each_alone!(wide_angles of f64, 1e22, -2e6, f64::NEG_INFINITY, f64::NAN);
    each_alone!(gammas of f64, -3.5, 0.0, -0.0, -2.0, f64::INFINITY, f64::NAN);
    each_alone!(narrow_gammas of f32, -3.5, 0.0, -0.0, -2.0, f64::INFINITY, f64::NAN);
    each_alone!(powers of f32, -3.5, 0.0, -0.0, -2.0, 1e-42, f64::INFINITY, f64::NAN);
    each_alone!(composed of f64, 800.0, -1e9, f64::INFINITY, f64::NAN);
}

#[test]
fn elements_out_of_range_are_right_among_others() {
    let x: Tensor<f64, (usize,)> = Tensor::from_fn_with((100,), |[i]| with_one(40, 1e22)[i]);
    let (sines, ..) = wide_angles(&x);
    assert_eq!(sines[[40]], -0.852_200_849_767_188_8);
    assert!((sines[[41]] - x[[41]].sin()).abs() < 1e-15);
    let bare = mind!(sin(x));
    assert_eq!(bare[[40]], sines[[40]]);
    assert_eq!(bare[[41]], sines[[41]]);
    let y: Tensor<f64, (usize,)> = Tensor::from_fn_with((100,), |[i]| with_one(99, -0.5)[i]);
    let (logs, ..) = gammas(&y);
    // Γ(-½) is -2 √π.
    assert!((logs[[99]] - 1.265_512_123_484_645_4).abs() < 1e-14);
    assert!((mind!(lgamma(y))[[99]] - 1.265_512_123_484_645_4).abs() < 1e-14);
    let x: Tensor<f32, (usize, mind::Const<7>)> =
        Tensor::from_fn_with((9, mind::Const::<7>), |[i, j]| with_one(40, 1e9)[i * 7 + j] as f32);
    let (rows, total) = sums(&x);
    for i in 0..9 {
        let exact: f64 = (0..7).map(|j| f64::from(x[[i, j]]).sin()).sum();
        assert!((f64::from(rows[[i]]) - exact).abs() < 1e-6, "row {i}");
    }
    let exact: f64 = (0..63).map(|i| f64::from(x[[i / 7, i % 7]]).cos()).sum();
    assert!((f64::from(total) - exact).abs() < 1e-5);
}
