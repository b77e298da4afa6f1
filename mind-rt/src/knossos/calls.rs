//! Deeply nested calls: of functions that call themselves, or long chains of functions.

use super::{
    fault::{At, Fault},
    stack,
};

/// The depth of a call from outside the program.
pub const FIRST_CALL: u32 = 1;

/// The largest depth of nested calls.
const MOST_CALLS: u32 = 10_000;

/// The number of nested calls after which the room on the stack is checked. This many do not exhaust the stack of the
/// first caller.
const CALLS_A_CHECK: u32 = 64;

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
    Ok(!depth.is_multiple_of(CALLS_A_CHECK) || stack::has_room())
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
    stack::on_new(call).unwrap_or_else(|error| {
        Err(at.fault("E6004", format!("cannot allocate a stack for a call: {error}")))
    })
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashSet,
        thread::{self, ThreadId},
    };

    use super::*;

    /// Calls itself to a depth, as generated code does, and returns the threads of the calls.
    fn threads(depth: u32, deepest: u32) -> Result<Vec<ThreadId>, Fault> {
        let at = At(&("f", 1, 1));
        let mut found = match depth == deepest {
            true => Vec::new(),
            false if has_room(depth, at)? => threads(depth + 1, deepest)?,
            false => on_new_stack(at, &mut || threads(depth + 1, deepest))?,
        };
        found.push(thread::current().id());
        Ok(found)
    }

    #[test]
    fn calls_to_any_depth_share_one_stack_after_the_first() {
        let count = |deepest| {
            let all = threads(FIRST_CALL, deepest).expect("the depth is within the limit");
            assert_eq!(all.len(), deepest as usize);
            all.into_iter().collect::<HashSet<_>>().len()
        };
        assert_eq!([1, 64, 65, 1_000, MOST_CALLS].map(count), [1, 1, 2, 2, 2]);
        threads(FIRST_CALL, MOST_CALLS + 1).expect_err("calls nest too deep");
    }

    /// Calls itself with frames of at least 128 KiB. Two stacks or more hold the calls.
    fn deep(depth: u32, deepest: u32) -> Result<u64, Fault> {
        let frame = std::hint::black_box([u64::from(depth); 16 << 10]);
        let at = At(&("f", 1, 1));
        let sum = match depth == deepest {
            true => 0,
            false if has_room(depth, at)? => deep(depth + 1, deepest)?,
            false => on_new_stack(at, &mut || deep(depth + 1, deepest))?,
        };
        Ok(sum + frame[depth as usize])
    }

    #[test]
    fn calls_with_large_frames_exhaust_no_stack() {
        let work = || deep(FIRST_CALL, 1_000).expect("the depth is within the limit");
        let thread = thread::Builder::new().stack_size(64 << 20).spawn(work).expect("a thread can be had");
        assert_eq!(thread.join().expect("the work ends"), 1_000 * 1_001 / 2);
    }
}
