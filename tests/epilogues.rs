//! Elementwise functions give the same bits in the stores of products and convolutions as in loops, at each SIMD level.
//!
//! The test covers every floating-point function of the language, at `f32` or `f64` in turn and at both with
//! `MIND_TESTS=all`. A child process computes all of them at one level.
#![cfg(gate)]
#![cfg_attr(
    not(every_case),
    allow(
        clippy::all,
        clippy::undocumented_unsafe_blocks,
        clippy::unwrap_used,
        reason = "clippy takes a sixth of the time of rustc here, `macros::lints` denies more of emitted code"
    )
)]

use std::process::Stdio;

use mind::{Const, Tensor};
use mind_core::{
    map::{Domain, Map, Notation},
    ty::DType,
};
use mind_tests::child;

#[macro_use]
#[path = "support/functions_of_floats.rs"]
mod functions_of_floats;

/// Set for a child process, which computes at the level of `MIND_SIMD`.
const IS_CHILD: &str = "MIND_TESTS_EPILOGUES";

/// The number of rows of the sums. A convolution has as many pixels as a product has rows.
const ROWS: usize = 33;

/// Several blocks of each register size, and a remainder.
const COLUMNS: usize = 77;

/// The lengths of sums: one element, and several blocks of `k`.
const DEPTHS: [usize; 2] = [1, 600];

/// Elements at the ends of the functions' domains. No sum is a negative zero.
const EXTREMES: [f64; 15] = [
    0.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1e-45,
    -1e-45,
    1e-30,
    1.0,
    -1.0,
    1e30,
    -1e30,
    1e5,
    -3e6,
    88.5,
    -103.5,
];

type Matrix<T> = Tensor<T, (usize, usize)>;
type Images<T> = Tensor<T, (Const<1>, usize, usize, Const<1>)>;
type Filters<T> = Tensor<T, (Const<1>, Const<1>, Const<1>, usize)>;

/// Declares a module for each function of sums `p`, and of a matrix `y` if it takes one. `$all` compares the bits of
/// all functions. In the gate the functions are compared in turn at `f32` and `f64`, in `ci/nightly` at both.
macro_rules! functions {
    (alternate $all:ident $y:tt [$($narrow:tt)*] [$($wide:tt)*] $name:ident $value:tt $($rest:tt)*) => {
        functions!(alternate $all $y [$($wide)*] [$($narrow)* $name $value] $($rest)*);
    };
    (alternate $all:ident $y:tt [$($narrow:ident $narrow_value:tt)*] [$($wide:ident $wide_value:tt)*]) => {
        $(functions!(module f32 f64 $narrow $y $narrow_value);)*
        $(functions!(module f64 f32 $wide $y $wide_value);)*

        fn $all() -> Vec<&'static str> {
            $(functions!(compare f32 f64 $narrow $y);)*
            $(functions!(compare f64 f32 $wide $y);)*
            vec![$(stringify!($narrow).trim_start_matches("r#"),)* $(stringify!($wide).trim_start_matches("r#")),*]
        }
    };
    (module $first:ident $second:ident $name:ident $y:tt $value:tt) => {
        mod $name {
            functions!(programs $first $y $value);
            #[cfg(every_case)]
            functions!(programs $second $y $value);
        }
    };
    (programs $ty:ident ($($y:ident)?) { $($value:tt)+ }) => {
        pub mod $ty {
            mind::mind! {
                pub fn looped<M, N>(p: $ty[M, N] $(, $y: $ty[M, N])?) -> $ty[M, N] { $($value)+ }
                pub fn product<M, K, N>(x: $ty[M, K], w: $ty[K, N] $(, $y: $ty[M, N])?) -> $ty[M, N] {
                    let p = x @ w;
                    $($value)+
                }
                pub fn convolution<H, W, N>(
                    x: $ty[1, H, W, 1], k: $ty[1, 1, 1, N], zeros: $ty[N] $(, $y: $ty[1, H, W, N])?
                ) -> $ty[1, H, W, N] {
                    let p = conv2d(x, k) + zeros;
                    $($value)+
                }
            }
        }
    };
    (compare $first:ident $second:ident $name:ident $y:tt) => {
        functions!(compare $first $name $y);
        #[cfg(every_case)]
        functions!(compare $second $name $y);
    };
    (compare $ty:ident $name:ident ($($y:ident)?)) => {{
        let name = stringify!($name).trim_start_matches("r#");
        let element = |seed: usize| move |column: usize| element(name, column, seed) as $ty;
        let first = element(0);
        let p: Matrix<$ty> = Tensor::from_fn_with((ROWS, COLUMNS), |[_, j]| first(j));
        $(let $y: Matrix<$ty> = Tensor::from_fn_with((ROWS, COLUMNS), |[_, j]| element(7)(j));)?
        let looped = $name::$ty::looped(&p $(, &$y)?);
        let same = |found: &[$ty], of: &str| {
            for (i, (looped, found)) in looped.iter().zip(found).enumerate() {
                let is_same = looped.to_bits() == found.to_bits() || looped.is_nan() && found.is_nan();
                assert!(is_same, "{name}, {of}, element {i}: {found:?}, in a loop {looped:?}");
            }
        };
        // The first factor selects the row of elements from the second.
        for depth in DEPTHS {
            let x: Matrix<$ty> = Tensor::from_fn_with((ROWS, depth), |[_, k]| if k == 0 { 1.0 } else { 0.0 });
            let w: Matrix<$ty> =
                Tensor::from_fn_with((depth, COLUMNS), |[k, j]| if k == 0 { first(j) } else { 0.0 });
            same($name::$ty::product(&x, &w $(, &$y)?).as_slice(), "product");
        }
        let image: Images<$ty> = Tensor::from_fn_with((Const, 3, ROWS / 3, Const), |_| 1.0);
        let filter: Filters<$ty> = Tensor::from_fn_with((Const, Const, Const, COLUMNS), |[_, _, _, j]| first(j));
        $(let $y = Tensor::from_fn_with((Const, 3, ROWS / 3, COLUMNS), |[_, _, _, j]| element(7)(j));)?
        // With a bias the store works row by row. Without one, rows are joined.
        let zeros = Tensor::from_fn_with((COLUMNS,), |_| 0.0);
        same($name::$ty::convolution(&image, &filter, &zeros $(, &$y)?).as_slice(), "convolution");
    }};
    ($all:ident $y:tt $($functions:tt)+) => {
        functions!(alternate $all $y [] [] $($functions)+);
    };
}

