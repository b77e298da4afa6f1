//! Microkernels: tiles of a result, summed in registers.
//!
//! A tile has up to [`MAX_ROWS`] rows and a few vectors of columns. Each row of its left operand is a pointer, so rows may
//! lie anywhere; rows of its right operand are contiguous. Each element is one chain of multiply-adds in the order of
//! `k`, whatever the tile's size, so that how a product is cut into tiles does not show in the result.
//!
//! [`Micro`] is a set of tiles for one element type and SIMD level.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod by_vector;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub mod portable;
#[cfg(target_arch = "x86_64")]
mod sse2;

use crate::kernels::arithmetic::Arithmetic;
use crate::kernels::prefetch::prefetch;
use crate::simd::SimdLevel;
use by_vector::{CombineFn, DotsFn};

/// The rows of the largest tile.
pub const MAX_ROWS: usize = 8;

/// Bytes of a line of a cache.
pub const LINE: usize = 64;

/// From so many products a sum, a tile fetches what those after it need.
const WORTH_FETCHING_AHEAD: usize = 128;

/// What a tile sums, and where to: `to[r * to_stride + j] = Σ_l lhs[r][l * step] · rhs[l * stride + j]`.
#[derive(Clone, Copy)]
pub struct Tile<T> {
    /// The first factor of each row; what is beyond the tile's rows is not looked at.
    pub lhs: [*const T; MAX_ROWS],
    /// From one factor of a row to the next.
    pub step: usize,
    /// The first row of the right operand.
    pub rhs: *const T,
    /// From one row of the right operand to the next.
    pub stride: usize,
    /// How many products a sum has.
    pub depth: usize,
    /// Where the sums go.
    pub to: *mut T,
    /// From one row of sums to the next.
    pub to_stride: usize,
    /// The columns of the tile.
    pub columns: usize,
    /// Whether sums begin with what is there.
    pub adds: bool,
    /// What tiles that follow need.
    pub ahead: Ahead<T>,
}

/// What is fetched into cache while a tile is summed, a little in each stretch of `k` as long as a line: the first tile that
/// needs it would wait for it, and so would one that asked for all at once. None of it need be memory.
#[derive(Clone, Copy)]
pub struct Ahead<T> {
    /// Factors on the left: in each stretch so many lines, from as far along `k` as the tile is, by its own `step`.
    pub lhs: *const T,
    /// From one of these lines to the next.
    pub lhs_stride: usize,
    /// How many lines.
    pub lines: usize,
    /// The sums of the next tile, whose rows are as far apart as the tile's own: in each stretch a row.
    pub to: *const T,
}

impl<T> Ahead<T> {
    /// Sums alone.
    pub const fn sums(to: *const T) -> Self {
        Self { lhs: to, lhs_stride: 0, lines: 0, to }
    }
}

/// Sums a tile.
///
/// # Safety
/// The processor has the level's instructions. The rows and columns are those that the function was taken from
/// [`Micro::tiles`] for. All factors may be read and all sums written, and read where the tile adds.
pub type TileFn<T> = unsafe fn(&Tile<T>);

/// `to[c * to_stride + r] = from[r * from_stride + c]`, for so many rows `r` and columns `c`.
///
/// # Safety
/// The processor has the level's instructions. Rows and columns are no more than the block's size; all may be read and
/// written.
pub type TransposeFn<T> =
    unsafe fn(from: *const T, from_stride: usize, rows_and_columns: [usize; 2], to: *mut T, to_stride: usize);

/// The tiles of an element type at a SIMD level.
pub struct Micro<T: 'static> {
    /// Elements of a vector.
    pub lanes: usize,
    /// Vectors of the widest tile.
    pub vectors: usize,
    /// Rows of the tallest tile, at most [`MAX_ROWS`].
    pub rows: usize,
    /// Inner products of rows with a vector.
    pub dots: DotsFn<T>,
    /// A sum of rows, each times an element of a vector.
    pub combine: CombineFn<T>,
    /// Transposes blocks up to a size, where the level has instructions for that.
    pub transpose: Option<(usize, TransposeFn<T>)>,
    /// By vectors, then by rows, each from 1: tiles whose columns fill all vectors.
    full: &'static [&'static [TileFn<T>]],
    /// The same where they do not fill the last vector.
    part: &'static [&'static [TileFn<T>]],
}

