//! Owned sequences of elements.

use std::alloc::Layout;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use mind_shape::element_types;

use super::{self as memory, ALIGN, BlockSize, Memory};

/// Whether memory with values of its last user is filled with [`Storable::POISON`] before it is reused: in builds with
/// assertions, and so in tests, and with the feature `__poison`.
pub(crate) const POISONS: bool = cfg!(any(debug_assertions, feature = "__poison"));

/// A type that memory can hold: all bits zero are a valid value.
///
/// # Safety
/// A value with all bits zero must be valid, and the type must not have padding. If [`ANY_BITS`](Self::ANY_BITS) is
/// set, every bit pattern of its size must be valid.
pub(crate) unsafe trait Storable: Copy + Send + Sync + 'static {
    /// A value that no computation gives by chance, so that a read of unwritten memory yields no plausible number.
    const POISON: Self;
    /// Whether any bits are a valid value, so that memory can be reused without being cleared.
    const ANY_BITS: bool;

    /// As [`poison`], but compiled with this crate and not again in each program, where it would take most of the time
    /// of an unoptimised program.
    fn poison(elements: &mut [Self]);
}

/// A type of which any bits are a valid value.
///
/// # Safety
/// [`Storable::ANY_BITS`] must be set.
pub(crate) unsafe trait Plain: Storable {}

macro_rules! stored {
    ($ty:ident, $any_bits:literal, $poison:expr) => {
        // SAFETY: any bits are an integer, or a float, perhaps a NaN. A truth value is a byte, and 0 is one of its
        // values.
        unsafe impl Storable for $ty {
            const POISON: Self = $poison;
            const ANY_BITS: bool = $any_bits;

            #[inline(never)]
            fn poison(elements: &mut [Self]) {
                elements.fill(Self::POISON);
            }
        }
    };
}

macro_rules! integers {
    ($($ty:ident $variant:ident;)*) => {
        // The highest bit alone: the least signed integer, or the middle of the unsigned ones.
        $(stored!($ty, true, 1 << ($ty::BITS - 1));
        // SAFETY: as above.
        unsafe impl Plain for $ty {})*
    };
}

macro_rules! floats {
    ($($ty:ident $variant:ident;)*) => {
        $(stored!($ty, true, $ty::NAN);
        // SAFETY: as above.
        unsafe impl Plain for $ty {})*
    };
}

element_types!(integers => integers!);
element_types!(floats => floats!);
stored!(bool, false, true);

/// Fills elements that are about to be overwritten with implausible values, in builds that poison memory.
#[inline(always)]
pub(crate) fn poison<T: Storable>(elements: &mut [T]) {
    if POISONS {
        T::poison(elements);
    }
}

/// An owned sequence of elements.
pub(crate) struct Buffer<T> {
    pointer: NonNull<T>,
    len: usize,
    origin: Origin,
}

/// The kind of memory that a buffer has, which determines how it is given back.
// The tag is a word as the fields are, so that a tensor is moved by whole registers.
#[derive(Clone, Copy)]
#[repr(usize)]
enum Origin {
    /// A block. The elements are at its start.
    Block { size: BlockSize },
    /// No memory, because there are no elements.
    Nothing,
    /// Memory of [`reused_layout`] that begins at `start`. The elements begin at the first aligned address in it.
    Aligned { start: NonNull<u8> },
    /// Memory of [`aligned_layout`] that is returned to the allocator at once.
    Scratch { start: NonNull<u8> },
    /// A `Vec<T>` of this capacity.
    Vec { capacity: usize },
}

// SAFETY: a buffer owns its elements, as `Vec<T>` does.
unsafe impl<T: Send> Send for Buffer<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Buffer<T> {}

/// The size of a block for `len` elements; `None` if there are no elements, or too many for any block.
#[inline(always)]
fn block_size<T>(len: usize) -> Option<BlockSize> {
    let bytes = len.checked_mul(size_of::<T>())?;
    if bytes == 0 { None } else { BlockSize::of(bytes) }
}

/// The layout of memory with room for `len` elements from its first 64-byte boundary on, wherever the allocator places
/// it. Asking for little alignment lets the allocator provide zero pages without clearing them.
#[inline]
fn aligned_layout<T>(len: usize) -> Option<Layout> {
    let bytes = len.checked_mul(size_of::<T>())?.checked_add(ALIGN)?;
    Layout::from_size_align(bytes, 16).ok()
}

/// [`aligned_layout`], larger by at most an eighth, so that results whose extents differ a little from call to call
/// have the same memory.
#[inline]
fn reused_layout<T>(len: usize) -> Option<Layout> {
    let bytes = aligned_layout::<T>(len)?.size();
    let step = (1 << bytes.ilog2()) / 8;
    Layout::from_size_align(bytes.checked_next_multiple_of(step)?, 16).ok()
}

impl<T: Storable> Buffer<T> {
    /// `len` zeros, 64-byte aligned; `None` if memory cannot be allocated.
    #[inline]
    pub(crate) fn zeroed(len: usize) -> Option<Self> {
        match block_size::<T>(len) {
            Some(size) => Some(Self::block(len, size, memory::zeroed_block(size, len * size_of::<T>())?)),
            None => {
                Self::aligned(len, reused_layout::<T>(len), memory::zeroed, |start| Origin::Aligned { start })
            }
        }
    }

