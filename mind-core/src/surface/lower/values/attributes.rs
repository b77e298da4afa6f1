//! Arguments that are attributes: lists of integers and dimensions, axes, flags.

use std::ops::Range;
use std::sync::Arc;

use super::arithmetic::ReadLiterals;
use super::expressions::Expressions;
use super::literals::{LiteralId, LiteralKind};
use super::scalars::Scalar;
use super::{Lowered, Stop, Value, Word};
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::ir::Padding;
use crate::surface::ast::{ConstantKind, ExprId, NodeKind};
use crate::ty::DType;

/// Arguments of calls as attributes.
pub(crate) trait Attributes: ReadLiterals {
    fn literal(&self, what: &str, expr: ExprId) -> Lowered<LiteralId> {
        match self.value(expr) {
            Value::Literal(id) => Ok(*id),
            Value::Poison | Value::Tensor(_) | Value::Tuple(_) | Value::Struct(_) | Value::Word(_) => {
                self.expected(what, expr)
            }
        }
    }

    /// A single dimension.
    fn dim_attribute(&self, expr: ExprId) -> Lowered<Dim> {
        let id = self.literal("an integer or a dimension", expr)?;
        self.literal_dim(id)
    }

    /// A bound of a range.
    fn bound_attribute(&self, expr: ExprId) -> Lowered<Dim> {
        let is_tensor = matches!(self.value(expr), Value::Tensor(_));
        self.dim_attribute(expr).map_err(|stop| match stop {
            Stop::Mistake(diag) if is_tensor && diag.help.is_none() => {
                let text = self.short_text(expr);
                let help = format!(
                    "the number of elements must be known at compile time: write `{text} ..+ 4`, or select by \
                     position, as in `where(iota(…) < {text}, …, 0.0)`"
                );
                diag.help(help).into()
            }
            stop => stop,
        })
    }

    /// A single integer.
    fn integer_attribute(&self, expr: ExprId) -> Lowered<i64> {
        self.dim_attribute(expr)?.as_literal().map_or_else(|| self.expected("an integer", expr), Ok)
    }

    /// `[2, N]`
    fn dims_attribute(&self, expr: ExprId) -> Lowered<Vec<Dim>> {
        const LIST: &str = "a list of dimensions such as `[2, 3]`";
        let id = self.literal(LIST, expr)?;
        match self.literals().elements(id) {
            Some(elements) => elements.iter().map(|element| self.literal_dim(*element)).collect(),
            None => self.expected(LIST, expr),
        }
    }

    /// `[2, N]`, without packs.
    fn bounds_attribute(&self, expr: ExprId) -> Lowered<Vec<Dim>> {
        if let Value::Literal(id) = self.value(expr)
            && let Some(elements) = self.literals().elements(*id)
        {
            self.without_packs(elements)?;
        }
        self.dims_attribute(expr)
    }

    /// `[2, N]` or `N`
    fn shape_attribute(&self, expr: ExprId) -> Lowered<Vec<Dim>> {
        let id = self.literal("one dimension or several such as `[2, 3]`", expr)?;
        match self.literals().elements(id) {
            Some(_) => self.dims_attribute(expr),
            None => Ok(vec![self.literal_dim(id)?]),
        }
    }

    /// `[0, 1]`
    fn integers_attribute(&self, expr: ExprId) -> Lowered<Vec<i64>> {
        const LIST: &str = "a list of integers such as `[0, 1]`";
        let id = self.literal(LIST, expr)?;
        match self.literals().elements(id) {
            Some(elements) => self.literal_integers(elements),
            None => self.expected(LIST, expr),
        }
    }

    /// The values of literals as integers; an error if one contains a symbol.
    fn literal_integers(&self, elements: &[LiteralId]) -> Lowered<Vec<i64>> {
        let integer = |element: &LiteralId| match self.literal_dim(*element)?.as_literal() {
            Some(integer) => Ok(integer),
            None => self.expected("an integer", self.literals().expr(*element)),
        };
        self.without_packs(elements)?.iter().map(integer).collect()
    }

