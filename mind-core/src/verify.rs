//! The verifier: the only way from a module to one that later phases trust.

use std::ops::Deref;

use crate::{ir::Module, ops::Profile};

/// A module that keeps every rule of its profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    module: Module,
    profile: Profile,
}

impl Verified {
    /// The profile that the module was verified against.
    pub const fn profile(&self) -> Profile {
        self.profile
    }
}

impl Deref for Verified {
    type Target = Module;
    fn deref(&self) -> &Module {
        &self.module
    }
}
