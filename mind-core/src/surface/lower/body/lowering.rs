//! The state of a body while it is lowered to a module.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;

use super::templates::CallData;
use crate::build::Builder;
use crate::diag::{Code, Diag, Diags, Site};
use crate::ir::{Inst, Nested, ValueId};
use crate::surface::ast::{Argument, Body, Callee, ExprId, Home, Pattern};
use crate::surface::lower::builtins::foreign::ForeignNames;
use crate::surface::lower::callees::table::Scope;
use crate::surface::lower::declarations::lowered::{EinsumOrder, Local, Origin, Seen};
use crate::surface::lower::declarations::signature::Signature;
use crate::surface::lower::declarations::structure::{Defined, StructType, Structure};
use crate::surface::lower::declarations::types::DimNames;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::literals::{LiteralId, Literals};
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::pullbacks::Pullback;
use crate::surface::lower::values::templates;
use crate::surface::lower::values::{Lowered, Value, VariableScopes};
use crate::ty::DType;

/// A body that is being lowered to a module.
pub(crate) struct BodyLowering<'a> {
    pub(crate) table: Scope<'a>,
    pub(crate) signature: &'a Signature,
    pub(crate) body: &'a Body,
    pub(crate) builder: Builder,
    /// The expression for which each instruction was emitted; `None` for an input.
    pub(crate) made: Vec<Option<ExprId>>,
    /// The value of each node that has been lowered.
    pub(crate) values: Vec<Value>,
    pub(crate) literals: Literals,
    pub(crate) names: VariableScopes,
    /// The templates whose bodies are being lowered, innermost last.
    pub(crate) frames: Vec<Frame<'a>>,
    /// The pullbacks whose bodies are being lowered, innermost last.
    pub(crate) pullbacks: Vec<OpenPullback>,
    /// The loops whose bodies are being lowered, innermost last.
    pub(crate) loops: Vec<OpenLoop>,
    /// The `while` loops that are being lowered, innermost last.
    pub(crate) whiles: Vec<OpenWhile>,
    /// The `if`s that are being lowered, innermost last.
    pub(crate) branches: Vec<OpenBranches>,
    /// The call sites of the nodes inside templates.
    pub(crate) call_sites: BTreeMap<ExprId, Site>,
    /// The current version of each parameter.
    pub(crate) versions: Vec<Value>,
    /// Whether each input has been assigned to.
    pub(crate) updated: Vec<bool>,
    pub(crate) diags: Diags,
    /// The keys of errors that are reported only once: undefined names.
    pub(crate) reported: BTreeSet<String>,
    /// The program's names for values.
    pub(crate) value_names: BTreeMap<ValueId, String>,
    /// The origins of the values of called derivatives.
    pub(crate) derived: BTreeMap<ValueId, Origin>,
    /// The orders of products of its calls of `einsum`.
    pub(crate) einsums: Vec<EinsumOrder>,
    /// Whether it calls a function with an error; that error is reported at the function.
    pub(crate) incomplete: bool,
    /// The fields of imported structs that it names.
    pub(crate) seen: Vec<Seen>,
    /// The names that have been bound so far.
    pub(crate) locals: Vec<Local>,
}

/// A loop whose body is being lowered. Its instructions are among those around it until the loop ends.
pub(crate) struct OpenLoop {
    /// For each tensor of the carry and of the element: its value in the body, and the operand of the loop. `None` if
    /// the head of the loop has an error.
    pub(crate) inputs: Option<Vec<(ValueId, ValueId)>>,
    /// The number of instructions before the body.
    pub(crate) start: usize,
    /// The type of the carry.
    pub(crate) carry: Structure,
    /// The pattern of the carry and its first value, as written.
    pub(crate) carried_from: Option<(Pattern, ExprId)>,
    /// The steps between two kept carries; 0 for none.
    pub(crate) checkpoint: i64,
    /// The parameters as they were before the loop, and whether each input had been assigned to.
    pub(crate) versions: Versions,
}

/// A `while` that is being lowered: its condition, then its body.
pub(crate) struct OpenWhile {
    /// The type of the carry.
    pub(crate) carry: Structure,
    /// The first carry.
    pub(crate) first: Vec<ValueId>,
    /// The steps between two kept carries; 0 for none.
    pub(crate) checkpoint: i64,
    /// For each input of the part that is being lowered: its value there, and the operand.
    pub(crate) inputs: Vec<(ValueId, ValueId)>,
    /// The number of instructions before that part.
    pub(crate) start: usize,
    /// The condition, and its operands after the carry.
    pub(crate) condition: Option<(Nested, Vec<ValueId>)>,
    /// The parameters as they were before the loop, and whether each input had been assigned to.
    pub(crate) versions: Versions,
    /// Whether an error has been reported.
    pub(crate) is_failed: bool,
}

impl OpenWhile {
    pub(crate) fn new(carry: Structure, first: Vec<ValueId>) -> Self {
        let versions = (Vec::new(), Vec::new());
        Self {
            carry,
            first,
            checkpoint: 0,
            inputs: Vec::new(),
            start: 0,
            condition: None,
            versions,
            is_failed: false,
        }
    }

    pub(crate) fn failed() -> Self {
        Self { is_failed: true, ..Self::new(Structure::UNIT, Vec::new()) }
    }
}

/// An `if` that is being lowered.
pub(crate) struct OpenBranches {
    /// The condition, unless it has an error.
    pub(crate) condition: Option<ValueId>,
    /// The condition, if it is known. The other branch is then left out, with its mistakes.
    pub(crate) known: Option<bool>,
    /// What was reported before the branch that is being left out.
    pub(crate) before_left_out: Option<Reports>,
    /// The number of instructions before a branch.
    pub(crate) start: usize,
    /// The parameters as they were before the `if`, and whether each input had been assigned to.
    pub(crate) versions: Versions,
    /// The first branch, once it has been lowered without an error.
    pub(crate) then: Option<FirstBranch>,
}

