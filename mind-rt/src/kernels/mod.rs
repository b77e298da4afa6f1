//! CPU kernels, memory and the pool of threads: with `simd` and `tensor::storage`, the only places where `unsafe` is allowed.
//!
//! Every kernel takes contiguous row-major slices unless it takes strides, and checks at entry that its slices are as
//! long as it needs. A failed check is a fault of the compiler, and panics as one.
#![allow(unsafe_code)]

pub mod arg;
mod blocks;
mod caches;
pub mod compiled;
pub mod conv;
pub mod copy;
pub mod cumulate;
pub mod epilogue;
#[cfg(all(test, unix, not(miri)))]
mod fork;
pub mod gather;
mod instances;
pub mod iota;
pub mod join;
pub(crate) mod limit;
pub mod math;
pub mod matmul;
mod matvec;
pub(crate) mod memory;
pub mod monoid;
pub(crate) mod number;
pub(crate) mod order;
#[cfg(feature = "threads")]
pub(crate) mod pool;
mod prefetch;
pub mod reduce;
pub mod roofline;
pub mod rows;
mod tile;
mod transpose;

/// Panics where lengths that the compiler should have made agree do not.
#[inline(always)]
#[track_caller]
pub(crate) fn check(holds: bool, what: &'static str) {
    if !holds {
        internal_error(what);
    }
}

/// Panics where an integer is divided by 0 in an expression; functions have checked their divisors before.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn divided_by_zero() -> ! {
    panic!("E6010: an integer is divided by 0")
}

/// Panics where an element type does not have an operation: the rules have refused such a program.
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
