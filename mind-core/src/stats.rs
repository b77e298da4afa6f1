//! The cost of a program, counted from the table of operations.

use crate::{
    dim::{Dim, Overflow},
    ir::Module,
    ty::Type,
};

/// The number of arithmetic operations of one run of `module`.
///
/// # Errors
/// If the number does not fit into 64 bits.
pub fn flops(module: &Module) -> Result<Dim, Overflow> {
    module.insts().iter().try_fold(Dim::ZERO, |sum, inst| {
        let operands: Vec<&Type> = inst.operands.iter().map(|operand| module.ty(*operand)).collect();
        sum.add(&(inst.op.info().flops)(&inst.op, &operands, &inst.ty)?)
    })
}
