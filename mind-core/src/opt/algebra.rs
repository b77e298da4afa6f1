//! Rewrites that preserve every bit of every result, including signs of zeros and infinities. Only the sign and payload
//! of a NaN may change; they also differ between processors.
//!
//! Some rewrites that look valid are left out: `x + 0.0` turns -0.0 into 0.0 (unless `x` is known not to be -0.0), `x * 0.0` is NaN for infinities,
//! `-(x - y)` is -0.0 where `y - x` is 0.0, and sums of products in another order round differently.

use crate::{
    data::TensorData,
    ir::{Arrange, Inst, Op, Operands, ValueId},
    map::Map,
    number::KnownNumber,
    ops::Motion,
    ty::Type,
};

/// The rewritten form of an instruction. Its operands are already rewritten.
pub(super) enum Rewrite {
    /// The instruction itself.
    Same,
    /// An earlier value, broadcast to the type of the result if its shape differs.
    Value(ValueId),
    /// The same number at every index.
    Filled(KnownNumber),
    /// Another operation, whose result has the same type.
    Inst(Op, Operands),
    /// An operation on a value of the type of the result and a number.
    Scaled(Op, ValueId, KnownNumber),
}

/// The optimised instructions so far, as the rules read them.
pub(super) struct OptimisedInsts<'k> {
    /// Each instruction.
    pub(super) insts: &'k [Inst],
    /// The number that fills each value, if any.
    pub(super) filled: &'k [Option<KnownNumber>],
    /// For each value, whether no element of it is -0.0.
    pub(super) no_negative_zero: &'k [bool],
    /// Finds the value of an earlier instruction with this operation and these operands.
    pub(super) find: &'k dyn Fn(Op, Operands) -> Option<ValueId>,
}

/// The number that fills the result of an instruction, if any.
pub(super) fn filling(op: &Op, operands: &[ValueId], filled: &[Option<KnownNumber>]) -> Option<KnownNumber> {
    if let Op::Const(constant) = op {
        return KnownNumber::filling(&constant.data()?);
    }
    op.motion().filter(Motion::adds_nothing).and_then(|_| filled[operands[0].index()])
}

/// Whether no element of the result of an instruction is -0.0, as far as it is known. A sum is -0.0 only if both
/// operands are.
pub(super) fn has_no_negative_zero(
    op: &Op,
    operands: &[ValueId],
    filling: Option<KnownNumber>,
    no_negative_zero: &[bool],
) -> bool {
    let has_none = |at: usize| no_negative_zero[operands[at].index()];
    match (filling, op) {
        (Some(number), _) => !number.is_nothing_to_add() || number.is_integer(),
        (None, Op::Map(Map::Add)) => has_none(0) || has_none(1),
        (None, Op::Map(Map::Mul)) => operands[0] == operands[1],
        (None, Op::Map(Map::SELECTION)) => has_none(1) && has_none(2),
        (None, Op::Map(Map::Abs | Map::Exp)) => true,
        (None, Op::Arrange(_)) => has_none(0),
        (None, _) => false,
    }
}

