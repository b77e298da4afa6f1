//! The limits of the machine: their names and measurements. The measured loops are in the run time.
//!
//! All threads run at the same time, each on separate memory. Their work is summed for each window of time, and the
//! best window counts.

use std::{
    fmt, hint, io,
    sync::{OnceLock, mpsc},
    thread,
    time::{Duration, Instant},
};

use mind::{
    __private::roofline::{self, Chains},
    Error, SimdLevel, Tensor,
};

use super::machine::Caches;
use crate::prediction::machine::{Float, Level, MemoryUse};

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Multiply-adds from registers.
    Peak(Float, SimdLevel),
    /// Bytes read from or written to a level of memory.
    Memory(MemoryUse, Level),
    /// The time to give each thread an empty part and to wait for all threads.
    Fork(Before),
}

/// The state of the threads before a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// The threads look for work, as between the loops of a program.
    Looking,
    /// The threads sleep, as after the program has done something else for some time.
    Asleep,
}

impl Limit {
    /// The limits of a machine with these caches, in the order of the table.
    pub fn all(caches: &Caches) -> Vec<Self> {
        let peaks = [Float::F32, Float::F64]
            .into_iter()
            .flat_map(|float| roofline::levels().map(move |level| Self::Peak(float, level)));
        let levels = [Level::L1, Level::L2, Level::L3, Level::Memory];
        let memory =
            levels.into_iter().filter(|level| *level != Level::L3 || caches.l3.is_some()).flat_map(|level| {
                [MemoryUse::Read, MemoryUse::Write, MemoryUse::Copy].map(|way| Self::Memory(way, level))
            });
        peaks.chain(memory).chain([Before::Looking, Before::Asleep].map(Self::Fork)).collect()
    }

    /// The better of two measurements, each of which may be missing. The better one counts, since disturbances never
    /// make a machine faster.
    pub fn better(self, one: Option<f64>, other: Option<f64>) -> Option<f64> {
        let both = [one, other].into_iter().flatten();
        match self {
            Self::Peak(..) | Self::Memory(..) => both.reduce(f64::max),
            Self::Fork(_) => both.reduce(f64::min),
        }
    }

    /// The unit of the result of [`measure`].
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Peak(..) => "GFLOP/s",
            Self::Memory(..) => "GB/s",
            Self::Fork(_) => "µs",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Peak(Float::F32, simd) => write!(f, "peak f32 {}", simd_name(*simd)),
            Self::Peak(Float::F64, simd) => write!(f, "peak f64 {}", simd_name(*simd)),
            Self::Memory(way, level) => write!(f, "{way} {level}"),
            Self::Fork(Before::Looking) => f.write_str("fork"),
            Self::Fork(Before::Asleep) => f.write_str("fork asleep"),
        }
    }
}

/// The name of a SIMD level, as in `MIND_SIMD`.
pub fn simd_name(simd: SimdLevel) -> String {
    format!("{simd:?}").to_lowercase()
}

impl Level {
    /// The size in bytes of a thread's buffers that fit this level and no faster one.
    fn buffer(self, caches: &Caches, threads: usize) -> usize {
        /// A size that exceeds the last level even if that is larger than the processor reports, as on a shared host.
        const LEAST: usize = 256 << 20;
        let last = caches.l3.unwrap_or(caches.l2);
        match self {
            Self::L1 => caches.l1 / 2,
            Self::L2 => (caches.l2 / 2).max(caches.l1 * 2).min(caches.l2),
            // The geometric mean of the two levels, since other programs on the machine may use most of the cache.
            Self::L3 => {
                let second = caches.l2 * threads;
                ((second as f64 * last as f64).sqrt() as usize / threads).max(caches.l2 * 2)
            }
            Self::Memory => (last.saturating_mul(4).max(LEAST) / threads).max(caches.l2 * 2),
        }
    }
}

/// The reason why a limit was not measured.
#[derive(Debug)]
pub enum Refused {
    /// Memory could not be allocated: E6004.
    Memory(Error),
    /// A thread could not be started.
    Thread(io::Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Memory(error)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "cannot start a thread: {error}"),
        }
    }
}

