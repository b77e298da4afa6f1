//! The standard library: what its functions give, their gradients, and how their text is written.

mod cancelling;
mod edges;
mod special;
mod stable;
mod states;
mod text;
mod vectors;

mod support;