impl<T> Micro<T> {
    /// Columns of the widest tile.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.lanes * self.vectors
    }

    /// What sums a tile of so many columns, 1 to `self.columns()`, by its rows less 1.
    #[inline(always)]
    pub fn tiles(&self, columns: usize) -> &'static [TileFn<T>] {
        let shift = self.lanes.trailing_zeros();
        let tiles = if columns & (self.lanes - 1) == 0 { self.full } else { self.part };
        tiles[(columns - 1) >> shift]
    }
}

/// An element type with microkernels.
pub trait Tiles: Sized + 'static {
    /// Those of a level that the processor has.
    fn micro(level: SimdLevel) -> &'static Micro<Self>;
}

/// A vector of a level. All methods are to be inlined into code compiled for it.
pub trait Vector: Copy {
    type Element: Arithmetic;
    const LANES: usize;

    /// All 0.
    unsafe fn zero() -> Self;

    /// All the same.
    unsafe fn splat(x: Self::Element) -> Self;

    /// From memory, unaligned.
    unsafe fn load(from: *const Self::Element) -> Self;

    /// The first `lanes`, at least one, from memory; the others are 0, and not read.
    unsafe fn load_part(from: *const Self::Element, lanes: usize) -> Self;

    /// To memory, unaligned.
    unsafe fn store(self, to: *mut Self::Element);

    /// The first `lanes`, at least one, to memory; nothing else is written.
    unsafe fn store_part(self, to: *mut Self::Element, lanes: usize);

    /// Has a line of a cache fetched that is to be written.
    #[inline(always)]
    unsafe fn prefetch(_: *const Self::Element) {}

    /// `self + x * y`.
    unsafe fn plus_product(self, x: Self, y: Self) -> Self;

    /// The sum of the lanes as a tree: those half a vector apart first.
    #[inline(always)]
    unsafe fn sum(self) -> Self::Element {
        const MOST: usize = 16;
        const { assert!(Self::LANES <= MOST && Self::LANES.is_power_of_two()) };
        let mut lanes = [Self::Element::ZERO; MOST];
        // SAFETY: there is room for all lanes.
        unsafe { self.store(lanes.as_mut_ptr()) };
        let mut half = Self::LANES / 2;
        while half > 0 {
            for lane in 0..half {
                lanes[lane] = lanes[lane].plus(lanes[lane + half]);
            }
            half /= 2;
        }
        lanes[0]
    }
}

