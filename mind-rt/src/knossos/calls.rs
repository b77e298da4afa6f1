//! Calls of functions that call themselves.

use std::{panic, thread};

use super::fault::{At, Fault};

/// The depth of a call from outside.
pub const FIRST_CALL: u32 = 1;

/// How many calls may be under way at once.
const MOST_CALLS: u32 = 10_000;

/// How many calls share a stack. What calls itself goes on on a new one from time to time, so that no depth below the
/// limit meets the end of whatever stack the first caller has.
const CALLS_A_STACK: u32 = 64;

/// The size of a stack, of which only what is used takes memory: 256 KiB for each call.
pub(super) const STACK: usize = CALLS_A_STACK as usize * (256 << 10);

/// Makes a call from another at a depth.
///
/// # Errors
/// E6010 beyond the limit, E6004 where there is no stack to be had; those of the call.
#[inline]
pub fn deeper<R: Send>(
    depth: u32,
    at: At,
    call: impl FnOnce(u32) -> Result<R, Fault> + Send,
) -> Result<R, Fault> {
    if depth >= MOST_CALLS {
        return Err(at.failure(&format!("calls nest deeper than the limit of {MOST_CALLS}")));
    }
    if depth.is_multiple_of(CALLS_A_STACK) { on_new_stack(at, || call(depth + 1)) } else { call(depth + 1) }
}

#[cold]
fn on_new_stack<R: Send>(at: At, call: impl FnOnce() -> Result<R, Fault> + Send) -> Result<R, Fault> {
    thread::scope(|scope| match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, call) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
        Err(error) => Err(at.fault("E6004", format!("no stack for another call: {error}"))),
    })
}
