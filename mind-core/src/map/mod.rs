//! Functions of elements: one row a function, and all that is known of it in its row.
//!
//! Rows are data. Nothing here knows of instructions, modules or phases: the table of operations, both forms of the
//! language, differentiation, planning and emission ask a row what they need. So a new function is a row here, and a
//! kernel in mind-rt where Rust has none.

mod derivative;
mod rows;

use crate::{profile::Profile, ty::DType};

pub use derivative::{Calculus, Given, adjoint, adjoint_of, formula, play};
pub use mind_shape::rules::{Gives, Takes};
pub use rows::Map;

/// The most operands that a function has.
pub const MOST_OPERANDS: usize = 3;

/// What is known of a function of elements.
pub struct Row {
    /// As in Core IR text, `Exp`.
    pub name: &'static str,
    /// As in MIC, and as derivatives call it: `exp`.
    pub mnemonic: &'static str,
    /// As users know it in messages, `+` or `exp`.
    pub label: &'static str,
    /// How users write it.
    pub notation: Notation,
    /// The names of its operands.
    pub formals: &'static [&'static str],
    /// Core v1 or an extension.
    pub profile: Profile,
    /// The element types that it takes. All operands have one, but for a [condition](Shapes::Choice).
    pub takes: Takes,
    /// The element type of the result.
    pub gives: Gives,
    /// How the shapes of operands meet.
    pub shapes: Shapes,
    /// Whether the operands may be swapped without changing a bit of the result.
    pub commutative: bool,
    /// With which signs, 1 or -1, it adds its operands, if it does no more.
    pub signs: &'static [i64],
    /// The truth value that, as one operand, decides the result, and is it.
    pub decides: Option<bool>,
    /// Whether the result is 0 where some operands are, whatever the others are.
    pub keeps_zeros: Option<KeepsZeros>,
    /// What an element costs.
    pub cost: Cost,
    /// How far an element may be from the exact one.
    pub exactness: Exactness,
    /// How far it may be off in `f64` however small it is: where it is the difference of large numbers.
    pub least_error: f64,
    /// The operand for which it has a pole at 0. An integer must not be 0 there: programs stop (E6010).
    pub pole: Option<usize>,
    /// Whether the result is another where both operands are equal than it is close to that.
    pub jumps_where_equal: bool,
    /// The operand of which only matters whether it is above 0.
    pub mask: Option<usize>,
    /// Whether the result is above 0 exactly where the operand is.
    pub keeps_positive: bool,
    /// What it becomes in Rust.
    pub rust: Rust,
    /// What it becomes in StableHLO.
    pub hlo: Hlo,
    /// What is asked of operands, a method of the first with the others as arguments, where the function is shorter if they are in
    /// range: as `rt::Near<by>::sin(x)` for `is_near_angle`.
    pub range: Option<&'static str>,
    /// The reference for floats, of numbers of twice the digits where they are `f32`. A truth value is 1 or 0, as it is for
    /// integers.
    pub float: fn(&[f64]) -> f64,
    /// The reference for integers, of 64 bits, and for truth values. Narrower ones take the lowest bits of the result, a truth
    /// value the lowest one.
    pub integer: fn(&[i64]) -> i64,
    /// For each operand what a cotangent `dy` of the result `y` adds to its own, in terms of the operands: see [`play`]. Nothing
    /// flows to an operand whose text is empty.
    pub derivative: &'static [&'static str],
    /// Whether it is constant between jumps: its derivative is 0, and who differentiates by what leads here alone gets zeros.
    pub flat: bool,
    /// Where generated tests draw elements.
    pub domain: Domain,
}

/// The operands whose zeros a function keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepsZeros {
    /// The result is 0 where one of these is.
    pub of: &'static [usize],
    /// The function elsewhere.
    pub otherwise: Map,
}

/// How users write a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Between its operands, as tightly as this.
    Infix(Tightness),
    /// Likewise, and as a function of this name.
    Named(Tightness, &'static str),
    /// Before its operand, and as a function of this name.
    Prefix(&'static str),
    /// As a function, by its label.
    Function,
    /// Not at all: only gradients have it.
    Never,
}

/// How tightly an operator binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tightness {
    /// `||`
    Or,
    /// `&&`
    And,
    /// As a comparison, of which only one stands between two operands.
    Comparison,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `&`
    BitAnd,
    /// As a shift.
    Shift,
    /// As a sum.
    Additive,
    /// As a product.
    Multiplicative,
}

impl Tightness {
    /// Every one, the loosest first.
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

    /// What binds next more tightly.
    pub fn next(self) -> Option<Self> {
        Self::ALL.into_iter().find(|other| *other > self)
    }

    /// Whether `a ∘ b ∘ c` is `(a ∘ b) ∘ c`; else it is nothing.
    pub fn chains(self) -> bool {
        self != Self::Comparison
    }
}

/// How the shapes of operands meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shapes {
    /// They broadcast.
    Broadcast,
    /// They are equal.
    Equal,
    /// They broadcast. The first one is of truth values, which choose among the others.
    Choice,
}

/// What a function costs for an element. This is the only place that says which functions are slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Nothing: the operand itself.
    Free,
    /// An addition.
    Addition,
    /// A division or a root: some four additions.
    Division,
    /// A function of some twenty instructions.
    Series,
}

