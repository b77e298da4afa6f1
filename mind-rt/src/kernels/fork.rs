//! Forks for tests: copies of the process with a single thread.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Whether `f` returns true in a fork of this process. An alarm ends a fork that hangs, and a fork that panics counts
/// as false.
pub fn holds_in_a_fork(f: impl FnOnce() -> bool) -> bool {
    /// In seconds. A fork that hangs would never end.
    const ALARM: u32 = 60;
    // SAFETY: the child does not return to code that called this function: it ends by `_exit`.
    unsafe {
        match libc::fork() {
            0 => {
                libc::alarm(ALARM);
                let holds = catch_unwind(AssertUnwindSafe(f)).unwrap_or(false);
                libc::_exit(i32::from(!holds));
            }
            child => {
                let mut status = -1;
                assert!(child > 0 && libc::waitpid(child, &mut status, 0) == child);
                libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
            }
        }
    }
}
