//! Compares every element-wise function and every reduction, with their gradients, on a real plugin with the
//! interpreter. The operands are special numbers: NaN, infinities, zeros of both signs, and the ends of the range. The
//! book lists the known differences in "Differences on engines".
//!
//! `MIND_PJRT_PLUGIN` names the plugin. Without it, each test prints `NOT RUN`.

use std::f64::consts::FRAC_PI_4;

use mind_core::{
    build::Builder,
    canon::Canonical,
    cumulate::Cumulate,
    interp::{self, Array, Elements},
    ir::{Cumulation, Op, Reduction},
    map::Map,
    reduce::{ArgReduce, Reduce},
    ty::{DType, Shape, Type},
};
use mind_xla::Client;

use crate::engine::{self, canonical, client, gradient, of_elements};

/// Functions for which the interpreter reports an error at some operands, with the code of the error: division of
/// integers by 0. They are compared at the other operands.
const STOPS: &[(&str, &str)] = &[
    ("div of u8", "E6010"),
    ("div of i32", "E6010"),
    ("div of i64", "E6010"),
    ("rem of u8", "E6010"),
    ("rem of i32", "E6010"),
    ("rem of i64", "E6010"),
    ("floor_divide of u8", "E6010"),
    ("floor_divide of i32", "E6010"),
    ("floor_divide of i64", "E6010"),
    ("remainder of u8", "E6010"),
    ("remainder of i32", "E6010"),
    ("remainder of i64", "E6010"),
];

/// Operands at which the lowered formulas, or XLA's transformation of them, were wrong before. Each row has the
/// function, the operands, the value and the gradients. The expected numbers are from mpmath.
const CASES: &[(Map, &[f64], f64, &[f64])] = &[
    (Map::Div, &[0.0, 1e-25], 0.0, &[1e25, 0.0]),
    (Map::Div, &[1e-10, 1e-20], 1e10, &[1e20, -1e30]),
    (Map::Atan2, &[1e-20, 1e-20], FRAC_PI_4, &[5e19, -5e19]),
    (Map::Trigamma, &[f64::INFINITY], 0.0, &[0.0]),
    (Map::Trigamma, &[1e20], 1e-20, &[-1e-40]),
    (Map::Trigamma, &[6.0], 0.18132295573711533, &[-0.0327897322451145]),
    (Map::Hypot, &[1.0, f64::NAN], f64::NAN, &[f64::NAN, f64::NAN]),
    (Map::Hypot, &[f64::NAN, 1.0], f64::NAN, &[f64::NAN, f64::NAN]),
    // At 1 + 2^-13, 2 - 2^-13, 1 - 2^-13 and 2 + 2^-13, which are exact in `f32` and `f64`.
    (Map::Lgamma, &[1.0001220703125], -7.044864160936656e-05, &[-0.577014885196026]),
    (Map::Lgamma, &[1.9998779296875], -5.160461064981216e-05, &[0.4227056047843528]),
    (Map::Lgamma, &[0.9998779296875], 7.047315303717008e-05, &[-0.5774164804311276]),
    (Map::Lgamma, &[2.0001220703125], 5.16142209163108e-05, &[0.4228630593908165]),
    (Map::Maximum, &[1.0, f64::NAN], f64::NAN, &[0.0, 1.0]),
    (Map::Minimum, &[f64::NAN, 1.0], f64::NAN, &[1.0, 0.0]),
];

/// Numbers at which functions have special values, and ordinary numbers.
fn specials(dtype: DType) -> Vec<f64> {
    let largest = if dtype == DType::F32 { f64::from(f32::MAX) } else { f64::MAX };
    let least = if dtype == DType::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    // A multiple of the least normal number, since fractions of that are subnormal, and engines flush those to 0.
    let least = 4.0 * least;
    let either = [
        0.0, 0.5, 1.0, 1.0001, 1.5, 1.999, 2.0, 3.0, 1e-20, 1e-10, 1e-3, 6.0, 104.0, 1e10, 1e20, largest,
        least,
    ];
    let both = either.into_iter().chain([f64::INFINITY]).flat_map(|number| [number, -number]);
    both.chain([f64::NAN]).collect()
}