    /// `len` elements of any value, all of which the caller must write, in memory that [`Self::into_vec`] passes on.
    /// `None` if memory cannot be allocated.
    pub(crate) fn vector(len: usize) -> Option<Self> {
        let layout = Layout::array::<T>(len).ok()?;
        if layout.size() == 0 {
            return Some(Self::from_vec(Vec::new()));
        }
        // SAFETY: the size is not 0.
        let pointer = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) })?.cast();
        // This is the memory of a `Vec` of this capacity: from the global allocator, with the layout of an array, all
        // of it initialised.
        let mut buffer = Self { pointer, len, origin: Origin::Vec { capacity: len } };
        poison(buffer.as_mut_slice());
        Some(buffer)
    }

    /// `len` elements of any value, 64-byte aligned, all of which the caller must write; `None` if memory cannot be
    /// allocated.
    #[inline(always)]
    pub(crate) fn stale(len: usize) -> Option<Self> {
        let mut stale = match block_size::<T>(len) {
            // If not all bits are a valid value, the memory is cleared first.
            _ if !T::ANY_BITS => Self::zeroed(len)?,
            Some(size) => Self::block(len, size, memory::stale_block(size)?),
            None => {
                Self::aligned(len, reused_layout::<T>(len), memory::stale, |start| Origin::Aligned { start })?
            }
        };
        poison(stale.as_mut_slice());
        Some(stale)
    }

    /// The first `len` elements of a block, which must have room for them. Blocks are initialised. The block must be
    /// all zeros unless any bits are a valid element.
    #[inline(always)]
    fn block(len: usize, size: BlockSize, block: NonNull<u8>) -> Self {
        Self { pointer: block.cast(), len, origin: Origin::Block { size } }
    }

    /// `len` zeros, 64-byte aligned, for long-lived data: their memory is not kept when they are dropped. `None` if
    /// memory cannot be allocated.
    pub(crate) fn scratch(len: usize) -> Option<Self> {
        Self::aligned(len, aligned_layout::<T>(len), memory::new, |start| Origin::Scratch { start })
    }

    /// `len` elements in memory of `layout`, which has room for them and for `ALIGN` bytes more. `None` without a layout.
    fn aligned(
        len: usize,
        layout: Option<Layout>,
        take: impl FnOnce(Layout) -> Option<Memory>,
        origin: impl FnOnce(NonNull<u8>) -> Origin,
    ) -> Option<Self> {
        if len == 0 {
            return Some(Self { pointer: NonNull::dangling(), len, origin: Origin::Nothing });
        }
        let layout = layout?;
        let Memory { start, .. } = take(layout)?;
        let skip = start.as_ptr().align_offset(ALIGN);
        assert!(skip < ALIGN && layout.size() >= len * size_of::<T>() + ALIGN);
        // SAFETY: as just asserted, `skip < ALIGN`, and the layout has `ALIGN` bytes beyond the elements. The memory is
        // initialised: it is all zeros, or any bits are a valid element.
        let pointer = unsafe { start.add(skip) }.cast();
        Some(Self { pointer, len, origin: origin(start) })
    }

    /// Takes over the memory of a `Vec`.
    pub(crate) fn from_vec(vec: Vec<T>) -> Self {
        let mut vec = ManuallyDrop::new(vec);
        let pointer = NonNull::new(vec.as_mut_ptr()).expect("a Vec's pointer is never null");
        Self { pointer, len: vec.len(), origin: Origin::Vec { capacity: vec.capacity() } }
    }

    /// The elements as a `Vec`, without copying if they came as one.
    pub(crate) fn into_vec(self) -> Vec<T> {
        match self.origin {
            Origin::Vec { capacity } => {
                let buffer = ManuallyDrop::new(self);
                // SAFETY: `from_vec` took these three from a `Vec`, and the buffer no longer frees them.
                unsafe { Vec::from_raw_parts(buffer.pointer.as_ptr(), buffer.len, capacity) }
            }
            Origin::Nothing | Origin::Block { .. } | Origin::Aligned { .. } | Origin::Scratch { .. } => {
                self.as_slice().to_vec()
            }
        }
    }
}

impl<T> Buffer<T> {
    /// The address of the first element.
    #[inline(always)]
    pub(crate) fn pointer(&self) -> NonNull<T> {
        self.pointer
    }

    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: the buffer owns `len` initialised elements.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.len) }
    }

    #[inline(always)]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: the buffer owns `len` initialised elements.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.len) }
    }
}

impl<T> Drop for Buffer<T> {
    // Nothing takes the buffer's address, so the buffer need not be kept in memory for a panic that would drop it.
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the buffer is gone, and these three are its fields.
        unsafe { release(self.pointer, self.len, self.origin) };
    }
}

