//! Exact results of functions of elements, which `ci/exact` writes, and how far others are from them.

#![allow(dead_code, reason = "this file is part of several crates, of which few need all of it")]

use std::collections::BTreeMap;

/// Exact results by function, `hypot`, or derivative by an operand, `hypot.1`.
pub struct Exact(BTreeMap<String, Vec<Line>>);

/// Operands and the result: the nearest float and what it lacks in units in its last place.
#[derive(Clone, Debug)]
pub struct Line {
    /// The operands, in their order.
    pub operands: Vec<f64>,
    /// The nearest float.
    pub result: f64,
    /// The exact result less `result`, in units in its last place.
    pub rest: f64,
}

impl Exact {
    /// Reads the lines of a table.
    ///
    /// # Panics
    /// Where a line is none of `ci/exact`.
    pub fn read(text: &str) -> Self {
        let mut all: BTreeMap<String, Vec<Line>> = BTreeMap::new();
        for line in text.lines() {
            let mut words = line.split(' ');
            let name = words.next().expect("a line has a word").to_owned();
            let numbers: Vec<f64> = words.map(number).collect();
            let [operands @ .., result, rest] = &numbers[..] else { panic!("no line of ci/exact: {line}") };
            let line = Line { operands: operands.to_vec(), result: *result, rest: *rest };
            all.entry(name).or_default().push(line);
        }
        Self(all)
    }

    /// The lines of a function or derivative.
    pub fn of(&self, name: &str) -> &[Line] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Everything that has lines.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// The largest error of several results, and the operands where it is.
#[derive(Clone, Debug)]
pub struct Worst {
    /// The error, in units in the last place.
    pub error: f64,
    /// The operands.
    pub at: Vec<f64>,
    /// The result that was found.
    pub found: f64,
    /// The exact result.
    pub exact: f64,
}

impl Worst {
    /// The error, where it is and the two results.
    pub fn shown(&self) -> String {
        format!("{:.3} at {:?}: {:e}, not {:e}", self.error, self.at, self.found, self.exact)
    }

    /// Takes the place of `worst` if its error is larger; of equal errors the first stays.
    pub fn join(self, worst: &mut Option<Self>) {
        if worst.as_ref().is_none_or(|worst| worst.error < self.error) {
            *worst = Some(self);
        }
    }
}

/// Bits, or what a result lacks.
fn number(text: &str) -> f64 {
    let bits = text.strip_prefix("0x").map(|bits| u64::from_str_radix(bits, 16).map(f64::from_bits).ok());
    let number = bits.unwrap_or_else(|| text.parse().ok());
    number.unwrap_or_else(|| panic!("no number of ci/exact: {text}"))
}

/// The error of a result of 32 bits, in units in the last place of an exact one.
pub fn narrow_error(found: f32, exact: f64) -> f64 {
    let same = f64::from(found) == exact || found.is_nan() && exact.is_nan();
    if same || found.is_infinite() && found == exact as f32 {
        return 0.0;
    }
    let error = (f64::from(found) - exact).abs() / 2f64.powi(exponent(exact, f32::MIN_POSITIVE.into()) - 23);
    if error.is_nan() { f64::INFINITY } else { error }
}

/// The error of a result of 64 bits, in units in the last place of an exact one that has `rest` of these more than the float.
pub fn wide_error(found: f64, exact: f64, rest: f64) -> f64 {
    if found == exact && !exact.is_finite() || found.is_nan() && exact.is_nan() {
        return 0.0;
    }
    let exponent = exponent(exact, f64::MIN_POSITIVE);
    // Scaled so that a unit is a normal number.
    let scale = if exponent < 0 { 2f64.powi(500) } else { 1.0 };
    let unit = 2f64.powi(exponent) * scale * f64::EPSILON;
    let error = ((found * scale - exact * scale) / unit - rest).abs();
    if error.is_nan() { f64::INFINITY } else { error }
}

/// That of the power of 2 below a number, or of the least normal one.
fn exponent(x: f64, least: f64) -> i32 {
    (x.abs().max(least).to_bits() >> 52) as i32 - 1023
}

/// The bound that is recorded for an error: a quarter more, in two digits; what is correctly rounded is so everywhere.
pub fn bound(error: f64) -> String {
    if error == 0.0 || (error - 0.5).abs() < 1e-6 {
        return if error == 0.0 { "0" } else { "0.5" }.into();
    }
    let more = 1.25 * error;
    let digit = 10f64.powi((more.log10().floor() as i32 - 1).max(-1));
    let rounded = (more / digit).ceil() * digit;
    match rounded {
        ..10.0 => format!("{rounded:.1}"),
        ..10_000.0 => format!("{rounded:.0}"),
        _ => format!("{rounded:.1e}"),
    }
}
