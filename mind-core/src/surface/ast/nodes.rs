//! The scopes and operands of the nodes of a body.

use super::{Argument, ExprId, Loop, NodeKind, Pattern, SubscriptKind};

/// Where a node begins or ends the visibility of names.
pub enum Scope<'a> {
    /// It begins a scope in which these patterns are bound.
    Begins {
        /// The patterns, in source order.
        patterns: Vec<&'a Pattern>,
        /// Whether the scope is evaluated more than once.
        repeats: bool,
    },
    /// It ends the scope that began last.
    Ends,
}

impl NodeKind {
    /// The scope that it begins or ends.
    pub fn scope(&self) -> Option<Scope<'_>> {
        let begins = |patterns, repeats| Some(Scope::Begins { patterns, repeats });
        match self {
            Self::Open => begins(Vec::new(), false),
            Self::Pullback { value, cotangent, .. } => begins(vec![value, cotangent], false),
            Self::Loop(of) => {
                let carry = of.carry.iter().map(|(pattern, _)| pattern);
                begins(carry.chain([&of.element]).collect(), true)
            }
            Self::While { carry, .. } => begins(vec![carry], true),
            Self::Close { .. } | Self::PulledBack { .. } | Self::Looped { .. } => Some(Scope::Ends),
            _ => None,
        }
    }

    /// Whether its text ends with a block, so that it is a statement without a `;`.
    pub fn ends_with_block(&self) -> bool {
        matches!(self, Self::Close { .. } | Self::Looped { .. } | Self::Branched { .. })
    }

    /// Whether `expr` is one of its operands.
    pub(super) fn uses(&self, expr: ExprId) -> bool {
        self.clone().operands_mut().into_iter().any(|operand| *operand == expr)
    }

    /// Every operand.
    pub(crate) fn operands_mut(&mut self) -> Vec<&mut ExprId> {
        fn values(arguments: &mut [Argument]) -> impl Iterator<Item = &mut ExprId> {
            arguments.iter_mut().map(|argument| &mut argument.value)
        }
        match self {
            Self::Unread
            | Self::Number(_)
            | Self::Bool(_)
            | Self::Text(_)
            | Self::Name(_)
            | Self::Path(_)
            | Self::Pack(_)
            | Self::Rust { .. }
            | Self::Open => Vec::new(),
            Self::Prefix { operand, .. } | Self::Typed { operand, .. } => vec![operand],
            Self::Binary { lhs, rhs, .. } => vec![lhs, rhs],
            Self::Call { arguments, .. } | Self::Transformed { arguments, .. } => values(arguments).collect(),
            Self::Transpose { base, .. } | Self::Field { base, .. } | Self::Member { base, .. } => vec![base],
            Self::Derivative(derivative) => {
                let places = derivative.wrt.iter_mut().map(|target| &mut target.place);
                [&mut derivative.value].into_iter().chain(places).chain(&mut derivative.cotangent).collect()
            }
            Self::Struct { fields, base, .. } => {
                fields.iter_mut().map(|field| &mut field.value).chain(base).collect()
            }
            Self::Subscript { base, subscripts } => {
                let parts = subscripts.iter_mut().flat_map(|subscript| match &mut subscript.kind {
                    SubscriptKind::At(at) => vec![at],
                    SubscriptKind::Range { start, end, step } => {
                        [start, end, step].into_iter().flatten().collect()
                    }
                    SubscriptKind::Counted { start, count } => vec![start, count],
                    SubscriptKind::Rest | SubscriptKind::New => Vec::new(),
                });
                [base].into_iter().chain(parts).collect()
            }
            Self::Array(elements) | Self::Tuple(elements) => elements.iter_mut().collect(),
            Self::Close { tail } | Self::PulledBack { tail } => tail.iter_mut().collect(),
            Self::Pullback { of, .. } => of.iter_mut().collect(),
            Self::Loop(Loop { carry, over, end, options, .. }) => {
                let first = carry.iter_mut().map(|(_, first)| first);
                first.chain([over]).chain(end).chain(&mut options.checkpoint).collect()
            }
            Self::While { first, .. } => vec![first],
            Self::Tested { head, test, most, checkpoint } => {
                [head, test].into_iter().chain(most).chain(checkpoint).collect()
            }
            Self::If { test } => vec![test],
            Self::Else { head, tail } | Self::Branched { head, tail } | Self::Looped { head, tail } => {
                vec![head, tail]
            }
            Self::Let { value, .. } | Self::Discard(value) => vec![value],
            Self::Assign { part, value, .. } => part.iter_mut().chain([value]).collect(),
            Self::Enter { arguments, .. } => arguments.iter_mut().flatten().collect(),
            Self::Leave { arguments, tail, .. } => values(arguments).chain(tail).collect(),
        }
    }
}
