//! Optimisations: inlining small functions, and not building tensors.
//!
//! Derivatives are generated after the optimisations and benefit from them. For example, the reverse mode runs a loop
//! without calls again, but needs a tape per iteration for a loop with calls. Results do not change. If several
//! instructions fail, a different one may fail first.

mod failures;
mod fuse;
mod inline;
mod pointwise;
mod share;
mod strided;

pub(super) use pointwise::{Pointwise, pointwise};
pub(super) use strided::{Access, Form, Product, Strided, strided};

use crate::{
    grad::forward,
    ir::{Definition, FunctionId, Program},
};

impl Program {
    /// Optimises every function with a body.
    pub fn optimise(&mut self) {
        for position in 0..self.functions.len() {
            let Definition::Defined(body) = &self.functions[position].definition else { continue };
            let mut body = inline::inline(self, FunctionId::new(position), body.clone());
            forward(&mut body);
            failures::prune(&self.types, &mut body);
            share::share(&mut body);
            fuse::fuse(&mut body);
            forward(&mut body);
            failures::prune(&self.types, &mut body);
            self.functions[position].definition = Definition::Defined(body);
        }
    }
}
