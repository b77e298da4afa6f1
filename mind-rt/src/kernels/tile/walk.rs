//! The operands and the destination of a tile, and two ways to walk them.

use super::{LINE, TALLEST, Vector, unroll};
use crate::kernels::limit::limit;
use crate::kernels::prefetch::prefetch;

/// If a sum has this many products or more, its tile fetches the operands of later tiles ahead, in stretches.
pub const WORTH_FETCHING_AHEAD: usize = limit(128, 8);

/// The operands and the destination of a tile: `to[r][j] = Σ lhs[r][..] · rhs[.. + j]`, over the loops of its walk.
#[derive(Clone, Copy)]
pub struct Tile<T, W> {
    /// The positions of the rows, and the loops.
    pub walk: W,
    /// The first row of right factors.
    pub rhs: *const T,
    /// The number of columns.
    pub columns: usize,
    /// Whether sums begin with the present values of the destination.
    pub adds: bool,
}

/// A loop of a sum.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// The number of steps.
    pub count: usize,
    /// The distance from one left factor to the next.
    pub lhs: usize,
    /// The distance from one vector of right factors to the next.
    pub rhs: usize,
}

impl Loop {
    /// One step.
    pub const ONCE: Self = Self { count: 1, lhs: 0, rhs: 0 };
}

/// The positions of the factors of a step.
#[derive(Clone, Copy)]
pub struct Factors<T> {
    /// The distance of the left factors from those of the first step.
    pub lhs: usize,
    /// The first of the right factors.
    pub rhs: *const T,
}

/// The positions of the rows of a tile, and the loops of their sums.
pub trait Walk<T> {
    /// The first factor of each row.
    fn lhs<const R: usize>(&self) -> [*const T; R];

    /// The destination of the sums of a row.
    fn to(&self, row: usize) -> *mut T;

    /// The innermost loop.
    fn steps(&self) -> Loop;

    /// Calls `stretch` with the factors and the number of steps of each stretch of the innermost loop. `stretch`
    /// returns the factors after these steps. `rhs` is the tile's first right factor. If `fetches`, operands of later
    /// tiles are prefetched meanwhile.
    fn for_each_stretch<V: Vector<Element = T>, const R: usize, const W: usize>(
        &self,
        rhs: *const T,
        fetches: bool,
        stretch: impl FnMut(Factors<T>, usize) -> Factors<T>,
    );
}

/// A product of matrices: rows at a constant distance, and a single loop. Setting up more would take as long as a short
/// sum.
#[derive(Clone, Copy)]
pub struct Straight<T> {
    /// The first factor of the first row.
    pub lhs: *const T,
    /// The distance from one row of factors to the next.
    pub lhs_stride: usize,
    /// The destination of the sums of the first row.
    pub to: *mut T,
    /// The distance from one row of sums to the next.
    pub to_stride: usize,
    pub steps: Loop,
    /// The operands of later tiles.
    pub ahead: Ahead<T>,
}

/// The memory that is prefetched while a tile is summed, a little in each stretch of `k` that is as long as a cache
/// line. Otherwise the first tile that needs it would wait for it, and a tile that fetched all of it at once would wait
/// too. The addresses need not be valid.
#[derive(Clone, Copy)]
pub struct Ahead<T> {
    /// Left factors of later tiles: `lines` cache lines in each stretch, as far along `k` as the tile itself is, in the
    /// tile's own steps.
    pub lhs: *const T,
    /// The distance from one of these lines to the next.
    pub lhs_stride: usize,
    /// The number of lines.
    pub lines: usize,
    /// The sums of a later tile, or the memory that an epilogue will write for the sums of this one: one row in each
    /// stretch.
    pub to: *const T,
    /// The distance from one of these rows to the next.
    pub to_stride: usize,
    /// Whether all these sums are fetched at once and nothing else, for tiles with too few steps for stretches.
    pub at_once: bool,
}

impl<T> Ahead<T> {
    /// Fetches only sums.
    pub const fn sums(to: *const T, to_stride: usize) -> Self {
        Self { lhs: to, lhs_stride: 0, lines: 0, to, to_stride, at_once: false }
    }
}

impl<T: Copy> Walk<T> for Straight<T> {
    #[inline(always)]
    fn lhs<const R: usize>(&self) -> [*const T; R] {
        let mut lhs = [self.lhs; R];
        unroll!(r in R { lhs[r] = self.lhs.wrapping_add(r.wrapping_mul(self.lhs_stride)); });
        lhs
    }

    #[inline(always)]
    fn to(&self, row: usize) -> *mut T {
        self.to.wrapping_add(row * self.to_stride)
    }

    #[inline(always)]
    fn steps(&self) -> Loop {
        self.steps
    }

    #[inline(always)]
    fn for_each_stretch<V: Vector<Element = T>, const R: usize, const W: usize>(
        &self,
        rhs: *const T,
        fetches: bool,
        mut stretch: impl FnMut(Factors<T>, usize) -> Factors<T>,
    ) {
        let steps = self.steps;
        if fetches && self.ahead.at_once {
            unroll!(row in R { self.fetch_sums::<V, W>(self.ahead.to, row); });
        }
        let (mut place, mut left) = (Factors { lhs: 0, rhs }, steps.count);
        while left > 0 {
            let mut count = left;
            if fetches && steps.count >= WORTH_FETCHING_AHEAD {
                count = left.min(LINE / size_of::<T>());
                self.fetch_ahead::<V, R, W>(place.lhs, left);
            }
            place = stretch(place, count);
            left -= count;
        }
    }
}

