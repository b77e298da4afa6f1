//! Number literals.

use mind_shape::{match_dtype, names};
use proc_macro2::Literal;
use syn::Lit;

use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{Number, NumberValue};
use crate::ty::DType;

/// Reads a literal as a number, with a minus sign before it if `negative`.
pub(super) fn number(literal: Literal, negative: bool) -> Result<Number, Diag> {
    let site = Site::token(literal.span());
    let sign = if negative { "-" } else { "" };
    let text = format!("{sign}{literal}");
    let (digits, suffix, is_float) = match Lit::new(literal) {
        Lit::Int(int) => (int.base10_digits().to_owned(), int.suffix().to_owned(), false),
        Lit::Float(float) => (float.base10_digits().to_owned(), float.suffix().to_owned(), true),
        _ => {
            return Err(Diag::new(Code::E1007, site, format!("found `{text}`, expected a number"))
                .help("literals are numbers, such as `1.0`"));
        }
    };
    let suffix = match (suffix.as_str(), DType::from_name(&suffix)) {
        ("", _) => None,
        (_, Some(dtype)) if DType::NUMERIC.contains(&dtype) => Some(dtype),
        (suffix, Some(_) | None) => {
            let message = format!("`{text}`: `{suffix}` is not a dtype, needed {}", names::ANY_NUMBER);
            let diag = Diag::new(Code::E1005, site, message);
            let is_type = suffix.starts_with(['u', 'i', 'f', 'e']);
            return Err(if is_type {
                diag
            } else {
                diag.help(format!("write a product as `{text}`", text = product(&digits, suffix)))
            });
        }
    };
    let is_float = is_float || suffix.is_some_and(DType::is_float);
    let digits = format!("{sign}{digits}");
    let value = match (is_float, suffix) {
        (true, Some(dtype)) if dtype.is_integer() => {
            return Err(Diag::new(Code::E1005, site, format!("`{text}`: {dtype} holds integers only")));
        }
        (true, _) => NumberValue::Float(digits),
        (false, _) => match digits.parse() {
            Ok(value) => NumberValue::Integer(value),
            Err(_) => {
                let dtype = suffix.unwrap_or(DType::I64);
                return Err(Diag::new(Code::E1005, site, format!("`{text}` is out of range for {dtype}")));
            }
        },
    };
    let number = Number { text, value, suffix };
    match number.suffix {
        Some(dtype) => number.check_range(dtype, site)?,
        None if is_float => number.check_range(DType::F64, site)?,
        None => {}
    }
    Ok(number)
}

/// `2.0 * x` for `2x`.
fn product(digits: &str, name: &str) -> String {
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point} * {name}")
}

impl Number {
    /// Checks that the number fits in `dtype`, which is of the same kind.
    ///
    /// # Errors
    /// Returns E1005 at `site` if it does not.
    pub fn check_range(&self, dtype: DType, site: Site) -> Result<(), Diag> {
        let fits = match &self.value {
            NumberValue::Integer(value) => match_dtype!(dtype, T {
                truths => true,
                integers => T::try_from(*value).is_ok(),
                floats => true,
            }),
            // The names of values that have no digits.
            NumberValue::Float(digits) if matches!(&**digits, "inf" | "nan" | "-inf" | "-nan") => true,
            NumberValue::Float(digits) => match_dtype!(dtype, T {
                floats => digits.parse().is_ok_and(T::is_finite),
                others => digits.parse().is_ok_and(f64::is_finite),
            }),
        };
        if fits {
            Ok(())
        } else {
            Err(Diag::new(Code::E1005, site, format!("`{}` is out of range for {dtype}", self.text)))
        }
    }
}
