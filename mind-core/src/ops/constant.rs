//! Inputs and constants.

use mind_shape::{element_count, match_dtype, names};

use super::{
    Attribute, Field, FieldKind, Focus, Inferred, KERNEL, Make, OpError, OpInfo, Requirement, WorkClass,
    fields::{SHAPE, exactly, listed, not_these_fields},
    rules::wrong_row,
    sample,
};
use crate::{
    diag::Code,
    dim::Dim,
    ir::{Const, Op},
    profile::Profile,
    ty::{DType, Shape, Type},
};

rows! {
    Const:
    Const::I64(_) => CONST_I64,
    Const::F32(_) => CONST_F32,
    Const::F64(_) => CONST_F64,
    Const::Tensor { .. } => CONST_TENSOR,
    Const::Count { .. } => COUNT,
}

/// The defaults for rows without operands.
pub(super) const NULLARY: OpInfo = OpInfo {
    class: WorkClass::Constant,
    arity: 0,
    sample: sample::Sampling { cases: sample::none, domain: sample::Domain::Any, tolerance: (0.0, 0.0) },
    ..KERNEL
};

/// `ConstI64(value)`: a single `i64`.
///
/// - **Shape**: `[]`.
/// - **Dtype**: `i64`.
/// - **Semantics**: the value.
/// - **Error**: none: the value is kept bit for bit.
/// - **Derivative**: zero.
/// - **Constraints**: none.
/// - **Example**: `%1 = ConstI64 () {value=3} : i64`.
static CONST_I64: OpInfo = OpInfo {
    name: "ConstI64",
    mnemonic: "const.i64",
    label: "literal",
    infer: |_, _| Ok(Type::scalar(DType::I64)),
    fields: &[Field::place("value", FieldKind::I64)],
    attributes: |op| {
        let Op::Const(Const::I64(value)) = op else { wrong_row(op) };
        listed([Attribute::I64(*value)])
    },
    make: Make::Of(|attributes| {
        let [Attribute::I64(value)] = exactly(attributes) else { not_these_fields() };
        Op::Const(Const::I64(value))
    }),
    ..NULLARY
};

/// `ConstF32(value)`: a single `f32`.
///
/// - **Shape**: `[]`.
/// - **Dtype**: `f32`.
/// - **Semantics**: the value.
/// - **Error**: none: the value is kept bit for bit.
/// - **Derivative**: zero.
/// - **Constraints**: none.
/// - **Example**: `%1 = ConstF32 () {value=0.5} : f32`.
static CONST_F32: OpInfo = OpInfo {
    name: "ConstF32",
    mnemonic: "const.f32",
    label: "literal",
    infer: |_, _| Ok(Type::scalar(DType::F32)),
    fields: &[Field::place("value", FieldKind::F32)],
    attributes: |op| {
        let Op::Const(Const::F32(value)) = op else { wrong_row(op) };
        listed([Attribute::F32(*value)])
    },
    make: Make::Of(|attributes| {
        let [Attribute::F32(value)] = exactly(attributes) else { not_these_fields() };
        Op::Const(Const::F32(value))
    }),
    ..NULLARY
};

/// `ConstF64(value)`: a single `f64`.
///
/// - **Shape**: `[]`.
/// - **Dtype**: `f64`.
/// - **Semantics**: the value.
/// - **Error**: none: the value is kept bit for bit.
/// - **Derivative**: zero.
/// - **Constraints**: none.
/// - **Example**: `%1 = ConstF64 () {value=0.5} : f64`.
static CONST_F64: OpInfo = OpInfo {
    name: "ConstF64",
    mnemonic: "const.f64",
    label: "literal",
    infer: |_, _| Ok(Type::scalar(DType::F64)),
    fields: &[Field::place("value", FieldKind::F64)],
    attributes: |op| {
        let Op::Const(Const::F64(value)) = op else { wrong_row(op) };
        listed([Attribute::F64(*value)])
    },
    make: Make::Of(|attributes| {
        let [Attribute::F64(value)] = exactly(attributes) else { not_these_fields() };
        Op::Const(Const::F64(value))
    }),
    ..NULLARY
};

