//! Reductions: one row per reduction, which holds everything that the compiler knows about it.
//!
//! As in [`map`](crate::map), rows are data and do not depend on the code that uses them.

use crate::{
    map::{Calculus, Domain, Exactness, Map, Takes, adjoint},
    profile::Profile,
};

/// A row of the table of reductions.
pub struct Row {
    /// The name in Core IR text, `Sum`.
    pub name: &'static str,
    /// The name in MIC, in programs and in messages, and the name of the run time's function: `sum`.
    pub function: &'static str,
    /// Core v1 or an extension.
    pub profile: Profile,
    /// The element types that it takes. The result has the same element type.
    pub takes: Takes,
    /// The operation that combines elements.
    pub monoid: &'static Monoid,
    /// Whether the combined value is divided by the number of elements.
    pub divides: bool,
    /// The steps that compute the operand's cotangent. The last step gives it; without steps it is the result's
    /// cotangent. See [`evaluate`].
    pub adjoint: &'static [Intermediate],
}

/// The way in which elements are combined: an operation that is associative except for rounding, with its neutral
/// element.
#[derive(Debug, PartialEq)]
pub struct Monoid {
    /// The name of its result in listings of plans.
    pub label: &'static str,
    /// The function that combines two elements.
    pub combine: Map,
    /// The neutral element. Lanes begin with it, so that lanes without elements do not count.
    pub neutral: Neutral,
    /// Whether elements are combined in chains, and each chain also adds the rounding error of the chains before it.
    pub is_compensated: bool,
    /// The type of the run time that implements it.
    pub rust: &'static str,
}

impl Monoid {
    /// The range from which tests draw elements. An operation that chooses one of two elements has a derivative that
    /// jumps where both are equal.
    pub(crate) const fn domain(&self) -> Domain {
        match self.combine.row().exactness {
            Exactness::Exact => Domain::Apart,
            Exactness::Rounded | Exactness::Within(_) => Domain::Any,
        }
    }
}

/// The neutral element of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neutral {
    /// 0.
    Zero,
    /// 1.
    One,
    /// Negative infinity, or the least integer.
    Least,
    /// Infinity, or the greatest integer.
    Greatest,
}

/// A step of an adjoint, which computes a value.
pub struct Intermediate {
    /// The name of the value in later steps.
    pub name: &'static str,
    /// A formula for [`adjoint`] over the values of earlier steps, the operand `x`, the result `y` and its cotangent
    /// `dy`. `y` and `dy` are broadcast to the operand's shape.
    pub text: &'static str,
    /// A reduction of the formula over the same axes, broadcast in the same way. `None` if the value is the formula.
    pub over: Option<Reduce>,
}

