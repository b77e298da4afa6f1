//! Microkernels: tiles of a result, summed in registers.
//!
//! A tile has some rows and a few vectors of columns. Each row of its left operand is a pointer, so rows may lie
//! anywhere; rows of its right operand are contiguous. A [`Walk`] gives the positions of the rows and the loops of the
//! sums: one loop for a product of matrices, three for filter positions, channels and pixels. Each element is one chain
//! of multiply-adds in the order of the loops, whatever the tile's size, so the result does not depend on how it is cut
//! into tiles.
//!
//! [`Micro`] is a set of tiles for one element type and SIMD level. Each tile is a separate function, and no other code
//! of this crate takes as long to compile. Before you add a tile, check whether an existing one suffices.

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
pub use walk::{Ahead, Loop, RowSums, Scattered, Straight, Tile, TileFn, WORTH_FETCHING_AHEAD, Walk};

/// The number of rows of the largest tile of a product.
pub const MAX_ROWS: usize = 8;

/// The number of rows of the tallest tile of any kind.
pub const TALLEST: usize = 12;

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// `to[c * to_stride + r] = from[r * from_stride + c]` for all rows `r` and columns `c` of `rows_and_columns`.
///
/// # Safety
/// The processor must have the level's instructions. All elements of `from` must be readable, and those of `to`
/// writable.
pub type TransposeFn<T> =
    unsafe fn(from: *const T, from_stride: usize, rows_and_columns: [usize; 2], to: *mut T, to_stride: usize);

/// The tiles of an element type at a SIMD level.
pub struct Micro<T: 'static> {
    /// The number of elements of a vector.
    pub lanes: usize,
    /// The number of vectors of the widest tile.
    pub vectors: usize,
    /// The number of rows of the tallest tile of a product, at most [`MAX_ROWS`].
    pub rows: usize,
    /// Inner products of rows with one vector, and with two.
    pub dots: [DotsFn<T>; 2],
    /// Sums of rows, each multiplied by an element of a vector, for some vectors.
    pub combine: CombineFn<T>,
    /// Transposes a matrix, if the level has instructions for that.
    pub transpose: Option<TransposeFn<T>>,
    /// Tiles whose columns fill all vectors. The indices are the number of vectors less 1, then the number of rows
    /// less 1.
    full: Table<TileFn<T, Straight<T>>>,
    /// As `full`, for tiles whose columns do not fill the last vector.
    part: Table<TileFn<T, Straight<T>>>,
    /// As `full` and `part`, for scattered tiles.
    scattered_full: Table<RowSums<T>>,
    scattered_part: Table<RowSums<T>>,
}

type Table<F> = &'static [&'static [F]];

impl<T> Micro<T> {
    /// The number of columns of the widest tile.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.lanes * self.vectors
    }

    /// The functions that sum a tile of `columns` columns, 1 to `self.columns()`, indexed by the number of rows less 1.
    #[inline(always)]
    pub fn tiles(&self, columns: usize) -> &'static [TileFn<T, Straight<T>>] {
        self.of_columns(self.full, self.part, columns)
    }

    /// As [`tiles`](Self::tiles), for scattered tiles, which are at most two vectors wide.
    #[inline(always)]
    pub fn scattered_tiles(&self, columns: usize) -> &'static [RowSums<T>] {
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
    /// The tiles of a level, which the processor must have.
    fn micro(level: SimdLevel) -> &'static Micro<Self>;
}

/// A vector of a level. All methods must be inlined into code that is compiled for the level.
pub trait Vector: Copy {
    type Element: Number;
    const LANES: usize;

    /// Whether a partial vector load is as fast as a full one.
    const LOADS_PARTS_FREELY: bool = false;

    /// A vector of zeros.
    unsafe fn zero() -> Self;

    /// A vector whose lanes are all `x`.
    unsafe fn splat(x: Self::Element) -> Self;

    /// Loads a vector from memory, unaligned.
    unsafe fn load(from: *const Self::Element) -> Self;

    /// Loads the first `lanes` lanes, at least one, from memory. The others are 0, and are not read.
    unsafe fn load_part(from: *const Self::Element, lanes: usize) -> Self;

    /// Stores the vector to memory, unaligned.
    unsafe fn store(self, to: *mut Self::Element);

    /// Stores the first `lanes` lanes, at least one, to memory. Nothing else is written.
    unsafe fn store_part(self, to: *mut Self::Element, lanes: usize);

    /// Prefetches a cache line that is going to be written.
    #[inline(always)]
    unsafe fn prefetch(_: *const Self::Element) {}

    /// `self + x * y`.
    unsafe fn plus_product(self, x: Self, y: Self) -> Self;

