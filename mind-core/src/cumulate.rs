//! Cumulations: what the elements up to each along an axis are together. One row a cumulation, and all that is known of it in its row.
//!
//! As those of [`reduce`](crate::reduce), rows are data without arrows to what is done with them.

use crate::{
    map::{Calculus, adjoint_of},
    reduce::{Monoid, SUMS},
};

/// What is known of a cumulation.
pub struct Row {
    /// As in Core IR text, `CumSum`.
    pub name: &'static str,
    /// As in MIC, as users call it and as messages name it, and the run time's function: `cumsum`.
    pub function: &'static str,
    /// What puts elements together.
    pub monoid: &'static Monoid,
    /// What a cotangent adds to that of the operand, and the same where the element at a place is not among those of the place:
    /// values that are made one after the other, the last one of them. See [`play`].
    pub adjoint: [&'static [Step]; 2],
}

/// A value that an adjoint is made of.
pub struct Step {
    /// What later steps call it by.
    pub name: &'static str,
    /// A formula over the values before, and over the operand `x`, the result `y` and its cotangent `dy`.
    pub text: &'static str,
    /// The cumulation along the same axis of which the value is the result; nothing if it is the formula's.
    pub over: Option<Over>,
}

/// A cumulation along the axis of another.
pub struct Over {
    /// Which.
    pub cumulate: Cumulate,
    /// Whether it goes the other way.
    pub back: bool,
    /// Whether the element at a place is not among those of the place.
    pub exclusive: bool,
}

/// What a cotangent adds to that of the operand, of what [`Step::text`] names. `over` makes a cumulation of a value.
///
/// # Errors
/// As the calculus.
///
/// # Panics
/// If a text of the row cannot be read, which a test of all rows excludes.
pub fn play<C: Calculus>(
    calculus: &mut C,
    steps: &'static [Step],
    [x, y, dy]: [C::Value; 3],
    mut over: impl FnMut(&mut C, &Over, C::Value) -> Result<C::Value, C::Error>,
) -> Result<C::Value, C::Error> {
    let (mut names, mut linear) = (vec![("x", x), ("y", y), ("dy", dy)], vec!["dy"]);
    let mut last = dy;
    for step in steps {
        let (value, is_linear) = adjoint_of(calculus, step.text, &names, &linear)?;
        last = match &step.over {
            Some(cumulation) => over(calculus, cumulation, value)?,
            None => value,
        };
        names.push((step.name, last));
        linear.extend(is_linear.then_some(step.name));
    }
    Ok(last)
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident = $row:expr;)+) => {
        /// A cumulation: which one. What it means stands in its [row](Cumulate::row).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cumulate {
            $($(#[$doc])* $name,)+
        }

        impl Cumulate {
            /// Every cumulation, in the order of the rows.
            pub const ALL: &[Self] = &[$(Self::$name),+];
        }

        static ROWS: [Row; Cumulate::ALL.len()] = [$(Row { name: concat!("Cum", stringify!($name)), ..$row }),+];
    };
}

impl Row {
    /// Whether what it passes back is made of the cotangent alone.
    pub(crate) const fn is_linear(&self) -> bool {
        self.monoid.settles
    }
}

impl Cumulate {
    /// What is known of it.
    pub const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

/// What a sum passes back: to each element the cotangents of the places that it is part of.
const SUMS_BACK: [&[Step]; 2] = [
    &[Step {
        name: "dx",
        text: "dy",
        over: Some(Over { cumulate: Cumulate::Sum, back: true, exclusive: false }),
    }],
    &[Step {
        name: "dx",
        text: "dy",
        over: Some(Over { cumulate: Cumulate::Sum, back: true, exclusive: true }),
    }],
];

rows! {
    /// `CumSum(x; axis, reverse, exclusive)`: the sum of the elements up to each along an axis; an extension.
    ///
    /// - **Shape**: that of the operand.
    /// - **Dtype**: that of the operand.
    /// - **Semantics**: at each place the sum of the elements at the places up to it along `axis`, under `exclusive` without its
    ///   own, the sum of none being 0; under `reverse` of those from it on. Integers wrap. Elements are added in the order of the
    ///   places, under `reverse` in that from the last one, in chains of 32; what is lost to rounding where a chain ends goes into
    ///   the next one. So the result is the same at every number of threads.
    /// - **Error**: at most `4 ε log2(n)` times the sum of the magnitudes of the `n` elements that are added, where `ε` is from 1 to
    ///   the next number (`f32::EPSILON`); none for one element or for integers.
    /// - **Derivative**: the cotangent summed from the other end, exclusive if this is.
    /// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is of numbers (E2005).
    /// - **Example**: `%1 = CumSum (%0) {axis=1, reverse=false, exclusive=false} : f32[2, 3]`.
    Sum = Row { name: "", function: "cumsum", monoid: &SUMS, adjoint: SUMS_BACK };
}
