//! Microkernels: some rows of a result by some vectors of its columns, summed in registers.
//!
//! The factors of a sum lie anywhere: a row of a tile is a pointer, and the sum over places of a filter, channels or
//! pixels is up to three nested loops with a step of each operand. So the same tiles serve the convolution and both of
//! its derivatives, and no image is copied. Each sum is one chain of multiply-adds in the order of its loops, whatever
//! tile it is in. [`Line`] is for short sums: neighbouring pixels at constant distances, and a list of where their factors are.

use std::array;

use crate::kernels::arithmetic::Arithmetic;
use crate::kernels::matmul::tile::Vector;
use crate::simd::SimdLevel;

/// The rows of the largest tile.
pub const ROWS: usize = 12;

/// The columns of the widest tile of any level.
pub const MAX_WIDTH: usize = 32;

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

/// What a tile sums, and where to: `to[r][j] = Σ lhs[r][..] · rhs[.. + j · column]`.
#[derive(Clone, Copy)]
pub struct Tile<T> {
    /// The first factor of each row.
    pub lhs: [*const T; ROWS],
    /// Where the sums of each row go.
    pub to: [*mut T; ROWS],
    /// The first factor on the right, for the first column.
    pub rhs: *const T,
    /// From there to the first factor for the next column.
    pub column: usize,
    /// How many columns there are.
    pub columns: usize,
    /// The loops over the factors, from the outermost one in.
    pub loops: [Loop; 3],
    /// Whether the sums are added to what is there.
    pub adds: bool,
}

/// Sums a tile.
///
/// # Safety
/// The processor has the level's instructions. What the loops reach may be read, and rows of as many columns as the tile
/// has lanes written, and read where it adds.
pub type TileFn<T> = unsafe fn(&Tile<T>);

/// Pixels of a result in a line.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// How many.
    pub count: usize,
    /// From what one reads to what the next does.
    pub read: usize,
    /// From the sums of one to those of the next.
    pub write: usize,
}

/// Short sums of pixels in a line, and where to: `to[p * write + j] = Σ_f lhs[p * read + f[0]] · rhs[f[1] + j]`, in the order
/// of `factors`.
pub struct Line<'a, T> {
    /// What the first pixel reads first.
    pub lhs: *const T,
    /// Where its sums go.
    pub to: *mut T,
    pub pixels: Steps,
    /// Where the factors of a sum are, from the first ones on: on the left and on the right.
    pub factors: &'a [[usize; 2]],
    pub rhs: *const T,
}

/// Sums a line.
///
/// # Safety
/// The processor has the level's instructions. All factors may be read, and all sums written: whole vectors, or one for
/// [`Micro::line_of_dots`].
pub type LineFn<T> = unsafe fn(&Line<'_, T>);

/// The tiles of an element type at a SIMD level.
pub struct Micro<T: 'static> {
    /// Elements of a vector.
    pub lanes: usize,
    /// By vectors, 1 or 2, and then by pairs of rows: tiles whose columns fill all vectors.
    full: [&'static [TileFn<T>]; 2],
    /// The same where they do not fill the last vector.
    part: [&'static [TileFn<T>]; 2],
    /// The same for tiles of 1, 2 and 4 columns whose lanes are factors of the innermost loop.
    dots: [&'static [TileFn<T>]; 3],
    /// By vectors, 1 or 2: lines whose columns fill all of them.
    lines: [LineFn<T>; 2],
    /// Lines of one column whose lanes are factors: what a factor says is where vectors begin.
    pub line_of_dots: LineFn<T>,
}

/// The columns of the widest tile whose lanes are factors.
pub const MAX_DOTS: usize = 4;

impl<T> Micro<T> {
    /// The columns of the widest tile.
    pub fn columns(&self) -> usize {
        2 * self.lanes
    }

    /// The tiles of so many columns, by pairs of rows.
    ///
    /// Their lanes are columns: the tile's `column` must be 1. Rows of whole vectors are written, and read where it adds.
    pub fn tiles(&self, columns: usize) -> &'static [TileFn<T>] {
        let tiles = if columns.is_multiple_of(self.lanes) { &self.full } else { &self.part };
        tiles[columns.div_ceil(self.lanes) - 1]
    }

    /// The same for 1, 2 or [`MAX_DOTS`] columns, the lanes being factors of the innermost loop, whose steps must be 1. They
    /// never add.
    pub fn dots(&self, columns: usize) -> &'static [TileFn<T>] {
        self.dots[columns.ilog2() as usize]
    }

    /// What sums lines of so many columns, one whole vector or two.
    pub fn line(&self, columns: usize) -> LineFn<T> {
        self.lines[columns / self.lanes - 1]
    }
}

/// An element type with tiles.
pub trait Tiles: Sized + 'static {
    /// Those of a level, which the processor has.
    fn micro(level: SimdLevel) -> &'static Micro<Self>;
}

