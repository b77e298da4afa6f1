//! Exact results of elementwise functions, which `ci/exact` writes, and the errors of other results.

#![allow(dead_code, reason = "this file is part of several crates, of which few need all of it")]

use std::collections::BTreeMap;

/// The exact results of each function, such as `hypot`, and of each derivative by an operand, such as `hypot.1`.
pub struct Exact(BTreeMap<String, Vec<Line>>);

/// Operands and their exact result, which is the nearest float and a rest.
#[derive(Clone, Debug)]
pub struct Line {
    /// The operands, in their order.
    pub operands: Vec<f64>,
    /// The nearest float.
    pub result: f64,
    /// The exact result minus `result`, in units in the last place of `result`.
    pub rest: f64,
}

impl Exact {
    /// Reads the lines of a table.
    ///
    /// # Panics
    /// Panics if a line does not have the format of `ci/exact`.
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

    /// The lines of the function or derivative `name`.
    pub fn of(&self, name: &str) -> &[Line] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// The names of all functions and derivatives.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// The largest error of several results, and its operands.
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
    /// The error, its operands and the two results, as text.
    pub fn shown(&self) -> String {
        format!("{:.3} at {:?}: {:e}, not {:e}", self.error, self.at, self.found, self.exact)
    }

    /// Replaces `worst` if its own error is larger. Of equal errors the first stays.
    pub fn join(self, worst: &mut Option<Self>) {
        if worst.as_ref().is_none_or(|worst| worst.error < self.error) {
            *worst = Some(self);
        }
    }
}

/// Parses the bits of a float, or a rest.
fn number(text: &str) -> f64 {
    let bits = text.strip_prefix("0x").map(|bits| u64::from_str_radix(bits, 16).map(f64::from_bits).ok());
    let number = bits.unwrap_or_else(|| text.parse().ok());
    number.unwrap_or_else(|| panic!("no number of ci/exact: {text}"))
}

/// The error of an `f32` result, in units in the last place of the exact result.
pub fn narrow_error(found: f32, exact: f64) -> f64 {
    let same = f64::from(found) == exact || found.is_nan() && exact.is_nan();
    if same || found.is_infinite() && found == exact as f32 {
        return 0.0;
    }
    let error = (f64::from(found) - exact).abs() / 2f64.powi(exponent(exact, f32::MIN_POSITIVE.into()) - 23);
    if error.is_nan() { f64::INFINITY } else { error }
}

/// The error of an `f64` result, in units in the last place of the exact result, which is `exact` plus `rest` units.
pub fn wide_error(found: f64, exact: f64, rest: f64) -> f64 {
    if found == exact && !exact.is_finite() || found.is_nan() && exact.is_nan() {
        return 0.0;
    }
    let exponent = exponent(exact, f64::MIN_POSITIVE);
    // Scaled, so that a unit is a normal number.
    let scale = if exponent < 0 { 2f64.powi(500) } else { 1.0 };
    let unit = 2f64.powi(exponent) * scale * f64::EPSILON;
    let error = ((found * scale - exact * scale) / unit - rest).abs();
    if error.is_nan() { f64::INFINITY } else { error }
}

/// The exponent of the largest power of 2 that is at most `|x|`, or of `least` if that is larger.
fn exponent(x: f64, least: f64) -> i32 {
    (x.abs().max(least).to_bits() >> 52) as i32 - 1023
}

/// The bound to record for an error: a quarter more, rounded up to two digits. Errors of correctly rounded results are
/// recorded unchanged.
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
