//! Reads elements of constants in texts.

use mind_shape::{element_types, match_dtype};

use super::{Cursor, ReadResult, Spaces, shortened};
use crate::{
    data::TensorData,
    diag::{Code, Diag},
    ty::DType,
};

/// Reads the elements of a constant tensor: one number that fills it, or a list of all elements.
pub(in crate::text) fn data(
    cursor: &mut Cursor<'_>,
    dtype: DType,
    spaced: Spaces,
    limit: usize,
    needed: Option<u64>,
    of: &dyn Fn() -> String,
) -> ReadResult<TensorData> {
    match_dtype!(dtype, T => elements(cursor, spaced, limit, needed, of, T::read).map(TensorData::from))
}

fn elements<T>(
    cursor: &mut Cursor<'_>,
    spaced: Spaces,
    limit: usize,
    needed: Option<u64>,
    of: &dyn Fn() -> String,
    element: fn(&mut Cursor<'_>) -> ReadResult<T>,
) -> ReadResult<Vec<T>> {
    let start = cursor.position();
    if !cursor.eat(b'[') {
        return Ok(vec![element(cursor)?]);
    }
    let mut elements = Vec::new();
    spaced.skip(cursor);
    if !cursor.eat(b']') {
        loop {
            if elements.len() == limit {
                let message = format!("a literal has more elements than the limit of {limit}");
                return cursor.fault_at(start, Code::E1008, message);
            }
            elements.push(element(cursor)?);
            spaced.skip(cursor);
            if cursor.eat(b']') {
                break;
            }
            cursor.expect(b',', "`,` or `]`")?;
            spaced.skip(cursor);
        }
    }
    if needed.is_some_and(|needed| u64::try_from(elements.len()) != Ok(needed)) || elements.is_empty() {
        let needed = needed.map_or_else(|| "1 or more".into(), |needed| needed.to_string());
        let message = format!("{} elements given, {needed} needed for {}", elements.len(), of());
        return cursor.fault_at(start, Code::E4005, message);
    }
    Ok(elements)
}

/// An element as written in both text forms.
pub(in crate::text) trait ElementText: Sized {
    /// Reads one element.
    fn read(cursor: &mut Cursor<'_>) -> ReadResult<Self>;
}

impl ElementText for bool {
    fn read(cursor: &mut Cursor<'_>) -> ReadResult<Self> {
        let start = cursor.position();
        match cursor.kind() {
            b"true" => Ok(true),
            b"false" => Ok(false),
            _ => cursor.fault_at(start, Code::E4005, "expected `true` or `false`"),
        }
    }
}

macro_rules! integers {
    ($($integer:ident $variant:ident;)*) => {$(
        impl ElementText for $integer {
            fn read(cursor: &mut Cursor<'_>) -> ReadResult<Self> {
                integer_element(cursor, stringify!($integer))
            }
        }
    )*};
}

element_types!(integers => integers!);

fn integer_element<T: std::str::FromStr>(cursor: &mut Cursor<'_>, dtype: &str) -> ReadResult<T> {
    let start = cursor.position();
    let token = cursor.number();
    let form = number_form(token);
    match (form, token.parse()) {
        (Some(NumberForm::Integer), Ok(value)) => Ok(value),
        (Some(_), _) => {
            cursor.fault_at(start, Code::E4005, format!("{} does not fit {dtype}", shortened(token)))
        }
        (None, _) => not_a_number(cursor, start, token, dtype),
    }
}

/// A float type with a fixed bit pattern for `nan`: the quiet NaN without sign or payload, on every machine.
pub(in crate::text) trait Quiet {
    /// The quiet NaN.
    const QUIET: Self;
}

macro_rules! floats {
    ($($float:ident $variant:ident;)*) => {$(
        impl Quiet for $float {
            const QUIET: Self = Self::from_bits(Self::INFINITY.to_bits() | 1 << (Self::MANTISSA_DIGITS - 2));
        }

        impl ElementText for $float {
            fn read(cursor: &mut Cursor<'_>) -> ReadResult<Self> {
                let dtype = stringify!($float);
                let start = cursor.position();
                let token = cursor.number();
                match (number_form(token), token) {
                    (Some(NumberForm::Integer | NumberForm::Decimal), _) => {
                        let value: Self = token.parse().unwrap_or(Self::INFINITY);
                        if value.is_finite() {
                            return Ok(value);
                        }
                        let message = format!("{} does not fit {dtype}", shortened(token));
                        let mut diag = Diag::new(Code::E4005, cursor.site_of(start), message);
                        let infinity = if token.starts_with('-') { "-inf" } else { "inf" };
                        diag = diag.help(format!("write `{infinity}` for infinity"));
                        Err(diag.into())
                    }
                    (Some(NumberForm::Special), "inf") => Ok(Self::INFINITY),
                    (Some(NumberForm::Special), "-inf") => Ok(Self::NEG_INFINITY),
                    (Some(NumberForm::Special), "nan") => Ok(Self::QUIET),
                    (Some(NumberForm::Special), _) => {
                        let bits = token.strip_prefix("nan:0x");
                        let bits = bits.and_then(|bits| u64::from_str_radix(bits, 16).ok()?.try_into().ok());
                        match bits.map(Self::from_bits).filter(|value| value.is_nan()) {
                            Some(value) => Ok(value),
                            None => {
                                let message = format!("{} is not a NaN of {dtype}", shortened(token));
                                cursor.fault_at(start, Code::E4005, message)
                            }
                        }
                    }
                    (None, _) => not_a_number(cursor, start, token, dtype),
                }
            }
        }
    )*};
}

element_types!(floats => floats!);

fn not_a_number<T>(cursor: &Cursor<'_>, start: usize, token: &str, dtype: &str) -> ReadResult<T> {
    if token.is_empty() {
        return cursor.unexpected(&format!("a number of {dtype}"));
    }
    cursor.fault_at(
        start,
        Code::E1005,
        format!("{} is not a number, needed a number of type {dtype}", shortened(token)),
    )
}

enum NumberForm {
    /// Digits, with an optional `-` before them.
    Integer,
    /// Digits with a fraction, an exponent or both.
    Decimal,
    /// `inf`, `-inf`, `nan`, or `nan:0x` and hexadecimal digits.
    Special,
}

fn number_form(token: &str) -> Option<NumberForm> {
    if matches!(token, "inf" | "-inf" | "nan") {
        return Some(NumberForm::Special);
    }
    if let Some(bits) = token.strip_prefix("nan:0x") {
        let hexadecimal = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_hexdigit());
        return hexadecimal.then_some(NumberForm::Special);
    }
    let bytes = token.strip_prefix('-').unwrap_or(token).as_bytes();
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = digits(bytes);
    if at == 0 {
        return None;
    }
    if at == bytes.len() {
        return Some(NumberForm::Integer);
    }
    if bytes[at] == b'.' {
        let fraction = digits(&bytes[at + 1..]);
        at += 1 + fraction;
        if fraction == 0 {
            return None;
        }
    }
    if at < bytes.len() && matches!(bytes[at], b'e' | b'E') {
        at += 1;
        at += usize::from(at < bytes.len() && matches!(bytes[at], b'+' | b'-'));
        let exponent = digits(&bytes[at..]);
        at += exponent;
        if exponent == 0 {
            return None;
        }
    }
    (at == bytes.len()).then_some(NumberForm::Decimal)
}
