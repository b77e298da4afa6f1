//! Lines of a function: an operation each, whose result has a number.

use std::{
    collections::BTreeSet,
    fmt::{self, Write as _},
};

use super::tensor::{Tensor, list};

/// A value of the text: an argument of the function or the result of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SsaValue(usize);

/// A function under way.
pub(super) struct Writer {
    lines: String,
    /// Of all values, arguments first.
    tensors: Vec<Tensor>,
    arguments: usize,
    /// Those that are the second result of their line.
    seconds: BTreeSet<usize>,
    /// Those that are a quotient once an engine has dropped what changes no number, as a product with 1.
    quotients: BTreeSet<usize>,
}

/// Operations that an engine drops where an operand is 0 or 1, or moves a division through.
const TRANSPARENT: &[&str] = &[
    "stablehlo.add",
    "stablehlo.broadcast_in_dim",
    "stablehlo.multiply",
    "stablehlo.negate",
    "stablehlo.reshape",
    "stablehlo.select",
    "stablehlo.slice",
    "stablehlo.subtract",
    "stablehlo.transpose",
];

impl Writer {
    /// A function of these arguments.
    pub(super) fn new(arguments: Vec<Tensor>) -> Self {
        let (seconds, quotients) = (BTreeSet::new(), BTreeSet::new());
        Self { lines: String::new(), arguments: arguments.len(), tensors: arguments, seconds, quotients }
    }

    /// An argument, by its position.
    pub(super) fn argument(&self, position: usize) -> SsaValue {
        assert!(position < self.arguments, "there are {} arguments", self.arguments);
        SsaValue(position)
    }

    /// The type of a value.
    pub(super) fn tensor(&self, value: SsaValue) -> &Tensor {
        &self.tensors[value.0]
    }

    /// What the text calls a value.
    pub(super) fn name(&self, value: SsaValue) -> String {
        match value.0.checked_sub(self.arguments) {
            None => format!("%arg{}", value.0),
            Some(line) if self.seconds.contains(&value.0) => format!("%{line}#1"),
            Some(line) => format!("%{line}"),
        }
    }

    /// The lines so far.
    pub(super) fn into_lines(self) -> String {
        self.lines
    }

    /// A line whose right side is this.
    pub(super) fn line(&mut self, to: Tensor, right: fmt::Arguments<'_>) -> SsaValue {
        let value = SsaValue(self.tensors.len());
        self.tensors.push(to);
        writeln!(self.lines, "    {} = {right}", self.name(value)).expect("writing to a string cannot fail");
        value
    }

    /// A line with two results, of which the second is read.
    pub(super) fn second(&mut self, to: Tensor, right: fmt::Arguments<'_>) -> SsaValue {
        let value = SsaValue(self.tensors.len());
        self.tensors.push(to);
        writeln!(self.lines, "    {}:2 = {right}", self.name(value))
            .expect("writing to a string cannot fail");
        self.seconds.insert(value.0);
        value
    }

    /// `%2 = stablehlo.add %0, %1 : tensor<f32>`, with what stands between the operands and the types.
    pub(super) fn operation(
        &mut self,
        name: &str,
        operands: &[SsaValue],
        between: fmt::Arguments<'_>,
        to: Tensor,
    ) -> SsaValue {
        let (names, types) = (self.names(operands), self.types(operands, &to));
        // `chlo` writes functions without parentheses around the operands' types.
        let types = if name.starts_with("chlo.") { types.replace(['(', ')'], "") } else { types };
        let result = self.line(to, format_args!("{name} {names}{between} : {types}"));
        self.follow_quotient(name, operands, result);
        result
    }

    /// Whether an engine may find a quotient here.
    pub(super) fn is_quotient(&self, value: SsaValue) -> bool {
        self.quotients.contains(&value.0)
    }

    /// Notes that a value is a quotient.
    pub(super) fn mark_quotient(&mut self, value: SsaValue) {
        self.quotients.insert(value.0);
    }

    /// Notes that a result is a quotient where an operand is and the operation may be dropped.
    pub(super) fn follow_quotient(&mut self, operation: &str, operands: &[SsaValue], result: SsaValue) {
        if TRANSPARENT.contains(&operation) && operands.iter().any(|operand| self.is_quotient(*operand)) {
            self.mark_quotient(result);
        }
    }

    /// `%0, %1`
    pub(super) fn names(&self, values: &[SsaValue]) -> String {
        let names: Vec<_> = values.iter().map(|value| self.name(*value)).collect();
        names.join(", ")
    }

    /// `(tensor<2xf32>, tensor<f32>) -> tensor<2xf32>`
    pub(super) fn types(&self, operands: &[SsaValue], to: impl fmt::Display) -> String {
        let operands: Vec<_> = operands.iter().map(|operand| self.tensor(*operand).to_string()).collect();
        format!("({}) -> {to}", operands.join(", "))
    }

    /// A constant, of the text of its elements.
    pub(super) fn constant(&mut self, elements: &str, to: Tensor) -> SsaValue {
        let line = format!("stablehlo.constant dense<{elements}> : {to}");
        self.line(to, format_args!("{line}"))
    }

    /// Each element its place along an axis.
    pub(super) fn iota(&mut self, axis: usize, to: Tensor) -> SsaValue {
        let line = format!("stablehlo.iota dim = {axis} : {to}");
        self.line(to, format_args!("{line}"))
    }

    /// The elements in order, in another shape.
    pub(super) fn reshaped(&mut self, value: SsaValue, shape: &[i64]) -> SsaValue {
        if self.tensor(value).shape == shape {
            return value;
        }
        let to = self.tensor(value).with_shape(shape);
        self.operation("stablehlo.reshape", &[value], format_args!(""), to)
    }

    /// Broadcast: the axes of the value are the last ones of the shape.
    pub(super) fn broadcast(&mut self, value: SsaValue, shape: &[i64]) -> SsaValue {
        let axes = shape.len() - self.tensor(value).rank()..shape.len();
        self.broadcast_along(value, axes, shape)
    }

    /// Broadcast, where the axes of the value are these of the shape.
    pub(super) fn broadcast_along(
        &mut self,
        value: SsaValue,
        axes: impl IntoIterator<Item = usize>,
        shape: &[i64],
    ) -> SsaValue {
        if self.tensor(value).shape == shape {
            return value;
        }
        let to = self.tensor(value).with_shape(shape);
        let axes = list(axes);
        self.operation("stablehlo.broadcast_in_dim", &[value], format_args!(", dims = {axes}"), to)
    }
}

/// The region that puts two elements together by an operation.
pub(super) fn fold(operation: &str, element: &Tensor) -> String {
    format!(
        "({{\n    ^bb0(%lhs: {element}, %rhs: {element}):\n      %both = {operation} %lhs, %rhs : {element}\n      \
         stablehlo.return %both : {element}\n    }})"
    )
}
