//! Knossos programs in `tests/ks`: what they give, and what is said of wrong ones. See the README there.
//!
//! `MIND_BLESS=1 cargo test -p mind-core --test core knossos` records what comes out now; review the difference.

mod bindings;
mod corpus;
mod derivatives;
mod limits;
mod messages;
mod optimiser;
mod random;
mod types;
mod verifier;
