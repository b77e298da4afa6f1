//! Scratch memory for generated functions.

use std::cell::Cell;

use crate::error::Error;
use crate::kernels::memory::{self, ALIGN, Buffer, Storable, cast_bytes};

/// Scratch memory for a generated `_into` function. It either grows or has a fixed size.
///
/// ```
/// use mind_rt::Workspace;
///
/// // Serves any function. A call that needs more memory enlarges it, and later calls allocate nothing.
/// let growing = Workspace::new();
/// assert_eq!(growing.bytes(), 0);
///
/// // A call that needs more returns E6004 and allocates nothing.
/// let fixed = Workspace::with_bytes(1000);
/// assert_eq!(fixed.bytes(), 1024);
/// ```
pub struct Workspace {
    memory: Option<Buffer<u8>>,
    /// Whether a call that needs more memory enlarges the workspace.
    grows: bool,
}

impl Workspace {
    /// A workspace without memory. A call that needs more memory enlarges it.
    #[must_use]
    pub const fn new() -> Self {
        Self { memory: None, grows: true }
    }

    /// A workspace of `bytes` bytes, rounded up to a multiple of 64. It does not grow: a function that needs more
    /// returns [`Error::WorkspaceTooSmall`].
    ///
    /// # Panics
    /// If the memory cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn with_bytes(bytes: usize) -> Self {
        Self::try_with_bytes(bytes).unwrap_or_else(|error| panic!("{error}"))
    }

    /// [`Workspace::with_bytes`] with an error in place of the panic.
    ///
    /// # Errors
    /// E6004 if the memory cannot be allocated.
    pub fn try_with_bytes(bytes: usize) -> Result<Self, Error> {
        Ok(Self { memory: Some(scratch(bytes)?), grows: false })
    }

    /// The number of bytes available.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.as_slice().len())
    }

    /// The whole memory.
    #[doc(hidden)]
    #[inline]
    pub fn memory(&mut self) -> &mut [u8] {
        self.memory.as_mut().map_or(&mut [][..], Buffer::as_mut_slice)
    }

    /// Carves slices of the requested lengths, each 64-byte aligned. Their contents are arbitrary.
    ///
    /// # Errors
    /// E6004 if the workspace has a fixed size below [`segment_bytes`], or if the memory cannot be allocated.
    #[doc(hidden)]
    #[inline]
    pub fn segments(&mut self, lens: Lens) -> Result<Segments<'_>, Error> {
        let needed = segment_bytes(lens);
        if needed > self.bytes() {
            self.grow(needed)?;
        }
        Ok(Segments::of(self.memory(), lens))
    }

    /// Enlarges the memory to `needed` bytes, which must be more than it has.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, needed: usize) -> Result<(), Error> {
        if !self.grows {
            return Err(Error::WorkspaceTooSmall { needed, found: self.bytes() });
        }
        // The old memory is freed first, since both at once might not fit.
        self.memory = None;
        self.memory = Some(scratch(needed)?);
        Ok(())
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

fn scratch(bytes: usize) -> Result<Buffer<u8>, Error> {
    let memory = bytes.checked_next_multiple_of(ALIGN).and_then(Buffer::scratch);
    memory.ok_or_else(|| cannot_allocate(bytes))
}

fn cannot_allocate(bytes: usize) -> Error {
    Error::Allocation { shape: format!("a workspace of {bytes} bytes") }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("bytes", &self.bytes()).finish()
    }
}

macro_rules! segments {
    ($($element:ident $variant:ident;)*) => {
        /// The number of elements of each type that a function needs.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Lens {
            $(#[doc = concat!("Elements of `", stringify!($element), "`.")] pub $element: usize,)*
        }

        impl Lens {
            /// No elements of any type, to be updated field by field.
            pub const NONE: Self = Self { $($element: 0,)* };
        }

        /// Scratch slices. Their contents are arbitrary.
        #[derive(Debug)]
        pub struct Segments<'a> {
            $(#[doc = concat!("Elements of `", stringify!($element), "`.")] pub $element: &'a mut [$element],)*
        }

        impl<'a> Segments<'a> {
            /// Carves the slices from `memory`, which must have at least [`segment_bytes`] bytes.
            #[inline(always)]
            fn of(memory: &'a mut [u8], lens: Lens) -> Self {
                $(let ($element, memory) = carve(memory, lens.$element);)*
                let _ = memory;
                Self { $($element,)* }
            }
        }

        /// The number of bytes that [`Workspace::segments`] needs: those of each type, rounded up to a multiple of 64;
        /// `usize::MAX` on overflow.
        #[inline]
        #[must_use]
        pub const fn segment_bytes(lens: Lens) -> usize {
            0_usize$(.saturating_add(rounded(lens.$element, size_of::<$element>())))*
        }
    };
}

