//! The state of the lowering of an expression to an open program.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;

use super::roles::{self, ExprRole, PlaceExpr};
use crate::diag::{Diag, Diags, Site};
use crate::dim::{Bindings, Dim, Symbol};
use crate::open::graph::Graph;
use crate::open::pullbacks::CustomPullback;
use crate::open::{Check, CheckKind, Contract, Demand, Leaf, NodeId};
use crate::surface::ast::{Argument, Body, Callee, ExprId, NodeKind};
use crate::surface::lower::Seen;
use crate::surface::lower::builtins::foreign::{self, ForeignNames};
use crate::surface::lower::callees::table::Table;
use crate::surface::lower::declarations::structure::{Alias, Field, StructType, Structure};
use crate::surface::lower::declarations::types::DimNames;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::literals::Literals;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::pullbacks::Pullback;
use crate::surface::lower::values::templates::{self, Frame};
use crate::surface::lower::values::{Lowered, Record, Value, VariableScopes};
use crate::written::{self, ExtentRef};

/// The state of the lowering of an expression.
pub(super) struct ExpressionLowering<'a> {
    pub(super) body: &'a Body,
    /// The text of each node of the body, as messages show it.
    pub(super) texts: Vec<String>,
    pub(super) roles: Vec<ExprRole>,
    /// The value of each node of the body.
    pub(super) values: Vec<Value<NodeId>>,
    /// Places of which only a field is read, until the node that reads it is lowered.
    pub(super) places: BTreeMap<ExprId, PlaceExpr>,
    /// The places that template parameters and names in patterns are bound to.
    pub(super) passed: Vec<PlaceExpr>,
    pub(super) literals: Literals,
    /// The bindings of `let`.
    pub(super) names: VariableScopes<NodeId>,
    pub(super) leaves: Vec<Leaf>,
    /// The leaf of each place.
    pub(super) leaf_of: BTreeMap<String, NodeId>,
    /// The struct at each place that is declared to be one.
    pub(super) records: BTreeMap<String, Record<NodeId>>,
    /// The private struct fields that are named. Rust checks whether they are accessible.
    pub(super) seen: Vec<Seen>,
    /// The templates whose bodies are being lowered, innermost last.
    pub(super) frames: Vec<Frame<NodeId, BTreeMap<usize, usize>>>,
    /// The pullbacks whose bodies are being lowered, innermost last.
    pub(super) pullbacks: Vec<OpenPullback>,
    /// The scopes of imported templates.
    pub(super) table: &'a Table,
    /// The constants and structs that the expression imports.
    pub(super) imported: DimNames,
    /// The extents that symbols in dims stand for: the node, which of its extents, and the argument that gave the node.
    pub(super) extents: BTreeMap<Symbol, (NodeId, ExtentRef, ExprId)>,
    pub(super) graph: Graph,
    pub(super) checks: Vec<Check>,
    pub(super) diags: Diags,
    /// The mistakes that have been reported, so as not to report them again.
    pub(super) reported: BTreeSet<String>,
}

/// A pullback whose body is being lowered.
pub(super) type OpenPullback = Pullback<NodeId, CustomPullback>;