    /// The sum of the lanes as a tree. Lanes half a vector apart are added first.
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

/// Defines the methods of a [`Vector`] that process whole vectors, by the level's functions.
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

/// A loop over `0..extent` that the compiler unrolls. Hundreds of these are compiled, and with iterators they would
/// take longer to compile than the sums themselves.
macro_rules! unroll {
    ($i:ident in $extent:ident $body:block) => {
        let mut $i = 0;
        while $i < $extent {
            $body
            $i += 1;
        }
    };
}
pub(in crate::kernels) use unroll;

/// Sums a tile of `R` rows and `W` vectors. If `PART`, the last vector need not be full. `fetches`, whether operands of
/// later tiles are prefetched, is known at compile time.
///
/// # Safety
/// As for [`TileFn`].
#[inline(always)]
unsafe fn sum<V: Vector, K: Walk<V::Element>, const R: usize, const W: usize, const PART: bool>(
    tile: &Tile<V::Element, K>,
    fetches: bool,
) {
    let last = tile.columns - (W - 1) * V::LANES;
    let (lhs, steps) = (tile.walk.lhs::<R>(), tile.walk.steps());
    // SAFETY: the caller's contract covers all elements that the loops reach, and every row and column of the tile. In
    // a partial last vector no lane beyond the tile's columns is touched.
    unsafe {
        let mut sums = [[V::zero(); W]; R];
        if tile.adds {
            unroll!(r in R {
                unroll!(w in W { sums[r][w] = load::<V, W, PART>(tile.walk.to(r), w, last); });
            });
        }
        tile.walk.for_each_stretch::<V, R, W>(tile.rhs, fetches, |mut place, count| {
            for _ in 0..count {
                let mut row = [V::zero(); W];
                unroll!(w in W { row[w] = load::<V, W, PART>(place.rhs, w, last); });
                unroll!(r in R {
                    let factor = V::splat(*lhs[r].add(place.lhs));
                    unroll!(w in W { sums[r][w] = sums[r][w].plus_product(factor, row[w]); });
                });
                // After the last step these may point anywhere.
                place.rhs = place.rhs.wrapping_add(steps.rhs);
                place.lhs = opaque(place.lhs.wrapping_add(steps.lhs));
            }
            place
        });
        // A partial store takes longer than a full one, even where a partial load does not.
        if PART && last < V::LANES {
            unroll!(r in R {
                let to = tile.walk.to(r);
                unroll!(w in W {
                    let to = to.add(w * V::LANES);
                    if w == W - 1 { sums[r][w].store_part(to, last) } else { sums[r][w].store(to) }
                });
            });
        } else {
            unroll!(r in R {
                let to = tile.walk.to(r);
                unroll!(w in W { sums[r][w].store(to.add(w * V::LANES)); });
            });
        }
    }
}

/// Loads vector `w` of the `W` vectors of a row. If `PART`, the last one has `last` elements.
///
/// # Safety
/// These elements must be readable.
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

/// Defines the tables of tiles of a vector type. Its arguments are the features that the tiles are compiled for, the
/// rows and vectors of the tiles of products, and, for scattered tiles of one and of two vectors, the heights of the
/// tiles that sum 1, 2, 3 … rows.
macro_rules! micro {
    (
        $name:ident: $vector:ty, $element:ty, $($features:literal,)?
        [$($rows:literal)*] by [$($vectors:literal)*],
        scattered [$($one:literal)*], [$($two:literal)*],
        $transpose:expr
    ) => {
        pub static $name: Micro<$element> = {
            /// Only the tallest tiles fetch ahead: they sum nearly all of large products. In other tiles it would only
            /// add set-up work.
            ///
            /// # Safety
            /// As for [`TileFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn sum<const R: usize, const W: usize, const PART: bool>(
                tile: &Tile<$element, Straight<$element>>,
            ) {
                // SAFETY: the contract is the same.
                unsafe { super::sum::<$vector, _, R, W, PART>(tile, R == ROWS.len()) }
            }

            /// # Safety
            /// As for [`TileFn`].
            $(#[target_feature(enable = $features)])?
            unsafe fn scattered<const R: usize, const W: usize, const PART: bool>(
                tile: &Tile<$element, Scattered<$element>>,
            ) {
                // SAFETY: the contract is the same.
                unsafe { super::sum::<$vector, _, R, W, PART>(tile, false) }
            }

            /// # Safety
            /// As for [`DotsFn`].
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
            /// As for [`CombineFn`].
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

            /// Tiles of a product, of `W` vectors, by rows. The tallest whole tiles, which sum nearly all of large
            /// products, never use partial loads: a masked load costs up to a tenth of the multiply-adds.
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
            const fn scattered_by_rows<const PART: bool, const PART_OF_2: bool>() -> Table<RowSums<$element>> {
                &[
                    &[$(RowSums { rows: $one, sum: scattered::<$one, 1, PART> }),*],
                    &[$(RowSums { rows: $two, sum: scattered::<$two, 2, PART_OF_2> }),*],
                ]
            }

            /// Whether whole tiles use partial loads too, so that there are fewer functions. Tiles of one vector load
            /// so much, compared with what they multiply, that masked loads would slow them down.
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
