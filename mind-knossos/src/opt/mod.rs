//! Optimisations: inlining small functions and base cases, and not building tensors, or only where they are used.
//!
//! Derivatives are generated after the optimisations and benefit from them. For example, the reverse mode runs a loop
//! without calls again, but needs a tape per iteration for a loop with calls. Results do not change. If several
//! instructions fail, a different one may fail first.

mod base_case;
mod failures;
mod fuse;
mod inline;
mod pointwise;
mod share;
mod sink;
mod strided;

pub(super) use pointwise::{Pointwise, pointwise};
pub(super) use strided::{Access, Form, Product, Strided, strided};

use crate::{
    grad::forward,
    ir::{Body, Definition, FunctionId, Program},
};

impl Program {
    /// Optimises every function with a body.
    pub fn optimise(&mut self) {
        for id in (0..self.functions.len()).map(FunctionId::new) {
            let Definition::Defined(body) = &self.function(id).definition else { continue };
            let body = inline::inline(self, id, body.clone());
            self.simplify(id, body);
        }
    }

    /// Inlines the base cases of recursive functions. Derivatives must be complete, because those of a function that is
    /// linear in its calls are found by the form of its body.
    pub fn inline_base_cases(&mut self) {
        for id in (0..self.functions.len()).map(FunctionId::new) {
            if let Some(body) = base_case::inline_base_case(self, id) {
                self.simplify(id, body);
            }
        }
    }

    fn simplify(&mut self, id: FunctionId, mut body: Body) {
        forward(&mut body);
        failures::prune(&self.types, &mut body);
        share::share(&mut body);
        fuse::fuse(&mut body);
        sink::sink(&self.types, &mut body);
        forward(&mut body);
        failures::prune(&self.types, &mut body);
        self.functions[id.index()].definition = Definition::Defined(body);
    }
}
