//! Cumulations: running sums, products, maxima and minima along an axis, and linear recurrences. Each has one row with
//! all its properties.
//!
//! As in [`reduce`](crate::reduce), rows are data and do not depend on the code that uses them.

use crate::{
    map::{Calculus, adjoint_of},
    reduce::{MAXIMA, MINIMA, Monoid, PRODUCTS, SUMS},
};

/// The properties of a cumulation.
pub struct Row {
    /// The name in Core IR text, `CumSum`.
    pub name: &'static str,
    /// The name in MIC, in programs and in messages, and the name of the run time's function: `cumsum`.
    pub function: &'static str,
    /// The names of the operands in [`Intermediate::text`].
    pub operands: &'static [&'static str],
    /// The way in which elements are combined.
    pub combine: Combine,
    /// The adjoint of each operand, for the inclusive and the exclusive form: steps in order, the last of which gives
    /// the operand's cotangent. See [`evaluate`].
    pub adjoint: &'static [[&'static [Intermediate]; 2]],
}

/// The way in which elements along an axis are combined.
#[derive(Clone, Copy)]
pub enum Combine {
    /// Each element with all elements before it.
    Monoid(&'static Monoid),
    /// Each position has a factor and a summand: its state is the factor times the state before, plus the summand. The
    /// state before the first position is 0. A product with 0 is 0, as in
    /// [`Map::MulKeepZero`](crate::map::Map::MulKeepZero).
    Recurrence,
}

/// A step of an adjoint, which computes a value.
pub struct Intermediate {
    /// The name of the value in later steps.
    pub name: &'static str,
    /// A formula over the values of earlier steps, the operands, the result `y` and its cotangent `dy`.
    pub text: &'static str,
    /// A cumulation of the formula along the same axis. `None` if the value is the formula.
    pub over: Option<Over>,
}

/// A cumulation in an adjoint, along the axis of the primal cumulation.
pub struct Over {
    /// The cumulation.
    pub cumulate: Cumulate,
    /// The name of the operand before the formula, if there is one.
    pub first: Option<&'static str>,
    /// Whether its direction is opposite to that of the primal cumulation.
    pub back: bool,
    /// Whether it is exclusive: the result at a position leaves out the element there.
    pub exclusive: bool,
}

impl Over {
    const fn of(cumulate: Cumulate) -> Self {
        Self { cumulate, first: None, back: false, exclusive: false }
    }

    const fn recurrence(factor: &'static str) -> Self {
        Self { first: Some(factor), ..Self::of(Cumulate::Recurrence) }
    }

    const fn back(self) -> Self {
        Self { back: true, ..self }
    }

    const fn exclusive(self) -> Self {
        Self { exclusive: true, ..self }
    }
}

/// Computes the cotangent of an operand by the steps of its adjoint. `names` holds the operands by their names, then
/// `y` and `dy`. `over` applies a cumulation to values.
///
/// # Errors
/// The errors of the calculus.
///
/// # Panics
/// If a text of the row cannot be read, which a test of all rows excludes.
pub fn evaluate<C: Calculus>(
    calculus: &mut C,
    steps: &'static [Intermediate],
    mut names: Vec<(&'static str, C::Value)>,
    mut over: impl FnMut(&mut C, &Over, &[C::Value]) -> Result<C::Value, C::Error>,
) -> Result<C::Value, C::Error> {
    let mut linear = vec!["dy"];
    let mut last = names[0].1;
    for step in steps {
        let (value, is_linear) = adjoint_of(calculus, step.text, &names, &linear)?;
        last = match &step.over {
            Some(cumulation) => {
                let first = names.iter().find(|(name, _)| Some(*name) == cumulation.first);
                let operands: Vec<_> = first.map(|(_, first)| *first).into_iter().chain([value]).collect();
                over(calculus, cumulation, &operands)?
            }
            None => value,
        };
        names.push((step.name, last));
        linear.extend(is_linear.then_some(step.name));
    }
    Ok(last)
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident = $row:expr;)+) => {
        /// A cumulation. Its [row](Cumulate::row) defines it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cumulate {
            $($(#[$doc])* $name,)+
        }

        impl Cumulate {
            /// Every cumulation, in the order of the rows.
            pub const ALL: &[Self] = &[$(Self::$name),+];
        }

        static ROWS: [Row; Cumulate::ALL.len()] = [$($row),+];
    };
}

impl Row {
    /// The operation that combines elements, if it is a monoid.
    pub const fn monoid(&self) -> Option<&'static Monoid> {
        match self.combine {
            Combine::Monoid(monoid) => Some(monoid),
            Combine::Recurrence => None,
        }
    }

