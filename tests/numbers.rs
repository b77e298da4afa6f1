//! Tests of numbers to the last digit: how large errors are, and that equal programs give equal bits.

mod accuracy;
mod bits;