/// Measures a limit with `threads` threads in about `time`, in its [unit](Limit::unit). `None` if it cannot be
/// measured: a fork needs two threads or more, and as many processors, so that all threads start in time.
pub fn measure(
    limit: Limit,
    caches: &Caches,
    threads: usize,
    time: Duration,
) -> Result<Option<f64>, Refused> {
    /// About 10 µs of multiply-adds.
    const ROUNDS: u32 = 2_000;

    match limit {
        Limit::Peak(Float::F32, simd) => {
            rate(threads, time, || Ok(move || f32::multiply_adds(simd, ROUNDS))).map(Some)
        }
        Limit::Peak(Float::F64, simd) => {
            rate(threads, time, || Ok(move || f64::multiply_adds(simd, ROUNDS))).map(Some)
        }
        Limit::Memory(way, level) => {
            let bytes = level.buffer(caches, threads);
            let prepare = || Buffers::new(way, bytes).map(|mut buffers| move || buffers.piece(way));
            rate(threads, time, prepare).map(Some)
        }
        Limit::Fork(_) if threads == 1 => Ok(None),
        Limit::Fork(before) => Ok(least_fork(before, time).map(|least| least.as_secs_f64() * 1e6)),
    }
}

/// The least time of a call in seconds, from samples that take about `time` in total. The first calls are not measured.
pub fn least(time: Duration, call: &mut dyn FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    /// The minimum time of a sample, so that the cost of reading the clock is negligible.
    const SAMPLE: Duration = Duration::from_micros(200);
    /// The minimum number of samples.
    const SAMPLES: u32 = 3;

    call()?;
    let start = Instant::now();
    call()?;
    let calls = (SAMPLE.as_nanos() / start.elapsed().as_nanos().max(1)) as u32 + 1;
    let (start, mut samples, mut least) = (Instant::now(), 0, f64::INFINITY);
    while samples < SAMPLES || start.elapsed() < time {
        let sample = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        least = least.min(sample.elapsed().as_secs_f64() / f64::from(calls));
        samples += 1;
    }
    Ok(least)
}

/// The least time of a fork. Only successful forks count.
fn least_fork(before: Before, time: Duration) -> Option<Duration> {
    /// Longer than the time for which a thread looks for work before it sleeps.
    const SLEEP: Duration = Duration::from_millis(2);

    let (start, mut least) = (Instant::now(), None);
    while start.elapsed() < time {
        if before == Before::Asleep {
            thread::sleep(SLEEP);
        }
        least = [least, roofline::fork()].into_iter().flatten().min();
    }
    least
}

/// The sum of the counts that calls return on all threads, in billions per second. Each thread prepares its own call,
/// so that its memory is local to it.
fn rate<F: FnMut() -> u64>(
    threads: usize,
    time: Duration,
    prepare: impl Fn() -> Result<F, Error> + Sync,
) -> Result<f64, Refused> {
    /// Long compared with a call, and short compared with the time slice of a thread on a busy machine.
    const WINDOW: Duration = Duration::from_millis(1);

    let windows = (time.as_nanos() / WINDOW.as_nanos()).max(4) as usize;
    let start = OnceLock::new();
    // The work of one thread in each window. Threads count separately, since with a shared counter they would wait for
    // each other.
    let count = |prepared: mpsc::Sender<()>| {
        let call = prepare();
        drop(prepared);
        let (start, mut call): (&Instant, _) = (start.wait(), call?);
        let (mut counts, mut before) = (vec![0.0; windows], 0.0);
        while before < windows as f64 {
            let done = call() as f64;
            let now = start.elapsed().as_secs_f64() / WINDOW.as_secs_f64();
            credit(&mut counts, before, now, done);
            before = now;
        }
        Ok(counts)
    };
    let counts = thread::scope(|scope| {
        let (prepared, all_prepared) = mpsc::channel();
        let spawn = |_| {
            let prepared = prepared.clone();
            thread::Builder::new().spawn_scoped(scope, || count(prepared)).map_err(Refused::Thread)
        };
        let spawned: Vec<_> = (0..threads).map(spawn).collect();
        drop(prepared);
        // No message is sent. This returns when every thread has dropped its sender.
        _ = all_prepared.recv();
        start.get_or_init(Instant::now);
        let counted = |spawned: thread::ScopedJoinHandle<'_, Result<Vec<f64>, Error>>| {
            let counts = spawned.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            counts.map_err(Refused::Memory)
        };
        spawned.into_iter().map(|spawned| spawned.and_then(counted)).collect::<Result<Vec<_>, _>>()
    })?;
    let together = (0..windows).map(|window| counts.iter().map(|counts| counts[window]).sum());
    let most: f64 = together.fold(0.0, f64::max);
    Ok(most / WINDOW.as_secs_f64() * 1e-9)
}