impl Expressions for ExpressionLowering<'_> {
    type Tensor = NodeId;

    fn body(&self) -> &Body {
        self.body
    }

    fn value(&self, expr: ExprId) -> &Value<NodeId> {
        &self.values[expr.index()]
    }

    fn literals(&self) -> &Literals {
        &self.literals
    }

    fn literals_mut(&mut self) -> &mut Literals {
        &mut self.literals
    }

    fn dims(&self) -> &DimNames {
        self.frames.last().map_or(&self.imported, |frame| &frame.dims)
    }

    fn is_in_template(&self) -> bool {
        !self.frames.is_empty()
    }

    fn tensor_type(&self, _: NodeId) -> Option<String> {
        None
    }

    /// Structs of one definition count as the same if only Rust knows the dimensions of one. A check then compares
    /// them.
    fn is_same_struct(&self, one: &StructType, other: &StructType) -> bool {
        one == other || (one.is_open() || other.is_open()) && one.is_of(&other.definition)
    }

    /// The site of a node. Inside templates it is the site of the outermost call.
    fn site(&self, expr: ExprId) -> Site {
        self.frames.first().and_then(|frame| frame.site).unwrap_or(self.body[expr].site)
    }

    fn short_text(&self, expr: ExprId) -> String {
        self.texts[expr.index()].clone()
    }

    fn text(&self, expr: ExprId) -> String {
        let text = self.short_text(expr);
        let is_place = match &self.body[expr].kind {
            NodeKind::Name(_) | NodeKind::Member { .. } => true,
            NodeKind::Typed { operand, .. } => {
                matches!(self.body[*operand].kind, NodeKind::Name(_) | NodeKind::Member { .. })
            }
            // An element of a Rust tuple, not of one that a `let` has bound.
            NodeKind::Field { .. } => matches!(
                self.values.get(expr.index()),
                Some(Value::Tensor(node)) if self.graph.node(*node).op.is_input()
            ),
            _ => false,
        };
        if is_place { text } else { format!("`{text}`") }
    }
}

impl Lower for ExpressionLowering<'_> {
    fn values_mut(&mut self) -> &mut Vec<Value<NodeId>> {
        &mut self.values
    }

    fn names_mut(&mut self) -> &mut VariableScopes<NodeId> {
        &mut self.names
    }

    fn diags_mut(&mut self) -> &mut Diags {
        &mut self.diags
    }

    fn reported_mut(&mut self) -> &mut BTreeSet<String> {
        &mut self.reported
    }

    fn key(name: &Ident) -> String {
        roles::key(name)
    }

    /// Records a private field, for Rust to check. A template may name the fields that its own scope may.
    fn sees(&mut self, ty: &StructType, field: &Ident) -> Lowered<()> {
        let is_private = |known: &Field| known.name == *field && !known.is_public;
        if self.frames.is_empty() && ty.definition.fields.iter().any(is_private) {
            let mut ty = Structure::Struct(ty.clone());
            self.imported.give_aliases(&mut ty, Site::token(field.span()))?;
            let Structure::Struct(ty) = ty else { unreachable!("it was made a struct just above") };
            let Some(Alias { name: alias, .. }) = ty.alias else {
                unreachable!("an expression has no structs of its own")
            };
            let (dims, field) = (ty.definition.base().0.symbols.len(), field.clone());
            if !self.seen.iter().any(|seen| seen.alias == alias && seen.field == field) {
                self.seen.push(Seen { alias, dims, field });
            }
        }
        Ok(())
    }

    fn check_same(
        &mut self,
        label: &str,
        (first, first_text): (&Record<NodeId>, &str),
        (other, other_text): (&Record<NodeId>, &str),
        expr: ExprId,
    ) {
        if !first.ty.is_open() && !other.ty.is_open() {
            return;
        }
        let structure = Structure::Struct((*first.ty).clone());
        let nodes = |record: &Record<NodeId>| Value::Struct(record.clone()).leaves();
        for ((leaf, a), b) in structure.named_leaves().iter().zip(nodes(first)).zip(nodes(other)) {
            if a == b {
                continue;
            }
            let [a_text, b_text] = [first_text, other_text].map(|text| format!("{text}.{}", leaf.text()));
            let contract = Contract {
                label: format!("{label}: {b_text} beside {a_text}"),
                pattern: String::new(),
                demand: Demand::Type,
                others: vec![(a, a_text)],
            };
            let kind = CheckKind::Argument(contract.into());
            self.checks.push(Check { kind, node: b, text: b_text, site: self.site(expr) });
        }
    }

    fn argument_site(&self, expr: ExprId) -> Option<Site> {
        templates::argument_site(&self.frames, self.body, expr)
    }

    fn at_call(&self, diag: Diag) -> Diag {
        self.named_frames().fold(diag, |diag, frame| {
            let message = format!("in `{}`: {}", frame.name(), diag.message);
            Diag { message, site: frame.site.unwrap_or(diag.site), ..diag }
        })
    }
}

