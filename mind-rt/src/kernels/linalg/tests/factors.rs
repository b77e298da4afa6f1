//! Compares the results of kernels with their definitions.

#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing fails, as it should")]

use super::super::{LinearAlgebra, Triangle};
use crate::parallel::tests::Threads;

const SIZES: [usize; 7] = [1, 2, 3, 8, 32, 33, 70];

/// The numbers of matrices: one, and several that do not fill the lanes.
const COUNTS: [usize; 2] = [1, 19];

/// An element type in tests, which compute the products of results in `f64`.
trait Tested: LinearAlgebra + Into<f64> {
    const UNIT: f64;
}

impl Tested for f32 {
    const UNIT: f64 = f32::EPSILON as f64;
}

impl Tested for f64 {
    const UNIT: f64 = f64::EPSILON;
}

/// Numbers between -1 and 1.
fn numbers<T: Tested>(len: usize, seed: usize) -> Vec<T> {
    (0..len).map(|at| T::of(((at * 37 + seed * 101 + at * at * 7) as f64 * 0.61).sin())).collect()
}

/// The product of an `n` by `n` matrix with its transpose, with `n` added to its diagonal.
fn positive_definite<T: Tested>(n: usize, seed: usize) -> Vec<T> {
    let x: Vec<T> = numbers(n * n, seed);
    let row = |i: usize| &x[i * n..][..n];
    let dot = |i, j| row(i).iter().zip(row(j)).map(|(a, b)| (*a).into() * (*b).into()).sum::<f64>();
    (0..n * n).map(|at| T::of(dot(at / n, at % n) + if at / n == at % n { n as f64 } else { 0.0 })).collect()
}

/// Checks that `product - wanted` is within `2 n ε` times the product of magnitudes, for each element. `factors` are
/// the elements of both factors that are multiplied for an element of the product.
fn check_product<T: Tested>(
    n: usize,
    columns: usize,
    what: &str,
    factors: impl Fn(usize, usize, usize) -> (f64, f64),
    wanted: impl Fn(usize, usize) -> f64,
) {
    for i in 0..n {
        for j in 0..columns {
            let (sum, magnitude) = (0..n)
                .map(|k| factors(i, k, j))
                .fold((0.0, 0.0), |(sum, magnitude), (a, b)| (sum + a * b, magnitude + (a * b).abs()));
            let error = (sum - wanted(i, j)).abs();
            let most = 2.0 * (n + 1) as f64 * T::UNIT * (magnitude + wanted(i, j).abs());
            assert!(error <= most, "{what}: n {n}: [{i}, {j}]: error {error:e}, at most {most:e}");
        }
    }
}

fn cholesky_factors<T: Tested>() {
    for n in SIZES {
        for count in COUNTS {
            let mut a: Vec<T> = (0..count).flat_map(|seed| positive_definite(n, seed)).collect();
            // The matrices are not symmetric, but their symmetric parts are positive definite.
            for (at, element) in a.iter_mut().enumerate() {
                let (row, column) = (at / n % n, at % n);
                *element +=
                    T::of(0.25 * (f64::from(u8::from(row < column)) - f64::from(u8::from(column < row))));
            }
            let mut l = vec![T::NAN; a.len()];
            T::cholesky(n, &a, &mut l);
            for (a, l) in a.chunks(n * n).zip(l.chunks(n * n)) {
                let at = |i: usize, j: usize| l[i * n + j].into();
                check_product::<T>(
                    n,
                    n,
                    "cholesky",
                    |i, k, j| (at(i, k), at(j, k)),
                    |i, j| 0.5 * a[i * n + j].into() + 0.5 * a[j * n + i].into(),
                );
                assert!((0..n).all(|i| at(i, i) > 0.0 && (i + 1..n).all(|j| at(i, j) == 0.0)));
            }
        }
    }
}