/// Returns a form that equals `op` of `operands`, whose result has type `ty`.
pub(super) fn rewrite(op: &Op, operands: &Operands, ty: &Type, known: &OptimisedInsts<'_>) -> Rewrite {
    let number = |position: usize| known.filled[operands[position].index()];
    if let Some(result) = KnownNumber::apply(op, number).filter(|result| result.into_op().is_some()) {
        return Rewrite::Filled(result);
    }
    if let Op::Map(map) = op
        && let Some(keeps) = &map.row().keeps_zeros
        && let Some(zero) = keeps.of.iter().filter_map(|of| number(*of)).find(|number| number.is(0))
    {
        return Rewrite::Filled(zero);
    }
    match op {
        Op::Map(Map::Add) => sum(operands, known),
        Op::Map(Map::Sub) => difference(operands, ty, known),
        Op::Map(Map::Mul) => product(operands, ty, known),
        Op::Map(Map::Div) => quotient(operands, ty, known),
        Op::Map(Map::SELECTION) => match number(0) {
            Some(KnownNumber::Bool(is_chosen)) => Rewrite::Value(operands[if is_chosen { 1 } else { 2 }]),
            _ => Rewrite::Same,
        },
        Op::Map(Map::Neg) => known.negated(operands[0]).map_or(Rewrite::Same, Rewrite::Value),
        Op::Map(map) if map.keeps_zeros_of_products() => product_that_keeps_zeros(operands, ty, known),
        Op::Map(Map::Relu) if known.inst(operands[0]).op == Op::Map(Map::Relu) => Rewrite::Value(operands[0]),
        // relu(x) is above 0 exactly where x is. A mask that reads relu(x) does not keep x alive.
        Op::Map(Map::ReluGrad) => match (known.find)(Op::Map(Map::Relu), known.operands(&[operands[1]])) {
            Some(relu) => Rewrite::Inst(Op::Map(Map::ReluGrad), known.operands(&[operands[0], relu])),
            None => Rewrite::Same,
        },
        Op::Arrange(arrange) => arranged(arrange, operands[0], ty, known),
        Op::Rows(rows) if known.is_filled(operands[0], |number| number.is(0)) => match rows.of_zeros(ty) {
            Some(rows) => Rewrite::Inst(Op::Rows(rows), known.operands(&operands[1..])),
            None => Rewrite::Same,
        },
        _ => Rewrite::Same,
    }
}

/// As `x * 1.0`, except that -0.0 becomes 0.0.
fn product_that_keeps_zeros(operands: &Operands, ty: &Type, known: &OptimisedInsts<'_>) -> Rewrite {
    let pairs = [(operands[0], operands[1]), (operands[1], operands[0])];
    let is_one = |(x, factor): &(ValueId, ValueId)| {
        known.is_filled(*factor, |number| number.is(1)) && known.inst(*x).ty == *ty
    };
    let zero = KnownNumber::filling(&TensorData::splat(ty.dtype, 0.0));
    match pairs.into_iter().find(is_one).zip(zero) {
        Some(((x, _), _)) if known.has_no_negative_zero(x) => Rewrite::Value(x),
        Some(((x, _), zero)) => Rewrite::Scaled(Op::Map(Map::Add), x, zero),
        None => Rewrite::Same,
    }
}

/// `x + -0.0` is x, and so is `x + 0.0` if x is not -0.0; `x + -y` is `x - y`.
fn sum(operands: &Operands, known: &OptimisedInsts<'_>) -> Rewrite {
    let [a, b] = [operands[0], operands[1]];
    if known.is_filled(b, KnownNumber::is_nothing_to_add) {
        Rewrite::Value(a)
    } else if known.is_filled(a, KnownNumber::is_nothing_to_add) {
        Rewrite::Value(b)
    } else if known.is_filled(b, |number| number.is(0)) && known.has_no_negative_zero(a) {
        Rewrite::Value(a)
    } else if known.is_filled(a, |number| number.is(0)) && known.has_no_negative_zero(b) {
        Rewrite::Value(b)
    } else if let Some(b) = known.negated(b) {
        Rewrite::Inst(Op::Map(Map::Sub), known.operands(&[a, b]))
    } else if let Some(a) = known.negated(a) {
        Rewrite::Inst(Op::Map(Map::Sub), known.operands(&[b, a]))
    } else {
        Rewrite::Same
    }
}

/// `x - 0.0` is x; `x - -y` is `x + y`; for integers, `0 - x` is `-x`.
fn difference(operands: &Operands, ty: &Type, known: &OptimisedInsts<'_>) -> Rewrite {
    let [a, b] = [operands[0], operands[1]];
    if known.is_filled(b, |number| number.is(0)) {
        Rewrite::Value(a)
    } else if let Some(b) = known.negated(b) {
        Rewrite::Inst(Op::Map(Map::Add), known.operands(&[a.min(b), a.max(b)]))
    } else if known.is_filled(a, |number| number.is_integer() && number.is(0)) && known.inst(b).ty == *ty {
        Rewrite::Inst(Op::Map(Map::Neg), known.operands(&[b]))
    } else {
        Rewrite::Same
    }
}

