//! Microkernels for convolutions, in addition to those of [`tile`]. Some are for tiles of few columns, whose lanes are
//! factors of a sum. Others are for short sums of neighbouring pixels at constant distances, with a list of the
//! positions of their factors.
//!
//! Together with the tiles of [`tile`] they compute the convolution and both of its derivatives, and no image is
//! copied: a row of a tile is a pointer, and the sum over filter positions, channels or pixels is up to three nested
//! loops.

use crate::kernels::tile::{self, RowSums, Scattered, Tile, Vector, Walk, unroll};
use crate::simd::SimdLevel;

/// The number of columns of the widest tile whose lanes are factors.
pub const MAX_DOTS: usize = 4;

/// The pixels of a result in a line.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// The number of pixels.
    pub count: usize,
    /// The distance between the operands of neighbouring pixels.
    pub read: usize,
    /// The distance between the sums of neighbouring pixels.
    pub write: usize,
}

/// Short sums of the pixels in a line, and their destination:
/// `to[p * write + j] = Σ_f lhs[p * read + f[0]] · rhs[f[1] + j]`, in the order of `factors`.
pub struct PixelLine<'a, T> {
    /// The first element that the first pixel reads.
    pub lhs: *const T,
    /// The destination of the first pixel's sums.
    pub to: *mut T,
    pub pixels: Steps,
    /// The positions of the left and right factors of a sum, relative to the first ones.
    pub factors: &'a [[usize; 2]],
    pub rhs: *const T,
}

/// Sums a line.
///
/// # Safety
/// The processor must have the level's instructions. All factors must be readable and all sums writable: whole vectors,
/// or one element for [`Micro::line_of_dots`].
pub type LineFn<T> = unsafe fn(&PixelLine<'_, T>);

/// The tiles of an element type at a SIMD level.
pub struct ConvMicro<T: 'static> {
    /// The tiles whose lanes are columns.
    tiles: &'static tile::Micro<T>,
    /// The tiles whose lanes are factors of the innermost loop, indexed by the logarithm of their columns (1, 2 and 4),
    /// then by the number of rows less 1.
    dots: [&'static [RowSums<T>]; 3],
    /// The functions for lines whose columns fill 1 or 2 vectors, indexed by the number of vectors less 1.
    lines: [LineFn<T>; 2],
    /// The function for lines of one column whose lanes are factors. `factors` gives the positions of vectors.
    pub line_of_dots: LineFn<T>,
}

impl<T> ConvMicro<T> {
    /// The number of elements of a vector.
    pub fn lanes(&self) -> usize {
        self.tiles.lanes
    }

    /// The columns that are summed at a time. They fill two vectors, since tiles of two vectors have more rows than
    /// tiles of three, and numbers of channels are more often multiples of two vectors.
    pub fn columns(&self) -> usize {
        2 * self.tiles.lanes
    }

    /// The tiles of `columns` columns, indexed by the number of rows less 1. Their lanes are columns.
    pub fn tiles(&self, columns: usize) -> &'static [RowSums<T>] {
        self.tiles.scattered_tiles(columns)
    }

    /// The tiles of 1, 2 or [`MAX_DOTS`] columns, indexed by the number of rows less 1. Their lanes are factors of the
    /// innermost loop, whose steps must be 1. They never add to present values.
    pub fn dots(&self, columns: usize) -> &'static [RowSums<T>] {
        self.dots[columns.ilog2() as usize]
    }

    /// The function that sums lines of `columns` columns, which must be one or two whole vectors.
    pub fn line(&self, columns: usize) -> LineFn<T> {
        self.lines[columns / self.tiles.lanes - 1]
    }
}

/// An element type with tiles.
pub trait ConvTiles: Sized + 'static {
    /// The tiles of a level, which the processor must have.
    fn micro(level: SimdLevel) -> &'static ConvMicro<Self>;
}