mind_shape::element_types!(all => segments!);

const fn rounded(len: usize, size: usize) -> usize {
    let bytes = len.saturating_mul(size);
    match bytes.checked_next_multiple_of(ALIGN) {
        Some(bytes) => bytes,
        None => usize::MAX,
    }
}

/// The number of bytes that a slice of `len` elements takes, rounded up so that the next slice is aligned; `usize::MAX`
/// on overflow.
#[inline]
#[must_use]
pub const fn slot_bytes<T>(len: usize) -> usize {
    rounded(len, size_of::<T>())
}

/// Splits off a slice of `len` elements and returns it with the rest of the memory. The slice is 64-byte aligned if
/// `memory` is. Its contents are arbitrary.
///
/// # Panics
/// With E6004 if the memory is too small, since the workspace that holds it could not be allocated.
#[track_caller]
#[inline(always)]
#[allow(private_bounds, reason = "sealed")]
pub fn carve<T: Storable>(memory: &mut [u8], len: usize) -> (&mut [T], &mut [u8]) {
    let needed = rounded(len, size_of::<T>());
    if needed > memory.len() {
        fail_to_allocate(needed);
    }
    let (segment, rest) = memory.split_at_mut(needed);
    // Slices of length 0 are not carved: the address of empty memory is not aligned.
    let segment: &mut [T] = if len == 0 { &mut [] } else { cast_bytes(&mut segment[..len * size_of::<T>()]) };
    (segment, rest)
}

#[cold]
#[inline(never)]
#[track_caller]
fn fail_to_allocate(bytes: usize) -> ! {
    panic!("{}", cannot_allocate(bytes));
}

/// The number of bytes up to which [`with_stack`] is cheaper than [`with_workspace`].
pub const STACK_BYTES: usize = 2048;

