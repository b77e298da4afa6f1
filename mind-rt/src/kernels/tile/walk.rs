//! What a tile sums and where to, and two ways to walk it.

use super::{LINE, TALLEST, Vector, each};
use crate::kernels::limit::limit;
use crate::kernels::prefetch::prefetch;

/// From so many products a sum, a tile fetches what those after it need by stretches.
pub const WORTH_FETCHING_AHEAD: usize = limit(128, 8);

/// What a tile sums, and where to: `to[r][j] = Σ lhs[r][..] · rhs[.. + j]`, over the loops of its walk.
#[derive(Clone, Copy)]
pub struct Tile<T, W> {
    /// Where its rows are, and the loops.
    pub walk: W,
    /// The first row of factors on the right.
    pub rhs: *const T,
    /// How many columns there are.
    pub columns: usize,
    /// Whether sums begin with what is there.
    pub adds: bool,
}

/// A loop of a sum.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// How many steps.
    pub count: usize,
    /// From one factor on the left to the next.
    pub lhs: usize,
    /// From one vector on the right to the next.
    pub rhs: usize,
}

impl Loop {
    /// One step.
    pub const ONCE: Self = Self { count: 1, lhs: 0, rhs: 0 };
}

/// Where the factors of a step are.
#[derive(Clone, Copy)]
pub struct Factors<T> {
    /// On the left, how far they are from those of the first step.
    pub lhs: usize,
    /// On the right, the first one.
    pub rhs: *const T,
}

/// Where the rows of a tile are, and the loops of their sums.
pub trait Walk<T> {
    /// The first factor of each row.
    fn lhs<const R: usize>(&self) -> [*const T; R];

    /// Where the sums of a row go.
    fn to(&self, row: usize) -> *mut T;

    /// The innermost loop.
    fn steps(&self) -> Loop;

    /// Calls `stretch` with the place and the number of steps of each stretch of the innermost loop, to return the place behind
    /// them. What follows the tile's first right factor, at `rhs`, is fetched meanwhile if it `fetches`.
    fn for_each_stretch<V: Vector<Element = T>, const R: usize, const W: usize>(
        &self,
        rhs: *const T,
        fetches: bool,
        stretch: impl FnMut(Factors<T>, usize) -> Factors<T>,
    );
}

/// Rows of sums one behind the other, and a single loop: a product of matrices. To set up more takes as long as a short sum.
#[derive(Clone, Copy)]
pub struct Straight<T> {
    /// The first factor of the first row.
    pub lhs: *const T,
    /// From one row of factors to the next.
    pub lhs_stride: usize,
    /// Where the sums of the first row go.
    pub to: *mut T,
    /// From one row of sums to the next.
    pub to_stride: usize,
    pub steps: Loop,
    /// What tiles that follow need.
    pub ahead: Ahead<T>,
}

/// What is fetched into cache while a tile is summed, a little in each stretch of `k` as long as a line: the first tile that
/// needs it would wait for it, and so would one that asked for all at once. None of it need be memory.
#[derive(Clone, Copy)]
pub struct Ahead<T> {
    /// Factors on the left: in each stretch so many lines, from as far along `k` as the tile is, by its own steps.
    pub lhs: *const T,
    /// From one of these lines to the next.
    pub lhs_stride: usize,
    /// How many lines.
    pub lines: usize,
    /// The sums of a later tile, or where they are brought then: in each stretch a row.
    pub to: *const T,
    /// From one of these rows to the next.
    pub to_stride: usize,
    /// Whether all these sums are fetched at once, and nothing else: where a tile has too few steps for stretches.
    pub at_once: bool,
}

impl<T> Ahead<T> {
    /// Sums alone.
    pub const fn sums(to: *const T, to_stride: usize) -> Self {
        Self { lhs: to, lhs_stride: 0, lines: 0, to, to_stride, at_once: false }
    }
}

impl<T: Copy> Walk<T> for Straight<T> {
    #[inline(always)]
    fn lhs<const R: usize>(&self) -> [*const T; R] {
        let mut lhs = [self.lhs; R];
        each!(r in R { lhs[r] = self.lhs.wrapping_add(r.wrapping_mul(self.lhs_stride)); });
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
            each!(row in R { self.fetch_sums::<V, W>(self.ahead.to, row); });
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
    /// Fetches what [`Ahead`] says while there are `left` steps to do, the next one's factors being so far along the rows.
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
        each!(w in W {
            // SAFETY: the tile's vectors are those of a level that the processor has.
            unsafe { V::prefetch(to.wrapping_add(w * V::LANES)) };
        });
    }
}

/// Reads from memory what is needed now and then. Otherwise it is read before the loops and pushes what they need out of
/// registers, or is itself stored on the stack, where it waits behind the sums of the tile before.
#[inline(always)]
fn reread<T: Copy>(place: &T) -> T {
    // SAFETY: a reference may be read.
    unsafe { std::ptr::from_ref(place).read_volatile() }
}

/// Rows that lie anywhere, and three nested loops: a convolution or a derivative of one.
#[derive(Clone, Copy)]
pub struct Scattered<T> {
    /// The first factor of each row.
    pub lhs: [*const T; TALLEST],
    /// Where the sums of each row go.
    pub to: [*mut T; TALLEST],
    /// From the first factor on the right to that for the next column: 1 where lanes are columns.
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
/// The processor has the level's instructions. The rows and columns are those that the function was taken from
/// [`Micro`](super::Micro) for. What the loops reach may be read and all sums written, and read where the tile adds.
pub type TileFn<T, W> = unsafe fn(&Tile<T, W>);

/// What sums scattered tiles of so many rows. Where there is none for a number of rows, it is the next taller one, and the
/// last row is summed again: to the same place, which costs nothing but time.
pub struct Rows<T> {
    pub rows: usize,
    pub sum: TileFn<T, Scattered<T>>,
}

impl<T> Tile<T, Scattered<T>> {
    /// Sums the first rows of the tile, by one of `tiles`, which are by the number of rows less 1.
    ///
    /// # Safety
    /// That of [`TileFn`], for the columns that `tiles` are for and so many rows.
    pub unsafe fn sum(&mut self, tiles: &[Rows<T>], rows: usize) {
        let (Scattered { lhs, to, .. }, last) = (&mut self.walk, rows - 1);
        let tiles = &tiles[last];
        for row in rows..tiles.rows {
            (lhs[row], to[row]) = (lhs[last], to[last]);
        }
        // SAFETY: the caller vouches for the rows, which are all there are now.
        unsafe { (tiles.sum)(self) };
    }
}

/// An index, of which LLVM is to know nothing. Of one that grows by a step it makes a pointer for each row, or adds strides up to
/// find the rows: a fifth more instructions in the loops of large tiles, more than processors of four a cycle have time for.
#[inline(always)]
pub fn opaque(mut index: usize) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: nothing is done.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) index, options(pure, nomem, nostack, preserves_flags));
    }
    index
}