    /// `[0, 1]` or `1`, as written.
    fn axes_attribute(&self, expr: ExprId) -> Lowered<Vec<i64>> {
        let id = self.literal("axes such as `[0, 1]`", expr)?;
        match self.literals().elements(id) {
            Some(_) => self.integers_attribute(expr),
            None => Ok(vec![self.integer_attribute(expr)?]),
        }
    }

    /// `true` or `false`
    fn flag_attribute(&self, expr: ExprId) -> Lowered<bool> {
        if let Value::Literal(id) = self.value(expr)
            && let LiteralKind::Truth(value) = self.literals().kind(*id)
        {
            return Ok(*value);
        }
        self.expected("`true` or `false`", expr)
    }

    /// Checks that a constant parameter of a template accepts an argument.
    fn constant_attribute(&self, kind: ConstantKind, argument: ExprId) -> Lowered<()> {
        match kind {
            ConstantKind::Axis | ConstantKind::Int => self.integer_attribute(argument).map(drop),
            ConstantKind::Axes => self.axes_attribute(argument).map(drop),
            ConstantKind::Dim => self.dim_attribute(argument).map(drop),
            ConstantKind::Shape => self.shape_attribute(argument).map(drop),
            ConstantKind::DType => match self.value(argument) {
                // The element type of a tensor whose type is not known.
                Value::Word(Word::ElementsOf(_)) => Ok(()),
                _ => self.dtype_attribute(argument).map(drop),
            },
            ConstantKind::Bool => self.flag_attribute(argument).map(drop),
            ConstantKind::Float => match self.value(argument) {
                Value::Literal(id)
                    if self.literals().is_number(*id) && self.literals().fits(*id, DType::F64) =>
                {
                    Ok(())
                }
                _ => self.expected("a number known at compile time", argument),
            },
            ConstantKind::Fraction => {
                self.constant_attribute(ConstantKind::Float, argument)?;
                let id = self.literal("a number", argument)?;
                match self.scalar(id, DType::F64)? {
                    Scalar::F64(number) if (0.0..=1.0).contains(&number) => Ok(()),
                    _ => self.expected("a number from 0 to 1", argument),
                }
            }
        }
    }

    /// `f32`
    fn dtype_attribute(&self, expr: ExprId) -> Lowered<DType> {
        match self.value(expr) {
            Value::Word(Word::DType(dtype)) => Ok(*dtype),
            _ => self.expected("an element type such as `f32`", expr),
        }
    }

    /// `"h"`
    fn text_attribute(&self, expr: ExprId) -> Lowered<Arc<str>> {
        match &self.body()[expr].kind {
            NodeKind::Text(text) => Ok(text.value.clone()),
            _ => self.expected("a string such as `\"h\"`", expr),
        }
    }

    /// The site of some bytes of a string.
    fn part_of_text(&self, expr: ExprId, bytes: Range<usize>) -> Site {
        match &self.body()[expr].kind {
            NodeKind::Text(text) if !bytes.is_empty() => text.site(bytes),
            _ => self.site(expr),
        }
    }

    /// `same`, `valid` or `[[1, 1], [1, 1]]`
    fn padding_attribute(&self, expr: ExprId) -> Lowered<Padding> {
        const PADDING: &str = "`valid`, `same` or pairs such as `[[1, 1], [1, 1]]`";
        let id = match self.value(expr) {
            Value::Word(Word::Same) => return Ok(Padding::Same),
            Value::Word(Word::Valid) => return Ok(Padding::Valid),
            Value::Literal(id) => *id,
            Value::Poison
            | Value::Tensor(_)
            | Value::Tuple(_)
            | Value::Struct(_)
            | Value::Word(Word::DType(_) | Word::ElementsOf(_) | Word::Pack | Word::Text) => {
                return self.expected(PADDING, expr);
            }
        };
        let Some(pairs) = self.literals().elements(id) else { return self.expected(PADDING, expr) };
        let mut padding = Vec::new();
        for pair in pairs {
            let Some(pair) = self.literals().elements(*pair) else { return self.expected(PADDING, expr) };
            let Ok(pair) = <[i64; 2]>::try_from(self.literal_integers(pair)?) else {
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
