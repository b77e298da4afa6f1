//! Memory for packed blocks and sums.

use std::mem::MaybeUninit;

use crate::kernels::memory::{POISONS, Plain};

/// Writable memory.
#[derive(Clone, Copy)]
pub struct Room<T> {
    pub data: *mut T,
    pub len: usize,
}

impl<T> Room<T> {
    /// Fills the room with implausible values, in builds that poison memory: sums of the previous block would be
    /// plausible.
    #[inline(always)]
    pub fn poison(self)
    where
        T: Plain,
    {
        if POISONS {
            (0..self.len).for_each(|at| {
                // SAFETY: the room has this many elements, which may be written.
                unsafe { self.data.add(at).write(T::POISON) };
            });
        }
    }

    /// Splits the room into its first `len` elements, which must exist, and the others.
    pub fn split(self, len: usize) -> (Self, Self) {
        assert!(len <= self.len);
        // SAFETY: as just asserted.
        let rest = unsafe { self.data.add(len) };
        (Self { data: self.data, len }, Self { data: rest, len: self.len - len })
    }
}

/// Room on the stack.
#[repr(align(64))]
pub struct Bytes<const N: usize>([MaybeUninit<u8>; N]);

impl<const N: usize> Bytes<N> {
    #[inline(always)]
    pub fn new() -> Self {
        Self([MaybeUninit::uninit(); N])
    }

    pub fn room<T>(&mut self) -> Room<T> {
        Room { data: self.0.as_mut_ptr().cast(), len: N / size_of::<T>() }
    }
}