/// A tile of `R` rows and `W` vectors; where `PART`, the last vector has columns missing.
///
/// # Safety
/// That of [`TileFn`].
#[inline(always)]
unsafe fn tile<V: Vector, const R: usize, const W: usize, const PART: bool>(tile: &Tile<V::Element>) {
    // SAFETY: the caller's contract covers what the loops reach and the rows of sums; in the last vector of a part no lane
    // beyond its columns is read.
    unsafe {
        let lhs: &[*const V::Element; R] = tile.lhs.first_chunk().expect("no tile has more than ROWS rows");
        let lhs = *lhs;
        let last = tile.columns - (W - 1) * V::LANES;
        let [outer, middle, inner] = tile.loops;
        let mut sums = [[V::zero(); W]; R];
        let (mut outer_at, mut outer_rhs) = (0_usize, tile.rhs);
        for _ in 0..outer.count {
            let (mut middle_at, mut middle_rhs) = (outer_at, outer_rhs);
            for _ in 0..middle.count {
                let (mut at, mut rhs) = (middle_at, middle_rhs);
                for _ in 0..inner.count {
                    let mut row = [V::zero(); W];
                    for (w, vector) in row.iter_mut().enumerate() {
                        let from = rhs.add(w * V::LANES);
                        *vector = if PART && w == W - 1 { V::load_part(from, last) } else { V::load(from) };
                    }
                    for (sums, lhs) in sums.iter_mut().zip(lhs) {
                        let factor = V::splat(*lhs.add(at));
                        for (sum, vector) in sums.iter_mut().zip(row) {
                            *sum = sum.plus_product(factor, vector);
                        }
                    }
                    at = at.wrapping_add(inner.lhs);
                    rhs = rhs.wrapping_add(inner.rhs);
                }
                middle_at = middle_at.wrapping_add(middle.lhs);
                middle_rhs = middle_rhs.wrapping_add(middle.rhs);
            }
            outer_at = outer_at.wrapping_add(outer.lhs);
            outer_rhs = outer_rhs.wrapping_add(outer.rhs);
        }
        for (r, sums) in sums.into_iter().enumerate() {
            for (w, sum) in sums.into_iter().enumerate() {
                let to = tile.to[r].add(w * V::LANES);
                let sum =
                    if tile.adds { V::load(to).plus_product(V::splat(V::Element::ONE), sum) } else { sum };
                sum.store(to);
            }
        }
    }
}

/// A tile of `R` rows and `C` columns whose lanes are factors of the innermost loop.
///
/// # Safety
/// That of [`TileFn`].
#[inline(always)]
unsafe fn dots<V: Vector, const R: usize, const C: usize>(tile: &Tile<V::Element>) {
    // SAFETY: the caller's contract covers what the loops reach and the sums; in the last vector no lane beyond the
    // innermost loop is read.
    unsafe {
        let lhs: &[*const V::Element; R] = tile.lhs.first_chunk().expect("no tile has more than ROWS rows");
        let lhs = *lhs;
        let [outer, middle, inner] = tile.loops;
        let whole = inner.count - inner.count % V::LANES;
        let left = inner.count - whole;
        let mut sums = [[V::zero(); C]; R];
        let (mut outer_at, mut outer_rhs) = (0_usize, tile.rhs);
        for _ in 0..outer.count {
            let (mut middle_at, mut middle_rhs) = (outer_at, outer_rhs);
            for _ in 0..middle.count {
                let mut at = 0;
                while at < inner.count {
                    let part = at == whole;
                    let mut row = [V::zero(); C];
                    for (c, vector) in row.iter_mut().enumerate() {
                        let from = middle_rhs.add(c * tile.column + at);
                        *vector = if part { V::load_part(from, left) } else { V::load(from) };
                    }
                    for (sums, lhs) in sums.iter_mut().zip(lhs) {
                        let from = lhs.add(middle_at + at);
                        let factors = if part { V::load_part(from, left) } else { V::load(from) };
                        for (sum, vector) in sums.iter_mut().zip(row) {
                            *sum = sum.plus_product(factors, vector);
                        }
                    }
                    at += V::LANES;
                }
                middle_at = middle_at.wrapping_add(middle.lhs);
                middle_rhs = middle_rhs.wrapping_add(middle.rhs);
            }
            outer_at = outer_at.wrapping_add(outer.lhs);
            outer_rhs = outer_rhs.wrapping_add(outer.rhs);
        }
        for (r, sums) in sums.iter().enumerate() {
            for (c, sum) in sums.iter().enumerate() {
                *tile.to[r].add(c) = sum.sum();
            }
        }
    }
}

