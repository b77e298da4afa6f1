//! Tests of numerical results: the size of errors, and that equal programs give equal bits.

mod accuracy;
mod bits;
