//! Lowers the AST of an expression to an open program: places, names, calls, literals.
//!
//! As in the lowering of functions, a body is a flat list, which a loop lowers. A mistake makes the value of its node
//! poison, and no further mistake is reported for nodes that use poison.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Graph, MAX_NODES};
use super::{Annotation, FieldType, NodeId, Program, Structure, finish};
use crate::diag::{Code, Diag, Diags, Site};
use crate::surface::ast::{ExprId, Expression, NodeKind, Pattern, TypeExpr, TypeKind};
use crate::surface::lower::Structure as TypeStructure;
use crate::surface::lower::builtins::operations::Operations;
use crate::surface::lower::callees::table::Table;
use crate::surface::lower::declarations::types::DimNames;
use crate::surface::lower::program::library::{Library, add_library};
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::literals::Literals;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::pullbacks::Pullbacks;
use crate::surface::lower::values::templates::Templates;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Stop, Value, VariableScopes, Word};

mod calls;
mod derivatives;
mod ellipses;
mod loops;
mod lowering;
mod picking;
mod places;
mod pullbacks;
mod records;
mod roles;
mod spots;
mod templates;
mod tensors;

use lowering::ExpressionLowering;

/// Lowers an expression over Rust variables. Returns no program if it has a mistake.
///
/// ```
/// use mind_core::{open, surface::parse_expression};
/// let (expression, _) = parse_expression("relu(x @ self.w + 1.0)".parse().unwrap());
/// let (program, diags) = open::lower(&expression.unwrap());
/// assert!(diags.is_empty());
/// let texts: Vec<_> = program.unwrap().leaves.into_iter().map(|leaf| leaf.text).collect();
/// assert_eq!(texts, ["x", "self.w"]);
/// ```
///
/// # Errors
/// The second value holds every mistake that can be found without types.
pub fn lower(expression: &Expression) -> (Option<Program>, Diags) {
    lower_with(expression, &Library::default())
}

/// As [`lower()`], with the templates that the expression imports.
///
/// # Errors
/// As for [`lower()`].
pub fn lower_with(expression: &Expression, library: &Library) -> (Option<Program>, Diags) {
    let (mut table, mut mistakes) = (Table::new(Vec::new()), Diags::new());
    let templates = add_library(&mut table, library, &expression.imports, &mut mistakes);
    let mut body = Cow::Borrowed(&expression.body);
    if body.callees().any(|(callee, _)| templates.has(callee)) {
        templates.inline(body.to_mut(), &mut mistakes);
    }
    let body = &*body;
    let mut lowering = ExpressionLowering {
        body,
        texts: body.short_texts(),
        roles: roles::roles(body),
        values: Vec::with_capacity(body.nodes.len()),
        places: BTreeMap::new(),
        passed: Vec::new(),
        literals: Literals::default(),
        names: VariableScopes::default(),
        leaves: Vec::new(),
        leaf_of: BTreeMap::new(),
        records: BTreeMap::new(),
        seen: Vec::new(),
        frames: Vec::new(),
        pullbacks: Vec::new(),
        table: &table,
        imported: DimNames { may_be_open: true, ..library.names(&expression.imports) },
        extents: BTreeMap::new(),
        graph: Graph::default(),
        checks: Vec::new(),
        diags: mistakes,
        reported: BTreeSet::new(),
    };
    lowering.lower_nodes();
    lowering.refuse_fields_of_tensors();
    let result = lowering.result(expression);
    let (structure, annotation) = match result {
        Ok(result) => result,
        Err(stop) => {
            lowering.report(stop);
            return (None, lowering.diags);
        }
    };
    let ExpressionLowering { leaves, graph, checks, diags, seen, .. } = lowering;
    if !diags.is_empty() {
        return (None, diags);
    }
    let program = finish::Parts { leaves, graph, checks, result: structure, annotation, seen };
    (Some(program.finish(expression.late, expression.site)), diags)
}

