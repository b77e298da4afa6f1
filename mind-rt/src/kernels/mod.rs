//! CPU kernels, memory and the thread pool. `unsafe` is allowed only here, in `simd` and in `tensor::storage`.
//!
//! Every kernel takes contiguous row-major slices unless it takes strides, and checks at entry that its slices are long
//! enough. A check fails only through a bug in the compiler, and panics as an internal error.
#![allow(unsafe_code)]

pub mod arg;
mod blocks;
mod caches;
pub mod compiled;
pub mod conv;
pub mod copy;
pub mod cumulate;
pub mod draws;
pub mod epilogue;
#[cfg(all(test, unix, not(miri)))]
mod fork;
#[cfg(feature = "fft")]
pub(crate) mod fourier;
pub mod gather;
mod instances;
pub mod iota;
pub mod join;
pub(crate) mod limit;
pub(crate) mod linalg;
pub mod math;
pub mod matmul;
mod matvec;
pub(crate) mod memory;
pub mod monoid;
pub(crate) mod number;
pub(crate) mod order;
#[cfg(feature = "threads")]
pub(crate) mod pool;
pub mod pooling;
mod prefetch;
pub mod reduce;
pub mod roofline;
pub mod rows;
mod sort;
mod tile;
mod transpose;

/// Panics with an internal error if `holds` is false, for lengths that the compiler should have made agree.
#[inline(always)]
#[track_caller]
pub(crate) fn check(holds: bool, what: &'static str) {
    if !holds {
        internal_error(what);
    }
}

/// Panics because an expression divides an integer by 0; functions have checked their divisors before.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn divided_by_zero() -> ! {
    panic!("E6010: an integer is divided by 0")
}

/// Panics because an element type does not have an operation. The type rules refuse such a program.
#[cold]
#[inline(never)]
pub(crate) fn refused() -> ! {
    internal_error("an operation that its element type does not have")
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn internal_error(what: &'static str) -> ! {
    panic!("internal error in mind: {what}; please report this")
}
