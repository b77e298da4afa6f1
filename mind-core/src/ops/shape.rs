//! Operations that arrange the same elements in another shape, and broadcasting to a shape.

use mind_shape::{AxisFault, check_permutation};

use super::{
    Attribute, Derivative, Field, FieldKind, Focus, Inferred, KERNEL, Make, Motion, OpError, OpInfo, Profile,
    WorkClass,
    fields::{SHAPE, exactly, listed, not_these_fields},
    rules::{self, broadcast_dim, position, wrong_row},
    sample::{Case, Sampling},
};
use crate::{
    diag::Code,
    dim::Dim,
    ir::{Arrange, Op},
    ty::{Shape, Type},
};

rows! {
    Arrange:
    Arrange::Reshape { .. } => RESHAPE,
    Arrange::Transpose { .. } => TRANSPOSE,
    Arrange::ExpandDims { .. } => EXPAND_DIMS,
    Arrange::Squeeze { .. } => SQUEEZE,
    Arrange::BroadcastTo { .. } => BROADCAST_TO,
}

/// `Reshape(x; new_shape)`: the same elements in row-major order in another shape.
///
/// - **Shape**: `new_shape`.
/// - **Dtype**: the operand's.
/// - **Semantics**: element `i` in row-major order is element `i` of the operand.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: the cotangent in the operand's shape.
/// - **Constraints**: 1. extents are at least 1 (E3006). 2. The number of elements equals the operand's for all symbols
///   (E3007).
/// - **Example**: `%1 = Reshape (%0) {new_shape=[6]} : f32[6]`.
static RESHAPE: OpInfo = OpInfo {
    name: "Reshape",
    mnemonic: "reshape",
    label: "reshape",
    infer: infer_reshape,
    derivative: Derivative::Linear,
    attributes: |op| {
        let Op::Arrange(Arrange::Reshape { shape }) = op else { wrong_row(op) };
        listed([Attribute::Dims(shape.to_vec())])
    },
    fields: &[Field::place("new_shape", FieldKind::Dims)],
    make: Make::Of(|attributes| {
        let [Attribute::Dims(shape)] = exactly(attributes) else { not_these_fields() };
        Op::Arrange(Arrange::Reshape { shape: Shape::new(shape) })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [(&[i64], &[i64]); 5] =
                [(&[2, 3], &[6]), (&[6], &[3, 2]), (&[2, 3], &[3, 1, 2]), (&[], &[1]), (&[1, 1], &[])];
            let op = |shape: &[i64]| Op::Arrange(Arrange::Reshape { shape: Shape::literal(shape) });
            forms.map(|(from, to)| Case::new(op(to), dtype, &[from])).into()
        },
        ..VIEW.sample
    },
    ..VIEW
};

/// `Transpose(x; permutation)`: the axes in another order.
///
/// - **Shape**: `result[i] = operand[permutation[i]]`.
/// - **Dtype**: the operand's.
/// - **Semantics**: result axis `i` runs along operand axis `permutation[i]`.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: the cotangent under the inverse permutation.
/// - **Constraints**: 1. `permutation` has each axis of `0..rank` exactly once (E3008).
/// - **Example**: `%1 = Transpose (%0) {permutation=[1, 0]} : f32[3, 2]`.
static TRANSPOSE: OpInfo = OpInfo {
    name: "Transpose",
    mnemonic: "transpose",
    label: "transpose",
    infer: infer_transpose,
    origin: |op, _, axis| Some((0, position(permutation(op)[axis]))),
    derivative: Derivative::Linear,
    fields: &[Field::place("permutation", FieldKind::Integers)],
    attributes: |op| listed([Attribute::Integers(permutation(op).to_vec())]),
    make: Make::Of(|attributes| {
        let [Attribute::Integers(permutation)] = exactly(attributes) else { not_these_fields() };
        Op::Arrange(Arrange::Transpose { permutation })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [(&[i64], &[i64]); 4] =
                [(&[], &[]), (&[2, 3], &[1, 0]), (&[2, 3, 4], &[2, 0, 1]), (&[2, 3, 4], &[0, 1, 2])];
            let op =
                |permutation: &[i64]| Op::Arrange(Arrange::Transpose { permutation: permutation.to_vec() });
            forms.map(|(shape, permutation)| Case::new(op(permutation), dtype, &[shape])).into()
        },
        ..VIEW.sample
    },
    ..VIEW
};

