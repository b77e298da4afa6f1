//! Bare expressions: programs among Rust variables, whose types the macro does not see.
//!
//! An open program ([`Program`]) is what `mind!(relu(x @ w + b))` comes to before anyone knows what `x` is. It is a form of
//! its own, not Core IR: there every value has a type, here none has. Its operations are those of the surface language,
//! attributes as they are written (`axes = [-1]` stays -1), and those of gradients, which take shapes from a *witness*, an
//! operand of which only the type is read.
//!
//! Given types for its leaves an open program becomes Core IR, which is how it is tested; the macro instead emits code in
//! which each node's type is a constant that rustc computes.

mod by_row;
mod classes;
mod finish;
mod fuse;
mod grad;
mod graph;
mod instantiate;
mod ir;
mod lower;
mod needed;
mod plan;
mod print;
mod pullbacks;
mod shapes;
mod typing;

pub use by_row::ByRow;
pub use instantiate::instantiate;
pub use ir::{
    Annotation, Check, CheckKind, Class, ClassId, Contract, Field, Leaf, Node, NodeId, Operand, PartOf,
    Program, Spot, Structure,
};
pub use lower::{lower, lower_with};
pub use plan::{Fused, Location, Plan, Step, plan, plan_watching};
pub use shapes::ShapeId;
pub use typing::{check_annotated, check_truths, types};

pub use crate::ir::{Arrange, Convolution, Effect, Padding, Part, Product, Reduction, Rows, Slice, Window};
pub use crate::reduce::Reduce;
pub use crate::surface::lower::values::demand::Demand;
pub use crate::written::{Constant, Extents, LeafId, Misfit, NumberKind, Op, Own, Subscript, Written};