/// Distributes work from time `from` to time `to` over the windows between, where a window is one unit of time. No
/// window is credited with work of another, even if a call takes long.
fn credit(counts: &mut [f64], from: f64, to: f64, done: f64) {
    for (window, count) in counts.iter_mut().enumerate().skip(from as usize) {
        let window = window as f64;
        if window >= to {
            break;
        }
        *count += done * (to.min(window + 1.0) - from.max(window)) / (to - from);
    }
}

/// The memory of a thread.
struct Buffers {
    from: Tensor<f32, (usize,)>,
    to: Tensor<f32, (usize,)>,
    /// The start of the next piece.
    at: usize,
}

impl Buffers {
    /// Allocates buffers of `bytes` bytes in total.
    fn new(way: MemoryUse, bytes: usize) -> Result<Self, Error> {
        let numbers = bytes / size_of::<f32>();
        let [from, to] = match way {
            MemoryUse::Read => [numbers, 1],
            MemoryUse::Write => [1, numbers],
            MemoryUse::Copy => [numbers / 2; 2],
        };
        // Pages of zeros may share physical memory until they are written.
        let written = |len: usize| {
            let mut tensor = Tensor::try_zeros_with((len,))?;
            tensor.fill(1.0);
            Ok(tensor)
        };
        Ok(Self { from: written(from)?, to: written(to)?, at: 0 })
    }

