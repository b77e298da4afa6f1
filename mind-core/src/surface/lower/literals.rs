//! Literals, and arithmetic on them, before their dtype is known.
//!
//! A literal takes its dtype from what it meets: the other operand, a declared type, a parameter. Until then it stands
//! in a list, operands before what uses them; [`BodyLowering::materialise`] makes instructions of it.

use std::collections::{BTreeMap, BTreeSet};

use super::body::BodyLowering;
use super::expressions::Expressions;
use super::scalars::Scalar;
use super::types::operate;
use super::values::{Lowered, Stop, Value};
use crate::data::TensorData;
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::ir::{Const, Op, ValueId};
use crate::map::Map;
use crate::surface::ast::{BinaryOp, DimOperator, ExprId, Number, NumberValue};
use crate::ty::{DType, Shape};

/// A literal, by its position in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LiteralId(usize);

/// A literal, or arithmetic on literals.
#[derive(Clone, Debug)]
struct Literal {
    kind: LiteralKind,
    /// The expression that it is.
    expr: ExprId,
    class: Class,
    /// The dtype that a suffix in it gives.
    dtype: Option<DType>,
    /// The extents, where it consists of numbers and arrays only.
    extents: Option<Vec<i64>>,
}

#[derive(Clone, Debug)]
pub(crate) enum LiteralKind {
    Number(Number),
    Dim(Dim),
    Array(Vec<LiteralId>),
    Neg(LiteralId),
    Binary {
        op: BinaryOp,
        lhs: LiteralId,
        rhs: LiteralId,
    },
    /// A single number everywhere.
    Filled {
        value: LiteralId,
        shape: Shape,
    },
}

impl Literal {
    /// Whether it is one constant: a single number, worked out here, or an array of them.
    fn is_constant(&self) -> bool {
        let known = matches!(&self.kind, LiteralKind::Filled { shape, .. } if shape.as_literals().is_some());
        known || self.extents.is_some()
    }
}

/// Which dtypes a literal can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Integer,
    Float,
    /// Zeros and ones.
    Any,
}

impl Class {
    const fn fits(self, dtype: DType) -> bool {
        match self {
            Self::Integer => dtype.is_integer(),
            Self::Float => dtype.is_float(),
            Self::Any => true,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            Self::Float => "a float",
            Self::Any => "any number",
        }
    }
}

/// Every literal of a body.
#[derive(Default)]
pub(crate) struct Literals {
    list: Vec<Literal>,
    /// What has been made of them, so that a name bound to one is made once a dtype.
    made: BTreeMap<(LiteralId, DType), ValueId>,
}

impl Literals {
    fn add(&mut self, literal: Literal) -> LiteralId {
        self.list.push(literal);
        LiteralId(self.list.len() - 1)
    }

    fn get(&self, id: LiteralId) -> &Literal {
        &self.list[id.0]
    }

    pub(crate) fn number(&mut self, number: Number, expr: ExprId) -> LiteralId {
        let class = match number.value {
            NumberValue::Integer(_) => Class::Integer,
            NumberValue::Float(_) => Class::Float,
        };
        let dtype = number.suffix;
        let kind = LiteralKind::Number(number);
        self.add(Literal { kind, expr, class, dtype, extents: Some(Vec::new()) })
    }

    pub(crate) fn dim(&mut self, dim: Dim, expr: ExprId) -> LiteralId {
        let kind = LiteralKind::Dim(dim);
        self.add(Literal { kind, expr, class: Class::Integer, dtype: None, extents: Some(Vec::new()) })
    }

    pub(crate) fn neg(&mut self, operand: LiteralId, expr: ExprId) -> LiteralId {
        let Literal { class, dtype, extents, .. } = self.get(operand).clone();
        let extents = extents.filter(Vec::is_empty);
        self.add(Literal { kind: LiteralKind::Neg(operand), expr, class, dtype, extents })
    }

    /// Zeros or ones, of any dtype.
    pub(crate) fn zero_or_one(&mut self, one: bool, shape: Shape, expr: ExprId) -> LiteralId {
        let value = NumberValue::Integer(i64::from(one));
        let number = Number { text: if one { "1" } else { "0" }.to_owned(), value, suffix: None };
        let value = self.number(number, expr);
        self.list[value.0].class = Class::Any;
        self.filled(value, shape, expr)
    }

    /// A single number everywhere.
    pub(crate) fn filled(&mut self, value: LiteralId, shape: Shape, expr: ExprId) -> LiteralId {
        let kind = LiteralKind::Filled { value, shape };
        let literal = Literal { kind, expr, extents: None, ..self.get(value).clone() };
        self.add(literal)
    }

