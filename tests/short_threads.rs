//! The memory that thousands of short-lived threads leave behind. Each uses a workspace, and memory for results that is
//! kept.
//!
//! This test is a separate binary because it counts the bytes of the whole process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use mind::{Tensor, mind};

struct Counting;

/// The bytes that are allocated now, and all bytes that have ever been allocated.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        TOTAL.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is that of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is that of the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

mind! {
    /// Needs a workspace for `h`, and returns one result in a small block and one in large memory.
    fn results(x: f32[30, 30]) -> (f32[8, 30, 30], f32[12, 30, 30]) {
        let h = exp(x @ x);
        let y = h @ h.T + h;
        (broadcast_to(y, [8, 30, 30]) * 2.0, broadcast_to(y, [12, 30, 30]) + 1.0)
    }
}

type Small = Tensor![f32; 8, 30, 30];

thread_local! {
    static LAST: RefCell<Option<Small>> = const { RefCell::new(None) };
}

/// The limits that the documentation of the library states: for small blocks of a thread, and for large memory of the
/// process.
const KEPT_BY_A_THREAD: usize = 638 << 10;
const KEPT_BY_THE_PROCESS: usize = 32 << 20;

#[test]
fn threads_leave_no_memory_behind_when_they_end() {
    const AT_ONCE: usize = 8;
    const WAVES: usize = 500;
    const { assert!(results::PEAK_BYTES > 2048, "it needs a workspace") };
    let x = &Tensor::full(0.01);
    let (small, large) = results(x);
    assert_eq!((4 * small.len()).div_ceil(32 << 10), 1, "a small block");
    assert!(4 * large.len() > 32 << 10, "large memory");
    let (live, total) = (LIVE.load(Ordering::Relaxed), TOTAL.load(Ordering::Relaxed));
    let mut most = 0;
    for wave in 0..WAVES {
        let (sender, received) = mpsc::channel();
        thread::scope(|scope| {
            let start = |number| {
                let sender = sender.clone();
                scope.spawn(move || {
                    // The order of first use decides whether `LAST` is dropped before or after the memory that the
                    // thread keeps.
                    if number % 2 == 0 {
                        LAST.set(None);
                    }
                    let (first, second) = results(x);
                    LAST.set(Some(results(x).0));
                    sender.send((number, first, second)).expect("the test waits");
                })
            };
            let threads: Vec<_> = (0..AT_ONCE).map(start).collect();
            drop(sender);
            // These results are freed on another thread than the one that allocated them.
            for (number, first, second) in received {
                assert!(first[[7, 29, 29]] > 0.0 && second.len() == large.len(), "{wave}, {number}");
            }
            // The end of a scope does not wait for destructors of thread-local values; `join` does.
            for thread in threads {
                thread.join().expect("no thread panics");
            }
        });
        most = most.max(LIVE.load(Ordering::Relaxed) - live);
    }
    let total = TOTAL.load(Ordering::Relaxed) - total;
    let bound = KEPT_BY_A_THREAD + KEPT_BY_THE_PROCESS;
    assert!(total > 4 * bound, "{total} bytes in all would not be many more than {bound}");
    assert!(most < bound, "{most} bytes are left, {bound} may be kept");
    // All threads need the same sizes, so no more memory is kept than they used at the same time.
    assert!(most < KEPT_BY_A_THREAD + AT_ONCE * 2 * 4 * large.len(), "{most} bytes are left");
}
