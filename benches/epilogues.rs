//! Times elementwise functions that are fused into the store of a matrix product, compared with the product followed by
//! the function.
//!
//! Run `cargo bench -p mind-benches --bench epilogues`. Words after `--` select functions.
//!
//! It measures every floating-point function of the language, on one thread, in shallow and deep products. The fused
//! and the separate form are measured in turn, many times, and the shortest time of each is kept.

use std::collections::BTreeSet;
use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

use mind::{Tensor, Workspace, mind, set_threads};
use mind_core::map::{Domain, Map, Notation};
use mind_core::ty::DType;

#[macro_use]
#[path = "../tests/support/functions_of_floats.rs"]
mod functions_of_floats;
mod timing;

use timing::calls_in;

/// The rows of the result, its columns, and the length of each sum.
const SIZES: [[usize; 3]; 2] = [[512, 512, 16], [256, 256, 256]];

mind! {
    fn product_f32<M, K, N>(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { x @ w }
    fn product_f64<M, K, N>(x: f64[M, K], w: f64[K, N]) -> f64[M, N] { x @ w }
}

type Matrix<T> = Tensor<T, (usize, usize)>;

/// Declares a module for each function of a product `p`, and of a matrix `y` if it takes one. `$list` returns the
/// functions.
macro_rules! functions {
    ($list:ident $y:tt $($name:ident $value:tt)+) => {
        $(functions!(module $name $y $value);)+

        fn $list() -> Vec<Function> {
            vec![$(Function {
                name: stringify!($name).trim_start_matches("r#"),
                f32: |size, domain| functions!(times f32 size domain product_f32_into
                    $name fused_f32_into apart_f32_into $y),
                f64: |size, domain| functions!(times f64 size domain product_f64_into
                    $name fused_f64_into apart_f64_into $y),
            }),+]
        }
    };
    (module $name:ident ($($y:ident)?) { $($value:tt)+ }) => {
        mod $name {
            mind::mind! {
                pub fn fused_f32<M, K, N>(x: f32[M, K], w: f32[K, N] $(, $y: f32[M, N])?) -> f32[M, N] {
                    let p = x @ w;
                    $($value)+
                }
                pub fn apart_f32<M, N>(p: f32[M, N] $(, $y: f32[M, N])?) -> f32[M, N] { $($value)+ }
                pub fn fused_f64<M, K, N>(x: f64[M, K], w: f64[K, N] $(, $y: f64[M, N])?) -> f64[M, N] {
                    let p = x @ w;
                    $($value)+
                }
                pub fn apart_f64<M, N>(p: f64[M, N] $(, $y: f64[M, N])?) -> f64[M, N] { $($value)+ }
            }
        }
    };
    (times $ty:ident $size:ident $domain:ident $product:ident $name:ident $fused:ident $apart:ident ($($y:ident)?)) => {{
        let [rows, columns, depth] = $size;
        let element = |seed: usize| move |[i, j]: [usize; 2]| between(i * 1009 + j + seed, $domain) as $ty;
        let x: Matrix<$ty> = Tensor::from_fn_with((rows, depth), element(0));
        // Each sum is equal to one element of `x`, so that it lies in the function's domain.
        let w: Matrix<$ty> =
            Tensor::from_fn_with((depth, columns), |[k, j]| if j % depth == k { 1.0 } else { 0.0 });
        $(let $y: Matrix<$ty> = Tensor::from_fn_with((rows, columns), element(104_729));)?
        let zeros = || -> Matrix<$ty> { Tensor::from_fn_with((rows, columns), |_| 0.0) };
        let (mut fused, mut product, mut apart) = (zeros(), zeros(), zeros());
        let (mut workspace, mut other) = (Workspace::new(), Workspace::new());
        let times = least(
            &mut || {
                let (x, w) = black_box((&x, &w));
                $name::$fused(x, w $(, &$y)?, &mut fused, &mut workspace).expect("the shapes agree");
            },
            &mut || {
                let (x, w) = black_box((&x, &w));
                $product(x, w, &mut product, &mut other).expect("the shapes agree");
                $name::$apart(black_box(&product) $(, &$y)?, &mut apart, &mut other)
                    .expect("the shapes agree");
            },
        );
        let same = fused.iter().zip(&apart).all(|(fused, apart)| fused.to_bits() == apart.to_bits());
        assert!(same, "{} has other bits in a product", stringify!($name));
        times
    }};
}

functions_of_floats!(functions, of_products, of_products_and_matrices);

/// An elementwise function. `f32` and `f64` measure the shortest times with a product of the given sizes, fused and
/// separate.
struct Function {
    name: &'static str,
    f32: fn([usize; 3], Domain) -> [Duration; 2],
    f64: fn([usize; 3], Domain) -> [Duration; 2],
}

fn main() {
    set_threads(1);
    let functions: Vec<_> = of_products().into_iter().chain(of_products_and_matrices()).collect();
    let names: BTreeSet<_> = functions.iter().map(|function| function.name).collect();
    let missing: Vec<_> = rows().map(|row| row.row().mnemonic).filter(|name| !names.contains(name)).collect();
    assert!(missing.is_empty(), "functions that are not measured: {missing:?}");
    // Cargo's own arguments begin with dashes.
    let wanted: Vec<_> = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let [shallow, deep] = SIZES.map(|[m, n, k]| format!("{m}×{k} by {k}×{n}"));
    println!("µs fused / apart, and their ratio");
    println!("| function | `f32` {shallow} | | {deep} | | `f64` {shallow} | | {deep} | |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for Function { name, f32, f64 } in functions {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
            continue;
        }
        let row = Map::ALL.iter().find(|row| row.row().mnemonic == name);
        let domain = row.expect("a function has a row").row().domain;
        print!("| `{name}` |");
        for of in [f32, f64] {
            for size in SIZES {
                let [fused, apart] = of(size, domain).map(|time| time.as_secs_f64() * 1e6);
                print!(" {fused:.0} / {apart:.0} | {:.2} |", fused / apart);
            }
        }
        println!();
    }
}

