//! Forks, for tests: copies of the process that have one thread.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Whether `f` is true in a fork of this process. One that hangs is ended by its alarm, and one that panics exits in vain.
pub fn holds_in_a_fork(f: impl FnOnce() -> bool) -> bool {
    /// Seconds; what hangs does so for ever.
    const ALARM: u32 = 60;
    // SAFETY: the child returns from nothing that was called before it was made.
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
