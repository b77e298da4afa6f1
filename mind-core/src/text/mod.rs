//! The text forms of a module.
