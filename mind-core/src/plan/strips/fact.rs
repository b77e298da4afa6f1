//! Facts about elements after the columns that the rows of a strip see, and about functions of such elements.

use std::collections::BTreeSet;

use crate::{
    map::{Map, Row},
    number::KnownNumber,
    plan::Scalar,
    reduce::Neutral,
};

/// Multiples and constants beyond this bound are not used, so that sums of them stay exact.
const FARTHEST: i64 = 1 << 40;

/// A fact about an element after the columns that are seen, or about a number of a row.
#[derive(Clone, Copy)]
pub(super) enum Fact {
    /// It is this number.
    Known(KnownNumber),
    /// It is a finite float.
    Finite,
    /// It is an integer: the sum of a multiple of the row's position, a multiple of the column's position, and a
    /// constant.
    Place { row: i64, column: i64, plus: i64 },
    /// Nothing is known.
    Any,
}

impl Fact {
    pub(super) fn of(scalar: &Scalar) -> Self {
        match scalar {
            Scalar::Constant(data) => KnownNumber::filling(data).map_or(Self::Any, Self::Known),
            Scalar::Input(_) | Scalar::Local(_) | Scalar::Count { .. } => Self::Any,
        }
    }

    pub(super) fn is_finite(self) -> bool {
        match self {
            Self::Known(number) => number.float().is_some_and(f64::is_finite),
            Self::Finite => true,
            Self::Place { .. } | Self::Any => false,
        }
    }

    fn is_infinite(self) -> bool {
        matches!(self, Self::Known(number) if number.float().is_some_and(f64::is_infinite))
    }

    pub(super) fn is_zero(self) -> bool {
        match self {
            Self::Known(number) => number.float() == Some(0.0) || number.is(0),
            Self::Finite | Self::Place { .. } | Self::Any => false,
        }
    }

    fn truth(self) -> Option<bool> {
        match self {
            Self::Known(KnownNumber::Bool(truth)) => Some(truth),
            Self::Known(_) | Self::Finite | Self::Place { .. } | Self::Any => None,
        }
    }

    /// Whether combining it with another element changes nothing.
    pub(super) fn is_neutral(self, neutral: Neutral) -> bool {
        let is = |number: f64| matches!(self, Self::Known(known) if known.float() == Some(number));
        match neutral {
            Neutral::Zero => self.is_zero(),
            Neutral::One => is(1.0),
            Neutral::Least => is(f64::NEG_INFINITY),
            Neutral::Greatest => is(f64::INFINITY),
        }
    }

    /// The fact about the value, or about its negation.
    fn signed(self, sign: i64) -> Self {
        match self {
            fact if sign == 1 => fact,
            Self::Known(number) => Self::Known(number.negated()),
            Self::Place { row, column, plus } => Self::Place { row: -row, column: -column, plus: -plus },
            Self::Finite | Self::Any => self,
        }
    }

    /// The fact about the sum of two values.
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (infinite, finite) | (finite, infinite) if infinite.is_infinite() && finite.is_finite() => {
                infinite
            }
            (a, b) => match (a.place(), b.place()) {
                (Some(a), Some(b)) => match [0, 1, 2].map(|part| a[part] + b[part]) {
                    far if far.iter().any(|part| part.abs() > FARTHEST) => Self::Any,
                    [row, column, plus] => Self::Place { row, column, plus },
                },
                _ => Self::Any,
            },
        }
    }

    /// The factors of a position and the constant. A number has the factors 0.
    fn place(self) -> Option<[i64; 3]> {
        match self {
            Self::Place { row, column, plus } => Some([row, column, plus]),
            Self::Known(KnownNumber::I64(number)) if (-FARTHEST..=FARTHEST).contains(&number) => {
                Some([0, 0, number])
            }
            Self::Known(_) | Self::Finite | Self::Any => None,
        }
    }
}