    /// The dtype it has where nothing else decides.
    pub(crate) fn default_dtype(&self, id: LiteralId) -> DType {
        let literal = self.get(id);
        literal.dtype.unwrap_or(match literal.class {
            Class::Integer => DType::I64,
            Class::Float | Class::Any => DType::F32,
        })
    }

    /// Whether it can have this dtype.
    pub(crate) fn fits(&self, id: LiteralId, dtype: DType) -> bool {
        let literal = self.get(id);
        literal.dtype.map_or_else(|| literal.class.fits(dtype), |own| own == dtype)
    }

    /// What it is, as a message says it: `an integer`, `f64`.
    pub(crate) fn describe(&self, id: LiteralId) -> &'static str {
        let literal = self.get(id);
        literal.dtype.map_or(literal.class.name(), DType::name)
    }

    /// How to write it for another dtype.
    pub(crate) fn rewrite(&self, id: LiteralId, dtype: DType) -> Option<String> {
        let literal = self.get(id);
        let number = match &literal.kind {
            LiteralKind::Number(number) => number,
            LiteralKind::Array(_) if literal.dtype.is_none() => {
                let example = if dtype.is_float() { "1.0" } else { "1" };
                return Some(format!("write its numbers as `{example}`"));
            }
            LiteralKind::Array(_)
            | LiteralKind::Dim(_)
            | LiteralKind::Neg(_)
            | LiteralKind::Binary { .. }
            | LiteralKind::Filled { .. } => return None,
        };
        let plain = number.suffix.map_or(number.text.as_str(), |suffix| {
            number.text.trim_end_matches(suffix.name()).trim_end_matches('_')
        });
        match (&number.value, dtype.is_float()) {
            (NumberValue::Integer(_), true) => Some(format!("write `{plain}.0`")),
            (NumberValue::Float(_), true) | (NumberValue::Integer(_), false) => {
                Some(format!("write `{plain}`"))
            }
            (NumberValue::Float(digits), false) => {
                let value: f64 = digits.parse().ok()?;
                (value.fract() == 0.0 && value.abs() < 1e15).then(|| format!("write `{value}`"))
            }
        }
    }

    /// Those that `root` is made of, operands before what uses them; one that `is_leaf` is not looked into.
    fn parts(&self, root: LiteralId, is_leaf: fn(&Literal) -> bool) -> Vec<LiteralId> {
        let (mut parts, mut rest) = (BTreeSet::new(), vec![root]);
        while let Some(id) = rest.pop() {
            let literal = self.get(id);
            if !parts.insert(id) || is_leaf(literal) {
                continue;
            }
            match &literal.kind {
                LiteralKind::Number(_) | LiteralKind::Dim(_) => {}
                LiteralKind::Array(elements) => rest.extend(elements),
                LiteralKind::Neg(operand) => rest.push(*operand),
                LiteralKind::Binary { lhs, rhs, .. } => rest.extend([*lhs, *rhs]),
                LiteralKind::Filled { value, .. } => rest.push(*value),
            }
        }
        parts.into_iter().collect()
    }

    /// The elements, if it is an array.
    pub(crate) fn elements(&self, id: LiteralId) -> Option<&[LiteralId]> {
        match &self.get(id).kind {
            LiteralKind::Array(elements) => Some(elements),
            LiteralKind::Number(_)
            | LiteralKind::Dim(_)
            | LiteralKind::Neg(_)
            | LiteralKind::Binary { .. }
            | LiteralKind::Filled { .. } => None,
        }
    }

    /// Whether it is a single number.
    pub(crate) fn is_number(&self, id: LiteralId) -> bool {
        self.get(id).extents.as_ref().is_some_and(Vec::is_empty)
    }

    pub(crate) fn expr(&self, id: LiteralId) -> ExprId {
        self.get(id).expr
    }

    pub(crate) fn kind(&self, id: LiteralId) -> &LiteralKind {
        &self.get(id).kind
    }

    /// Which dtypes it can have where it has no suffix.
    pub(crate) fn class(&self, id: LiteralId) -> Class {
        self.get(id).class
    }

    /// The dtype that a suffix in it gives.
    pub(crate) fn suffix(&self, id: LiteralId) -> Option<DType> {
        self.get(id).dtype
    }

    /// Whether it is one constant.
    pub(crate) fn is_constant(&self, id: LiteralId) -> bool {
        self.get(id).is_constant()
    }

    /// The constants it is made of and the operations on them, operands before what uses them, ascending.
    pub(crate) fn constant_parts(&self, id: LiteralId) -> Vec<LiteralId> {
        self.parts(id, Literal::is_constant)
    }

    /// The shape of one constant whose extents are known.
    pub(crate) fn shape(&self, id: LiteralId) -> Option<Vec<i64>> {
        match &self.get(id).kind {
            LiteralKind::Filled { shape, .. } => shape.as_literals(),
            LiteralKind::Number(_)
            | LiteralKind::Dim(_)
            | LiteralKind::Array(_)
            | LiteralKind::Neg(_)
            | LiteralKind::Binary { .. } => self.get(id).extents.clone(),
        }
    }
}

