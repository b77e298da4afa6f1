//! Callees: functions of the block or of another block, and templates.

pub(crate) mod callable;
pub(crate) mod inline;
pub(crate) mod table;
