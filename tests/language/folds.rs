//! `max`, `min` and `prod`: reductions by monoids other than addition.

use mind::{Const, Tensor, TensorRef, mind, set_threads};

/// An element type in these tests.
trait Number: Copy + PartialEq + std::fmt::Debug {
    const NEUTRAL: [Self; 3];
    fn of(number: i64) -> Self;
    /// Combines an element with the maximum, the minimum and the product.
    fn folded(all: [Self; 3], element: Self) -> [Self; 3];
    /// The bits, which distinguish zeros but not NaNs.
    fn bits(self) -> u64;
}

macro_rules! floats {
    ($($ty:ident)+) => { $(impl Number for $ty {
        const NEUTRAL: [Self; 3] = [Self::NEG_INFINITY, Self::INFINITY, 1.0];
        fn of(number: i64) -> Self {
            match number.rem_euclid(64) {
                7 => -0.0,
                8 => 0.0,
                9 if number % 5 == 0 => Self::INFINITY,
                10 if number % 5 == 0 => Self::NEG_INFINITY,
                11 if number % 7 == 0 => Self::NAN,
                // Powers of two make products exact in any order. They are rare, so that no product overflows.
                _ if number % 97 == 0 => 2.0,
                _ if number % 89 == 0 => 0.5,
                other => [1.0, -1.0][other as usize % 2],
            }
        }
        fn folded([max, min, product]: [Self; 3], x: Self) -> [Self; 3] {
            let larger = |a: Self, b: Self| if a > b || (a == b && a.is_sign_positive()) { a } else { b };
            let any_nan = |all: Self, chosen: Self| if all.is_nan() || x.is_nan() { Self::NAN } else { chosen };
            [any_nan(max, larger(max, x)), any_nan(min, -larger(-min, -x)), product * x]
        }
        fn bits(self) -> u64 {
            if self.is_nan() { u64::MAX } else { self.to_bits().into() }
        }
    })+ };
}

macro_rules! integers {
    ($($ty:ident)+) => { $(impl Number for $ty {
        const NEUTRAL: [Self; 3] = [Self::MIN, Self::MAX, 1];
        fn of(number: i64) -> Self {
            match number.rem_euclid(31) {
                3 => Self::MIN,
                5 => Self::MAX,
                other => (other as Self - 15) * 7919,
            }
        }
        fn folded([max, min, product]: [Self; 3], x: Self) -> [Self; 3] {
            [max.max(x), min.min(x), product.wrapping_mul(x)]
        }
        fn bits(self) -> u64 {
            self as u64
        }
    })+ };
}

floats!(f32 f64);
integers!(i32 i64);

/// The maxima, minima and products of groups of elements.
fn expected<T: Number>(groups: impl Iterator<Item = impl Iterator<Item = T>>) -> [Vec<u64>; 3] {
    let mut all = [(); 3].map(|()| Vec::new());
    for group in groups {
        let folded = group.fold(T::NEUTRAL, T::folded);
        all.iter_mut().zip(folded).for_each(|(all, folded)| all.push(folded.bits()));
    }
    all
}

fn bits<T: Number>(found: [&[T]; 3]) -> [Vec<u64>; 3] {
    found.map(|elements| elements.iter().map(|element| element.bits()).collect())
}

