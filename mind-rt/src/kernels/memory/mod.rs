//! Allocates and reuses the memory of buffers.
//!
//! Memory that is given back is kept for the next buffer of its size: a loop that calls a function creates results of
//! the same sizes again and again. Small memory comes in [`blocks`], which each thread keeps for itself. Large memory
//! is kept by the process, up to [`share::most_kept`] bytes. An allocator that returns its pages to the system gets
//! them cleared and mapped anew each time, which takes ten to a hundred times as long as writing them.
//!
//! All memory here is initialised: with zeros when it is new, otherwise with the values that its last user left.

mod blocks;
mod buffer;
mod share;

use std::alloc::{self, Layout};
use std::collections::VecDeque;
use std::hint;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, TryLockError};

use blocks::BlockSize;
pub(crate) use buffer::{Buffer, POISONS, Plain, Storable, cast_bytes, poison};

/// Alignment of every allocation made here, in bytes: a cache line, and an AVX-512 register.
pub const ALIGN: usize = 64;

/// The system is asked to map memory of at least this many bytes by huge pages, and how much memory there is.
const HUGE: usize = 4 * 1024 * 1024;

/// Up to this many bytes are cleared faster here than the allocator provides them cleared.
const SMALL: usize = 1024;

/// Initialised memory of a layout. Its holder owns it, and gives it back by [`release`].
struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: memory belongs to its holder, on any thread.
unsafe impl Send for Memory {}

/// A block of any contents, with the alignment of buffers. `None` if memory cannot be allocated.
#[inline(always)]
fn stale_block(size: BlockSize) -> Option<NonNull<u8>> {
    blocks::take(size)
}

/// A block whose first `bytes` bytes are zeros. `None` if memory cannot be allocated.
#[inline]
fn zeroed_block(size: BlockSize, bytes: usize) -> Option<NonNull<u8>> {
    let block = blocks::take(size)?;
    // SAFETY: the block is ours, and no more bytes are written than it has.
    unsafe { block.write_bytes(0, bytes.min(size.bytes())) };
    Some(block)
}

/// Gives a block back.
#[inline]
fn release_block(block: NonNull<u8>, size: BlockSize) {
    blocks::keep(block, size);
}

/// Large memory of any contents. `None` if it cannot be allocated. The layout's size must not be 0.
fn stale(layout: Layout) -> Option<Memory> {
    take(layout).or_else(|| new(layout))
}

/// Large memory of zeros. `None` if it cannot be allocated. The layout's size must not be 0.
fn zeroed(layout: Layout) -> Option<Memory> {
    let Some(memory) = take(layout) else { return new(layout) };
    // SAFETY: the memory is ours, and as large as its layout says.
    unsafe { memory.start.write_bytes(0, layout.size()) };
    Some(memory)
}

/// Zeroed memory from the allocator.
#[inline]
fn new(layout: Layout) -> Option<Memory> {
    if layout.size() > SMALL {
        // SAFETY: the caller's promise: the size is not 0.
        let start = NonNull::new(unsafe { alloc::alloc_zeroed(layout) })?;
        let memory = Memory { start, layout };
        if layout.size() >= HUGE {
            share::ask();
            use_huge_pages(&memory);
        }
        return Some(memory);
    }
    // SAFETY: as above.
    let start = NonNull::new(unsafe { alloc::alloc(layout) })?;
    // SAFETY: the memory has just been allocated with this size.
    unsafe { start.write_bytes(0, layout.size()) };
    Some(Memory { start, layout })
}

