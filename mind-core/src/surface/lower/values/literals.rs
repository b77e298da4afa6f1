//! Literals, and arithmetic on them, before their dtype is known.
//!
//! A literal takes its dtype from its context: the other operand, a declared type or a parameter. Until then it is an
//! entry of a list, in which operands precede their uses. `tensors.rs` converts it to a tensor.

use std::collections::{BTreeMap, BTreeSet};

use crate::dim::Dim;
use crate::ir::ValueId;
use crate::map::{Map, ShapeRule};
use crate::surface::ast::{BinaryOp, ExprId, Number, NumberValue, Plain};
use crate::ty::{DType, Shape};

/// The index of a literal in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LiteralId(usize);

/// A literal, or arithmetic on literals.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    pub(crate) kind: LiteralKind,
    /// The expression of the literal.
    pub(crate) expr: ExprId,
    pub(crate) class: LiteralClass,
    /// The dtype that a suffix in it specifies.
    pub(crate) dtype: Option<DType>,
    /// The extents, if it consists of numbers and arrays only.
    pub(crate) extents: Option<Vec<i64>>,
    /// Whether all its numbers are known at compile time and have the same value on every machine.
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
    /// A tensor in which every element is the same number.
    Filled {
        value: LiteralId,
        shape: Shape,
    },
}

impl Literal {
    /// Whether it is one constant: a number that is evaluated here, an array of numbers, or a filled tensor of known
    /// shape.
    pub(crate) fn is_constant(&self) -> bool {
        let filled = matches!(&self.kind, LiteralKind::Filled { shape, .. } if shape.as_literals().is_some());
        self.known && (filled || self.extents.is_some())
    }

    /// Whether it may be an element of an array. Unknown integers may be, because a shape is a list of dimensions.
    pub(crate) fn stands_in_arrays(&self) -> bool {
        self.extents.is_some() && (self.known || self.class != LiteralClass::Float)
    }

    /// Whether it is a single number.
    fn is_number(&self) -> bool {
        self.extents.as_ref().is_some_and(Vec::is_empty)
    }
}

/// The class of the dtypes that a literal can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LiteralClass {
    Integer,
    Float,
    /// Zeros and ones.
    Any,
    /// A dimension.
    Extent,
    Truth,
}

