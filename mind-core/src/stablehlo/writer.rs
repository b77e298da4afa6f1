//! Writes the lines of a function: one operation per line, with a numbered result.

use std::{
    collections::BTreeSet,
    fmt::{self, Write as _},
    mem,
};

use super::tensor::{Tensor, list};

/// A value of the text: an argument of the function or of a region, or a result of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SsaValue(usize);

/// A function that is being written.
pub(super) struct Writer {
    lines: String,
    /// The number of lines that have results.
    count: usize,
    /// The types of all values, arguments first.
    tensors: Vec<Tensor>,
    /// The names of the values in the text.
    names: Vec<String>,
    arguments: usize,
    /// The values that may be quotients once an engine has dropped operations without effect, such as a product with 1.
    quotients: BTreeSet<usize>,
}

/// A loop whose regions are being written.
pub(super) struct WhileLoop {
    number: usize,
    start: Vec<SsaValue>,
    /// The values of the loop in both regions.
    pub(super) now: Vec<SsaValue>,
}

/// The lines before a region.
pub(super) struct OuterLines(String);

/// The lines of a region.
pub(super) struct Region(String);

/// Operations that an engine drops if an operand is 0 or 1, or moves a division through.
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
    /// A function with these arguments.
    pub(super) fn new(arguments: Vec<Tensor>) -> Self {
        let names = (0..arguments.len()).map(|argument| format!("%arg{argument}")).collect();
        Self {
            lines: String::new(),
            count: 0,
            names,
            arguments: arguments.len(),
            tensors: arguments,
            quotients: BTreeSet::new(),
        }
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

    /// The name of a value in the text.
    pub(super) fn name(&self, value: SsaValue) -> String {
        self.names[value.0].clone()
    }

    /// Adds a value.
    fn value(&mut self, to: Tensor, name: String) -> SsaValue {
        self.tensors.push(to);
        self.names.push(name);
        SsaValue(self.tensors.len() - 1)
    }

    /// Counts a line with results, and returns its number.
    fn number(&mut self) -> usize {
        self.count += 1;
        self.count - 1
    }

    /// The lines of the function.
    pub(super) fn into_lines(self) -> String {
        self.lines
    }

    /// Writes a line with this right side.
    pub(super) fn line(&mut self, to: Tensor, right: fmt::Arguments<'_>) -> SsaValue {
        let number = self.number();
        self.write(format_args!("%{number} = {right}"));
        self.value(to, format!("%{number}"))
    }

    /// Writes a line with two results, and returns the second.
    pub(super) fn second_result(&mut self, to: Tensor, right: fmt::Arguments<'_>) -> SsaValue {
        let number = self.number();
        self.write(format_args!("%{number}:2 = {right}"));
        self.value(to, format!("%{number}#1"))
    }

    /// Writes a line with two results.
    pub(super) fn two_results(&mut self, to: [Tensor; 2], right: fmt::Arguments<'_>) -> [SsaValue; 2] {
        let number = self.number();
        self.write(format_args!("%{number}:2 = {right}"));
        let results = self.results(number, to.to_vec());
        [results[0], results[1]]
    }

    fn write(&mut self, line: fmt::Arguments<'_>) {
        writeln!(self.lines, "    {line}").expect("writing to a string cannot fail");
    }

    /// Starts a loop with these values. Its regions are written next; then [`Self::repeat`] writes the loop.
    pub(super) fn start(&mut self, start: &[SsaValue]) -> WhileLoop {
        let (number, tensors) = (self.number(), start.iter().map(|value| self.tensor(*value).clone()));
        let tensors: Vec<Tensor> = tensors.collect();
        let now = tensors.into_iter().enumerate();
        let now: Vec<_> = now.map(|(at, tensor)| self.value(tensor, format!("%step{number}_{at}"))).collect();
        // An engine may unroll a loop, or replace a loop of one step by its body, and then sees through it.
        now.iter().for_each(|value| self.mark_quotient(*value));
        WhileLoop { number, start: start.to_vec(), now }
    }

    /// Begins a region, whose lines may use the values so far.
    pub(super) fn open(&mut self) -> OuterLines {
        OuterLines(mem::take(&mut self.lines))
    }

    /// Ends a region that returns these values.
    pub(super) fn close(&mut self, outer: OuterLines, given: &[SsaValue]) -> Region {
        let types: Vec<_> = given.iter().map(|value| self.tensor(*value).to_string()).collect();
        let (names, types) = (self.names(given), types.join(", "));
        self.write(format_args!("stablehlo.return {names} : {types}"));
        let lines = mem::replace(&mut self.lines, outer.0);
        Region(lines.lines().fold(String::new(), |text, line| text + "  " + line + "\n"))
    }

    /// Writes a loop that repeats `step` while `condition` is true, and returns its results. `step` returns the values
    /// of the next step.
    pub(super) fn repeat(&mut self, of: WhileLoop, condition: &Region, step: &Region) -> Vec<SsaValue> {
        let WhileLoop { number, start, now } = of;
        let tensors: Vec<Tensor> = now.iter().map(|value| self.tensor(*value).clone()).collect();
        let given = now.iter().zip(&start);
        let given: Vec<_> =
            given.map(|(now, start)| format!("{} = {}", self.name(*now), self.name(*start))).collect();
        let types: Vec<_> = tensors.iter().map(Tensor::to_string).collect();
        let (given, types, count) = (given.join(", "), types.join(", "), tensors.len());
        let (Region(condition), Region(step)) = (condition, step);
        self.write(format_args!(
            "%{number}:{count} = stablehlo.while({given}) : {types}\n    cond {{\n{condition}    }} do {{\n{step}    }}"
        ));
        self.results(number, tensors)
    }

    /// The results of a line with several. An engine may replace it by a region, so each may be a quotient.
    fn results(&mut self, number: usize, tensors: Vec<Tensor>) -> Vec<SsaValue> {
        let results = tensors.into_iter().enumerate();
        let results: Vec<_> =
            results.map(|(at, tensor)| self.value(tensor, format!("%{number}#{at}"))).collect();
        results.iter().for_each(|value| self.mark_quotient(*value));
        results
    }

    /// Writes a conditional: the results are those of the first region if the condition is true, otherwise of the
    /// second.
    pub(super) fn either(
        &mut self,
        condition: SsaValue,
        [then, otherwise]: [&Region; 2],
        tensors: Vec<Tensor>,
    ) -> Vec<SsaValue> {
        let (number, condition) = (self.number(), self.name(condition).to_owned());
        let types: Vec<_> = tensors.iter().map(Tensor::to_string).collect();
        let (types, count) = (types.join(", "), tensors.len());
        let (Region(then), Region(otherwise)) = (then, otherwise);
        self.write(format_args!(
            "%{number}:{count} = \"stablehlo.if\"({condition}) ({{\n{then}    }}, {{\n{otherwise}    }}) : (tensor<i1>) -> ({types})"
        ));
        self.results(number, tensors)
    }

    /// Writes `%2 = stablehlo.add %0, %1 : tensor<f32>`. `between` is the text between the operands and the types.
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

    /// Whether an engine may find a quotient in a value.
    pub(super) fn is_quotient(&self, value: SsaValue) -> bool {
        self.quotients.contains(&value.0)
    }

    /// Records that a value may be a quotient.
    pub(super) fn mark_quotient(&mut self, value: SsaValue) {
        self.quotients.insert(value.0);
    }

    /// Records that a result may be a quotient, if an operand may be one and the engine may drop the operation.
    pub(super) fn follow_quotient(&mut self, operation: &str, operands: &[SsaValue], result: SsaValue) {
        if TRANSPARENT.contains(&operation) && operands.iter().any(|operand| self.is_quotient(*operand)) {
            self.mark_quotient(result);
        }
    }

    /// A comma-separated list of values, such as `%0, %1`.
    pub(super) fn names(&self, values: &[SsaValue]) -> String {
        let names: Vec<_> = values.iter().map(|value| self.name(*value)).collect();
        names.join(", ")
    }

    /// `(tensor<2xf32>, tensor<f32>) -> tensor<2xf32>`
    pub(super) fn types(&self, operands: &[SsaValue], to: impl fmt::Display) -> String {
        let operands: Vec<_> = operands.iter().map(|operand| self.tensor(*operand).to_string()).collect();
        format!("({}) -> {to}", operands.join(", "))
    }

    /// A constant with this text of its elements.
    pub(super) fn constant(&mut self, elements: &str, to: Tensor) -> SsaValue {
        let line = format!("stablehlo.constant dense<{elements}> : {to}");
        self.line(to, format_args!("{line}"))
    }

    /// A tensor whose elements are their positions along an axis.
    pub(super) fn iota(&mut self, axis: usize, to: Tensor) -> SsaValue {
        let line = format!("stablehlo.iota dim = {axis} : {to}");
        self.line(to, format_args!("{line}"))
    }

    /// Reshapes a value.
    pub(super) fn reshaped(&mut self, value: SsaValue, shape: &[i64]) -> SsaValue {
        if self.tensor(value).shape == shape {
            return value;
        }
        let to = self.tensor(value).with_shape(shape);
        self.operation("stablehlo.reshape", &[value], format_args!(""), to)
    }

    /// Broadcasts a value whose axes are the last axes of the shape.
    pub(super) fn broadcast(&mut self, value: SsaValue, shape: &[i64]) -> SsaValue {
        let axes = shape.len() - self.tensor(value).rank()..shape.len();
        self.broadcast_along(value, axes, shape)
    }

    /// Broadcasts a value whose axes are these axes of the shape.
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

/// The region that combines two elements by an operation.
pub(super) fn fold(operation: &str, element: &Tensor) -> String {
    format!(
        "({{\n    ^bb0(%lhs: {element}, %rhs: {element}):\n      %both = {operation} %lhs, %rhs : {element}\n      \
         stablehlo.return %both : {element}\n    }})"
    )
}
