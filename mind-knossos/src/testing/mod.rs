//! Random well-typed programs in Knossos, their arguments, and smaller programs to replace a failing one.
//!
//! A program runs without a failure. The generator's types (`types`) include the sizes of tensors, and arguments of
//! functions such as `log` stay where these are defined and smooth.

mod derivatives;
mod floats;
mod forms;
mod generate;
mod mains;
mod program;
pub mod properties;
mod tensors;
mod types;

pub use derivatives::{Checked, check_derivatives, check_second_derivatives};
pub use generate::{program_from_bytes, random_program};
pub use mains::main_at;
pub use program::RandomProgram;
