//! Types and constants in the syntax of MLIR.

use std::fmt;

use mind_shape::{Kind, element_types, match_dtype, match_elements};

use crate::{
    data::TensorData,
    map::{Hlo, Map},
    reduce::Neutral,
    ty::DType,
};

/// A type of known extents: `tensor<2x3xf32>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tensor {
    pub(super) dtype: DType,
    pub(super) shape: Vec<i64>,
    foreign: Option<Foreign>,
}

/// Elements that the language does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Foreign {
    /// bfloat16 in place of `f32`.
    Bfloat16,
    /// Complex numbers of two floats.
    Complex,
}

impl Tensor {
    pub(super) fn new(dtype: DType, shape: impl Into<Vec<i64>>) -> Self {
        Self { dtype, shape: shape.into(), foreign: None }
    }

    /// The type of a scalar.
    pub(super) fn scalar(dtype: DType) -> Self {
        Self::new(dtype, [])
    }

    /// The same element type with another shape.
    pub(super) fn with_shape(&self, shape: impl Into<Vec<i64>>) -> Self {
        Self::new(self.dtype, shape)
    }

    /// The same shape with elements of bfloat16.
    pub(super) fn rounded(&self) -> Self {
        Self { foreign: Some(Foreign::Bfloat16), ..self.clone() }
    }

    /// Complex numbers of two floats of this type.
    pub(super) fn complex(&self, shape: impl Into<Vec<i64>>) -> Self {
        Self { foreign: Some(Foreign::Complex), ..self.with_shape(shape) }
    }

    pub(super) fn rank(&self) -> usize {
        self.shape.len()
    }
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensor<")?;
        self.shape.iter().try_for_each(|extent| write!(f, "{extent}x"))?;
        let bits = 8 * self.dtype.bytes();
        match self.dtype.kind() {
            Kind::Truth => write!(f, "i1>"),
            Kind::Unsigned => write!(f, "ui{bits}>"),
            Kind::Signed => write!(f, "i{bits}>"),
            Kind::Float => match self.foreign {
                None => write!(f, "f{bits}>"),
                Some(Foreign::Bfloat16) => f.write_str("bf16>"),
                Some(Foreign::Complex) => write!(f, "complex<f{bits}>>"),
            },
        }
    }
}

/// `[0, 1]`
pub(super) fn list<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<_> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(", "))
}

/// The elements of a constant in the syntax of `dense`: one that fills it, or all of them in brackets.
pub(super) fn elements(data: &TensorData, shape: &[i64]) -> String {
    match_elements!(data, TensorData(elements) => nested(elements, shape, |element| element.get().shown()))
}

fn nested<T>(elements: &[T], shape: &[i64], show: impl Fn(&T) -> String) -> String {
    fn rows<T>(text: &mut String, elements: &[T], shape: &[i64], show: &impl Fn(&T) -> String) {
        let [_, inner @ ..] = shape else {
            text.push_str(&show(&elements[0]));
            return;
        };
        text.push('[');
        let size = usize::try_from(inner.iter().product::<i64>()).expect("the elements are in memory");
        for (position, row) in elements.chunks(size).enumerate() {
            text.push_str(if position == 0 { "" } else { ", " });
            rows(text, row, inner, show);
        }
        text.push(']');
    }
    let mut text = String::new();
    let shape = if elements.len() == 1 { &[] } else { shape };
    rows(&mut text, elements, shape, &show);
    text
}

/// An element in the syntax of `dense`.
trait Shown {
    /// Its text.
    fn shown(self) -> String;
}

macro_rules! whole {
    ($($element:ident $variant:ident;)*) => {$(
        impl Shown for $element {
            fn shown(self) -> String {
                self.to_string()
            }
        }
    )*};
}

macro_rules! floats {
    ($($float:ident $variant:ident;)*) => {$(
        /// The text is read back to the same bits: MLIR reads decimals as `f64` and rounds the result.
        impl Shown for $float {
            fn shown(self) -> String {
                if !self.is_finite() {
                    return format!("0x{:01$X}", self.to_bits(), 2 * size_of::<Self>());
                }
                let short = format!("{self:?}");
                let is_exact = short.parse::<f64>().is_ok_and(|read| (read as Self).to_bits() == self.to_bits());
                with_point(if is_exact { short } else { format!("{:?}", f64::from(self)) })
            }
        }
    )*};
}

whole!(bool Bool;);
element_types!(integers => whole!);
element_types!(floats => floats!);

/// Adds the point that MLIR requires before an exponent.
fn with_point(number: String) -> String {
    match number.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        Some(_) | None => number,
    }
}

/// The text of a number in an element type.
pub(super) fn number(number: f64, dtype: DType) -> String {
    elements(&TensorData::splat(dtype, number), &[])
}

/// The text of a neutral element.
pub(super) fn neutral(neutral: Neutral, dtype: DType) -> String {
    let (least, greatest) = match_dtype!(dtype, T {
        truths => (false.shown(), true.shown()),
        integers => (T::MIN.shown(), T::MAX.shown()),
        floats => (T::NEG_INFINITY.shown(), T::INFINITY.shown()),
    });
    match neutral {
        Neutral::Zero => number(0.0, dtype),
        Neutral::One => number(1.0, dtype),
        Neutral::Least => least,
        Neutral::Greatest => greatest,
    }
}

/// The text after the operands of a comparison. Without it MLIR compares unsigned integers as signed ones.
pub(super) fn comparison(dtype: DType) -> &'static str {
    match dtype.kind() {
        Kind::Unsigned => ", UNSIGNED",
        Kind::Truth | Kind::Signed | Kind::Float => "",
    }
}

/// The operation that combines elements. It may drop NaN of floats; the caller has to keep it.
///
/// # Panics
/// If the function is lowered to more than one operation. No monoid has such a function.
pub(super) fn operation(combine: Map) -> &'static str {
    match combine.row().hlo {
        Hlo::Operation(operation) | Hlo::ByType { integers: operation, .. } => operation,
        Hlo::Operand
        | Hlo::Quotient(_)
        | Hlo::Compare(_)
        | Hlo::Formula(_)
        | Hlo::OfEach { .. }
        | Hlo::Between { .. } => {
            unreachable!("elements are put together by one operation")
        }
    }
}
