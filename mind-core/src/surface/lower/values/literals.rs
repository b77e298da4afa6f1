//! Literals, and arithmetic on them, before their dtype is known.
//!
//! A literal takes its dtype from what it meets: the other operand, a declared type, a parameter. Until then it stands
//! in a list, operands before what uses them; `tensors.rs` makes a tensor of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::dim::Dim;
use crate::ir::ValueId;
use crate::map::{Map, Shapes};
use crate::surface::ast::{BinaryOp, ExprId, Number, NumberValue, Plain};
use crate::ty::{DType, Shape};

/// A literal, by its position in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LiteralId(usize);

/// A literal, or arithmetic on literals.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    pub(crate) kind: LiteralKind,
    /// The expression that it is.
    pub(crate) expr: ExprId,
    pub(crate) class: Class,
    /// The dtype that a suffix in it gives.
    pub(crate) dtype: Option<DType>,
    /// The extents, where it consists of numbers and arrays only.
    pub(crate) extents: Option<Vec<i64>>,
    /// Whether all of its numbers are known as Rust compiles, and every machine gives the same.
    pub(crate) known: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum LiteralKind {
    Number(Number),
    Dim(Dim),
    Truth(bool),
    Array(Vec<LiteralId>),
    /// A function of numbers.
    Apply {
        map: Map,
        operands: Vec<LiteralId>,
    },
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
    pub(crate) fn is_constant(&self) -> bool {
        let filled = matches!(&self.kind, LiteralKind::Filled { shape, .. } if shape.as_literals().is_some());
        self.known && (filled || self.extents.is_some())
    }

    /// Whether arrays may hold it: numbers that are known, and integers that are not, for a shape is a list of dimensions.
    pub(crate) fn stands_in_arrays(&self) -> bool {
        self.extents.is_some() && (self.known || self.class != Class::Float)
    }

    /// Whether it is a single number.
    fn is_number(&self) -> bool {
        self.extents.as_ref().is_some_and(Vec::is_empty)
    }
}

/// Which dtypes a literal can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Integer,
    Float,
    /// Zeros and ones.
    Any,
    /// A dimension.
    Extent,
    Truth,
}

impl Class {
    /// That of arithmetic on both.
    pub(crate) fn meet(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Any, class) | (class, Self::Any) => Some(class),
            (Self::Extent, class @ (Self::Integer | Self::Float))
            | (class @ (Self::Integer | Self::Float), Self::Extent) => Some(class),
            (a, b) => (a == b).then_some(a),
        }
    }

    const fn fits(self, dtype: DType) -> bool {
        match self {
            Self::Integer => dtype.is_integer(),
            Self::Float => dtype.is_float(),
            Self::Any | Self::Extent => !matches!(dtype, DType::Bool),
            Self::Truth => matches!(dtype, DType::Bool),
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            Self::Float => "a float",
            Self::Any => "any number",
            Self::Extent => "a dimension",
            Self::Truth => "a truth value",
        }
    }
}

/// Every literal of a body.
#[derive(Default)]
pub(crate) struct Literals {
    list: Vec<Literal>,
    /// What has been made of them, so that a name bound to one is made once a dtype.
    pub(crate) made: BTreeMap<(LiteralId, DType), ValueId>,
}

impl Literals {
    pub(crate) fn add(&mut self, literal: Literal) -> LiteralId {
        self.list.push(literal);
        LiteralId(self.list.len() - 1)
    }

    pub(crate) fn get(&self, id: LiteralId) -> &Literal {
        &self.list[id.0]
    }

    pub(crate) fn number(&mut self, number: Number, expr: ExprId) -> LiteralId {
        let class = match number.value {
            NumberValue::Integer(_) => Class::Integer,
            NumberValue::Float(_) => Class::Float,
        };
        let dtype = number.suffix;
        let kind = LiteralKind::Number(number);
        self.add(Literal { kind, expr, class, dtype, extents: Some(Vec::new()), known: true })
    }

    pub(crate) fn dim(&mut self, dim: Dim, expr: ExprId) -> LiteralId {
        let known = dim.as_literal().is_some();
        let (kind, extents) = (LiteralKind::Dim(dim), Some(Vec::new()));
        self.add(Literal { kind, expr, class: Class::Extent, dtype: None, extents, known })
    }

    /// The value of a constant that is no dimension.
    pub(crate) fn plain(&mut self, plain: Plain, expr: ExprId) -> LiteralId {
        match plain {
            Plain::Number(number) => self.number(number, expr),
            Plain::Truth(truth) => self.truth(truth, expr),
        }
    }

