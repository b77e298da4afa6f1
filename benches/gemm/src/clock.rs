//! Clocks that fit what is measured.
//!
//! `unsafe`: the thread's own time is to be had from the C library only.

use std::time::Duration;

/// What a thread has computed while the clock ran: on one thread that leaves out the time others had the core, with more
/// it is the time on the wall.
#[derive(Clone, Copy)]
pub enum Clock {
    Thread,
    Wall,
}

impl Clock {
    pub fn of(threads: usize) -> Self {
        if threads == 1 { Self::Thread } else { Self::Wall }
    }

    /// For so many rounds of what takes tens of microseconds altogether if there is more than one. Others disturb the least
    /// of many such measurements little, and a thread's own time can be too short: where the host takes the core away, the
    /// system subtracts that later, from whatever runs then.
    pub fn of_rounds(threads: usize, rounds: u32) -> Self {
        if rounds > 1 { Self::Wall } else { Self::of(threads) }
    }

    pub fn now(self) -> Duration {
        let id = match self {
            Self::Thread => libc::CLOCK_THREAD_CPUTIME_ID,
            Self::Wall => libc::CLOCK_MONOTONIC,
        };
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the place is one to write to.
        assert_eq!(unsafe { libc::clock_gettime(id, &mut time) }, 0, "the clock exists");
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    pub fn seconds_since(self, start: Duration) -> f64 {
        (self.now() - start).as_secs_f64()
    }
}