/// Literals as lowerings read them.
pub(crate) trait ReadLiterals: Expressions {
    /// A literal of two.
    fn binary_literal(
        &mut self,
        op: BinaryOp,
        (lhs, rhs): (LiteralId, LiteralId),
        operator: Site,
        expr: ExprId,
    ) -> Lowered<Value<Self::Tensor>> {
        let (a, b) = (self.literals().get(lhs).clone(), self.literals().get(rhs).clone());
        let class = match (a.class, b.class) {
            (Class::Any, class) | (class, Class::Any) => Some(class),
            (a, b) => (a == b).then_some(a),
        };
        let dtype = match (a.dtype, b.dtype) {
            (None, dtype) | (dtype, None) => Some(dtype),
            (Some(a), Some(b)) => (a == b).then_some(Some(a)),
        };
        let (Some(class), Some(dtype)) = (class, dtype) else {
            let integer = if a.class == Class::Integer { lhs } else { rhs };
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
        let scalars = [&a, &b].iter().all(|literal| literal.extents.as_ref().is_some_and(Vec::is_empty));
        let extents = scalars.then(Vec::new);
        let kind = LiteralKind::Binary { op, lhs, rhs };
        Ok(Value::Literal(self.literals_mut().add(Literal { kind, expr, class, dtype, extents })))
    }

    /// An array of numbers and arrays.
    fn array(&mut self, elements: &[ExprId], expr: ExprId) -> Lowered<Value<Self::Tensor>> {
        let mut ids = Vec::new();
        let (mut class, mut dtype) = (Class::Any, None);
        let mut extents: Option<Vec<i64>> = None;
        for element in elements {
            let site = self.site(*element);
            let id = match self.value(*element) {
                Value::Poison => return Err(Stop::Poisoned),
                Value::Literal(id) if self.literals().get(*id).extents.is_some() => *id,
                Value::Literal(_)
                | Value::Tensor(_)
                | Value::Tuple(_)
                | Value::Struct(_)
                | Value::Bool(_)
                | Value::Word(_) => {
                    let message =
                        format!("an array holds numbers and arrays, found {}", self.describe(*element));
                    return Err(Diag::new(Code::E2001, site, message).into());
                }
            };
            let literal = self.literals().get(id);
            let own = literal.extents.clone().unwrap_or_default();
            let mixed = match (class, literal.class) {
                (Class::Any, _) | (_, Class::Any) => false,
                (a, b) => a != b,
            };
            if mixed || dtype.zip(literal.dtype).is_some_and(|(a, b)| a != b) {
                let first = elements.first().map_or_else(String::new, |first| self.text(*first));
                let message = format!(
                    "element types differ in one array: {first} is {}, {} is {}",
                    dtype.map_or(class.name(), DType::name),
                    self.text(*element),
                    self.literals().describe(id)
                );
                let help =
                    self.literals().rewrite(id, if class == Class::Float { DType::F32 } else { DType::I64 });
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
            class = if class == Class::Any { literal.class } else { class };
            dtype = dtype.or(literal.dtype);
            extents = Some(own);
            ids.push(id);
        }
        let count = i64::try_from(ids.len()).expect("a list in memory is shorter than 2^63");
        let extents = Some([vec![count], extents.unwrap_or_default()].concat());
        let kind = LiteralKind::Array(ids);
        Ok(Value::Literal(self.literals_mut().add(Literal { kind, expr, class, dtype, extents })))
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
                LiteralKind::Neg(operand) => Dim::ZERO.sub(&dims[operand]).map_err(|_| not_integer())?,
                LiteralKind::Binary { op, lhs, rhs } => {
                    let operator = DimOperator::of(op.symbol()).ok_or_else(not_integer)?;
                    operate(operator, &dims[lhs], &dims[rhs]).map_err(|fault| Stop::from(fault.at(site)))?
                }
                LiteralKind::Number(_) | LiteralKind::Array(_) | LiteralKind::Filled { .. } => {
                    return Err(not_integer());
                }
            };
            dims.insert(part, dim);
        }
        Ok(dims.remove(&id).expect("a literal is a part of itself"))
    }

