//! Tests of the IR through its public interface: single rules of the table, whole modules, and random modules.

#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing fails, as it should")]

mod canon;
mod constraints;
mod evaluation;
mod inference;
mod layers;
mod limits;
mod memory;
mod properties;
mod runs;
mod support;
mod table;
mod text;
mod verification;