/// `ExpandDims(x; axes)`: new axes of extent 1.
///
/// - **Shape**: extent 1 at each position of `axes`, which are positions in the result. The other axes have the
///   operand's extents in order.
/// - **Dtype**: the operand's.
/// - **Semantics**: the same elements.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: the cotangent in the operand's shape.
/// - **Constraints**: 1. `axes` are within the rank of the result (E3004) and 2. distinct (E3005).
/// - **Example**: `%1 = ExpandDims (%0) {axes=[0, 2]} : f32[1, 3, 1, 4]`.
static EXPAND_DIMS: OpInfo = OpInfo {
    name: "ExpandDims",
    mnemonic: "expand",
    label: "expand_dims",
    infer: infer_expand,
    origin: |op, _, axis| {
        let axes = axes(op);
        let before = axes.iter().filter(|added| position(**added) < axis).count();
        (!axes.contains(&(axis as i64))).then(|| (0, axis - before))
    },
    derivative: Derivative::Linear,
    fields: &[Field::place("axes", FieldKind::Integers)],
    attributes: |op| listed([Attribute::Integers(axes(op).to_vec())]),
    make: Make::Of(|attributes| {
        let [Attribute::Integers(axes)] = exactly(attributes) else { not_these_fields() };
        Op::Arrange(Arrange::ExpandDims { axes })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [(&[i64], &[i64]); 4] =
                [(&[], &[0]), (&[3], &[1]), (&[2, 3], &[0, 2]), (&[2, 3], &[2, 3])];
            let op = |axes: &[i64]| Op::Arrange(Arrange::ExpandDims { axes: axes.to_vec() });
            forms.map(|(shape, axes)| Case::new(op(axes), dtype, &[shape])).into()
        },
        ..VIEW.sample
    },
    ..VIEW
};

/// `Squeeze(x; axes)`: the operand without axes of extent 1.
///
/// - **Shape**: the operand's without `axes`.
/// - **Dtype**: the operand's.
/// - **Semantics**: the same elements. With empty `axes` it is the identity.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: the cotangent in the operand's shape.
/// - **Constraints**: 1. `axes` are in `0..rank` (E3004) and 2. distinct (E3005). 3. Each has extent 1 for all symbols
///   (E3009).
/// - **Example**: `%1 = Squeeze (%0) {axes=[0, 2]} : f32[3, 4]`.
static SQUEEZE: OpInfo = OpInfo {
    name: "Squeeze",
    mnemonic: "squeeze",
    label: "squeeze",
    infer: infer_squeeze,
    origin: |op, operands, axis| {
        let axes = axes(op);
        (0..operands[0].rank()).filter(|axis| !axes.contains(&(*axis as i64))).nth(axis).map(|axis| (0, axis))
    },
    derivative: Derivative::Linear,
    fields: &[Field::place("axes", FieldKind::Integers)],
    attributes: |op| listed([Attribute::Integers(axes(op).to_vec())]),
    make: Make::Of(|attributes| {
        let [Attribute::Integers(axes)] = exactly(attributes) else { not_these_fields() };
        Op::Arrange(Arrange::Squeeze { axes })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [(&[i64], &[i64]); 4] =
                [(&[1], &[0]), (&[2, 1, 3], &[1]), (&[1, 3, 1], &[0, 2]), (&[2], &[])];
            let op = |axes: &[i64]| Op::Arrange(Arrange::Squeeze { axes: axes.to_vec() });
            forms.map(|(shape, axes)| Case::new(op(axes), dtype, &[shape])).into()
        },
        ..VIEW.sample
    },
    ..VIEW
};

/// `BroadcastTo(x; shape)`: the operand broadcast to a shape; an extension.
///
/// - **Shape**: `shape`.
/// - **Dtype**: the operand's.
/// - **Semantics**: each element is repeated along the axes that are new or had extent 1.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: the cotangent, summed over those axes.
/// - **Constraints**: 1. extents are at least 1 (E3006). 2. The operand broadcasts to exactly this shape (E3001).
/// - **Example**: `%1 = BroadcastTo (%0) {shape=[2, 3]} : f32[2, 3]`.
static BROADCAST_TO: OpInfo = OpInfo {
    name: "BroadcastTo",
    mnemonic: "broadcast_to",
    label: "broadcast_to",
    profile: Profile::Extended,
    infer: infer_broadcast_to,
    origin: |op, operands, axis| {
        let Op::Arrange(Arrange::BroadcastTo { shape }) = op else { wrong_row(op) };
        let axis = (axis + operands[0].rank()).checked_sub(shape.rank())?;
        (!operands[0].shape[axis].is_one()).then_some((0, axis))
    },
    derivative: Derivative::Linear,
    attributes: |op| {
        let Op::Arrange(Arrange::BroadcastTo { shape }) = op else { wrong_row(op) };
        listed([Attribute::Dims(shape.to_vec())])
    },
    fields: &[SHAPE],
    make: Make::Of(|attributes| {
        let [Attribute::Dims(shape)] = exactly(attributes) else { not_these_fields() };
        Op::Arrange(Arrange::BroadcastTo { shape: Shape::new(shape) })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [(&[i64], &[i64]); 5] =
                [(&[], &[2, 3]), (&[3], &[2, 3]), (&[2, 1], &[2, 3]), (&[1, 1], &[2, 3]), (&[2, 3], &[2, 3])];
            let op = |shape: &[i64]| Op::Arrange(Arrange::BroadcastTo { shape: Shape::literal(shape) });
            forms.map(|(from, to)| Case::new(op(to), dtype, &[from])).into()
        },
        ..VIEW.sample
    },
    ..VIEW
};

