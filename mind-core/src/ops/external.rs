//! Functions that are elsewhere, of which only path and types are known.

use super::{
    Attribute, Derivative, Field, FieldKind, Focus, KERNEL, Make, OpError, OpInfo, Profile, VARIADIC,
    fields::{SHAPE, not_these_fields},
    rules::foreign,
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

/// `Extern(x…; function, shape)`: a call of a function that is elsewhere; an extension.
///
/// - **Shape**: `shape`.
/// - **Dtype**: that of the operands of floats.
/// - **Semantics**: what the Rust function of this path gives, which may fail as the program runs. It has no effects:
///   equal calls may be one, and a call may be left out or made twice. Only compiled programs have it: the interpreter
///   stops (E6010).
/// - **Error**: that of the function.
/// - **Derivative**: what `ExternGrad` gives, an operand each.
/// - **Constraints**: 1. at most eight operands (E2007), of `f32`, `f64`, `i64` or `bool`, and one at least of floats
///   (E2005). 2. All floats are of one element type (E2004). 3. `function` is a path of names with `::` between (E1002).
/// - **Example**: `%2 = Extern (%0, %1) {function="cell", shape=[8]} : f64[8]`.
static EXTERN: OpInfo = OpInfo {
    name: "Extern",
    mnemonic: "extern",
    label: "extern",
    infer: |op, operands| {
        let Op::Own(Own::External(External::Call { function, shape })) = op else { foreign(op) };
        check_path(op, function)?;
        check_count(op, operands.len())?;
        Ok(Type::new(float(op, operands)?, shape.clone()))
    },
    derivative: Derivative::Rule,
    fields: &[FUNCTION, SHAPE],
    attributes: |op| {
        let Op::Own(Own::External(External::Call { function, shape })) = op else { foreign(op) };
        [Some(Attribute::Text(function.clone())), Some(Attribute::Dims(shape.to_vec())), None]
    },
    make: Make::Of(|attributes| {
        let [Some(Attribute::Text(function)), Some(Attribute::Dims(shape)), None] = attributes else {
            not_these_fields()
        };
        Op::Own(Own::External(External::Call { function, shape: Shape::new(shape) }))
    }),
    ..ROW
};

/// `ExternGrad(x…; function, order)`: what `Extern` passes back, or its derivative; an extension.
///
/// - **Shape**: one axis, as long as the operands of floats but the last have elements.
/// - **Dtype**: that of the operands of floats.
/// - **Semantics**: what the reverse derivative of the function gives of its operands and, the last, the cotangent of
///   its result: the cotangents of its operands of floats, one after the other in row-major order. Of order 2 it is
///   what the derivative of that derivative gives, with its operands and the cotangent of its result for operands, and
///   so on. Only compiled programs have it: the interpreter stops (E6010).
/// - **Error**: that of the function.
/// - **Derivative**: what `ExternGrad` of the next order gives, an operand each; none (E5004) where there would be more
///   than eight operands.
/// - **Constraints**: 1. operands are `f32`, `f64` or `i64`; the last `order`, the cotangents, and another one are of
///   floats (E2005). 2. All floats are of one element type (E2004). 3. `function` is a path of names with `::`
///   between (E1002). 4. `order` is 1 or more, and so are the operands before the cotangents (E2007). 5. A cotangent
///   behind the first has the type of what the derivative of the order before gives (E3003).
/// - **Example**: `%3 = ExternGrad (%0, %1, %2) {function="cell", order=1} : f64[16]`.
static EXTERN_GRAD: OpInfo = OpInfo {
    name: "ExternGrad",
    mnemonic: "extern_grad",
    label: "extern_grad",
    infer: |op, operands| {
        let Op::Own(Own::External(External::Grad { function, order })) = op else { foreign(op) };
        check_path(op, function)?;
        check_count(op, operands.len())?;
        let orders =
            usize::try_from(*order).ok().filter(|orders| (1..operands.len().max(1)).contains(orders));
        let Some(orders) = orders else {
            let (last, count) = (operands.len().saturating_sub(1), operands.len());
            let problem = format!("order {order} of {count} operands, needed 1 to {last}");
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
            // What the derivative gives that this is the last operand of.
            let given = ty;
            ty = Type::new(dtype, Shape::new(vec![count_floats(op, &operands[..cotangent])?]));
            if cotangent > arguments && *found != given {
                let problem = format!("the cotangent of {given} is {found}");
                return Err(OpError::new(op, Code::E3003).problem(problem).operands(&[cotangent]).into());
            }
        }
        Ok(ty)
    },
    derivative: Derivative::Rule,
    fields: &[FUNCTION, Field::place("order", FieldKind::I64)],
    attributes: |op| {
        let Op::Own(Own::External(External::Grad { function, order })) = op else { foreign(op) };
        [Some(Attribute::Text(function.clone())), Some(Attribute::I64(*order)), None]
    },
    make: Make::Of(|attributes| {
        let [Some(Attribute::Text(function)), Some(Attribute::I64(order)), None] = attributes else {
            not_these_fields()
        };
        Op::Own(Own::External(External::Grad { function, order }))
    }),
    ..ROW
};

/// The most operands of a call, the cotangents of a derivative included.
pub(crate) const MOST_OF_EXTERN: usize = 8;

/// What the rows share.
const ROW: OpInfo = OpInfo { profile: Profile::Extended, arity: VARIADIC, ..KERNEL };

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

fn check_count(op: &Op, count: usize) -> Result<(), Box<OpError>> {
    if count <= MOST_OF_EXTERN {
        return Ok(());
    }
    let problem = format!("{count} operands given, at most {MOST_OF_EXTERN} needed");
    Err(OpError::new(op, Code::E2007).problem(problem).into())
}

/// An operand of another element type than these: E2005.
fn not_taken(op: &Op, position: usize, found: DType, allowed: &str) -> Box<OpError> {
    OpError::new(op, Code::E2005)
        .problem(format!("found {found}, allowed {allowed}"))
        .focus(Focus::Operand(position))
        .operands(&[position])
        .into()
}

/// The element type of the operands that are floats.
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

/// How many elements operands of floats have.
fn count_floats(op: &Op, operands: &[&Type]) -> Result<Dim, Box<OpError>> {
    let mut count = Dim::ZERO;
    for operand in operands.iter().filter(|operand| operand.dtype.is_float()) {
        let more = operand.shape.element_count().and_then(|elements| count.add(&elements));
        count = more.map_err(|overflow| OpError::overflow(op, overflow))?;
    }
    Ok(count)
}

fn no_floats(op: &Op) -> Box<OpError> {
    OpError::new(op, Code::E2005).problem("no operand is of floats, needed one at least").into()
}
