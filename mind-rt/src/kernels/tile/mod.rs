//! Microkernels: tiles of a result, summed in registers.
//!
//! A tile has some rows and a few vectors of columns. Each row of its left operand is a pointer, so rows may lie anywhere; rows
//! of its right operand are contiguous. A [`Walk`] says where the rows are and over which loops the sums run: one for a
//! product of matrices, three for places of a filter, channels and pixels. Each element is one chain of multiply-adds in
//! the order of the loops, whatever the tile's size, so that how a result is cut into tiles does not show in it.
//!
//! [`Micro`] is a set of tiles for one element type and SIMD level. Each tile is a function of its own, and no other code of
//! this crate takes as long to compile: before adding one, look whether another does.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
mod by_vector;
#[cfg(any(test, not(target_arch = "x86_64")))]
pub mod portable;
#[cfg(target_arch = "x86_64")]
pub mod sse2;
#[cfg(target_arch = "x86_64")]
mod transpose;
#[cfg(target_arch = "x86_64")]
mod vector_128;
mod walk;

use crate::kernels::number::Number;
use crate::simd::SimdLevel;
use by_vector::{CombineFn, DotsFn};
#[cfg(target_arch = "x86_64")]
use transpose::transpose;
use walk::opaque;

pub use by_vector::{Dots, MOST_VECTORS, Vectors};
pub use walk::{Ahead, Loop, Rows, Scattered, Straight, Tile, TileFn, WORTH_FETCHING_AHEAD, Walk};

/// The rows of the largest tile of a product.
pub const MAX_ROWS: usize = 8;

/// The rows of the tallest of all.
pub const TALLEST: usize = 12;

/// Bytes of a line of a cache.
pub const LINE: usize = 64;

/// `to[c * to_stride + r] = from[r * from_stride + c]`, for so many rows `r` and columns `c`.
///
/// # Safety
/// The processor has the level's instructions. All may be read and written.
pub type TransposeFn<T> =
    unsafe fn(from: *const T, from_stride: usize, rows_and_columns: [usize; 2], to: *mut T, to_stride: usize);

/// The tiles of an element type at a SIMD level.
pub struct Micro<T: 'static> {
    /// Elements of a vector.
    pub lanes: usize,
    /// Vectors of the widest tile.
    pub vectors: usize,
    /// Rows of the tallest tile of a product, at most [`MAX_ROWS`].
    pub rows: usize,
    /// Inner products of rows with a vector, and with two.
    pub dots: [DotsFn<T>; 2],
    /// Sums of rows, each times an element of a vector, for some vectors.
    pub combine: CombineFn<T>,
    /// Transposes, where the level has instructions for that.
    pub transpose: Option<TransposeFn<T>>,
    /// By vectors, then by rows, each from 1: tiles whose columns fill all vectors.
    full: Table<TileFn<T, Straight<T>>>,
    /// The same where they do not fill the last vector.
    part: Table<TileFn<T, Straight<T>>>,
    /// The same of scattered tiles.
    scattered_full: Table<Rows<T>>,
    scattered_part: Table<Rows<T>>,
}

type Table<F> = &'static [&'static [F]];

impl<T> Micro<T> {
    /// Columns of the widest tile.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.lanes * self.vectors
    }

    /// What sums a tile of so many columns, 1 to `self.columns()`, by its rows less 1.
    #[inline(always)]
    pub fn tiles(&self, columns: usize) -> &'static [TileFn<T, Straight<T>>] {
        self.of_columns(self.full, self.part, columns)
    }

    /// The same of scattered tiles, which are no wider than two vectors.
    #[inline(always)]
    pub fn scattered_tiles(&self, columns: usize) -> &'static [Rows<T>] {
        self.of_columns(self.scattered_full, self.scattered_part, columns)
    }

    #[inline(always)]
    fn of_columns<F>(&self, full: Table<F>, part: Table<F>, columns: usize) -> &'static [F] {
        let shift = self.lanes.trailing_zeros();
        let tiles = if columns & (self.lanes - 1) == 0 { full } else { part };
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
    type Element: Number;
    const LANES: usize;

    /// Whether a part of a vector is loaded as fast as a whole one.
    const LOADS_PARTS_FREELY: bool = false;

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

