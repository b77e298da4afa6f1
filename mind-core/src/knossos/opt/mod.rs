//! Less work: small functions where they are called, and tensors that are never built.
//!
//! What is made better here is differentiated afterwards, so derivatives are better too: a loop that calls nothing is run
//! again in its reverse, where one that calls leaves a tape for each turn. Results change in nothing; of several things
//! that fail, another may be the first.

mod failures;
mod fuse;
mod inline;
mod pointwise;
mod share;
mod strided;

pub(super) use pointwise::{Pointwise, pointwise};
pub(super) use strided::{Access, Form, Product, Strided, strided};

use super::{
    grad::forward,
    ir::{Definition, FunctionId, Program},
};

impl Program {
    /// Improves every function that is defined.
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
