//! Instructions that hold a module, and the instruction that reads their further results.

use super::{
    Attribute, Derivative, Field, FieldKind, Inferred, KERNEL, Make, OpError, OpInfo, Profile, VARIADIC,
    WorkClass,
    fields::{exactly, listed, not_these_fields},
    rules::wrong_row,
    scan::{self, SCAN, WHEN, WHILE},
};
use crate::{
    diag::Code,
    dim::{Dim, Overflow},
    ir::{Guard, Inst, Module, Nested, Nesting, Op, Own, Scan, ValueId},
    map::Takes,
    ty::Type,
};

rows! {
    Nesting:
    Nesting::Call(_) => CALL,
    Nesting::Pullback(_) => PULLBACK,
    Nesting::Scan(Scan { guard: Guard::Always, .. }) => SCAN,
    Nesting::Scan(Scan { guard: Guard::Carry, .. }) => WHILE,
    Nesting::Scan(Scan { guard: Guard::Operand, .. }) => WHEN,
    Nesting::Result { .. } => RESULT,
}

/// `Call(x…; module)`: the results of running a module on the operands; an extension.
///
/// - **Shape**: the shape of each result of the module. The instruction has the shape of the first result.
/// - **Dtype**: the dtype of each result of the module.
/// - **Semantics**: runs `module` on the operands, one per input. The instruction's value is the first result of the
///   module; `Result` reads the others. The canonical form has no calls: the module's instructions replace each call.
/// - **Error**: the error of the module.
/// - **Derivative**: the derivatives of the module's instructions.
/// - **Constraints**: 1. one operand per input of the module (E2007), 2. with the type of that input (E2001). 3. The
///   module satisfies every constraint, and the inputs of the outermost module determine its symbols. 4. Modules are
///   nested at most 16 deep (E1008).
/// - **Example**: `%2 = Call (%0, %1) : f32[2, 3] { … }`.
static CALL: OpInfo = OpInfo {
    name: "Call",
    mnemonic: "call",
    label: "call",
    infer: |op, operands| {
        let nested = nested(op);
        check_inputs(op, nested, operands)?;
        Ok(output(op, nested, 0)?.clone())
    },
    flops: |op, _, _| flops(nested(op)),
    fields: &[MODULE],
    attributes: module_of,
    make: Make::Of(|attributes| {
        let [Attribute::Module(nested)] = exactly(attributes) else { not_these_fields() };
        Op::Own(Own::Nesting(Nesting::Call(nested)))
    }),
    ..HOLDING
};

/// `Pullback(y…; module)`: the results of a function with a custom derivative; an extension.
///
/// - **Shape**: the shape of each of the first `k` operands. The instruction has the shape of the first.
/// - **Dtype**: the dtype of each of the first `k` operands, `f32` or `f64`.
/// - **Semantics**: the first `k` operands are the results of a function, and the others are its parameters. The
///   instruction returns the results unchanged: its value is the first, and `Result` reads the others. `module` takes
///   the parameters, the results and the cotangents of the results, so it has `k` more inputs than there are operands.
///   It returns the cotangent of each floating-point parameter. Only derivatives run it.
/// - **Error**: none: values are kept bit for bit.
/// - **Derivative**: each floating-point parameter receives the cotangent that `module` returns. The first `k` operands
///   receive none.
/// - **Constraints**: 1. `k` is at least 1 and at most the number of operands (E2007). 2. Each input of the module has
///   the type of its operand (E2001). 3. The results are floating-point, and so is at least one parameter (E2005). 4.
///   The module returns one value per floating-point parameter (E2007), 5. with the type of that parameter (E2001). 6.
///   The module satisfies every constraint, and the inputs of the outermost module determine its symbols. 7. Modules
///   are nested at most 16 deep (E1008).
/// - **Example**: `%4 = Pullback (%3, %0) : f32[2, 3] { … }`.
static PULLBACK: OpInfo = OpInfo {
    name: "Pullback",
    mnemonic: "pullback",
    label: "pullback",
    infer: infer_pullback,
    fields: &[MODULE],
    attributes: module_of,
    make: Make::Of(|attributes| {
        let [Attribute::Module(nested)] = exactly(attributes) else { not_these_fields() };
        Op::Own(Own::Nesting(Nesting::Pullback(nested)))
    }),
    ..HOLDING
};