    /// Processes the next piece of the memory, repeatedly if the memory is shorter than a piece. Returns the number of
    /// bytes.
    fn piece(&mut self, way: MemoryUse) -> u64 {
        /// The number of elements between two readings of the clock.
        const PIECE: usize = 128 << 10;

        let (from, to) = (self.from.as_slice(), self.to.as_mut_slice());
        let len = from.len().max(to.len());
        let (mut moved, mut numbers) = (0, 0);
        while numbers < PIECE {
            let end = len.min(self.at + PIECE);
            let piece = self.at..end;
            numbers += piece.len();
            moved += match way {
                MemoryUse::Read => {
                    hint::black_box(roofline::read(&from[piece.clone()]));
                    roofline::bytes(piece.len())
                }
                MemoryUse::Write => {
                    roofline::write(&mut to[piece.clone()], 2.0);
                    roofline::bytes(piece.len())
                }
                MemoryUse::Copy => {
                    roofline::copy(&from[piece.clone()], &mut to[piece.clone()]);
                    2 * roofline::bytes(piece.len())
                }
            };
            self.at = if end == len { 0 } else { end };
        }
        moved as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CACHES: Caches = Caches { l1: 32 << 10, l2: 1 << 20, l3: Some(32 << 20), is_reported: true };

    #[test]
    fn buffers_lie_in_their_level_and_in_no_faster_one() {
        let levels = [Level::L1, Level::L2, Level::L3, Level::Memory];
        for threads in [1, 2, 4] {
            for level in levels {
                let all = level.buffer(&CACHES, threads) * threads;
                assert_eq!(Level::of(all, &CACHES.sizes(), threads), level, "{threads} threads: {all}");
            }
        }
        assert!(levels.into_iter().all(|level| level.buffer(&CACHES, 256) > 0));
    }

    #[test]
    fn a_processor_without_a_third_level_has_no_rows_of_it() {
        let caches = Caches { l3: None, ..CACHES };
        assert_eq!(Level::of(2 << 20, &caches.sizes(), 1), Level::Memory);
        let names: Vec<_> = Limit::all(&caches).iter().map(Limit::to_string).collect();
        assert!(!names.iter().any(|name| name.contains("L3")), "{names:?}");
        assert_eq!(names.len() + 3, Limit::all(&CACHES).len());
    }

    #[test]
    fn the_better_is_the_higher_rate_and_the_shorter_time() {
        let [rate, time] = [Limit::Memory(MemoryUse::Read, Level::L1), Limit::Fork(Before::Asleep)];
        assert_eq!(rate.better(Some(1.0), Some(2.0)), Some(2.0));
        assert_eq!(time.better(Some(1.0), Some(2.0)), Some(1.0));
        assert_eq!((time.better(None, Some(2.0)), time.better(None, None)), (Some(2.0), None));
    }

    #[test]
    fn limits_have_names_of_their_own() {
        let names: Vec<_> = Limit::all(&CACHES).iter().map(Limit::to_string).collect();
        let levels = roofline::levels().count();
        assert_eq!(names.len(), 2 * levels + 12 + 2);
        assert_eq!((&*names[0], &*names[levels]), ("peak f32 portable", "peak f64 portable"));
        assert_eq!(names[2 * levels], "read L1");
        assert_eq!(names[2 * levels + 11..], ["copy memory", "fork", "fork asleep"]);
        assert!(names.iter().enumerate().all(|(at, name)| !names[..at].contains(name)));
    }

    #[test]
    fn every_limit_of_fast_memory_is_a_number_above_zero() {
        let fast = |limit: &Limit| match limit {
            Limit::Peak(..) | Limit::Memory(_, Level::L1 | Level::L2) => true,
            Limit::Memory(..) | Limit::Fork(_) => false,
        };
        for limit in Limit::all(&CACHES).into_iter().filter(fast) {
            for threads in [1, 2] {
                let found = measure(limit, &CACHES, threads, Duration::from_millis(20)).unwrap();
                assert!(found.is_some_and(|found| found > 0.0 && found.is_finite()), "{limit}: {found:?}");
            }
        }
    }

    #[test]
    fn one_thread_has_no_fork() {
        for before in [Before::Looking, Before::Asleep] {
            assert_eq!(measure(Limit::Fork(before), &CACHES, 1, Duration::ZERO).unwrap(), None);
        }
    }

    #[test]
    fn threads_count_together() {
        let time = Duration::from_millis(20);
        let call = || {
            thread::sleep(Duration::from_millis(1));
            1_000_000_000
        };
        let [one, eight] = [1, 8].map(|threads| rate(threads, time, || Ok(call)).unwrap());
        assert!(eight > 2.0 * one, "{one} {eight}");
    }

    #[test]
    fn windows_share_a_call_by_the_time_that_it_took_in_each() {
        let mut counts = [0.0; 4];
        credit(&mut counts, 0.25, 0.75, 1.0);
        credit(&mut counts, 0.75, 2.75, 8.0);
        assert_eq!(counts, [2.0, 4.0, 3.0, 0.0]);
        // Work after the last window is dropped, and a call that takes no time counts as nothing.
        credit(&mut counts, 2.75, 4.75, 8.0);
        credit(&mut counts, 4.75, 4.75, 8.0);
        credit(&mut counts, 1.0, 1.0, 8.0);
        assert_eq!(counts, [2.0, 4.0, 4.0, 4.0]);
    }

    #[test]
    fn a_thread_that_cannot_prepare_holds_up_no_other() {
        let error = Error::WorkspaceTooSmall { needed: 1, found: 0 };
        let prepare = || Err::<fn() -> u64, _>(error.clone());
        let refused = rate(3, Duration::ZERO, prepare).unwrap_err();
        assert_eq!(refused.to_string(), error.to_string());
    }

    #[test]
    fn a_piece_goes_round_and_counts_what_it_moved() {
        for (way, bytes) in [(MemoryUse::Read, 1), (MemoryUse::Write, 1), (MemoryUse::Copy, 2)] {
            let mut buffers = Buffers::new(way, 12_000).unwrap();
            let moved = buffers.piece(way);
            assert!(moved >= bytes * 4 * (128 << 10), "{moved}");
            assert_eq!(buffers.at, 0);
        }
        let mut long = Buffers::new(MemoryUse::Read, 4 << 20).unwrap();
        assert_eq!(long.piece(MemoryUse::Read), 512 << 10);
        assert_eq!(long.at, 128 << 10);
    }

    #[test]
    fn memory_that_cannot_be_had_is_told() {
        let caches = Caches { l3: Some(usize::MAX / 8), ..CACHES };
        let refused =
            measure(Limit::Memory(MemoryUse::Read, Level::Memory), &caches, 1, Duration::ZERO).unwrap_err();
        assert!(refused.to_string().starts_with("E6004: cannot allocate"), "{refused}");
    }

    #[test]
    fn what_fails_is_not_called_again() {
        let mut calls = 0;
        let error = Error::WorkspaceTooSmall { needed: 1, found: 0 };
        let found = least(Duration::from_millis(1), &mut || {
            calls += 1;
            Err(error.clone())
        });
        assert_eq!((found, calls), (Err(error.clone()), 1));
    }
}
