//! What a name that is called stands for: a function of the block or of another, or a template.

pub(crate) mod callable;
pub(crate) mod inline;
pub(crate) mod table;
