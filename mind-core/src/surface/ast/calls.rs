//! The calls in a body, and the beginnings and ends of inlined templates in it.

use super::body::{Body, NodeKind};
use super::{Callee, Home};
use crate::diag::Site;

/// The role of a node in calls.
enum Calling<'n> {
    /// Calls a function that is looked up by name.
    Function(&'n Callee),
    /// Calls a method, which is a function of the language.
    Method(&'n Callee),
    /// Begins the body of a template with this home.
    In(Home),
    /// Ends the body of a template.
    Out,
    /// None of these.
    No,
}

impl NodeKind {
    fn calling(&self) -> Calling<'_> {
        match self {
            Self::Call { callee, method: false, .. } => Calling::Function(callee),
            Self::Call { callee, method: true, .. } => Calling::Method(callee),
            Self::Transformed { function, .. } => Calling::Function(function),
            Self::Enter { template, .. } => Calling::In(template.home),
            Self::Leave { .. } => Calling::Out,
            _ => Calling::No,
        }
    }

    /// The callee, if the node is a call.
    pub fn callee(&self) -> Option<&Callee> {
        match self.calling() {
            Calling::Function(callee) | Calling::Method(callee) => Some(callee),
            Calling::In(_) | Calling::Out | Calling::No => None,
        }
    }

    /// The callee, if it is looked up by name.
    fn callee_mut(&mut self) -> Option<&mut Callee> {
        let Calling::Function(_) = self.calling() else { return None };
        let (Self::Call { callee, .. } | Self::Transformed { function: callee, .. }) = self else {
            unreachable!("these call functions")
        };
        Some(callee)
    }
}

impl Body {
    /// Every callee, including built-in functions, with the site of the call.
    pub(crate) fn callees(&self) -> impl Iterator<Item = (&Callee, Site)> {
        self.nodes.iter().filter_map(|node| Some((node.kind.callee()?, node.site)))
    }

    /// The callees that are looked up in the block of the body. Those inside templates of other blocks and of the
    /// library are not.
    pub(crate) fn callees_here(&self) -> impl Iterator<Item = (&Callee, Site)> {
        let mut homes = Vec::new();
        self.nodes.iter().filter_map(move |node| {
            let callee = match node.kind.calling() {
                Calling::Function(callee) | Calling::Method(callee) => callee,
                Calling::In(home) => {
                    homes.push(home);
                    return None;
                }
                Calling::Out => {
                    homes.pop();
                    return None;
                }
                Calling::No => return None,
            };
            let is_here = homes.last().is_none_or(|home| *home == Home::ThisBlock);
            is_here.then_some((callee, node.site))
        })
    }

    /// Every callee except methods.
    pub(crate) fn callees_mut(&mut self) -> impl Iterator<Item = &mut Callee> {
        self.nodes.iter_mut().filter_map(|node| node.kind.callee_mut())
    }
}