/// The methods of a [`Vector`] that concern all of it, by the level's functions.
#[cfg(target_arch = "x86_64")]
macro_rules! whole {
    ($element:ident, $zero:expr, $splat:ident, $load:ident, $store:ident) => {
        #[inline(always)]
        unsafe fn zero() -> Self {
            // SAFETY: the caller is compiled for the level.
            unsafe { $zero }
        }

        #[inline(always)]
        unsafe fn splat(x: $element) -> Self {
            // SAFETY: as above.
            unsafe { $splat(x) }
        }

        #[inline(always)]
        unsafe fn load(from: *const $element) -> Self {
            // SAFETY: as above, and the caller vouches for the memory.
            unsafe { $load(from) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut $element) {
            // SAFETY: as above.
            unsafe { $store(to, self) }
        }
    };
}
#[cfg(target_arch = "x86_64")]
use whole;

/// A loop over `0..extent` that is unrolled: there are hundreds of these to compile, and an iterator in each costs more than
/// the sums.
macro_rules! each {
    ($i:ident in $extent:ident $body:block) => {
        let mut $i = 0;
        while $i < $extent {
            $body
            $i += 1;
        }
    };
}
pub(in crate::kernels) use each;

/// A tile of `R` rows and `W` vectors; where `PART`, the last vector need not be full. Whether it `fetches` what follows is
/// known when it is compiled.
///
/// # Safety
/// That of [`TileFn`].
#[inline(always)]
unsafe fn sum<V: Vector, K: Walk<V::Element>, const R: usize, const W: usize, const PART: bool>(
    tile: &Tile<V::Element, K>,
    fetches: bool,
) {
    let last = tile.columns - (W - 1) * V::LANES;
    let (lhs, steps) = (tile.walk.lhs::<R>(), tile.walk.steps());
    // SAFETY: the caller's contract covers what the loops reach and every row and column of the tile, and in the last
    // vector of a part no lane beyond its columns is touched.
    unsafe {
        let mut sums = [[V::zero(); W]; R];
        if tile.adds {
            each!(r in R {
                each!(w in W { sums[r][w] = load::<V, W, PART>(tile.walk.to(r), w, last); });
            });
        }
        tile.walk.for_each_stretch::<V, R, W>(tile.rhs, fetches, |mut place, count| {
            for _ in 0..count {
                let mut row = [V::zero(); W];
                each!(w in W { row[w] = load::<V, W, PART>(place.rhs, w, last); });
                each!(r in R {
                    let factor = V::splat(*lhs[r].add(place.lhs));
                    each!(w in W { sums[r][w] = sums[r][w].plus_product(factor, row[w]); });
                });
                // After the last step these may point anywhere.
                place.rhs = place.rhs.wrapping_add(steps.rhs);
                place.lhs = opaque(place.lhs.wrapping_add(steps.lhs));
            }
            place
        });
        // To store a part takes longer, wherever it is loaded as fast.
        if PART && last < V::LANES {
            each!(r in R {
                let to = tile.walk.to(r);
                each!(w in W {
                    let to = to.add(w * V::LANES);
                    if w == W - 1 { sums[r][w].store_part(to, last) } else { sums[r][w].store(to) }
                });
            });
        } else {
            each!(r in R {
                let to = tile.walk.to(r);
                each!(w in W { sums[r][w].store(to.add(w * V::LANES)); });
            });
        }
    }
}

/// Vector `w` of `W` of a row: of a part, the last one has `last` elements.
///
/// # Safety
/// These may be read.
#[inline(always)]
unsafe fn load<V: Vector, const W: usize, const PART: bool>(
    from: *const V::Element,
    w: usize,
    last: usize,
) -> V {
    // SAFETY: that is the caller's contract.
    unsafe {
        let from = from.add(w * V::LANES);
        if PART && w == W - 1 { V::load_part(from, last) } else { V::load(from) }
    }
}

/// The tiles of a vector type: their tables, from the features that they are compiled for, the rows and vectors of those of
/// products, and the rows of scattered tiles of one vector and of two that sum 1, 2, 3 … rows.
macro_rules! micro {
    (
        $name:ident: $vector:ty, $element:ty, $($features:literal,)?
        [$($rows:literal)*] by [$($vectors:literal)*],
        scattered [$($one:literal)*], [$($two:literal)*],
        $transpose:expr
    ) => {
        pub static $name: Micro<$element> = {
            /// The tallest tiles sum nearly all of large products. Others would only have more to set up if they fetched ahead.
            ///
            /// # Safety
            /// That of [`TileFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn sum<const R: usize, const W: usize, const PART: bool>(
                tile: &Tile<$element, Straight<$element>>,
            ) {
                // SAFETY: the contract is the same.
                unsafe { super::sum::<$vector, _, R, W, PART>(tile, R == ROWS.len()) }
            }

            /// # Safety
            /// That of [`TileFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn scattered<const R: usize, const W: usize, const PART: bool>(
                tile: &Tile<$element, Scattered<$element>>,
            ) {
                // SAFETY: the contract is the same.
                unsafe { super::sum::<$vector, _, R, W, PART>(tile, false) }
            }

            /// # Safety
            /// That of [`DotsFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn dots<const M: usize, const R: usize>(
                rows: *const $element,
                stride: usize,
                len: usize,
                vectors: &by_vector::Vectors<$element>,
                k: usize,
                to: by_vector::Dots<$element>,
            ) {
                // SAFETY: the contract is the same.
                unsafe { by_vector::dots::<$vector, M, R>(rows, stride, len, vectors, k, to) }
            }

            /// # Safety
            /// That of [`CombineFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn combine(
                rows: *const $element,
                stride: usize,
                len: usize,
                vectors: by_vector::Vectors<$element>,
                k: usize,
                to: *mut $element,
                to_stride: usize,
            ) {
                // SAFETY: the contract is the same.
                unsafe { by_vector::combine::<$vector>(rows, stride, len, vectors, k, to, to_stride) }
            }

            /// Tiles of a product, of `W` vectors. The tallest of whole ones, which sum nearly all of large products, are never
            /// parts: to mask a load takes from the multiply-adds, up to a tenth.
            const fn by_rows<const W: usize, const PART: bool, const WHOLE: bool>()
            -> &'static [TileFn<$element, Straight<$element>>] {
                const {
                    &[$(if WHOLE && $rows == ROWS.len() {
                        sum::<$rows, W, false> as TileFn<$element, Straight<$element>>
                    } else {
                        sum::<$rows, W, PART>
                    }),*]
                }
            }

            /// Scattered tiles of one vector and of two.
            const fn scattered_by_rows<const PART: bool, const PART_OF_2: bool>() -> Table<Rows<$element>> {
                &[
                    &[$(Rows { rows: $one, sum: scattered::<$one, 1, PART> }),*],
                    &[$(Rows { rows: $two, sum: scattered::<$two, 2, PART_OF_2> }),*],
                ]
            }

            /// Whether whole tiles are parts too, for the sake of fewer functions. Tiles of one vector load so much beside what
            /// they multiply that it would show.
            const fn is_part(vectors: usize) -> bool {
                <$vector as Vector>::LOADS_PARTS_FREELY && vectors > 1
            }

            const ROWS: &[usize] = &[$($rows),*];
            const VECTORS: &[usize] = &[$($vectors),*];

            Micro {
                lanes: <$vector as Vector>::LANES,
                vectors: VECTORS.len(),
                rows: ROWS.len(),
                // As many rows as there are registers for.
                dots: [dots::<1, 4>, dots::<2, { if size_of::<$vector>() < super::LINE { 2 } else { 4 } }>],
                combine,
                transpose: $transpose,
                full: &[$(by_rows::<$vectors, { is_part($vectors) }, true>()),*],
                part: &[$(by_rows::<$vectors, true, false>()),*],
                scattered_full: scattered_by_rows::<false, { is_part(2) }>(),
                scattered_part: scattered_by_rows::<true, true>(),
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
                #[cfg(not(target_arch = "x86_64"))]
                return match level {
                    SimdLevel::Portable | SimdLevel::Avx2 | SimdLevel::Avx512 => &portable::$f,
                };
            }
        })*
    };
}

tiles!(f32: F32, f64: F64);
