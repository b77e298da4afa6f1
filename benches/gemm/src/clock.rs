//! Clocks for measurements on one or several threads.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The clock of a measurement. On one thread it counts the thread's processor time, which leaves out the time when
/// others had the core. On several threads it counts wall-clock time.
#[derive(Clone, Copy)]
pub enum Clock {
    Thread,
    Wall,
}

impl Clock {
    pub fn of(threads: usize) -> Self {
        if threads == 1 { Self::Thread } else { Self::Wall }
    }

    /// The clock for a measurement of `rounds` rounds. More than one round means a measurement of tens of microseconds,
    /// for which this is the wall clock, for two reasons:
    ///
    /// - Other processes hardly disturb the shortest of many such measurements.
    /// - A thread's processor time can be too short: when the host takes the core away, the system subtracts that time
    ///   later, from the thread that runs then.
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
