//! Loops over the leading axis of operands.

use super::{
    Attribute, Attributes, Field, FieldKind, Inferred, Make, OpError, OpInfo, check_type,
    fields::{exactly, listed, not_these_fields},
    nesting::{HOLDING, MODULE, counted, flops, output},
    rules::wrong_row,
};
use crate::{
    diag::Code,
    dim::Dim,
    ir::{Access, Guard, Op, Scan},
    ty::{DType, Shape, Type},
};

/// `Scan(x…; carries, reverse, checkpoint, residuals, module)`: a loop that runs a module once per element along the
/// leading axis of operands; an extension.
///
/// - **Shape**: a result that is a carry has the shape of the carry. Any other result has the number of steps as its
///   first extent, then the extents of the module's result. The instruction has the shape of the first result.
/// - **Dtype**: the dtype of each result of the module.
/// - **Semantics**: the first `carries` operands are the carries of the first step. Any other operand that has one axis
///   more than the module's input is iterated: each step receives one element along its leading axis. Every step
///   receives the remaining operands whole. The first `carries` results of the module are the carries of the next step;
///   after the last step they are the first results of the loop. The further results of the module are stacked: element
///   `i` along the leading axis comes from the step for element `i`. Steps run from the first element to the last, or
///   from the last to the first if `reverse`. The instruction's value is the first result; `Result` reads the others.
///   `checkpoint` and `residuals` change no value. Only derivatives read the last `residuals` results. If `checkpoint`
///   is at least 1, the optimiser can keep every `checkpoint`-th carry in place of them, and run the steps from there
///   again where they are read.
/// - **Error**: the errors of the module, which accumulate over the steps.
/// - **Derivative**: the same loop also stacks the values that the module's derivative reads, unless they are cheap to
///   compute again from values that take no more memory. A second loop in the other direction runs the module's
///   derivative on these values. For an operand that every step reads whole in matrix products, one product of stacked
///   factors after the second loop gives the cotangent; with a `checkpoint`, the steps add the products.
/// - **Constraints**: 1. one operand per input of the module, `carries` is at least 0 and at most the number of
///   operands and of the module's results, at least one operand is iterated, `checkpoint` is at least 0, and
///   `residuals` is at most the number of stacked results (E2007). 2. Each operand, or its element if it is iterated,
///   has the type of its input, and each new carry has the type of the carry (E2001). 3. All iterated operands have the
///   same number of steps (E3003). 4. The module satisfies every constraint, and the inputs of the outermost module
///   determine its symbols. 5. Modules are nested at most 16 deep (E1008).
/// - **Example**: `%2 = Scan (%0, %1) {carries=1, reverse=false, checkpoint=0, residuals=0} : f32[3] { … }`.
pub(super) static SCAN: OpInfo =
    OpInfo { name: "Scan", mnemonic: "scan", label: "scan", make: of(Guard::Always), ..LOOP };

/// `While(x…; carries, reverse, checkpoint, residuals, module)`: a loop like `Scan` that ends when its first carry is
/// false; an extension.
///
/// - **Shape**: as `Scan`.
/// - **Dtype**: as `Scan`.
/// - **Semantics**: as `Scan`, except that a step runs only if the first carry is true before it. No step runs after
///   that. The stacked results of steps that do not run are zeros. If no operand is iterated, the number of steps has
///   no limit. Otherwise the first carry must be false after the last element.
/// - **Error**: the errors of the module, which accumulate over the steps. E6010 if the first carry is true after the
///   last element.
/// - **Derivative**: as `Scan`; the loop in the other direction is a `When` over the steps that ran. Without an
///   iterated operand a derivative is an error (E5001), since the number of values that it would have to keep has no
///   bound.
/// - **Constraints**: 1. those of `Scan`, except that no operand need be iterated if no result is stacked. 2. The first
///   carry is a single `bool` (E2001).
/// - **Example**: `%2 = While (%0, %1) {carries=2, reverse=false, checkpoint=0, residuals=0} : bool { … }`.
pub(super) static WHILE: OpInfo =
    OpInfo { name: "While", mnemonic: "while", label: "while", make: of(Guard::Carry), ..LOOP };

