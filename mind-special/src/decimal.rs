//! Numbers as text in the format of C.

/// A number with six significant digits, as `%g` of C and a stream of C++ write it: `10`, `0.333333`, `1e-05`. NaN is
/// `nan` whatever its sign, whereas C shows the sign.
///
/// ```
/// assert_eq!(mind_special::six_digits(1.0 / 3.0), "0.333333");
/// assert_eq!(mind_special::six_digits(10.0), "10");
/// assert_eq!(mind_special::six_digits(1.5e6), "1.5e+06");
/// ```
#[must_use]
pub fn six_digits(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value == 0.0 || value.is_infinite() {
        return format!("{value}");
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').expect("the format has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is an integer");
    match exponent {
        -4..6 => without_zeros(&format!("{value:.*}", (5 - exponent) as usize)).to_owned(),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", without_zeros(digits), exponent.unsigned_abs())
        }
    }
}

/// Removes the zeros at the end of the decimals, and the point if no decimals remain.
fn without_zeros(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected text is the output of `printf("%g")` of glibc.
    #[test]
    fn numbers_are_written_as_c_writes_them() {
        let written = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-1.0, "-1"),
            (10.0, "10"),
            (100000.0, "100000"),
            (999999.0, "999999"),
            (999999.5, "1e+06"),
            (999998.5, "999998"),
            (1000000.0, "1e+06"),
            (1000005.0, "1e+06"),
            (1000015.0, "1.00002e+06"),
            (123456.5, "123456"),
            (123457.5, "123458"),
            (0.5, "0.5"),
            (0.1, "0.1"),
            (0.3333333333333333, "0.333333"),
            (-0.6666666666666666, "-0.666667"),
            (1e-4, "0.0001"),
            (0.00012345678, "0.000123457"),
            (9.9999949e-5, "9.99999e-05"),
            (9.99999949e-5, "0.0001"),
            (0.000099999996, "0.0001"),
            (1e-5, "1e-05"),
            (1.5e6, "1.5e+06"),
            (1e10, "1e+10"),
            (1e100, "1e+100"),
            (-1e-100, "-1e-100"),
            (1e300, "1e+300"),
            (5e-324, "4.94066e-324"),
            (1.7976931348623157e308, "1.79769e+308"),
            (2.5, "2.5"),
            (1234567.0, "1.23457e+06"),
            (0.1000005, "0.100001"),
            (1.000005, "1.00001"),
            (1.0000025, "1"),
            (1e21, "1e+21"),
            (1e22, "1e+22"),
        ];
        for (number, text) in written {
            assert_eq!(six_digits(number), text, "{number:e}");
        }
    }

    #[test]
    fn infinities_and_nan_have_names() {
        assert_eq!(six_digits(f64::INFINITY), "inf");
        assert_eq!(six_digits(f64::NEG_INFINITY), "-inf");
        assert_eq!(six_digits(f64::NAN), "nan");
        assert_eq!(six_digits(-f64::NAN), "nan");
    }
}
