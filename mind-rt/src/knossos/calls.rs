//! Deeply nested calls: of functions that call themselves, or long chains of functions.

use std::{panic, thread};

use super::fault::{At, Fault};

/// The depth of a call from outside the program.
pub const FIRST_CALL: u32 = 1;

/// The largest depth of nested calls.
const MOST_CALLS: u32 = 10_000;

/// The number of nested calls that share a stack. With this number no depth below the limit exhausts the stack of the
/// first caller.
const CALLS_A_STACK: u32 = 64;

/// The size of a stack: 256 KiB per call. Only the used part takes memory.
pub(super) const STACK: usize = CALLS_A_STACK as usize * (256 << 10);

/// Whether a function at this depth may make a call on its own stack. Otherwise it must make the call by
/// [`on_new_stack`].
///
/// # Errors
/// E6010 at the limit of nested calls.
#[inline(always)]
pub fn has_room(depth: u32, at: At) -> Result<bool, Fault> {
    if depth >= MOST_CALLS {
        return Err(too_deep(at));
    }
    Ok(!depth.is_multiple_of(CALLS_A_STACK))
}

#[cold]
fn too_deep(at: At) -> Fault {
    at.failure(&format!("calls nest deeper than the limit of {MOST_CALLS}"))
}

/// Makes a call on a new stack.
///
/// The call is not a type parameter: rustc follows the calls of generic functions, and limits their depth.
///
/// # Errors
/// E6004 if no stack can be allocated; the errors of the call.
#[cold]
pub fn on_new_stack<R: Send>(
    at: At,
    call: &mut (dyn FnMut() -> Result<R, Fault> + Send),
) -> Result<R, Fault> {
    thread::scope(|scope| match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, call) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
        Err(error) => Err(at.fault("E6004", format!("cannot allocate a stack for a call: {error}"))),
    })
}