fn other_matrices_have_no_factor<T: Tested>() {
    for n in SIZES {
        for count in COUNTS {
            for bad in [0, n - 1] {
                for element in [T::ZERO, T::of(-1.0), T::NAN] {
                    let mut a: Vec<T> = (0..count).flat_map(|seed| positive_definite(n, seed)).collect();
                    a[(count - 1) * n * n + bad * n + bad] = element;
                    let mut l = vec![T::ONE; a.len()];
                    T::cholesky(n, &a, &mut l);
                    for (matrix, l) in l.chunks(n * n).enumerate() {
                        for (at, l) in l.iter().enumerate() {
                            let is_nan = Into::<f64>::into(*l).is_nan();
                            assert_eq!(
                                is_nan,
                                matrix == count - 1 && at % n <= at / n,
                                "n {n}, element {at}"
                            );
                        }
                    }
                }
            }
        }
    }
}

fn lu_factors<T: Tested>() {
    for n in SIZES {
        for count in COUNTS {
            let a: Vec<T> = numbers(count * n * n, n);
            let mut packed = vec![T::NAN; count * n * (n + 2)];
            T::lu(n, &a, &mut packed);
            for (a, packed) in a.chunks(n * n).zip(packed.chunks(n * (n + 2))) {
                let (from, signs) = (&packed[n * n..][..n], &packed[n * n + n..]);
                let from: Vec<usize> = from.iter().map(|from| Into::<f64>::into(*from) as usize).collect();
                let mut sorted = from.clone();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..n), "every row has a place");
                // Each cycle of odd length is an even number of exchanges.
                let (mut seen, mut exchanges) = (vec![false; n], 0);
                for start in 0..n {
                    let mut at = start;
                    while !std::mem::replace(&mut seen[at], true) {
                        at = from[at];
                        exchanges += usize::from(at != start);
                    }
                }
                let negative = signs.iter().filter(|sign| **sign < T::ZERO).count();
                assert_eq!(negative % 2, exchanges % 2, "n {n}");
                let at = |i: usize, j: usize| packed[i * n + j].into();
                let lower = |i, j| {
                    if i == j {
                        1.0
                    } else if j < i {
                        at(i, j)
                    } else {
                        0.0
                    }
                };
                let upper = |i, j| if j < i { 0.0 } else { at(i, j) };
                assert!((0..n).all(|i| (0..i).all(|j| at(i, j).abs() <= 1.0)), "pivots are largest");
                check_product::<T>(
                    n,
                    n,
                    "lu",
                    |i, k, j| (lower(i, k), upper(k, j)),
                    |i, j| a[from[i] * n + j].into(),
                );
            }
        }
    }
}

fn triangular_solutions<T: Tested>() {
    for n in SIZES {
        for (count, columns) in COUNTS.into_iter().flat_map(|count| [1, 40].map(|columns| (count, columns))) {
            for bits in 0..8 {
                let [lower, transposed, unit_diagonal] = [1, 2, 4].map(|bit| bits & bit != 0);
                let of = Triangle { lower, transposed, unit_diagonal };
                // The triangle that is not read is NaN.
                let mut a: Vec<T> = numbers(count * n * n, n);
                for (at, a) in a.iter_mut().enumerate() {
                    let (i, j) = (at / n % n, at % n);
                    *a = match (i == j, (j < i) == lower) {
                        (true, _) if unit_diagonal => T::NAN,
                        (true, _) => T::of(2.0) + *a,
                        (false, true) => *a / T::of(n as f64),
                        (false, false) => T::NAN,
                    };
                }
                let b: Vec<T> = numbers(count * n * columns, 5);
                let mut x = vec![T::NAN; b.len()];
                T::solve_triangular(of, n, columns, &a, &b, &mut x);
                for matrix in 0..count {
                    let (a, b) = (&a[matrix * n * n..][..n * n], &b[matrix * n * columns..][..n * columns]);
                    let x = &x[matrix * n * columns..][..n * columns];
                    let element = |i: usize, j: usize| {
                        let (i, j) = if transposed { (j, i) } else { (i, j) };
                        match (i == j, (j < i) == lower) {
                            (true, _) if unit_diagonal => 1.0,
                            (true, _) | (false, true) => a[i * n + j].into(),
                            (false, false) => 0.0,
                        }
                    };
                    check_product::<T>(
                        n,
                        columns,
                        "solve_triangular",
                        |i, k, j| (element(i, k), x[k * columns + j].into()),
                        |i, j| b[i * columns + j].into(),
                    );
                }
            }
        }
    }
}

