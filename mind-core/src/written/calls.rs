//! Functions of the language that are one operation: the arguments of a call, and the operation that it makes.

use std::sync::Arc;

use super::Op;
use crate::{dim::Dim, ir::Padding, ops::Attribute, ty::DType};

/// A function of the language that is one operation on tensors.
pub(crate) struct WrittenFunction {
    /// The name of the function.
    pub(crate) name: &'static str,
    /// The name in messages.
    pub(crate) label: &'static str,
    /// The names of the arguments: operands, then attributes. Required arguments come first.
    pub(crate) formals: &'static [&'static str],
    /// The number of required arguments.
    pub(crate) required: usize,
    /// The forms of the attributes.
    pub(crate) attributes: &'static [AttributeForm],
    /// Whether the first argument is a list of the operands.
    pub(crate) list: bool,
    /// Makes the operation from the attributes of a call.
    pub(crate) make: fn(GivenAttributes) -> Op,
}

/// The syntax of an attribute.
#[derive(Clone, Copy)]
pub(crate) enum AttributeForm {
    /// `[2, N]`, of a shape
    Dims,
    /// `[2, N]`, of bounds
    Bounds,
    /// `[2, N]` or `N`
    Shape,
    /// `1`
    Integer,
    /// `true`
    Flag,
    /// `[0, 1]`
    Integers,
    /// `[0, 1]` or `1`
    Axes,
    /// `f32`
    DType,
    /// `"h"`
    Text,
    /// `same`, `valid` or `[[1, 1], [1, 1]]`
    Padding,
}

/// The attributes of a call: one entry per attribute, in the form that its function takes.
pub(crate) struct GivenAttributes(pub(crate) Vec<Option<Attribute>>);

const TAKEN: &str = "an attribute is read as its function takes it, and what is required is given";

impl WrittenFunction {
    /// A function without attributes.
    pub(super) const fn of(
        name: &'static str,
        formals: &'static [&'static str],
        make: fn(GivenAttributes) -> Op,
    ) -> Self {
        Self { name, label: name, formals, required: formals.len(), attributes: &[], list: false, make }
    }

    /// Adds attributes, which are the last arguments. The last `optional` of them may be left out.
    pub(super) const fn with(self, attributes: &'static [AttributeForm], optional: usize) -> Self {
        Self { attributes, required: self.formals.len() - optional, ..self }
    }

    /// Has another name in messages.
    pub(super) const fn labelled(self, label: &'static str) -> Self {
        Self { label, ..self }
    }

    /// Takes the operands as a list, the first argument.
    pub(super) const fn of_list(self) -> Self {
        Self { list: true, ..self }
    }

    /// The number of arguments that are operands.
    pub(crate) const fn operands(&self) -> usize {
        self.formals.len() - self.attributes.len()
    }
}

impl GivenAttributes {
    /// Extents or bounds, which are required.
    pub(super) fn dims(&mut self, position: usize) -> Vec<Dim> {
        let Some(Attribute::Dims(dims)) = self.0[position].take() else { unreachable!("{TAKEN}") };
        dims
    }

    /// An integer, if it is given.
    pub(super) fn integer(&mut self, position: usize) -> Option<i64> {
        self.0[position].take().map(|attribute| {
            let Attribute::I64(integer) = attribute else { unreachable!("{TAKEN}") };
            integer
        })
    }

    /// Whether a flag is given and true.
    pub(super) fn flag(&mut self, position: usize) -> bool {
        matches!(self.0[position].take(), Some(Attribute::Flag(true)))
    }

    /// Integers or axes, if they are given.
    pub(super) fn integers(&mut self, position: usize) -> Option<Vec<i64>> {
        self.0[position].take().map(|attribute| {
            let Attribute::Integers(integers) = attribute else { unreachable!("{TAKEN}") };
            integers
        })
    }

    /// The element type, which is required.
    pub(super) fn dtype(&mut self, position: usize) -> DType {
        let Some(Attribute::DType(dtype)) = self.0[position].take() else { unreachable!("{TAKEN}") };
        dtype
    }

    /// The text, which is required.
    pub(super) fn text(&mut self, position: usize) -> Arc<str> {
        let Some(Attribute::Text(text)) = self.0[position].take() else { unreachable!("{TAKEN}") };
        text
    }

    /// The padding, if it is given.
    pub(super) fn padding(&mut self, position: usize) -> Option<Padding> {
        self.0[position].take().map(|attribute| {
            let Attribute::Padding(padding) = attribute else { unreachable!("{TAKEN}") };
            padding
        })
    }
}
