//! The values of expressions while a body is lowered: tensors, literals and arithmetic on them, attributes, structs of
//! parameters. Both forms of the language use them.

pub(crate) mod arithmetic;
pub(crate) mod attributes;
pub(crate) mod by_field;
pub(crate) mod demand;
pub(crate) mod expressions;
pub(crate) mod literals;
pub(crate) mod lower;
pub(crate) mod params;
pub(crate) mod patterns;
pub(crate) mod pullbacks;
pub(crate) mod records;
pub(crate) mod scalars;
pub(crate) mod templates;
pub(crate) mod tensors;

use std::collections::BTreeMap;
use std::rc::Rc;

use self::literals::LiteralId;
use crate::diag::Diag;
use crate::ir::ValueId;
use crate::surface::ast::ExprId;
use crate::surface::lower::declarations::structure::{StructType, Structure};
use crate::ty::DType;

/// The value of an expression during lowering.
#[derive(Clone, Debug)]
pub(crate) enum Value<T = ValueId> {
    /// No value: an error in the expression has been reported.
    Poison,
    /// A tensor.
    Tensor(T),
    /// A literal, or arithmetic on literals and dimensions, whose dtype the context decides.
    Literal(LiteralId),
    /// A tuple.
    Tuple(Tuple<T>),
    /// A struct.
    Struct(Record<T>),
    /// A word that is allowed as an argument.
    Word(Word),
}

/// A word that is allowed as an argument, such as `same` or `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Same,
    Valid,
    DType(DType),
    /// The element type of a template argument whose type is not known.
    ElementsOf(ExprId),
    /// `..B` in a list.
    Pack,
    /// A string in double quotes.
    Text,
}

impl Word {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Valid => "valid",
            Self::DType(dtype) => dtype.name(),
            Self::ElementsOf(_) => "an element type",
            Self::Pack => "leading dimensions",
            Self::Text => "text",
        }
    }
}

/// A tuple of bounded depth and size.
#[derive(Clone, Debug)]
pub(crate) struct Tuple<T = ValueId> {
    pub(crate) elements: Rc<[Value<T>]>,
    depth: usize,
    leaves: usize,
}

/// A struct value.
#[derive(Clone, Debug)]
pub(crate) struct Record<T = ValueId> {
    pub(crate) ty: Rc<StructType>,
    /// The fields in order; poison where an error in one has been reported.
    pub(crate) fields: Rc<[Value<T>]>,
}

/// Limits of a tuple: the nesting depth, and the number of values over all levels.
pub(crate) const MAX_TUPLE_DEPTH: usize = 64;
pub(crate) const MAX_TUPLE_LEAVES: usize = 4096;

impl<T> Value<T> {
    /// Builds a tuple; `None` if it exceeds the limits.
    pub(crate) fn tuple(elements: Vec<Self>) -> Option<Self> {
        let (mut depth, mut leaves) = (0, 0);
        for element in &elements {
            match element {
                Self::Tuple(inner) => {
                    depth = depth.max(inner.depth);
                    leaves += inner.leaves;
                }
                Self::Struct(record) => leaves += record.ty.leaf_count(),
                Self::Poison | Self::Tensor(_) | Self::Literal(_) | Self::Word(_) => leaves += 1,
            }
        }
        let tuple = Tuple { elements: elements.into(), depth: depth + 1, leaves };
        (tuple.depth <= MAX_TUPLE_DEPTH && leaves <= MAX_TUPLE_LEAVES).then_some(Self::Tuple(tuple))
    }

    /// The tensor, if the value is one.
    pub(crate) fn tensor(&self) -> Option<T>
    where
        T: Copy,
    {
        match self {
            Self::Tensor(tensor) => Some(*tensor),
            Self::Poison | Self::Literal(_) | Self::Tuple(_) | Self::Struct(_) | Self::Word(_) => None,
        }
    }

    /// The elements, if the value is a tuple of one or more tensors.
    pub(crate) fn tuple_of_tensors(&self) -> Option<Vec<T>>
    where
        T: Copy,
    {
        let Self::Tuple(Tuple { elements, .. }) = self else { return None };
        elements.iter().map(Self::tensor).collect::<Option<Vec<_>>>().filter(|tensors| !tensors.is_empty())
    }

    /// The value of an expression without a result: the empty tuple.
    pub(crate) fn unit() -> Self {
        Self::Tuple(Tuple { elements: Rc::new([]), depth: 1, leaves: 0 })
    }

    pub(crate) fn is_unit(&self) -> bool {
        matches!(self, Self::Tuple(tuple) if tuple.elements.is_empty())
    }
}

