//! Functions that are elsewhere, of which only path and types are known.

use super::{
    Attribute, Derivative, Field, FieldKind, KERNEL, OpError, OpInfo, Profile, VARIADIC,
    fields::{SHAPE, not_these_fields},
    rules::foreign,
};
use crate::{
    diag::Code,
    dim::Dim,
    grad::{AutodiffError, Pullback},
    interp::RunError,
    ir::{Op, Slice},
    ty::{DType, Shape, Type},
};

/// `Extern(x…; function, shape)`: a call of a function that is elsewhere; an extension.
///
/// - **Shape**: `shape`.
/// - **Dtype**: that of the operands of floats.
/// - **Semantics**: what the Rust function of this path gives, which may fail as the program runs. Only compiled
///   programs have it: the interpreter stops (E6010).
/// - **Derivative**: what `ExternGrad` gives, an operand each.
/// - **Constraints**: 1. operands are `f32`, `f64` or `i64`, and one at least is of floats (E2005). 2. All floats are of
///   one element type (E2004). 3. `function` is a path of names with `::` between (E1002).
/// - **Example**: `%2 = Extern (%0, %1) {function="cell", shape=[8]} : f64[8]`.
pub(super) static EXTERN: OpInfo = OpInfo {
    name: "Extern",
    mnemonic: "extern",
    label: "extern",
    infer: |op, operands| {
        let Op::Extern { function, shape } = op else { foreign(op) };
        check_path(op, function)?;
        Ok(Type::new(float(op, operands)?, shape.clone()))
    },
    derivative: Derivative::Rule(pull_back),
    fields: &[FUNCTION, SHAPE],
    attributes: |op| {
        let Op::Extern { function, shape } = op else { foreign(op) };
        [Some(Attribute::Text(function.clone())), Some(Attribute::Dims(shape.to_vec())), None]
    },
    make: |attributes| {
        let [Some(Attribute::Text(function)), Some(Attribute::Dims(shape)), None] = attributes else {
            not_these_fields()
        };
        Op::Extern { function, shape: Shape::new(shape) }
    },
    ..ROW
};

/// `ExternGrad(x…; function)`: what `Extern` passes back; an extension.
///
/// - **Shape**: one axis, as long as the operands of floats but the last have elements.
/// - **Dtype**: that of the operands of floats.
/// - **Semantics**: what the reverse derivative of the function gives of its operands and, the last, the cotangent of
///   its result: the cotangents of its operands of floats, one after the other in row-major order. Only compiled
///   programs have it: the interpreter stops (E6010).
/// - **Derivative**: none (E5001).
/// - **Constraints**: 1. operands are `f32`, `f64` or `i64`, and the last and another one are of floats (E2005). 2. All
///   floats are of one element type (E2004). 3. `function` is a path of names with `::` between (E1002).
/// - **Example**: `%3 = ExternGrad (%0, %1, %2) {function="cell"} : f64[16]`.
pub(super) static EXTERN_GRAD: OpInfo = OpInfo {
    name: "ExternGrad",
    mnemonic: "extern_grad",
    label: "extern_grad",
    infer: |op, operands| {
        let Op::ExternGrad { function } = op else { foreign(op) };
        check_path(op, function)?;
        let (_, arguments) = operands.split_last().ok_or_else(|| no_floats(op))?;
        let dtype = float(op, arguments)?;
        float(op, operands)?;
        if !operands[operands.len() - 1].dtype.is_float() {
            let last = operands.len() - 1;
            return Err(OpError::dtype(op, last, operands[last].dtype, &[dtype]).into());
        }
        let mut count = Dim::ZERO;
        for argument in arguments.iter().filter(|argument| argument.dtype.is_float()) {
            let more = argument.shape.element_count().and_then(|elements| count.add(&elements));
            count = more.map_err(|overflow| OpError::overflow(op, overflow))?;
        }
        Ok(Type::new(dtype, Shape::new(vec![count])))
    },
    derivative: Derivative::Unsupported,
    fields: &[FUNCTION],
    attributes: |op| {
        let Op::ExternGrad { function } = op else { foreign(op) };
        [Some(Attribute::Text(function.clone())), None, None]
    },
    make: |attributes| {
        let [Some(Attribute::Text(function)), None, None] = attributes else { not_these_fields() };
        Op::ExternGrad { function }
    },
    ..ROW
};

/// What the rows share.
const ROW: OpInfo = OpInfo {
    profile: Profile::Extended,
    arity: VARIADIC,
    evaluate: |op, _, _| {
        let (Op::Extern { function, .. } | Op::ExternGrad { function }) = op else { foreign(op) };
        let message = format!("`{function}` is a function of Rust, which only compiled programs call");
        Err(RunError::new(Code::E6010, message))
    },
    ..KERNEL
};

const FUNCTION: Field = Field::place("function", FieldKind::Text);

/// What is emitted as Rust is nothing but a path, whatever file it comes from.
fn check_path(op: &Op, function: &str) -> Result<(), Box<OpError>> {
    let begins = |first: char| first.is_alphabetic() || first == '_';
    let continues = |other: char| other.is_alphanumeric() || other == '_';
    if function.split("::").all(|name| name.starts_with(begins) && name.chars().all(continues)) {
        return Ok(());
    }
    Err(OpError::new(op, Code::E1002).problem(format!("{function:?} is no path of names")).into())
}

/// The element type of the operands that are floats.
fn float(op: &Op, operands: &[&Type]) -> Result<DType, Box<OpError>> {
    let mut found: Option<(usize, &Type)> = None;
    for (position, operand) in operands.iter().enumerate() {
        match (operand.dtype, found) {
            (DType::I64, _) => {}
            (DType::I32 | DType::Bool, _) => {
                let allowed = [DType::F32, DType::F64, DType::I64];
                return Err(OpError::dtype(op, position, operand.dtype, &allowed).into());
            }
            (dtype, Some((first, ty))) if ty.dtype != dtype => {
                return Err(OpError::mixed(op, ty, operand).operands(&[first, position]).into());
            }
            (DType::F32 | DType::F64, _) => found = Some((position, operand)),
        }
    }
    found.map(|(_, ty)| ty.dtype).ok_or_else(|| no_floats(op))
}

fn no_floats(op: &Op) -> Box<OpError> {
    OpError::new(op, Code::E2005).problem("no operand is of floats, needed one at least").into()
}

/// Takes the vector of all cotangents apart.
fn pull_back(p: &mut Pullback<'_>) -> Result<(), AutodiffError> {
    p.needs_extended()?;
    let Op::Extern { function, .. } = p.op() else { foreign(p.op()) };
    let count = p.operand_count();
    let operands: Vec<_> = (0..count).map(|position| p.operand(position)).chain([p.cotangent()]).collect();
    let all = p.push(Op::ExternGrad { function: function.clone() }, &operands)?;
    let mut start = Dim::ZERO;
    for position in 0..count {
        let ty = p.ty(p.operand(position));
        if !ty.dtype.is_float() {
            continue;
        }
        // Their sum is an extent of what was just made.
        let fits = "a part of a countable extent";
        let end = start.add(&ty.shape.element_count().expect(fits)).expect(fits);
        if p.wants(position) {
            let slice = Slice { starts: vec![start], ends: vec![end.clone()], steps: vec![1] };
            let part = p.push(Op::Slice(slice.into()), &[all])?;
            let part = p.push(Op::Reshape { shape: ty.shape }, &[part])?;
            p.contribute(position, part)?;
        }
        start = end;
    }
    Ok(())
}
