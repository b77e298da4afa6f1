//! Functions whose derivatives compute their values again: turns a module into a loop of one step that keeps no
//! residuals.

use crate::{
    build::Builder,
    diag::Code,
    dim::Dim,
    ir::{Arrange, Guard, Module, Nested, Op, Scan, ValueId},
    ops::OpError,
    ty::{MAX_RANK, Type},
};

/// The module whose derivatives keep its inputs, and compute its other values again from them.
///
/// It computes the same values in a loop of one step with `checkpoint = 1`. The optimiser inlines the loop, and leaves
/// the loop of a derivative apart, which runs the module again.
///
/// A module without inputs is returned as it is, and so is one with a value that has no room for two more axes.
///
/// # Errors
/// E1008 if the new module would exceed the limits of nested modules.
pub fn checkpoint(module: &Module) -> Result<Module, Box<OpError>> {
    let results = module.outputs().iter().map(|output| module.ty(*output));
    let mut types = module.inputs().map(|(_, ty)| ty).chain(results);
    if module.inputs().len() == 0 || module.outputs().is_empty() || types.any(|ty| ty.rank() + 2 > MAX_RANK) {
        return Ok(module.clone());
    }
    let mut builder = Builder::new();
    let inputs = module.inputs().map(|(name, ty)| builder.input(name.clone(), ty.clone()));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let step = |ty: &Type| [Dim::ONE].into_iter().chain(ty.shape.iter().cloned()).collect();
    let mut operands = Vec::new();
    for input in inputs {
        let shape = step(builder.ty(input));
        operands.push(builder.push(Op::Arrange(Arrange::reshape(shape)), &[input])?);
    }
    let body = Nested::new(module.clone()).map_err(|fault| {
        let op = Op::Arrange(Arrange::reshape(builder.ty(operands[0]).shape.clone()));
        OpError::new(&op, Code::E1008).problem(fault.to_string())
    })?;
    let first =
        builder.push(Scan { checkpoint: 1, ..Scan::new(body, 0, Guard::Always) }.into(), &operands)?;
    let mut outputs: Vec<ValueId> = Vec::new();
    for (at, output) in module.outputs().iter().enumerate() {
        let result = if at == 0 { first } else { builder.push(Op::further_result(at), &[first])? };
        let shape = module.ty(*output).shape.clone();
        outputs.push(builder.push(Op::Arrange(Arrange::reshape(shape)), &[result])?);
    }
    Ok(builder.finish(outputs))
}
