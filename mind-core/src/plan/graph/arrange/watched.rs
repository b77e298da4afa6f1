//! Items that watch values, one after the other.

use mind_shape::match_elements;

use super::{Arranger, Work, read};
use crate::{
    data::TensorData,
    ir::{Const, Inst, Op, ValueId},
    plan::{Search, Watch},
    ty::Type,
};

impl Arranger<'_> {
    /// Watches a value for NaN.
    pub(super) fn search(&mut self, value: ValueId, inst: &Inst) {
        let is_float = |operand: &&ValueId| self.module.ty(**operand).dtype.is_float();
        let mut made_of: Vec<ValueId> = inst.operands.iter().filter(is_float).copied().collect();
        made_of.sort_unstable();
        made_of.dedup();
        let delivered = self.module.outputs().contains(&value);
        self.watch(value, Watch::Search(Search { value, made_of, delivered }));
    }

    /// Watches a value, after the values that are watched before it.
    pub(super) fn watch(&mut self, value: ValueId, watch: Watch) {
        let ty = self.module.ty(value).clone();
        let operand = if ty.rank() == 0 { read(&self.view(value)) } else { self.contiguous(value) };
        let number = Type::scalar(ty.dtype);
        let item = self.push(value, Work::Watch { watch, ty }, vec![operand], number, Vec::new());
        self.items[item].needs.extend(self.watched.replace(item));
    }
}

/// Whether a value may hold NaN.
pub(super) fn may_be_nan(inst: &Inst) -> bool {
    let is_known = |constant: &Const| match constant.data() {
        None => true,
        Some(data) => match_elements!(data, TensorData(elements) {
            floats => !elements.iter().any(|element| element.get().is_nan()),
            others => true,
        }),
    };
    let is_known = matches!(&inst.op, Op::Const(constant) if is_known(constant));
    inst.ty.dtype.is_float() && !inst.op.is_effect() && !is_known
}