macro_rules! of {
    ($($name:ident: $ty:ident;)+) => { $(
        mod $name {
            use super::*;

            mind! {
                fn all<N, C>(x: $ty[N, C]) -> ($ty, $ty, $ty) { (max(x), min(x), prod(x)) }
                fn rows<N, C>(x: $ty[N, C]) -> ($ty[N], $ty[N], $ty[N]) {
                    (max(x, axis = 1), min(x, axis = 1), prod(x, axis = 1))
                }
                fn columns<N, C>(x: $ty[N, C]) -> ($ty[C], $ty[C], $ty[C]) {
                    (max(x, axis = 0), min(x, axis = 0), prod(x, axis = 0))
                }
                fn largest_rows<N, C>(x: $ty[N, C]) -> $ty[N] { max(x, axis = 1) }
                fn middle<N>(x: $ty[N, 5, 3]) -> ($ty[N, 1, 3], $ty[N, 3], $ty[5]) {
                    (max(x, axis = 1, keepdims = true), min(x, axes = [1]), prod(x, axes = [0, 2]))
                }
            }

            /// Checks each reduction over rows, columns and everything, by functions and by expressions.
            fn check(rows: usize, columns: usize) {
                let x = Tensor::from_fn_with((rows, columns), |[i, j]| {
                    <$ty>::of((i * 7919 + j * 31 + i * j * 3 + rows * columns) as i64)
                });
                let elements = x.as_slice();
                let what = format!("{rows} rows of {columns}");
                let of_rows = expected(elements.chunks(columns).map(|row| row.iter().copied()));
                let (a, b, c) = self::rows(&x);
                assert_eq!(bits([a.as_slice(), b.as_slice(), c.as_slice()]), of_rows, "{what}");
                assert_eq!(largest_rows(&x).as_slice().iter().map(|x| x.bits()).collect::<Vec<_>>(), of_rows[0], "{what}");
                let (a, b, c) = mind!((max(x, axis = 1), min(x, axis = -1), prod(x, axis = 1)));
                assert_eq!(bits([a.as_slice(), b.as_slice(), c.as_slice()]), of_rows, "{what}, bare");
                let column = |j: usize| elements.iter().copied().skip(j).step_by(columns);
                let of_columns = expected((0..columns).map(column));
                let (a, b, c) = self::columns(&x);
                assert_eq!(bits([a.as_slice(), b.as_slice(), c.as_slice()]), of_columns, "columns of {what}");
                let (a, b, c) = mind!((max(x, axis = 0), min(x, axis = 0), prod(x, axis = 0)));
                assert_eq!(bits([a.as_slice(), b.as_slice(), c.as_slice()]), of_columns, "columns of {what}, bare");
                let of_all = expected([elements.iter().copied()].into_iter());
                let (a, b, c) = all(&x);
                assert_eq!(bits([&[a], &[b], &[c]]), of_all, "all of {what}");
                let (a, b, c) = mind!((max(x), min(x), prod(x)));
                assert_eq!(bits([&[a], &[b], &[c]]), of_all, "all of {what}, bare");
            }

            #[test]
            fn over_rows_columns_and_all() {
                for columns in (1..=40).chain([63, 64, 65, 127, 1000]) {
                    for rows in [1, 2, 7, 16, 33] {
                        check(rows, columns);
                    }
                }
                for (rows, columns) in [(1, 40_000), (40_000, 1), (700, 3), (5000, 33), (33, 5000), (1003, 300)] {
                    check(rows, columns);
                }
            }

            #[test]
            fn over_axes_in_the_middle_and_around() {
                let x = Tensor::from_fn_with((9, Const::<5>, Const::<3>), |[i, j, k]| <$ty>::of((i * 31 + j * 7 + k) as i64));
                let over = |kept: &dyn Fn(usize) -> bool| {
                    expected([x.as_slice().iter().copied().enumerate().filter(|(at, _)| kept(*at)).map(|(_, x)| x)].into_iter())
                };
                let (a, b, c) = middle(&x);
                for i in 0..9 {
                    for k in 0..3 {
                        let here = over(&|at| at / 15 == i && at % 3 == k);
                        assert_eq!([a[[i, 0, k]].bits(), b[[i, k]].bits()], [here[0][0], here[1][0]]);
                    }
                }
                for j in 0..5 {
                    assert_eq!(c[[j]].bits(), over(&|at| at / 3 % 5 == j)[2][0]);
                }
            }
        }
    )+ };
}

of! { of_f32: f32; of_f64: f64; of_i32: i32; of_i64: i64; }

