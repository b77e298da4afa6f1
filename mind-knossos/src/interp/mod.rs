//! The reference interpreter, which defines the meaning of programs.
//!
//! It is a machine with explicit stacks, so that endless recursion reaches a limit and does not overflow the thread's
//! stack. It is simple and slow. All other ways to run a program are tested against it.

mod accumulators;
mod machine;
mod options;
mod outcome;
mod precision;
mod scalar;
mod structure;
mod value;

use std::thread;

use options::Style;
pub use options::{Bools, Floats, Options};
pub use outcome::{Failure, Outcome};
pub use precision::Precision;
pub use value::{Tensor, Value};

use mind_core::diag::Code;

use crate::ir::{FunctionId, Program};

/// The stack for recursion over values. They nest as deep as calls, because the tape of a call contains the tapes of
/// its callees.
const STACK: usize = 256 << 20;

/// Runs a function with one argument for each of its parameters.
///
/// # Errors
///
/// - E2001: an argument does not have its parameter's type.
/// - E2007: a wrong number of arguments.
/// - E6001: an index out of range.
/// - E6004: a size that is too large, or more memory than the options allow.
/// - E6010: any other failure at run time.
pub fn run(
    program: &Program,
    function: FunctionId,
    arguments: &[Value],
    options: &Options,
) -> Result<Outcome, Failure> {
    let name = program.function(function).name.to_string();
    let fail = |code, message: String| {
        let place = program.function(function).place;
        Failure { code, message, place, function: name.clone(), printed: String::new() }
    };
    let parameters = &program.function(function).parameters;
    if parameters.len() != arguments.len() {
        let message = format!("`{name}` takes {} arguments, found {}", parameters.len(), arguments.len());
        return Err(fail(Code::E2007, message));
    }
    for (position, (ty, argument)) in parameters.iter().zip(arguments).enumerate() {
        if !argument.is_of(&program.types, *ty) {
            let ty = program.types.show(*ty);
            let message = format!("argument {} of `{name}`: expected {ty}, found {argument}", position + 1);
            return Err(fail(Code::E2001, message));
        }
    }
    thread::scope(|scope| {
        let arguments = arguments.to_vec();
        let run = move || machine::run(program, function, arguments, options);
        match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => Err(fail(Code::E6004, format!("cannot start a thread: {error}"))),
        }
    })
}
