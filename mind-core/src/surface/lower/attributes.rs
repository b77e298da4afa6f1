//! Arguments that are attributes: lists of integers and dimensions, axes, flags.

use super::body::BodyLowering;
use super::expressions::Expressions;
use super::literals::{LiteralId, ReadLiterals};
use super::report::Operand;
use super::values::{Lowered, Stop, Value, Word};
use crate::diag::{Code, Diag};
use crate::dim::Dim;
use crate::ir::Padding;
use crate::surface::ast::ExprId;

/// Arguments of calls as attributes.
pub(crate) trait Attributes: ReadLiterals {
    fn literal(&self, what: &str, expr: ExprId) -> Lowered<LiteralId> {
        match self.value(expr) {
            Value::Literal(id) => Ok(*id),
            Value::Poison
            | Value::Tensor(_)
            | Value::Tuple(_)
            | Value::Struct(_)
            | Value::Bool(_)
            | Value::Word(_) => self.expected(what, expr),
        }
    }

    /// A single dimension or bound.
    fn dim_attribute(&self, expr: ExprId) -> Lowered<Dim> {
        let id = self.literal("an integer or a dimension", expr)?;
        self.literal_dim(id)
    }

    /// A single integer.
    fn integer_attribute(&self, expr: ExprId) -> Lowered<i64> {
        self.dim_attribute(expr)?.as_literal().map_or_else(|| self.expected("an integer", expr), Ok)
    }

    /// `[2, N]`
    fn dims_attribute(&self, expr: ExprId) -> Lowered<Vec<Dim>> {
        const LIST: &str = "a list of dimensions as `[2, 3]`";
        let id = self.literal(LIST, expr)?;
        match self.literals().elements(id) {
            Some(elements) => elements.iter().map(|element| self.literal_dim(*element)).collect(),
            None => self.expected(LIST, expr),
        }
    }

    /// `[0, 1]`
    fn integers_attribute(&self, expr: ExprId) -> Lowered<Vec<i64>> {
        const LIST: &str = "a list of integers as `[0, 1]`";
        let id = self.literal(LIST, expr)?;
        let integers = match self.literals().elements(id) {
            Some(elements) => self.literal_integers(elements)?,
            None => None,
        };
        integers.map_or_else(|| self.expected(LIST, expr), Ok)
    }

    /// The integers that literals are; nothing if one is a symbolic dimension.
    fn literal_integers(&self, elements: &[LiteralId]) -> Lowered<Option<Vec<i64>>> {
        let integer = |element: &LiteralId| Ok(self.literal_dim(*element)?.as_literal());
        elements.iter().map(integer).collect()
    }

    /// `[0, 1]` or `1`, as written.
    fn axes_attribute(&self, expr: ExprId) -> Lowered<Vec<i64>> {
        let id = self.literal("axes as `[0, 1]`", expr)?;
        match self.literals().elements(id) {
            Some(_) => self.integers_attribute(expr),
            None => Ok(vec![self.integer_attribute(expr)?]),
        }
    }

    /// `true` or `false`
    fn flag_attribute(&self, expr: ExprId) -> Lowered<bool> {
        match self.value(expr) {
            Value::Bool(value) => Ok(*value),
            Value::Poison
            | Value::Tensor(_)
            | Value::Literal(_)
            | Value::Tuple(_)
            | Value::Struct(_)
            | Value::Word(_) => self.expected("`true` or `false`", expr),
        }
    }

    /// `same`, `valid` or `[[1, 1], [1, 1]]`
    fn padding_attribute(&self, expr: ExprId) -> Lowered<Padding> {
        const PADDING: &str = "`valid`, `same` or pairs as `[[1, 1], [1, 1]]`";
        let id = match self.value(expr) {
            Value::Word(Word::Same) => return Ok(Padding::Same),
            Value::Word(Word::Valid) => return Ok(Padding::Valid),
            Value::Literal(id) => *id,
            Value::Poison | Value::Tensor(_) | Value::Tuple(_) | Value::Struct(_) | Value::Bool(_) => {
                return self.expected(PADDING, expr);
            }
        };
        let Some(pairs) = self.literals().elements(id) else { return self.expected(PADDING, expr) };
        let mut padding = Vec::new();
        for pair in pairs {
            let Some(pair) = self.literals().elements(*pair) else { return self.expected(PADDING, expr) };
            let Some(numbers) = self.literal_integers(pair)? else { return self.expected(PADDING, expr) };
            let Ok(pair) = <[i64; 2]>::try_from(numbers) else {
                let message = format!("`conv2d`: padding {} does not consist of pairs", self.text(expr));
                return Err(Diag::new(Code::E4010, self.site(expr), message)
                    .help("write `[[top, bottom], [left, right]]`")
                    .into());
            };
            padding.push(pair);
        }
        Ok(Padding::Custom(padding))
    }
}

impl<E: Expressions> Attributes for E {}

impl BodyLowering<'_> {
    /// Written axes of a result or operand of this rank, ascending, negative ones counted from the end; `operand` is what
    /// messages show.
    pub(super) fn resolved_axes(
        &self,
        label: &str,
        (written, expr): (&[i64], ExprId),
        rank: Rank,
        operand: Operand,
    ) -> Lowered<Vec<i64>> {
        let rank = match rank {
            Rank::Is(rank) => rank,
            Rank::GrowsFrom(rank) => rank + written.len(),
        };
        let fault = |code, problem: String, help: String| {
            let (value, operand) = operand;
            let message =
                format!("`{label}`: {problem}: {} is {}", self.text(operand), self.builder.ty(value));
            Stop::from(Diag::new(code, self.site(expr), message).help(help))
        };
        let count = i64::try_from(rank).expect("a rank and a written list are small");
        let mut axes = Vec::new();
        for axis in written.iter().copied() {
            let position = if axis < 0 { axis.saturating_add(count) } else { axis };
            if !(0..count).contains(&position) {
                let help = match (axis, count) {
                    (_, 0) => format!("{} is a single number: leave the call out", self.text(operand.1)),
                    (..0, _) => "the first axis is `0`".to_owned(),
                    (_, _) => "axes count from 0: the last is `-1`".to_owned(),
                };
                return Err(fault(Code::E3004, format!("axis {axis} is out of range for rank {rank}"), help));
            }
            if axes.contains(&position) {
                let problem = format!("axis {axis} stands twice in {}", self.text(expr));
                return Err(fault(Code::E3005, problem, format!("write `{axes:?}`")));
            }
            axes.push(position);
        }
        axes.sort_unstable();
        Ok(axes)
    }
}

/// The rank that axes are positions in.
#[derive(Clone, Copy)]
pub(super) enum Rank {
    /// This one.
    Is(usize),
    /// This one, grown by the number of axes.
    GrowsFrom(usize),
}
