//! A body on its way to a module: what is known of it so far.

use std::collections::{BTreeMap, BTreeSet};

use super::by_field::Fields;
use super::expressions::Expressions;
use super::foreign::Foreign;
use super::literals::{LiteralId, Literals};
use super::lowered::{Local, Origin, Seen};
use super::signature::Signature;
use super::structure::Structure;
use super::table::Scope;
use super::types::DimNames;
use super::values::{Lowered, MAX_TUPLE_DEPTH, MAX_TUPLE_LEAVES, Names, Stop, Value};
use crate::build::Builder;
use crate::diag::{Code, Diag, Diags, Site};
use crate::ir::ValueId;
use crate::surface::ast::{Argument, Body, Callee, ExprId, Home};
use crate::ty::DType;

/// A body on its way to a module.
pub(super) struct BodyLowering<'a> {
    pub(super) table: Scope<'a>,
    pub(super) signature: &'a Signature,
    pub(super) body: &'a Body,
    pub(super) builder: Builder,
    /// The expression that each instruction was emitted for; nothing for an input.
    pub(super) made: Vec<Option<ExprId>>,
    /// What each node of the body stands for.
    pub(super) values: Vec<Value>,
    pub(super) literals: Literals,
    pub(super) names: Names,
    /// The templates whose bodies are being lowered, innermost last.
    pub(super) frames: Vec<Frame<'a>>,
    /// The pullbacks whose bodies are being lowered, innermost last.
    pub(super) pullbacks: Vec<OpenPullback>,
    /// Where the nodes in them are called.
    pub(super) call_sites: BTreeMap<ExprId, Site>,
    /// The current version of each parameter.
    pub(super) versions: Vec<Value>,
    /// Whether each input has been assigned to.
    pub(super) updated: Vec<bool>,
    pub(super) diags: Diags,
    /// The mistakes that have been told and are not told again: undefined names.
    pub(super) reported: BTreeSet<String>,
    /// What the program calls a value.
    pub(super) value_names: BTreeMap<ValueId, String>,
    /// Where values of derivatives come from that are called.
    pub(super) derived: BTreeMap<ValueId, Origin>,
    /// Whether it calls a function that has a mistake, which is told there.
    pub(super) incomplete: bool,
    /// The fields of imported structs that it names.
    pub(super) seen: Vec<Seen>,
    /// The names that have been bound so far.
    pub(super) locals: Vec<Local>,
}

/// A pullback whose body is being lowered, and what stands still meanwhile.
pub(super) struct OpenPullback {
    /// What the function's body has come to.
    pub(super) outside: Outside,
    /// The result of the function; poison where something is wrong with it or with a parameter.
    pub(super) result: Value,
    /// The tensors of the result, then those of the parameters.
    pub(super) operands: Vec<ValueId>,
    /// The parameters that something flows back to, in order, with its type; without one of a number that is known here, of
    /// which what flows back is dropped.
    pub(super) wanted: Vec<(String, Option<Structure>)>,
}

/// What a body has come to.
pub(super) struct Outside {
    pub(super) builder: Builder,
    pub(super) made: Vec<Option<ExprId>>,
    pub(super) literals_made: BTreeMap<(LiteralId, DType), ValueId>,
    pub(super) value_names: BTreeMap<ValueId, String>,
    pub(super) derived: BTreeMap<ValueId, Origin>,
    pub(super) names: Names,
}

/// The body of a template that is being lowered.
pub(super) struct Frame<'a> {
    pub(super) name: String,
    pub(super) home: Home,
    /// The parameters, with the arguments.
    pub(super) parameters: Vec<(String, Value)>,
    /// The call; nothing while the template is checked by itself.
    pub(super) site: Option<Site>,
    /// What the names around the call stand for.
    pub(super) outside: Names,
    /// The functions around the call.
    pub(super) table: Scope<'a>,
    /// The names in dimensions inside.
    pub(super) dims: DimNames,
    /// What is done field by field.
    pub(super) fields: Option<Fields>,
}

/// An operand with the expression it is.
pub(super) type Operand = (ValueId, ExprId);

