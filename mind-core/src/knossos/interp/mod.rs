//! The reference interpreter: what programs mean.
//!
//! A machine with stacks of its own, so that a program that calls itself without end meets a limit and not the end of
//! the thread's stack. It is naive and slow; every other way to run a program is judged by it.

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

use super::ir::{FunctionId, Program};
use crate::diag::Code;

/// For recursion over values, which nest as deep as calls: each leaves a tape in that of its caller.
const STACK: usize = 256 << 20;

/// Runs a function on an argument for each of its parameters.
///
/// # Errors
/// E6001 an index out of range, E6004 a size that is too large or more memory than the options allow, E6010 anything
/// else that fails as a program runs;
/// E2001 where an argument is not of its parameter's type.
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
            Err(error) => Err(fail(Code::E6004, format!("no thread to run on: {error}"))),
        }
    })
}
