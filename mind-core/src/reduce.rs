//! Reductions: one row a reduction, and all that is known of it in its row.
//!
//! As those of [`map`](crate::map), rows are data without arrows to what is done with them.

use crate::{
    map::{Calculus, Domain, Exactness, Map, Takes, adjoint},
    profile::Profile,
};

/// What is known of a reduction.
pub struct Row {
    /// As in Core IR text, `Sum`.
    pub name: &'static str,
    /// As in MIC, as users call it and as messages name it, and the run time's function: `sum`.
    pub function: &'static str,
    /// Core v1 or an extension.
    pub profile: Profile,
    /// The element types that it takes. The result's is the same.
    pub takes: Takes,
    /// What puts elements together.
    pub monoid: &'static Monoid,
    /// Whether what that gives is divided by the number of elements.
    pub divides: bool,
    /// What a cotangent adds to that of the operand: values that are made one after the other, the last one of them; the
    /// cotangent itself if there are none. See [`play`].
    pub adjoint: &'static [Intermediate],
}

/// How elements are put together: an operation that is associative, but for rounding, and what changes nothing.
#[derive(Debug, PartialEq)]
pub struct Monoid {
    /// As listings of plans name what it gives.
    pub label: &'static str,
    /// What two elements are as one.
    pub combine: Map,
    /// What changes no element that it is combined with. Lanes begin with it, so that those without elements do not count.
    pub neutral: Neutral,
    /// Whether elements are combined in chains that are settled with what was lost to rounding before.
    pub settles: bool,
    /// The run time's type for it.
    pub rust: &'static str,
}

impl Monoid {
    /// Where tests draw elements: what chooses one of them has a derivative that jumps where two are equal.
    pub(crate) const fn domain(&self) -> Domain {
        match self.combine.row().exactness {
            Exactness::Exact => Domain::Apart,
            Exactness::Rounded | Exactness::Within(_) => Domain::Any,
        }
    }
}

/// An element that changes no other.
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

/// A value that an adjoint is made of.
pub struct Intermediate {
    /// What later steps call it by.
    pub name: &'static str,
    /// A formula, an [`adjoint`], over the values before, and over the operand `x`, the result `y` and its cotangent `dy`, both of these
    /// broadcast to the operand's shape.
    pub text: &'static str,
    /// The reduction, over the same axes, of which the value is the result, broadcast likewise; nothing if it is the formula's.
    pub over: Option<Reduce>,
}

/// What a cotangent adds to that of the operand, of what [`Intermediate::text`] names. `over` reduces a value and broadcasts the
/// result.
///
/// # Errors
/// As the calculus.
///
/// # Panics
/// If a text of the row cannot be read, which a test of all rows excludes.
pub fn play<C: Calculus>(
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

/// Addition.
pub(crate) static SUMS: Monoid =
    Monoid { label: "sum", combine: Map::Add, neutral: Neutral::Zero, settles: true, rust: "Sum" };

/// The larger one.
pub(crate) static MAXIMA: Monoid =
    Monoid { label: "max", combine: Map::Maximum, neutral: Neutral::Least, settles: false, rust: "Max" };

/// The smaller one.
pub(crate) static MINIMA: Monoid =
    Monoid { label: "min", combine: Map::Minimum, neutral: Neutral::Greatest, settles: false, rust: "Min" };

/// Multiplication.
pub(crate) static PRODUCTS: Monoid =
    Monoid { label: "prod", combine: Map::Mul, neutral: Neutral::One, settles: false, rust: "Product" };

const SUM: Row = Row {
    name: "",
    function: "sum",
    profile: Profile::CoreV1,
    takes: Takes::Numbers,
    monoid: &SUMS,
    divides: false,
    adjoint: &[],
};

/// What the largest and the smallest pass back: to each of the elements that are it an equal share.
const SHARES: &[Intermediate] = &[
    Intermediate { name: "is", text: "same(x, y)", over: None },
    Intermediate { name: "count", text: "is", over: Some(Reduce::Sum) },
    Intermediate { name: "share", text: "relu_grad(dy / count, is)", over: None },
];

/// What products pass back: to each element the product of the others.
///
/// That is `y / x` where an element is not 0. To a zero it is the product of the elements that are not, `rest`, times the other
/// zeros: with one other that one, with two their product, half of what the square of their sum has more than their squares. These
/// are 0 themselves, but not so their derivatives. Of three other zeros or more only the third derivative is not 0, and they are left
/// out.
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
    /// `Max(x; axes, keepdims)`: the largest over axes; an extension.
    ///
    /// - **Shape**: as `Sum`.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: the largest element, +0 being above -0; NaN if any is.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: the cotangent to the largest element; where several are equal an equal share to each.
    /// - **Constraints**: 1. axes in `0..rank` (E3004). 2. Each once (E3005).
    /// - **Example**: `%1 = Max (%0) {axes=[1], keepdims=false} : f32[2]`.
    Max = Row {
        function: "max",
        profile: Profile::Extended,
        monoid: &MAXIMA,
        adjoint: SHARES,
        ..SUM
    };
    /// `Min(x; axes, keepdims)`: the smallest over axes; an extension.
    ///
    /// - **Shape**: as `Sum`.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: the smallest element, -0 being below +0; NaN if any is.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: the cotangent to the smallest element; where several are equal an equal share to each.
    /// - **Constraints**: 1. axes in `0..rank` (E3004). 2. Each once (E3005).
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
    /// - **Semantics**: the product, rounded at each multiplication, in an order that is fixed; integers wrap. What is
    ///   multiplied on the way may overflow or underflow where the product itself would not.
    /// - **Error**: at most `γ(n - 1)` of the product of `n` elements; none for one element or for integers.
    /// - **Derivative**: the cotangent times the product of the other elements, at any number of zeros. Its own derivative too.
    ///   The fourth one and later ones lack terms where four elements or more are 0. For an element that is not 0 it is
    ///   `y / x`, which is not the product of the others where `y` overflows or underflows.
    /// - **Constraints**: 1. axes in `0..rank` (E3004). 2. Each once (E3005).
    /// - **Example**: `%1 = Prod (%0) {axes=[1], keepdims=false} : f32[2]`.
    Prod = Row {
        function: "prod",
        profile: Profile::Extended,
        monoid: &PRODUCTS,
        adjoint: OTHERS,
        ..SUM
    };
}

/// Which element of a group it is whose position is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArgReduce {
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

impl ArgReduce {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Max, Self::Min];

    /// As in MIC, as users call it and as messages name it, and the run time's function.
    pub const fn function(self) -> &'static str {
        match self {
            Self::Max => "argmax",
            Self::Min => "argmin",
        }
    }
}