/// Calls `f` with scratch slices of the requested lengths, in `BYTES` bytes on the stack. `BYTES` must be at least
/// [`segment_bytes`]. Each call clears the memory, which costs less than [`with_workspace`] up to about
/// [`STACK_BYTES`].
#[inline(always)]
pub fn with_stack<const BYTES: usize, R>(lens: Lens, f: impl FnOnce(Segments<'_>) -> R) -> R {
    #[repr(align(64))]
    struct Aligned<const BYTES: usize>([u8; BYTES]);

    const { assert!(align_of::<Aligned<0>>() == ALIGN) };
    let mut memory = Aligned([0; BYTES]);
    f(Segments::of(&mut memory.0, lens))
}

thread_local! {
    static SHARED: Cell<Workspace> = const { Cell::new(Workspace::new()) };
}

/// The bytes of the largest workspace that a thread keeps. Larger memory belongs to the process, as that of results.
const KEPT_BY_THREAD: usize = 1 << 20;

/// Calls `f` with a workspace of at least `bytes`, which is kept for the next call: by this thread, or by the process if
/// it is larger than 1 MiB. Inner calls, while `f` runs, get separate workspaces. If the memory cannot be allocated, the
/// workspace is empty, and [`Workspace::segments`] or [`carve`] reports the error.
pub fn with_workspace<R>(bytes: usize, f: impl FnOnce(&mut Workspace) -> R) -> R {
    if bytes == 0 || bytes > KEPT_BY_THREAD {
        let memory = bytes.checked_next_multiple_of(ALIGN).and_then(Buffer::stale);
        return f(&mut Workspace { memory, grows: true });
    }
    // While the thread ends, its workspace is gone. Then a new one is used.
    let mut workspace = SHARED.try_with(Cell::take).unwrap_or_default();
    if workspace.bytes() < bytes {
        let _ = workspace.grow(bytes);
    }
    let result = f(&mut workspace);
    let _ = SHARED.try_with(|shared| {
        let inner = shared.take();
        shared.set(if inner.bytes() > workspace.bytes() { inner } else { workspace });
    });
    result
}

/// Frees the memory that is kept for later calls, and returns its bytes.
///
/// The process keeps the memory of dropped results and of large workspaces, up to an eighth of the machine's memory.
/// Each thread keeps a workspace and small results. This function frees what the process and the calling thread keep;
/// it affects no value in use. The next call of each function allocates anew.
///
/// ```
/// use mind_rt::{Tensor, trim};
///
/// let large = Tensor::<f32, _>::full_with((2000, 2000), 1.0);
/// drop(large);
/// assert!(trim() >= 16_000_000);
/// assert_eq!(trim(), 0);
/// ```
pub fn trim() -> usize {
    let workspace = SHARED.try_with(Cell::take).unwrap_or_default();
    let bytes = workspace.bytes();
    drop(workspace);
    bytes + memory::trim()
}

/// The parts of `arena` at `ranges`, which must be in bounds and disjoint. Where the ranges and the arena's length are
/// constants, the compiler removes the checks.
#[inline(always)]
#[track_caller]
pub fn split<T, const N: usize>(arena: &mut [T], ranges: [std::ops::Range<usize>; N]) -> [&mut [T]; N] {
    match arena.get_disjoint_mut(ranges) {
        Ok(parts) => parts,
        Err(_) => crate::kernels::internal_error("planned buffers overlap or exceed the arena"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENS: Lens = Lens { f32: 17, f64: 3, i64: 1, bool: 5, ..Lens::NONE };

    #[test]
    fn segments_are_aligned_and_disjoint() {
        const BYTES: usize = segment_bytes(LENS);
        assert_eq!(BYTES, 128 + 64 + 64 + 64);
        let mut workspace = Workspace::with_bytes(BYTES);
        let segments = workspace.segments(LENS).expect("enough bytes");
        segments.f32.fill(1.0);
        segments.f64.fill(2.0);
        segments.i64.fill(3);
        assert_eq!((segments.f32.len(), segments.f64.len()), (17, 3));
        assert_eq!((segments.i32.len(), segments.i64.len()), (0, 1));
        assert_eq!(segments.f32.as_ptr().align_offset(64), 0);
        assert_eq!(segments.f64.as_ptr().align_offset(64), 0);
        assert_eq!(segments.i64.as_ptr().align_offset(64), 0);
        assert!(segments.f32.iter().all(|x| *x == 1.0) && segments.f64.iter().all(|x| *x == 2.0));
    }

    #[test]
    fn what_another_call_left_is_poisoned() {
        let mut workspace = Workspace::with_bytes(segment_bytes(LENS));
        for _ in 0..2 {
            let segments = workspace.segments(LENS).expect("enough bytes");
            assert!(segments.f32.iter().all(|x| x.is_nan()) && segments.i64.iter().all(|x| *x == i64::MIN));
            assert!(segments.bool.iter().all(|x| *x));
            segments.bool.fill(false);
            segments.f32.fill(1.0);
            segments.i64.fill(2);
        }
    }

    #[test]
    fn a_workspace_of_given_bytes_does_not_grow() {
        let mut workspace = Workspace::with_bytes(64);
        let error = workspace.segments(LENS).expect_err("64 bytes are too few");
        assert_eq!(error, Error::WorkspaceTooSmall { needed: 320, found: 64 });
        let said = "E6004: the workspace has 64 bytes, needed 320: write `Workspace::with_bytes(320)`, or `Workspace::new()`, \
                    which grows";
        assert_eq!(error.to_string(), said);
        assert_eq!(workspace.bytes(), 64);
        assert!(workspace.segments(Lens { f32: 16, ..Lens::NONE }).is_ok());
        assert_eq!(Workspace::with_bytes(0).segments(LENS).expect_err("nothing").code(), "E6004");
        assert!(Workspace::with_bytes(0).segments(Lens::NONE).is_ok());
    }

    #[test]
    fn a_new_workspace_grows_to_what_the_largest_call_needs() {
        let mut workspace = Workspace::default();
        assert!(workspace.segments(Lens::NONE).is_ok());
        assert_eq!(workspace.bytes(), 0);
        for (len, bytes) in [(1, 64), (100, 448), (3, 448), (1000, 4032)] {
            let segments = workspace.segments(Lens { f32: len, ..Lens::NONE }).expect("grows");
            assert_eq!((segments.f32.len(), segments.f32.as_ptr().align_offset(64)), (len, 0));
            assert_eq!(workspace.bytes(), bytes);
        }
        let error = workspace.segments(Lens { f64: usize::MAX, ..Lens::NONE }).expect_err("too much");
        assert_eq!(error, cannot_allocate(usize::MAX));
        assert!(workspace.segments(LENS).is_ok());
    }

    #[test]
    fn sizes_that_overflow_are_errors() {
        assert_eq!(segment_bytes(Lens { f64: usize::MAX / 4, ..Lens::NONE }), usize::MAX);
        assert_eq!(
            segment_bytes(Lens { f32: usize::MAX / 6, f64: usize::MAX / 10, ..Lens::NONE }),
            usize::MAX
        );
        let huge = Lens { i64: usize::MAX, ..Lens::NONE };
        assert!(Workspace::with_bytes(64).segments(huge).is_err());
        assert_eq!(Workspace::try_with_bytes(usize::MAX).expect_err("too much").code(), "E6004");
        assert!(with_workspace(usize::MAX, |workspace| workspace.segments(huge).is_err()));
    }

    #[test]
    fn the_threads_workspace_is_kept_and_reentrant() {
        let at = |workspace: &mut Workspace| {
            workspace.segments(Lens { f32: 250, ..Lens::NONE }).expect("enough").f32.as_ptr()
        };
        let first = with_workspace(1000, at);
        assert_eq!(with_workspace(500, at), first);
        with_workspace(1000, |outer| {
            let outer_at = at(outer);
            assert_eq!(outer_at, first);
            let inner_at = with_workspace(2000, |inner| {
                assert!(inner.bytes() >= 2000);
                at(inner)
            });
            assert_ne!(outer_at, inner_at);
        });
        assert!(with_workspace(1, |workspace| workspace.bytes()) >= 2000);
    }

    #[test]
    fn trimming_frees_the_workspace_of_a_thread() {
        with_workspace(5000, |workspace| assert!(workspace.bytes() >= 5000));
        with_workspace(KEPT_BY_THREAD + 1, |workspace| {
            assert_eq!(workspace.bytes(), KEPT_BY_THREAD + ALIGN);
        });
        assert!(trim() >= 5000);
        assert_eq!(with_workspace(1, |workspace| workspace.bytes()), 64);
    }

    #[test]
    fn a_panic_inside_loses_only_memory() {
        let caught = std::panic::catch_unwind(|| with_workspace(64, |_| panic!("inside")));
        assert!(caught.is_err());
        assert_eq!(with_workspace(64, |workspace| workspace.bytes()), 64);
    }

    #[test]
    fn segments_on_the_stack_are_aligned() {
        let sum = with_stack::<{ segment_bytes(LENS) }, _>(LENS, |segments| {
            assert_eq!((segments.f32.len(), segments.f64.len(), segments.i64.len()), (17, 3, 1));
            assert_eq!(segments.f32.as_ptr().align_offset(64), 0);
            assert_eq!(segments.f64.as_ptr().align_offset(64), 0);
            segments.f64.fill(0.5);
            segments.f32.fill(1.0);
            segments.i64.fill(2);
            segments.f32.iter().sum::<f32>() + segments.i64[0] as f32
        });
        assert_eq!(sum, 19.0);
        assert_eq!(with_stack::<0, _>(Lens::NONE, |segments| segments.f32.len()), 0);
    }

    #[test]
    #[should_panic(expected = "E6004: cannot allocate a workspace of 128 bytes")]
    fn too_little_stack_panics() {
        with_stack::<64, _>(Lens { f32: 17, ..Lens::NONE }, |segments| segments.f32[16]);
    }

    #[test]
    fn an_arena_splits_into_parts() {
        let mut arena = [0, 1, 2, 3, 4, 5];
        let [a, b, c] = split(&mut arena, [4..6, 0..2, 2..2]);
        a[0] = b[1];
        assert_eq!((c.len(), arena), (0, [0, 1, 2, 3, 1, 5]));
    }

    #[test]
    #[should_panic(expected = "internal error in mind: planned buffers overlap")]
    fn overlapping_parts_panic() {
        split(&mut [0; 6], [0..3, 2..4]);
    }
}
