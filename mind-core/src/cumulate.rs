//! Cumulations: running sums, products, maxima and minima along an axis, and linear recurrences. Each has one row with all its properties.
//!
//! As those of [`reduce`](crate::reduce), rows are data without arrows to what is done with them.

use crate::{
    map::{Calculus, adjoint_of},
    reduce::{MAXIMA, MINIMA, Monoid, PRODUCTS, SUMS},
};

/// The properties of a cumulation.
pub struct Row {
    /// As in Core IR text, `CumSum`.
    pub name: &'static str,
    /// As in MIC, as users call it and as messages name it, and the run time's function: `cumsum`.
    pub function: &'static str,
    /// What the operands are called in [`Intermediate::text`].
    pub operands: &'static [&'static str],
    /// How elements are put together.
    pub combine: Combine,
    /// The adjoint of each operand, inclusive and exclusive: steps in order, of which the last gives the operand's cotangent. See
    /// [`play`].
    pub adjoint: &'static [[&'static [Intermediate]; 2]],
}

/// How elements along an axis are put together.
#[derive(Clone, Copy)]
pub enum Combine {
    /// Each with all before it.
    Monoid(&'static Monoid),
    /// A factor and a summand at each place: the factor times what is there before it, and the summand. What is before the first
    /// place is 0, and a product with 0 is 0, as that of [`Map::MulKeepZero`](crate::map::Map::MulKeepZero).
    Recurrence,
}

/// A value that an adjoint is made of.
pub struct Intermediate {
    /// What later steps call it by.
    pub name: &'static str,
    /// A formula over the values before, and over the operands, the result `y` and its cotangent `dy`.
    pub text: &'static str,
    /// The cumulation along the same axis of which the value is the result; nothing if it is the formula's.
    pub over: Option<Over>,
}

/// A cumulation along the axis of another.
pub struct Over {
    /// Which.
    pub cumulate: Cumulate,
    /// The name of what stands before the value among its operands, if anything does.
    pub first: Option<&'static str>,
    /// Whether it goes the other way.
    pub back: bool,
    /// Whether the elements at a place are not among those of the place.
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

/// The cotangent of an operand: runs the steps of an adjoint. `names` holds the operands by their names, then `y` and `dy`; `over`
/// emits a cumulation of values.
///
/// # Errors
/// As the calculus.
///
/// # Panics
/// If a text of the row cannot be read, which a test of all rows excludes.
pub fn play<C: Calculus>(
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
        /// A cumulation: which one. What it means stands in its [row](Cumulate::row).
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
    /// What puts elements together, if it is a monoid.
    pub const fn monoid(&self) -> Option<&'static Monoid> {
        match self.combine {
            Combine::Monoid(monoid) => Some(monoid),
            Combine::Recurrence => None,
        }
    }

