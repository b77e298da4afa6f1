//! Scalar operations.

use mind_special::{erf, lgamma, polygamma, power, random_hash};

use std::f64::consts::PI;

use super::Value;
use crate::scalars::Scalar;

/// Evaluates an operation. Returns `None` for an integer division by zero.
pub(super) fn evaluate(scalar: Scalar, operands: &[&Value]) -> Option<Value> {
    let f = |position: usize| match operands[position] {
        Value::Float(value) => *value,
        other => unreachable!("{scalar:?}: expected a Float, found {other}"),
    };
    let i = |position: usize| match operands[position] {
        Value::Integer(value) => *value,
        other => unreachable!("{scalar:?}: expected an Integer, found {other}"),
    };
    let b = |position: usize| match operands[position] {
        Value::Bool(value) => *value,
        other => unreachable!("{scalar:?}: expected a Bool, found {other}"),
    };
    let (float, integer, truth) = (Value::Float, Value::Integer, Value::Bool);
    Some(match scalar {
        Scalar::AddF => float(f(0) + f(1)),
        Scalar::AddI => integer(i(0).wrapping_add(i(1))),
        Scalar::SubF => float(f(0) - f(1)),
        Scalar::SubI => integer(i(0).wrapping_sub(i(1))),
        Scalar::MulF => float(f(0) * f(1)),
        Scalar::MulI => integer(i(0).wrapping_mul(i(1))),
        Scalar::DivF => float(f(0) / f(1)),
        Scalar::DivI if i(1) == 0 => return None,
        Scalar::DivI => integer(i(0).wrapping_div(i(1))),
        Scalar::NegF => float(-f(0)),
        Scalar::NegI => integer(i(0).wrapping_neg()),
        Scalar::GtF => truth(f(0) > f(1)),
        Scalar::GtI => truth(i(0) > i(1)),
        Scalar::LtF => truth(f(0) < f(1)),
        Scalar::LtI => truth(i(0) < i(1)),
        Scalar::GteF => truth(f(0) >= f(1)),
        Scalar::GteI => truth(i(0) >= i(1)),
        Scalar::LteF => truth(f(0) <= f(1)),
        Scalar::LteI => truth(i(0) <= i(1)),
        Scalar::Pow => float(power(f(0), i(1))),
        Scalar::Log => float(f(0).ln()),
        Scalar::Exp => float(f(0).exp()),
        Scalar::Sin => float(f(0).sin()),
        Scalar::Cos => float(f(0).cos()),
        Scalar::Tanh => float(f(0).tanh()),
        Scalar::Cosh => float(f(0).cosh()),
        Scalar::Sinh => float(f(0).sinh()),
        Scalar::Abs => float(f(0).abs()),
        Scalar::Sqrt => float(f(0).sqrt()),
        Scalar::Erf => float(erf(f(0))),
        Scalar::Lgamma => float(lgamma(f(0))),
        Scalar::Polygamma => float(polygamma(i(0), f(1))),
        Scalar::Atan2 => float(f(0).atan2(f(1))),
        Scalar::Max => float(if f(0) >= f(1) { f(0) } else { f(1) }),
        Scalar::Min => float(if f(0) <= f(1) { f(0) } else { f(1) }),
        Scalar::Or => truth(b(0) | b(1)),
        Scalar::And => truth(b(0) & b(1)),
        Scalar::Not => truth(!b(0)),
        Scalar::ToFloat => float(i(0) as f64),
        Scalar::BoolToFloat => float(f64::from(u8::from(b(0)))),
        Scalar::Pi => float(PI),
        Scalar::RandomHash => float(random_hash(i(0))),
    })
}
