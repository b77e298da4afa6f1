//! Calls of functions that call themselves, or many others in a row.

use std::{panic, thread};

use super::fault::{At, Fault};

/// The depth of a call from outside.
pub const FIRST_CALL: u32 = 1;

/// How many calls may be under way at once.
const MOST_CALLS: u32 = 10_000;

/// How many calls share a stack: no depth below the limit meets the end of the first caller's.
const CALLS_A_STACK: u32 = 64;

/// The size of a stack, of which only what is used takes memory: 256 KiB for each call.
pub(super) const STACK: usize = CALLS_A_STACK as usize * (256 << 10);

/// Whether a call may be made on this stack by one at a depth; else it is to be made by [`on_new_stack`].
///
/// # Errors
/// E6010 at the limit.
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

/// Makes a call on a stack of its own.
///
/// The call is no type parameter: rustc goes into what a generic function calls, and has a limit on how deep.
///
/// # Errors
/// E6004 where there is no stack to be had; those of the call.
#[cold]
pub fn on_new_stack<R: Send>(
    at: At,
    call: &mut (dyn FnMut() -> Result<R, Fault> + Send),
) -> Result<R, Fault> {
    thread::scope(|scope| match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, call) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
        Err(error) => Err(at.fault("E6004", format!("no stack for another call: {error}"))),
    })
}
