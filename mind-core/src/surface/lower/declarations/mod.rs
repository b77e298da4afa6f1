//! The declarations of a block: names, written types, structs, constants and signatures.

pub(crate) mod constants;
pub(crate) mod lowered;
pub(crate) mod names;
pub(crate) mod order;
pub(crate) mod signature;
pub(crate) mod stacks;
pub(crate) mod states;
pub(crate) mod structs;
pub(crate) mod structure;
pub(crate) mod types;
