//! External functions. Only their paths and types are known.

use super::{
    Attribute, Derivative, Field, FieldKind, Focus, KERNEL, Make, OpError, OpInfo, Profile, VARIADIC,
    fields::{SHAPE, exactly, listed, not_these_fields},
    rules::wrong_row,
};
use crate::{
    diag::Code,
    dim::Dim,
    ir::{External, Op, Own},
    ty::{DType, Shape, Type},
};

rows! {
    External:
    External::Call { .. } => EXTERN,
    External::Grad { .. } => EXTERN_GRAD,
}

/// `Extern(x…; function, shape)`: a call of an external function; an extension.
///
/// - **Shape**: `shape`.
/// - **Dtype**: the dtype of the floating-point operands.
/// - **Semantics**: the result of the Rust function with this path, which may fail when the program runs. The function
///   has no effects: equal calls may be merged, and a call may be omitted or repeated. Only compiled programs can call
///   it; the interpreter stops (E6010).
/// - **Error**: the error of the function.
/// - **Derivative**: each floating-point operand receives its part of the result of `ExternGrad`.
/// - **Constraints**: 1. at most eight operands (E2007) of `f32`, `f64`, `i64` or `bool`, at least one of them
///   floating-point (E2005). 2. All floating-point operands have the same dtype (E2004). 3. `function` is a path of
///   names separated by `::` (E1002).
/// - **Example**: `%2 = Extern (%0, %1) {function="cell", shape=[8]} : f64[8]`.
static EXTERN: OpInfo = OpInfo {
    name: "Extern",
    mnemonic: "extern",
    label: "extern",
    infer: |op, operands| {
        let Op::Own(Own::External(External::Call { function, shape })) = op else { wrong_row(op) };
        check_path(op, function)?;
        check_count(op, operands.len())?;
        Ok(Type::new(float(op, operands)?, shape.clone()))
    },
    derivative: Derivative::Rule,
    fields: &[FUNCTION, SHAPE],
    attributes: |op| {
        let Op::Own(Own::External(External::Call { function, shape })) = op else { wrong_row(op) };
        listed([Attribute::Text(function.clone()), Attribute::Dims(shape.to_vec())])
    },
    make: Make::Of(|attributes| {
        let [Attribute::Text(function), Attribute::Dims(shape)] = exactly(attributes) else {
            not_these_fields()
        };
        Op::Own(Own::External(External::Call { function, shape: Shape::new(shape) }))
    }),
    ..ROW
};

/// `ExternGrad(x…; function, order)`: the cotangents of the operands of `Extern`, or a derivative of these; an
/// extension.
///
/// - **Shape**: one axis, whose extent is the number of elements of all floating-point operands except the last.
/// - **Dtype**: the dtype of the floating-point operands.
/// - **Semantics**: the reverse derivative of the function. Its operands are those of the function and, as the last,
///   the cotangent of the function's result. The result holds the cotangents of the floating-point operands, one after
///   the other, each in row-major order. Order 2 is the reverse derivative of order 1: its operands are those of order
///   1 and the cotangent of the result of order 1. Higher orders continue in this way. Only compiled programs can call
///   it; the interpreter stops (E6010).
/// - **Error**: the error of the function.
/// - **Derivative**: each floating-point operand receives its part of the result of `ExternGrad` of the next order. If
///   that needs more than eight operands, it is an error (E5004).
/// - **Constraints**: 1. operands are `f32`, `f64`, `i64` or `bool`. The last `order` operands, the cotangents, are
///   floating-point, and so is at least one operand before them (E2005). 2. All floating-point operands have the same
///   dtype (E2004). 3. `function` is a path of names separated by `::` (E1002). 4. `order` is at least 1, and at least
///   one operand precedes the cotangents (E2007). 5. Each cotangent after the first has the type of the result of the
///   previous order (E3003).
/// - **Example**: `%3 = ExternGrad (%0, %1, %2) {function="cell", order=1} : f64[16]`.
static EXTERN_GRAD: OpInfo = OpInfo {
    name: "ExternGrad",
    mnemonic: "extern_grad",
    label: "extern_grad",
    infer: |op, operands| {
        let Op::Own(Own::External(External::Grad { function, order })) = op else { wrong_row(op) };
        check_path(op, function)?;
        check_count(op, operands.len())?;
        let orders =
            usize::try_from(*order).ok().filter(|orders| (1..operands.len().max(1)).contains(orders));
        let Some(orders) = orders else {
            let (last, count) = (operands.len().saturating_sub(1), operands.len());
            let problem = format!("order is {order} for {count} operands, needed 1 to {last}");
            return Err(OpError::new(op, Code::E2007).problem(problem).into());
        };
        let arguments = operands.len() - orders;
        let dtype = float(op, &operands[..arguments])?;
        float(op, operands)?;
        let mut ty = Type::scalar(dtype);
        for cotangent in arguments..operands.len() {
            let found = operands[cotangent];
            if !found.dtype.is_float() {
                return Err(not_taken(op, cotangent, found.dtype, dtype.name()));
            }
            // `given` is the type of the result of the previous order. `ty` becomes that of the derivative with this
            // cotangent.
            let given = ty;
            ty = Type::new(dtype, Shape::new(vec![count_floats(op, &operands[..cotangent])?]));
            if cotangent > arguments && *found != given {
                let problem = format!("the cotangent is {found}, needed {given}");
                return Err(OpError::new(op, Code::E3003).problem(problem).operands(&[cotangent]).into());
            }
        }
        Ok(ty)
    },
    derivative: Derivative::Rule,
    fields: &[FUNCTION, Field::place("order", FieldKind::I64)],
    attributes: |op| {
        let Op::Own(Own::External(External::Grad { function, order })) = op else { wrong_row(op) };
        listed([Attribute::Text(function.clone()), Attribute::I64(*order)])
    },
    make: Make::Of(|attributes| {
        let [Attribute::Text(function), Attribute::I64(order)] = exactly(attributes) else {
            not_these_fields()
        };
        Op::Own(Own::External(External::Grad { function, order }))
    }),
    ..ROW
};