/// The columns that masks let rows see.
pub(super) struct Masks {
    /// A row sees the columns up to its position plus this number; all columns if `None`.
    pub(super) ahead: Option<i64>,
    /// The numbers `ahead` of the masks that were found.
    pub(super) found: BTreeSet<i64>,
}

impl Masks {
    /// The fact about the result of a function, from the facts about its operands.
    pub(super) fn function(&mut self, op: Map, operands: &[Fact]) -> Fact {
        let known = |fact: &Fact| if let Fact::Known(number) = fact { Some(*number) } else { None };
        if let Some(known) = operands.iter().map(known).collect::<Option<Vec<KnownNumber>>>() {
            // Kernels compute the exact values of `exp` at infinities.
            let is_sure = op.row().is_reproducible()
                || (op == Map::Exp && known[0].float().is_some_and(f64::is_infinite));
            let found = is_sure.then(|| KnownNumber::of_function(op.row(), &known)).flatten();
            return found.map_or(Fact::Any, Fact::Known);
        }
        let row = op.row();
        let fact = decided(row, operands).or_else(|| summed(row, operands)).or_else(|| kept(row, operands));
        if let Some(fact) = fact {
            return fact;
        }
        match (op, operands) {
            (Map::Where, [condition, yes, no]) => match condition.truth() {
                Some(true) => *yes,
                Some(false) => *no,
                None if yes.is_finite() && no.is_finite() => Fact::Finite,
                None => Fact::Any,
            },
            (Map::Le | Map::Lt | Map::Ge | Map::Gt, [a, b]) => match (a.place(), b.place()) {
                (Some(a), Some(b)) => {
                    self.compared(op, [0, 1, 2].map(|part| a[part].saturating_sub(b[part])))
                }
                _ => Fact::Any,
            },
            _ => Fact::Any,
        }
    }

    /// The result of a comparison of a difference of positions with 0, after the columns that are seen.
    fn compared(&mut self, op: Map, [row, column, plus]: [i64; 3]) -> Fact {
        if plus.abs() > FARTHEST {
            return Fact::Any;
        }
        // The comparison is rewritten for `column - row + plus`.
        let (op, plus) = match ([row, column], op) {
            ([-1, 1], op) => (op, plus),
            ([1, -1], Map::Le) => (Map::Ge, -plus),
            ([1, -1], Map::Lt) => (Map::Gt, -plus),
            ([1, -1], Map::Ge) => (Map::Le, -plus),
            ([1, -1], Map::Gt) => (Map::Lt, -plus),
            _ => return Fact::Any,
        };
        // The last column, relative to the row, for which the result is not the one of all later columns.
        let (ahead, behind) = match op {
            Map::Le => (-plus, false),
            Map::Lt => (-plus - 1, false),
            Map::Gt => (-plus, true),
            Map::Ge => (-plus - 1, true),
            _ => return Fact::Any,
        };
        self.found.insert(ahead);
        match self.ahead {
            Some(seen) if ahead <= seen => Fact::Known(KnownNumber::Bool(behind)),
            Some(_) | None => Fact::Any,
        }
    }
}

/// The result of a function if one operand decides it.
fn decided(row: &Row, operands: &[Fact]) -> Option<Fact> {
    let truth = row.decides?;
    operands.iter().any(|fact| fact.truth() == Some(truth)).then_some(Fact::Known(KnownNumber::Bool(truth)))
}

/// The zero that a function keeps.
fn kept(row: &Row, operands: &[Fact]) -> Option<Fact> {
    let zero = row.keeps_zeros?.of.iter().map(|operand| operands[*operand]).find(|fact| fact.is_zero())?;
    let Fact::Known(zero) = zero else { return None };
    Some(Fact::Known(if zero.is(0) { zero } else { zero.negated() }))
}

/// The fact about the result of a function that adds its operands.
fn summed(row: &Row, operands: &[Fact]) -> Option<Fact> {
    row.signs.iter().zip(operands).map(|(sign, fact)| fact.signed(*sign)).reduce(Fact::plus)
}
