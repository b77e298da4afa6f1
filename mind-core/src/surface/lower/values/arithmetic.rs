//! Arithmetic on literals: as numbers of their dtype, as dimensions, and as elements of arrays.

use std::collections::BTreeMap;

use mind_shape::match_dtype;

use super::expressions::Expressions;
use super::literals::{Literal, LiteralClass, LiteralId, LiteralKind};
use super::scalars::Scalar;
use super::{Lowered, Stop, Value, Word};
use crate::data::TensorData;
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::map::Map;
use crate::surface::ast::{BinaryOp, DimOperator, ExprId, NodeKind, Number, NumberValue};
use crate::surface::lower::declarations::types::operate;
use crate::ty::{DType, Shape};

/// Evaluation and combination of literals.
pub(crate) trait ReadLiterals: Expressions {
    /// Combines two literals by a binary operator.
    fn binary_literal(
        &mut self,
        op: BinaryOp,
        (lhs, rhs): (LiteralId, LiteralId),
        operator: Site,
        expr: ExprId,
    ) -> Lowered<Value<Self::Tensor>> {
        if let Some(shape) = [lhs, rhs].into_iter().find(|id| self.literals().is_shape(*id)) {
            return Err(self.is_a_shape(shape));
        }
        let (a, b) = (self.literals().get(lhs).clone(), self.literals().get(rhs).clone());
        let class = a.class.combined(b.class);
        let dtype = match (a.dtype, b.dtype) {
            (None, dtype) | (dtype, None) => Some(dtype),
            (Some(a), Some(b)) => (a == b).then_some(Some(a)),
        };
        let (Some(class), Some(dtype)) = (class, dtype) else {
            let integer = if a.class == LiteralClass::Integer { lhs } else { rhs };
            let message = format!(
                "`{}`: element types differ: {} is {}, {} is {}",
                op.symbol(),
                self.text(a.expr),
                self.literals().describe(lhs),
                self.text(b.expr),
                self.literals().describe(rhs)
            );
            let diag = Diag::new(Code::E2004, operator, message);
            let help = self.literals().rewrite(integer, DType::F32).filter(|_| class.is_none());
            return Err(Diag { help, ..diag }.into());
        };
        let extents = [lhs, rhs].iter().all(|id| self.literals().is_number(*id)).then(Vec::new);
        let (kind, known) = (LiteralKind::Binary { op, lhs, rhs }, a.known && b.known);
        Ok(Value::Literal(self.literals_mut().add(Literal { kind, expr, class, dtype, extents, known })))
    }

    /// Applies a function to literals; `None` if the result is not a literal.
    fn applied(&mut self, map: Map, operands: &[ExprId], expr: ExprId) -> Option<LiteralId> {
        let literal = |operand: &ExprId| match self.value(*operand) {
            Value::Literal(id) => (!self.literals().is_shape(*id)).then_some(*id),
            Value::Poison | Value::Tensor(_) | Value::Tuple(_) | Value::Struct(_) | Value::Word(_) => None,
        };
        let operands = operands.iter().map(literal).collect::<Option<Vec<_>>>()?;
        self.literals_mut().applied(map, operands, expr)
    }

    /// Returns E1005 for a division by a literal 0 and for a shift by a negative literal.
    fn check_written(&self, op: BinaryOp, lhs: ExprId, (by, rhs): (LiteralId, ExprId)) -> Lowered<()> {
        let BinaryOp::Map(map) = op else { return Ok(()) };
        let Some(by) = self.literal_dim(by).ok().and_then(|by| by.as_literal()) else { return Ok(()) };
        let (message, help) = if map.row().pole == Some(1) && by == 0 {
            ("an integer is divided by 0".to_owned(), None)
        } else if matches!(map, Map::Shl | Map::Shr) && by < 0 {
            let turned = if map == Map::Shl { Map::Shr } else { Map::Shl };
            let turned = turned.row().label;
            let help = format!("write `{} {turned} {}`", self.operand_text(lhs), by.unsigned_abs());
            (format!("`{}` by {by}: a shift must not be negative", op.symbol()), Some(help))
        } else {
            return Ok(());
        };
        Err(Diag { help, ..Diag::new(Code::E1005, self.site(rhs), message) }.into())
    }

