//! Bare expressions: programs over Rust variables, whose types the macro does not see.
//!
//! An open program ([`Program`]) represents an expression such as `mind!(relu(x @ w + b))` while the type of `x` is not
//! known. It is a separate form: the values of Core IR have types, the values here have none. Its operations are those
//! of the surface language, with attributes as written (`axes = [-1]` stays -1), and operations for gradients. The
//! operations for gradients take shapes from a *witness*, an operand of which only the type is read.
//!
//! With types for its leaves an open program becomes Core IR; the tests use this. The macro instead emits code in which
//! the type of each node is a constant that rustc computes.

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
    Annotation, Check, CheckKind, Class, ClassId, Contract, FieldType, Leaf, Node, NodeId, Operand, PartOf,
    Program, Spot, Structure,
};
pub use lower::{lower, lower_with};
pub use needed::sort_of;
pub use plan::{Fused, Location, Plan, Step, plan, plan_watching};
pub use shapes::ShapeId;
pub use typing::{check_annotated, check_truths, types};

pub use crate::ir::{Arrange, Convolution, Effect, Padding, Part, Product, Reduction, Rows, Slice, Window};
pub use crate::reduce::Reduce;
pub use crate::surface::lower::values::demand::Demand;
pub use crate::written::{Constant, Extents, LeafId, Misfit, NumberKind, Op, Own, Subscript, Written};