functions_of_floats!(functions, of_sums, with_matrices);

#[test]
fn functions_have_one_set_of_bits_at_each_level() {
    for level in ["portable", "avx2", "avx512"] {
        let output = child(module_path!(), "a_child_process_compares_all_functions")
            .arg("--quiet")
            .env(IS_CHILD, "1")
            .env("MIND_SIMD", level)
            .stdout(Stdio::piped())
            .output()
            .expect("the binary can be run again");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("running 1 test"), "{level}: {said}");
    }
}

#[test]
fn a_child_process_compares_all_functions() {
    if std::env::var_os(IS_CHILD).is_some() {
        let compared = [of_sums(), with_matrices()].concat();
        let missing: Vec<_> =
            rows().map(|row| row.row().mnemonic).filter(|name| !compared.contains(name)).collect();
        assert!(missing.is_empty(), "functions that are not compared: {missing:?}");
    }
}

/// The floating-point functions of the language, without conversions.
fn rows() -> impl Iterator<Item = Map> {
    let is_compared = |map: &&Map| {
        let row = map.row();
        let is_conversion = DType::ALL.into_iter().any(|dtype| Map::to(dtype) == **map);
        row.takes.admits(DType::F64)
            && row.notation != Notation::Never
            && !row.is_identity()
            && !is_conversion
    };
    Map::ALL.iter().filter(is_compared).copied()
}

/// An element of a function's domain. One block of columns holds the extremes.
fn element(name: &str, column: usize, seed: usize) -> f64 {
    if (32..48).contains(&column) {
        return EXTREMES[(column + seed) % EXTREMES.len()];
    }
    let row = Map::ALL.iter().find(|row| row.row().mnemonic == name).expect("a function has a row");
    let [from, to] = match row.row().domain {
        Domain::Any | Domain::NonZero | Domain::OffHalves | Domain::Apart => [-5.0, 5.0],
        Domain::Positive => [0.1, 10.0],
        Domain::AboveOne => [1.2, 10.0],
        Domain::Unit => [-0.9, 0.9],
    };
    let share = ((column + seed).wrapping_mul(2_654_435_761) >> 7 & 0xffff) as f64 / 65536.0;
    from + share * (to - from)
}