/// A line, `P` pixels at a time, of `W` vectors, or where `DOTS` of one column whose lanes are factors.
///
/// # Safety
/// That of [`LineFn`].
#[inline(always)]
unsafe fn line<V: Vector, const P: usize, const W: usize, const DOTS: bool>(line: &Line<'_, V::Element>) {
    let Steps { count, read, write } = line.pixels;
    let mut at = 0;
    macro_rules! sum {
        ($($pixels:expr),*) => {
            $(while count - at >= $pixels {
                // SAFETY: these are pixels of the line.
                unsafe {
                    let (lhs, to) = (line.lhs.add(at * read), line.to.add(at * write));
                    pixels::<V, { $pixels }, W, DOTS>(line, lhs, to);
                }
                at += $pixels;
            })*
        };
    }
    sum!(P, 4, 2, 1);
}

/// `P` neighbouring pixels of a line.
///
/// # Safety
/// That of [`LineFn`]; what they read and where their sums go is theirs.
#[inline(always)]
unsafe fn pixels<V: Vector, const P: usize, const W: usize, const DOTS: bool>(
    line: &Line<'_, V::Element>,
    lhs: *const V::Element,
    to: *mut V::Element,
) {
    let Steps { read, write, .. } = line.pixels;
    // SAFETY: the caller's contract covers the factors and sums of all pixels.
    unsafe {
        let lhs: [_; P] = array::from_fn(|p| lhs.add(p * read));
        let mut sums = [[V::zero(); W]; P];
        for &[left, right] in line.factors {
            let rhs = line.rhs.add(right);
            let row: [V; W] = array::from_fn(|w| V::load(rhs.add(w * V::LANES)));
            for (sums, lhs) in sums.iter_mut().zip(lhs) {
                let factor = if DOTS { V::load(lhs.add(left)) } else { V::splat(*lhs.add(left)) };
                for (sum, vector) in sums.iter_mut().zip(row) {
                    *sum = sum.plus_product(factor, vector);
                }
            }
        }
        for (p, sums) in sums.iter().enumerate() {
            let to = to.add(p * write);
            for (w, sum) in sums.iter().enumerate() {
                if DOTS { *to = sum.sum() } else { sum.store(to.add(w * V::LANES)) }
            }
        }
    }
}

