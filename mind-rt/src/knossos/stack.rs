//! Stacks for deep recursion. Each is large, and a computation continues on another one only if little of it is left.
//! How much is left is known only of these stacks. On the stack of a caller a computation counts its calls instead.

use std::{cell::Cell, io, panic, thread};

/// The room that a computation may use until it checks again. It is enough for 64 calls of 256 KiB each.
const ROOM: usize = 64 * (256 << 10);

/// The size of a stack. Only the used part takes memory.
const SIZE: usize = 4 * ROOM;

thread_local! {
    /// The address at which the stack of this thread begins if [`on_new`] started the thread.
    static BEGIN: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Whether this thread has one of these stacks, with room left.
pub(super) fn has_room() -> bool {
    // While a thread ends, its variables are gone.
    let begin = BEGIN.try_with(Cell::get).unwrap_or_default();
    // A stack grows to lower addresses. The rest of it is kept for what stands before the beginning.
    begin.is_some_and(|begin| begin.saturating_sub(stack_address()) <= SIZE - 2 * ROOM)
}

/// An address in the frame of a caller of this function, or near it. AddressSanitizer, when it looks for uses after
/// return, moves the variable elsewhere; a recursion that is too deep then ends at the guard page of the stack.
#[inline(never)]
fn stack_address() -> usize {
    let marker = 0_u8;
    &raw const marker as usize
}

/// Runs `work` on a new stack.
///
/// # Errors
/// If no stack can be allocated. Then `work` has not run.
#[cold]
pub(super) fn on_new<R: Send>(work: &mut (dyn FnMut() -> R + Send)) -> io::Result<R> {
    let run = move || {
        BEGIN.set(Some(stack_address()));
        work()
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(SIZE).spawn_scoped(scope, run)?;
        Ok(thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    })
}
