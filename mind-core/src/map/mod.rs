//! Elementwise functions: one row per function, which holds everything that the compiler knows about it.
//!
//! Rows are data and do not depend on instructions, modules or phases. The table of operations, both forms of the
//! language, differentiation, planning and emission read the rows. A new function is a row here, and a kernel in
//! mind-rt if Rust has none.

mod derivative;
mod rows;
mod threefry;
mod zeros;

use crate::{profile::Profile, ty::DType};

pub use derivative::{Calculus, DerivativeInputs, adjoint, adjoint_of, evaluate, formula};
pub use mind_shape::rules::{Gives, Takes};
pub use rows::Map;

/// The most operands that a function has.
pub const MOST_OPERANDS: usize = 3;

/// A row of the table of elementwise functions.
pub struct Row {
    /// The name in Core IR text, `Exp`.
    pub name: &'static str,
    /// The name in MIC and in derivatives: `exp`.
    pub mnemonic: &'static str,
    /// The name in messages to users, `+` or `exp`.
    pub label: &'static str,
    /// How users write it.
    pub notation: Notation,
    /// The names of its operands.
    pub formals: &'static [&'static str],
    /// Core v1 or an extension.
    pub profile: Profile,
    /// The element types that it takes. All operands have the same one, except for a [condition](ShapeRule::Choice).
    pub takes: Takes,
    /// The element type of the result.
    pub gives: Gives,
    /// How the shapes of operands combine.
    pub shapes: ShapeRule,
    /// Whether the operands may be swapped without changing a bit of the result.
    pub commutative: bool,
    /// The sign of each operand, 1 or -1, if the function is a sum of its operands with signs; otherwise empty.
    pub signs: &'static [i64],
    /// A truth value: if one operand has it, the result has it too, as `false` for `&&`.
    pub decides: Option<bool>,
    /// The operands whose zeros make the result 0, whatever the other operands are.
    pub keeps_zeros: Option<KeepsZeros>,
    /// The cost of one element.
    pub cost: Cost,
    /// The largest error of an element.
    pub exactness: Exactness,
    /// The absolute error that is allowed in `f64` even for small results, for a function that subtracts larger
    /// numbers.
    pub least_error: f64,
    /// The function has a pole where this operand is 0, such as a divisor. An integer 0 there stops the program
    /// (E6010).
    pub pole: Option<usize>,
    /// Whether the function jumps where both operands are equal.
    pub jumps_where_equal: bool,
    /// The operand that affects the result only by whether it is above 0.
    pub mask: Option<usize>,
    /// Whether the result is above 0 exactly where the operand is.
    pub keeps_positive: bool,
    /// The Rust code that it becomes.
    pub rust: Rust,
    /// The StableHLO code that it becomes.
    pub hlo: Hlo,
    /// The test of its operands under which a shorter variant of the function applies: `rt::Near<by>::sin(x)` for
    /// `is_near_angle`. The test is a method of the first operand with the others as arguments.
    pub range: Option<&'static str>,
    /// The reference for floats. For `f32` it computes in `f64`, with twice the digits. Truth values are 1 and 0, as
    /// for integers.
    pub float: fn(&[f64]) -> f64,
    /// The reference for integers, in 64 bits, and for truth values. Narrower integers take the lowest bits of the
    /// result, and a truth value takes the lowest bit.
    pub integer: fn(&[i64]) -> i64,
    /// For each operand the contribution to its cotangent, as text over the operands, the result `y` and its cotangent
    /// `dy`: see [`evaluate`]. An operand with an empty text receives no cotangent.
    pub derivative: &'static [&'static str],
    /// Whether the function is constant between jumps, so that its derivative is 0. The gradient by an input that
    /// affects the result only through such functions is zero instead of an error.
    pub flat: bool,
    /// The range from which generated tests draw elements.
    pub domain: Domain,
}

/// The operands whose zeros a function keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepsZeros {
    /// The operands: the result is 0 where one of them is.
    pub of: &'static [usize],
    /// The function that applies elsewhere.
    pub otherwise: Map,
}

