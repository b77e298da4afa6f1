//! The kernel of each elementwise function is as accurate as its row states, for all numbers and in both forms.

use mind::__private::{FUNCTIONS, Function};
use mind_core::map::{Exactness, Map, Row, Rust};
use mind_tests::sample;

/// The rows that have kernels among the run time's functions, each with its kernels.
fn kernels() -> impl Iterator<Item = (&'static Row, &'static Function)> {
    Map::ALL.iter().map(|map| map.row()).filter_map(|row| {
        let (name, is_required) = match row.rust {
            Rust::By(name) => (name, true),
            // Some functions have no kernel here, for example the rectifier.
            Rust::Function(name) => (name, false),
            Rust::Identity | Rust::Operator { .. } | Rust::Sign(_) => return None,
        };
        let function = FUNCTIONS.iter().find(|function| function.name == name);
        assert!(function.is_some() || !is_required, "`{}` has no kernel `{name}`", row.name);
        Some((row, function?))
    })
}

/// The accepted error of a result, in units in the last place.
fn bound(row: &Row, wide: bool) -> u64 {
    match row.exactness {
        Exactness::Exact | Exactness::Rounded => 0,
        Exactness::Within(bounds) => bounds[usize::from(wide)].into(),
    }
}

/// The distance of two floats in units in the last place, by their bits. Zeros of both signs are equal.
fn apart(a: i64, b: i64) -> u64 {
    let order = |bits: i64, least: i64| if bits < 0 { least - bits } else { bits };
    order(a, i64::MIN).abs_diff(order(b, i64::MIN))
}

/// The unit in the last place of `f32` at a number.
fn unit(exact: f64) -> f64 {
    let exponent = (exact.abs().max(f32::MIN_POSITIVE.into()).to_bits() >> 52) as i32 - 1023;
    2f64.powi(exponent - 23)
}

#[test]
fn every_kernel_is_within_the_bound_of_its_row() {
    let (mut tried, mut functions) = (0, 0);
    let (narrow, wide) = (sample("exponents of f32", 0..512_u32), sample("exponents of f64", 0..4_096_u64));
    for (row, function) in kernels().filter(|(row, _)| row.arity() == 1) {
        functions += 1;
        // All exponents of both signs, with mantissas spread over their range and at both ends.
        for exponent in narrow.iter().copied() {
            for step in 0..2_050 {
                let mantissa = if step < 2_048 {
                    step * 4_096 + (exponent * 7_919) % 4_096
                } else {
                    (step - 2_048) * 0x7f_ffff
                };
                let x = f32::from_bits((exponent << 23) | mantissa);
                assert_near_f32(row, function, &[x]);
                tried += 1;
            }
        }
        for exponent in wide.iter().copied() {
            for step in 0..66_u64 {
                let spread = (step << 46) + (step * 7_919 + exponent * 1_299_709) * 104_729 % (1 << 46);
                let mantissa = if step < 64 { spread } else { (step - 64) * 0xf_ffff_ffff_ffff };
                let x = f64::from_bits((exponent << 52) | mantissa);
                assert_near_f64(row, function, &[x]);
                tried += 1;
            }
        }
    }
    assert_eq!(tried, functions * (2_050 * narrow.len() + 66 * wide.len()));
    assert!(functions >= 8 && narrow.len() > 20 && wide.len() > 200, "{functions} functions");
}

/// All pairs of numbers that are spread over all exponents and both signs, with zeros, infinities and NaN.
#[test]
fn every_kernel_of_two_operands_is_within_the_bound_of_its_row() {
    let (mut tried, mut functions) = (0, 0);
    let narrow: Vec<f32> = (0..509_u32).map(|i| f32::from_bits(i * 0x80_4a37)).collect();
    let wide: Vec<f64> = (0..509_u64).map(|i| f64::from_bits(i * 0x80_c0de_4a37_1b2f)).collect();
    let specials = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, 1.0, -1.0];
    let narrow: Vec<f32> = narrow.into_iter().chain(specials.map(|x| x as f32)).collect();
    let wide: Vec<f64> = wide.into_iter().chain(specials).collect();
    for (row, function) in kernels().filter(|(row, _)| row.arity() == 2 && bound(row, false) > 0) {
        functions += 1;
        for (a, c) in narrow.iter().zip(&wide) {
            for (b, d) in narrow.iter().zip(&wide) {
                assert_near_f32(row, function, &[*a, *b]);
                assert_near_f64(row, function, &[*c, *d]);
                tried += 1;
            }
        }
    }
    assert_eq!(tried, functions * narrow.len() * wide.len());
    assert!(functions >= 2, "{functions} functions");
}

/// Checks that both forms of a kernel are within the bound of the result in `f64`.
fn assert_near_f32(row: &Row, function: &Function, x: &[f32]) {
    let exact = (row.float)(&x.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
    let expected = exact as f32;
    for found in function.f32.map(|kernel| kernel(x)) {
        assert_sign(row, x, found.into(), exact);
        let same = found == expected || found.is_nan() && expected.is_nan();
        let most = bound(row, false) as f64 * unit(exact);
        let is_near = (f64::from(found) - exact).abs() <= most;
        assert!(same || is_near, "{} of {x:?}: {found:e}, not {exact:e}", row.name);
    }
}

fn assert_near_f64(row: &Row, function: &Function, x: &[f64]) {
    let expected = (row.float)(x);
    // If the result is not correctly rounded, neither is the reference.
    let most = match bound(row, true) {
        0 => 0,
        bound => bound + 1,
    };
    for found in function.f64.map(|kernel| kernel(x)) {
        assert_sign(row, x, found, expected);
        let same = found == expected || found.is_nan() && expected.is_nan();
        let off = apart(found.to_bits() as i64, expected.to_bits() as i64);
        let is_near = off <= most || (found - expected).abs() <= row.least_error;
        assert!(same || is_near, "{} of {x:?}: {found:e}, not {expected:e}", row.name);
    }
}

/// Checks that the sign of the result is right, also for zeros.
fn assert_sign(row: &Row, x: &[impl std::fmt::Debug], found: f64, expected: f64) {
    let same = found.is_sign_negative() == expected.is_sign_negative();
    assert!(same || expected.is_nan(), "{} of {x:?}: {found:e}, not {expected:e}", row.name);
}
