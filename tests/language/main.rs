//! Tests every form and every function of the language through the macro. The expected values are worked out by hand or
//! by naive loops.
//!
//! Rustc takes a minute for eight of these modules, so they are compiled only if `MIND_TESTS` is `gate` or `all`.
#![cfg_attr(
    not(every_case),
    allow(
        clippy::all,
        clippy::undocumented_unsafe_blocks,
        clippy::unwrap_used,
        reason = "clippy takes a sixth of the time of rustc here, `macros::lints` denies more of emitted code"
    )
)]
#![allow(
    clippy::type_complexity,
    reason = "the types of results are written out where they are what is tested"
)]

mod arithmetic;
#[cfg(gate)]
mod checkpointed_functions;
mod checkpoints;
mod conditions;
mod constants;
mod convolution;
mod convolutions;
mod cumulative;
mod dimensions;
mod distributions;
mod division;
mod einsum;
mod extents;
#[cfg(gate)]
mod folds;
mod forms;
mod fourier;
mod gather;
mod gradients;
#[cfg(gate)]
mod imports;
mod indexing;
mod into;
mod joining;
mod library;
mod linalg;
mod literals;
mod loops;
mod making;
#[cfg(gate)]
mod masks;
mod memory;
mod ordering;
mod params;
mod parts;
mod picking;
mod pooling;
mod positions;
mod products;
#[cfg(gate)]
mod pullbacks;
mod random;
mod ranges;
mod rearranging;
mod reductions;
#[cfg(gate)]
mod short_rows;
mod stacks;
mod states;
#[cfg(gate)]
mod strips;
mod structs;
mod support;
mod taking;
mod templates;
mod tensors;
#[cfg(gate)]
mod transforms;
mod truth;
mod tuples;
mod updates;
