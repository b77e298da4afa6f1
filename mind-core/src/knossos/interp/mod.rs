//! The reference interpreter: what programs mean.
//!
//! A machine with stacks of its own, so that a program that calls itself without end meets a limit and not the end of
//! the thread's stack. It is naive and slow; every other way to run a program is judged by it.

mod accumulators;
mod machine;
mod precision;
mod scalar;
mod structure;
mod value;

use std::thread;

pub use precision::Precision;
pub use value::{Tensor, Value};

use super::ir::{FunctionId, Position, Program};
use crate::{
    diag::{Code, Diag},
    memory,
};

/// How a program is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// What a Float is.
    pub precision: Precision,
    /// How `print` writes a Bool.
    pub bools: Bools,
    /// How `print` writes a Float.
    pub floats: Floats,
    /// How many calls may be under way at once.
    pub most_calls: usize,
    /// How many elements a tensor may have, and how many turns a loop.
    pub most_elements: usize,
    /// The most bytes that values may take at once. What they take is measured now and then, so a run may stop where it
    /// holds fifteen sixteenths of it.
    pub most_bytes: u64,
    /// How many instructions may run; where there is a limit, what goes through a tensor counts as often as it has elements.
    pub most_steps: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            precision: Precision::F64,
            bools: Bools::Digits,
            floats: Floats::Six,
            most_calls: 10_000,
            most_elements: 1 << 28,
            most_bytes: memory::DEFAULT,
            most_steps: u64::MAX,
        }
    }
}

/// How `print` writes a Bool. A value that a run gives is shown as programs write it, whatever is chosen here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bools {
    /// `1` and `0`, as programs that ksc compiles print them.
    Digits,
    /// `true` and `false`.
    Words,
}

/// How `print` writes a Float. A value that a run gives is shown in all its digits, whatever is chosen here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// In six significant digits, as programs that ksc compiles print them: `10`, `0.333333`.
    Six,
    /// In the digits that tell it from others, as programs write it: `10.0`, `0.3333333333333333`.
    Exact,
}

/// How values are written.
#[derive(Clone, Copy, Debug)]
struct Style {
    precision: Precision,
    bools: Bools,
    floats: Floats,
}

/// What a run left.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The result; tapes in it are empty.
    pub value: Value,
    /// What was printed.
    pub printed: String,
    /// How many instructions ran.
    pub steps: u64,
}

/// Why a run did not end well.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The stable number, E6xxx.
    pub code: Code,
    /// What happened.
    pub message: String,
    /// Where the program asks for it.
    pub place: Position,
    /// The function that was running.
    pub function: String,
    /// What was printed before.
    pub printed: String,
}

impl Failure {
    /// As a mistake of the program's text.
    pub fn diag(&self) -> Diag {
        Diag::new(self.code, self.place.into(), self.message.clone()).note(format!("in `{}`", self.function))
    }
}

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
