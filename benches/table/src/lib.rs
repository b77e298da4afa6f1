//! Hand-written programs for the cases of the peers, what the cases cost at least, and what the machine can do.

pub mod arrays;
pub mod cost;
pub mod limits;
pub mod loops;

pub use cost::Cost;
pub use limits::Limits;