/// `Result(x; position)`: a further result of an instruction that has several; an extension.
///
/// - **Shape**: the shape of that result.
/// - **Dtype**: the dtype of that result.
/// - **Semantics**: the result at `position` of the instruction that makes the operand. Position 0 is the operand
///   itself.
/// - **Error**: none: the value is kept bit for bit.
/// - **Derivative**: the cotangent of that result.
/// - **Constraints**: 1. `position` is at least 1 and less than the number of results of the instruction that makes the
///   operand (E4003).
/// - **Example**: `%5 = Result (%4) {position=1} : f32[3]`.
static RESULT: OpInfo = OpInfo {
    name: "Result",
    mnemonic: "result",
    label: "result",
    arity: 1,
    // The operand's type does not determine the result. `infer_further` reads the instruction that makes the operand.
    infer: |op, _| Err(no_result(op, 1)),
    fields: &[Field::place("position", FieldKind::I64)],
    attributes: |op| listed([Attribute::I64(position(op))]),
    make: Make::Of(|attributes| {
        let [Attribute::I64(position)] = exactly(attributes) else { not_these_fields() };
        Op::Own(Own::Nesting(Nesting::Result { position }))
    }),
    ..HOLDING
};

/// The fields that the rows share.
pub(super) const HOLDING: OpInfo = OpInfo {
    profile: Profile::Extended,
    class: WorkClass::Module,
    arity: VARIADIC,
    derivative: Derivative::Rule,
    ..KERNEL
};

pub(super) const MODULE: Field = Field::place("module", FieldKind::Module);

fn nested(op: &Op) -> &Nested {
    op.nested().unwrap_or_else(|| wrong_row(op))
}

fn module_of(op: &Op) -> super::Attributes {
    listed([Attribute::Module(nested(op).clone())])
}

fn position(op: &Op) -> i64 {
    let Op::Own(Own::Nesting(Nesting::Result { position })) = op else { wrong_row(op) };
    *position
}

/// The number of results of a pullback. The module has one more input for each, its cotangent.
pub(crate) fn results_of_pullback(nested: &Nested, operands: usize) -> usize {
    nested.inputs().len().saturating_sub(operands)
}

/// The operand that an instruction of a canonical module returns unchanged, if only derivatives need the instruction.
pub(crate) fn seen_through(module: &Module, inst: &Inst) -> Option<ValueId> {
    let Op::Own(Own::Nesting(nesting)) = &inst.op else { return None };
    match nesting {
        Nesting::Pullback(_) => Some(inst.operands[0]),
        Nesting::Scan(_) => None,
        Nesting::Result { position } => {
            let maker = module.inst(inst.operands[0]);
            let is_pullback = matches!(maker.op, Op::Own(Own::Nesting(Nesting::Pullback(_))));
            is_pullback.then(|| maker.operands[super::position(*position)])
        }
        Nesting::Call(_) => unreachable!("the canonical form has no calls"),
    }
}

fn infer_pullback(op: &Op, operands: &[&Type]) -> Inferred {
    let nested = nested(op);
    let (inputs, results) = (nested.inputs().len(), results_of_pullback(nested, operands.len()));
    if results == 0 || results > operands.len() {
        let problem = format!(
            "{} operands given for a module of {}, needed at least one result and a cotangent for each",
            operands.len(),
            counted(inputs, "input")
        );
        return Err(OpError::new(op, Code::E2007).problem(problem).into());
    }
    if let Some(at) = (0..results).find(|at| !operands[*at].dtype.is_float()) {
        return Err(OpError::dtype(op, at, operands[at].dtype, Takes::Floats).into());
    }
    let (given, parameters) = operands.split_at(results);
    let inner: Vec<&Type> = parameters.iter().chain(given).chain(given).copied().collect();
    check_inputs(op, nested, &inner)?;
    let floats: Vec<&Type> = parameters.iter().copied().filter(|ty| ty.dtype.is_float()).collect();
    if floats.is_empty() {
        let problem = "no parameter is a float tensor, needed at least one";
        return Err(OpError::new(op, Code::E2005).problem(problem).into());
    }
    if nested.outputs().len() != floats.len() {
        let problem = format!(
            "the module returns {}, needed {}: one for each float parameter",
            counted(nested.outputs().len(), "value"),
            floats.len()
        );
        return Err(OpError::new(op, Code::E2007).problem(problem).into());
    }
    for (at, needed) in floats.into_iter().enumerate() {
        let found = output(op, nested, at)?;
        if found != needed {
            let problem = format!("value {at} of the module is {found}, needed {needed}");
            return Err(OpError::new(op, Code::E2001).problem(problem).into());
        }
    }
    Ok(given[0].clone())
}