/// `ConstTensor(data, shape)`: a tensor of constants.
///
/// - **Shape**: the shape attribute.
/// - **Dtype**: the dtype of the data.
/// - **Semantics**: the elements in row-major order, or one element that fills the shape.
/// - **Error**: none: the value is kept bit for bit.
/// - **Derivative**: zero.
/// - **Constraints**: 1. every extent is known, and the data has one element or as many as the shape (E4005).
///   2. Extents are at least 1 (E3006).
/// - **Example**: `%1 = ConstTensor () {data=[1.0, 2.0], dtype=f32, shape=[2]} : f32[2]`.
static CONST_TENSOR: OpInfo = OpInfo {
    name: "ConstTensor",
    mnemonic: "const.tensor",
    label: "literal",
    infer: infer_tensor,
    fields: &[
        Field::place("data", FieldKind::Data),
        Field::of_type("dtype", FieldKind::DType),
        Field::of_type("shape", FieldKind::Dims),
    ],
    attributes: |op| {
        let Op::Const(Const::Tensor { data, shape }) = op else { wrong_row(op) };
        listed([
            Attribute::Data(data.clone()),
            Attribute::DType(data.dtype()),
            Attribute::Dims(shape.to_vec()),
        ])
    },
    make: Make::Of(|attributes| {
        let [Attribute::Data(data), Attribute::DType(_), Attribute::Dims(shape)] = exactly(attributes) else {
            not_these_fields()
        };
        Op::Const(Const::Tensor { data, shape: Shape::new(shape) })
    }),
    ..NULLARY
};

/// `Count(shape)`: the number of elements of a shape, as a scalar; an extension.
///
/// - **Shape**: `[]`.
/// - **Dtype**: the dtype attribute, a numeric type.
/// - **Semantics**: the product of the extents, rounded if the dtype is a float. A product beyond the range of an
///   integer dtype stops the program before anything runs (E6009).
/// - **Error**: at most 0.5 ulp where a float cannot represent the product; otherwise none.
/// - **Derivative**: zero.
/// - **Constraints**: 1. Extents are at least 1 (E3006). 2. The dtype is not `bool` (E2005). 3. A known product is in
///   the range of an integer dtype (E1005).
/// - **Example**: `%1 = Count () {shape=[N], dtype=f32} : f32`.
static COUNT: OpInfo = OpInfo {
    name: "Count",
    mnemonic: "count",
    label: "dimension",
    profile: Profile::Extended,
    infer: infer_count,
    requirements: |op, _| {
        let Op::Const(Const::Count { shape, dtype }) = op else { wrong_row(op) };
        let count = shape.element_count().expect("inference refuses what cannot be counted");
        let most = largest(*dtype).filter(|_| count.as_literal().is_none());
        most.map(|most| Requirement::AtMost(count, Dim::literal(most))).into_iter().collect()
    },
    fields: &[SHAPE, Field::of_type("dtype", FieldKind::DType)],
    attributes: |op| {
        let Op::Const(Const::Count { shape, dtype }) = op else { wrong_row(op) };
        listed([Attribute::Dims(shape.to_vec()), Attribute::DType(*dtype)])
    },
    make: Make::Of(|attributes| {
        let [Attribute::Dims(shape), Attribute::DType(dtype)] = exactly(attributes) else {
            not_these_fields()
        };
        Op::Const(Const::Count { shape: Shape::new(shape), dtype })
    }),
    ..NULLARY
};

fn infer_count(op: &Op, _: &[&Type]) -> Inferred {
    let Op::Const(Const::Count { shape, dtype }) = op else { wrong_row(op) };
    if *dtype == DType::Bool {
        let problem = format!("a bool cannot count elements, needed {}", names::ANY_NUMBER);
        return Err(OpError::new(op, Code::E2005).problem(problem).focus(Focus::Attribute("dtype")).into());
    }
    super::rules::positive(op, shape)?;
    let count = shape.element_count().map_err(|overflow| OpError::overflow(op, overflow))?;
    if count.as_literal().zip(largest(*dtype)).is_some_and(|(count, most)| count > most) {
        let problem = format!("{count} is out of range for {dtype}");
        return Err(OpError::new(op, Code::E1005).problem(problem).focus(Focus::Attribute("shape")).into());
    }
    Ok(Type::scalar(*dtype))
}

/// The largest integer of an integer type that is narrower than 64 bits. `None` for types that hold or round every
/// element count.
const fn largest(dtype: DType) -> Option<i64> {
    let largest =
        match_dtype!(dtype, T { truths => i64::MAX, integers => T::MAX as i64, floats => i64::MAX });
    if largest < i64::MAX { Some(largest) } else { None }
}

fn infer_tensor(op: &Op, _: &[&Type]) -> Inferred {
    let Op::Const(Const::Tensor { data, shape }) = op else { wrong_row(op) };
    let fault = |code, problem: String| {
        Err(OpError::new(op, code).problem(problem).focus(Focus::Attribute("shape")).into())
    };
    let Some(extents) = shape.as_literals() else {
        return fault(Code::E4005, format!("shape {shape} of a constant is not known, needed integers"));
    };
    super::rules::positive(op, shape)?;
    let Some(count) = element_count(&extents) else {
        return fault(Code::E1008, format!("shape {shape} has more than 2^63 elements"));
    };
    let stored = data.stored();
    if stored != 1 && i64::try_from(stored) != Ok(count) {
        return fault(Code::E4005, format!("{stored} elements given, {count} needed for shape {shape}"));
    }
    Ok(Type::new(data.dtype(), shape.clone()))
}
