//! Core IR text, the reference encoding.
//!
//! One instruction a line, `%id = Opcode (operands) {attributes} : type`, braces left out where there are no attributes,
//! then the line `outputs: %id, …`. What the specification leaves open:
//!
//! - A type is an element type, and its extents unless it is a single number: `f32`, `f32[2, 2 * N + 1]`.
//! - Attributes are `name=value`, in a fixed order an operation: text in double quotes with the escapes `\\ \" \n \t \r
//!   \u{hex}`; `true` or `false`; lists in brackets; padding `valid`, `same` or `[[top, bottom], [left, right]]`.
//! - Constant tensors list their elements flat in row-major order; a number without brackets fills the tensor.
//! - Floats are the shortest decimal that reads back to the same bits, `inf`, `-inf`, `nan` for the quiet NaN without
//!   payload, and `nan:0x7fc00001`, all bits, for every other.

use std::fmt::{self, Write};

use crate::{
    data::{F32, F64, TensorData},
    ir::{Inst, Module, Padding, ValueId},
    ops::Attribute,
};

/// The text of a module, valid or not.
///
/// ```
/// use mind_core::{ir::{Builder, Op, Reduction}, text::core_ir, ty::{DType, Shape, Type}};
/// let mut b = Builder::new();
/// let x = b.input("x", Type::new(DType::F32, Shape::literal(&[2, 3])))?;
/// let total = b.push(Op::Sum(Reduction { axes: vec![1], keepdims: false }), &[x])?;
/// assert_eq!(
///     core_ir::print(&b.finish([total])),
///     "%0 = Input () {name=\"x\"} : f32[2, 3]\n\
///      %1 = Sum (%0) {axes=[1], keepdims=false} : f32[2]\n\
///      outputs: %1\n"
/// );
/// # Ok::<(), Box<mind_core::ops::OpError>>(())
/// ```
pub fn print(module: &Module) -> String {
    let mut text = String::new();
    for (value, inst) in module.iter() {
        writeln!(text, "{}", line(value, inst)).expect("writing to a string cannot fail");
    }
    let outputs: Vec<_> = module.outputs().iter().map(ValueId::to_string).collect();
    writeln!(text, "outputs: {}", outputs.join(", ")).expect("writing to a string cannot fail");
    text
}

/// One instruction as it stands in the text, for messages that quote it.
pub fn line(value: ValueId, inst: &Inst) -> String {
    let row = inst.op.info();
    let operands: Vec<_> = inst.operands.iter().map(ValueId::to_string).collect();
    let mut attributes = Vec::new();
    for (name, attribute) in (row.attributes)(&inst.op) {
        if let Attribute::Slice(slice) = &attribute {
            attributes.push(format!("starts={}", List(&slice.starts)));
            attributes.push(format!("ends={}", List(&slice.ends)));
            attributes.push(format!("steps={}", List(&slice.steps)));
        } else {
            attributes.push(format!("{name}={}", Shown(&attribute)));
        }
    }
    let attributes =
        if attributes.is_empty() { String::new() } else { format!(" {{{}}}", attributes.join(", ")) };
    format!("{value} = {} ({}){attributes} : {}", row.name, operands.join(", "), inst.ty)
}

/// As [`print()`] gives it.
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

struct Shown<'a>(&'a Attribute);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Attribute::Text(text) => f.write_str(&quoted(text)),
            Attribute::Flag(flag) => flag.fmt(f),
            Attribute::DType(dtype) => dtype.fmt(f),
            Attribute::Integers(integers) => List(integers).fmt(f),
            Attribute::Dims(dims) => List(dims).fmt(f),
            Attribute::Number(data) | Attribute::Data(data) => match numbers(data).as_slice() {
                [single] => f.write_str(single),
                several => List(several).fmt(f),
            },
            Attribute::Slice(slice) => {
                write!(f, "[{}, {}, {}]", List(&slice.starts), List(&slice.ends), List(&slice.steps))
            }
            Attribute::Padding(Padding::Valid) => f.write_str("valid"),
            Attribute::Padding(Padding::Same) => f.write_str("same"),
            Attribute::Padding(Padding::Custom(pairs)) => {
                List(&pairs.iter().map(|pair| List(pair).to_string()).collect::<Vec<_>>()).fmt(f)
            }
        }
    }
}

struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (position, item) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            item.fmt(f)?;
        }
        f.write_str("]")
    }
}

/// The stored elements as both text forms write them.
pub(crate) fn numbers(data: &TensorData) -> Vec<String> {
    match data {
        TensorData::I32(elements) => elements.iter().map(i32::to_string).collect(),
        TensorData::I64(elements) => elements.iter().map(i64::to_string).collect(),
        TensorData::F32(elements) => elements.iter().map(|element| float32(*element)).collect(),
        TensorData::F64(elements) => elements.iter().map(|element| float64(*element)).collect(),
    }
}

fn float32(element: F32) -> String {
    let value = element.get();
    match value.to_bits() {
        0x7fc0_0000 => "nan".into(),
        bits if value.is_nan() => format!("nan:{bits:#010x}"),
        _ => format!("{value:?}"),
    }
}

fn float64(element: F64) -> String {
    let value = element.get();
    match value.to_bits() {
        0x7ff8_0000_0000_0000 => "nan".into(),
        bits if value.is_nan() => format!("nan:{bits:#018x}"),
        _ => format!("{value:?}"),
    }
}

/// Text in double quotes, on one line whatever it holds.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            control if control.is_control() || matches!(control, '\u{2028}' | '\u{2029}') => {
                quoted.extend(control.escape_unicode());
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_shortest_and_keep_their_bits() {
        let shown =
            |values: Vec<f32>| values.into_iter().map(|value| float32(value.into())).collect::<Vec<_>>();
        let values = vec![0.1, 1.0, -0.0, 1e-7, f32::MAX, f32::INFINITY, f32::NEG_INFINITY];
        assert_eq!(shown(values), ["0.1", "1.0", "-0.0", "1e-7", "3.4028235e38", "inf", "-inf"]);
        let nans =
            vec![f32::from_bits(0x7fc0_0000), f32::from_bits(0x7fc0_0001), f32::from_bits(0xffc0_0000)];
        assert_eq!(shown(nans), ["nan", "nan:0x7fc00001", "nan:0xffc00000"]);
        assert_eq!(float64(f64::from_bits(0x7ff8_0000_0000_0001).into()), "nan:0x7ff8000000000001");
    }

    #[test]
    fn names_are_quoted_on_one_line() {
        assert_eq!(
            quoted("a\"b\\c\nd\te\rf\u{1}g\u{e9}"),
            r#""a\"b\\c\nd\te\rf\u{1}g"#.to_string() + "\u{e9}\""
        );
    }
}
