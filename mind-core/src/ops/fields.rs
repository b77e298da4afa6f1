//! Attributes as data: the fields of an operation, for text forms and other readers.

use std::sync::Arc;

use crate::{
    data::{F32, F64, TensorData},
    dim::Dim,
    ir::{Nested, Padding, Slice},
    ty::DType,
};

/// An attribute of an operation: its names and its kind. A row lists its fields in the order of every text form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name in Core IR text and JSON, such as `keepdims`.
    pub name: &'static str,
    /// The kind of value.
    pub kind: FieldKind,
    /// How MIC writes it.
    pub mic: InMic,
}

/// The kind of value that a field holds, one for each variant of [`Attribute`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A text, such as the name of an input.
    Text,
    /// Yes or no.
    Flag,
    /// An `i64`.
    I64,
    /// An `f32`.
    F32,
    /// An `f64`.
    F64,
    /// An element type.
    DType,
    /// A list of integers, such as positions or steps.
    Integers,
    /// A list of dims, such as extents or bounds.
    Dims,
    /// The elements of a constant tensor.
    Data,
    /// The bounds and steps of a slice.
    Slice,
    /// The padding of a convolution.
    Padding,
    /// The axis that a gather reads along, always 0. Only MIC writes it.
    LeadingAxis,
    /// A module. Text forms write it on separate lines after the instruction.
    Module,
}

/// How MIC writes a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InMic {
    /// By its position.
    Place,
    /// After a key, `kd=1`.
    Key(&'static str),
    /// Not at all: the declared type implies it.
    Type,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A text, such as the name of an input.
    Text(Arc<str>),
    /// Yes or no.
    Flag(bool),
    /// An integer, such as the value of a scalar constant or an axis.
    I64(i64),
    /// The value of a scalar constant.
    F32(F32),
    /// The value of a scalar constant.
    F64(F64),
    /// An element type.
    DType(DType),
    /// A list of integers, such as positions or steps.
    Integers(Vec<i64>),
    /// A list of dims, such as extents or bounds.
    Dims(Vec<Dim>),
    /// The elements of a constant tensor; a single one fills it.
    Data(TensorData),
    /// The bounds and steps of a slice.
    Slice(Box<Slice>),
    /// The padding of a convolution.
    Padding(Padding),
    /// The axis that a gather reads along, always 0.
    LeadingAxis,
    /// A module.
    Module(Nested),
}

impl Attribute {
    /// The dims in the attribute.
    pub(super) fn dims(&mut self) -> impl Iterator<Item = &mut Dim> {
        let (dims, more): (&mut [Dim], &mut [Dim]) = match self {
            Self::Dims(dims) => (dims, &mut []),
            Self::Slice(slice) => (&mut slice.starts, &mut slice.ends),
            Self::Text(_)
            | Self::Flag(_)
            | Self::I64(_)
            | Self::F32(_)
            | Self::F64(_)
            | Self::DType(_)
            | Self::Integers(_)
            | Self::Data(_)
            | Self::Padding(_)
            | Self::LeadingAxis
            | Self::Module(_) => (&mut [], &mut []),
        };
        dims.iter_mut().chain(more)
    }
}

/// The values of a row's fields, in their order. A row has at most five fields.
pub type Attributes = [Option<Attribute>; 5];

/// The values of all fields of a row.
pub(crate) fn listed<const N: usize>(values: [Attribute; N]) -> Attributes {
    const { assert!(N <= 5, "a row has at most five fields") };
    let mut attributes = Attributes::default();
    for (slot, value) in attributes.iter_mut().zip(values) {
        *slot = Some(value);
    }
    attributes
}

/// The values of the `N` fields of a row.
///
/// # Panics
/// If there is another number of values.
pub(super) fn exactly<const N: usize>(attributes: Attributes) -> [Attribute; N] {
    let mut values = attributes.into_iter();
    let exact = std::array::from_fn(|_| values.next().flatten().unwrap_or_else(|| not_these_fields()));
    if values.any(|further| further.is_some()) {
        not_these_fields();
    }
    exact
}

impl Field {
    pub(super) const fn place(name: &'static str, kind: FieldKind) -> Self {
        Self { name, kind, mic: InMic::Place }
    }

    pub(super) const fn key(name: &'static str, key: &'static str, kind: FieldKind) -> Self {
        Self { name, kind, mic: InMic::Key(key) }
    }

    pub(super) const fn of_type(name: &'static str, kind: FieldKind) -> Self {
        Self { name, kind, mic: InMic::Type }
    }
}

/// A list of extents, which MIC writes by its position. Most operations with a shape attribute use it.
pub(super) const SHAPE: Field = Field::place("shape", FieldKind::Dims);

/// Panics because a row received the values of another row's fields.
pub(super) fn not_these_fields() -> ! {
    unreachable!("`make` is given one value a field, each of the field's kind")
}
