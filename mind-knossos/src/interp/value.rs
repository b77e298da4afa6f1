//! Values of programs.

use std::{fmt, sync::Arc};

use super::{Bools, Floats, Precision, Style};
use crate::{
    ir::LayoutId,
    types::{Type, TypeId, Types},
};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An Integer.
    Integer(i64),
    /// A Float. In single precision it is representable as `f32`.
    Float(f64),
    /// A Bool.
    Bool(bool),
    /// A String.
    String(Arc<str>),
    /// A tuple.
    Tuple(Arc<[Value]>),
    /// A tensor.
    Tensor(Arc<Tensor>),
    /// The values that the first half of a derivative passes to the second half.
    Tape(Tape),
    /// An accumulator of a derivative. None exists at the end of a run.
    Accumulator(Accumulator),
}

/// A tensor in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The extent of each dimension.
    pub size: Vec<usize>,
    /// The elements; their number is the product of the extents.
    pub elements: Vec<Value>,
}

/// The values of a layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Tape {
    pub(super) layout: LayoutId,
    pub(super) values: Arc<[Value]>,
}

/// A part of an accumulator of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Accumulator {
    pub(super) slot: usize,
    /// The positions of members, elements or taped values, outermost first.
    pub(super) path: Arc<[usize]>,
}

/// The bytes of a value inside another one.
pub(super) const PART: u64 = size_of::<Value>() as u64;

/// The overhead of a heap allocation in bytes: reference counters and the allocator's data.
pub(super) const HEAD: u64 = 32;

impl Value {
    /// The empty tuple.
    pub fn unit() -> Self {
        Self::tuple([])
    }

    /// A tuple.
    pub fn tuple(members: impl Into<Arc<[Value]>>) -> Self {
        Self::Tuple(members.into())
    }

    /// A tensor. The number of `elements` must be the product of `size`.
    pub fn tensor(size: impl Into<Vec<usize>>, elements: Vec<Value>) -> Self {
        Self::Tensor(Arc::new(Tensor { size: size.into(), elements }))
    }

    /// A vector of floats.
    pub fn vector(elements: impl IntoIterator<Item = f64>) -> Self {
        let elements: Vec<_> = elements.into_iter().map(Self::Float).collect();
        Self::tensor([elements.len()], elements)
    }

    /// Whether it is a value of this type.
    pub fn is_of(&self, types: &Types, ty: TypeId) -> bool {
        match (self, types.get(ty)) {
            (Self::Integer(_), Type::Integer)
            | (Self::Float(_), Type::Float)
            | (Self::Bool(_), Type::Bool)
            | (Self::String(_), Type::String)
            | (Self::Tape(_), Type::Tape) => true,
            (Self::Tuple(values), Type::Tuple(members)) => {
                values.len() == members.len()
                    && values.iter().zip(members).all(|(value, ty)| value.is_of(types, *ty))
            }
            (Self::Tensor(tensor), Type::Tensor(rank, element)) => {
                tensor.size.len() == *rank as usize
                    && tensor.size.iter().product::<usize>() == tensor.elements.len()
                    && tensor.elements.iter().all(|value| value.is_of(types, *element))
            }
            _ => false,
        }
    }

    /// All floats in it, in order.
    pub fn floats(&self) -> Vec<f64> {
        let mut floats = Vec::new();
        self.visit(&mut |value| {
            if let Self::Float(float) = value {
                floats.push(*float);
            }
        });
        floats
    }

    fn visit(&self, visitor: &mut impl FnMut(&Self)) {
        visitor(self);
        match self {
            Self::Tuple(members) => members.iter().for_each(|member| member.visit(visitor)),
            Self::Tensor(tensor) => tensor.elements.iter().for_each(|element| element.visit(visitor)),
            Self::Tape(tape) => tape.values.iter().for_each(|value| value.visit(visitor)),
            Self::Integer(_) | Self::Float(_) | Self::Bool(_) | Self::String(_) | Self::Accumulator(_) => {}
        }
    }

    /// The number of values in it, including tuples and tensors. Counting stops soon after the limit.
    pub(super) fn parts_up_to(&self, limit: u64) -> u64 {
        let mut parts = 1;
        for member in self.parts() {
            if parts > limit {
                break;
            }
            parts += member.parts_up_to(limit - parts);
        }
        parts
    }

    /// The bytes of a copy that shares nothing. Counting stops soon after the limit.
    pub(super) fn bytes_up_to(&self, limit: u64) -> u64 {
        let mut bytes = PART + self.own_bytes();
        for member in self.parts() {
            if bytes > limit {
                break;
            }
            bytes += member.bytes_up_to(limit - bytes);
        }
        bytes
    }

    /// The bytes of its allocation, without its parts and without its slot in a containing value.
    pub(super) fn own_bytes(&self) -> u64 {
        let bytes = match self {
            Self::Integer(_) | Self::Float(_) | Self::Bool(_) => return 0,
            Self::String(text) => text.len(),
            Self::Tuple(_) | Self::Tape(_) => 0,
            Self::Tensor(tensor) => size_of::<Tensor>() + size_of_val(&*tensor.size),
            Self::Accumulator(accumulator) => size_of_val(&*accumulator.path),
        };
        HEAD + bytes as u64
    }