impl<T: Copy> Value<T> {
    /// The tensors in the value, in order.
    pub(crate) fn leaves(&self) -> Vec<T> {
        let (mut leaves, mut rest) = (Vec::new(), vec![self]);
        while let Some(value) = rest.pop() {
            match value {
                Self::Tensor(value) => leaves.push(*value),
                Self::Tuple(tuple) => rest.extend(tuple.elements.iter().rev()),
                Self::Struct(record) => rest.extend(record.fields.iter().rev()),
                Self::Poison | Self::Literal(_) | Self::Word(_) => {}
            }
        }
        leaves
    }

    /// Builds a value of this structure; its leaves are taken from `tensors` in order.
    pub(crate) fn rebuilt(structure: &Structure, tensors: &mut dyn Iterator<Item = T>) -> Self {
        match structure {
            Structure::Value(_) => {
                Self::Tensor(tensors.next().expect("there is a tensor for each leaf of the structure"))
            }
            Structure::Tuple(elements) => {
                let elements = elements.iter().map(|element| Self::rebuilt(element, tensors)).collect();
                Self::tuple(elements).expect("a written type is within the limits of tuples")
            }
            Structure::Struct(ty) => {
                let fields = ty.fields.iter().map(|field| Self::rebuilt(field, tensors)).collect();
                Record::value(ty.clone(), fields)
            }
        }
    }
}

impl<T: Clone> Record<T> {
    pub(crate) fn value(ty: StructType, fields: Vec<Value<T>>) -> Value<T> {
        Value::Struct(Self { ty: ty.into(), fields: fields.into() })
    }

    fn is_poisoned(&self) -> bool {
        self.fields.iter().any(|field| match field {
            Value::Poison => true,
            Value::Struct(inner) => inner.is_poisoned(),
            Value::Tensor(_) | Value::Literal(_) | Value::Tuple(_) | Value::Word(_) => false,
        })
    }

    /// The record as a value; [`Stop::Poisoned`] if anything in it is poison.
    pub(crate) fn sound(&self) -> Lowered<Value<T>> {
        if self.is_poisoned() { Err(Stop::Poisoned) } else { Ok(Value::Struct(self.clone())) }
    }
}

/// The reason that an expression has no value.
pub(crate) enum Stop {
    /// A part of the expression has no value; that error has been reported.
    Poisoned,
    /// An error that has not been reported yet.
    Mistake(Box<Diag>),
    /// As [`Self::Mistake`], for a value that a template passes on: it is reported at the argument of the call.
    Argument(ExprId, Box<Diag>),
}

impl Stop {
    /// Changes the error, for example to add a note.
    pub(crate) fn map(self, change: impl FnOnce(Diag) -> Diag) -> Self {
        match self {
            Self::Poisoned => Self::Poisoned,
            Self::Mistake(diag) => change(*diag).into(),
            Self::Argument(expr, diag) => Self::Argument(expr, change(*diag).into()),
        }
    }
}

impl From<Diag> for Stop {
    fn from(diag: Diag) -> Self {
        Self::Mistake(diag.into())
    }
}

impl From<Option<Diag>> for Stop {
    fn from(diag: Option<Diag>) -> Self {
        diag.map_or(Self::Poisoned, Self::from)
    }
}

/// A value, or the reason that it does not exist.
pub(crate) type Lowered<T> = Result<T, Stop>;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(crate) enum Binding<T = ValueId> {
    /// The parameter at this position.
    Parameter(usize),
    /// A value that is bound to the name, for example by `let`.
    Local(Value<T>),
}

/// The variables in scope. Each name has a stack of bindings, the innermost last.
pub(crate) struct VariableScopes<T = ValueId> {
    bindings: BTreeMap<String, Vec<Binding<T>>>,
    /// The names of all current bindings, in the order in which they were bound.
    bound: Vec<String>,
    /// The length of `bound` when each open scope was entered.
    scopes: Vec<usize>,
}

impl<T> Default for VariableScopes<T> {
    fn default() -> Self {
        Self { bindings: BTreeMap::new(), bound: Vec::new(), scopes: Vec::new() }
    }
}

impl<T> VariableScopes<T> {
    pub(crate) fn bind(&mut self, name: String, binding: Binding<T>) {
        self.bindings.entry(name.clone()).or_default().push(binding);
        self.bound.push(name);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Binding<T>> {
        self.bindings.get(name)?.last()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.bindings.iter().filter(|(_, bindings)| !bindings.is_empty()).map(|(name, _)| name.as_str())
    }

    pub(crate) fn enter(&mut self) {
        self.scopes.push(self.bound.len());
    }

    pub(crate) fn leave(&mut self) {
        let start = self.scopes.pop().expect("each scope that is left was entered");
        for name in self.bound.drain(start..) {
            if let Some(bindings) = self.bindings.get_mut(&name) {
                bindings.pop();
            }
        }
    }
}