impl Expressions for BodyLowering<'_> {
    type Tensor = ValueId;

    fn body(&self) -> &Body {
        self.body
    }

    fn value(&self, expr: ExprId) -> &Value {
        &self.values[expr.index()]
    }

    fn literals(&self) -> &Literals {
        &self.literals
    }

    fn literals_mut(&mut self) -> &mut Literals {
        &mut self.literals
    }

    fn dims(&self) -> &DimNames {
        self.frames.last().map_or(&self.signature.dims, |frame| &frame.dims)
    }

    fn is_in_template(&self) -> bool {
        !self.frames.is_empty()
    }

    fn tensor_type(&self, tensor: ValueId) -> Option<String> {
        Some(self.builder.ty(tensor).to_string())
    }
}

impl Foreign for BodyLowering<'_> {
    fn is_unbound(&self, name: &str) -> bool {
        self.names.get(name).is_none() && self.dims().get(name).is_none()
    }

    fn is_own_function(&self, name: &str) -> bool {
        self.table.position(name).is_some() || self.table.is_unread(name)
    }

    fn is_call_of_library(&self, _: &Callee, arguments: &[Argument]) -> bool {
        arguments.first().is_some_and(|receiver| self.is_library(receiver.value))
    }
}

impl<'a> BodyLowering<'a> {
    pub(super) fn new(table: Scope<'a>, signature: &'a Signature, body: &'a Body) -> Self {
        Self {
            table,
            signature,
            body,
            builder: Builder::new(),
            made: Vec::new(),
            values: Vec::with_capacity(body.nodes.len()),
            literals: Literals::default(),
            names: Names::default(),
            frames: Vec::new(),
            pullbacks: Vec::new(),
            call_sites: BTreeMap::new(),
            versions: Vec::new(),
            updated: vec![false; signature.inputs.len()],
            diags: Diags::new(),
            reported: BTreeSet::new(),
            value_names: BTreeMap::new(),
            derived: BTreeMap::new(),
            incomplete: false,
            seen: Vec::new(),
            locals: Vec::new(),
        }
    }
}

impl BodyLowering<'_> {
    pub(super) fn value_or_poison(&mut self, value: Lowered<Value>) -> Value {
        match value {
            Ok(value) => value,
            Err(Stop::Poisoned) => Value::Poison,
            Err(Stop::Mistake(diag)) => {
                let diag = self.at_call(*diag);
                self.diags.push(diag);
                Value::Poison
            }
        }
    }

    /// Reports a mistake and goes on.
    pub(super) fn report(&mut self, stop: Stop) {
        self.value_or_poison(Err(stop));
    }

    /// A mistake that is told once, however often it is made: an undefined name.
    pub(super) fn once(&mut self, name: String, diag: impl FnOnce() -> Diag) -> Stop {
        if self.reported.insert(name) { diag().into() } else { Stop::Poisoned }
    }

    pub(super) fn tuple(&mut self, elements: Vec<Value>, expr: ExprId) -> Lowered<Value> {
        if let Some(tuple) = Value::tuple(elements) {
            return Ok(tuple);
        }
        let site = self.body[expr].site;
        // Once: what is beyond the limits is often built on what was.
        Err(self.once("(…)".to_owned(), || {
            let message = format!(
                "a tuple exceeds the limit of {MAX_TUPLE_DEPTH} levels and {MAX_TUPLE_LEAVES} values in all"
            );
            Diag::new(Code::E1008, site, message)
        }))
    }

    /// The type of a value without literals.
    pub(super) fn structure_of(&self, value: &Value) -> Structure {
        match value {
            Value::Tensor(value) => Structure::Value(self.builder.ty(*value).clone()),
            Value::Tuple(tuple) => {
                Structure::Tuple(tuple.elements.iter().map(|element| self.structure_of(element)).collect())
            }
            Value::Struct(record) => Structure::Struct((*record.ty).clone()),
            Value::Poison | Value::Literal(_) | Value::Word(_) => Structure::UNIT,
        }
    }
}