/// `When(x…; carries, reverse, checkpoint, residuals, module)`: a loop like `Scan` that runs only some of its steps; an
/// extension.
///
/// - **Shape**: as `Scan`.
/// - **Dtype**: as `Scan`.
/// - **Semantics**: as `Scan`, except that a step runs only if the first operand after the carries is true: a single
///   `bool` for all steps, or an iterated one for each. A step that does not run leaves the carries as they are, and
///   its stacked results are zeros.
/// - **Error**: the errors of the module, in the steps that run.
/// - **Derivative**: as `Scan`; the loop in the other direction runs the same steps.
/// - **Constraints**: 1. those of `Scan`. 2. The module's first input after the carries is a single `bool` (E2001).
/// - **Example**: `%3 = When (%0, %1, %2) {carries=1, reverse=false, checkpoint=0, residuals=0} : f32 { … }`.
pub(super) static WHEN: OpInfo =
    OpInfo { name: "When", mnemonic: "when", label: "if", make: of(Guard::Operand), ..LOOP };

/// The common part of the rows of loops.
const LOOP: OpInfo = OpInfo {
    infer: |op, operands| {
        let scan = scan(op);
        check(op, scan, operands)?;
        result(op, scan, operands, 0)
    },
    flops: |op, operands, _| {
        let scan = scan(op);
        let flops = flops(&scan.body)?;
        // A loop without a limit counts as one step.
        steps(scan, operands).map_or(Ok(flops.clone()), |steps| flops.mul(steps))
    },
    fields: &[
        Field::key("carries", "ca", FieldKind::I64),
        Field::key("reverse", "rv", FieldKind::Flag),
        Field::key("checkpoint", "cp", FieldKind::I64),
        Field::key("residuals", "rs", FieldKind::I64),
        MODULE,
    ],
    attributes: |op| {
        let Scan { body, carries, reverse, guard: _, checkpoint, residuals } = scan(op).clone();
        listed([
            Attribute::I64(carries),
            Attribute::Flag(reverse),
            Attribute::I64(checkpoint),
            Attribute::I64(residuals),
            Attribute::Module(body),
        ])
    },
    ..HOLDING
};

/// Makes a loop with this guard.
const fn of(guard: Guard) -> Make {
    Make::Of(match guard {
        Guard::Always => |given| made(given, Guard::Always),
        Guard::Carry => |given| made(given, Guard::Carry),
        Guard::Operand => |given| made(given, Guard::Operand),
    })
}

fn made(given: Attributes, guard: Guard) -> Op {
    let [
        Attribute::I64(carries),
        Attribute::Flag(reverse),
        Attribute::I64(checkpoint),
        Attribute::I64(residuals),
        Attribute::Module(body),
    ] = exactly(given)
    else {
        not_these_fields()
    };
    Scan { body, carries, reverse, guard, checkpoint, residuals }.into()
}

fn scan(op: &Op) -> &Scan {
    op.as_loop().unwrap_or_else(|| wrong_row(op))
}

fn accesses(scan: &Scan, operands: &[&Type]) -> Vec<Access> {
    scan.accesses(operands.iter().map(|ty| ty.rank()))
}

/// The number of steps, if an operand is iterated.
fn steps<'t>(scan: &Scan, operands: &[&'t Type]) -> Option<&'t Dim> {
    Scan::counted(&accesses(scan, operands)).map(|counted| &operands[counted].shape[0])
}

