//! The threads beside the calling one. The module belongs to the kernels because lending data of a caller's stack to
//! another thread takes `unsafe`.
//!
//! The caller of [`join`] queues the second half, runs the first, and takes the second back if no thread has begun it.
//! So one thread suffices for progress, and a call costs little if no thread is free. While the caller waits for a half
//! that another thread has begun, it runs other queued halves.
//!
//! A thread that finds no work spins for about 100 µs before it sleeps: waking a thread takes some ten microseconds,
//! which is longer than the smallest loop that is worth splitting. It does not yield while it spins, because a busy
//! machine takes milliseconds to return from a yield. A thread that was woken too late for its work spins too:
//! otherwise it would also be too late for the program's next call, and for every one after that.
//!
//! A pool belongs to one process: a fork copies its memory but none of its threads, so the copy makes its own pool.

use std::any::Any;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::hint;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

/// How often a thread looks for work before it sleeps. Each look takes 10 to 40 ns.
const SPINS: u32 = if cfg!(miri) { 50 } else { 5000 };

/// The initial capacity of the queue. A tree of halves has as many entries queued at a time as it is deep.
const ROOM: usize = 256;

/// Runs both halves, and returns when both have ended.
pub(crate) fn join(first: &mut (dyn FnMut() + Send), second: &mut (dyn FnMut() + Send)) {
    let half = Half {
        work: UnsafeCell::new(second),
        panic: UnsafeCell::new(None),
        ended: AtomicBool::new(false),
        owner: thread::current(),
    };
    // SAFETY: this frame, and with it `half`, stays until `entry` has been taken back or `ended` is set, and nobody
    // touches `half` after that: nothing below returns or unwinds earlier.
    let entry = unsafe { Entry::new(&half) };
    let pool = Pool::of_this_process();
    pool.push(entry);
    let result = catch_unwind(AssertUnwindSafe(first));
    if pool.take_back(entry) {
        entry.run();
    } else {
        pool.wait_for(&half.ended);
    }
    match (result, half.panic.into_inner()) {
        (Ok(()), None) => {}
        (Ok(()), Some(panic)) | (Err(panic), None) => resume_unwind(panic),
        (Err(panic), Some(second)) => {
            // Dropping a panic's payload may panic, which would end the process if it happened while another panic
            // unwinds.
            if let Err(third) = catch_unwind(AssertUnwindSafe(|| drop(second))) {
                mem::forget(third);
            }
            resume_unwind(panic);
        }
    }
}

/// Wakes the sleeping threads, so that threads that are no longer wanted end.
pub(crate) fn retire() {
    let pool = Pool::of_this_process();
    drop(pool.lock());
    pool.queued.notify_all();
}

/// Whether a thread of the pool is awake, so that it takes work at once.
pub(crate) fn is_awake() -> bool {
    // SAFETY: a pool that has been in `POOL` is never freed. That of a parent process is only read.
    unsafe { POOL.load(Ordering::Acquire).as_ref() }
        .is_some_and(|pool| pool.awake.load(Ordering::Relaxed) > 0)
}

/// The second half of a [`join`], on the stack of its caller.
struct Half<'a> {
    work: UnsafeCell<&'a mut (dyn FnMut() + Send)>,
    panic: UnsafeCell<Option<Box<dyn Any + Send>>>,
    ended: AtomicBool,
    /// The thread that waits for the half.
    owner: Thread,
}

/// A half in the queue. Only the thread that removes it from the queue runs it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry(*const Half<'static>);

// SAFETY: a half's function and a panic are `Send`; the other fields are made to be shared.
unsafe impl Send for Entry {}

impl Entry {
    /// # Safety
    /// The half must outlive the entry's stay in the queue and, if [`Entry::run`] is called, last until it has set
    /// `ended`.
    unsafe fn new(half: &Half<'_>) -> Self {
        Self(ptr::from_ref(half).cast())
    }

    /// Runs the half. Only the thread that removed it from the queue may call this, and only once.
    fn run(self) {
        // SAFETY: the half lasts until `ended` is set, by the promise to `new`.
        let half = unsafe { &*self.0 };
        // SAFETY: only the thread that removed the entry from the queue gets here, once; the owner reads `panic` after
        // `ended`.
        let (work, panic) = unsafe { (&mut *half.work.get(), &mut *half.panic.get()) };
        *panic = catch_unwind(AssertUnwindSafe(work)).err();
        let owner = half.owner.clone();
        half.ended.store(true, Ordering::Release);
        owner.unpark();
    }
}

struct Pool {
    /// The process that the threads belong to, see [`this_process`].
    process: u32,
    state: Mutex<State>,
    /// Notified when a half is queued, or fewer threads are wanted.
    queued: Condvar,
    /// The length of the queue, for threads that look at it without the lock.
    len: AtomicUsize,
    /// The number of threads that do not sleep, for the same purpose.
    awake: AtomicUsize,
}

struct State {
    queue: VecDeque<Entry>,
    /// The number of threads, and the number of these that sleep.
    threads: usize,
    sleeping: usize,
}

/// The pool that was made last; null before the first.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

/// Distinguishes a process from the one that it was forked from. Other systems than Unix have no forks, and not always
/// process ids.
fn this_process() -> u32 {
    if cfg!(unix) { process::id() } else { 0 }
}