    /// The elements of one constant that fits the dtype; one where they are all equal.
    fn literal_data(&self, id: LiteralId, dtype: DType) -> Lowered<TensorData> {
        match &self.literals().get(id).kind {
            LiteralKind::Array(_) => self.array_data(id, dtype),
            LiteralKind::Filled { value, .. } => Ok(self.scalar(*value, dtype)?.data()),
            LiteralKind::Number(_)
            | LiteralKind::Dim(_)
            | LiteralKind::Neg(_)
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
        macro_rules! data {
            ($kind:ident) => {{
                let number = |element| if let Scalar::$kind(number) = element { Some(number) } else { None };
                let numbers = elements.into_iter().filter_map(number);
                numbers.collect::<Vec<_>>().into()
            }};
        }
        Ok(match dtype {
            DType::F32 => data!(F32),
            DType::F64 => data!(F64),
            DType::I32 => data!(I32),
            DType::I64 | DType::Bool => data!(I64),
        })
    }

    /// Works out a single number in its dtype's own arithmetic, so that it is what run time would compute.
    fn scalar(&self, id: LiteralId, dtype: DType) -> Lowered<Scalar> {
        let mut scalars: BTreeMap<LiteralId, Scalar> = BTreeMap::new();
        for part in self.literals().parts(id, |_| false) {
            let Literal { kind, expr, .. } = self.literals().get(part);
            let site = self.site(*expr);
            let scalar = match kind {
                LiteralKind::Number(number) => {
                    number.check_range(dtype, site)?;
                    Scalar::of(number, dtype)
                }
                LiteralKind::Dim(dim) => match dim.as_literal() {
                    Some(value) => {
                        let number = Number {
                            text: value.to_string(),
                            value: NumberValue::Integer(value),
                            suffix: None,
                        };
                        number.check_range(dtype, site)?;
                        Scalar::of(&number, dtype)
                    }
                    None => {
                        let message =
                            format!("`{dim}` is a dimension, known when the program runs, expected a number");
                        return Err(Diag::new(Code::E2001, site, message).into());
                    }
                },
                LiteralKind::Neg(operand) => scalars[operand].neg(),
                LiteralKind::Binary { op, lhs, rhs } => match scalars[lhs].binary(*op, scalars[rhs]) {
                    Some(scalar) => scalar,
                    None => {
                        let message = format!("`{}`: found {dtype}, allowed f32, f64", op.symbol());
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

impl BodyLowering<'_> {
    /// Makes instructions of a literal that fits the dtype.
    pub(crate) fn materialise(&mut self, id: LiteralId, dtype: DType) -> Lowered<ValueId> {
        for part in self.literals.parts(id, Literal::is_constant) {
            if self.literals.made.contains_key(&(part, dtype)) {
                continue;
            }
            let literal = self.literals.get(part).clone();
            let spot = self.spot_of_literal(literal.expr);
            let operand = |lowering: &Self, id: LiteralId| {
                (lowering.literals.made[&(id, dtype)], lowering.literals.expr(id))
            };
            let value = match (literal.kind, literal.extents) {
                (kind, Some(extents)) => {
                    let op = match kind {
                        LiteralKind::Array(_) => {
                            let shape = Shape::literal(&extents);
                            Op::Const(Const::Tensor { data: self.literal_data(part, dtype)?, shape })
                        }
                        LiteralKind::Number(_)
                        | LiteralKind::Dim(_)
                        | LiteralKind::Neg(_)
                        | LiteralKind::Binary { .. }
                        | LiteralKind::Filled { .. } => {
                            let scalar = self.scalar(part, dtype);
                            scalar.map_err(|stop| self.with_extent_as_number(stop, id))?.constant()
                        }
                    };
                    self.emit(&spot, op, &[])?
                }
                (LiteralKind::Neg(id), None) => {
                    let operand = operand(self, id);
                    self.emit(&spot.label("-"), Op::Map(Map::SIGN), &[operand])?
                }
                (LiteralKind::Binary { op, lhs, rhs }, None) => {
                    let operands = (operand(self, lhs), operand(self, rhs));
                    self.emit_binary(op, operands.0, operands.1, literal.expr)?
                }
                (LiteralKind::Filled { value, shape }, None) => match shape.as_literals() {
                    Some(_) => {
                        let data = self.literal_data(part, dtype)?;
                        self.emit(&spot, Op::Const(Const::Tensor { data, shape }), &[])?
                    }
                    None => {
                        let operand = operand(self, value);
                        self.emit(&spot, Op::BroadcastTo { shape }, &[operand])?
                    }
                },
                (LiteralKind::Number(_) | LiteralKind::Dim(_) | LiteralKind::Array(_), None) => {
                    unreachable!("numbers and arrays have extents")
                }
            };
            self.literals.made.insert((part, dtype), value);
        }
        Ok(self.literals.made[&(id, dtype)])
    }
}