/// Sums a tile of `R` rows and `C` columns whose lanes are factors of the innermost loop.
///
/// # Safety
/// As for [`TileFn`](tile::TileFn).
#[inline(always)]
unsafe fn dots<V: Vector, const R: usize, const C: usize>(tile: &Tile<V::Element, Scattered<V::Element>>) {
    let (lhs, steps) = (tile.walk.lhs::<R>(), tile.walk.steps());
    let whole = steps.count - steps.count % V::LANES;
    let left = steps.count - whole;
    // SAFETY: the caller's contract covers the sums and all elements that the loops reach. In the last vector no lane
    // beyond the innermost loop is read.
    unsafe {
        let mut sums = [[V::zero(); C]; R];
        tile.walk.for_each_stretch::<V, R, C>(tile.rhs, false, |first, count| {
            let mut at = 0;
            while at < count {
                let part = at == whole;
                let mut row = [V::zero(); C];
                unroll!(c in C {
                    let from = first.rhs.add(c * tile.walk.column + at);
                    row[c] = if part { V::load_part(from, left) } else { V::load(from) };
                });
                unroll!(r in R {
                    let from = lhs[r].add(first.lhs + at);
                    let factors = if part { V::load_part(from, left) } else { V::load(from) };
                    unroll!(c in C { sums[r][c] = sums[r][c].plus_product(factors, row[c]); });
                });
                at += V::LANES;
            }
            first
        });
        unroll!(r in R {
            unroll!(c in C { *tile.walk.to(r).add(c) = sums[r][c].sum(); });
        });
    }
}

/// Sums a line, `P` pixels at a time. It has `W` vectors, or, if `DOTS`, one column whose lanes are factors.
///
/// # Safety
/// As for [`LineFn`].
#[inline(always)]
unsafe fn line<V: Vector, const P: usize, const W: usize, const DOTS: bool>(
    line: &PixelLine<'_, V::Element>,
) {
    /// The number of pixels at a time when fewer than `P` are left.
    const PIXELS_OF_REST: usize = 4;
    let Steps { count, read, write } = line.pixels;
    let mut at = 0;
    // Pixels without factors may belong to an operand without elements.
    let lhs = |at: usize| line.lhs.wrapping_add(at * read);
    // SAFETY: these are pixels of the line.
    unsafe {
        if P > PIXELS_OF_REST {
            while count - at >= P {
                pixels::<V, P, W, DOTS>(line, lhs(at), line.to.add(at * write));
                at += P;
            }
        }
        while at < count && count >= PIXELS_OF_REST {
            // The last pixels are summed together with some before them, which are summed again with the same result.
            at = at.min(count - PIXELS_OF_REST);
            pixels::<V, PIXELS_OF_REST, W, DOTS>(line, lhs(at), line.to.add(at * write));
            at += PIXELS_OF_REST;
        }
        while at < count {
            pixels::<V, 1, W, DOTS>(line, lhs(at), line.to.add(at * write));
            at += 1;
        }
    }
}

/// Sums `P` neighbouring pixels of a line.
///
/// # Safety
/// As for [`LineFn`]. `lhs` and `to` must belong to the first of these pixels.
#[inline(always)]
unsafe fn pixels<V: Vector, const P: usize, const W: usize, const DOTS: bool>(
    line: &PixelLine<'_, V::Element>,
    lhs: *const V::Element,
    to: *mut V::Element,
) {
    let Steps { read, write, .. } = line.pixels;
    // SAFETY: the caller's contract covers the factors and sums of all pixels.
    unsafe {
        let mut sums = [[V::zero(); W]; P];
        for &[left, right] in line.factors {
            let (lhs, rhs) = (lhs.add(left), line.rhs.add(right));
            let mut row = [V::zero(); W];
            unroll!(w in W { row[w] = V::load(rhs.add(w * V::LANES)); });
            unroll!(p in P {
                let from = lhs.add(p * read);
                let factor = if DOTS { V::load(from) } else { V::splat(*from) };
                unroll!(w in W { sums[p][w] = sums[p][w].plus_product(factor, row[w]); });
            });
        }
        unroll!(p in P {
            let to = to.add(p * write);
            unroll!(w in W {
                if DOTS { *to = sums[p][w].sum() } else { sums[p][w].store(to.add(w * V::LANES)) }
            });
        });
    }
}