macro_rules! narrow {
    ($($name:ident: $columns:tt;)*) => { $(mod $name {
        use super::*;

        mind! {
            fn plain<N>(x: f32[N, $columns]) -> (f32[N], f32[$columns]) { (max(x, axis = 1), max(x, axis = 0)) }
            fn products<N>(x: f32[N, $columns]) -> f32[$columns] { prod(x, axis = 0) }
            fn fused<N>(x: f32[N, $columns]) -> (f32[N], f32[$columns], f32) {
                let y = exp(x) * 0.5;
                (min(y, axis = 1), max(y, axis = 0), max(y))
            }
            fn among<N>(x: f32[N, $columns]) -> f32[N, $columns] {
                let e = exp(x - max(x, axis = 1, keepdims = true));
                e / sum(e, axis = 1, keepdims = true)
            }
        }

        #[test]
        fn columns_of_known_number() {
            for rows in [1, 7, 16, 17, 40, 1003] {
                let x = Tensor::from_fn_with((rows, Const), |[i, j]| f32::of((i * 7919 + j * 31 + 1) as i64));
                let row = |x: &[f32]| expected(x.chunks($columns).map(|row| row.iter().copied()));
                let column = |x: &[f32]| expected((0..$columns).map(|j| x.iter().copied().skip(j).step_by($columns)));
                let (a, b) = plain(&x);
                assert_eq!(bits([a.as_slice(), &[], &[]])[0], row(x.as_slice())[0]);
                assert_eq!(bits([b.as_slice(), &[], &[]])[0], column(x.as_slice())[0]);
                assert_eq!(bits([products(&x).as_slice(), &[], &[]])[0], column(x.as_slice())[2]);
                // All numbers are below 0, so that zeros in a padded block would show.
                let x = x.map(|x| if x.is_finite() { x - 100.0 } else { -90.0 });
                let y = x.map(|x| mind!(exp({x}) * 0.5));
                let (a, b, c) = fused(&x);
                let near = |found: &[f32], expected: &[u64]| {
                    assert_eq!(found.len(), expected.len());
                    for (found, expected) in found.iter().zip(expected) {
                        let expected = f32::from_bits(*expected as u32);
                        assert!((found - expected).abs() <= 2.0 * f32::EPSILON * expected, "{found} {expected}");
                    }
                };
                near(a.as_slice(), &row(y.as_slice())[1]);
                near(b.as_slice(), &column(y.as_slice())[0]);
                near(&[c], &expected([y.as_slice().iter().copied()].into_iter())[0]);
                for shares in among(&x).as_slice().chunks($columns) {
                    assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                }
            }
        }
    })* };
}

narrow! { columns_1: 1; columns_2: 2; columns_3: 3; columns_5: 5; columns_8: 8; columns_10: 10; columns_17: 17; columns_33: 33; }

mind! {
    fn extremes<N>(x: f32[N, 300]) -> (f32, f32, f32, f32[N], f32[300]) {
        let y = x - 0.25;
        (prod(y), max(y), min(y), prod(y, axis = 1), prod(y, axis = 0))
    }
}

#[test]
fn the_number_of_threads_does_not_show() {
    // The results are rounded, so that another order would show.
    let x = Tensor::from_fn_with((2000, Const), |[i, j]| {
        1.25 + (((i * 7919 + j * 31) % 1013) as f32 - 506.0) * 1e-6
    });
    let of = |threads| {
        set_threads(threads);
        let (a, b, c, rows, columns) = extremes(&x);
        let all = [a, b, c].into_iter().chain(rows.iter().copied()).chain(columns.iter().copied());
        all.map(f32::to_bits).collect::<Vec<_>>()
    };
    let alone = of(1);
    assert!(f32::from_bits(alone[0]).is_finite());
    for threads in [2, 3, 8] {
        assert_eq!(of(threads), alone, "{threads} threads");
    }
    set_threads(0);
}

mind! {
    #[grad(x)]
    fn largest(x: f64[2, 4], w: f64[2]) -> f64 { sum(max(x, axis = 1) * w) }
    #[grad(x)]
    fn smallest(x: f64[6]) -> f64 { min(x) * 6.0 }
    #[grad(x)]
    fn product(x: f64[4]) -> f64 { prod(x) }
    /// The second derivative in a direction.
    fn curvature(x: f64[4], v: f64[4]) -> f64[4] { grad(slope, wrt = x)(x, v) }
    fn slope(x: f64[4], v: f64[4]) -> f64 { sum(grad(product, wrt = x)(x) * v) }
    /// The third derivative in a direction.
    fn change(x: f64[4], v: f64[4]) -> f64[4] { grad(bend, wrt = x)(x, v) }
    fn bend(x: f64[4], v: f64[4]) -> f64 { sum(curvature(x, v) * v) }
    #[grad(x, y)]
    fn larger(x: f64[3], y: f64) -> f64 { sum(maximum(x, y) * [1.0, 10.0, 100.0]) }
}

