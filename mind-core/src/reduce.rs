//! Reductions: one row a reduction, and all that is known of it in its row.
//!
//! As those of [`map`](crate::map), rows are data without arrows to what is done with them.

use crate::map::Takes;

/// What is known of a reduction.
pub struct Row {
    /// As in Core IR text, `Sum`.
    pub name: &'static str,
    /// As in MIC, as users call it and as messages name it, and the run time's function: `sum`.
    pub function: &'static str,
    /// The element types that it takes. The result's is the same.
    pub takes: Takes,
    /// Whether the sum is divided by the number of elements that are summed.
    pub divides: bool,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident = $row:expr;)+) => {
        /// A reduction: which one. What it means stands in its [row](Reduce::row).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reduce {
            $($(#[$doc])* $name,)+
        }

        impl Reduce {
            /// Every reduction, in the order of the rows.
            pub const ALL: &[Self] = &[$(Self::$name),+];
        }

        static ROWS: [Row; Reduce::ALL.len()] = [$(Row { name: stringify!($name), ..$row }),+];
    };
}

impl Reduce {
    /// What is known of it.
    pub const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

const SUM: Row = Row { name: "", function: "sum", takes: Takes::Numbers, divides: false };

rows! {
    /// `Sum(x; axes, keepdims)`: the sum over axes.
    ///
    /// - **Shape**: the reduced axes are gone, or stay with extent 1 under `keepdims`; `[]` where `axes` is empty, which
    ///   means all.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: the sum; integers wrap, the reference adds with twice the digits of `f64` and rounds once.
    /// - **Error**: at most `4 ε log2(n)` times the sum of the magnitudes of the `n` elements, over whatever axes, where
    ///   `ε` is from 1
    ///   to the next number (`f32::EPSILON`); none for one element or for integers.
    /// - **Derivative**: the cotangent broadcast to the operand's shape.
    /// - **Constraints**: 1. axes in `0..rank` (E3004). 2. Each once (E3005).
    /// - **Example**: `%1 = Sum (%0) {axes=[1], keepdims=false} : f32[2]`.
    Sum = SUM;
    /// `Mean(x; axes, keepdims)`: the arithmetic mean over axes.
    ///
    /// - **Shape**: as `Sum`.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the sum divided by the number of elements that each result element is made of.
    /// - **Error**: at most `4 ε log2(n)` times the mean of the magnitudes of the `n` elements, over whatever axes; `ε`
    ///   as in `Sum`.
    /// - **Derivative**: the cotangent divided by that number, broadcast to the operand's shape.
    /// - **Constraints**: 1. axes in `0..rank` (E3004). 2. Each once (E3005). 3. Floats (E2005).
    /// - **Example**: `%1 = Mean (%0) {axes=[1], keepdims=false} : f32[2]`.
    Mean = Row { function: "mean", takes: Takes::Floats, divides: true, ..SUM };
}
