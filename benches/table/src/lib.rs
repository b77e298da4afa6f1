//! Hand-written programs for the cases of the peers.

pub mod arrays;
pub mod loops;