/// `x * 1.0` is x and `x * -1.0` is `-x`; `-x * -y` is `x * y`; for integers, `x * 0` is 0.
fn product(operands: &Operands, ty: &Type, known: &OptimisedInsts<'_>) -> Rewrite {
    for (x, factor) in [(operands[0], operands[1]), (operands[1], operands[0])] {
        let Some(number) = known.filled[factor.index()] else { continue };
        if number.is(1) {
            return Rewrite::Value(x);
        } else if number.is(-1) && known.inst(x).ty == *ty {
            return Rewrite::Inst(Op::Map(Map::Neg), known.operands(&[x]));
        } else if number.is_integer() && number.is(0) {
            return Rewrite::Filled(number);
        }
    }
    match (known.negated(operands[0]), known.negated(operands[1])) {
        (Some(a), Some(b)) => Rewrite::Inst(Op::Map(Map::Mul), known.operands(&[a.min(b), a.max(b)])),
        (_, _) => Rewrite::Same,
    }
}

/// `x / 1.0` is x and `x / -1.0` is `-x`. A division by another power of two becomes a product with its inverse. For
/// floats `-x / -y` is `x / y`. For integers it is not if `x` is the minimum, whose negative is itself.
fn quotient(operands: &Operands, ty: &Type, known: &OptimisedInsts<'_>) -> Rewrite {
    let [a, b] = [operands[0], operands[1]];
    if let Some(number) = known.filled[b.index()] {
        let as_it_is = known.inst(a).ty == *ty;
        if number.is(1) {
            return Rewrite::Value(a);
        } else if number.is(-1) && as_it_is {
            return Rewrite::Inst(Op::Map(Map::Neg), known.operands(&[a]));
        } else if let Some(inverse) = number.exact_inverse().filter(|_| as_it_is) {
            return Rewrite::Scaled(Op::Map(Map::Mul), a, inverse);
        }
    }
    match (known.negated(a), known.negated(b)) {
        (Some(a), Some(b)) if ty.dtype.is_float() => {
            Rewrite::Inst(Op::Map(Map::Div), known.operands(&[a, b]))
        }
        (_, _) => Rewrite::Same,
    }
}

/// An arrangement that changes nothing is its operand. Two arrangements in a row become one, or none.
fn arranged(arrange: &Arrange, operand: ValueId, ty: &Type, known: &OptimisedInsts<'_>) -> Rewrite {
    let inner = known.inst(operand);
    if arrange.motion().is_identity(&inner.ty, ty) {
        return Rewrite::Value(operand);
    }
    let Op::Arrange(first) = &inner.op else { return Rewrite::Same };
    match arrange.after(first) {
        Some(both) if both.motion().is_identity(&known.inst(inner.operands[0]).ty, ty) => {
            Rewrite::Value(inner.operands[0])
        }
        Some(both) => Rewrite::Inst(Op::Arrange(both), inner.operands.clone()),
        None => Rewrite::Same,
    }
}

impl OptimisedInsts<'_> {
    fn inst(&self, value: ValueId) -> &Inst {
        &self.insts[value.index()]
    }

    fn operands(&self, operands: &[ValueId]) -> Operands {
        Operands::new(operands).expect("one or two operands fit")
    }

    fn has_no_negative_zero(&self, value: ValueId) -> bool {
        self.no_negative_zero[value.index()]
    }

    fn is_filled(&self, value: ValueId, with: impl Fn(KnownNumber) -> bool) -> bool {
        self.filled[value.index()].is_some_and(with)
    }

    /// The operand of a value that is a negation.
    fn negated(&self, value: ValueId) -> Option<ValueId> {
        let inst = self.inst(value);
        (inst.op == Op::Map(Map::Neg)).then(|| inst.operands[0])
    }
}