impl LiteralClass {
    /// The class of arithmetic on both; `None` if the two do not combine.
    pub(crate) fn combined(self, other: Self) -> Option<Self> {
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
    /// The constants made from literals. A name that is bound to a literal is converted once per dtype.
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
            NumberValue::Integer(_) => LiteralClass::Integer,
            NumberValue::Float(_) => LiteralClass::Float,
        };
        let dtype = number.suffix;
        let kind = LiteralKind::Number(number);
        self.add(Literal { kind, expr, class, dtype, extents: Some(Vec::new()), known: true })
    }

    pub(crate) fn dim(&mut self, dim: Dim, expr: ExprId) -> LiteralId {
        let known = dim.as_literal().is_some();
        let (kind, extents) = (LiteralKind::Dim(dim), Some(Vec::new()));
        self.add(Literal { kind, expr, class: LiteralClass::Extent, dtype: None, extents, known })
    }

    /// Adds the value of a constant that is not a dimension.
    pub(crate) fn plain(&mut self, plain: Plain, expr: ExprId) -> LiteralId {
        match plain {
            Plain::Number(number) => self.number(number, expr),
            Plain::Truth(truth) => self.truth(truth, expr),
        }
    }

    pub(crate) fn truth(&mut self, truth: bool, expr: ExprId) -> LiteralId {
        let (kind, extents) = (LiteralKind::Truth(truth), Some(Vec::new()));
        self.add(Literal { kind, expr, class: LiteralClass::Truth, dtype: None, extents, known: true })
    }

    /// Applies a prefix operator to a literal; `None` if the result is not a literal.
    pub(crate) fn prefixed(&mut self, map: Map, operand: LiteralId, expr: ExprId) -> Option<LiteralId> {
        match (map, self.kind(operand)) {
            (Map::SIGN, _) => self.applied(map, vec![operand], expr),
            (Map::Not, LiteralKind::Truth(truth)) => Some(self.truth(!truth, expr)),
            _ => None,
        }
    }

    /// Applies a function to numbers, or a sign to any literal. Returns `None` if the function does not take these
    /// operands or if the element type of its result is not that of its operands.
    pub(crate) fn applied(&mut self, map: Map, operands: Vec<LiteralId>, expr: ExprId) -> Option<LiteralId> {
        let (row, of) = (map.row(), || operands.iter().map(|operand| self.get(*operand)));
        // Both dtypes are tested: a conversion to `f32` keeps `f32` but not `f64`.
        let keeps = |dtype| row.takes(dtype) && row.result(dtype) == dtype;
        let is_own = keeps(DType::F32) && keeps(DType::F64) && row.shapes != ShapeRule::Choice;
        if !is_own || !(map == Map::SIGN || of().all(Literal::is_number)) {
            return None;
        }
        let class = of().try_fold(LiteralClass::Any, |class, operand| class.combined(operand.class))?;
        let class = match (class, row.takes(DType::I64)) {
            (LiteralClass::Truth, _) | (LiteralClass::Integer, false) => return None,
            (LiteralClass::Extent, false) => LiteralClass::Float,
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

    /// Adds zeros or ones of any dtype.
    pub(crate) fn zero_or_one(&mut self, one: bool, shape: Shape, expr: ExprId) -> LiteralId {
        let value = NumberValue::Integer(i64::from(one));
        let number = Number { text: if one { "1" } else { "0" }.to_owned(), value, suffix: None };
        let value = self.number(number, expr);
        self.list[value.0].class = LiteralClass::Any;
        self.filled(value, shape, expr)
    }

    /// Adds a tensor in which every element is the number `value`.
    pub(crate) fn filled(&mut self, value: LiteralId, shape: Shape, expr: ExprId) -> LiteralId {
        let kind = LiteralKind::Filled { value, shape };
        let literal = Literal { kind, expr, extents: None, ..self.get(value).clone() };
        self.add(literal)
    }

    /// The dtype of the literal if its context does not decide it.
    pub(crate) fn default_dtype(&self, id: LiteralId) -> DType {
        let literal = self.get(id);
        literal.dtype.unwrap_or(match literal.class {
            LiteralClass::Integer | LiteralClass::Extent => DType::I64,
            LiteralClass::Float | LiteralClass::Any => DType::F32,
            LiteralClass::Truth => DType::Bool,
        })
    }

    /// Whether it can have this dtype.
    pub(crate) fn fits(&self, id: LiteralId, dtype: DType) -> bool {
        let literal = self.get(id);
        literal.dtype.map_or_else(|| literal.class.fits(dtype), |own| own == dtype)
    }

    /// Its description for messages: `an integer`, `f64`.
    pub(crate) fn describe(&self, id: LiteralId) -> &'static str {
        let literal = self.get(id);
        literal.dtype.map_or(literal.class.name(), DType::name)
    }

    /// A suggestion how to write it for another dtype.
    pub(crate) fn rewrite(&self, id: LiteralId, dtype: DType) -> Option<String> {
        let literal = self.get(id);
        if dtype == DType::Bool {
            return Some("a bool is not a number: convert it, as in `f32(…)`".to_owned());
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

    /// Whether it is a single number that is written as a float.
    pub(crate) fn is_float(&self, id: LiteralId) -> bool {
        matches!(&self.get(id).kind, LiteralKind::Number(number) if matches!(number.value, NumberValue::Float(_)))
    }

    /// The literals of which `root` consists, including itself; operands precede their uses. A literal for which
    /// `is_leaf` holds is not expanded.
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

    /// Whether it is a list with packs, which is not a tensor.
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

    /// The class of the dtypes that it can have without a suffix.
    pub(crate) fn class(&self, id: LiteralId) -> LiteralClass {
        self.get(id).class
    }

    /// The dtype that a suffix in it specifies.
    pub(crate) fn suffix(&self, id: LiteralId) -> Option<DType> {
        self.get(id).dtype
    }

    /// Whether it is one constant.
    pub(crate) fn is_constant(&self, id: LiteralId) -> bool {
        self.get(id).is_constant()
    }

    /// The constants in it and the operations on them, by ascending id: operands precede their uses.
    pub(crate) fn constant_parts(&self, id: LiteralId) -> Vec<LiteralId> {
        self.parts(id, Literal::is_constant)
    }

    /// The shape of a constant, if its extents are known.
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