impl ForeignNames for ExpressionLowering<'_> {
    fn is_unbound(&self, name: &str) -> bool {
        self.names.get(name).is_none()
    }

    fn is_own_function(&self, _: &str) -> bool {
        false
    }

    fn is_call_of_library(&self, callee: &Callee, arguments: &[Argument]) -> bool {
        let Some(receiver) = arguments.first().filter(|receiver| self.is_library(receiver.value)) else {
            return false;
        };
        // To be a field, `jax.nn` would need a variable named `jax`.
        let is_tensor = |expr: ExprId| foreign::is_tensor(self.value(expr));
        matches!(self.body[receiver.value].kind, NodeKind::Name(_) | NodeKind::Member { .. })
            && foreign::makes_no_sense_as_method(callee, arguments, is_tensor)
    }
}

impl ExpressionLowering<'_> {
    /// The templates around the current node, innermost first.
    pub(super) fn within(&self) -> String {
        let names: Vec<_> = self.named_frames().map(Frame::name).collect();
        names.join("` in `")
    }

    /// The templates around the current node that messages name, innermost first.
    fn named_frames(&self) -> impl Iterator<Item = &Frame<NodeId, BTreeMap<usize, usize>>> {
        self.frames.iter().rev().filter(|frame| !frame.template.is_private())
    }

    /// A new symbol for the extent of an axis, or of several axes.
    pub(super) fn extent_symbol(
        &mut self,
        name: &str,
        node: NodeId,
        what: ExtentRef,
        argument: ExprId,
    ) -> Dim {
        let symbol: Symbol = format!("{name}#{}", self.extents.len()).as_str().into();
        self.extents.insert(symbol.clone(), (node, what, argument));
        Dim::symbol(symbol)
    }

    /// Rewrites a dim over extents of nodes as one over extents of operands. `operands` starts at position `first`;
    /// nodes that are missing are appended.
    pub(super) fn over_operands(&self, dim: &Dim, first: usize, operands: &mut Vec<(NodeId, ExprId)>) -> Dim {
        // Equal extents become one symbol, which may cancel. Then the node is no operand.
        let mut same = Bindings::new();
        dim.for_each_symbol(&mut |symbol| {
            let (node, what, _) = self.extents[symbol];
            let mut all = self.extents.iter();
            let first = all.find(|(_, (other, same, _))| (*other, *same) == (node, what));
            same.insert(symbol.clone(), Dim::symbol(first.map_or(symbol, |(first, _)| first).clone()));
        });
        let dim = &dim.substitute(&same).unwrap_or_else(|_| dim.clone());
        let (known, mut bindings) = (operands.len(), Bindings::new());
        dim.for_each_symbol(&mut |symbol| {
            let (node, what, argument) = self.extents[symbol];
            let place = operands.iter().position(|(known, _)| *known == node).unwrap_or_else(|| {
                operands.push((node, argument));
                operands.len() - 1
            });
            bindings.insert(symbol.clone(), written::extent_symbol(first + place, what));
        });
        dim.substitute(&bindings).unwrap_or_else(|_| {
            // The sum of terms of one extent overflows 64 bits. Each symbol then becomes a separate operand.
            operands.truncate(known);
            bindings.clear();
            dim.for_each_symbol(&mut |symbol| {
                if !bindings.contains_key(symbol) {
                    let (node, what, argument) = self.extents[symbol];
                    bindings.insert(symbol.clone(), written::extent_symbol(first + operands.len(), what));
                    operands.push((node, argument));
                }
            });
            dim.substitute(&bindings).expect("only the names of symbols differ")
        })
    }
}
