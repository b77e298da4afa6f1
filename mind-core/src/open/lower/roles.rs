//! What stands for a leaf, and what the node around an expression makes of it.

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream, TokenTree};

use crate::surface::ast::{Body, Formal, NodeKind, Pattern, TypeExpr, TypeKind};
use crate::surface::lower::builtins;

/// A Rust place on its way to being a leaf.
#[derive(Clone)]
pub(super) struct PlaceExpr {
    pub(super) tokens: TokenStream,
    /// As it is written.
    pub(super) text: String,
    /// The same, told apart from others that only look the same.
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

/// The formal whose argument may be a word.
const PADDING: &str = "padding";

/// What the node around an expression makes of it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    /// Its value is used.
    Value,
    /// Only a field of it is.
    Base,
    /// It is named anew, for a template or by a pattern, where its value or fields of it are used.
    Passed,
    /// It may be `same` or `valid`.
    Padding,
}

/// The role of each node.
pub(super) fn roles(body: &Body) -> Vec<Role> {
    let mut roles = vec![Role::Value; body.nodes.len()];
    for node in &body.nodes {
        match &node.kind {
            NodeKind::Member { base, .. } | NodeKind::Field { base, .. } => roles[base.index()] = Role::Base,
            NodeKind::Call { callee, arguments, .. } => {
                let builtin = builtins::find(&callee.to_string());
                let place =
                    builtin.and_then(|builtin| builtin.formals.iter().position(|formal| *formal == PADDING));
                for (position, argument) in arguments.iter().enumerate().filter(|_| place.is_some()) {
                    let named = argument.name.as_ref().is_some_and(|name| name == PADDING);
                    if named || argument.name.is_none() && place == Some(position) {
                        roles[argument.value.index()] = Role::Padding;
                    }
                }
            }
            // What flows back to a parameter flows to its value.
            NodeKind::Enter { template, arguments }
                if template.body.as_ref().is_some_and(|body| body.pullback().is_none()) =>
            {
                let open = template.parameters.iter().zip(arguments);
                let open = open.filter(|(parameter, _)| matches!(parameter.takes, Formal::Any));
                open.filter_map(|(_, argument)| *argument)
                    .for_each(|argument| roles[argument.index()] = Role::Passed);
            }
            NodeKind::Let { pattern: Pattern::Struct { .. }, ty: None, value }
            | NodeKind::Let { ty: Some(TypeExpr { kind: TypeKind::Struct { .. }, .. }), value, .. }
            | NodeKind::Typed { operand: value, ty: TypeExpr { kind: TypeKind::Struct { .. }, .. } }
            | NodeKind::Struct { base: Some(value), .. } => roles[value.index()] = Role::Passed,
            _ => {}
        }
    }
    roles
}

/// What tells a name from others. Names that look the same are not, where one of them comes from another macro: the
/// compiler shows that only in the debug form of a span, `#3 bytes(8..9)`.
pub(super) fn key(name: &Ident) -> String {
    let span = format!("{:?}", name.span());
    match span.strip_prefix('#').and_then(|rest| rest.split_once(' ')) {
        Some((context, _)) => format!("{name}#{context}"),
        None => name.to_string(),
    }
}
