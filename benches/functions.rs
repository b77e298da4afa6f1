//! Compares elementwise functions with `exp` of the same type.
//!
//! Run `cargo bench -p mind-benches --bench functions`. Words after `--` select functions.
//!
//! The functions are those of `mind!` over vectors, on one thread. All rows are measured in turn, many times, and the
//! shortest time of each is kept, so that the rows are comparable. Operands are spread evenly between the bounds of
//! their row.

use std::env;
use std::hint::black_box;
use std::time::Duration;

use mind::{Tensor, Workspace, mind, set_threads};

#[path = "timing/rows.rs"]
mod rows;
mod timing;

use rows::{Row, measure};

/// Declares the functions, and functions that return their rows.
macro_rules! functions {
    ($($name:literal $single:ident $double:ident $single_into:ident $double_into:ident
        ($($x:ident: $from:literal to $to:literal),+) $value:tt)+) => {
        mind! {
            $(fn $single<N>($($x: f32[N]),+) -> f32[N] $value)+
            $(fn $double<N>($($x: f64[N]),+) -> f64[N] $value)+
        }

        fn rows_of_f32<'a>(len: usize) -> Vec<Row<'a>> {
            vec![$(functions!(row f32 len $name $single_into $($x $from $to)+)),+]
        }

        fn rows_of_f64<'a>(len: usize) -> Vec<Row<'a>> {
            vec![$(functions!(row f64 len $name $double_into $($x $from $to)+)),+]
        }
    };
    (row $ty:ident $len:ident $name:literal $into:ident $($x:ident $from:literal $to:literal)+) => {{
        $(let $x = Tensor::from_fn_with(($len,), |[i]| between(i, stringify!($x), $from, $to) as $ty);)+
        let mut out = Tensor::from_fn_with(($len,), |_| 0.0 as $ty);
        let mut workspace = Workspace::new();
        Row::new($name, move || {
            $into($(black_box(&$x)),+, &mut out, &mut workspace).expect("the shapes agree");
        })
    }};
}

functions! {
    "exp" f32_exp f64_exp f32_exp_into f64_exp_into (x: -10.0 to 10.0) { exp(x) }
    "exp2" f32_exp2 f64_exp2 f32_exp2_into f64_exp2_into (x: -10.0 to 10.0) { exp2(x) }
    "sqrt" f32_sqrt f64_sqrt f32_sqrt_into f64_sqrt_into (x: 0.0 to 10.0) { sqrt(x) }
    "abs" f32_abs f64_abs f32_abs_into f64_abs_into (x: -10.0 to 10.0) { abs(x) }
    "log" f32_log f64_log f32_log_into f64_log_into (x: 0.1 to 10.0) { log(x) }
    "tanh" f32_tanh f64_tanh f32_tanh_into f64_tanh_into (x: -5.0 to 5.0) { tanh(x) }
    "sin" f32_sin f64_sin f32_sin_into f64_sin_into (x: -10.0 to 10.0) { sin(x) }
    "cos" f32_cos f64_cos f32_cos_into f64_cos_into (x: -10.0 to 10.0) { cos(x) }
    "tan" f32_tan f64_tan f32_tan_into f64_tan_into (x: -10.0 to 10.0) { tan(x) }
    "log1p" f32_log1p f64_log1p f32_log1p_into f64_log1p_into (x: -0.9 to 10.0) { log1p(x) }
    "expm1" f32_expm1 f64_expm1 f32_expm1_into f64_expm1_into (x: -5.0 to 5.0) { expm1(x) }
    "pow" f32_pow f64_pow f32_pow_into f64_pow_into (x: 0.1 to 10.0, y: -5.0 to 5.0) { pow(x, y) }
    "erf" f32_erf f64_erf f32_erf_into f64_erf_into (x: -3.0 to 3.0) { erf(x) }
    "erfc" f32_erfc f64_erfc f32_erfc_into f64_erfc_into (x: -3.0 to 3.0) { erfc(x) }
    "lgamma" f32_lgamma f64_lgamma f32_lgamma_into f64_lgamma_into (x: 0.1 to 20.0) { lgamma(x) }
    "atan2" f32_atan2 f64_atan2 f32_atan2_into f64_atan2_into (x: -5.0 to 5.0, y: -5.0 to 5.0) { atan2(x, y) }
}

fn main() {
    set_threads(1);
    // Cargo's own arguments begin with dashes. `exp` is always measured, because all rows are compared with it.
    let wanted: Vec<_> = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |row: &Row| row.name == "exp" || wanted.is_empty() || wanted.contains(&row.name);
    let lens = [1_000, 1_000_000];
    let [small, large] = lens;
    let mut tables = [rows_of_f32(small), rows_of_f32(large), rows_of_f64(small), rows_of_f64(large)];
    for table in &mut tables {
        table.retain(is_wanted);
        // A sample is long enough for the caches to hold as much of 1 M elements as they can, as in the measurements of
        // the peers.
        measure(table, 60, Duration::from_millis(5));
    }
    println!("ns an element, and times that of exp");
    println!("| function | `f32`, 1,000 | | 1 M | | `f64`, 1,000 | | 1 M | |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for row in 0..tables[0].len() {
        print!("| `{}` |", tables[0][row].name);
        for (i, table) in tables.iter().enumerate() {
            let nanoseconds = |row: &Row| row.best.as_secs_f64() * 1e9 / lens[i % 2] as f64;
            print!(
                " {:.3} | {:.2} |",
                nanoseconds(&table[row]),
                nanoseconds(&table[row]) / nanoseconds(&table[0])
            );
        }
        println!();
    }
}

/// A number between `from` and `to`, the same in every run.
fn between(index: usize, operand: &str, from: f64, to: f64) -> f64 {
    let seed = usize::from(operand.as_bytes()[0]);
    let share = ((index + seed * 104_729).wrapping_mul(2_654_435_761) >> 7 & 0xf_ffff) as f64 / 1_048_576.0;
    from + share * (to - from)
}
