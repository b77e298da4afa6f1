//! Hand-written programs for the peers' cases.

pub mod arrays;
pub mod loops;
