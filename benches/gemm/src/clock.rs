//! Clocks that fit what is measured.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

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
        let time = clock_gettime(match self {
            Self::Thread => ClockId::ThreadCPUTime,
            Self::Wall => ClockId::Monotonic,
        });
        Duration::new(
            time.tv_sec.unsigned_abs(),
            time.tv_nsec.unsigned_abs().try_into().expect("less than a second"),
        )
    }

    pub fn seconds_since(self, start: Duration) -> f64 {
        (self.now() - start).as_secs_f64()
    }
}