/// How users write a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Between its operands, with this precedence.
    Infix(Tightness),
    /// Between its operands, with this precedence, and as a function of this name.
    Named(Tightness, &'static str),
    /// Before its operand, and as a function of this name.
    Prefix(&'static str),
    /// As a function, by its label.
    Function,
    /// Not at all: only gradients and the text of the library contain it.
    Never,
}

/// How tightly an operator binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tightness {
    /// `||`
    Or,
    /// `&&`
    And,
    /// A comparison. Comparisons do not chain.
    Comparison,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `&`
    BitAnd,
    /// A shift.
    Shift,
    /// A sum.
    Additive,
    /// A product.
    Multiplicative,
}

impl Tightness {
    /// Every level, the loosest first.
    const ALL: [Self; 9] = [
        Self::Or,
        Self::And,
        Self::Comparison,
        Self::BitOr,
        Self::BitXor,
        Self::BitAnd,
        Self::Shift,
        Self::Additive,
        Self::Multiplicative,
    ];

    /// The next tighter level.
    pub fn next(self) -> Option<Self> {
        Self::ALL.into_iter().find(|other| *other > self)
    }

    /// Whether `a ∘ b ∘ c` means `(a ∘ b) ∘ c`; otherwise it is an error.
    pub fn chains(self) -> bool {
        self != Self::Comparison
    }
}

/// How the shapes of operands combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeRule {
    /// They broadcast.
    Broadcast,
    /// They are equal.
    Equal,
    /// They broadcast. The elements of the first operand are truth values, which choose between the others.
    Choice,
}

/// The cost of a function per element. Only this type tells which functions are slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Nothing: the operand itself.
    Free,
    /// An addition.
    Addition,
    /// A division or a root: about four additions.
    Division,
    /// A function of about twenty instructions.
    Series,
}

/// The largest error of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// The element is exact.
    Exact,
    /// The element is the exact one, rounded once as IEEE 754 specifies. Every processor gives the same bits.
    Rounded,
    /// The error is at most this number of units in the last place, for `f32` and for `f64`.
    Within([u8; 2]),
}