/// Computes the operand's cotangent by the steps of the row, from the values that [`Intermediate::text`] names. `over`
/// reduces a value and broadcasts the result.
///
/// # Errors
/// The errors of the calculus.
///
/// # Panics
/// If a text of the row cannot be read, which a test of all rows excludes.
pub fn evaluate<C: Calculus>(
    calculus: &mut C,
    row: &Row,
    [x, y, dy]: [C::Value; 3],
    mut over: impl FnMut(&mut C, Reduce, C::Value) -> Result<C::Value, C::Error>,
) -> Result<C::Value, C::Error> {
    let mut names = vec![("x", x), ("y", y), ("dy", dy)];
    let mut last = dy;
    for step in row.adjoint {
        last = adjoint(calculus, step.text, &names)?;
        if let Some(reduce) = step.over {
            last = over(calculus, reduce, last)?;
        }
        names.push((step.name, last));
    }
    Ok(last)
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident = $row:expr;)+) => {
        /// A reduction. Its [row](Reduce::row) defines it.
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
    /// The total of elements.
    pub const TOTAL: Self = Self::Sum;
    /// The largest element.
    pub const LARGEST: Self = Self::Max;

    /// The row of the reduction.
    pub const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

/// Addition.
pub(crate) static SUMS: Monoid =
    Monoid { label: "sum", combine: Map::Add, neutral: Neutral::Zero, is_compensated: true, rust: "Sum" };

/// The larger of two elements.
pub(crate) static MAXIMA: Monoid = Monoid {
    label: "max",
    combine: Map::Maximum,
    neutral: Neutral::Least,
    is_compensated: false,
    rust: "Max",
};

/// The smaller of two elements.
pub(crate) static MINIMA: Monoid = Monoid {
    label: "min",
    combine: Map::Minimum,
    neutral: Neutral::Greatest,
    is_compensated: false,
    rust: "Min",
};

/// Multiplication.
pub(crate) static PRODUCTS: Monoid = Monoid {
    label: "prod",
    combine: Map::Mul,
    neutral: Neutral::One,
    is_compensated: false,
    rust: "Product",
};

const SUM: Row = Row {
    name: "",
    function: "sum",
    profile: Profile::CoreV1,
    takes: Takes::Numbers,
    monoid: &SUMS,
    divides: false,
    adjoint: &[],
};

/// The adjoint of maximum and minimum: an equal share for each element that equals the result.
const SHARES: &[Intermediate] = &[
    Intermediate { name: "is", text: "same(x, y)", over: None },
    Intermediate { name: "count", text: "is", over: Some(Reduce::Sum) },
    Intermediate { name: "share", text: "relu_grad(dy / count, is)", over: None },
];

/// The adjoint of products: each element receives the cotangent times the product of the others.
///
/// For an element that is not 0 this product is `y / x`. For a zero it is `rest`, the product of the nonzero elements,
/// times the other zeros. One other zero is that factor. The product of two others is half the difference between the
/// square of their sum and the sum of their squares. These factors are 0, but their derivatives are not. With three or
/// more other zeros only the third and higher derivatives are not 0, and they are left out.
const OTHERS: &[Intermediate] = &[
    Intermediate { name: "zero", text: "same(x, 0.0)", over: None },
    Intermediate { name: "zeros", text: "zero", over: Some(Reduce::Sum) },
    Intermediate { name: "rest", text: "relu_grad(x, 1.0 - zero) + zero", over: Some(Reduce::Prod) },
    Intermediate { name: "own", text: "relu_grad(x, zero)", over: None },
    Intermediate { name: "sum", text: "own", over: Some(Reduce::Sum) },
    Intermediate { name: "squares", text: "own * own", over: Some(Reduce::Sum) },
    Intermediate { name: "one", text: "sum - own", over: None },
    Intermediate { name: "two", text: "(one * one - squares + own * own) * 0.5", over: None },
    Intermediate {
        name: "others",
        text: "relu_grad(y / (x + zero), 1.0 - zero) + relu_grad(rest, same(zeros, 1.0) * zero) \
            + relu_grad(one * rest, same(zeros, 2.0) * zero) + relu_grad(two * rest, same(zeros, 3.0) * zero)",
        over: None,
    },
    Intermediate { name: "dx", text: "dy * others", over: None },
];

rows! {
    /// `Sum(x; axes, keepdims)`: the sum over axes.
    ///
    /// - **Shape**: the operand's without `axes`, or with extent 1 in their places if `keepdims`. Empty `axes` mean all
    ///   axes and give `[]`, even with `keepdims`.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: the sum. Integers wrap. The reference interpreter adds with twice the digits of `f64` and
    ///   rounds once.
    /// - **Error**: at most `4 ε log2(n)` times the sum of the magnitudes of the `n` elements, for any axes, where `ε`
    ///   is the distance from 1 to the next number (`f32::EPSILON`); none for one element or for integers.
    /// - **Derivative**: the cotangent, broadcast to the operand's shape.
    /// - **Constraints**: 1. `axes` are in `0..rank` (E3004) and 2. distinct (E3005).
    /// - **Example**: `%1 = Sum (%0) {axes=[1], keepdims=false} : f32[2]`.
    Sum = SUM;
    /// `Mean(x; axes, keepdims)`: the arithmetic mean over axes.
    ///
    /// - **Shape**: as `Sum`.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the sum of the elements, divided by their number.
    /// - **Error**: at most `4 ε log2(n)` times the mean of the magnitudes of the `n` elements, for any axes, with `ε`
    ///   as in `Sum`.
    /// - **Derivative**: the cotangent divided by that number, broadcast to the operand's shape.
    /// - **Constraints**: 1. `axes` are in `0..rank` (E3004) and 2. distinct (E3005). 3. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Mean (%0) {axes=[1], keepdims=false} : f32[2]`.
    Mean = Row { function: "mean", takes: Takes::Floats, divides: true, ..SUM };
    /// `Max(x; axes, keepdims)`: the largest element over axes; an extension.
    ///
    /// - **Shape**: as `Sum`.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: the largest element, where +0 is above -0; NaN if any element is NaN.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: the largest element receives the cotangent; several equal ones receive an equal share each.
    /// - **Constraints**: 1. `axes` are in `0..rank` (E3004) and 2. distinct (E3005).
    /// - **Example**: `%1 = Max (%0) {axes=[1], keepdims=false} : f32[2]`.
    Max = Row {
        function: "max",
        profile: Profile::Extended,
        monoid: &MAXIMA,
        adjoint: SHARES,
        ..SUM
    };
    /// `Min(x; axes, keepdims)`: the smallest element over axes; an extension.
    ///
    /// - **Shape**: as `Sum`.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: the smallest element, where -0 is below +0; NaN if any element is NaN.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: the smallest element receives the cotangent; several equal ones receive an equal share each.
    /// - **Constraints**: 1. `axes` are in `0..rank` (E3004) and 2. distinct (E3005).
    /// - **Example**: `%1 = Min (%0) {axes=[1], keepdims=false} : f32[2]`.
    Min = Row {
        function: "min",
        profile: Profile::Extended,
        monoid: &MINIMA,
        adjoint: SHARES,
        ..SUM
    };
    /// `Prod(x; axes, keepdims)`: the product over axes; an extension.
    ///
    /// - **Shape**: as `Sum`.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: the product, rounded at each multiplication, in a fixed order. Integers wrap. A partial product
    ///   may overflow or underflow where the whole product would not.
    /// - **Error**: at most `γ(n - 1)` times the product of the `n` elements; none for one element or for integers.
    /// - **Derivative**: each element receives the cotangent times the product of the other elements, however many of
    ///   these are 0. Higher derivatives are right as well, except that the fourth and later ones lack terms where four
    ///   or more elements are 0. For an element that is not 0 the product of the others is computed as `y / x`, which
    ///   is wrong where `y` overflows or underflows.
    /// - **Constraints**: 1. `axes` are in `0..rank` (E3004) and 2. distinct (E3005).
    /// - **Example**: `%1 = Prod (%0) {axes=[1], keepdims=false} : f32[2]`.
    Prod = Row {
        function: "prod",
        profile: Profile::Extended,
        monoid: &PRODUCTS,
        adjoint: OTHERS,
        ..SUM
    };
}

/// A reduction that gives the position of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArgReduce {
    /// The position of the largest element.
    Max,
    /// The position of the smallest element.
    Min,
}

impl ArgReduce {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Max, Self::Min];

    /// The name in MIC, in programs and in messages, and the name of the run time's function.
    pub const fn function(self) -> &'static str {
        match self {
            Self::Max => "argmax",
            Self::Min => "argmin",
        }
    }
}
