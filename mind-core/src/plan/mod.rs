//! Plans an optimised module as steps over memory: which loops run, over which buffers, in which order.
//!
//! A plan consists of views (a transpose or a slice moves no data), nests (elementwise operations and sums over one
//! index space are one nest of loops) and arenas (temporaries whose lifetimes do not overlap share memory). It does not
//! depend on Rust. Another crate emits Rust, and tests execute plans directly.

mod access;
mod arena;
mod build;
mod cost;
mod finish;
mod fusion;
mod graph;
mod ir;
mod joined;
mod listing;
pub mod nest;
mod order;
mod partition;
mod peak;
mod program;
mod storage;
mod strips;
mod view;

pub use cost::Cost;
pub(crate) use fusion::LONGEST;
pub use ir::{
    ALIGNMENT, Arena, Buffer, BufferId, Carry, Condition, Conv2d, ConvKind, Integers, KernelCall,
    KernelOperand, Location, LoopStep, MatMul, Parameter, Plan, Returned, Scalar, ScalarStep, Search, Step,
    Update, Watch, Watching,
};
pub(crate) use listing::operation;
pub use listing::{Listing, listing};
pub use nest::{Finish, Fold, Nest, Node, Operand, Pass, Store, Target};
pub use peak::{Peak, peak};
pub(crate) use storage::repetition;
pub use strips::{BufferPart, Limits, Seen, Strips, Walk};
pub use view::{Source, View};

use crate::opt::Optimised;

/// Plans the steps that compute `module`. Outputs named in `updates` are stored to the inputs that they update; the
/// others are returned.
///
/// # Panics
/// If an update names an output or input that the module does not have, or their types differ.
pub fn plan(module: &Optimised, updates: &[Update]) -> Plan {
    plan_watching(module, updates, Watching::Shown)
}

/// As [`plan`], with steps that watch values.
///
/// # Panics
/// As [`plan`].
pub fn plan_watching(module: &Optimised, updates: &[Update], watching: Watching) -> Plan {
    build::build(module, updates, watching, &Limits::default())
}

/// As [`plan`], with other limits. Tests lower them, so that small products count as large.
///
/// # Panics
/// As [`plan`].
pub fn plan_by(module: &Optimised, updates: &[Update], limits: &Limits) -> Plan {
    build::build(module, updates, Watching::Shown, limits)
}