/// The first branch of an `if`.
pub(crate) enum FirstBranch {
    /// A literal, which takes the type of the other branch, and the instructions before it, such as those that show
    /// values.
    Literal { value: Value, instructions: Vec<Inst>, tail: ExprId },
    /// A module of captured values.
    Module { structure: Structure, module: Nested, captured: Vec<ValueId> },
    /// The value of the branch that is known to run. Its instructions stay where they are.
    Value(Value),
}

/// The reports of a function so far: the number of mistakes, and the names that are reported once.
pub(crate) type Reports = (usize, BTreeSet<String>);

/// The current version of each parameter, and whether each input has been assigned to.
pub(crate) type Versions = (Vec<Value>, Vec<bool>);

/// The state of a body around a pullback.
pub(crate) struct Outside {
    pub(crate) builder: Builder,
    pub(crate) made: Vec<Option<ExprId>>,
    pub(crate) literals_made: BTreeMap<(LiteralId, DType), ValueId>,
    pub(crate) value_names: BTreeMap<ValueId, String>,
    pub(crate) derived: BTreeMap<ValueId, Origin>,
    /// The result of the function.
    pub(crate) result: Value,
    /// The tensors of the result, then those of the parameters.
    pub(crate) operands: Vec<ValueId>,
}

/// A pullback whose body is being lowered, with the state of the body around it.
pub(crate) type OpenPullback = Pullback<ValueId, Outside>;

/// The body of a template that is being lowered, and the functions around the call.
pub(crate) type Frame<'a> = templates::Frame<ValueId, CallData<'a>>;

/// An operand with its expression.
pub(crate) type LoweredOperand = (ValueId, ExprId);

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

impl Lower for BodyLowering<'_> {
    fn values_mut(&mut self) -> &mut Vec<Value> {
        &mut self.values
    }

    fn names_mut(&mut self) -> &mut VariableScopes {
        &mut self.names
    }

    fn diags_mut(&mut self) -> &mut Diags {
        &mut self.diags
    }

    fn reported_mut(&mut self) -> &mut BTreeSet<String> {
        &mut self.reported
    }

    /// A template may name the fields that its own crate sees. If the program does not import the struct, Rust cannot
    /// check a field, so the field has to be public.
    fn sees(&mut self, ty: &StructType, field: &Ident) -> Lowered<()> {
        let is_here = self.frames.last().is_none_or(|frame| frame.template.home == Home::ThisBlock);
        let is_public = ty.definition.fields.iter().any(|known| known.name == *field && known.is_public);
        if !is_here || is_public {
            return Ok(());
        }
        let mut known = self.signature.dims.structs.values().flatten();
        match known.find(|defined| ty.definition.base().0.is(&defined.definition)) {
            Some(Defined { alias: Some(alias), definition }) => {
                let (alias, dims, field) = (alias.name.clone(), definition.symbols.len(), field.clone());
                if !self.seen.iter().any(|seen| seen.alias == alias && seen.field == field) {
                    self.seen.push(Seen { alias, dims, field });
                }
            }
            // A struct of the block itself.
            Some(Defined { alias: None, .. }) => {}
            None => {
                let name = &ty.definition.name;
                return Err(self.once(format!("{name}.{field}"), || {
                    let message =
                        format!("the field `{field}` of `{name}` is not `pub`, and `{name}` is not imported");
                    let help = format!(
                        "import `{name}` with `use`: the field then has the same visibility as in Rust"
                    );
                    Diag::new(Code::E2002, Site::token(field.span()), message).help(help)
                }));
            }
        }
        Ok(())
    }

    fn note_binding(&mut self, name: &Ident, value: &Value) {
        self.keep_local(name, value);
        self.name_value(value, &name.to_string());
    }

    fn argument_site(&self, expr: ExprId) -> Option<Site> {
        templates::argument_site(&self.frames, self.body, expr)
    }

    fn at_call(&self, diag: Diag) -> Diag {
        self.frames.iter().rev().fold(diag, |diag, frame| {
            let Some(site) = frame.site.filter(|_| !frame.template.is_private()) else { return diag };
            let name = frame.name();
            let (inside, message) = (diag.site, format!("in `{name}`: {}", diag.message));
            let diag = Diag { site, message, ..diag };
            match frame.template.home {
                Home::ThisBlock | Home::Elsewhere(_) => diag.note_at(inside, format!("it is in `{name}`")),
                // The user has no source location in the library's text.
                Home::Library(_) => diag,
            }
        })
    }
}

impl ForeignNames for BodyLowering<'_> {
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
    pub(crate) fn new(table: Scope<'a>, signature: &'a Signature, body: &'a Body) -> Self {
        Self {
            table,
            signature,
            body,
            builder: Builder::new(),
            made: Vec::new(),
            values: Vec::with_capacity(body.nodes.len()),
            literals: Literals::default(),
            names: VariableScopes::default(),
            frames: Vec::new(),
            pullbacks: Vec::new(),
            loops: Vec::new(),
            whiles: Vec::new(),
            branches: Vec::new(),
            call_sites: BTreeMap::new(),
            versions: Vec::new(),
            updated: vec![false; signature.inputs.len()],
            diags: Diags::new(),
            reported: BTreeSet::new(),
            value_names: BTreeMap::new(),
            derived: BTreeMap::new(),
            einsums: Vec::new(),
            incomplete: false,
            seen: Vec::new(),
            locals: Vec::new(),
        }
    }
}

impl BodyLowering<'_> {
    /// The type of a value without literals.
    pub(crate) fn structure_of(&self, value: &Value) -> Structure {
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