    /// Its members or elements.
    pub(super) fn parts(&self) -> &[Self] {
        match self {
            Self::Tuple(members) => members,
            Self::Tensor(tensor) => &tensor.elements,
            Self::Tape(tape) => &tape.values,
            Self::Integer(_) | Self::Float(_) | Self::Bool(_) | Self::String(_) | Self::Accumulator(_) => &[],
        }
    }

    /// Its address, if other values may share it.
    pub(super) fn shared(&self) -> Option<*const u8> {
        match self {
            Self::Integer(_) | Self::Float(_) | Self::Bool(_) => None,
            Self::String(text) => (Arc::strong_count(text) > 1).then(|| Arc::as_ptr(text).cast()),
            Self::Tuple(members) => (Arc::strong_count(members) > 1).then(|| Arc::as_ptr(members).cast()),
            Self::Tensor(tensor) => (Arc::strong_count(tensor) > 1).then(|| Arc::as_ptr(tensor).cast()),
            Self::Tape(Tape { values, .. }) => {
                (Arc::strong_count(values) > 1).then(|| Arc::as_ptr(values).cast())
            }
            Self::Accumulator(Accumulator { path, .. }) => {
                (Arc::strong_count(path) > 1).then(|| Arc::as_ptr(path).cast())
            }
        }
    }

    /// A value with the same structure and mapped floats.
    pub fn map_floats(&self, f: &mut impl FnMut(f64) -> f64) -> Self {
        match self {
            Self::Float(float) => Self::Float(f(*float)),
            Self::Tuple(members) => Self::Tuple(members.iter().map(|member| member.map_floats(f)).collect()),
            Self::Tensor(tensor) => {
                let elements = tensor.elements.iter().map(|element| element.map_floats(f)).collect();
                Self::tensor(tensor.size.clone(), elements)
            }
            Self::Integer(_) | Self::Bool(_) | Self::String(_) | Self::Tape(_) | Self::Accumulator(_) => {
                self.clone()
            }
        }
    }

    /// A tangent with the same structure and mapped floats, and `(tuple)` for other scalars.
    pub fn tangent(&self, f: &mut impl FnMut(f64) -> f64) -> Self {
        match self {
            Self::Float(float) => Self::Float(f(*float)),
            Self::Integer(_) | Self::Bool(_) | Self::String(_) => Self::unit(),
            Self::Tuple(members) => Self::Tuple(members.iter().map(|member| member.tangent(f)).collect()),
            Self::Tensor(tensor) => {
                let elements = tensor.elements.iter().map(|element| element.tangent(f)).collect();
                Self::tensor(tensor.size.clone(), elements)
            }
            Self::Tape(_) | Self::Accumulator(_) => self.clone(),
        }
    }

    /// Formats like [`Display`](fmt::Display), with the shortest float digits for a precision.
    pub fn show(&self, precision: Precision) -> String {
        let mut text = String::new();
        self.write(Style { precision, bools: Bools::Words, floats: Floats::Exact }, &mut text);
        text
    }

    /// Appends the text to a string, because it may be large.
    fn write(&self, style: Style, text: &mut String) {
        match self {
            Self::Integer(value) => *text += &value.to_string(),
            Self::Float(value) => {
                *text += &match style.floats {
                    Floats::Six => mind_special::six_digits(*value),
                    Floats::Exact => style.precision.show(*value),
                };
            }
            Self::Bool(value) => {
                *text += match (style.bools, value) {
                    (Bools::Digits, true) => "1",
                    (Bools::Digits, false) => "0",
                    (Bools::Words, true) => "true",
                    (Bools::Words, false) => "false",
                };
            }
            Self::String(value) => *text += &format!("{value:?}"),
            Self::Tuple(members) => {
                *text += "(tuple";
                for member in &**members {
                    text.push(' ');
                    member.write(style, text);
                }
                text.push(')');
            }
            Self::Tensor(tensor) => write_elements(&tensor.size, &tensor.elements, style, text),
            Self::Tape(_) => *text += "<tape>",
            Self::Accumulator(_) => *text += "<accumulator>",
        }
    }

    /// The text that `print` writes: strings without quotes.
    pub(super) fn print(&self, style: Style) -> String {
        let mut text = String::new();
        match self {
            Self::String(value) => text += value,
            _ => self.write(style, &mut text),
        }
        text
    }
}

fn write_elements(size: &[usize], elements: &[Value], style: Style, text: &mut String) {
    text.push('[');
    let separate = |position: usize, text: &mut String| {
        if position > 0 {
            text.push(' ');
        }
    };
    match size {
        [] | [_] => {
            for (position, element) in elements.iter().enumerate() {
                separate(position, text);
                element.write(style, text);
            }
        }
        [0, ..] => {}
        [outer, inner @ ..] => {
            let count = elements.len() / outer;
            for row in 0..*outer {
                separate(row, text);
                let elements = &elements[row * count..(row + 1) * count];
                write_elements(inner, elements, style, text);
            }
        }
    }
    text.push(']');
}

/// Formats in the syntax of programs, in double precision: `(tuple 1 2.5)`. Tensors are in brackets.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(Precision::F64))
    }
}