#[test]
fn equal_elements_share_a_cotangent() {
    let x = Tensor::from([[1.0, 3.0, 3.0, 2.0], [5.0, 5.0, 5.0, 5.0]]);
    let w = Tensor::from([1.0, 2.0]);
    let expected = Tensor::from([[0.0, 0.5, 0.5, 0.0], [0.5; 4]]);
    assert_eq!(largest_grad(&x, &w).1, expected);
    assert_eq!(mind!(grad(sum(max(x, axis = 1) * w), wrt = x)), expected);
    let zeros = Tensor::from([0.0, -0.0, 1.0, f64::INFINITY, 0.0, 7.0]);
    assert_eq!(smallest_grad(&zeros).1, Tensor::from([2.0, 2.0, 0.0, 0.0, 2.0, 0.0]));
    let infinite = Tensor::from([f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY, 1.0, 2.0, 3.0]);
    assert_eq!(smallest_grad(&infinite).1, Tensor::from([3.0, 0.0, 3.0, 0.0, 0.0, 0.0]));
    let nan = Tensor::from([1.0, f64::NAN, 0.0, 1.0, 2.0, 3.0]);
    assert_eq!(smallest_grad(&nan).1, Tensor::from([0.0, 6.0, 0.0, 0.0, 0.0, 0.0]));
    let (_, (dx, dy)) = larger_grad(&Tensor::from([1.0, 2.0, 3.0]), 2.0);
    assert_eq!((dx, dy), (Tensor::from([0.0, 5.0, 100.0]), 6.0));
}

#[test]
fn products_have_their_derivatives_at_zeros() {
    let some =
        [[2.0, 3.0, -4.0, 5.0], [2.0, 0.0, -4.0, 5.0], [0.0, 3.0, -0.0, 5.0], [0.0, 3.0, 0.0, 0.0], [0.0; 4]];
    for x in some {
        let x = Tensor::from(x);
        let except = |left_out: &[usize]| -> f64 {
            (0..4).filter(|i| !left_out.contains(i)).map(|i| x[[i]]).product()
        };
        let expected = [0, 1, 2, 3].map(|i| except(&[i]));
        assert_eq!(product_grad(&x).1, Tensor::from(expected), "{x:?}");
        assert_eq!(mind!(grad(prod(x), wrt = x)), Tensor::from(expected), "{x:?}, bare");
        let v = Tensor::from([1.0, 10.0, 100.0, 1000.0]);
        let second = |k: usize| (0..4).filter(|i| *i != k).map(|i| except(&[i, k]) * v[[i]]).sum::<f64>();
        let expected = [0, 1, 2, 3].map(second);
        let close = |found: &TensorRef<f64, (Const<4>,)>| {
            found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= 1e-9)
        };
        assert!(close(&curvature(&x, &v)), "{x:?}: {:?}, not {expected:?}", curvature(&x, &v));
        let bare = mind!(grad(sum(grad(prod(x), wrt = x) * v), wrt = x));
        assert!(close(&bare), "{x:?}: {bare:?}, not {expected:?}, bare");
        let third = |k: usize| {
            let pairs =
                (0..16).map(|pair| (pair / 4, pair % 4)).filter(|(i, j)| i != j && *i != k && *j != k);
            pairs.map(|(i, j)| except(&[i, j, k]) * v[[i]] * v[[j]]).sum::<f64>()
        };
        let expected = [0, 1, 2, 3].map(third);
        let close = |found: &TensorRef<f64, (Const<4>,)>| {
            found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= 1e-6)
        };
        assert!(close(&change(&x, &v)), "{x:?}: {:?}, not {expected:?}", change(&x, &v));
        let bare = mind!(grad(sum(grad(sum(grad(prod(x), wrt = x) * v), wrt = x) * v), wrt = x));
        assert!(close(&bare), "{x:?}: {bare:?}, not {expected:?}, bare");
    }
}

mind! {
    fn of_zeros<N>(x: f32[N, 2], y: f32[N, 2]) -> (f32[N], f32[N], f32[2], f32[2], f32[N, 2], f32[N, 2]) {
        (max(x, axis = 1), min(x, axis = 1), max(x, axis = 0), min(x, axis = 0), maximum(x, y), minimum(x, y))
    }
}

