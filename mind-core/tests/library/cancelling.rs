//! Formulas whose terms cancel, overflow or underflow have the values and gradients of mpmath, recorded by
//! `ci/cancelling`.

use mind_core::ty::DType;

use super::support::{compiled, floats, with_gradients};

/// The allowed errors relative to the largest number of a list, in f64 and in f32.
const WITHIN: [f64; 2] = [2e-15, 1e-6];

#[test]
fn terms_that_cancel_keep_their_digits() {
    let wrong: Vec<String> = include_str!("cancelling.txt").lines().filter_map(difference).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The difference between a line and the interpreter's result, if there is one.
fn difference(line: &str) -> Option<String> {
    let [dtype, file, call, x, results, gradient] = line.split(": ").collect::<Vec<_>>()[..] else {
        panic!("a line has six parts: {line}")
    };
    let (x, results, gradient) = (numbers(x), numbers(results), numbers(gradient));
    let dtype = if dtype == "f32" { DType::F32 } else { DType::F64 };
    // Elementwise functions have one result per element; a single result is a scalar.
    let is_number = results.len() == 1 && (x.len() > 1 || call.ends_with([']', '}']));
    let shape: &[usize] = if is_number { &[] } else { &[results.len()] };
    let name = dtype.name();
    let result = if is_number { name.to_owned() } else { format!("{name}[{}]", results.len()) };
    let module = compiled(file, &format!("fn case(x: {name}[{}]) -> {result} {{ {call} }}", x.len()));
    let ones = floats(dtype, shape, &vec![1.0; results.len()]);
    let found = with_gradients(&module, &[floats(dtype, &[x.len()], &x)], &[ones]);
    let within = WITHIN[usize::from(dtype == DType::F32)];
    let is_near = |found: &[f64], wanted: &[f64]| {
        // For elementwise functions, each element has its own error.
        let largest = wanted.iter().fold(0.0, |largest: f64, number| largest.max(number.abs()));
        let scale = |wanted: f64| if is_number { largest } else { wanted.abs() };
        found.len() == wanted.len()
            && found
                .iter()
                .zip(wanted)
                .all(|(found, wanted)| (found - wanted).abs() <= within * scale(*wanted))
    };
    let (value, slope) = (found[0].elements.to_f64(), found[1].elements.to_f64());
    let right = is_near(&value, &results) && (gradient.is_empty() || is_near(&slope, &gradient));
    (!right).then(|| format!("{line}\n    is {value:?}, {slope:?}"))
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map(|number| number.parse().expect("a number")).collect()
}