/// Gives back the memory of a buffer.
///
/// # Safety
/// The arguments must be those of a buffer that nobody uses any longer.
#[inline(never)]
unsafe fn release<T>(pointer: NonNull<T>, len: usize, origin: Origin) {
    match origin {
        Origin::Block { size } => memory::release_block(pointer.cast(), size),
        Origin::Nothing | Origin::Aligned { .. } | Origin::Scratch { .. } | Origin::Vec { .. } => {
            // SAFETY: the caller's promise.
            unsafe { release_others(pointer, len, origin) };
        }
    }
}

/// Gives back memory that is not a block. This is a separate function so that dropping a small tensor is little code.
///
/// # Safety
/// As for [`release`].
#[cold]
#[inline(never)]
unsafe fn release_others<T>(pointer: NonNull<T>, len: usize, origin: Origin) {
    match origin {
        Origin::Block { .. } | Origin::Nothing => {}
        Origin::Aligned { start } => {
            let layout = reused_layout::<T>(len).expect("it was allocated with this layout");
            memory::release(Memory { start, layout });
        }
        Origin::Scratch { start } => {
            let layout = aligned_layout::<T>(len).expect("it was allocated with this layout");
            memory::free(Memory { start, layout });
        }
        Origin::Vec { capacity } => {
            // SAFETY: `from_vec` took these three from a `Vec`, and nothing uses them after this.
            drop(unsafe { Vec::from_raw_parts(pointer.as_ptr(), len, capacity) });
        }
    }
}

/// Casts bytes to elements, which are poisoned, or false. Panics if the bytes are not aligned for the elements or not a
/// whole number of them.
#[inline(always)]
pub(crate) fn cast_bytes<T: Storable>(bytes: &mut [u8]) -> &mut [T] {
    assert!(bytes.as_ptr().cast::<T>().is_aligned() && bytes.len().is_multiple_of(size_of::<T>()));
    if !T::ANY_BITS {
        bytes.fill(0);
    }
    let len = bytes.len() / size_of::<T>();
    // SAFETY: alignment and length were checked. Any initialised bytes are valid elements if any bits are; otherwise
    // the bytes have just been set to zero. Every element that is written leaves initialised bytes.
    let elements = unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), len) };
    poison(elements);
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroed_buffers_are_aligned_and_zero_even_if_they_are_used_again() {
        for len in [1, 2, 15, 16, 17, 1000, 100_000, 100_000] {
            let buffer = Buffer::<f32>::zeroed(len).expect("memory");
            assert_eq!(buffer.as_slice().as_ptr().align_offset(ALIGN), 0);
            assert!(buffer.as_slice().iter().all(|x| *x == 0.0));
            assert_eq!(buffer.as_slice().len(), len);
            let mut stale = Buffer::<f32>::stale(len).expect("memory");
            assert_eq!(stale.as_slice().as_ptr().align_offset(ALIGN), 0);
            stale.as_mut_slice().fill(1.0);
            assert!(buffer.as_slice().iter().all(|x| *x == 0.0));
            drop((buffer, stale));
        }
        assert!(Buffer::<f32>::zeroed(0).expect("nothing").as_slice().is_empty());
    }

    #[test]
    fn stale_memory_is_poisoned() {
        for len in [1, 1000, 100_000] {
            assert!(Buffer::<bool>::stale(len).expect("memory").as_slice().iter().all(|x| *x));
            assert!(Buffer::<f64>::stale(len).expect("memory").as_slice().iter().all(|x| x.is_nan()));
            assert!(Buffer::<i32>::stale(len).expect("memory").as_slice().iter().all(|x| *x == i32::MIN));
        }
    }

    #[test]
    fn a_buffer_that_cannot_be_had_is_none() {
        assert!(Buffer::<f64>::zeroed(usize::MAX / 8).is_none());
        assert!(Buffer::<f64>::zeroed(usize::MAX / 16).is_none());
        assert!(Buffer::<f64>::zeroed(usize::MAX).is_none());
    }

    #[test]
    fn a_vec_goes_through_unmoved() {
        let mut vec = Vec::with_capacity(10);
        vec.extend([1, 2, 3]);
        let pointer = vec.as_ptr();
        let mut buffer = Buffer::<i64>::from_vec(vec);
        buffer.as_mut_slice()[1] = 7;
        let vec = buffer.into_vec();
        assert_eq!((vec.as_ptr(), vec.capacity(), &vec[..]), (pointer, 10, &[1, 7, 3][..]));
        drop(Buffer::<i64>::from_vec(vec));
    }

    #[test]
    fn bytes_are_cast_whole() {
        let mut buffer = Buffer::<u8>::zeroed(64).expect("memory");
        cast_bytes::<f32>(buffer.as_mut_slice())[1] = 1.0;
        assert_eq!(buffer.as_slice()[4..8], 1.0_f32.to_ne_bytes());
        // Bytes that are not truth values are made valid before they are read.
        buffer.as_mut_slice().fill(0xaa);
        let truths = cast_bytes::<bool>(buffer.as_mut_slice());
        assert!(truths.iter().all(|truth| *truth));
        truths[3] = false;
        assert_eq!(buffer.as_slice()[2..5], [1, 0, 1]);
    }
}