#[test]
fn zeros_have_an_order() {
    for rows in [1, 4, 40, 200] {
        let zero = |bit: usize| if bit == 0 { 0.0_f32 } else { -0.0 };
        let x = Tensor::from_fn_with((rows, Const), |[i, j]| zero((i >> j) & 1));
        let y = Tensor::from_fn_with((rows, Const), |[i, j]| zero(((i >> 2) + j) & 1));
        let (max_rows, min_rows, max_columns, min_columns, larger, smaller) = of_zeros(&x, &y);
        let signs = |elements: &[f32]| elements.iter().map(|x| x.is_sign_negative()).collect::<Vec<_>>();
        let negative = |i: usize, j: usize| x[[i, j]].is_sign_negative();
        assert_eq!(
            signs(max_rows.as_slice()),
            (0..rows).map(|i| negative(i, 0) && negative(i, 1)).collect::<Vec<_>>()
        );
        assert_eq!(
            signs(min_rows.as_slice()),
            (0..rows).map(|i| negative(i, 0) || negative(i, 1)).collect::<Vec<_>>()
        );
        let columns = [0, 1];
        assert_eq!(signs(max_columns.as_slice()), columns.map(|j| (0..rows).all(|i| negative(i, j))));
        assert_eq!(signs(min_columns.as_slice()), columns.map(|j| (0..rows).any(|i| negative(i, j))));
        let pairs = || x.iter().zip(&y).map(|(x, y)| (x.is_sign_negative(), y.is_sign_negative()));
        assert_eq!(signs(larger.as_slice()), pairs().map(|(x, y)| x && y).collect::<Vec<_>>());
        assert_eq!(signs(smaller.as_slice()), pairs().map(|(x, y)| x || y).collect::<Vec<_>>());
    }
}

mind! {
    fn distances<N, K, D>(x: f64[N, D], y: f64[K, D]) -> f64[N, K] {
        let d = expand_dims(x, axes = [1]) - y;
        sum(d * d, axis = -1)
    }
    fn kernel<N, K, D>(x: f32[N, D], y: f32[K, D], w: f32[K]) -> (f32[N, K], f32[N, K]) {
        let d = expand_dims(x, axes = [1]) - y;
        (exp(-mean(d * d, axis = -1)) * w, max(d, axis = -1))
    }
}

/// Sizes on both sides of each limit of the loops over rows whose elements a matrix gives.
#[test]
fn short_rows_of_a_matrix_are_folded_at_every_size() {
    set_threads(1);
    for (n, k, d) in
        (1..20).flat_map(|k| [1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 70].map(|d| (1 + k % 3, k, d)))
    {
        let number = |i: usize, j: usize| ((i * 7919 + j * 31) % 101) as f64 / 50.0 - 1.0;
        let x = Tensor::from_fn_with((n, d), |[i, j]| number(i, j));
        let y = Tensor::from_fn_with((k, d), |[i, j]| number(i + 50, j));
        let w = Tensor::from_fn_with((k,), |[i]| i as f32 + 1.0);
        let single =
            |x: &Tensor<f64, (usize, usize)>| Tensor::from_fn_with(x.shape(), |[i, j]| x[[i, j]] as f32);
        let squares = distances(&x, &y);
        let (means, greatest) = kernel(&single(&x), &single(&y), &w);
        for (i, j) in (0..n).flat_map(|i| (0..k).map(move |j| (i, j))) {
            let differences = || (0..d).map(|l| x[[i, l]] - y[[j, l]]);
            let sum: f64 = differences().map(|x| x * x).sum();
            assert!(
                (squares[[i, j]] - sum).abs() <= 1e-14 * sum,
                "{n} {k} {d}: {} and {sum}",
                squares[[i, j]]
            );
            let mean = (-sum / d as f64).exp() * (j + 1) as f64;
            assert!(
                (f64::from(means[[i, j]]) - mean).abs() <= 2e-6 * mean,
                "{n} {k} {d}: {} and {mean}",
                means[[i, j]]
            );
            let single = |l: usize| x[[i, l]] as f32 - y[[j, l]] as f32;
            assert_eq!(greatest[[i, j]], (0..d).map(single).fold(f32::MIN, f32::max), "{n} {k} {d}");
        }
    }
    set_threads(0);
}