fn singular_triangles_have_no_solution<T: Tested>() {
    let of = Triangle { lower: true, transposed: false, unit_diagonal: false };
    for n in SIZES {
        for count in COUNTS {
            let mut a: Vec<T> = numbers(count * n * n, n);
            (0..count * n).for_each(|row| a[row * n + row % n] = T::ONE);
            a[n * n - 1] = T::ZERO;
            let (b, mut x) = (vec![T::ONE; count * n], vec![T::ZERO; count * n]);
            T::solve_triangular(of, n, 1, &a, &b, &mut x);
            let is_nan = x.iter().map(|x| Into::<f64>::into(*x).is_nan());
            assert!(is_nan.eq((0..count * n).map(|at| at < n)));
        }
    }
}

fn triangles<T: Tested>() {
    let x: Vec<T> = (1..=24).map(|number| T::of(f64::from(number))).collect();
    for bits in 0..4 {
        let (lower, strict) = (bits & 1 != 0, bits & 2 != 0);
        for [rows, columns] in [[2, 3], [4, 3], [1, 4], [3, 1]] {
            let x = &x[..24 / (rows * columns) * rows * columns];
            let mut out = vec![T::NAN; x.len()];
            T::triangle(lower, strict, [rows, columns], x, &mut out);
            for (at, (x, out)) in x.iter().zip(&out).enumerate() {
                let (i, j) = (at / columns % rows, at % columns);
                let is_kept = (if lower { j < i } else { i < j }) || !strict && i == j;
                assert_eq!(*out, if is_kept { *x } else { T::ZERO });
            }
        }
    }
}

/// All results for matrices of one size.
fn results<T: Tested>(n: usize, count: usize) -> Vec<u64> {
    let a: Vec<T> = (0..count).flat_map(|seed| positive_definite(n, seed)).collect();
    let (mut l, mut packed) = (vec![T::ZERO; a.len()], vec![T::ZERO; count * n * (n + 2)]);
    let (b, mut x) = (numbers(count * n * 7, 1), vec![T::ZERO; count * n * 7]);
    T::cholesky(n, &a, &mut l);
    T::lu(n, &a, &mut packed);
    let of = Triangle { lower: false, transposed: true, unit_diagonal: false };
    T::solve_triangular(of, n, 7, &a, &b, &mut x);
    [l, packed, x].concat().into_iter().map(|element| Into::<f64>::into(element).to_bits()).collect()
}

fn threads_change_no_bit<T: Tested>() {
    for (n, count) in [(4, 1000), (40, 20), (150, 1)] {
        let mut all = [1, 3].into_iter().map(|threads| {
            let _threads = Threads::set(threads);
            results::<T>(n, count)
        });
        let first = all.next().unwrap();
        assert!(all.all(|other| other == first), "n {n}");
    }
}

macro_rules! tests {
    ($($test:ident)*) => {$(
        #[test]
        fn $test() {
            super::$test::<T>();
        }
    )*};
}

macro_rules! types {
    ($($ty:ident)*) => {$(
        mod $ty {
            type T = $ty;

            tests! {
                cholesky_factors
                other_matrices_have_no_factor
                lu_factors
                triangular_solutions
                singular_triangles_have_no_solution
                triangles
                threads_change_no_bit
            }
        }
    )*};
}

types! { f32 f64 }