    /// Whether the cotangents of the operands depend on the result's cotangent only.
    pub(crate) const fn is_linear(&self) -> bool {
        matches!(self.combine, Combine::Monoid(monoid) if monoid.is_compensated)
    }
}

impl Cumulate {
    /// The cumulation that counts.
    pub const SUMS: Self = Self::Sum;

    /// The row of the cumulation.
    pub const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

/// A step that is a cumulation of a formula.
const fn over(name: &'static str, text: &'static str, over: Over) -> Intermediate {
    Intermediate { name, text, over: Some(over) }
}

/// A step that is a formula.
const fn formula(name: &'static str, text: &'static str) -> Intermediate {
    Intermediate { name, text, over: None }
}

/// The adjoint of a running sum: the cotangent of an element is the sum of the cotangents at all positions whose sums
/// contain it.
const SUM_BACK: &[[&[Intermediate]; 2]] = &[[
    &[over("dx", "dy", Over::of(Cumulate::Sum).back())],
    &[over("dx", "dy", Over::of(Cumulate::Sum).back().exclusive())],
]];

/// The adjoint of a running product. The cotangent of an element is the product of the elements before it, times a
/// recurrence over the positions from it on, whose factors are the elements after it. It has no division, so it is
/// right where elements are 0.
const PRODUCT_BACK: &[[&[Intermediate]; 2]] = &[[
    &[
        over("before", "x", Over::of(Cumulate::Prod).exclusive()),
        over("rest", "x * dy", Over::recurrence("x").back().exclusive()),
        formula("dx", "before * (dy + rest)"),
    ],
    &[over("rest", "dy", Over::recurrence("x").back().exclusive()), formula("dx", "y * rest")],
]];

/// The adjoint of a running maximum or minimum. The cotangent at a position goes to the first element that has the
/// value there.
///
/// `stays` is 1 where a position has the same value as the position before, which excludes the first position. A NaN
/// after a NaN stays. `places` counts the positions before, as a sum of ones of the operand's shape.
macro_rules! choice_back {
    ($cumulate:expr) => {
        &[[
            &[
                over("before", "x", Over::of($cumulate).exclusive()),
                over("places", "1.0 - same(same(x, x), 2.0)", Over::of(Cumulate::Sum).exclusive()),
                formula(
                    "stays",
                    "minimum(places, 1.0) * maximum(same(y, before), 1.0 - same(before, before))",
                ),
                over("rest", "stays * dy", Over::recurrence("stays").back().exclusive()),
                formula("dx", "relu_grad(dy + rest, 1.0 - stays)"),
            ],
            &[
                over("after", "x", Over::of($cumulate)),
                over("places", "1.0 - same(same(x, x), 2.0)", Over::of(Cumulate::Sum).exclusive()),
                formula("stays", "minimum(places, 1.0) * maximum(same(after, y), 1.0 - same(y, y))"),
                over("rest", "dy", Over::recurrence("stays").back().exclusive()),
                formula("dx", "relu_grad(rest, 1.0 - stays)"),
            ],
        ]]
    };
}

/// The adjoints of the factors and of the summands of a recurrence `y = a * before + b`. The cotangent of the state
/// after each position, `to`, is a recurrence from the other end with the same factors.
const RECURRENCE_BACK: &[[&[Intermediate]; 2]] = &[
    [
        &[
            over("before", "b", Over::recurrence("a").exclusive()),
            over("rest", "a * dy", Over::recurrence("a").back().exclusive()),
            formula("da", "before * (dy + rest)"),
        ],
        &[over("to", "dy", Over::recurrence("a").back().exclusive()), formula("da", "y * to")],
    ],
    [
        &[over("rest", "a * dy", Over::recurrence("a").back().exclusive()), formula("db", "dy + rest")],
        &[over("db", "dy", Over::recurrence("a").back().exclusive())],
    ],
];

rows! {
    /// `CumSum(x; axis, reverse, exclusive)`: the running sum along an axis; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: each position holds the sum of the elements up to it along `axis`, or from it on if `reverse`.
    ///   If `exclusive`, the sum leaves out the element at the position, and a sum of no elements is 0. Integers wrap.
    ///   Elements are added in order, from the last one if `reverse`, in chains of 32. The rounding error at the end of
    ///   a chain is added to the next chain. The result is the same for every number of threads.
    /// - **Error**: at most `4 ε log2(n)` times the sum of the magnitudes of the `n` elements that are added, where `ε`
    ///   is the distance from 1 to the next number (`f32::EPSILON`); none for one element or for integers.
    /// - **Derivative**: the running sum of the cotangent from the other end, exclusive if this one is.
    /// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is numeric (E2005).
    /// - **Example**: `%1 = CumSum (%0) {axis=1, reverse=false, exclusive=false} : f32[2, 3]`.
    Sum = Row {
        name: "CumSum",
        function: "cumsum",
        operands: &["x"],
        combine: Combine::Monoid(&SUMS),
        adjoint: SUM_BACK,
    };
    /// `CumProd(x; axis, reverse, exclusive)`: the running product along an axis; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: as `CumSum` with products. A product of no elements is 1. Each multiplication rounds, in the
    ///   order of the positions.
    /// - **Error**: at most `γ(n - 1)` times the product of the `n` elements; none for one element or for integers.
    /// - **Derivative**: for each element the sum of the cotangents at the positions whose products contain it, each
    ///   times the other elements of that product. This holds however many elements are 0, also for higher derivatives.
    /// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is numeric (E2005).
    /// - **Example**: `%1 = CumProd (%0) {axis=1, reverse=false, exclusive=false} : f32[2, 3]`.
    Prod = Row {
        name: "CumProd",
        function: "cumprod",
        operands: &["x"],
        combine: Combine::Monoid(&PRODUCTS),
        adjoint: PRODUCT_BACK,
    };
    /// `CumMax(x; axis, reverse, exclusive)`: the running maximum along an axis; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: as `CumSum` with the larger of two elements, where +0 is above -0. It is NaN from the first NaN
    ///   on. The maximum of no elements is -∞, or the least integer.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: the cotangent at each position goes to the first element that is the largest there. JAX
    ///   differs where elements are equal: it halves the cotangent wherever its tree of comparisons compares two of
    ///   them.
    /// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is numeric (E2005).
    /// - **Example**: `%1 = CumMax (%0) {axis=1, reverse=false, exclusive=false} : f32[2, 3]`.
    Max = Row {
        name: "CumMax",
        function: "cummax",
        operands: &["x"],
        combine: Combine::Monoid(&MAXIMA),
        adjoint: choice_back!(Cumulate::Max),
    };
    /// `CumMin(x; axis, reverse, exclusive)`: the running minimum along an axis; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: as `CumSum` with the smaller of two elements, where -0 is below +0. It is NaN from the first
    ///   NaN on. The minimum of no elements is ∞, or the greatest integer.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: as in `CumMax`, to the first element that is the smallest.
    /// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is numeric (E2005).
    /// - **Example**: `%1 = CumMin (%0) {axis=1, reverse=false, exclusive=false} : f32[2, 3]`.
    Min = Row {
        name: "CumMin",
        function: "cummin",
        operands: &["x"],
        combine: Combine::Monoid(&MINIMA),
        adjoint: choice_back!(Cumulate::Min),
    };
    /// `Recurrence(a, b; axis, reverse, exclusive)`: a linear recurrence along an axis, for gradients; an extension.
    ///
    /// - **Shape**: the shape of both operands.
    /// - **Dtype**: the dtype of both operands, `f32` or `f64`.
    /// - **Semantics**: each position along `axis` holds `a * h + b`, where `h` is this value at the position before,
    ///   or after it if `reverse`, and 0 at the first position. If `exclusive`, each position holds `h`. A product with
    ///   a factor of 0 is 0.
    /// - **Error**: at most `γ(2 n)` times the recurrence of the magnitudes of both operands, where `n` is the number
    ///   of positions up to each.
    /// - **Derivative**: recurrences from the other end, with the same factors.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. Both have the same shape (E3003). 3. The
    ///   dtype is floating-point (E2005). 4. `axis` is in `0..rank` (E3004).
    /// - **Example**: `%2 = Recurrence (%0, %1) {axis=1, reverse=false, exclusive=false} : f32[2, 3]`.
    Recurrence = Row {
        name: "Recurrence",
        function: "recurrence",
        operands: &["a", "b"],
        combine: Combine::Recurrence,
        adjoint: RECURRENCE_BACK,
    };
}