impl ExpressionLowering<'_> {
    fn lower_node(&mut self, expr: ExprId) -> Lowered<Value<NodeId>> {
        let body = self.body;
        self.check_size(expr)?;
        match &body[expr].kind {
            NodeKind::Unread => Err(Stop::Poisoned),
            NodeKind::Number(number) => Ok(Value::Literal(self.literals.number(number.clone(), expr))),
            NodeKind::Text(_) => Ok(Value::Word(Word::Text)),
            NodeKind::Bool(value) => Ok(Value::Literal(self.literals.truth(*value, expr))),
            NodeKind::Name(name) => self.name(name, expr),
            NodeKind::Path(path) => self.constant_by_path(path, expr),
            NodeKind::Pack(name) => self.pack(name, expr),
            NodeKind::Member { base, name } => self.member(*base, name, expr),
            NodeKind::Field { base, index, field } => self.field(*base, *index, *field, expr),
            NodeKind::Rust { tokens, text } => Ok(self.rust(tokens, text, expr)),
            NodeKind::Typed { operand, ty } => self.typed(*operand, ty),
            NodeKind::Prefix { map, operand, operator } => self.prefix(*map, *operand, *operator, expr),
            NodeKind::Binary { op, operator, lhs, rhs } => self.binary(*op, *operator, (*lhs, *rhs), expr),
            NodeKind::Call { callee, arguments, method } => self.call(callee, arguments, *method, expr),
            NodeKind::Transpose { base, axes } => self.transpose(*base, *axes, expr),
            NodeKind::Subscript { base, subscripts } => self.subscript(*base, subscripts, expr),
            NodeKind::Derivative(derivative) => self.derivative(derivative, expr),
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
                self.let_statement(pattern, ty.as_ref(), *value);
                Ok(Value::unit())
            }
            NodeKind::Assign { target, .. } => {
                let message = format!("`{target}` cannot be assigned to: an expression only reads");
                Err(Diag::new(Code::E2010, Site::token(target.name.span()), message)
                    .help(format!("name the new value with `let {target} = …`, or assign to it in Rust"))
                    .into())
            }
            NodeKind::Discard(value) => {
                if !matches!(self.value(*value), Value::Poison) {
                    let message = format!("the value of {} is not used", self.text(*value));
                    let diag = Diag::new(Code::E1007, self.site(*value), message);
                    self.report(
                        diag.help("bind it with `let`, or remove the `;` after the last expression").into(),
                    );
                }
                Err(Stop::Poisoned)
            }
            NodeKind::Pullback { value, cotangent, of } => {
                self.enter_pullback([value, cotangent], *of, expr);
                Ok(Value::unit())
            }
            NodeKind::PulledBack { tail } => self.leave_pullback(*tail, expr),
            NodeKind::Loop(of) => {
                self.enter_loop(of);
                Ok(Value::unit())
            }
            NodeKind::While { carry, first } => {
                self.enter_while(carry, *first);
                Ok(Value::unit())
            }
            NodeKind::Tested { .. } | NodeKind::If { .. } | NodeKind::Else { .. } => Ok(Value::unit()),
            NodeKind::Looped { head, .. } => self.leave_loop(*head),
            NodeKind::Branched { .. } => Err(self.in_functions_only("an `if`", expr)),
            NodeKind::Enter { template, arguments } => {
                self.enter_template(template, arguments, expr);
                Ok(Value::unit())
            }
            NodeKind::Leave { .. } => unreachable!("the caller has seen the end of a template"),
            NodeKind::Struct { name, fields, base } => self.struct_of_places(name, fields, *base, expr),
            NodeKind::Transformed { transforms, .. } => {
                let message = "found a transform of a function, expected one of an expression";
                let site = transforms.first().map_or(body[expr].site, |transform| transform.site);
                Err(Diag::new(Code::E1007, site, message).into())
            }
        }
    }

    /// Returns E1008 if the graph exceeds the limit, as gradients of gradients may.
    fn check_size(&mut self, expr: ExprId) -> Lowered<()> {
        if self.graph.nodes.len() <= MAX_NODES {
            return Ok(());
        }
        let site = self.site(expr);
        Err(self.once("size".to_owned(), || {
            let message = format!("the expression exceeds the limit of {MAX_NODES} operations");
            Diag::new(Code::E1008, site, message).help("move a part into a function of a `mind!` block")
        }))
    }

    fn let_statement(&mut self, pattern: &Pattern, ty: Option<&TypeExpr>, expr: ExprId) {
        if let Some(ty) = ty.filter(|ty| matches!(ty.kind, TypeKind::Struct { .. })) {
            let value = self.of_struct(expr, ty);
            let value = self.value_or_poison(value);
            return self.bind(pattern, value, expr);
        }
        if let Some(place) = self.places.remove(&expr) {
            let mut mistakes = Diags::new();
            self.bind_place(pattern, place, &mut mistakes);
            mistakes.into_iter().for_each(|mistake| self.report(mistake.into()));
            return;
        }
        self.bind_declared(pattern, ty, expr);
    }

    /// The value of the whole expression, and its type annotation.
    fn result(&mut self, expression: &Expression) -> Lowered<(Structure, Option<Annotation>)> {
        let tail = self.body.tail.ok_or(Stop::Poisoned)?;
        let value = self.value(tail).clone();
        let Some(ty) = &expression.ty else {
            let structure = self.structure(&value, tail)?;
            return Ok((structure, None));
        };
        // The annotation is the type of each part in Rust.
        let closed = DimNames { may_be_open: false, ..self.imported.clone() };
        let structure = closed.structure(ty).map_err(tensors::without_symbols)?;
        // The macro checks that the result has exactly this type.
        let checks = self.checks.len();
        let value = self.coerce(&value, &structure, tail, "the result")?;
        self.checks.truncate(checks);
        let annotation = Annotation { structure, site: ty.site };
        Ok((self.structure(&value, tail)?, Some(annotation)))
    }

    /// Converts a value to a result. Literals get their default element types.
    fn structure(&mut self, value: &Value<NodeId>, expr: ExprId) -> Lowered<Structure> {
        match value {
            Value::Poison | Value::Tensor(_) | Value::Literal(_) | Value::Word(_) => {
                let tensor = self.infer(value.clone(), expr)?.tensor();
                Ok(Structure::Node(tensor.expect("a value that is not a tuple or a struct is a tensor")))
            }
            // An unused value has been reported already.
            Value::Tuple(_) if value.is_unit() && !self.diags.is_empty() => Err(Stop::Poisoned),
            Value::Tuple(_) if value.is_unit() => {
                let diag = Diag::new(Code::E4014, self.site(expr), "the expression has no value");
                Err(diag.help("end a block with an expression without `;`").into())
            }
            Value::Tuple(tuple) => {
                let elements: Vec<_> = tuple.elements.iter().cloned().collect();
                let structures = elements.iter().map(|element| self.structure(element, expr));
                structures.collect::<Result<_, _>>().map(Structure::Tuple)
            }
            Value::Struct(record) => {
                record.sound()?;
                let mut ty = TypeStructure::Struct((*record.ty).clone());
                self.imported.give_aliases(&mut ty, self.site(expr))?;
                self.imported.has_rust_types(&ty, self.site(expr))?;
                let fields = ty.named_leaves().into_iter().map(|leaf| match leaf.ty.rank() {
                    0 => FieldType::Number,
                    _ if leaf.axes.iter().all(|axis| axis.typed) => FieldType::Decided,
                    _ => FieldType::Open,
                });
                let parts = value.leaves().into_iter().zip(fields).collect();
                let TypeStructure::Struct(ty) = ty else { unreachable!("it was made a struct just above") };
                Ok(Structure::Struct { ty, parts })
            }
        }
    }
}

#[cfg(test)]
mod tests;
