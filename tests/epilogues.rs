//! Elementwise functions give the same bits in the stores of products and convolutions as in loops, at each SIMD level.
//!
//! The test covers every floating-point function of the language. A child process computes all of them at one level.
#![cfg(gate)]

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
/// all functions.
macro_rules! functions {
    ($all:ident $y:tt $($name:ident $value:tt)+) => {
        $(functions!(module $name $y $value);)+

        fn $all() -> Vec<&'static str> {
            $(functions!(compare f32 $name looped_f32 product_f32 convolution_f32 $y);
            functions!(compare f64 $name looped_f64 product_f64 convolution_f64 $y);)+
            vec![$(stringify!($name).trim_start_matches("r#")),+]
        }
    };
    (module $name:ident ($($y:ident)?) { $($value:tt)+ }) => {
        mod $name {
            mind::mind! {
                pub fn looped_f32<M, N>(p: f32[M, N] $(, $y: f32[M, N])?) -> f32[M, N] { $($value)+ }
                pub fn product_f32<M, K, N>(x: f32[M, K], w: f32[K, N] $(, $y: f32[M, N])?) -> f32[M, N] {
                    let p = x @ w;
                    $($value)+
                }
                pub fn convolution_f32<H, W, N>(
                    x: f32[1, H, W, 1], k: f32[1, 1, 1, N], zeros: f32[N] $(, $y: f32[1, H, W, N])?
                ) -> f32[1, H, W, N] {
                    let p = conv2d(x, k) + zeros;
                    $($value)+
                }
                pub fn looped_f64<M, N>(p: f64[M, N] $(, $y: f64[M, N])?) -> f64[M, N] { $($value)+ }
                pub fn product_f64<M, K, N>(x: f64[M, K], w: f64[K, N] $(, $y: f64[M, N])?) -> f64[M, N] {
                    let p = x @ w;
                    $($value)+
                }
                pub fn convolution_f64<H, W, N>(
                    x: f64[1, H, W, 1], k: f64[1, 1, 1, N], zeros: f64[N] $(, $y: f64[1, H, W, N])?
                ) -> f64[1, H, W, N] {
                    let p = conv2d(x, k) + zeros;
                    $($value)+
                }
            }
        }
    };
    (compare $ty:ident $name:ident $looped:ident $product:ident $convolution:ident ($($y:ident)?)) => {{
        let name = stringify!($name).trim_start_matches("r#");
        let element = |seed: usize| move |column: usize| element(name, column, seed) as $ty;
        let first = element(0);
        let p: Matrix<$ty> = Tensor::from_fn_with((ROWS, COLUMNS), |[_, j]| first(j));
        $(let $y: Matrix<$ty> = Tensor::from_fn_with((ROWS, COLUMNS), |[_, j]| element(7)(j));)?
        let looped = $name::$looped(&p $(, &$y)?);
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
            same($name::$product(&x, &w $(, &$y)?).as_slice(), "product");
        }
        let image: Images<$ty> = Tensor::from_fn_with((Const, 3, ROWS / 3, Const), |_| 1.0);
        let filter: Filters<$ty> = Tensor::from_fn_with((Const, Const, Const, COLUMNS), |[_, _, _, j]| first(j));
        $(let $y = Tensor::from_fn_with((Const, 3, ROWS / 3, COLUMNS), |[_, _, _, j]| element(7)(j));)?
        // With a bias the store works row by row. Without one, rows are joined.
        let zeros = Tensor::from_fn_with((COLUMNS,), |_| 0.0);
        same($name::$convolution(&image, &filter, &zeros $(, &$y)?).as_slice(), "convolution");
    }};
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