/// The tiles of a vector type: from the features that they are compiled for, the rows of tiles one vector wide and two,
/// and of those of 1, 2 and 4 columns whose lanes are factors.
macro_rules! micro {
    (
        $name:ident: $vector:ty, $element:ty, $($features:literal,)?
        [$($one:literal)*], [$($two:literal)*], [$($dots:literal)*], [$($dots_2:literal)*], [$($dots_4:literal)*]
    ) => {
        pub static $name: Micro<$element> = {
            /// # Safety
            /// That of [`TileFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn sum<const R: usize, const W: usize, const PART: bool>(at: &Tile<$element>) {
                // SAFETY: the contract is the same.
                unsafe { super::tile::<$vector, R, W, PART>(at) }
            }

            /// # Safety
            /// That of [`TileFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn sum_dots<const R: usize, const C: usize>(at: &Tile<$element>) {
                // SAFETY: the contract is the same.
                unsafe { super::dots::<$vector, R, C>(at) }
            }

            /// # Safety
            /// That of [`LineFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn sum_line<const P: usize, const W: usize, const DOTS: bool>(line: &Line<'_, $element>) {
                // SAFETY: the contract is the same.
                unsafe { super::line::<$vector, P, W, DOTS>(line) }
            }

            /// Rows of the tallest tile of two vectors: where registers are few, half as many.
            const ROWS_2: usize = 2 * [$($two),*].len();

            Micro {
                lanes: <$vector as Vector>::LANES,
                full: [&[$(sum::<$one, 1, false>),*], &[$(sum::<$two, 2, false>),*]],
                part: [&[$(sum::<$one, 1, true>),*], &[$(sum::<$two, 2, true>),*]],
                dots: [
                    &[$(sum_dots::<$dots, 1>),*],
                    &[$(sum_dots::<$dots_2, 2>),*],
                    &[$(sum_dots::<$dots_4, 4>),*],
                ],
                lines: [sum_line::<8, 1, false>, sum_line::<{ if ROWS_2 == ROWS { 8 } else { 4 } }, 2, false>],
                line_of_dots: sum_line::<8, 1, true>,
            }
        };
    };
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{Line, Micro, ROWS, Tile, Vector};
    use std::arch::x86_64::{__m512, __m512d};

    micro!(F32: __m512, f32, "avx512f", [2 4 6 8 10 12], [2 4 6 8 10 12], [2 4 6 8], [2 4 6 8], [2 4]);
    micro!(F64: __m512d, f64, "avx512f", [2 4 6 8 10 12], [2 4 6 8 10 12], [2 4 6 8], [2 4 6 8], [2 4]);
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Line, Micro, ROWS, Tile, Vector};
    use std::arch::x86_64::{__m256, __m256d};

    micro!(F32: __m256, f32, "avx2,fma", [2 4 6 8 10 12], [2 4 6], [2 4 6 8], [2 4], [2]);
    micro!(F64: __m256d, f64, "avx2,fma", [2 4 6 8 10 12], [2 4 6], [2 4 6 8], [2 4], [2]);
}

#[cfg(target_arch = "x86_64")]
mod baseline {
    use super::{Line, Micro, ROWS, Tile, Vector};
    use std::arch::x86_64::{__m128, __m128d};

    micro!(F32: __m128, f32, "sse2", [2 4 6 8 10 12], [2 4 6], [2 4 6 8], [2 4], [2]);
    micro!(F64: __m128d, f64, "sse2", [2 4 6 8 10 12], [2 4 6], [2 4 6 8], [2 4], [2]);
}

#[cfg(target_arch = "aarch64")]
mod baseline {
    use super::{Line, Micro, ROWS, Tile, Vector};
    use std::arch::aarch64::{float32x4_t, float64x2_t};

    micro!(F32: float32x4_t, f32, "neon", [2 4 6 8 10 12], [2 4 6 8 10 12], [2 4 6 8], [2 4 6 8], [2 4]);
    micro!(F64: float64x2_t, f64, "neon", [2 4 6 8 10 12], [2 4 6 8 10 12], [2 4 6 8], [2 4 6 8], [2 4]);
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod baseline {
    use super::{Line, Micro, ROWS, Tile, Vector};

    micro!(F32: [f32; 4], f32, [2 4 6 8 10 12], [2 4 6], [2 4 6 8], [2 4], [2]);
    micro!(F64: [f64; 4], f64, [2 4 6 8 10 12], [2 4 6], [2 4 6 8], [2 4], [2]);
}

macro_rules! tiles {
    ($($element:ty: $name:ident),*) => {
        $(impl Tiles for $element {
            fn micro(level: SimdLevel) -> &'static Micro<$element> {
                match level {
                    SimdLevel::Portable => &baseline::$name,
                    #[cfg(target_arch = "x86_64")]
                    SimdLevel::Avx2 => &avx2::$name,
                    #[cfg(target_arch = "x86_64")]
                    SimdLevel::Avx512 => &avx512::$name,
                    #[cfg(not(target_arch = "x86_64"))]
                    SimdLevel::Avx2 | SimdLevel::Avx512 => &baseline::$name,
                }
            }
        })*
    };
}

tiles!(f32: F32, f64: F64);