/// The floating-point functions of the language, except for conversions to another type.
fn rows() -> impl Iterator<Item = Map> {
    let is_measured = |map: &&Map| {
        let row = map.row();
        let is_conversion = DType::ALL.into_iter().any(|dtype| Map::to(dtype) == **map);
        row.takes.admits(DType::F64)
            && row.notation != Notation::Never
            && !row.is_identity()
            && !is_conversion
    };
    Map::ALL.iter().filter(is_measured).copied()
}

/// A number in the domain, the same in every run.
fn between(index: usize, domain: Domain) -> f64 {
    let [from, to] = match domain {
        Domain::Any | Domain::NonZero | Domain::OffHalves | Domain::Apart => [-5.0, 5.0],
        Domain::Positive => [0.1, 10.0],
        Domain::AboveOne => [1.2, 10.0],
        Domain::Unit => [-0.9, 0.9],
    };
    let share = (index.wrapping_mul(2_654_435_761) >> 7 & 0xf_ffff) as f64 / 1_048_576.0;
    from + share * (to - from)
}

/// The shortest times of two calls that are measured in turn.
fn least<'a>(fused: &'a mut dyn FnMut(), apart: &'a mut dyn FnMut()) -> [Duration; 2] {
    const ROUNDS: u32 = 25;
    const SAMPLE: Duration = Duration::from_millis(1);

    let mut calls = [fused, apart];
    let counts = calls.each_mut().map(|call| calls_in(SAMPLE, *call));
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for ((call, count), best) in calls.iter_mut().zip(counts).zip(&mut best) {
            // This call replaces the data that the other left in the caches.
            call();
            let start = Instant::now();
            for _ in 0..count {
                call();
            }
            *best = (*best).min(start.elapsed() / count);
        }
    }
    best
}