    /// Whether what it passes back is made of the cotangent alone.
    pub(crate) const fn is_linear(&self) -> bool {
        matches!(self.combine, Combine::Monoid(monoid) if monoid.settles)
    }
}

impl Cumulate {
    /// What is known of it.
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

/// The adjoint of a running sum: the cotangent of an element is the sum of the cotangents of the places that it is part of.
const SUM_BACK: &[[&[Intermediate]; 2]] = &[[
    &[over("dx", "dy", Over::of(Cumulate::Sum).back())],
    &[over("dx", "dy", Over::of(Cumulate::Sum).back().exclusive())],
]];

/// The adjoint of a running product. The cotangent of an element is the product of the elements before it, times a recurrence over the
/// places from it on, whose factors are the elements behind it. It divides nothing, so it is exact where elements are 0.
const PRODUCT_BACK: &[[&[Intermediate]; 2]] = &[[
    &[
        over("before", "x", Over::of(Cumulate::Prod).exclusive()),
        over("rest", "x * dy", Over::recurrence("x").back().exclusive()),
        formula("dx", "before * (dy + rest)"),
    ],
    &[over("rest", "dy", Over::recurrence("x").back().exclusive()), formula("dx", "y * rest")],
]];

/// The adjoint of a running maximum or minimum. A place passes its cotangent to the first element that reached its value.
///
/// `stays` is 1 where a place has the element of the place before, so not at the first place. A NaN behind a NaN stays. `places`
/// counts the places before, as a sum of ones of the operand's shape.
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

/// The adjoints of the factors and of the summands of a recurrence `y = a * before + b`. The cotangent of the state behind each place,
/// `to`, is a recurrence from the other end by the same factors.
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
    Sum = Row {
        name: "CumSum",
        function: "cumsum",
        operands: &["x"],
        combine: Combine::Monoid(&SUMS),
        adjoint: SUM_BACK,
    };
    /// `CumProd(x; axis, reverse, exclusive)`: the product of the elements up to each along an axis; an extension.
    ///
    /// - **Shape**: that of the operand.
    /// - **Dtype**: that of the operand.
    /// - **Semantics**: as `CumSum` with products, that of none being 1: rounded at each multiplication, in the order of the places.
    /// - **Error**: at most `γ(n - 1)` of the product of `n` elements; none for one element or for integers.
    /// - **Derivative**: the cotangent at each place times the product of the other elements of the place, at any number of zeros; its
    ///   own derivatives too.
    /// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is of numbers (E2005).
    /// - **Example**: `%1 = CumProd (%0) {axis=1, reverse=false, exclusive=false} : f32[2, 3]`.
    Prod = Row {
        name: "CumProd",
        function: "cumprod",
        operands: &["x"],
        combine: Combine::Monoid(&PRODUCTS),
        adjoint: PRODUCT_BACK,
    };
    /// `CumMax(x; axis, reverse, exclusive)`: the largest of the elements up to each along an axis; an extension.
    ///
    /// - **Shape**: that of the operand.
    /// - **Dtype**: that of the operand.
    /// - **Semantics**: as `CumSum` with the larger of two, +0 being above -0; NaN from the first NaN on. Of no elements it is -∞, or the
    ///   least integer.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: the cotangent of each place to the first of the elements that are the largest there. JAX's is another where
    ///   elements are equal: it halves the cotangent wherever its tree of comparisons meets two of them.
    /// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is of numbers (E2005).
    /// - **Example**: `%1 = CumMax (%0) {axis=1, reverse=false, exclusive=false} : f32[2, 3]`.
    Max = Row {
        name: "CumMax",
        function: "cummax",
        operands: &["x"],
        combine: Combine::Monoid(&MAXIMA),
        adjoint: choice_back!(Cumulate::Max),
    };
    /// `CumMin(x; axis, reverse, exclusive)`: the smallest of the elements up to each along an axis; an extension.
    ///
    /// - **Shape**: that of the operand.
    /// - **Dtype**: that of the operand.
    /// - **Semantics**: as `CumSum` with the smaller of two, -0 being below +0; NaN from the first NaN on. Of no elements it is ∞, or the
    ///   greatest integer.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: as that of `CumMax`, to the first of the smallest.
    /// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is of numbers (E2005).
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
    /// - **Shape**: that of both operands.
    /// - **Dtype**: that of both operands, `f32` or `f64`.
    /// - **Semantics**: `a * h + b` at each place along `axis`, where `h` is what is at the place before, under `reverse` behind it, and 0
    ///   at the first. Under `exclusive` it is `h` at each place. A product with a factor that is 0 is 0.
    /// - **Error**: at most `γ(2 n)` of what the magnitudes of both operands give, where `n` is the number of places up to each.
    /// - **Derivative**: recurrences from the other end, by the same factors.
    /// - **Constraints**: 1. one dtype (E2004). 2. One shape (E3003). 3. Floats (E2005). 4. `axis` is in `0..rank` (E3004).
    /// - **Example**: `%2 = Recurrence (%0, %1) {axis=1, reverse=false, exclusive=false} : f32[2, 3]`.
    Recurrence = Row {
        name: "Recurrence",
        function: "recurrence",
        operands: &["a", "b"],
        combine: Combine::Recurrence,
        adjoint: RECURRENCE_BACK,
    };
}
