//! The standard library: the results of its functions, their gradients, and the style of their source.

mod cancelling;
mod edges;
mod special;
mod stable;
mod states;
mod text;
mod vectors;

pub mod support;
