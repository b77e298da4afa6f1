//! The derivatives of scalar operations.

use std::f64::consts::PI;

use crate::{build::Builder, ir::ValueId, scalars::Scalar};

/// The factor of an operand's change.
#[derive(Clone, Copy, Debug)]
pub(super) enum Partial {
    Zero,
    One,
    MinusOne,
    By(ValueId),
    /// The change is divided by this value.
    Over(ValueId),
    /// The change itself if the condition has this truth value, else zero.
    If(ValueId, bool),
}

impl Partial {
    /// The product with a change; `None` for zero.
    pub fn times(self, b: &mut Builder, change: ValueId) -> Option<ValueId> {
        Some(match self {
            Self::Zero => return None,
            Self::One => change,
            Self::MinusOne => b.scalar(Scalar::NegF, &[change]),
            Self::By(factor) => b.scalar(Scalar::MulF, &[factor, change]),
            Self::Over(divisor) => b.scalar(Scalar::DivF, &[change, divisor]),
            Self::If(condition, true) => b.choose(condition, |_| change, |b| b.float(0.0)),
            Self::If(condition, false) => b.choose(condition, |b| b.float(0.0), |_| change),
        })
    }
}

/// The operands that the derivatives need, and whether they need the result.
pub(super) const fn needs(scalar: Scalar) -> (&'static [usize], bool) {
    match scalar {
        Scalar::MulF | Scalar::Pow | Scalar::Atan2 | Scalar::Max | Scalar::Min => (&[0, 1], false),
        Scalar::Polygamma => (&[0, 1], false),
        Scalar::DivF => (&[1], true),
        Scalar::Log | Scalar::Sin | Scalar::Cos | Scalar::Cosh | Scalar::Sinh => (&[0], false),
        Scalar::Abs | Scalar::Erf | Scalar::Lgamma => (&[0], false),
        Scalar::Exp | Scalar::Tanh | Scalar::Sqrt => (&[], true),
        Scalar::AddF | Scalar::SubF | Scalar::NegF => (&[], false),
        Scalar::AddI | Scalar::SubI | Scalar::MulI | Scalar::DivI | Scalar::NegI => (&[], false),
        Scalar::GtF | Scalar::GtI | Scalar::LtF | Scalar::LtI => (&[], false),
        Scalar::GteF | Scalar::GteI | Scalar::LteF | Scalar::LteI => (&[], false),
        Scalar::Or | Scalar::And | Scalar::Not => (&[], false),
        Scalar::ToFloat | Scalar::BoolToFloat | Scalar::Pi | Scalar::RandomHash => (&[], false),
    }
}

/// The derivative by each operand. `x` and `y` return the operands and the result; only those listed by [`needs`] may
/// be requested.
pub(super) fn partials(
    b: &mut Builder,
    scalar: Scalar,
    x: &dyn Fn(usize) -> ValueId,
    y: Option<ValueId>,
) -> Vec<Partial> {
    use Partial::{By, If, MinusOne, One, Over, Zero};
    let result = || y.expect("`needs` says that the result is needed");
    let square = |b: &mut Builder, x| b.scalar(Scalar::MulF, &[x, x]);
    match scalar {
        Scalar::AddF => vec![One, One],
        Scalar::SubF => vec![One, MinusOne],
        Scalar::NegF => vec![MinusOne],
        Scalar::MulF => vec![By(x(1)), By(x(0))],
        Scalar::DivF => {
            let ratio = b.scalar(Scalar::DivF, &[result(), x(1)]);
            let ratio = b.scalar(Scalar::NegF, &[ratio]);
            vec![Over(x(1)), By(ratio)]
        }
        // 0 everywhere for exponent 0, even if x is 0.
        Scalar::Pow => {
            let zero = b.integer(0);
            let is_constant = b.equal(x(1), zero);
            let factor = b.choose(
                is_constant,
                |b| b.float(0.0),
                |b| {
                    let one = b.integer(1);
                    let less = b.scalar(Scalar::SubI, &[x(1), one]);
                    let power = b.scalar(Scalar::Pow, &[x(0), less]);
                    let count = b.scalar(Scalar::ToFloat, &[x(1)]);
                    b.scalar(Scalar::MulF, &[count, power])
                },
            );
            vec![By(factor), Zero]
        }
        Scalar::Log => vec![Over(x(0))],
        Scalar::Exp => vec![By(result())],
        Scalar::Sin => vec![By(b.scalar(Scalar::Cos, &[x(0)]))],
        Scalar::Cos => {
            let sine = b.scalar(Scalar::Sin, &[x(0)]);
            vec![By(b.scalar(Scalar::NegF, &[sine]))]
        }
        Scalar::Tanh => {
            let (one, square) = (b.float(1.0), square(b, result()));
            vec![By(b.scalar(Scalar::SubF, &[one, square]))]
        }
        Scalar::Cosh => vec![By(b.scalar(Scalar::Sinh, &[x(0)]))],
        Scalar::Sinh => vec![By(b.scalar(Scalar::Cosh, &[x(0)]))],
        Scalar::Abs => {
            let zero = b.float(0.0);
            let positive = b.scalar(Scalar::GtF, &[x(0), zero]);
            vec![By(b.choose(positive, |b| b.float(1.0), |b| b.float(-1.0)))]
        }
        Scalar::Sqrt => {
            let half = b.float(0.5);
            vec![By(b.scalar(Scalar::DivF, &[half, result()]))]
        }
        // 2/√π exp(-x²)
        Scalar::Erf => {
            let square = square(b, x(0));
            let negative = b.scalar(Scalar::NegF, &[square]);
            let (bell, factor) = (b.scalar(Scalar::Exp, &[negative]), b.float(2.0 / PI.sqrt()));
            vec![By(b.scalar(Scalar::MulF, &[factor, bell]))]
        }
        Scalar::Lgamma => {
            let zero = b.integer(0);
            vec![By(b.scalar(Scalar::Polygamma, &[zero, x(0)]))]
        }
        Scalar::Polygamma => {
            let one = b.integer(1);
            let next = b.scalar(Scalar::AddI, &[x(0), one]);
            vec![Zero, By(b.scalar(Scalar::Polygamma, &[next, x(1)]))]
        }
        Scalar::Atan2 => {
            let (a, c) = (square(b, x(0)), square(b, x(1)));
            let norm = b.scalar(Scalar::AddF, &[a, c]);
            let first = b.scalar(Scalar::DivF, &[x(1), norm]);
            let second = b.scalar(Scalar::DivF, &[x(0), norm]);
            vec![By(first), By(b.scalar(Scalar::NegF, &[second]))]
        }
        Scalar::Max => {
            let first = b.scalar(Scalar::GteF, &[x(0), x(1)]);
            vec![If(first, true), If(first, false)]
        }
        Scalar::Min => {
            let first = b.scalar(Scalar::LteF, &[x(0), x(1)]);
            vec![If(first, true), If(first, false)]
        }
        Scalar::AddI | Scalar::SubI | Scalar::MulI | Scalar::DivI => vec![Zero, Zero],
        Scalar::GtF | Scalar::GtI | Scalar::LtF | Scalar::LtI => vec![Zero, Zero],
        Scalar::GteF | Scalar::GteI | Scalar::LteF | Scalar::LteI => vec![Zero, Zero],
        Scalar::Or | Scalar::And => vec![Zero, Zero],
        Scalar::NegI | Scalar::Not | Scalar::ToFloat | Scalar::BoolToFloat | Scalar::RandomHash => {
            vec![Zero]
        }
        Scalar::Pi => Vec::new(),
    }
}
