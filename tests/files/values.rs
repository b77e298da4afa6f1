//! Reads and writes values as lines: `f32[2, 3] [1.0, -0.5, nan, 0.0, 1.0, 2.0]`.

use mind_core::{
    interp::{Array, Elements},
    ty::DType,
};

/// Reads a value of this element type: `[2, 3] 1.0 -0.5 …`, or a single number such as `1.0`.
pub(crate) fn parse(dtype: DType, text: &str) -> Array {
    let (shape, numbers) = match text.trim().strip_prefix('[') {
        Some(rest) => rest.split_once(']').expect("a shape ends with `]`"),
        None => ("", text),
    };
    let extents = shape.split(',').map(str::trim).filter(|extent| !extent.is_empty());
    let shape: Vec<usize> = extents.map(|extent| extent.parse().expect("an extent is a number")).collect();
    Array::new(shape, elements(dtype, numbers))
}

fn elements(dtype: DType, text: &str) -> Elements {
    fn all<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> Vec<T> {
        text.split_whitespace().map(|number| number.parse().expect("an element is a number")).collect()
    }
    match dtype {
        DType::U8 => all::<u8>(text).into(),
        DType::I32 => all::<i32>(text).into(),
        DType::I64 => all::<i64>(text).into(),
        DType::F32 => all::<f32>(text).into(),
        DType::F64 => all::<f64>(text).into(),
        DType::Bool => all::<bool>(text).into(),
    }
}

/// Formats a value as `f32[2] 1.0 -0.5`.
pub(crate) fn print(value: &Array) -> String {
    fn all<T: std::fmt::Debug>(elements: &[T]) -> String {
        elements.iter().map(|element| format!(" {element:?}")).collect()
    }
    let elements = match &value.elements {
        Elements::U8(elements) => all(elements),
        Elements::I32(elements) => all(elements),
        Elements::I64(elements) => all(elements),
        Elements::F32(elements) => all(elements),
        Elements::F64(elements) => all(elements),
        Elements::Bool(elements) => all(elements),
    };
    let shape = if value.shape.is_empty() { String::new() } else { format!("{:?}", value.shape) };
    format!("{}{shape}{elements}", value.dtype())
}

/// Whether two values have the same type and shape, and elements that differ by at most `tolerance` times the larger
/// one or 1.
pub(crate) fn close(a: &Array, b: &Array, tolerance: f64) -> bool {
    let near = |(a, b): (&f64, &f64)| {
        a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
    };
    a.dtype() == b.dtype()
        && a.shape == b.shape
        && a.elements.to_f64().iter().zip(&b.elements.to_f64()).all(near)
}