/// Checks the types of operands against the inputs of a module.
fn check_inputs(op: &Op, nested: &Nested, operands: &[&Type]) -> Result<(), Box<OpError>> {
    let inputs = nested.inputs();
    if inputs.len() != operands.len() {
        let problem = format!(
            "{} given for a module of {}",
            counted(operands.len(), "operand"),
            counted(inputs.len(), "input")
        );
        return Err(OpError::new(op, Code::E2007).problem(problem).into());
    }
    for ((name, needed), found) in inputs.zip(operands) {
        if needed != *found {
            let problem = format!("input `{name}` of the module is {needed}, given {found}");
            return Err(OpError::new(op, Code::E2001).problem(problem).into());
        }
    }
    Ok(())
}

/// The type of an output of a module. Reports E4003 if the module has no such output or value.
pub(super) fn output<'m>(op: &Op, module: &'m Module, at: usize) -> Result<&'m Type, Box<OpError>> {
    let value = module.outputs().get(at).and_then(|output| module.insts().get(output.index()));
    value.map(|inst| &inst.ty).ok_or_else(|| {
        let problem = format!("result {at} of the module is not one of its values");
        OpError::new(op, Code::E4003).problem(problem).into()
    })
}

/// The type of a further result of `maker`, the instruction that makes the operand. `ty` returns the types of its
/// operands.
pub(crate) fn infer_further<'t>(
    op: &Op,
    maker: &'t Inst,
    ty: impl Fn(ValueId) -> Option<&'t Type>,
) -> Inferred {
    let Op::Own(Own::Nesting(nesting)) = &maker.op else { return Err(no_result(op, 1)) };
    let count = match nesting {
        Nesting::Call(nested) | Nesting::Scan(Scan { body: nested, .. }) => nested.outputs().len(),
        Nesting::Pullback(nested) => {
            results_of_pullback(nested, maker.operands.len()).min(maker.operands.len())
        }
        Nesting::Result { .. } => 1,
    };
    let at = usize::try_from(position(op)).ok().filter(|at| (1..count).contains(at));
    let Some(at) = at else { return Err(no_result(op, count)) };
    match nesting {
        Nesting::Call(nested) => output(op, nested, at).cloned(),
        Nesting::Pullback(_) => ty(maker.operands[at]).cloned().ok_or_else(|| no_result(op, count)),
        Nesting::Scan(scan) => {
            let operands: Option<Vec<&Type>> = maker.operands.iter().map(|operand| ty(*operand)).collect();
            scan::result(op, scan, &operands.ok_or_else(|| no_result(op, count))?, at)
        }
        Nesting::Result { .. } => Err(no_result(op, count)),
    }
}

/// E4003: an instruction with `count` results has no result at the position that `op` reads.
fn no_result(op: &Op, count: usize) -> Box<OpError> {
    let results = counted(count, "result");
    let problem = match position(op) {
        0 => "result 0 is the operand itself, needed 1 or more".to_owned(),
        position => format!("result {position} of an instruction that has {results}"),
    };
    OpError::new(op, Code::E4003).problem(problem).operands(&[0]).into()
}

pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The number of arithmetic operations of one run of a module.
pub(super) fn flops(module: &Module) -> Result<Dim, Overflow> {
    module.insts().iter().try_fold(Dim::ZERO, |sum, inst| {
        let operands: Vec<&Type> = inst.operands.iter().map(|operand| module.ty(*operand)).collect();
        sum.add(&(inst.op.info().flops)(&inst.op, &operands, &inst.ty)?)
    })
}
