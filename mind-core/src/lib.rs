//! The compiler behind `mind!` as a library.
#![forbid(unsafe_code)]

pub mod canon;
pub mod data;
pub mod definitions;
pub mod diag;
pub mod dim;
pub mod grad;
pub mod interp;
pub mod ir;
pub mod ops;
pub mod opt;
pub mod pipeline;
pub mod plan;
pub mod provenance;
pub mod stats;
pub mod surface;
pub mod text;
pub mod ty;
pub mod verify;