/// The maximum number of operands of a call, including the cotangents of a derivative.
pub(crate) const MOST_OF_EXTERN: usize = 8;

/// The fields that the rows share.
const ROW: OpInfo = OpInfo { profile: Profile::Extended, arity: VARIADIC, ..KERNEL };

const FUNCTION: Field = Field::place("function", FieldKind::Text);

/// Reports E1002 unless `function` is a path of names. The text is emitted as Rust, so a program must not bring in
/// other code.
fn check_path(op: &Op, function: &str) -> Result<(), Box<OpError>> {
    let begins = |first: char| first.is_alphabetic() || first == '_';
    let continues = |other: char| other.is_alphanumeric() || other == '_';
    if function.split("::").all(|name| name.starts_with(begins) && name.chars().all(continues)) {
        return Ok(());
    }
    Err(OpError::new(op, Code::E1002).problem(format!("{function:?} is not a path of names")).into())
}

fn check_count(op: &Op, count: usize) -> Result<(), Box<OpError>> {
    if count <= MOST_OF_EXTERN {
        return Ok(());
    }
    let problem = format!("{count} operands given, at most {MOST_OF_EXTERN} needed");
    Err(OpError::new(op, Code::E2007).problem(problem).into())
}

/// E2005: the element type of an operand is not one of those allowed.
fn not_taken(op: &Op, position: usize, found: DType, allowed: &str) -> Box<OpError> {
    OpError::new(op, Code::E2005)
        .problem(format!("found {found}, allowed {allowed}"))
        .focus(Focus::Operand(position))
        .operands(&[position])
        .into()
}

/// The common element type of the floating-point operands.
fn float(op: &Op, operands: &[&Type]) -> Result<DType, Box<OpError>> {
    let mut found: Option<(usize, &Type)> = None;
    for (position, operand) in operands.iter().enumerate() {
        match (operand.dtype, found) {
            (DType::I64 | DType::Bool, _) => {}
            (dtype, _) if !dtype.is_float() => {
                return Err(not_taken(op, position, operand.dtype, "f32, f64, i64, bool"));
            }
            (dtype, Some((first, ty))) if ty.dtype != dtype => {
                return Err(OpError::mixed(op, ty, operand).operands(&[first, position]).into());
            }
            _ => found = Some((position, operand)),
        }
    }
    found.map(|(_, ty)| ty.dtype).ok_or_else(|| no_floats(op))
}

/// The number of elements of all floating-point operands.
fn count_floats(op: &Op, operands: &[&Type]) -> Result<Dim, Box<OpError>> {
    let mut count = Dim::ZERO;
    for operand in operands.iter().filter(|operand| operand.dtype.is_float()) {
        let more = operand.shape.element_count().and_then(|elements| count.add(&elements));
        count = more.map_err(|overflow| OpError::overflow(op, overflow))?;
    }
    Ok(count)
}

fn no_floats(op: &Op) -> Box<OpError> {
    OpError::new(op, Code::E2005).problem("no operand is a float tensor, needed at least one").into()
}