impl Pool {
    /// The pool of this process. Getting the process id takes some 150 ns, which is little for a caller that is about
    /// to wake a thread.
    ///
    /// A forked process leaves its parent's pool untouched: the pool's threads do not exist here, one of them may have
    /// held its lock, and its queued halves are on stacks that no longer exist.
    fn of_this_process() -> &'static Self {
        let last = POOL.load(Ordering::Acquire);
        // SAFETY: a pool that has been in `POOL` is never freed.
        match unsafe { last.as_ref() } {
            Some(pool) if pool.process == this_process() => pool,
            Some(_) | None => Self::replace(last),
        }
    }

    /// Replaces the last pool by a new one, unless another thread does so first.
    #[cold]
    fn replace(last: *mut Self) -> &'static Self {
        let new = Box::into_raw(Box::new(Self {
            process: this_process(),
            state: Mutex::new(State { queue: VecDeque::new(), threads: 0, sleeping: 0 }),
            queued: Condvar::new(),
            len: AtomicUsize::new(0),
            awake: AtomicUsize::new(0),
        }));
        match POOL.compare_exchange(last, new, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: the pool was just made, and is never freed from here on.
            Ok(_) => unsafe { &*new },
            // SAFETY: nobody else has seen the new pool; the other thread's is never freed.
            Err(first) => unsafe {
                drop(Box::from_raw(new));
                &*first
            },
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&'static self, entry: Entry) {
        let mut state = self.lock();
        // Reserved once: a call that folds does not allocate, however many other calls run at the same time.
        if state.queue.capacity() == 0 {
            state.queue.reserve(ROOM);
        }
        state.queue.push_back(entry);
        self.len.store(state.queue.len(), Ordering::Relaxed);
        let wanted = crate::parallel::threads() - 1;
        while state.threads < wanted && self.spawn() {
            state.threads += 1;
            self.count_awake(&state);
        }
        let wake = state.sleeping > 0;
        drop(state);
        if wake {
            self.queued.notify_one();
        }
    }

    fn count_awake(&self, state: &State) {
        self.awake.store(state.threads - state.sleeping, Ordering::Relaxed);
    }

    /// Adds a thread. If no thread can be created, the existing ones do the work.
    fn spawn(&'static self) -> bool {
        thread::Builder::new().name("mind".to_string()).spawn(|| self.work()).is_ok()
    }

    /// Takes the oldest entry, which is the largest of its caller's.
    fn take(&self) -> Option<Entry> {
        if self.len.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut state = self.lock();
        let entry = state.queue.pop_front();
        self.len.store(state.queue.len(), Ordering::Relaxed);
        entry
    }

    /// Removes an entry if no thread has begun it.
    fn take_back(&self, entry: Entry) -> bool {
        let mut state = self.lock();
        let found = state.queue.iter().rposition(|queued| *queued == entry);
        if let Some(position) = found {
            state.queue.remove(position);
            self.len.store(state.queue.len(), Ordering::Relaxed);
        }
        found.is_some()
    }

    /// Runs queued halves until `ended` is set.
    fn wait_for(&self, ended: &AtomicBool) {
        let mut spins = 0;
        while !ended.load(Ordering::Acquire) {
            match self.take() {
                Some(entry) => {
                    entry.run();
                    spins = 0;
                }
                None if spins < SPINS => {
                    spins += 1;
                    hint::spin_loop();
                }
                None => thread::park(),
            }
        }
    }

    /// The loop of a thread of the pool.
    fn work(&self) {
        let mut spins = 0;
        loop {
            if let Some(entry) = self.take() {
                entry.run();
                spins = 0;
            } else if spins < SPINS {
                spins += 1;
                hint::spin_loop();
            } else {
                spins = 0;
                let mut state = self.lock();
                if state.queue.is_empty() {
                    if state.threads >= crate::parallel::threads() {
                        state.threads -= 1;
                        self.count_awake(&state);
                        return;
                    }
                    state.sleeping += 1;
                    self.count_awake(&state);
                    state = self.queued.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.sleeping -= 1;
                    self.count_awake(&state);
                }
            }
        }
    }
}

#[cfg(all(test, unix, not(miri)))]
mod tests {
    use super::*;
    use crate::kernels::fork::holds_in_a_fork;
    use crate::parallel::{join, tests::Threads};

    fn sum(numbers: &[u64]) -> u64 {
        if numbers.len() < 2 {
            return numbers.iter().sum();
        }
        let (first, later) = numbers.split_at(numbers.len() / 2);
        let (first, later) = join(|| sum(first), || sum(later));
        first + later
    }

    #[test]
    fn a_fork_has_threads_of_its_own_whatever_those_of_its_parent_were_about() {
        let _threads = Threads::set(4);
        let numbers: Vec<_> = (0..1000).collect();
        let expected = sum(&numbers);
        let pool = Pool::of_this_process();
        let mut state = pool.lock();
        // A half that another thread has queued. The fork would run it if it used its parent's pool.
        let mut work = || ();
        let half = Half {
            work: UnsafeCell::new(&mut work),
            panic: UnsafeCell::new(None),
            ended: AtomicBool::new(false),
            owner: thread::current(),
        };
        // SAFETY: nobody runs it, because the lock is held until the entry has been taken back.
        let entry = unsafe { Entry::new(&half) };
        state.queue.push_back(entry);
        pool.len.store(state.queue.len(), Ordering::Relaxed);
        let holds = holds_in_a_fork(|| {
            let right = sum(&numbers) == expected;
            let its_own = Pool::of_this_process();
            let threads = its_own.lock().threads;
            crate::set_threads(1);
            right && !ptr::eq(its_own, pool) && threads == 3 && !half.ended.load(Ordering::Acquire)
        });
        state.queue.retain(|queued| *queued != entry);
        pool.len.store(state.queue.len(), Ordering::Relaxed);
        drop(state);
        assert!(holds);
        assert!(ptr::eq(Pool::of_this_process(), pool) && sum(&numbers) == expected);
    }
}
