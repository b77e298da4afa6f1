//! Lowering of one body, in one loop over its nodes. `lowering.rs` holds its state; every other file handles one
//! concern.

pub(crate) mod advice;
pub(crate) mod calls;
pub(crate) mod conditions;
pub(crate) mod functions;
pub(crate) mod hoist;
pub(crate) mod kept_calls;
pub(crate) mod loops;
pub(crate) mod lowering;
pub(crate) mod operators;
pub(crate) mod picking;
pub(crate) mod pullbacks;
pub(crate) mod records;
pub(crate) mod replacing;
pub(crate) mod report;
pub(crate) mod subscripts;
pub(crate) mod templates;
pub(crate) mod tensors;
pub(crate) mod transforms;

use std::rc::Rc;

use proc_macro2::Ident;

use self::lowering::BodyLowering;
use self::pullbacks::useless_pullback;
use self::replacing::Put;
use crate::diag::{Code, Diag, Diags, Site};
use crate::ir::ValueId;
use crate::surface::ast::{BinaryOp, Body, Callee, ExprId, Node, NodeKind, Path, Template};
use crate::surface::habits;
use crate::surface::lower::builtins::foreign::ForeignNames;
use crate::surface::lower::builtins::operations::Operations;
use crate::surface::lower::callees::table::{Compiled, Scope};
use crate::surface::lower::declarations::lowered::{Local, LoweredModule};
use crate::surface::lower::declarations::names::undefined;
use crate::surface::lower::declarations::signature::Signature;
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::declarations::types::DimNames;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::patterns::declared_dims;
use crate::surface::lower::values::pullbacks::Pullbacks;
use crate::surface::lower::values::records::Records;
use crate::surface::lower::values::templates::Templates;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Binding, Lowered, Stop, Value, Word};

/// Lowers a body and reports its errors.
pub(crate) fn lower_body(table: Scope<'_>, signature: &Signature, body: &Body) -> LoweredBody {
    let mut lowering = BodyLowering::new(table, signature, body);
    if let Some(diag) = lowering.calls_too_much() {
        let mut diags = Diags::new();
        diags.push(diag);
        return LoweredBody { compiled: None, locals: Vec::new(), diags };
    }
    lowering.run();
    let result = lowering.result();
    let result = match result {
        Ok(result) => Some(result),
        Err(Stop::Poisoned) => None,
        Err(Stop::Mistake(diag) | Stop::Argument(_, diag)) => {
            lowering.diags.push(*diag);
            None
        }
    };
    let BodyLowering {
        builder,
        made,
        updated,
        diags,
        mut value_names,
        derived,
        einsums,
        incomplete,
        call_sites,
        seen,
        locals,
        ..
    } = lowering;
    if !diags.is_empty() || incomplete {
        return LoweredBody { compiled: None, locals, diags };
    }
    let compiled = result.map(|(result, outputs)| {
        let input = |position: usize| signature.inputs[position].site;
        let site = |(position, expr): (usize, &Option<ExprId>)| match expr {
            Some(expr) => call_sites.get(expr).copied().unwrap_or(body[*expr].site),
            None => input(position),
        };
        let sites = made.iter().enumerate().map(site).collect();
        let names = (0..made.len()).map(|value| value_names.remove(&ValueId::new(value))).collect();
        let updates = updated.iter().enumerate().filter(|(_, updated)| **updated).map(|(i, _)| i).collect();
        Compiled {
            source: LoweredModule { module: builder.finish(outputs), sites, names, derived, einsums },
            result,
            updates,
            seen,
        }
    });
    LoweredBody { compiled, locals, diags }
}

/// The result of lowering a body.
pub(crate) struct LoweredBody {
    /// `None` if the body has an error or calls a function with one.
    pub(crate) compiled: Option<Compiled>,
    /// The names that it binds, as far as they are valid.
    pub(crate) locals: Vec<Local>,
    /// Its errors.
    pub(crate) diags: Diags,
}