    pub(crate) fn truth(&mut self, truth: bool, expr: ExprId) -> LiteralId {
        let (kind, extents) = (LiteralKind::Truth(truth), Some(Vec::new()));
        self.add(Literal { kind, expr, class: Class::Truth, dtype: None, extents, known: true })
    }

    /// A sign before a literal, where that is a literal.
    pub(crate) fn prefixed(&mut self, map: Map, operand: LiteralId, expr: ExprId) -> Option<LiteralId> {
        match (map, self.kind(operand)) {
            (Map::SIGN, _) => self.applied(map, vec![operand], expr),
            (Map::Not, LiteralKind::Truth(truth)) => Some(self.truth(!truth, expr)),
            _ => None,
        }
    }

    /// A function of numbers, or a sign before any literal; nothing where what it gives is of an element type of its own or it
    /// does not take these.
    pub(crate) fn applied(&mut self, map: Map, operands: Vec<LiteralId>, expr: ExprId) -> Option<LiteralId> {
        let (row, of) = (map.row(), || operands.iter().map(|operand| self.get(*operand)));
        // A conversion gives a type of its own, `f32` too.
        let keeps = |dtype| row.takes(dtype) && row.result(dtype) == dtype;
        let is_own = keeps(DType::F32) && keeps(DType::F64) && row.shapes != Shapes::Choice;
        if !is_own || !(map == Map::SIGN || of().all(Literal::is_number)) {
            return None;
        }
        let class = of().try_fold(Class::Any, |class, operand| class.meet(operand.class))?;
        let class = match (class, row.takes(DType::I64)) {
            (Class::Truth, _) | (Class::Integer, false) => return None,
            (Class::Extent, false) => Class::Float,
            (class, _) => class,
        };
        let mut suffixes = of().filter_map(|operand| operand.dtype);
        let dtype = suffixes.next();
        if suffixes.any(|other| Some(other) != dtype) {
            return None;
        }
        let extents = of().all(Literal::is_number).then(Vec::new);
        let known = row.is_reproducible() && of().all(|operand| operand.known);
        Some(self.add(Literal {
            kind: LiteralKind::Apply { map, operands },
            expr,
            class,
            dtype,
            extents,
            known,
        }))
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
            Class::Integer | Class::Extent => DType::I64,
            Class::Float | Class::Any => DType::F32,
            Class::Truth => DType::Bool,
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
        if dtype == DType::Bool {
            return Some("a truth value is no number: convert it, as `f32(…)`".to_owned());
        }
        let number = match &literal.kind {
            LiteralKind::Number(number) => number,
            LiteralKind::Array(_) if literal.dtype.is_none() => {
                let example = if dtype.is_float() { "1.0" } else { "1" };
                return Some(format!("write its numbers as `{example}`"));
            }
            LiteralKind::Array(_)
            | LiteralKind::Dim(_)
            | LiteralKind::Truth(_)
            | LiteralKind::Apply { .. }
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

    /// Whether it is one number with a point.
    pub(crate) fn is_float(&self, id: LiteralId) -> bool {
        matches!(&self.get(id).kind, LiteralKind::Number(number) if matches!(number.value, NumberValue::Float(_)))
    }

    /// Those that `root` is made of, operands before what uses them; one that `is_leaf` is not looked into.
    pub(crate) fn parts(&self, root: LiteralId, is_leaf: fn(&Literal) -> bool) -> Vec<LiteralId> {
        let (mut parts, mut rest) = (BTreeSet::new(), vec![root]);
        while let Some(id) = rest.pop() {
            let literal = self.get(id);
            if !parts.insert(id) || is_leaf(literal) {
                continue;
            }
            match &literal.kind {
                LiteralKind::Number(_) | LiteralKind::Dim(_) | LiteralKind::Truth(_) => {}
                LiteralKind::Array(elements) => rest.extend(elements),
                LiteralKind::Apply { operands, .. } => rest.extend(operands),
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
            | LiteralKind::Truth(_)
            | LiteralKind::Apply { .. }
            | LiteralKind::Binary { .. }
            | LiteralKind::Filled { .. } => None,
        }
    }

    /// Whether it is a list with packs, which is no tensor.
    pub(crate) fn is_shape(&self, id: LiteralId) -> bool {
        let literal = self.get(id);
        matches!(literal.kind, LiteralKind::Array(_)) && literal.extents.is_none()
    }

    /// Whether it is a single number.
    pub(crate) fn is_number(&self, id: LiteralId) -> bool {
        self.get(id).is_number()
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
            | LiteralKind::Truth(_)
            | LiteralKind::Array(_)
            | LiteralKind::Apply { .. }
            | LiteralKind::Binary { .. } => self.get(id).extents.clone(),
        }
    }
}
