//! What a body calls, and where the bodies of templates begin and end in it.

use super::body::{Body, NodeKind};
use super::{Callee, Home};
use crate::diag::Site;

/// What a node has to do with what is called.
enum Calling<'n> {
    /// It calls what is looked up by a name.
    Function(&'n Callee),
    /// It calls a method, which is a function of the language.
    Method(&'n Callee),
    /// The body of a template of this home begins.
    In(Home),
    /// It ends.
    Out,
    /// Nothing.
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

    /// What it calls, if it is a call.
    pub fn callee(&self) -> Option<&Callee> {
        match self.calling() {
            Calling::Function(callee) | Calling::Method(callee) => Some(callee),
            Calling::In(_) | Calling::Out | Calling::No => None,
        }
    }

    /// What it calls by a name that is looked up.
    fn callee_mut(&mut self) -> Option<&mut Callee> {
        let Calling::Function(_) = self.calling() else { return None };
        let (Self::Call { callee, .. } | Self::Transformed { function: callee, .. }) = self else {
            unreachable!("these call functions")
        };
        Some(callee)
    }
}

impl Body {
    /// Every name that is called, built-in ones too, with the call.
    pub(crate) fn callees(&self) -> impl Iterator<Item = (&Callee, Site)> {
        self.nodes.iter().filter_map(|node| Some((node.kind.callee()?, node.site)))
    }

    /// The callees that mean what they mean around the body, not those of templates of other blocks.
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
            let is_here = homes.last().is_none_or(|home| *home == Home::Here);
            is_here.then_some((callee, node.site))
        })
    }

    /// Every callee but those of methods.
    pub(crate) fn callees_mut(&mut self) -> impl Iterator<Item = &mut Callee> {
        self.nodes.iter_mut().filter_map(|node| node.kind.callee_mut())
    }
}