    /// Makes an array literal of numbers and arrays.
    fn array(&mut self, elements: &[ExprId], expr: ExprId) -> Lowered<Value<Self::Tensor>> {
        let mut ids = Vec::new();
        let (mut class, mut dtype) = (LiteralClass::Any, None);
        let mut extents: Option<Vec<i64>> = None;
        let (mut known, mut has_packs) = (true, false);
        for element in elements {
            let site = self.site(*element);
            if let (NodeKind::Pack(name), Value::Word(Word::Pack)) =
                (&self.body()[*element].kind, self.value(*element))
            {
                let dims = self.dims().packs.get(&name.to_string()).cloned().flatten();
                for dim in dims.expect("the name was looked up where it stands") {
                    ids.push(self.literals_mut().dim(dim, *element));
                }
                has_packs = true;
                continue;
            }
            let id = match self.value(*element) {
                Value::Poison => return Err(Stop::Poisoned),
                Value::Literal(id) if self.literals().get(*id).stands_in_arrays() => *id,
                Value::Literal(_)
                | Value::Tensor(_)
                | Value::Tuple(_)
                | Value::Struct(_)
                | Value::Word(_) => {
                    let message =
                        format!("an array contains numbers and arrays, found {}", self.describe(*element));
                    return Err(Diag::new(Code::E2001, site, message).into());
                }
            };
            let literal = self.literals().get(id);
            let own = literal.extents.clone().unwrap_or_default();
            let both = class.combined(literal.class);
            if both.is_none() || dtype.zip(literal.dtype).is_some_and(|(a, b)| a != b) {
                let first = elements.first().map_or_else(String::new, |first| self.text(*first));
                let message = format!(
                    "element types differ in one array: {first} is {}, {} is {}",
                    dtype.map_or(class.name(), DType::name),
                    self.text(*element),
                    self.literals().describe(id)
                );
                let help = self
                    .literals()
                    .rewrite(id, if class == LiteralClass::Float { DType::F32 } else { DType::I64 });
                return Err(Diag { help, ..Diag::new(Code::E2004, site, message) }.into());
            }
            if let Some(first) = extents.as_ref().filter(|first| **first != own) {
                let shape = |extents: &[i64]| Shape::literal(extents);
                let message = format!(
                    "the array is ragged: its first element has shape {}, this one {}",
                    shape(first),
                    shape(&own)
                );
                return Err(Diag::new(Code::E3010, site, message).into());
            }
            class = both.unwrap_or(class);
            known &= literal.known;
            dtype = dtype.or(literal.dtype);
            extents = Some(own);
            ids.push(id);
        }
        let count = i64::try_from(ids.len()).expect("a list in memory is shorter than 2^63");
        // A list with packs is a shape and not a constant: its length depends on an argument.
        let extents = (!has_packs).then(|| [vec![count], extents.unwrap_or_default()].concat());
        let (kind, known) = (LiteralKind::Array(ids), known && !has_packs);
        Ok(Value::Literal(self.literals_mut().add(Literal { kind, expr, class, dtype, extents, known })))
    }

    /// The error for a list with packs where a tensor is needed.
    fn is_a_shape(&self, array: LiteralId) -> Stop {
        let expr = self.literals().expr(array);
        let message = format!("expected a tensor, found the shape {}", self.text(expr));
        Diag::new(Code::E2001, self.site(expr), message).into()
    }

