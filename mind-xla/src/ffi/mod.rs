//! A safe interface to the PJRT C API. All unsafe code of the crate is in this module.
//!
//! The code relies on these promises of the interface:
//!
//! - A library that exports `GetPjrtApi`, with a table of this version, is a plugin.
//! - The functions of a plugin behave as the header says.
//! - The objects of a plugin live until they are destroyed.
//!
//! One Rust value owns each object, and destroys it on drop. It keeps the object's parent alive by a shared pointer.

#![allow(unsafe_code, reason = "the functions of a plugin are those of C")]

pub mod abi;
mod buffer;
mod bytes;
mod client;
mod executable;
mod key_value;
mod launch;
mod step;
mod table;
mod trace;
mod transfer;

pub use buffer::Buffer;
pub use bytes::{Plain, bytes_of, bytes_of_mut};
pub use client::{Client, MeshDevice};
pub use executable::Executable;
pub use step::{Step, StepFailure};
pub use table::Table;
pub use trace::Trace;
pub use transfer::Transfer;