/// Asks the system to map new memory by huge pages, as NumPy does: a fourth of the time of small ones, and fewer misses
/// of the address cache. The system may decline.
#[cfg(all(target_os = "linux", not(miri)))]
#[cold]
fn use_huge_pages(memory: &Memory) {
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }
    const MADV_HUGEPAGE: c_int = 14;
    /// A multiple of the size of a small page on every processor.
    const PAGE: usize = 64 << 10;

    let skip = memory.start.as_ptr().align_offset(PAGE);
    let bytes = memory.layout.size().saturating_sub(skip) / PAGE * PAGE;
    if bytes > 0 {
        // SAFETY: the pages are within the memory. The advice changes no contents, and may be refused.
        unsafe { madvise(memory.start.as_ptr().add(skip).cast(), bytes, MADV_HUGEPAGE) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn use_huge_pages(_: &Memory) {}

fn take(layout: Layout) -> Option<Memory> {
    lock()?.take(layout)
}

/// Gives back large memory, which is kept if there is room.
fn release(memory: Memory) {
    let most = share::most_kept();
    if memory.layout.size() > most {
        return free(memory);
    }
    let mut given_up = Vec::new();
    match lock() {
        Some(mut kept) => kept.keep(memory, most, &mut given_up),
        None => given_up.push(memory),
    }
    given_up.into_iter().for_each(free);
}

/// Frees the memory that is kept for later results: by the process, and by this thread. Returns its bytes.
pub fn trim() -> usize {
    let kept = lock().map(|mut kept| std::mem::replace(&mut *kept, Kept::new()));
    let bytes = kept.as_ref().map_or(0, |kept| kept.bytes);
    kept.into_iter().flat_map(|kept| kept.blocks).for_each(free);
    bytes + blocks::trim()
}

/// Returns memory to the allocator.
#[inline]
fn free(memory: Memory) {
    // SAFETY: `new` allocated the memory with this layout, and its owner is done with it.
    unsafe { alloc::dealloc(memory.start.as_ptr(), memory.layout) };
}

/// The memory that is kept. The most recently given back is last.
struct Kept {
    blocks: VecDeque<Memory>,
    bytes: usize,
}

static SHARED: Mutex<Kept> = Mutex::new(Kept::new());

/// The kept memory, or `None` if another thread holds the lock for longer than any operation here takes. A fork copies
/// the lock but not the thread that holds it. The lock is then held for ever, and all memory comes from the allocator,
/// which handles forks.
fn lock() -> Option<MutexGuard<'static, Kept>> {
    const TRIES: u32 = 1000;
    for _ in 0..TRIES {
        match SHARED.try_lock() {
            Ok(kept) => return Some(kept),
            // No change can panic halfway.
            Err(TryLockError::Poisoned(kept)) => return Some(kept.into_inner()),
            Err(TryLockError::WouldBlock) => hint::spin_loop(),
        }
    }
    None
}

impl Kept {
    const fn new() -> Self {
        Self { blocks: VecDeque::new(), bytes: 0 }
    }

    fn take(&mut self, layout: Layout) -> Option<Memory> {
        let position = self.blocks.iter().rposition(|block| block.layout == layout)?;
        self.bytes -= layout.size();
        self.blocks.remove(position)
    }

    /// Keeps a block, and `most` bytes at most. The blocks that have been kept longest make room for it.
    fn keep(&mut self, memory: Memory, most: usize, given_up: &mut Vec<Memory>) {
        while self.bytes + memory.layout.size() > most {
            let Some(oldest) = self.blocks.pop_front() else { break };
            self.bytes -= oldest.layout.size();
            given_up.push(oldest);
        }
        self.bytes += memory.layout.size();
        self.blocks.push_back(memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, 16).expect("a layout")
    }

    fn block(bytes: usize) -> Memory {
        new(layout(bytes)).expect("memory")
    }

    #[test]
    fn kept_memory_is_found_by_size_and_the_oldest_makes_room() {
        const MOST: usize = 1 << 20;
        let mut kept = Kept::new();
        let mut given_up = Vec::new();
        for bytes in [MOST / 2, MOST / 4, MOST / 4] {
            kept.keep(block(bytes), MOST, &mut given_up);
        }
        assert!(given_up.is_empty() && kept.bytes == MOST);
        assert!(kept.take(layout(MOST / 8)).is_none());
        let first = kept.take(layout(MOST / 4)).expect("it was kept");
        assert_eq!(kept.bytes, MOST / 4 * 3);
        kept.keep(first, MOST, &mut given_up);
        kept.keep(block(MOST / 8), MOST, &mut given_up);
        assert_eq!(given_up.iter().map(|block| block.layout.size()).collect::<Vec<_>>(), [MOST / 2]);
        assert_eq!(kept.bytes, MOST / 8 * 5);
        given_up.into_iter().chain(kept.blocks).for_each(free);
    }

    #[test]
    fn zeros_are_zeros_whoever_had_them_before() {
        for bytes in [64, SMALL, SMALL + 1, 1 << 16, HUGE - 1, HUGE, HUGE + 12345] {
            for _ in 0..2 {
                let memory = zeroed(layout(bytes)).expect("memory");
                // SAFETY: this many bytes were allocated, and all are initialised.
                let slice = unsafe { std::slice::from_raw_parts_mut(memory.start.as_ptr(), bytes) };
                assert!(*slice == *vec![0; bytes], "{bytes}");
                slice.fill(7);
                release(memory);
            }
        }
        for bytes in [1, 64, 100, 4000] {
            let size = BlockSize::of(bytes).expect("small");
            for _ in 0..2 {
                let block = zeroed_block(size, bytes).expect("memory");
                // SAFETY: a block of that size has room for this many bytes, and all are initialised.
                let slice = unsafe { std::slice::from_raw_parts_mut(block.as_ptr(), bytes) };
                assert!(slice.iter().all(|byte| *byte == 0), "{bytes}");
                slice.fill(7);
                release_block(block, size);
            }
        }
    }
    #[test]
    #[cfg(all(unix, not(miri)))]
    fn memory_is_had_and_given_back_while_another_thread_holds_what_is_kept() {
        let bytes = || release(stale(layout(1 << 16)).expect("memory"));
        let held = held();
        assert!(super::super::fork::holds_in_a_fork(|| {
            bytes();
            std::panic::catch_unwind(bytes).is_ok()
        }));
        drop(held);
        bytes();
    }

    #[test]
    fn a_panic_while_what_is_kept_is_held_is_forgotten() {
        let hold = || {
            let _held = held();
            panic!("while it is held");
        };
        assert!(std::panic::catch_unwind(hold).is_err());
        release(zeroed(layout(1 << 16)).expect("memory"));
        drop(held());
    }

    /// The kept memory. Other tests may hold it meanwhile, or be stopped by the system while they hold it.
    fn held() -> MutexGuard<'static, Kept> {
        let mut tries = (0..1_000_000).map(|_| {
            std::thread::yield_now();
            lock()
        });
        tries.find_map(|kept| kept).expect("nobody holds it for ever")
    }
}