    /// The elements of a list; an error if one of them is a pack.
    fn without_packs<'e>(&self, elements: &'e [LiteralId]) -> Lowered<&'e [LiteralId]> {
        let expr = |element: &LiteralId| self.literals().expr(*element);
        match elements.iter().map(expr).find(|expr| matches!(self.body()[*expr].kind, NodeKind::Pack(_))) {
            None => Ok(elements),
            Some(pack) => {
                let message = format!("found {}, which is only allowed in a shape", self.text(pack));
                Err(Diag::new(Code::E2001, self.site(pack), message).into())
            }
        }
    }

    /// The value of a literal as a dimension.
    fn literal_dim(&self, id: LiteralId) -> Lowered<Dim> {
        let mut dims: BTreeMap<LiteralId, Dim> = BTreeMap::new();
        for part in self.literals().parts(id, |_| false) {
            let literal = self.literals().get(part);
            let site = self.site(literal.expr);
            let not_integer = || {
                let message =
                    format!("expected an integer or a dimension, found {}", self.text(literal.expr));
                Stop::from(Diag::new(Code::E2001, site, message))
            };
            let dim = match &literal.kind {
                LiteralKind::Number(Number { value: NumberValue::Integer(value), .. }) => {
                    Dim::literal(*value)
                }
                LiteralKind::Dim(dim) => dim.clone(),
                LiteralKind::Apply { map: Map::SIGN, operands } => {
                    Dim::ZERO.sub(&dims[&operands[0]]).map_err(|_| not_integer())?
                }
                LiteralKind::Binary { op, lhs, rhs } => {
                    let operator = DimOperator::of(op.symbol()).ok_or_else(not_integer)?;
                    operate(operator, &dims[lhs], &dims[rhs]).map_err(|fault| Stop::from(fault.at(site)))?
                }
                LiteralKind::Number(_)
                | LiteralKind::Truth(_)
                | LiteralKind::Apply { .. }
                | LiteralKind::Array(_)
                | LiteralKind::Filled { .. } => return Err(not_integer()),
            };
            dims.insert(part, dim);
        }
        Ok(dims.remove(&id).expect("a literal is a part of itself"))
    }

    /// The elements of one constant that fits the dtype. A number or a filled tensor has a single element.
    fn literal_data(&self, id: LiteralId, dtype: DType) -> Lowered<TensorData> {
        match &self.literals().get(id).kind {
            LiteralKind::Array(_) => self.array_data(id, dtype),
            LiteralKind::Filled { value, .. } => Ok(self.scalar(*value, dtype)?.data()),
            LiteralKind::Number(_)
            | LiteralKind::Dim(_)
            | LiteralKind::Truth(_)
            | LiteralKind::Apply { .. }
            | LiteralKind::Binary { .. } => Ok(self.scalar(id, dtype)?.data()),
        }
    }

    fn array_data(&self, array: LiteralId, dtype: DType) -> Lowered<TensorData> {
        let (mut elements, mut rest) = (Vec::new(), vec![array]);
        while let Some(part) = rest.pop() {
            match self.literals().elements(part) {
                Some(inner) => rest.extend(inner.iter().rev()),
                None => elements.push(self.scalar(part, dtype)?),
            }
        }
        let numbers = elements.into_iter();
        Ok(match_dtype!(dtype, T => numbers.filter_map(Option::<T>::from).collect::<Vec<_>>().into()))
    }

    /// Evaluates a single number in the arithmetic of its dtype, so that the result is the one that run time would
    /// compute.
    fn scalar(&self, id: LiteralId, dtype: DType) -> Lowered<Scalar> {
        let mut scalars: BTreeMap<LiteralId, Scalar> = BTreeMap::new();
        for part in self.literals().parts(id, |_| false) {
            let Literal { kind, expr, .. } = self.literals().get(part);
            let site = self.site(*expr);
            let scalar = match kind {
                LiteralKind::Number(number) => {
                    number.check_range(dtype, site)?;
                    Scalar::written(number, dtype)
                }
                LiteralKind::Dim(dim) => match dim.as_literal() {
                    Some(value) => {
                        let number = Number {
                            text: value.to_string(),
                            value: NumberValue::Integer(value),
                            suffix: None,
                        };
                        if dtype.is_integer() {
                            number.check_range(dtype, site)?;
                        }
                        Scalar::filling(&TensorData::count(value, dtype)).expect("it is one number")
                    }
                    None => {
                        let message =
                            format!("`{dim}` is a dimension known only at run time, expected a number");
                        return Err(Diag::new(Code::E2001, site, message).into());
                    }
                },
                LiteralKind::Truth(truth) => Scalar::Bool(*truth),
                LiteralKind::Apply { map, operands } => {
                    let operands: Vec<Scalar> = operands.iter().map(|operand| scalars[operand]).collect();
                    let applied = Scalar::of_function(map.row(), &operands);
                    applied.expect("only functions that take these numbers are applied to literals")
                }
                LiteralKind::Binary { op, lhs, rhs } => match scalars[lhs].binary(*op, scalars[rhs]) {
                    Some(scalar) => scalar,
                    None => {
                        let message = format!("`{}` is not of {dtype}", op.symbol());
                        return Err(Diag::new(Code::E2005, site, message).into());
                    }
                },
                LiteralKind::Array(_) | LiteralKind::Filled { .. } => {
                    unreachable!("only literals without extents are worked out as numbers")
                }
            };
            scalars.insert(part, scalar);
        }
        Ok(scalars[&id])
    }
}

impl<E: Expressions> ReadLiterals for E {}
