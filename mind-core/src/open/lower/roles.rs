//! Rust places, and the use that the surrounding node makes of each expression.

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream, TokenTree};

use crate::surface::ast::{Body, Formal, NodeKind, Pattern, TypeExpr, TypeKind};
use crate::surface::lower::builtins;

/// A Rust place that may become a leaf.
#[derive(Clone)]
pub(super) struct PlaceExpr {
    pub(super) tokens: TokenStream,
    /// The place as written.
    pub(super) text: String,
    /// The text as a key: places that only look the same have different keys.
    pub(super) key: String,
}

impl PlaceExpr {
    pub(super) fn push(&mut self, field: TokenTree, span: Span) {
        let mut dot = Punct::new('.', Spacing::Alone);
        dot.set_span(span);
        for text in [&mut self.text, &mut self.key] {
            text.push('.');
            text.push_str(&field.to_string());
        }
        self.tokens.extend([TokenTree::Punct(dot), field]);
    }
}

/// The name of the parameter whose argument may be a word.
const PADDING: &str = "padding";

/// The use that the surrounding node makes of an expression.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ExprRole {
    /// Its value is used.
    Value,
    /// Only a field of it is used.
    Base,
    /// It is bound to another name by a template or a pattern. The value or fields of it are used there.
    Passed,
    /// It may be `same` or `valid`.
    Padding,
}

/// The role of each node.
pub(super) fn roles(body: &Body) -> Vec<ExprRole> {
    let mut roles = vec![ExprRole::Value; body.nodes.len()];
    for node in &body.nodes {
        match &node.kind {
            NodeKind::Member { base, .. } | NodeKind::Field { base, .. } => {
                roles[base.index()] = ExprRole::Base
            }
            NodeKind::Call { callee, arguments, .. } => {
                let builtin = builtins::find(&callee.to_string());
                let place =
                    builtin.and_then(|builtin| builtin.formals.iter().position(|formal| *formal == PADDING));
                for (position, argument) in arguments.iter().enumerate().filter(|_| place.is_some()) {
                    let named = argument.name.as_ref().is_some_and(|name| name == PADDING);
                    if named || argument.name.is_none() && place == Some(position) {
                        roles[argument.value.index()] = ExprRole::Padding;
                    }
                }
            }
            // A pullback contributes to the values of its parameters, so it needs values, not places.
            NodeKind::Enter { template, arguments }
                if template.body.as_ref().is_some_and(|body| body.pullback().is_none()) =>
            {
                let open = template.parameters.iter().zip(arguments);
                let open = open.filter(|(parameter, _)| matches!(parameter.takes, Formal::Any));
                open.filter_map(|(_, argument)| *argument)
                    .for_each(|argument| roles[argument.index()] = ExprRole::Passed);
            }
            NodeKind::Let { pattern: Pattern::Struct { .. }, ty: None, value }
            | NodeKind::Let { ty: Some(TypeExpr { kind: TypeKind::Struct { .. }, .. }), value, .. }
            | NodeKind::Typed { operand: value, ty: TypeExpr { kind: TypeKind::Struct { .. }, .. } }
            | NodeKind::Struct { base: Some(value), .. } => roles[value.index()] = ExprRole::Passed,
            _ => {}
        }
    }
    roles
}

/// A key that distinguishes names. Names that look the same differ if one of them comes from another macro. The
/// compiler shows this only in the debug form of a span, `#3 bytes(8..9)`.
pub(super) fn key(name: &Ident) -> String {
    let span = format!("{:?}", name.span());
    match span.strip_prefix('#').and_then(|rest| rest.split_once(' ')) {
        Some((context, _)) => format!("{name}#{context}"),
        None => name.to_string(),
    }
}
