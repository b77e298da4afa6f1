//! Small memory: blocks of a few sizes, which each thread keeps for reuse after they are given back.
//!
//! Without these blocks a call that returns a few numbers would spend most of its time in the allocator: taking a block
//! from here and giving it back takes about 2 ns, while `malloc` and `free` take 15, and twice that once the process
//! has a second thread.

use std::alloc::{self, Layout};
use std::cell::Cell;
use std::ptr::{self, NonNull};

use super::ALIGN;

/// The size of a block: a power of two of cache lines, at most [`LARGEST`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct BlockSize(usize);

/// Bytes of the largest block.
pub(super) const LARGEST: usize = 32 * 1024;

/// The number of block sizes.
const SIZES: usize = (LARGEST / ALIGN).ilog2() as usize + 1;

/// The most bytes that a thread keeps of each size; it also keeps at most [`MOST`] blocks of each.
const KEPT: usize = 128 * 1024;
const MOST: usize = 32;

impl BlockSize {
    /// The smallest size that has room for `bytes` bytes; `None` if no block has.
    #[inline(always)]
    pub(in super::super) const fn of(bytes: usize) -> Option<Self> {
        if bytes > LARGEST {
            return None;
        }
        Some(Self(bytes.div_ceil(ALIGN).next_power_of_two().trailing_zeros() as usize))
    }

    /// Bytes in a block.
    #[inline(always)]
    pub(super) const fn bytes(self) -> usize {
        ALIGN << self.0
    }

    /// The number of blocks of this size that a thread keeps at most.
    const fn most(self) -> usize {
        let fitting = (KEPT / ALIGN) >> self.0;
        if fitting < MOST { fitting } else { MOST }
    }

    const fn layout(self) -> Layout {
        match Layout::from_size_align(self.bytes(), ALIGN) {
            Ok(layout) => layout,
            Err(_) => unreachable!(),
        }
    }
}

/// Unused blocks of one size, as a list. Each block begins with a pointer to the next.
struct Free {
    first: Cell<*mut u8>,
    /// The number of blocks that can still be added.
    room: Cell<usize>,
}

/// The unused blocks of a thread, by size.
struct Blocks([Free; SIZES]);

/// Makes room for blocks when a thread first gives one back, and frees the kept blocks when the thread ends.
struct Keeper {
    has_made_room: Cell<bool>,
}

thread_local! {
    // Without a destructor, so that an access need not check whether it has run. There is no room for blocks before the
    // keeper makes some, nor after it is dropped.
    static BLOCKS: Blocks =
        const { Blocks([const { Free { first: Cell::new(ptr::null_mut()), room: Cell::new(0) } }; SIZES]) };

    static KEEPER: Keeper = const { Keeper { has_made_room: Cell::new(false) } };
}

/// Takes a block, aligned to [`ALIGN`] and initialised; a new block holds zeros. `None` if memory cannot be allocated.
#[inline(always)]
pub(super) fn take(size: BlockSize) -> Option<NonNull<u8>> {
    let kept = BLOCKS.try_with(|blocks| blocks.of(size).and_then(Free::take));
    kept.ok().flatten().or_else(|| new(size))
}

/// Gives back a block that [`take`] returned for the same size, on any thread, and that nobody uses any longer.
#[inline]
pub(super) fn keep(block: NonNull<u8>, size: BlockSize) {
    if !is_kept(block, size) {
        keep_or_free(block, size);
    }
}

/// Keeps a block if there is room for it. Returns whether it did.
#[inline(always)]
fn is_kept(block: NonNull<u8>, size: BlockSize) -> bool {
    let is_kept = BLOCKS.try_with(|blocks| blocks.of(size).is_some_and(|free| free.keep(block)));
    is_kept.unwrap_or(false)
}

#[cold]
#[inline(never)]
fn keep_or_free(block: NonNull<u8>, size: BlockSize) {
    // A thread that is ending keeps nothing.
    let makes_room = KEEPER.try_with(Keeper::makes_room).unwrap_or(false);
    if !(makes_room && is_kept(block, size)) {
        free(block, size);
    }
}

#[cold]
#[inline(never)]
fn new(size: BlockSize) -> Option<NonNull<u8>> {
    // SAFETY: no block has size 0.
    NonNull::new(unsafe { alloc::alloc_zeroed(size.layout()) })
}

/// Frees the blocks that this thread keeps. Returns their bytes.
pub(super) fn trim() -> usize {
    BLOCKS.try_with(|blocks| blocks.by_size().map(|(size, free)| free.trim(size)).sum()).unwrap_or(0)
}