impl<T: Copy> Straight<T> {
    /// Fetches the memory of one stretch, see [`Ahead`]. `left` steps are left, and the next left factor is `along`
    /// elements into the rows.
    #[inline(always)]
    fn fetch_ahead<V: Vector<Element = T>, const R: usize, const W: usize>(&self, along: usize, left: usize) {
        let Ahead { lhs, lhs_stride, lines, to, .. } = reread(&self.ahead);
        let mut line = lhs.wrapping_add(along);
        let end = line.wrapping_add(lines.wrapping_mul(lhs_stride));
        while line != end {
            prefetch(line);
            line = line.wrapping_add(lhs_stride);
        }
        let row = (self.steps.count - left) / (LINE / size_of::<T>());
        if row < R {
            self.fetch_sums::<V, W>(to, row);
        }
    }

    /// Fetches a row of the sums that begin at `to`.
    #[inline(always)]
    fn fetch_sums<V: Vector<Element = T>, const W: usize>(&self, to: *const T, row: usize) {
        let to = to.wrapping_add(row.wrapping_mul(reread(&self.ahead.to_stride)));
        unroll!(w in W {
            // SAFETY: the tile's vectors are those of a level that the processor has.
            unsafe { V::prefetch(to.wrapping_add(w * V::LANES)) };
        });
    }
}

/// Reads a value that is needed only now and then from memory each time. Otherwise the compiler would read it before
/// the loops. It would then occupy a register that the loops need, or be stored on the stack, where it waits behind the
/// stores of the previous tile's sums.
#[inline(always)]
fn reread<T: Copy>(place: &T) -> T {
    // SAFETY: a reference may be read.
    unsafe { std::ptr::from_ref(place).read_volatile() }
}

/// A convolution or one of its derivatives: rows that lie anywhere, and three nested loops.
#[derive(Clone, Copy)]
pub struct Scattered<T> {
    /// The first factor of each row.
    pub lhs: [*const T; TALLEST],
    /// The destination of the sums of each row.
    pub to: [*mut T; TALLEST],
    /// The distance from the first right factor to that of the next column: 1 if lanes are columns.
    pub column: usize,
    /// The loops over the factors, from the outermost one in.
    pub loops: [Loop; 3],
}

impl<T> Walk<T> for Scattered<T> {
    #[inline(always)]
    fn lhs<const R: usize>(&self) -> [*const T; R] {
        *self.lhs.first_chunk().expect("a tile has at most TALLEST rows")
    }

    #[inline(always)]
    fn to(&self, row: usize) -> *mut T {
        self.to[row]
    }

    #[inline(always)]
    fn steps(&self) -> Loop {
        self.loops[2]
    }

    #[inline(always)]
    fn for_each_stretch<V: Vector<Element = T>, const R: usize, const W: usize>(
        &self,
        first: *const T,
        _: bool,
        mut stretch: impl FnMut(Factors<T>, usize) -> Factors<T>,
    ) {
        let [outer, middle, inner] = self.loops;
        // After the last step of a loop these may be anywhere.
        let (mut outer_lhs, mut outer_rhs) = (0_usize, 0_usize);
        for _ in 0..outer.count {
            let (mut lhs, mut rhs) = (outer_lhs, outer_rhs);
            for _ in 0..middle.count {
                stretch(Factors { lhs, rhs: first.wrapping_add(rhs) }, inner.count);
                lhs = lhs.wrapping_add(middle.lhs);
                rhs = rhs.wrapping_add(middle.rhs);
            }
            outer_lhs = outer_lhs.wrapping_add(outer.lhs);
            outer_rhs = outer_rhs.wrapping_add(outer.rhs);
        }
    }
}

/// Sums a tile.
///
/// # Safety
/// The processor must have the level's instructions. The rows and columns must be those for which the function was
/// taken from [`Micro`](super::Micro). All factors that the loops reach must be readable and all sums writable, and
/// also readable if the tile adds.
pub type TileFn<T, W> = unsafe fn(&Tile<T, W>);

/// A function that sums scattered tiles of `rows` rows. If a number of rows has no function, the next taller one is
/// used, and sums the last row again to the same place, which only takes time.
pub struct RowSums<T> {
    pub rows: usize,
    pub sum: TileFn<T, Scattered<T>>,
}

impl<T> Tile<T, Scattered<T>> {
    /// Sums the first `rows` rows of the tile by one of `tiles`, which are indexed by the number of rows less 1.
    ///
    /// # Safety
    /// As for [`TileFn`], for the columns that `tiles` are for and `rows` rows.
    pub unsafe fn sum(&mut self, tiles: &[RowSums<T>], rows: usize) {
        let (Scattered { lhs, to, .. }, last) = (&mut self.walk, rows - 1);
        let tiles = &tiles[last];
        for row in rows..tiles.rows {
            (lhs[row], to[row]) = (lhs[last], to[last]);
        }
        // SAFETY: the caller vouches for the rows, and the tile has no others now.
        unsafe { (tiles.sum)(self) };
    }
}

/// Hides an index from LLVM. For an index that grows by a step, LLVM would make a pointer for each row, or add up
/// strides to find the rows. That is a fifth more instructions in the loops of large tiles, more than processors that
/// execute four per cycle have time for.
#[inline(always)]
pub fn opaque(mut index: usize) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the assembly is a comment.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) index, options(pure, nomem, nostack, preserves_flags));
    }
    index
}