impl Arrange {
    /// The transpose of a matrix.
    pub(crate) fn transposed() -> Self {
        Self::Transpose { permutation: vec![1, 0] }
    }

    /// The axes in another order.
    pub(crate) fn transpose(permutation: Vec<i64>) -> Self {
        Self::Transpose { permutation }
    }

    /// A broadcast to a shape.
    pub(crate) fn broadcast(shape: Shape) -> Self {
        Self::BroadcastTo { shape }
    }

    /// The same elements in another shape.
    pub(crate) fn reshape(shape: Shape) -> Self {
        Self::Reshape { shape }
    }

    /// New axes of extent 1 at these positions of the result.
    pub(crate) fn expand(axes: Vec<i64>) -> Self {
        Self::ExpandDims { axes }
    }
}

impl Arrange {
    /// The position in the operand of each element of the result.
    pub(crate) fn motion(&self) -> Motion<'_> {
        match self {
            Self::Reshape { .. } | Self::ExpandDims { .. } | Self::Squeeze { .. } => Motion::Order,
            Self::Transpose { permutation } => Motion::Axes(permutation),
            Self::BroadcastTo { .. } => Motion::Repeat,
        }
    }

    /// The canonical form: the order of `axes` does not matter, so they are sorted.
    pub(crate) fn canonical(self) -> Self {
        let ascending = |mut axes: Vec<i64>| {
            axes.sort_unstable();
            axes
        };
        match self {
            Self::ExpandDims { axes } => Self::ExpandDims { axes: ascending(axes) },
            Self::Squeeze { axes } => Self::Squeeze { axes: ascending(axes) },
            Self::Reshape { .. } | Self::Transpose { .. } | Self::BroadcastTo { .. } => self,
        }
    }

    /// The single operation that equals this one applied to the result of `first`, if there is one.
    pub(crate) fn after(&self, first: &Self) -> Option<Self> {
        match (self, first) {
            (Self::Transpose { permutation }, Self::Transpose { permutation: first }) => {
                let permutation = permutation.iter().map(|axis| first[position(*axis)]).collect();
                Some(Self::Transpose { permutation })
            }
            // The result depends only on the operand's elements in their order and on the last shape.
            (Self::Reshape { .. }, Self::Reshape { .. } | Self::ExpandDims { .. } | Self::Squeeze { .. })
            | (Self::BroadcastTo { .. }, Self::BroadcastTo { .. }) => Some(self.clone()),
            (
                Self::Reshape { .. }
                | Self::Transpose { .. }
                | Self::ExpandDims { .. }
                | Self::Squeeze { .. }
                | Self::BroadcastTo { .. },
                _,
            ) => None,
        }
    }

    /// The shape in which text forms may leave one extent open.
    pub(crate) fn open_shape(&mut self) -> Option<&mut Shape> {
        match self {
            Self::Reshape { shape } => Some(shape),
            Self::Transpose { .. }
            | Self::ExpandDims { .. }
            | Self::Squeeze { .. }
            | Self::BroadcastTo { .. } => None,
        }
    }
}

/// The fields that the rows share.
const VIEW: OpInfo = OpInfo { class: WorkClass::View, ..KERNEL };

fn permutation(op: &Op) -> &[i64] {
    if let Op::Arrange(Arrange::Transpose { permutation }) = op { permutation } else { wrong_row(op) }
}

fn axes(op: &Op) -> &[i64] {
    if let Op::Arrange(Arrange::ExpandDims { axes }) | Op::Arrange(Arrange::Squeeze { axes }) = op {
        axes
    } else {
        wrong_row(op)
    }
}

