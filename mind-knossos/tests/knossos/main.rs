//! Tests of the front-end through its public interface: Knossos programs in `tests/ks`, with their results and the
//! messages for wrong ones (see the README there), random programs, and pages.
//!
//! `MIND_BLESS=1 cargo test -p mind-knossos` records the current output; review the difference.

mod bindings;
#[path = "../../../tests/support/changes.rs"]
mod changes;
mod corpus;
mod derivatives;
mod examples;
mod limits;
mod messages;
mod optimiser;
mod page;
mod properties;
mod random;
#[path = "../../../tests/support/sample.rs"]
mod sample;
mod types;
mod verifier;
