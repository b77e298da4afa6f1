//! The text forms of a module: printers and parsers side by side, one file a format.

pub mod core_ir;
