//! Random well-typed programs in Knossos, arguments to run them on, and smaller programs to replace a failing one by.
//!
//! A program runs without a failure: sizes of tensors are part of the types that the generator thinks in (`types`), and the
//! arguments of `log` and others are kept where they are defined and smooth.

mod derivatives;
mod floats;
mod forms;
mod generate;
mod mains;
mod program;
mod tensors;
mod types;

pub use derivatives::{Checked, check_derivatives, check_second_derivatives};
pub use generate::{program_from_bytes, random_program};
pub use mains::main_at;
pub use program::RandomProgram;