/// The errors in a template that can be found without a call.
pub(crate) fn check_template(table: Scope<'_>, dims: &DimNames, template: &Template) -> Diags {
    let site = template.site;
    let mut diags = Diags::new();
    let mut known = dims.clone();
    known.symbols = declared_dims(template).map(|name| name.as_str().into()).collect();
    for pattern in template.parameters.iter().filter_map(|parameter| parameter.takes.pattern()) {
        diags.extend(pattern.dims.iter().filter_map(|dim| known.dim(dim).err().flatten()));
    }
    diags.extend(useless_pullback(template));
    if !diags.is_empty() {
        return diags;
    }
    let inner = template.body.clone().unwrap_or_default();
    let mut body = Body::default();
    let template = Rc::new(template.clone());
    body.nodes
        .push(Node { kind: NodeKind::Enter { template: template.clone(), arguments: Vec::new() }, site });
    body.nodes.extend(inner.nodes.into_iter().map(|mut node| {
        node.kind.operands_mut().into_iter().for_each(|operand| operand.0 += 1);
        node
    }));
    let signature = Signature {
        name: template.name.to_string(),
        is_closure: false,
        dims: dims.clone(),
        parameters: Vec::new(),
        inputs: Vec::new(),
        result: None,
        gradient: None,
        site,
    };
    let mut lowering = BodyLowering::new(table, &signature, &body);
    lowering.run();
    lowering.diags
}