/// The Rust code that a function becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rust {
    /// The operand.
    Identity,
    /// An operator, as in `a + b`. Integers use a wrapping method, and elements of generic type use another method.
    Operator {
        /// For floats.
        sign: &'static str,
        /// The wrapping method of integers.
        wrapping: &'static str,
        /// The method of elements of generic type.
        method: &'static str,
    },
    /// An operator for every element type, as in `a < b`.
    Sign(&'static str),
    /// A function of the run time: `rt::relu(x)`.
    Function(&'static str),
    /// A function of the run time that is generic over how products and sums are computed: `by::exp(x)`.
    By(&'static str),
}

/// The StableHLO code that a function becomes, on operands that are broadcast to the shape of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hlo {
    /// The operand.
    Operand,
    /// The operation with this name, as `stablehlo.add`. It is of the dialect `chlo` where StableHLO has none.
    Operation(&'static str),
    /// Division. Engines merge several divisions into one by the product of the divisors, which may overflow. So a
    /// division of floats whose operand is a quotient becomes a product with the reciprocal.
    Quotient(&'static str),
    /// An operation for integers, and [formulas](formula) for floats, since the engines' operation drops NaN.
    ByType {
        /// The operation, as [`Self::Operation`].
        integers: &'static str,
        /// The formulas, as in [`Self::Formula`].
        floats: &'static [Named],
    },
    /// `stablehlo.compare` in this direction.
    Compare(&'static str),
    /// Named [formulas](formula) over the operands and the formulas before. The last one is the function.
    Formula(&'static [Named]),
    /// As [`Self::Formula`], with different formulas for floats and integers.
    OfEach {
        /// For floats.
        floats: &'static [Named],
        /// For integers.
        integers: &'static [Named],
    },
    /// An operation between formulas. Its operands are formulas, and further formulas use its result under the name
    /// `own`.
    Between {
        /// Formulas over the operands.
        before: &'static [Named],
        /// The operation, as [`Self::Operation`].
        operation: &'static str,
        /// Formulas for the operands of the operation.
        of: &'static [&'static str],
        /// Formulas over all these values. The last one is the function.
        after: &'static [Named],
    },
}

/// A name and the text of a [formula].
pub type Named = (&'static str, &'static str);

/// The range from which generated tests draw elements of operands. Integer operands of an operation on floats are
/// indices below the first extent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// From -2 to 2.
    Any,
    /// From 0.5 to 2: for logarithms and divisors.
    Positive,
    /// From 1.2 to 3: for functions that are defined from 1 on.
    AboveOne,
    /// From -0.9 to 0.9: for functions that are defined between -1 and 1.
    Unit,
    /// From -2 to 2 and at least 0.1 from 0: for functions whose derivative jumps at 0.
    NonZero,
    /// From -2 to 2 and at least 0.1 from every multiple of a half: for functions that jump at some of these.
    OffHalves,
    /// From -2 to 2, with distinct elements in all operands: for functions whose derivative jumps where elements are
    /// equal.
    Apart,
}

impl Row {
    /// The number of operands.
    pub const fn arity(&self) -> usize {
        self.formals.len()
    }

    /// The precedence, if the function is written between its operands.
    pub const fn infix(&self) -> Option<Tightness> {
        match self.notation {
            Notation::Infix(tightness) | Notation::Named(tightness, _) => Some(tightness),
            Notation::Prefix(_) | Notation::Function | Notation::Never => None,
        }
    }

    /// The name by which users call it as a function, if they can.
    pub const fn function(&self) -> Option<&'static str> {
        match self.notation {
            Notation::Function => Some(self.label),
            Notation::Prefix(name) | Notation::Named(_, name) => Some(name),
            Notation::Infix(_) | Notation::Never => None,
        }
    }

    /// Whether the result is the operand.
    pub fn is_identity(&self) -> bool {
        self.rust == Rust::Identity
    }

    /// Whether every processor gives the same bits.
    pub fn is_reproducible(&self) -> bool {
        match self.exactness {
            Exactness::Exact | Exactness::Rounded => true,
            Exactness::Within(_) => false,
        }
    }

    /// Whether an operand receives a cotangent.
    pub fn flows_to(&self, position: usize) -> bool {
        self.derivative.get(position).is_some_and(|text| !text.is_empty())
    }

    /// Whether the derivative is the transpose of a linear map, which reads neither operands nor result.
    pub const fn is_linear(&self) -> bool {
        let mut position = 0;
        while position < self.derivative.len() {
            let text = self.derivative[position].as_bytes();
            let mut at = 0;
            while at < text.len() {
                if text[at].is_ascii_alphabetic() {
                    if text[at] != b'd' || at + 1 == text.len() || text[at + 1] != b'y' {
                        return false;
                    }
                    at += 1;
                }
                at += 1;
            }
            position += 1;
        }
        true
    }

    /// Whether the function takes an element type.
    pub const fn takes(&self, dtype: DType) -> bool {
        self.takes.admits(dtype)
    }

    /// The operand whose element type all others have, except for a condition.
    pub const fn leading(&self) -> usize {
        match self.shapes {
            ShapeRule::Choice => 1,
            ShapeRule::Broadcast | ShapeRule::Equal => 0,
        }
    }

    /// The element type of an operand if the [leading](Self::leading) one has this type.
    pub const fn operand(&self, position: usize, dtype: DType) -> DType {
        if position < self.leading() { DType::Bool } else { dtype }
    }

    /// The element type of the result for operands of this type.
    pub const fn result(&self, dtype: DType) -> DType {
        match self.gives {
            Gives::Operand => dtype,
            Gives::Type(given) => given,
        }
    }
}

impl Cost {
    /// The cost as a number of additions.
    pub const fn additions(self) -> usize {
        match self {
            Self::Free => 0,
            Self::Addition => 1,
            Self::Division => 4,
            Self::Series => 8,
        }
    }

    /// Whether computing a value again costs more than keeping it.
    pub const fn is_worth_keeping(self) -> bool {
        match self {
            Self::Free | Self::Addition => false,
            Self::Division | Self::Series => true,
        }
    }

    /// Whether computing a value is slower than reading and writing one.
    pub const fn is_series(self) -> bool {
        matches!(self, Self::Series)
    }
}
