//! Constant data as Rust literals, exact to the bit.

use std::fmt::Write;

use mind_core::{data::TensorData, ty::DType};

/// The only element of a constant, in parentheses where negative so that methods apply to all of it.
pub(crate) fn scalar(data: &TensorData) -> String {
    match data {
        TensorData::I32(elements) => integer(elements[0].into(), DType::I32),
        TensorData::I64(elements) => integer(elements[0], DType::I64),
        TensorData::F32(elements) => float32(elements[0].get()),
        TensorData::F64(elements) => float64(elements[0].get()),
        TensorData::Bool(elements) => elements[0].to_string(),
    }
}

/// All stored elements as an array.
pub(crate) fn elements(data: &TensorData) -> String {
    let mut text = String::from("[");
    let mut push = |element: String| _ = write!(text, "{element}, ");
    match data {
        TensorData::I32(elements) => {
            elements.iter().for_each(|element| push(integer((*element).into(), DType::I32)))
        }
        TensorData::I64(elements) => elements.iter().for_each(|element| push(integer(*element, DType::I64))),
        TensorData::F32(elements) => elements.iter().for_each(|element| push(float32(element.get()))),
        TensorData::F64(elements) => elements.iter().for_each(|element| push(float64(element.get()))),
        TensorData::Bool(elements) => elements.iter().for_each(|element| push(element.to_string())),
    }
    text.push(']');
    text
}

fn integer(value: i64, dtype: DType) -> String {
    if value < 0 { format!("({value}_{dtype})") } else { format!("{value}_{dtype}") }
}

fn float32(value: f32) -> String {
    match (value.is_finite(), value.is_sign_negative()) {
        (true, false) => format!("{value:?}_f32"),
        (true, true) => format!("({value:?}_f32)"),
        (false, _) => format!("f32::from_bits({:#x})", value.to_bits()),
    }
}

fn float64(value: f64) -> String {
    match (value.is_finite(), value.is_sign_negative()) {
        (true, false) => format!("{value:?}_f64"),
        (true, true) => format!("({value:?}_f64)"),
        (false, _) => format!("f64::from_bits({:#x})", value.to_bits()),
    }
}
