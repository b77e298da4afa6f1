//! `einsum`: sums of products over named axes, as a composite of other operations.
//!
//! - `equation.rs` reads the text.
//! - `order.rs` chooses the order of the products.
//! - `contract.rs` makes the operations.

mod contract;
mod equation;
mod order;

pub(crate) use contract::{Contraction, Impossible, Operand, contraction};
pub(crate) use equation::{Equation, Fault, Index, Term};