/// The inverse permutation.
pub(crate) fn inverse(permutation: &[i64]) -> Vec<i64> {
    let mut inverse = vec![0; permutation.len()];
    for (to, from) in permutation.iter().enumerate() {
        inverse[position(*from)] = to as i64;
    }
    inverse
}

fn infer_reshape(op: &Op, operands: &[&Type]) -> Inferred {
    let Op::Arrange(Arrange::Reshape { shape }) = op else { wrong_row(op) };
    let operand = operands[0];
    rules::positive(op, shape)?;
    let count = |shape: &Shape| shape.element_count().map_err(|overflow| OpError::overflow(op, overflow));
    let (from, to) = (count(&operand.shape)?, count(shape)?);
    if from != to {
        return Err(OpError::new(op, Code::E3007)
            .problem(format!("{} has {from} elements, {shape} has {to}", operand.shape))
            .focus(Focus::Attribute("shape"))
            .operands(&[0])
            .into());
    }
    Ok(operand.with_shape(shape.clone()))
}

fn infer_transpose(op: &Op, operands: &[&Type]) -> Inferred {
    let (permutation, operand) = (permutation(op), operands[0]);
    let rank = operand.rank();
    if let Err(fault) = check_permutation(permutation, rank) {
        let why = match fault {
            AxisFault::Length => format!("it has length {}", permutation.len()),
            AxisFault::OutOfRange(axis) => format!("axis {axis} is out of range"),
            AxisFault::Duplicate(axis) => format!("axis {axis} occurs twice"),
        };
        return Err(OpError::new(op, Code::E3008)
            .problem(format!("{permutation:?} is not a permutation of the axes of rank {rank}: {why}"))
            .focus(Focus::Attribute("permutation"))
            .operands(&[0])
            .into());
    }
    Ok(operand.with_shape(permutation.iter().map(|axis| operand.shape[position(*axis)].clone()).collect()))
}

fn infer_expand(op: &Op, operands: &[&Type]) -> Inferred {
    let (axes, operand) = (axes(op), operands[0]);
    let rank = operand.rank() + axes.len();
    rules::axes(op, axes, rank, &[0])?;
    let mut dims = operand.shape.iter().cloned();
    let dim = |axis: usize| if axes.contains(&(axis as i64)) { Some(Dim::ONE) } else { dims.next() };
    Ok(operand.with_shape((0..rank).map_while(dim).collect()))
}

fn infer_squeeze(op: &Op, operands: &[&Type]) -> Inferred {
    let (axes, operand) = (axes(op), operands[0]);
    rules::axes(op, axes, operand.rank(), &[0])?;
    if let Some(axis) = axes.iter().find(|axis| !operand.shape[position(**axis)].is_one()) {
        let extent = &operand.shape[position(*axis)];
        return Err(OpError::new(op, Code::E3009)
            .problem(format!("axis {axis} of {} has extent {extent}, needed 1", operand.shape))
            .focus(Focus::Attribute("axes"))
            .operands(&[0])
            .dims(&[(0, position(*axis))])
            .into());
    }
    let kept = operand.shape.iter().enumerate().filter(|(axis, _)| !axes.contains(&(*axis as i64)));
    Ok(operand.with_shape(kept.map(|(_, dim)| dim.clone()).collect()))
}

fn infer_broadcast_to(op: &Op, operands: &[&Type]) -> Inferred {
    let Op::Arrange(Arrange::BroadcastTo { shape }) = op else { wrong_row(op) };
    let operand = operands[0];
    rules::positive(op, shape)?;
    let error = |problem: String| {
        OpError::new(op, Code::E3001).problem(problem).focus(Focus::Attribute("shape")).operands(&[0])
    };
    let Some(added) = shape.rank().checked_sub(operand.rank()) else {
        let problem = format!(
            "shape {} of rank {} does not broadcast to {shape} of rank {}",
            operand.shape,
            operand.rank(),
            shape.rank()
        );
        return Err(error(problem).into());
    };
    for (axis, from) in operand.shape.iter().enumerate() {
        let to = &shape[added + axis];
        if broadcast_dim(from, to).as_ref() != Some(to) {
            let problem = format!("extent {from} does not broadcast to {to} in dimension {}", added + axis);
            let mut error = error(problem).dims(&[(0, axis)]);
            error.help = rules::equate(from, to);
            return Err(error.into());
        }
    }
    Ok(operand.with_shape(shape.clone()))
}