/// Defines the tiles of a vector type. Its arguments are the features that the tiles are compiled for, the heights of
/// the tiles that sum 1, 2, 3 … rows of 1, 2 and 4 columns whose lanes are factors, and the pixels that are summed at a
/// time in lines of one and of two vectors.
macro_rules! micro {
    (
        $level:ident::$name:ident: $vector:ty, $element:ty, $($features:literal,)?
        [$($dots:literal)*], [$($dots_2:literal)*], [$($dots_4:literal)*], $pixels:literal, $pixels_2:literal
    ) => {
        pub static $name: ConvMicro<$element> = {
            /// # Safety
            /// As for [`TileFn`](tile::TileFn).
            $(#[target_feature(enable = $features)])?
            unsafe fn sum_dots<const R: usize, const C: usize>(at: &Tile<$element, Scattered<$element>>) {
                // SAFETY: the contract is the same.
                unsafe { crate::kernels::conv::tile::dots::<$vector, R, C>(at) }
            }

            /// # Safety
            /// As for [`LineFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn sum_line<const P: usize, const W: usize, const DOTS: bool>(line: &PixelLine<'_, $element>) {
                // SAFETY: the contract is the same.
                unsafe { crate::kernels::conv::tile::line::<$vector, P, W, DOTS>(line) }
            }

            ConvMicro {
                tiles: &tile::$level::$name,
                dots: [
                    &[$(RowSums { rows: $dots, sum: sum_dots::<$dots, 1> }),*],
                    &[$(RowSums { rows: $dots_2, sum: sum_dots::<$dots_2, 2> }),*],
                    &[$(RowSums { rows: $dots_4, sum: sum_dots::<$dots_4, 4> }),*],
                ],
                lines: [sum_line::<$pixels, 1, false>, sum_line::<$pixels_2, 2, false>],
                line_of_dots: sum_line::<$pixels, 1, true>,
            }
        };
    };
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{ConvMicro, PixelLine, RowSums, Scattered, Tile, tile};
    use std::arch::x86_64::{__m512, __m512d};

    micro!(avx512::F32: __m512, f32, "avx512f", [2 2 4 4 8 8 8 8], [2 2 4 4 8 8 8 8], [2 2 4 4], 8, 8);
    micro!(avx512::F64: __m512d, f64, "avx512f", [2 2 4 4 8 8 8 8], [2 2 4 4 8 8 8 8], [2 2 4 4], 8, 8);
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{ConvMicro, PixelLine, RowSums, Scattered, Tile, tile};
    use std::arch::x86_64::{__m256, __m256d};

    micro!(avx2::F32: __m256, f32, "avx2,fma", [4 4 4 4 8 8 8 8], [2 2 4 4], [2 2], 8, 4);
    micro!(avx2::F64: __m256d, f64, "avx2,fma", [4 4 4 4 8 8 8 8], [2 2 4 4], [2 2], 8, 4);
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use super::{ConvMicro, PixelLine, RowSums, Scattered, Tile, tile};
    use std::arch::x86_64::{__m128, __m128d};

    micro!(sse2::F32: __m128, f32, "sse2", [4 4 4 4], [4 4 4 4], [2 2], 4, 4);
    micro!(sse2::F64: __m128d, f64, "sse2", [4 4 4 4], [4 4 4 4], [2 2], 4, 4);
}

#[cfg(any(test, not(target_arch = "x86_64")))]
pub mod portable {
    use super::{ConvMicro, PixelLine, RowSums, Scattered, Tile, tile};

    micro!(portable::F32: [f32; 4], f32, [4 4 4 4], [4 4 4 4], [2 2], 4, 4);
    micro!(portable::F64: [f64; 4], f64, [4 4 4 4], [4 4 4 4], [2 2], 4, 4);
}

macro_rules! tiles {
    ($($element:ty: $name:ident),*) => {
        $(impl ConvTiles for $element {
            fn micro(level: SimdLevel) -> &'static ConvMicro<$element> {
                #[cfg(target_arch = "x86_64")]
                return match level {
                    SimdLevel::Portable => &sse2::$name,
                    SimdLevel::Avx2 => &avx2::$name,
                    SimdLevel::Avx512 => &avx512::$name,
                };
                #[cfg(not(target_arch = "x86_64"))]
                return match level {
                    SimdLevel::Portable | SimdLevel::Avx2 | SimdLevel::Avx512 => &portable::$name,
                };
            }
        })*
    };
}

tiles!(f32: F32, f64: F64);