/// How far an element may be from the exact one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// It is the exact one.
    Exact,
    /// It is the exact one, rounded once as IEEE 754 has it: every processor gives the same bits.
    Rounded,
    /// It is off by so many units in the last place at most, for `f32` and `f64`.
    Within([u8; 2]),
}

/// What a function becomes in Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rust {
    /// The operand.
    Identity,
    /// `a + b`. Integers have a method that wraps, and generic elements another.
    Operator {
        /// Of floats.
        sign: &'static str,
        /// The method of integers.
        wrapping: &'static str,
        /// The method of elements of any type.
        method: &'static str,
    },
    /// `a < b`, of any element type.
    Sign(&'static str),
    /// A function of the run time: `rt::relu(x)`.
    Function(&'static str),
    /// A function of the run time that is told how to multiply and add: `by::exp(x)`.
    By(&'static str),
}

/// What a function becomes in StableHLO, on operands that are broadcast to the shape of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hlo {
    /// The operand.
    Operand,
    /// The operation of this name, as `stablehlo.add`; of the dialect `chlo` where StableHLO has none.
    Operation(&'static str),
    /// Division. Engines make one division of several, with divisors whose product leaves the range: of floats a quotient is
    /// divided, and divides, by a product with the reciprocal.
    Quotient(&'static str),
    /// An operation of integers, and [formulas](formula) of floats, of which engines drop NaN in the operation.
    ByType {
        /// The operation, as [`Self::Operation`].
        integers: &'static str,
        /// Formulas as of [`Self::Formula`].
        floats: &'static [Named],
    },
    /// `stablehlo.compare` in this direction.
    Compare(&'static str),
    /// Named [formulas](formula) over the operands and over those before; the last one is the function.
    Formula(&'static [Named]),
    /// Likewise, others for floats than for integers.
    OfEach {
        /// Of floats.
        floats: &'static [Named],
        /// Of integers.
        integers: &'static [Named],
    },
    /// An operation between formulas: of what some over the operands give, and others over what it gives, which is `own`.
    Between {
        /// Formulas over the operands.
        before: &'static [Named],
        /// The operation, as [`Self::Operation`].
        operation: &'static str,
        /// Formulas for its operands.
        of: &'static [&'static str],
        /// Formulas over all of these; the last one is the function.
        after: &'static [Named],
    },
}

/// A name and the text of a [formula].
pub type Named = (&'static str, &'static str);

/// Where generated tests draw elements of operands; integer operands of an operation on floats are indices below the first
/// extent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// From -2 to 2.
    Any,
    /// From 0.5 to 2: for log and divisors.
    Positive,
    /// From 1.2 to 3: for functions that end at 1.
    AboveOne,
    /// From -0.9 to 0.9: for functions that end at 1 and -1.
    Unit,
    /// From -2 to 2 and at least 0.1 from 0: where the derivative jumps there.
    NonZero,
    /// From -2 to 2 and at least 0.1 from every multiple of a half: where the function jumps at some.
    OffHalves,
    /// From -2 to 2, the elements of all operands apart from each other: where the derivative jumps between equal ones.
    Apart,
}

impl Row {
    /// The number of operands.
    pub const fn arity(&self) -> usize {
        self.formals.len()
    }

    /// How tightly it binds, if it is written between its operands.
    pub const fn infix(&self) -> Option<Tightness> {
        match self.notation {
            Notation::Infix(tightness) | Notation::Named(tightness, _) => Some(tightness),
            Notation::Prefix(_) | Notation::Function | Notation::Never => None,
        }
    }

    /// The name of the function that users call, if it is one.
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

    /// Whether a cotangent flows back to an operand.
    pub fn flows_to(&self, position: usize) -> bool {
        self.derivative.get(position).is_some_and(|text| !text.is_empty())
    }

    /// Whether a cotangent flows back by the transpose of a linear map, which reads neither operands nor result.
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

    /// Whether it takes an element type.
    pub const fn takes(&self, dtype: DType) -> bool {
        self.takes.admits(dtype)
    }

    /// The operand whose element type all others have, but for a condition.
    pub const fn leading(&self) -> usize {
        match self.shapes {
            Shapes::Choice => 1,
            Shapes::Broadcast | Shapes::Equal => 0,
        }
    }

    /// The element type of an operand, where they are of this one.
    pub const fn operand(&self, position: usize, dtype: DType) -> DType {
        if position < self.leading() { DType::Bool } else { dtype }
    }

    /// The element type of the result, of operands of this one.
    pub const fn result(&self, dtype: DType) -> DType {
        match self.gives {
            Gives::Operand => dtype,
            Gives::Type(given) => given,
        }
    }
}

impl Cost {
    /// In additions.
    pub const fn additions(self) -> usize {
        match self {
            Self::Free => 0,
            Self::Addition => 1,
            Self::Division => 4,
            Self::Series => 8,
        }
    }

    /// Whether to compute it again costs more than to keep it.
    pub const fn is_worth_keeping(self) -> bool {
        match self {
            Self::Free | Self::Addition => false,
            Self::Division | Self::Series => true,
        }
    }

    /// Whether it is computed slower than it is read and written.
    pub const fn is_series(self) -> bool {
        matches!(self, Self::Series)
    }
}
