//! Emits constant data as Rust literals, exact to the bit.

use std::fmt::Write;

use mind_core::data::TensorData;
use mind_shape::{element_types, match_elements};

/// The single element of a constant. A negative one is in parentheses, so that a method call applies to the sign too.
pub(crate) fn scalar(data: &TensorData) -> String {
    match_elements!(data, TensorData(elements) => elements[0].get().literal())
}

/// All stored elements as an array.
pub(crate) fn elements(data: &TensorData) -> String {
    let mut text = String::from("[");
    match_elements!(data, TensorData(elements) => {
        elements.iter().for_each(|element| _ = write!(text, "{}, ", element.get().literal()))
    });
    text.push(']');
    text
}

/// An element type whose values can be written as Rust literals.
trait Literal {
    /// The literal of the value.
    fn literal(self) -> String;
}

impl Literal for bool {
    fn literal(self) -> String {
        self.to_string()
    }
}

macro_rules! integers {
    ($($integer:ident $variant:ident;)*) => {$(
        impl Literal for $integer {
            fn literal(self) -> String {
                let text = format!(concat!("{}_", stringify!($integer)), self);
                if text.starts_with('-') { format!("({text})") } else { text }
            }
        }
    )*};
}

macro_rules! floats {
    ($($float:ident $variant:ident;)*) => {$(
        impl Literal for $float {
            fn literal(self) -> String {
                match (self.is_finite(), self.is_sign_negative()) {
                    (true, false) => format!(concat!("{:?}_", stringify!($float)), self),
                    (true, true) => format!(concat!("({:?}_", stringify!($float), ")"), self),
                    (false, _) => format!(concat!(stringify!($float), "::from_bits({:#x})"), self.to_bits()),
                }
            }
        }
    )*};
}

element_types!(integers => integers!);
element_types!(floats => floats!);