fn integers(dtype: DType) -> Vec<i64> {
    let ends = if dtype == DType::I32 { [i32::MIN.into(), i32::MAX.into()] } else { [i64::MIN, i64::MAX] };
    [0, 1, 2, 3, 7, -1, -2, -3].into_iter().chain(ends).collect()
}

fn elements(dtype: DType, floats: &[f64]) -> Elements {
    match dtype {
        DType::F32 => floats.iter().map(|x| *x as f32).collect::<Vec<_>>().into(),
        DType::F64 => floats.to_vec().into(),
        DType::Bool => floats.iter().map(|x| *x > 0.0).collect::<Vec<_>>().into(),
        DType::U8 | DType::I32 | DType::I64 => unreachable!("integers have numbers of their own"),
    }
}

/// The operands of a function: every combination of special numbers.
fn operands(map: Map, dtype: DType) -> Vec<Elements> {
    let row = map.row();
    let choices = if dtype.is_float() {
        specials(dtype).len()
    } else if dtype == DType::Bool {
        2
    } else {
        integers(dtype).len()
    };
    let count = choices.pow(row.arity() as u32);
    let orders = match row.mnemonic {
        "polygamma" => 4,
        "erfcx_derivative" => 2,
        _ => 1,
    };
    let chosen = |position: usize| (0..count).map(move |at| at / choices.pow(position as u32) % choices);
    let operands = (0..row.arity()).map(|position| match row.operand(position, dtype) {
        DType::Bool => Elements::from(chosen(position).map(|at| at % 2 == 1).collect::<Vec<_>>()),
        // The integers include negative counts of shifts, for which the interpreter reports no error.
        DType::U8 => chosen(position).map(|at| integers(dtype)[at] as u8).collect::<Vec<_>>().into(),
        DType::I32 => chosen(position).map(|at| integers(dtype)[at] as i32).collect::<Vec<_>>().into(),
        DType::I64 => chosen(position).map(|at| integers(dtype)[at]).collect::<Vec<_>>().into(),
        // Orders for which engines also support the next order, which the gradient needs.
        DType::F32 | DType::F64 if row.formals[position] == "n" => {
            elements(dtype, &chosen(position).map(|at| (at % orders) as f64).collect::<Vec<_>>())
        }
        DType::F32 | DType::F64 => {
            elements(dtype, &chosen(position).map(|at| specials(dtype)[at]).collect::<Vec<_>>())
        }
    });
    operands.collect()
}

/// The tolerance of a comparison.
#[derive(Clone, Copy)]
struct Near {
    relative: f64,
    /// The least positive normal number. Engines may flush smaller results and intermediate results to 0.
    least: f64,
}

fn near(name: &str, dtype: DType) -> Near {
    // Below 0, the fourth derivative is computed as a difference of larger numbers, which loses digits.
    let loose = if name.starts_with("polygamma") { 1e-3 } else { 2e-5 };
    match dtype {
        DType::F32 => Near { relative: loose, least: f64::from(f32::MIN_POSITIVE) },
        DType::F64 => Near { relative: 1e-9, least: f64::MIN_POSITIVE },
        DType::U8 | DType::I32 | DType::I64 | DType::Bool => Near { relative: 0.0, least: 0.0 },
    }
}

fn agree(found: f64, expected: f64, near: Near) -> bool {
    let apart = (found - expected).abs();
    found == expected
        || (found.is_nan() && expected.is_nan())
        || apart <= near.relative * expected.abs()
        || (found.abs() <= near.least && expected.abs() <= 1000.0 * near.least)
}

/// Runs a module on the plugin and in the interpreter, and appends the differences to `wrong`.
fn differences(client: &Client, name: &str, module: &Canonical, inputs: &[Array], wrong: &mut Vec<String>) {
    let expected = interp::run(module, inputs).expect("it runs");
    let results = engine::run(client, name, module, inputs);
    assert_eq!(results.len(), expected.len(), "{name}");
    for (output, (result, expected)) in results.iter().zip(&expected).enumerate() {
        if *result == expected.elements {
            continue;
        }
        let near = near(name, expected.dtype());
        let (found, expected) = (result.to_f64(), expected.elements.to_f64());
        let apart: Vec<_> = (0..found.len()).filter(|at| !agree(found[*at], expected[*at], near)).collect();
        let shown = apart.iter().take(6).map(|at| {
            let at_inputs = inputs.iter().map(|input| {
                let all = input.elements.to_f64();
                format!("{:e}", all[*at % all.len()])
            });
            let at_inputs = at_inputs.collect::<Vec<_>>().join(", ");
            format!("\n    ({at_inputs}): {:e}, needed {:e}", found[*at], expected[*at])
        });
        if !apart.is_empty() {
            wrong.push(format!(
                "{name}, output {output}: {} of {}{}",
                apart.len(),
                found.len(),
                shown.collect::<String>()
            ));
        }
    }
}