#[cold]
#[inline(never)]
fn free(block: NonNull<u8>, size: BlockSize) {
    // SAFETY: `new` allocated the block with this layout, and its owner is done with it.
    unsafe { alloc::dealloc(block.as_ptr(), size.layout()) };
}

impl Blocks {
    /// The unused blocks of a size. Every size has a list.
    #[inline(always)]
    fn of(&self, size: BlockSize) -> Option<&Free> {
        self.0.get(size.0)
    }

    fn by_size(&self) -> impl Iterator<Item = (BlockSize, &Free)> {
        self.0.iter().enumerate().map(|(index, free)| (BlockSize(index), free))
    }
}

impl Free {
    #[inline(always)]
    fn take(&self) -> Option<NonNull<u8>> {
        let block = NonNull::new(self.first.get())?;
        // SAFETY: a block in the list is ours alone, and begins with the pointer that `keep` wrote.
        self.first.set(unsafe { block.cast::<*mut u8>().read() });
        self.room.set(self.room.get() + 1);
        Some(block)
    }

    /// Keeps a block if there is room for it. Returns whether it did.
    #[inline(always)]
    fn keep(&self, block: NonNull<u8>) -> bool {
        let room = self.room.get();
        if room == 0 {
            return false;
        }
        // SAFETY: nobody else uses the block, which is aligned for a pointer and larger than one.
        unsafe { block.cast::<*mut u8>().write(self.first.get()) };
        self.first.set(block.as_ptr());
        self.room.set(room - 1);
        true
    }

    /// Frees the blocks, which are of this size. Returns their bytes.
    fn trim(&self, size: BlockSize) -> usize {
        let mut bytes = 0;
        while let Some(block) = self.take() {
            free(block, size);
            bytes += size.bytes();
        }
        bytes
    }
}

impl Keeper {
    /// Makes room for blocks, unless that has been done before. Returns whether it did.
    fn makes_room(&self) -> bool {
        let makes_room = !self.has_made_room.replace(true);
        if makes_room {
            let _ = BLOCKS.try_with(|blocks| {
                blocks.by_size().for_each(|(size, free)| free.room.set(size.most()));
            });
        }
        makes_room
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let _ = BLOCKS.try_with(|blocks| {
            for (size, list) in blocks.by_size() {
                list.trim(size);
                list.room.set(0);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_room_and_the_largest_is_the_last() {
        for (bytes, size) in
            [(1, 64), (64, 64), (65, 128), (129, 256), (LARGEST - 1, LARGEST), (LARGEST, LARGEST)]
        {
            assert_eq!(BlockSize::of(bytes).map(BlockSize::bytes), Some(size), "{bytes}");
        }
        assert_eq!(BlockSize::of(LARGEST + 1), None);
        assert_eq!(BlockSize::of(LARGEST).map(|size| size.0), Some(SIZES - 1));
    }

    /// The library's documentation states this number.
    #[test]
    fn a_thread_keeps_638_kib_at_most() {
        let kept = (0..SIZES).map(BlockSize).map(|size| size.most() * size.bytes()).sum::<usize>();
        assert_eq!(kept, 638 << 10);
    }

    #[test]
    fn a_block_is_used_again_by_the_thread_that_gave_it_back() {
        let size = BlockSize::of(700).expect("a small block");
        let block = take(size).expect("memory");
        assert_eq!(block.as_ptr().align_offset(ALIGN), 0);
        keep(block, size);
        let other = BlockSize::of(100).expect("a small block");
        let another = take(other).expect("memory");
        assert_ne!(another, block);
        assert_eq!(take(size), Some(block));
        keep(another, other);
        // Another thread takes the block over, and frees it when it ends.
        let address = block.addr();
        struct Moved(NonNull<u8>);
        // SAFETY: the block is the new thread's from here on, and nothing else refers to it.
        unsafe impl Send for Moved {}
        let moved = Moved(block);
        let same = std::thread::spawn(move || {
            let Moved(block) = { moved };
            keep(block, size);
            take(size).is_some_and(|again| {
                keep(again, size);
                again.addr() == address
            })
        });
        assert!(same.join().expect("it does not panic"));
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let size = BlockSize::of(LARGEST).expect("a small block");
        let free = Free { first: Cell::new(ptr::null_mut()), room: Cell::new(size.most()) };
        let blocks: Vec<_> = (0..5).map(|_| new(size).expect("memory")).collect();
        let kept: Vec<bool> = blocks.iter().map(|block| free.keep(*block)).collect();
        assert_eq!(kept, [true, true, true, true, false]);
        super::free(blocks[4], size);
        for block in blocks[..4].iter().rev() {
            assert_eq!(free.take(), Some(*block));
            super::free(*block, size);
        }
        assert_eq!(free.take(), None);
    }
}
