//! The canonical form that later phases read.

use std::ops::Deref;

use crate::{ir::Module, verify::Verified};

/// A verified module in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical(Verified);

impl Deref for Canonical {
    type Target = Module;
    fn deref(&self) -> &Module {
        &self.0
    }
}