/// The combinations of operands at which the interpreter reports no error, and the code of its error at one of the
/// others.
fn without_stops(map: Map, inputs: &[Array]) -> (Vec<Array>, Option<String>) {
    let count = inputs[0].shape[0];
    let at = |position: usize| -> Vec<Array> {
        inputs.iter().map(|input| Array::new([1], only(&input.elements, &[position]))).collect()
    };
    let (mut kept, mut stop) = (Vec::new(), None);
    for position in 0..count {
        let operands = at(position);
        match interp::run(&of_elements(map, &operands), &operands) {
            Ok(_) => kept.push(position),
            Err(error) => stop = Some(format!("{:?}", error.code)),
        }
    }
    (inputs.iter().map(|input| Array::new([kept.len()], only(&input.elements, &kept))).collect(), stop)
}

/// The elements at these positions.
fn only(elements: &Elements, positions: &[usize]) -> Elements {
    match elements {
        Elements::U8(elements) => positions.iter().map(|at| elements[*at]).collect::<Vec<_>>().into(),
        Elements::I32(elements) => positions.iter().map(|at| elements[*at]).collect::<Vec<_>>().into(),
        Elements::I64(elements) => positions.iter().map(|at| elements[*at]).collect::<Vec<_>>().into(),
        Elements::F32(elements) => positions.iter().map(|at| elements[*at]).collect::<Vec<_>>().into(),
        Elements::F64(elements) => positions.iter().map(|at| elements[*at]).collect::<Vec<_>>().into(),
        Elements::Bool(elements) => positions.iter().map(|at| elements[*at]).collect::<Vec<_>>().into(),
    }
}

