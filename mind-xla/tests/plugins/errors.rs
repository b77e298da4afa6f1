//! The errors of element-wise functions and their gradients on a real plugin, in units in the last place.
//!
//! Each line of `errors.txt` has a function and four bounds: of values in `f32` and `f64`, and of gradients in `f32`
//! and `f64`. A missing bound is `-`. `docs/engines.md` shows the bounds. `ci/xla --errors` measures them again.
//!
//! `MIND_PJRT_PLUGIN` names the plugin, and `MIND_EXACT` names a file of exact results that `ci/exact COUNT --slopes`
//! writes. If either is missing, the test prints `NOT RUN`.

use std::{env, fmt::Write as _, fs, path::Path};

use mind_core::{
    canon::Canonical,
    interp::{self, Array, Elements},
    map::{Exactness, Map, Row},
    ty::DType,
};
use mind_xla::Client;

use crate::{
    engine::{self, client, gradient, of_elements},
    exact::{Exact, Worst, bound},
};

/// The environment variable with the path of the file of exact results.
const EXACT: &str = "MIND_EXACT";

/// The element types in the order of the columns.
const FLOATS: [DType; 2] = [DType::F32, DType::F64];

#[test]
fn functions_are_as_exact_as_is_recorded() {
    let Some(client) = client() else { return };
    let Some(path) = env::var_os(EXACT) else {
        eprintln!("NOT RUN: `{EXACT}` names no file of exact results; `ci/xla` writes one");
        return;
    };
    let exact = Exact::read(&fs::read_to_string(path).expect("the file of exact results can be read"));
    let maps: Vec<_> = Map::ALL.iter().copied().filter(|map| has_errors(map.row())).collect();
    let measured = maps.iter().map(|map| (map.row().mnemonic, measure(&client, *map, &exact)));
    let measured: Vec<_> = measured.collect();
    for (name, errors) in &measured {
        println!(
            "{name}: {}",
            errors.each_ref().map(|error| error.as_ref().map_or("-".into(), Worst::shown)).join("; ")
        );
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors.txt");
    if env::var_os("MIND_BLESS").is_some() {
        fs::write(&file, recorded(&measured)).expect("the file can be written");
    }
    let known = fs::read_to_string(file).expect("the bounds are recorded");
    let mut lines = known.lines();
    let mut wrong = Vec::new();
    for (name, errors) in &measured {
        let line = lines.next().unwrap_or_default();
        let bounds = bounds(line, name);
        for (error, bound) in errors.iter().zip(bounds) {
            match (error, bound) {
                (Some(error), Some(bound)) if error.error <= bound => {}
                (None, None) => {}
                (error, bound) => wrong.push(format!("{name}: {error:?}, recorded {bound:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(lines.next(), None, "a line of a function that does not exist");
}

/// Whether errors of the function can be measured: it takes floats and returns floats of the same type.
fn has_errors(row: &Row) -> bool {
    FLOATS.iter().all(|dtype| row.takes(*dtype) && row.result(*dtype) == *dtype)
}

/// The bounds in the line of the function `name`.
fn bounds(line: &str, name: &str) -> Vec<Option<f64>> {
    let mut words = line.split(' ');
    assert_eq!(words.next(), Some(name), "the next line is not of this function");
    words.map(|word| word.parse().ok()).collect()
}

/// The text of the file. A bound is a quarter above the measured error, since vectors of other widths round
/// differently.
fn recorded(measured: &[(&str, [Option<Worst>; 4])]) -> String {
    let mut text = String::new();
    for (name, errors) in measured {
        let bounds =
            errors.each_ref().map(|error| error.as_ref().map_or("-".into(), |error| bound(error.error)));
        writeln!(text, "{name} {}", bounds.join(" ")).expect("writing to a string cannot fail");
    }
    text
}

/// The largest errors of values in `f32` and `f64`, then of gradients in `f32` and `f64`.
fn measure(client: &Client, map: Map, exact: &Exact) -> [Option<Worst>; 4] {
    let [narrow, wide] = FLOATS.map(|dtype| of_type(client, map, dtype, exact));
    let ([value, slope], [wide_value, wide_slope]) = (narrow, wide);
    [value, wide_value, slope, wide_slope]
}

/// The largest error of values and the largest error of gradients, in one element type.
fn of_type(client: &Client, map: Map, dtype: DType, exact: &Exact) -> [Option<Worst>; 2] {
    let row = map.row();
    let name = format!("{} of {dtype}", row.mnemonic);
    let operands = operands(row, dtype, exact);
    let inputs: Vec<_> = (0..row.arity()).map(|position| input(row, position, dtype, &operands)).collect();
    let module = of_elements(map, &inputs);
    let found = engine::run(client, &name, &module, &inputs)[0].to_f64();
    let order = orders(row);
    let exact_values = values(row, dtype, exact, &operands);
    let mut value = worst(row, dtype, &operands, &found, &exact_values, order);
    // The reference is the nearest `f64`, which may be half a unit away from the exact value.
    if let (DType::F64, Exactness::Rounded, Some(value)) = (dtype, row.exactness, &mut value) {
        value.error += 0.5;
    }
    let Some(slopes) = gradient(&module) else { return [value, None] };
    let mut inputs = inputs;
    inputs.push(Array::new([operands.len()], elements(dtype, vec![1.0; operands.len()])));
    let found = engine::run(client, &format!("{name}, gradient"), &slopes, &inputs);
    let by =
        module.inputs().enumerate().filter(|(_, (_, ty))| ty.dtype.is_float()).map(|(position, _)| position);
    let mut largest: Option<Worst> = None;
    for (position, found) in by.zip(&found[1..]) {
        if row.derivative.get(position).is_none_or(|text| text.is_empty()) {
            continue;
        }
        let mut expected = derivatives(map, dtype, exact, &operands, position);
        // Skips gradients outside the domain of the function, where the formulas may give any number.
        for (slope, (value, _)) in expected.iter_mut().zip(&exact_values) {
            if value.is_nan() {
                slope.0 = f64::NAN;
            }
        }
        if let Some(of_operand) = worst(row, dtype, &operands, &found.to_f64(), &expected, order - 1.0) {
            of_operand.join(&mut largest);
        }
    }
    [value, largest]
}

/// Lists of operands, one list per evaluation: operands of all magnitudes, and then the operands of the exact results.
fn operands(row: &Row, dtype: DType, exact: &Exact) -> Vec<Vec<f64>> {
    let round = |x: f64| if dtype == DType::F32 { f64::from(x as f32) } else { x };
    let lines = exact.of(row.mnemonic).iter().map(|line| line.operands.iter().copied().map(round).collect());
    let lines: Vec<Vec<f64>> = lines.collect();
    // In `f64`, the only exact results of a function that is not correctly rounded are those in the file.
    if row.formals.contains(&"n") || (dtype == DType::F64 && is_approximate(row)) {
        return lines;
    }
    let spread = |count: u64| -> Vec<f64> {
        let numbers = (0..count).map(|i| match dtype {
            DType::F32 => f64::from(f32::from_bits((i * (u64::from(u32::MAX) / count) + i % 127) as u32)),
            _ => f64::from_bits(i * (u64::MAX / count) + i % 127),
        });
        let least = if dtype == DType::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
        numbers.filter(|x| x.is_finite() && x.abs() >= least).collect()
    };
    let near: Vec<f64> = (-40..=40).map(|i| f64::from(i) * 0.37).collect();
    let all: Vec<Vec<f64>> = match row.arity() {
        1 => spread(20_011).into_iter().chain(near).map(|x| vec![round(x)]).collect(),
        2 => {
            let numbers: Vec<_> = spread(151).into_iter().chain(near).map(round).collect();
            numbers.iter().flat_map(|a| numbers.iter().map(move |b| vec![*a, *b])).collect()
        }
        _ => {
            let numbers: Vec<_> = spread(23).into_iter().chain([0.3, -1.7]).map(round).collect();
            let pairs = numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b)));
            pairs.flat_map(|(a, b)| numbers.iter().map(move |c| vec![a, b, *c])).collect()
        }
    };
    all.into_iter().chain(lines).collect()
}

fn is_approximate(row: &Row) -> bool {
    matches!(row.exactness, Exactness::Within(_))
}

/// The highest order of derivatives that engines support.
fn orders(row: &Row) -> f64 {
    if row.mnemonic == "erfcx_derivative" { 2.0 } else { 4.0 }
}

/// The operand of a function at a position, as booleans if the function takes booleans there.
fn input(row: &Row, position: usize, dtype: DType, operands: &[Vec<f64>]) -> Array {
    let numbers: Vec<_> = operands.iter().map(|operands| operands[position]).collect();
    Array::new([operands.len()], elements(row.operand(position, dtype), numbers))
}

fn elements(dtype: DType, numbers: Vec<f64>) -> Elements {
    match dtype {
        DType::F32 => numbers.iter().map(|x| *x as f32).collect::<Vec<_>>().into(),
        DType::F64 => numbers.into(),
        DType::Bool => numbers.iter().map(|x| *x > 0.0).collect::<Vec<_>>().into(),
        DType::U8 | DType::I32 | DType::I64 => unreachable!("operands are floats, or truth values"),
    }
}

/// An exact result: a float, and the difference of the exact result from it, in units in its last place.
type Precise = (f64, f64);

/// Exact values: in `f64` from the file of exact results, if the function is not correctly rounded; otherwise from the
/// reference.
fn values(row: &Row, dtype: DType, exact: &Exact, operands: &[Vec<f64>]) -> Vec<Precise> {
    if dtype == DType::F64 && is_approximate(row) {
        return recorded_for(exact, row.mnemonic, operands);
    }
    // The reference takes booleans as 0 and 1.
    let number = |(position, x): (usize, &f64)| match row.operand(position, dtype) {
        DType::Bool => f64::from(*x > 0.0),
        DType::U8 | DType::I32 | DType::I64 | DType::F32 | DType::F64 => *x,
    };
    let exact = operands.iter().map(|operands| operands.iter().enumerate().map(number).collect::<Vec<_>>());
    exact.map(|operands| ((row.float)(&operands), 0.0)).collect()
}

/// Exact derivatives with respect to an operand: in `f64` from the file of exact results, if the function is not
/// correctly rounded; otherwise from the interpreter in `f64`.
fn derivatives(
    map: Map,
    dtype: DType,
    exact: &Exact,
    operands: &[Vec<f64>],
    position: usize,
) -> Vec<Precise> {
    let row = map.row();
    if dtype == DType::F64 && is_approximate(row) {
        return recorded_for(exact, &format!("{}.{position}", row.mnemonic), operands);
    }
    let mut inputs: Vec<_> = (0..row.arity()).map(|at| input(row, at, DType::F64, operands)).collect();
    let module: Canonical = of_elements(map, &inputs);
    let slopes = gradient(&module).expect("it has one in the other element type");
    inputs.push(Array::new([operands.len()], elements(DType::F64, vec![1.0; operands.len()])));
    let results = interp::run(&slopes, &inputs).expect("it runs");
    let floats = module.inputs().take(position).filter(|(_, ty)| ty.dtype.is_float()).count();
    results[1 + floats].elements.to_f64().into_iter().map(|x| (x, 0.0)).collect()
}

fn recorded_for(exact: &Exact, name: &str, operands: &[Vec<f64>]) -> Vec<Precise> {
    let lines = exact.of(name);
    assert!(!lines.is_empty(), "`ci/exact` has no `{name}`");
    let same = lines.iter().map(|line| &line.operands).eq(operands.iter());
    assert!(same, "`{name}` is evaluated at the operands in the file");
    lines.iter().map(|line| (line.result, line.rest)).collect()
}

/// The largest error of the found results. Skips results that [`Limits`] excludes.
fn worst(
    row: &Row,
    dtype: DType,
    operands: &[Vec<f64>],
    found: &[f64],
    exact: &[Precise],
    order: f64,
) -> Option<Worst> {
    let limits = Limits::of(dtype);
    let mut worst: Option<Worst> = None;
    for ((at, found), (result, rest)) in operands.iter().zip(found).zip(exact) {
        if !(limits.has(row, at, order) && limits.is_within(*result)) {
            continue;
        }
        let lacks = if dtype == DType::F64 { *rest } else { 0.0 };
        let error = limits.error(*found, *result, lacks);
        Worst { error, at: at.clone(), found: *found, exact: *result }.join(&mut worst);
    }
    worst
}

/// The numbers of an element type for which errors are measured.
struct Limits {
    /// The least positive normal number.
    least: f64,
    /// The largest number for which intermediate results stay in the range.
    largest: f64,
    /// The number of bits of the fraction, which give the unit in the last place.
    digits: i32,
}

impl Limits {
    fn of(dtype: DType) -> Self {
        match dtype {
            DType::F32 => Self { least: f32::MIN_POSITIVE.into(), largest: 2f64.powi(100), digits: 23 },
            _ => Self { least: f64::MIN_POSITIVE, largest: 2f64.powi(900), digits: 52 },
        }
    }

    /// Whether errors are measured at these operands. An operand that is the order of a derivative is at most `order`.
    fn has(&self, row: &Row, operands: &[f64], order: f64) -> bool {
        let has_order = !row.formals.contains(&"n") || operands[0] <= order;
        has_order && operands.iter().all(|x| self.is_within(*x))
    }

    /// Whether a number is so far from the ends of the range that intermediate results stay in the range.
    fn is_within(&self, x: f64) -> bool {
        x == 0.0 || (1.0 / self.largest..=self.largest).contains(&x.abs())
    }

    /// The error of `found` in units in the last place. The exact result is `result` plus `lacks` units.
    fn error(&self, found: f64, result: f64, lacks: f64) -> f64 {
        if result == 0.0 {
            return if found.abs() <= self.least { 0.0 } else { f64::INFINITY };
        }
        let exponent = (result.abs().to_bits() >> 52) as i32 - 1023;
        // Multiplies in two steps, since the power of 2 may overflow.
        let half = exponent / 2;
        let units = |x: f64| x * 2f64.powi(-half) * 2f64.powi(self.digits - exponent + half);
        let error = (units(found) - units(result) - lacks).abs();
        if error.is_nan() { f64::INFINITY } else { error }
    }
}
