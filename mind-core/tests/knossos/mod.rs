//! Knossos programs in `tests/ks`: their results, and the messages for wrong ones. See the README there.
//!
//! `MIND_BLESS=1 cargo test -p mind-core --test core knossos` records the current output; review the difference.

mod bindings;
mod corpus;
mod derivatives;
mod limits;
mod messages;
mod optimiser;
mod random;
mod types;
mod verifier;