#[test]
fn functions_of_elements_keep_special_numbers() {
    let Some(client) = client() else { return };
    let (mut wrong, mut stops, mut tried) = (Vec::new(), Vec::new(), 0);
    for map in Map::ALL {
        for dtype in DType::ALL.into_iter().filter(|dtype| map.row().takes(*dtype)) {
            let name = format!("{} of {dtype}", map.row().mnemonic);
            let operands = operands(*map, dtype);
            let count = operands[0].len();
            let mut inputs: Vec<_> =
                operands.into_iter().map(|elements| Array::new([count], elements)).collect();
            if interp::run(&of_elements(*map, &inputs), &inputs).is_err() {
                let (kept, stop) = without_stops(*map, &inputs);
                stops.push((name.clone(), stop.expect("it stops at one, as it does at all")));
                inputs = kept;
            }
            let count = inputs[0].shape[0];
            let module = of_elements(*map, &inputs);
            differences(&client, &name, &module, &inputs, &mut wrong);
            tried += 1;
            if let Some(gradient) = gradient(&module) {
                inputs.push(Array::new(
                    [count],
                    elements(module.ty(module.outputs()[0]).dtype, &vec![1.0; count]),
                ));
                differences(&client, &format!("{name}, gradient"), &gradient, &inputs, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let stops: Vec<_> = stops.iter().map(|(name, code)| (name.as_str(), code.as_str())).collect();
    assert_eq!(stops, STOPS, "of {tried} functions");
}

#[test]
fn reported_cases_are_right() {
    let Some(client) = client() else { return };
    let mut wrong = Vec::new();
    for (map, numbers, value, gradients) in CASES {
        for dtype in [DType::F32, DType::F64] {
            let name = format!("{} of {dtype} at {numbers:?}", map.row().mnemonic);
            let mut inputs: Vec<_> =
                numbers.iter().map(|number| Array::new([1], elements(dtype, &[*number]))).collect();
            let module = of_elements(*map, &inputs);
            inputs.push(Array::new([1], elements(dtype, &[1.0])));
            let gradient = gradient(&module).expect("floats have gradients");
            let results = engine::run(&client, &name, &gradient, &inputs);
            let expected = [value].into_iter().chain(*gradients);
            for (output, (found, expected)) in results.iter().zip(expected).enumerate() {
                let found = found.to_f64()[0];
                if !agree(found, *expected, near(&name, dtype)) {
                    wrong.push(format!("{name}, output {output}: {found:e}, needed {expected:e}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All rows of three special numbers.
fn rows() -> Vec<f64> {
    let specials = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.0, -2.0, 1e20];
    let all = specials.iter().flat_map(|a| specials.iter().map(move |b| (*a, *b)));
    let rows = all.flat_map(|(a, b)| specials.iter().flat_map(move |c| [a, b, *c]));
    let rows: Vec<f64> = rows.collect();
    rows
}

/// All rows of three of the special integers.
fn rows_of_integers(dtype: DType) -> Vec<i64> {
    let all = integers(dtype);
    let pairs = all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b)));
    pairs.flat_map(|(a, b)| all.iter().flat_map(move |c| [a, b, *c])).collect()
}

#[test]
fn reductions_keep_special_numbers() {
    let Some(client) = client() else { return };
    let (mut wrong, mut tried) = (Vec::new(), Vec::new());
    let over = || Reduction { axes: vec![1], keepdims: false };
    let along = |reverse, exclusive| Cumulation { axis: 1, reverse, exclusive };
    let sums = [(false, false), (true, false), (false, true), (true, true)];
    let sums = sums.map(|(reverse, exclusive)| Op::Cumulate(Cumulate::Sum, along(reverse, exclusive)));
    for dtype in DType::ALL {
        let reductions = Reduce::ALL.iter().map(|reduce| Op::Reduce(*reduce, over()));
        let places = [ArgReduce::Max, ArgReduce::Min].map(|arg| Op::ArgReduce(arg, over()));
        for op in reductions.chain(places).chain(sums.clone()).filter(|op| takes(op, dtype)) {
            tried.push(dtype);
            let name = format!("{op:?} of {dtype}");
            let elements_of_rows = match dtype {
                DType::U8 => rows_of_integers(dtype).iter().map(|x| *x as u8).collect::<Vec<_>>().into(),
                DType::I32 => rows_of_integers(dtype).iter().map(|x| *x as i32).collect::<Vec<_>>().into(),
                DType::I64 => rows_of_integers(dtype).into(),
                DType::F32 | DType::F64 | DType::Bool => elements(dtype, &rows()),
            };
            let count = elements_of_rows.len() / 3;
            let mut b = Builder::new();
            let ty = Type::new(dtype, Shape::literal(&[count as i64, 3]));
            let x = b.input("x", ty).expect("it is an input");
            let result = b.push(op, &[x]).expect("it takes it");
            let module = canonical(b, result);
            let inputs = vec![Array::new([count, 3], elements_of_rows)];
            differences(&client, &name, &module, &inputs, &mut wrong);
            if let Some(gradient) = gradient(&module) {
                let like = gradient.inputs().last().expect("the cotangent is the last input").1;
                let shape: Vec<usize> =
                    like.shape.iter().map(|dim| dim.as_literal().expect("it is a number") as usize).collect();
                let ones = vec![1.0; shape.iter().product()];
                let inputs = [inputs, vec![Array::new(shape, elements(dtype, &ones))]].concat();
                differences(&client, &format!("{name}, gradient"), &gradient, &inputs, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let of = |dtype| tried.iter().filter(|tried| **tried == dtype).count();
    // Floats have five reductions, two argument reductions and four running sums. Integers have all but the mean.
    // Booleans have none.
    assert_eq!(DType::ALL.map(of), [0, 10, 10, 10, 11, 11]);
}

fn takes(op: &Op, dtype: DType) -> bool {
    let mut b = Builder::new();
    let x = b.input("x", Type::new(dtype, Shape::literal(&[2, 3]))).expect("it is an input");
    b.push(op.clone(), &[x]).is_ok()
}