/// A tile of `R` rows and `W` vectors; where `PART`, the last vector is not full.
///
/// # Safety
/// That of [`TileFn`].
#[inline(always)]
unsafe fn sum<V: Vector, const R: usize, const W: usize, const PART: bool>(tile: &Tile<V::Element>) {
    let last = tile.columns - (W - 1) * V::LANES;
    // SAFETY: the caller's contract covers every row and column of the tile, and in the last vector of a part no lane
    // beyond its columns is touched.
    unsafe {
        let load = |from: *const V::Element, w: usize| {
            let from = from.add(w * V::LANES);
            if PART && w == W - 1 { V::load_part(from, last) } else { V::load(from) }
        };
        let mut sums = [[V::zero(); W]; R];
        if tile.adds {
            for (r, sums) in sums.iter_mut().enumerate() {
                for (w, sum) in sums.iter_mut().enumerate() {
                    *sum = load(tile.to.add(r * tile.to_stride), w);
                }
            }
        }
        let lhs: &[*const V::Element; R] = tile.lhs.first_chunk().expect("a tile has at most MAX_ROWS rows");
        let (lhs, mut rhs, mut at) = (*lhs, tile.rhs, 0_usize);
        let (ahead, mut steps, mut next_row) = (&tile.ahead, tile.depth, 0);
        while steps > 0 {
            let mut stretch = steps;
            if tile.depth >= WORTH_FETCHING_AHEAD {
                stretch = steps.min(LINE / size_of::<V::Element>());
                for line in 0..ahead.lines {
                    prefetch(ahead.lhs.wrapping_add(line * ahead.lhs_stride + at));
                }
                if next_row < R {
                    for w in 0..W {
                        V::prefetch(ahead.to.wrapping_add(next_row * tile.to_stride + w * V::LANES));
                    }
                    next_row += 1;
                }
            }
            steps -= stretch;
            for _ in 0..stretch {
                let mut row = [V::zero(); W];
                for (w, vector) in row.iter_mut().enumerate() {
                    *vector = load(rhs, w);
                }
                for (sums, factor) in sums.iter_mut().zip(lhs) {
                    let factor = V::splat(*factor.add(at));
                    for (sum, vector) in sums.iter_mut().zip(row) {
                        *sum = sum.plus_product(factor, vector);
                    }
                }
                // After the last step these may point anywhere.
                rhs = rhs.wrapping_add(tile.stride);
                at = at.wrapping_add(tile.step);
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            let to = tile.to.add(r * tile.to_stride);
            for (w, sum) in sums.iter().enumerate() {
                let to = to.add(w * V::LANES);
                if PART && w == W - 1 { sum.store_part(to, last) } else { sum.store(to) }
            }
        }
    }
}

/// The tiles of a vector type: their table, from the features that they are compiled for, and the extents of the
/// largest.
macro_rules! micro {
    ($name:ident: $vector:ty, $element:ty, $($features:literal,)? [$($rows:literal)*] by [$($vectors:literal)*], $transpose:expr) => {
        pub static $name: Micro<$element> = {
            /// # Safety
            /// That of [`TileFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn sum<const R: usize, const W: usize, const PART: bool>(tile: &Tile<$element>) {
                // SAFETY: the contract is the same.
                unsafe { super::sum::<$vector, R, W, PART>(tile) }
            }

            /// # Safety
            /// That of [`DotsFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn dots(
                rows: *const $element,
                stride: usize,
                len: usize,
                vector: *const $element,
                k: usize,
                to: *mut $element,
                adds: bool,
            ) {
                // SAFETY: the contract is the same.
                unsafe { by_vector::dots::<$vector>(rows, stride, len, vector, k, to, adds) }
            }

            /// # Safety
            /// That of [`CombineFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn combine(
                rows: *const $element,
                stride: usize,
                len: usize,
                vector: *const $element,
                step: usize,
                k: usize,
                to: *mut $element,
            ) {
                // SAFETY: the contract is the same.
                unsafe { by_vector::combine::<$vector>(rows, stride, len, vector, step, k, to) }
            }

            /// Tiles of `W` vectors.
            const fn by_rows<const W: usize, const PART: bool>() -> &'static [TileFn<$element>] {
                &[$(sum::<$rows, W, PART>),*]
            }

            const ROWS: &[usize] = &[$($rows),*];
            const VECTORS: &[usize] = &[$($vectors),*];

            Micro {
                lanes: <$vector as Vector>::LANES,
                vectors: VECTORS.len(),
                rows: ROWS.len(),
                dots,
                combine,
                transpose: $transpose,
                full: &[$(by_rows::<$vectors, false>()),*],
                part: &[$(by_rows::<$vectors, true>()),*],
            }
        };
    };
}
use micro;

macro_rules! tiles {
    ($($element:ty: $f:ident),*) => {
        $(impl Tiles for $element {
            #[inline]
            fn micro(level: SimdLevel) -> &'static Micro<$element> {
                #[cfg(target_arch = "x86_64")]
                return match level {
                    SimdLevel::Portable => &sse2::$f,
                    SimdLevel::Avx2 => &avx2::$f,
                    SimdLevel::Avx512 => &avx512::$f,
                };
                #[cfg(target_arch = "aarch64")]
                return match level {
                    SimdLevel::Portable | SimdLevel::Avx2 | SimdLevel::Avx512 => &neon::$f,
                };
                #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
                return match level {
                    SimdLevel::Portable | SimdLevel::Avx2 | SimdLevel::Avx512 => &portable::$f,
                };
            }
        })*
    };
}

tiles!(f32: F32, f64: F64);
