//! Operations that read rows and elements of a tensor at integer indices, and that add to them.

use super::{
    Attribute, Derivative, Field, FieldKind, Focus, Inferred, KERNEL, Make, OpError, OpInfo, Profile,
    dynamic::{DYNAMIC_SLICE, DYNAMIC_UPDATE, starts},
    fields::{SHAPE, exactly, listed, not_these_fields},
    rules::{self, position, wrong_row},
    sample::{Case, Sampling},
};
use crate::{
    diag::Code,
    dim::{Dim, Overflow},
    ir::{Form, Op, Rows},
    map::Takes,
    ty::{DType, Shape, Type},
};

rows! {
    Rows:
    Rows::Gather => GATHER,
    Rows::ScatterAdd { .. } => SCATTER_ADD,
    Rows::TakeAlong { .. } => TAKE_ALONG,
    Rows::AddAlong { .. } => ADD_ALONG,
    Rows::DynamicSlice { .. } => DYNAMIC_SLICE,
    Rows::DynamicUpdate { .. } => DYNAMIC_UPDATE,
    Rows::Scatter => SCATTER,
    Rows::AddRows => ADD_ROWS,
}

/// `Gather(x, indices)`: rows of `x` selected by integers.
///
/// - **Shape**: `indices.shape ++ x.shape[1..]`.
/// - **Dtype**: the dtype of `x`.
/// - **Semantics**: `result[i, d] = x[indices[i], d]`; an index outside `0..x.shape[0]` stops the program (E6001)
///   before anything is written.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: the rows of the cotangent are added at the indices. Core v1 compares row numbers as floats, so
///   more than 2^24 rows are an error there (E5004).
/// - **Constraints**: 1. `indices` are integers (E4011). 2. `x` has rank 1 or more (E3002).
/// - **Example**: `%2 = Gather (%0, %1) : f32[5, 3]`.
static GATHER: OpInfo = OpInfo {
    name: "Gather",
    mnemonic: "gather",
    label: "gather",
    fields: &[Field::key("axis", "ax", FieldKind::LeadingAxis)],
    attributes: |_| listed([Attribute::LeadingAxis]),
    make: Make::Of(|_| Op::Rows(Rows::Gather)),
    arity: 2,
    infer: infer_gather,
    origin: |_, operands, axis| {
        let lead = operands[1].rank();
        Some(if axis < lead { (1, axis) } else { (0, axis - lead + 1) })
    },
    derivative: Derivative::Linear,
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [(&[i64], &[i64]); 4] =
                [(&[4], &[]), (&[4], &[3]), (&[3, 2], &[5]), (&[3, 2, 2], &[2, 2])];
            let case = |(table, indices): (&[i64], &[i64])| Case {
                op: Op::Rows(Rows::Gather),
                operands: vec![
                    Type::new(dtype, Shape::literal(table)),
                    Type::new(DType::I64, Shape::literal(indices)),
                ],
            };
            forms.map(case).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

/// `ScatterAdd(indices, updates; shape)`: the cotangent of the operand of `Gather`; an extension.
///
/// - **Shape**: `shape`.
/// - **Dtype**: the dtype of `updates`.
/// - **Semantics**: adds each row of `updates` to zeros at its index. An index outside `0..shape[0]` stops the program
///   (E6001) before anything is written.
/// - **Error**: `k` updates of an element are added one after the other. The error is at most `γ(k)` times the sum of
///   their magnitudes; see [products](#products).
/// - **Derivative**: `updates` receives the rows of the cotangent at the indices.
/// - **Constraints**: 1. `indices` are integers (E4011). 2. `shape` has rank 1 or more (E3002) and extents of at
///   least 1 (E3006). 3. `updates` has shape `indices.shape ++ shape[1..]` (E3003).
/// - **Example**: `%2 = ScatterAdd (%0, %1) {shape=[4, 3]} : f32[4, 3]`.
static SCATTER_ADD: OpInfo = OpInfo {
    name: "ScatterAdd",
    mnemonic: "scatter_add",
    label: "scatter_add",
    profile: Profile::Extended,
    arity: 2,
    infer: infer_scatter,
    flops: |_, operands, _| operands[1].shape.element_count(),
    derivative: Derivative::Linear,
    attributes: |op| {
        let Op::Rows(Rows::ScatterAdd { shape }) = op else { wrong_row(op) };
        listed([Attribute::Dims(shape.to_vec())])
    },
    fields: &[SHAPE],
    make: Make::Of(|attributes| {
        let [Attribute::Dims(shape)] = exactly(attributes) else { not_these_fields() };
        Op::Rows(Rows::ScatterAdd { shape: Shape::new(shape) })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [[&[i64]; 3]; 3] =
                [[&[4], &[], &[]], [&[4], &[3], &[3]], [&[3, 2], &[2, 2], &[2, 2, 2]]];
            let case = |[shape, indices, updates]: [&[i64]; 3]| Case {
                op: Op::Rows(Rows::ScatterAdd { shape: Shape::literal(shape) }),
                operands: vec![
                    Type::new(DType::I64, Shape::literal(indices)),
                    Type::new(dtype, Shape::literal(updates)),
                ],
            };
            forms.map(case).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

/// `TakeAlong(x, indices; axis)`: elements selected along an axis by integers; an extension.
///
/// - **Shape**: the shape of `indices`.
/// - **Dtype**: the dtype of `x`.
/// - **Semantics**: `result[i, j] = x[i, indices[i, j]]` for `axis` 1; an index outside the extent of `axis` stops the
///   program (E6001) before anything is written.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: the cotangent is added at the indices, by `AddAlong`.
/// - **Constraints**: 1. `axis` is in `0..rank` of `x` (E3004). 2. `indices` are integers (E4011), 3. with the rank of
///   `x` (E3002) and 4. with its extents along every other axis (E3003).
/// - **Example**: `%2 = TakeAlong (%0, %1) {axis=1} : f32[2, 3]`.
static TAKE_ALONG: OpInfo = OpInfo {
    name: "TakeAlong",
    mnemonic: "take_along",
    label: "take_along",
    profile: Profile::Extended,
    arity: 2,
    infer: infer_take_along,
    origin: |op, _, axis| {
        let Op::Rows(Rows::TakeAlong { axis: along }) = op else { wrong_row(op) };
        Some((usize::from(axis == position(*along)), axis))
    },
    derivative: Derivative::Linear,
    fields: &[AXIS],
    attributes: |op| {
        let Op::Rows(Rows::TakeAlong { axis }) = op else { wrong_row(op) };
        listed([Attribute::I64(*axis)])
    },
    make: Make::Of(|attributes| {
        let [Attribute::I64(axis)] = exactly(attributes) else { not_these_fields() };
        Op::Rows(Rows::TakeAlong { axis })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let case = |(axis, whole, part): (i64, &[i64], &[i64])| Case {
                op: Op::Rows(Rows::TakeAlong { axis }),
                operands: vec![
                    Type::new(dtype, Shape::literal(whole)),
                    Type::new(DType::I64, Shape::literal(part)),
                ],
            };
            ALONG.map(case).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

/// `AddAlong(indices, updates; shape, axis)`: the cotangent of the operand of `TakeAlong`; an extension.
///
/// - **Shape**: `shape`.
/// - **Dtype**: the dtype of `updates`.
/// - **Semantics**: adds each element of `updates` to zeros at its index along `axis`, in the order of the indices. An
///   index outside the extent of `axis` stops the program (E6001) before anything is written.
/// - **Error**: `k` updates of an element are added one after the other. The error is at most `γ(k)` times the sum of
///   their magnitudes; see [products](#products).
/// - **Derivative**: `updates` receives the elements of the cotangent at the indices.
/// - **Constraints**: 1. Extents of `shape` are at least 1 (E3006). 2. `axis` is in `0..rank` of `shape` (E3004).
///   3. `indices` are integers (E4011), 4. with the rank of `shape` (E3002) and 5. with its extents along every other
///   axis (E3003). 6. `updates` are numeric (E2005), 7. with the shape of `indices` (E3003).
/// - **Example**: `%2 = AddAlong (%0, %1) {shape=[2, 4], axis=1} : f32[2, 4]`.
static ADD_ALONG: OpInfo = OpInfo {
    name: "AddAlong",
    mnemonic: "add_along",
    label: "add_along",
    profile: Profile::Extended,
    arity: 2,
    infer: infer_add_along,
    flops: |_, operands, _| operands[1].shape.element_count(),
    derivative: Derivative::Linear,
    fields: &[SHAPE, AXIS],
    attributes: |op| {
        let Op::Rows(Rows::AddAlong { shape, axis }) = op else { wrong_row(op) };
        listed([Attribute::Dims(shape.to_vec()), Attribute::I64(*axis)])
    },
    make: Make::Of(|attributes| {
        let [Attribute::Dims(shape), Attribute::I64(axis)] = exactly(attributes) else { not_these_fields() };
        Op::Rows(Rows::AddAlong { shape: Shape::new(shape), axis })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let case = |(axis, whole, part): (i64, &[i64], &[i64])| Case {
                op: Op::Rows(Rows::AddAlong { shape: Shape::literal(whole), axis }),
                operands: vec![
                    Type::new(DType::I64, Shape::literal(part)),
                    Type::new(dtype, Shape::literal(part)),
                ],
            };
            ALONG.map(case).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

/// `Scatter(x, indices, updates)`: a tensor with rows replaced; an extension.
///
/// - **Shape**: the shape of `x`.
/// - **Dtype**: the dtype of `x`.
/// - **Semantics**: `x` with `result[indices[k], d] = updates[k, d]` for each `k` in order, so that the last of equal
///   indices counts. An index outside `0..x.shape[0]` stops the program (E6001) before anything is written.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: `x` receives the cotangent with zeros in the replaced rows, and `updates` its rows at the indices;
///   of equal indices only the last one receives it.
/// - **Constraints**: 1. `indices` are integers (E4011) 2. of rank 1 (E3002). 3. `x` has rank 1 or more (E3002).
///   4. `updates` has the dtype of `x` (E2004) 5. and shape `indices.shape ++ x.shape[1..]` (E3003).
/// - **Example**: `%3 = Scatter (%0, %1, %2) : f32[4, 3]`.
static SCATTER: OpInfo = OpInfo {
    name: "Scatter",
    mnemonic: "scatter",
    label: "replace",
    profile: Profile::Extended,
    make: Make::Of(|_| Op::Rows(Rows::Scatter)),
    arity: 3,
    infer: infer_replacing,
    origin: rules::same_origin,
    derivative: Derivative::Linear,
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [[&[i64]; 3]; 3] =
                [[&[4], &[3], &[3]], [&[3, 2], &[5], &[5, 2]], [&[3, 2, 2], &[1], &[1, 2, 2]]];
            let case = |[x, indices, updates]: [&[i64]; 3]| Case {
                op: Op::Rows(Rows::Scatter),
                operands: vec![
                    Type::new(dtype, Shape::literal(x)),
                    Type::new(DType::I64, Shape::literal(indices)),
                    Type::new(dtype, Shape::literal(updates)),
                ],
            };
            forms.map(case).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

/// `AddRows(x, indices, updates)`: a tensor with rows added to its own; an extension.
///
/// - **Shape**: the shape of `x`.
/// - **Dtype**: the dtype of `x`.
/// - **Semantics**: `x` with `result[indices[k], d] += updates[k, d]` for each `k` in order, so that the updates of equal
///   indices are all added. An index outside `0..x.shape[0]` stops the program (E6001) before anything is written.
/// - **Error**: `k` updates of an element are added to it one after the other. The error is at most `γ(k)` times the sum
///   of their magnitudes and that of the element; see [products](#products).
/// - **Derivative**: `x` receives the cotangent, and `updates` its rows at the indices.
/// - **Constraints**: 1. `indices` are integers (E4011). 2. `x` is numeric (E2005) 3. and has rank 1 or more (E3002).
///   4. `updates` has the dtype of `x` (E2004) 5. and shape `indices.shape ++ x.shape[1..]` (E3003).
/// - **Example**: `%3 = AddRows (%0, %1, %2) : f32[4, 3]`.
static ADD_ROWS: OpInfo = OpInfo {
    name: "AddRows",
    mnemonic: "add_rows",
    label: "scatter_add",
    profile: Profile::Extended,
    make: Make::Of(|_| Op::Rows(Rows::AddRows)),
    arity: 3,
    infer: infer_adding,
    flops: |_, operands, _| operands[2].shape.element_count(),
    origin: rules::same_origin,
    derivative: Derivative::Linear,
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [[&[i64]; 3]; 4] = [
                [&[4], &[], &[]],
                [&[4], &[3], &[3]],
                [&[3, 2], &[5], &[5, 2]],
                [&[3, 2], &[2, 2], &[2, 2, 2]],
            ];
            let case = |[x, indices, updates]: [&[i64]; 3]| Case {
                op: Op::Rows(Rows::AddRows),
                operands: vec![
                    Type::new(dtype, Shape::literal(x)),
                    Type::new(DType::I64, Shape::literal(indices)),
                    Type::new(dtype, Shape::literal(updates)),
                ],
            };
            forms.map(case).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

pub(super) const AXIS: Field = Field::key("axis", "ax", FieldKind::I64);

/// Cases: an axis, the shape of the whole tensor, and the shape of the indices along that axis.
const ALONG: [(i64, &[i64], &[i64]); 4] =
    [(0, &[4], &[3]), (0, &[3, 2], &[5, 2]), (1, &[3, 4], &[3, 1]), (1, &[2, 3, 2], &[2, 2, 2])];

impl Op {
    /// Whether the operation changes a part of its first operand and keeps the rest.
    pub fn changes_part(&self) -> bool {
        matches!(self, Self::Rows(Rows::DynamicUpdate { .. } | Rows::Scatter | Rows::AddRows))
    }
}

impl<A: Form> Rows<A> {
    /// Rows read at indices.
    pub(crate) const PICKED: Self = Self::Gather;
    /// Rows added to those of a tensor.
    pub(crate) const ADDED: Self = Self::AddRows;

    /// Which operand holds the indices.
    pub const fn indices(&self) -> usize {
        match self {
            Self::Gather
            | Self::TakeAlong { .. }
            | Self::DynamicSlice { .. }
            | Self::DynamicUpdate { .. }
            | Self::Scatter
            | Self::AddRows => 1,
            Self::ScatterAdd { .. } | Self::AddAlong { .. } => 0,
        }
    }

    /// The axis along which elements are selected; `None` if whole rows are selected.
    pub const fn axis(&self) -> Option<i64> {
        match self {
            Self::Gather | Self::ScatterAdd { .. } | Self::Scatter | Self::AddRows => None,
            Self::TakeAlong { axis }
            | Self::AddAlong { axis, .. }
            | Self::DynamicSlice { axis, .. }
            | Self::DynamicUpdate { axis } => Some(*axis),
        }
    }

    /// The same operation in another [form](Form); `shape` converts the shape attribute.
    pub(crate) fn with_shape<B: Form>(&self, shape: impl Fn(&A::Shape) -> B::Shape) -> Rows<B> {
        match self {
            Self::Gather => Rows::Gather,
            Self::ScatterAdd { shape: of } => Rows::ScatterAdd { shape: shape(of) },
            Self::TakeAlong { axis } => Rows::TakeAlong { axis: *axis },
            Self::AddAlong { shape: of, axis } => Rows::AddAlong { shape: shape(of), axis: *axis },
            Self::DynamicSlice { shape: of, axis } => Rows::DynamicSlice { shape: shape(of), axis: *axis },
            Self::DynamicUpdate { axis } => Rows::DynamicUpdate { axis: *axis },
            Self::Scatter => Rows::Scatter,
            Self::AddRows => Rows::AddRows,
        }
    }

    /// Whether the operation adds at the indices instead of reading there.
    pub const fn adds(&self) -> bool {
        match self {
            Self::Gather
            | Self::TakeAlong { .. }
            | Self::DynamicSlice { .. }
            | Self::DynamicUpdate { .. }
            | Self::Scatter => false,
            Self::ScatterAdd { .. } | Self::AddAlong { .. } | Self::AddRows => true,
        }
    }
}

impl Rows {
    /// Zeros of a shape to which rows are added.
    pub(crate) fn sums(shape: Shape) -> Self {
        Self::ScatterAdd { shape }
    }

    /// The operation on the other operands with the same bits as this one if the first operand is zeros.
    pub(crate) fn of_zeros(&self, result: &Type) -> Option<Self> {
        (*self == Self::AddRows).then(|| Self::sums(result.shape.clone()))
    }

    /// The number of valid indices: each index must be at least 0 and less than this number.
    ///
    /// # Errors
    /// If the number overflows 64 bits.
    pub fn extent_of_indices(&self, operands: &[&Type], result: &Type) -> Result<Dim, Overflow> {
        match self {
            Self::Gather | Self::Scatter | Self::AddRows => Ok(operands[0].shape[0].clone()),
            Self::ScatterAdd { shape } => Ok(shape[0].clone()),
            Self::TakeAlong { axis } => Ok(operands[0].shape[position(*axis)].clone()),
            Self::AddAlong { shape, axis } => Ok(shape[position(*axis)].clone()),
            Self::DynamicSlice { axis, .. } => starts(operands[0], result, *axis),
            Self::DynamicUpdate { axis } => starts(operands[0], operands[2], *axis),
        }
    }
}

fn infer_gather(op: &Op, operands: &[&Type]) -> Inferred {
    let [table, indices] = operands else { wrong_row(op) };
    index_dtype(op, operands, 1)?;
    let Some((_, row)) = table.shape.split_first() else {
        return Err(OpError::new(op, Code::E3002)
            .problem("operand of rank 0, needed rank 1 or more")
            .focus(Focus::Operand(0))
            .operands(&[0])
            .into());
    };
    Ok(table.with_shape(indices.shape.iter().chain(row).cloned().collect()))
}

fn infer_scatter(op: &Op, operands: &[&Type]) -> Inferred {
    let (Op::Rows(Rows::ScatterAdd { shape }), [indices, updates]) = (op, operands) else { wrong_row(op) };
    index_dtype(op, operands, 0)?;
    rules::check_dtype(op, Takes::Numbers, operands, 1)?;
    rules::positive(op, shape)?;
    let Some((_, row)) = shape.split_first() else {
        return Err(OpError::new(op, Code::E3002)
            .problem("shape of rank 0, needed rank 1 or more")
            .focus(Focus::Attribute("shape"))
            .into());
    };
    rules::expect_shape(op, operands, 1, &indices.shape.iter().chain(row).cloned().collect())?;
    Ok(updates.with_shape(shape.clone()))
}

fn infer_take_along(op: &Op, operands: &[&Type]) -> Inferred {
    let (Op::Rows(Rows::TakeAlong { axis }), [x, indices]) = (op, operands) else { wrong_row(op) };
    rules::axis(op, *axis, x.rank(), &[0])?;
    index_dtype(op, operands, 1)?;
    rules::rank(op, operands, 1, x.rank())?;
    rules::same_extents(op, [&x.shape, &indices.shape], [Some(0), Some(1)], position(*axis))?;
    Ok(x.with_shape(indices.shape.clone()))
}

fn infer_add_along(op: &Op, operands: &[&Type]) -> Inferred {
    let (Op::Rows(Rows::AddAlong { shape, axis }), [indices, updates]) = (op, operands) else {
        wrong_row(op)
    };
    rules::positive(op, shape)?;
    rules::axis(op, *axis, shape.rank(), &[])?;
    index_dtype(op, operands, 0)?;
    rules::rank(op, operands, 0, shape.rank())?;
    rules::same_extents(op, [shape, &indices.shape], [None, Some(0)], position(*axis))?;
    rules::check_dtype(op, Takes::Numbers, operands, 1)?;
    rules::expect_shape(op, operands, 1, &indices.shape)?;
    Ok(updates.with_shape(shape.clone()))
}

fn infer_replacing(op: &Op, operands: &[&Type]) -> Inferred {
    let [x, indices, updates] = operands else { wrong_row(op) };
    index_dtype(op, operands, 1)?;
    rules::rank(op, operands, 1, 1)?;
    let rows = infer_gather(op, &[x, indices])?;
    if x.dtype != updates.dtype {
        return Err(OpError::mixed(op, x, updates).operands(&[0, 2]).into());
    }
    rules::expect_shape(op, operands, 2, &rows.shape)?;
    Ok((*x).clone())
}

fn infer_adding(op: &Op, operands: &[&Type]) -> Inferred {
    let [x, indices, updates] = operands else { wrong_row(op) };
    index_dtype(op, operands, 1)?;
    rules::check_dtype(op, Takes::Numbers, operands, 0)?;
    let rows = infer_gather(op, &[x, indices])?;
    if x.dtype != updates.dtype {
        return Err(OpError::mixed(op, x, updates).operands(&[0, 2]).into());
    }
    rules::expect_shape(op, operands, 2, &rows.shape)?;
    Ok((*x).clone())
}

/// Reports E4011 unless the operand is an integer tensor.
pub(super) fn index_dtype(op: &Op, operands: &[&Type], position: usize) -> Result<(), Box<OpError>> {
    let dtype = operands[position].dtype;
    if dtype.is_integer() {
        return Ok(());
    }
    Err(OpError::new(op, Code::E4011)
        .problem(format!("indices are {dtype}, needed {}", mind_shape::names::ANY_INTEGER))
        .focus(Focus::Operand(position))
        .operands(&[position])
        .into())
}
