//! Bounds of the magnitudes of values computed from constants, to find factors that are finite and not 0.
//!
//! A product with such a factor needs no function that [keeps zeros](crate::map::Row::keeps_zeros). Most cotangents of
//! sums and means are such factors.

use crate::{
    ir::{Const, Form, Inst, Op, ValueId},
    map::Map,
    number::KnownNumber,
};

/// The smallest and the largest magnitude that an element may have; `None` if not known.
pub(crate) type Magnitude = Option<[f64; 2]>;

/// The magnitude of an element count.
pub(crate) const COUNT: Magnitude = Some([1.0, (1_u64 << 63) as f64]);

/// The magnitudes of all values so far, by position.
#[derive(Default)]
pub(crate) struct Magnitudes(Vec<Magnitude>);

impl Magnitudes {
    /// Whether all elements of a value are finite and not 0, in both float types. `of` computes the magnitude of the
    /// value at a position from those before it.
    pub(crate) fn is_finite_nonzero(
        &mut self,
        position: usize,
        mut of: impl FnMut(usize, &[Magnitude]) -> Magnitude,
    ) -> bool {
        for next in self.0.len()..=position {
            let magnitude = of(next, &self.0);
            self.0.push(magnitude);
        }
        // A margin for rounding errors.
        let [least, greatest] = [f32::MIN_POSITIVE * 2.0, f32::MAX / 2.0].map(f64::from);
        self.0[position].is_some_and(|[low, high]| least <= low && low <= high && high <= greatest)
    }

    /// The same for a value among the instructions of Core IR.
    pub(crate) fn is_finite_nonzero_among(&mut self, insts: &[Inst], value: ValueId) -> bool {
        self.is_finite_nonzero(value.index(), |position, before| {
            let inst = &insts[position];
            match &inst.op {
                Op::Const(Const::Count { .. }) => COUNT,
                Op::Const(_) => of_number(KnownNumber::of(inst)?.float()?),
                op => of_operation(op, |operand| before[inst.operands[operand].index()]),
            }
        })
    }
}

/// The magnitude of a known number.
pub(crate) fn of_number(number: f64) -> Magnitude {
    Some([number.abs(); 2])
}

/// The magnitude of the result of an operation, from those of its operands.
pub(crate) fn of_operation<F: Form>(op: &Op<F>, operand: impl Fn(usize) -> Magnitude) -> Magnitude {
    match op {
        Op::Arrange(_) | Op::Map(Map::SIGN | Map::COPY) => operand(0),
        // Products and quotients: monotone in the magnitude of each operand.
        Op::Map(map) if map.keeping_zeros().is_some() => {
            let (lhs, rhs) = (operand(0)?, operand(1)?);
            let corners = lhs.into_iter().flat_map(|lhs| rhs.map(|rhs| (map.row().float)(&[lhs, rhs])));
            Some([corners.clone().fold(f64::INFINITY, f64::min), corners.fold(0.0, f64::max)])
        }
        // No bound is known for other operations, including new ones.
        _ => None,
    }
}