impl BodyLowering<'_> {
    /// Lowers every node.
    pub(crate) fn run(&mut self) {
        self.declare_parameters();
        self.lower_nodes();
    }

    fn declare_parameters(&mut self) {
        let signature = self.signature;
        let mut values = Vec::new();
        for input in &signature.inputs {
            let value = self.builder.input(input.name.as_str(), input.ty.clone());
            values.push(value.expect("the signature has distinct names and types that values may have"));
            self.made.push(None);
        }
        let mut values = values.into_iter();
        for (position, parameter) in signature.parameters.iter().enumerate() {
            let value = Value::rebuilt(&parameter.structure, &mut values);
            self.versions.push(value);
            self.names.bind(parameter.name.clone(), Binding::Parameter(position));
        }
    }

    fn lower_node(&mut self, expr: ExprId) -> Lowered<Value> {
        if let Some(site) = self.call_site() {
            self.call_sites.insert(expr, site);
        }
        let body = self.body;
        match &body[expr].kind {
            NodeKind::Unread => Err(Stop::Poisoned),
            NodeKind::Number(number) => Ok(Value::Literal(self.literals.number(number.clone(), expr))),
            NodeKind::Bool(value) => Ok(Value::Literal(self.literals.truth(*value, expr))),
            NodeKind::Text(_) => Ok(Value::Word(Word::Text)),
            NodeKind::Name(name) => self.name(name, expr),
            NodeKind::Path(path) => self.constant_by_path(path, expr),
            NodeKind::Pack(name) => self.pack(name, expr),
            NodeKind::Prefix { map, operand, operator } => self.prefix(*map, *operand, *operator, expr),
            NodeKind::Binary { op, operator, lhs, rhs } => self.binary(*op, *operator, (*lhs, *rhs), expr),
            NodeKind::Call { callee, arguments, method: _ } => self.call(callee, arguments, expr),
            NodeKind::Transformed { transforms, function, arguments } => {
                self.transformed(transforms, function, arguments, expr)
            }
            NodeKind::Transpose { base, axes } => self.transpose(*base, *axes, expr),
            NodeKind::Rust { .. } | NodeKind::Typed { .. } | NodeKind::Derivative(_) => {
                let message = format!(
                    "found {}, which is only allowed in expressions that use Rust variables",
                    self.text(expr)
                );
                Err(Diag::new(Code::E1007, body[expr].site, message).into())
            }
            NodeKind::Field { base, index, field } => self.tuple_element(*base, *index, *field),
            NodeKind::Member { base, name } => self.member(*base, name, expr),
            NodeKind::Struct { name, fields, base } => self.struct_expression(name, fields, *base, expr),
            NodeKind::Subscript { base, subscripts } => self.subscript(*base, subscripts, expr),
            NodeKind::Array(elements) => self.array_of_values(elements, expr),
            NodeKind::Tuple(elements) => {
                let elements = elements.iter().map(|element| self.values[element.index()].clone()).collect();
                self.tuple(elements, expr)
            }
            NodeKind::Open => {
                self.names.enter();
                Ok(Value::unit())
            }
            NodeKind::Close { tail } => {
                self.names.leave();
                Ok(tail.map_or_else(Value::unit, |tail| self.values[tail.index()].clone()))
            }
            NodeKind::Let { pattern, ty, value } => {
                self.bind_declared(pattern, ty.as_ref(), *value);
                Ok(Value::unit())
            }
            NodeKind::Assign { target, part, op, operator, value } => {
                self.assign((target, *part), op.map(|op| (op, *operator)), *value, expr)?;
                Ok(Value::unit())
            }
            NodeKind::Discard(value) => self.discard(*value),
            NodeKind::Pullback { value, cotangent, of } => {
                self.enter_pullback([value, cotangent], *of, expr);
                Ok(Value::unit())
            }
            NodeKind::PulledBack { tail } => self.leave_pullback(*tail, expr),
            NodeKind::Loop(of) => {
                self.enter_loop(of, expr);
                Ok(Value::unit())
            }
            NodeKind::Looped { head, tail } => match self.body[*head].kind {
                NodeKind::Tested { .. } => self.leave_while(*head, *tail),
                _ => self.leave_loop(*head, *tail, expr),
            },
            NodeKind::While { carry, first } => {
                self.enter_while(carry, *first);
                Ok(Value::unit())
            }
            NodeKind::Tested { head, test, most, checkpoint } => {
                self.enter_while_body(*head, *test, [*most, *checkpoint], expr);
                Ok(Value::unit())
            }
            NodeKind::If { test } => {
                self.enter_if(*test);
                Ok(Value::unit())
            }
            NodeKind::Else { tail, .. } => {
                self.enter_else(*tail, expr);
                Ok(Value::unit())
            }
            NodeKind::Branched { tail, .. } => self.leave_if(*tail, expr),
            NodeKind::Enter { template, arguments } => {
                self.enter_template(template, arguments, expr);
                self.begin_call();
                Ok(Value::unit())
            }
            NodeKind::Leave { .. } => unreachable!("the walk over nodes leaves templates"),
        }
    }

    fn name(&mut self, name: &Ident, expr: ExprId) -> Lowered<Value> {
        let text = name.to_string();
        match self.names.get(&text) {
            Some(Binding::Parameter(position)) => return Ok(self.versions[*position].clone()),
            Some(Binding::Local(value)) => return Ok(value.clone()),
            None => {}
        }
        if let Some(constant) = self.constant(&text, expr) {
            return constant;
        }
        if let Some(dtype) = self.dims().elements.get(&text) {
            return Ok(Value::Word(Word::DType(*dtype)));
        }
        if let Some(word) = self.padding_word(&text).or_else(|| self.word(&text, expr)) {
            return Ok(word);
        }
        if self.is_reported_by_its_call(expr) {
            return Err(Stop::Poisoned);
        }
        let diag = {
            let known =
                self.names.all().chain(self.dims().all()).chain(self.dims().plain.keys().map(String::as_str));
            undefined("name", &text, Site::token(name.span()), known)
        };
        let diag = match habits::name(&text) {
            Some(help) => diag.help(help),
            None => diag,
        };
        let is_function =
            self.table.position(&text).is_some() || crate::surface::lower::builtins::is_builtin(&text);
        let help = format!("`{text}` is a function: call it, as in `{text}(…)`");
        let diag = if is_function { diag.help(help) } else { diag };
        let diag = match diag.help {
            None if is_constant_of_rust(&text) => diag.help(format!(
                "declare a constant in the block: `const {text}: float = 0.1;`, or with `dim` for an extent"
            )),
            None if !self.pullbacks.is_empty() => {
                diag.help("a pullback can only use the parameters, the result and the cotangent")
            }
            None if self.signature.is_closure => diag.help(format!(
                "a closure in `mind!` can only use its parameters: add a parameter, such as `{text}: f32`"
            )),
            None => diag.help(self.names_here()),
            Some(_) => diag,
        };
        let is_struct = self.dims().structs.contains_key(&text);
        let diag =
            if is_struct { diag.help(format!("write its fields, as in `{text} {{ … }}`")) } else { diag };
        Err(self.once(text, || diag))
    }

    /// The help text that lists the names in scope.
    fn names_here(&self) -> String {
        const SHOWN: usize = 12;
        let plain = self.dims().plain.keys().map(String::as_str);
        let names: Vec<_> =
            self.names.all().chain(self.dims().all()).chain(plain).map(|name| format!("`{name}`")).collect();
        match &names[..] {
            [] => "no names are defined here: the function has no parameters".to_owned(),
            [name] => format!("the only name defined here is {name}"),
            [names @ .., last] if names.len() < SHOWN => {
                format!("the names defined here are {} and {last}", names.join(", "))
            }
            names => format!("the names defined here are {}, …", names[..SHOWN].join(", ")),
        }
    }

    /// `layers::EPS`
    fn constant_by_path(&mut self, path: &Callee, expr: ExprId) -> Lowered<Value> {
        let text = path.to_string();
        if let Some(constant) = self.constant(&text, expr) {
            return constant;
        }
        let diag = match self.dims().structs.contains_key(&text) {
            true => Diag::new(Code::E2002, path.site(), format!("`{text}` is a struct, expected a value"))
                .help(format!("write its fields, as in `{text} {{ … }}`")),
            false => Diag::new(Code::E2002, path.site(), format!("undefined name `{text}`")),
        };
        Err(self.once(text, || diag))
    }

    /// Records the type of a name that the body itself binds. Names bound in templates are left out.
    pub(crate) fn keep_local(&mut self, name: &Ident, value: &Value) {
        if self.is_in_template() {
            return;
        }
        let item = match value {
            Value::Struct(record) => Some(record.ty.rust_name().clone()),
            Value::Poison | Value::Literal(_) | Value::Tensor(_) | Value::Tuple(_) | Value::Word(_) => None,
        };
        self.locals.push(Local { name: name.clone(), ty: self.type_text(value), item });
    }

    /// Records the program's name for a value. The tensors of a struct are named by their fields.
    pub(super) fn name_value(&mut self, value: &Value, name: &str) {
        match value {
            Value::Tensor(value) => _ = self.value_names.entry(*value).or_insert_with(|| name.to_owned()),
            Value::Struct(record) => {
                for (field, value) in record.ty.field_names().zip(record.fields.iter()) {
                    self.name_value(value, &format!("{name}.{field}"));
                }
            }
            Value::Poison | Value::Literal(_) | Value::Tuple(_) | Value::Word(_) => {}
        }
    }

    /// Lowers `w = value`, `w += value`, and the same for a part `w[i]`.
    fn assign(
        &mut self,
        (target, part): (&Path, Option<ExprId>),
        op: Option<(BinaryOp, Site)>,
        value: ExprId,
        expr: ExprId,
    ) -> Lowered<()> {
        let place = match part {
            Some(part) => self.writable_part(target, part)?,
            None => self.writable(target)?,
        };
        // The value may have updated the target.
        let old = self.version(&place);
        let of_part = part.map(|part| self.read_again(part, &old)).transpose()?;
        let put = part.map_or(Ok(Put::Replace), |part| self.put(part, op))?;
        let new = match op {
            None => self.values[value.index()].clone(),
            Some((op, operator)) => {
                // The old value is that of this node while the operator is lowered.
                self.values.push(of_part.unwrap_or(old));
                let updated = self.binary(op, operator, (expr, value), expr);
                self.values.pop();
                match (put, updated?) {
                    (Put::Replace, updated) => updated,
                    // The sum was made for its checks only.
                    (Put::Add | Put::Subtract, _) => self.values[value.index()].clone(),
                }
            }
        };
        let site_of = if op.is_some() && put == Put::Replace { expr } else { value };
        let new = match part {
            Some(part) => self.with_part(part, (put, new), (site_of, expr))?,
            None => self.coerce(&new, &place.structure, site_of, &format!("`{target}`"))?,
        };
        self.write(&place, new);
        self.updated[place.inputs].fill(true);
        Ok(())
    }

    /// Checks that a statement whose value is not used has an effect.
    fn discard(&self, value: ExprId) -> Lowered<Value> {
        let discarded = &self.values[value.index()];
        if matches!(discarded, Value::Poison) || self.has_effect(value) {
            return Ok(Value::unit());
        }
        let message = format!("the value of {} is not used", self.text(value));
        let last = value.index() + 2 == self.body.nodes.len();
        let help = match last && self.signature.result.as_ref() != Some(&Structure::UNIT) {
            true => "to make it the result, remove the `;`",
            false => "bind it with `let`, or remove it",
        };
        Err(Diag::new(Code::E1007, self.body[value].site, message).help(help).into())
    }

    /// Whether evaluating an expression has an effect beyond its value: an update of a parameter, or `inspect`.
    fn has_effect(&self, value: ExprId) -> bool {
        match &self.body[value].kind {
            NodeKind::Call { callee, .. } => {
                let name = callee.to_string();
                self.table.updates(&name) || name == "inspect" && !self.is_own_function(&name)
            }
            // The statements inside a block have been checked separately.
            NodeKind::Close { tail } => match tail {
                None => true,
                Some(tail) => self.values[tail.index()].is_unit() || self.has_effect_of_call(*tail),
            },
            NodeKind::Looped { tail, .. } => self.has_effect(*tail),
            _ => false,
        }
    }

    fn has_effect_of_call(&self, value: ExprId) -> bool {
        matches!(&self.body[value].kind, NodeKind::Call { .. }) && self.has_effect(value)
    }

    /// The type of the result, and every output of the module.
    fn result(&mut self) -> Lowered<(Structure, Vec<ValueId>)> {
        let (structure, value) = self.declared(self.body.tail, self.body.nodes.len())?;
        let mut outputs = value.leaves();
        let versions = self.versions.iter().flat_map(|version| version.leaves());
        let updated = versions.zip(&self.updated).filter(|(_, updated)| **updated);
        outputs.extend(updated.map(|(version, _)| version));
        if outputs.is_empty() && self.diags.is_empty() {
            // A statement that could not be read may have updated a parameter.
            if self.body.nodes.iter().any(|node| matches!(node.kind, NodeKind::Unread)) {
                return Err(Stop::Poisoned);
            }
            let name = &self.signature.name;
            let message = format!("`{name}` has no result and updates no parameter");
            return Err(Diag::new(Code::E4014, self.signature.site, message)
                .help("declare a result with `->`, or assign to a `&mut` parameter")
                .into());
        }
        Ok((structure, outputs))
    }

    /// The type and the value of a body whose nodes are the first `nodes` ones. The value is converted to the declared
    /// result type.
    pub(crate) fn declared(&mut self, tail: Option<ExprId>, nodes: usize) -> Lowered<(Structure, Value)> {
        let value = tail.map(|tail| (self.values[tail.index()].clone(), tail));
        let name = self.signature.name.clone();
        Ok(match (&self.signature.result, value) {
            (Some(result), None) if *result == Structure::UNIT => (Structure::UNIT, Value::unit()),
            (Some(result), None) => {
                // An error in the last statement has been reported: a discarded value or an invalid update.
                if self.ends_with_unused_value(nodes) || self.ends_with_refused_update(nodes) {
                    return Err(Stop::Poisoned);
                }
                let message =
                    format!("`{name}` declares the result {result}, but its body ends without a value");
                let help = match self.updated_last(nodes) {
                    Some(target) => {
                        format!("an assignment has no value: end the body with `{target}` after it")
                    }
                    None => "end the body with an expression without `;`".to_owned(),
                };
                return Err(Diag::new(Code::E2001, self.signature.site, message).help(help).into());
            }
            (Some(result), Some((value, tail))) => {
                if *result == Structure::UNIT && !value.is_unit() && !matches!(value, Value::Poison) {
                    let found = self.type_text(&value);
                    let message = format!("`{name}` declares no result, found {found}");
                    let diag = Diag::new(Code::E2001, self.body[tail].site, message);
                    let help = match value {
                        Value::Tensor(_) | Value::Tuple(_) | Value::Struct(_) => {
                            format!("declare it: `-> {found}`")
                        }
                        Value::Literal(_) | Value::Word(_) | Value::Poison => {
                            "declare it, or remove the value".to_owned()
                        }
                    };
                    return Err(diag.help(help).into());
                }
                let result = result.clone();
                let coerced = self.coerce(&value, &result, tail, &format!("result of `{name}`"));
                (result, coerced.map_err(|stop| self.or_declared(stop, &value))?)
            }
            (None, value) => {
                let value =
                    value.map_or_else(|| Ok(Value::unit()), |(value, tail)| self.infer(value, tail))?;
                (self.structure_of(&value), value)
            }
        })
    }

    /// The error for a result that does not fit. If the error has no help, the help is to declare the type that was
    /// found.
    fn or_declared(&self, stop: Stop, value: &Value) -> Stop {
        let Stop::Mistake(mut diag) = stop else { return stop };
        if diag.help.is_none() && matches!(value, Value::Tensor(_) | Value::Tuple(_) | Value::Struct(_)) {
            diag.help = Some(format!("declare `-> {}` if this is intended", self.type_text(value)));
        }
        Stop::Mistake(diag)
    }

    /// The target of the last of the first `nodes` nodes, if that is an update.
    fn updated_last(&self, nodes: usize) -> Option<&Path> {
        match &self.body.nodes[..nodes].last()?.kind {
            NodeKind::Assign { target, .. } => Some(target),
            _ => None,
        }
    }

    /// Whether the last of the first `nodes` nodes is an update for which an error was reported.
    fn ends_with_refused_update(&self, nodes: usize) -> bool {
        let poisoned = |node: usize| matches!(self.values[node], Value::Poison);
        self.updated_last(nodes).is_some() && poisoned(nodes - 1)
    }

    fn ends_with_unused_value(&self, nodes: usize) -> bool {
        let last = self.body.nodes[..nodes].last();
        matches!(last, Some(node) if matches!(node.kind, NodeKind::Discard(_) | NodeKind::Unread))
    }
}

/// Whether a name is in upper case, as constants of Rust are.
fn is_constant_of_rust(name: &str) -> bool {
    let is_upper = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    name.len() > 1 && name.chars().all(is_upper) && name.chars().any(|letter| letter.is_ascii_uppercase())
}