/// Checks the types of a loop's operands against its body.
fn check(op: &Op, scan: &Scan, operands: &[&Type]) -> Result<(), Box<OpError>> {
    let (inputs, results) = (scan.body.inputs().len(), scan.body.outputs().len());
    let mistake = |code, problem: String| Err(OpError::new(op, code).problem(problem).into());
    if inputs != operands.len() {
        let given = counted(operands.len(), "operand");
        return mistake(Code::E2007, format!("{given} given for a module of {}", counted(inputs, "input")));
    }
    let most = inputs.min(results);
    let carries = match usize::try_from(scan.carries).ok().filter(|carries| *carries <= most) {
        Some(carries) => carries,
        None => {
            let (inputs, results) = (counted(inputs, "input"), counted(results, "result"));
            let found = scan.carries;
            let problem =
                format!("carries is {found}, needed 0 to {most} for a module of {inputs} and {results}");
            return mistake(Code::E2007, problem);
        }
    };
    if scan.checkpoint < 0 {
        return mistake(Code::E2007, format!("checkpoint is {}, needed 0 or more", scan.checkpoint));
    }
    let stacked = i64::try_from(results - carries).unwrap_or(i64::MAX);
    if !(0..=stacked).contains(&scan.residuals) {
        return mistake(Code::E2007, format!("residuals is {}, needed 0 to {stacked}", scan.residuals));
    }
    let steps = steps(scan, operands);
    if steps.is_none() && (scan.guard != Guard::Carry || results > carries) {
        return mistake(Code::E2007, "no operand is iterated over, needed at least one".to_owned());
    }
    check_guard(op, scan, carries)?;
    let operands_of_body = scan.body.inputs().zip(operands).zip(accesses(scan, operands));
    for (at, (((name, needed), found), access)) in operands_of_body.enumerate() {
        let is_iterated = access == Access::Element;
        let of_step = if is_iterated {
            found.with_shape(found.shape[1..].iter().cloned().collect())
        } else {
            (*found).clone()
        };
        if *needed != of_step {
            let each = if is_iterated { "an element of " } else { "" };
            let problem = format!("input `{name}` of the module is {needed}, given {each}{found}");
            return Err(OpError::new(op, Code::E2001).problem(problem).operands(&[at]).into());
        }
        if let Some(steps) = steps.filter(|steps| is_iterated && found.shape[0] != **steps) {
            let problem = format!("numbers of steps differ, {steps} and {}", found.shape[0]);
            return Err(OpError::new(op, Code::E3003).problem(problem).operands(&[at]).into());
        }
    }
    for (at, carry) in operands[..carries].iter().enumerate() {
        let found = output(op, &scan.body, at)?;
        if found != *carry {
            return mistake(
                Code::E2001,
                format!("carry {at} is {carry} before a step, and {found} after it"),
            );
        }
    }
    Ok(())
}

/// Checks that the guard exists and is a single `bool`. The guard of a `While` is its first carry.
fn check_guard(op: &Op, scan: &Scan, carries: usize) -> Result<(), Box<OpError>> {
    let Some(guard) = scan.guard() else { return Ok(()) };
    let (which, is_there) = match scan.guard {
        Guard::Carry => ("the first carry", carries > 0),
        Guard::Always | Guard::Operand => ("the first operand after the carries", true),
    };
    let input = scan.body.inputs().nth(guard).filter(|_| is_there).map(|(_, ty)| ty);
    if input.is_some_and(|ty| ty.dtype == DType::Bool && ty.rank() == 0) {
        return Ok(());
    }
    let found = input.map_or_else(|| "nothing".to_owned(), ToString::to_string);
    let problem = format!("{which} is {found}, needed bool: it decides whether a step runs");
    Err(OpError::new(op, Code::E2001).problem(problem).into())
}

/// The types of the results of a verified loop.
pub(crate) fn results(op: &Op, scan: &Scan, operands: &[&Type]) -> Vec<Type> {
    let ty = |at| result(op, scan, operands, at).expect("a verified loop has results of valid types");
    (0..scan.body.outputs().len()).map(ty).collect()
}

/// The type of the result at position `at`.
pub(super) fn result(op: &Op, scan: &Scan, operands: &[&Type], at: usize) -> Inferred {
    let of_step = output(op, &scan.body, at)?;
    if at < scan.carry_count() {
        return Ok(of_step.clone());
    }
    let Some(steps) = steps(scan, operands) else {
        return Err(OpError::new(op, Code::E2007).problem("no operand is iterated").into());
    };
    let stacked =
        of_step.with_shape([steps].into_iter().chain(of_step.shape.iter()).cloned().collect::<Shape>());
    check_type(|| op.clone(), &stacked)?;
    Ok(stacked)
}
