//! Operations that take single elements and boxes of elements out of a tensor, and that put boxes back.

use mind_shape::{SliceFault, slice_extent};

use super::{
    Attribute, Derivative, Field, FieldKind, Focus, Inferred, KERNEL, Make, Motion, OpError, OpInfo, Profile,
    Requirement, WorkClass,
    fields::{SHAPE, exactly, listed, not_these_fields},
    rules::{self, wrong_row},
    sample::{Case, Sampling},
    windows::{UNFOLD, UNFOLD_GRAD},
};
use crate::{
    diag::Code,
    dim::{Dim, Overflow},
    ir::{Op, Part, Slice},
    map::Takes,
    ty::{Shape, Type},
};

rows! {
    Part:
    Part::Index { .. } => INDEX,
    Part::Slice(_) => SLICE,
    Part::SliceGrad { .. } => SLICE_GRAD,
    Part::Unfold(_) => UNFOLD,
    Part::UnfoldGrad { .. } => UNFOLD_GRAD,
}

/// `Index(x; indices)`: a single element.
///
/// - **Shape**: `[]`.
/// - **Dtype**: the operand's.
/// - **Semantics**: `x[indices]`.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: the cotangent at that position, zero elsewhere.
/// - **Constraints**: 1. one index per axis (E4006). 2. Each index is in `0..extent` (E3011). If that depends on
///   symbols, it is checked on entry.
/// - **Example**: `%1 = Index (%0) {indices=[0, 2]} : f32`.
static INDEX: OpInfo = OpInfo {
    name: "Index",
    mnemonic: "index",
    label: "index",
    class: WorkClass::View,
    infer: infer_index,
    requirements: |op, operands| {
        let mut needed = Vec::new();
        for (index, extent) in indices(op).iter().zip(operands[0].shape.iter()) {
            let next = index.add_literal(1).expect("inference refuses an index without a successor");
            needed.extend(unproved(&Dim::ZERO, index));
            needed.extend(unproved(&next, extent));
        }
        needed
    },
    derivative: Derivative::Linear,
    fields: &[Field::place("indices", FieldKind::Dims)],
    attributes: |op| listed([Attribute::Dims(indices(op).to_vec())]),
    make: Make::Of(|attributes| {
        let [Attribute::Dims(indices)] = exactly(attributes) else { not_these_fields() };
        Op::Part(Part::Index { indices })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [(&[i64], &[i64]); 3] = [(&[], &[]), (&[3], &[2]), (&[2, 3], &[1, 0])];
            let op = |indices: &[i64]| {
                Op::Part(Part::Index { indices: indices.iter().copied().map(Dim::literal).collect() })
            };
            forms.map(|(shape, indices)| Case::new(op(indices), dtype, &[shape])).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

/// `Slice(x; starts, ends, steps)`: a strided box of elements.
///
/// - **Shape**: `ceil((end - start) / step)` per axis.
/// - **Dtype**: the operand's.
/// - **Semantics**: `result[i] = x[start + i * step]` per axis.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: the cotangent at those positions, zero elsewhere.
/// - **Constraints**: 1. one start, end and step per axis (E4007). 2. Steps are at least 1 (E4008). 3. Bounds are
///   within the extent (E3011). If that depends on symbols, it is checked on entry. 4. `start < end` (E3006).
/// - **Example**: `%1 = Slice (%0) {starts=[0, 1], ends=[2, 3], steps=[1, 1]} : f32[2, 2]`.
static SLICE: OpInfo = OpInfo {
    name: "Slice",
    mnemonic: "slice",
    label: "slice",
    class: WorkClass::View,
    infer: |op, operands| {
        let Op::Part(Part::Slice(slice)) = op else { wrong_row(op) };
        Ok(operands[0].with_shape(sliced(op, slice, &operands[0].shape, &[0])?))
    },
    requirements: |op, operands| {
        let Op::Part(Part::Slice(slice)) = op else { wrong_row(op) };
        slice_requirements(slice, &operands[0].shape)
    },
    origin: |op, operands, axis| {
        let Op::Part(Part::Slice(slice)) = op else { wrong_row(op) };
        let whole = slice.starts[axis] == Dim::ZERO
            && slice.ends[axis] == operands[0].shape[axis]
            && slice.steps[axis] == 1;
        whole.then_some((0, axis))
    },
    derivative: Derivative::Linear,
    attributes: |op| {
        let Op::Part(Part::Slice(slice)) = op else { wrong_row(op) };
        listed([Attribute::Slice(slice.clone())])
    },
    fields: &[Field::place("slice", FieldKind::Slice)],
    make: Make::Of(|attributes| {
        let [Attribute::Slice(slice)] = exactly(attributes) else { not_these_fields() };
        Op::Part(Part::Slice(slice))
    }),
    sample: Sampling {
        cases: |_, dtype| {
            slices()
                .map(|(shape, slice)| Case::new(Op::Part(Part::Slice(slice.into())), dtype, &[shape]))
                .into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

/// `SliceGrad(dy; shape, starts, ends, steps)`: the cotangent of the operand of `Slice`; an extension.
///
/// - **Shape**: `shape`.
/// - **Dtype**: the operand's.
/// - **Semantics**: `dy` at the positions that the slice reads, zero elsewhere.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: the same slice of the cotangent.
/// - **Constraints**: 1. the constraints of `Slice` hold for `shape` (E4007, E4008, E3011, E3006). 2. `dy` has the
///   shape of that slice (E3003).
/// - **Example**: `%1 = SliceGrad (%0) {shape=[4], starts=[1], ends=[3], steps=[1]} : f32[4]`.
static SLICE_GRAD: OpInfo = OpInfo {
    name: "SliceGrad",
    mnemonic: "slice_grad",
    label: "slice_grad",
    profile: Profile::Extended,
    infer: infer_slice_grad,
    requirements: |op, _| {
        let Op::Part(Part::SliceGrad { shape, slice }) = op else { wrong_row(op) };
        slice_requirements(slice, shape)
    },
    derivative: Derivative::Linear,
    attributes: |op| {
        let Op::Part(Part::SliceGrad { shape, slice }) = op else { wrong_row(op) };
        listed([Attribute::Dims(shape.to_vec()), Attribute::Slice(slice.clone())])
    },
    fields: &[SHAPE, Field::place("slice", FieldKind::Slice)],
    make: Make::Of(|attributes| {
        let [Attribute::Dims(shape), Attribute::Slice(slice)] = exactly(attributes) else {
            not_these_fields()
        };
        Op::Part(Part::SliceGrad { shape: Shape::new(shape), slice })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let case = |(shape, slice): (&'static [i64], Slice)| {
                let shape = Shape::literal(shape);
                let extent = |axis: usize| {
                    let (start, end) = (&slice.starts[axis], &slice.ends[axis]);
                    end.sub(start).and_then(|length| length.ceil_div(slice.steps[axis])).expect("small")
                };
                let taken = (0..shape.rank()).map(extent).collect();
                Case {
                    operands: vec![Type::new(dtype, taken)],
                    op: Op::Part(Part::SliceGrad { shape, slice: slice.into() }),
                }
            };
            slices().map(case).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

impl From<Slice> for Op {
    fn from(slice: Slice) -> Self {
        Self::Part(Part::Slice(slice.into()))
    }
}

impl Part {
    /// The element at these indices.
    pub(crate) fn element(indices: Vec<Dim>) -> Self {
        Self::Index { indices }
    }

    /// Zeros of a shape with the operand at the positions that a slice reads.
    pub(crate) fn slice_grad(shape: Shape, slice: Slice) -> Self {
        Self::SliceGrad { shape, slice: slice.into() }
    }

    /// The position in the operand of each element of the result.
    pub(crate) fn motion(&self) -> Motion<'_> {
        match self {
            Self::Index { indices } => Motion::At(indices),
            Self::Slice(slice) => Motion::Taken(slice),
            Self::SliceGrad { slice, .. } => Motion::Put(slice),
            Self::Unfold(windows) => Motion::Windows(windows),
            Self::UnfoldGrad { windows, .. } => Motion::Added(windows),
        }
    }
}

fn indices(op: &Op) -> &[Dim] {
    if let Op::Part(Part::Index { indices }) = op { indices } else { wrong_row(op) }
}

/// The requirement `lhs <= rhs`, unless it holds for all symbols.
pub(super) fn unproved(lhs: &Dim, rhs: &Dim) -> Option<Requirement> {
    (!lhs.at_most(rhs)).then(|| Requirement::AtMost(lhs.clone(), rhs.clone()))
}

/// Whether `lhs < rhs` holds for all symbols.
fn below(lhs: &Dim, rhs: &Dim) -> bool {
    lhs.add_literal(1).is_ok_and(|next| next.at_most(rhs))
}

fn slice_requirements(slice: &Slice, shape: &Shape) -> Vec<Requirement> {
    let mut needed = Vec::new();
    for ((start, end), extent) in slice.starts.iter().zip(&slice.ends).zip(shape.iter()) {
        needed.extend(unproved(&Dim::ZERO, start));
        needed.extend(unproved(end, extent));
    }
    needed
}

fn infer_index(op: &Op, operands: &[&Type]) -> Inferred {
    let (indices, operand) = (indices(op), operands[0]);
    let fault = |code, problem: String| {
        OpError::new(op, code).problem(problem).focus(Focus::Attribute("indices")).operands(&[0])
    };
    if indices.len() != operand.rank() {
        let noun = if indices.len() == 1 { "index" } else { "indices" };
        let problem = format!("{} {noun} given, {} needed for rank {1}", indices.len(), operand.rank());
        return Err(fault(Code::E4006, problem).into());
    }
    for (axis, (index, extent)) in indices.iter().zip(operand.shape.iter()).enumerate() {
        index.add_literal(1).map_err(|overflow| OpError::overflow(op, overflow))?;
        if below(index, &Dim::ZERO) || extent.at_most(index) {
            let problem = format!("index {index} is outside dimension {axis} of extent {extent}");
            return Err(fault(Code::E3011, problem).dims(&[(0, axis)]).into());
        }
    }
    let each = vec![1; indices.len()];
    placeable(indices, &each, &operand.shape, &vec![Dim::ONE; indices.len()])
        .map_err(|overflow| OpError::overflow(op, overflow))?;
    Ok(Type::scalar(operand.dtype))
}

/// The shape of a slice of `shape`. Messages show the operands `shown`, the first of which has this shape.
fn sliced(op: &Op, slice: &Slice, shape: &Shape, shown: &[usize]) -> Result<Shape, Box<OpError>> {
    let Slice { starts, ends, steps } = slice;
    let fault = |code, problem: String, attribute| {
        OpError::new(op, code).problem(problem).focus(Focus::Attribute(attribute)).operands(shown)
    };
    let rank = shape.rank();
    for (attribute, length) in [("starts", starts.len()), ("ends", ends.len()), ("steps", steps.len())] {
        if length != rank {
            let problem = format!(
                "{} starts, {} ends and {} steps given, {rank} of each needed",
                starts.len(),
                ends.len(),
                steps.len()
            );
            return Err(fault(Code::E4007, problem, attribute).into());
        }
    }
    let taken: Shape = (0..rank)
        .map(|axis| {
            let (start, end, step, extent) = (&starts[axis], &ends[axis], steps[axis], &shape[axis]);
            let taken = slice_dim(extent, start, end, step);
            taken.map_err(|overflow| OpError::overflow(op, overflow))?.map_err(
                |fault_found| -> Box<OpError> {
                    let of_extent = format!("dimension {axis} of extent {extent}");
                    let (code, problem, attribute) = match fault_found {
                        SliceFault::Step => (
                            Code::E4008,
                            format!("step {step} in dimension {axis}, needed at least 1"),
                            "steps",
                        ),
                        SliceFault::Start => {
                            (Code::E3011, format!("start {start} is outside {of_extent}"), "starts")
                        }
                        SliceFault::End => (Code::E3011, format!("end {end} is outside {of_extent}"), "ends"),
                        SliceFault::Empty => {
                            (Code::E3006, format!("{start}..{end} in dimension {axis} is empty"), "ends")
                        }
                    };
                    let error = fault(code, problem, attribute);
                    (if shown.is_empty() { error } else { error.dims(&[(0, axis)]) }).into()
                },
            )
        })
        .collect::<Result<_, Box<OpError>>>()?;
    placeable(starts, steps, shape, &taken).map_err(|overflow| OpError::overflow(op, overflow))?;
    Ok(taken)
}

/// Checks that the offset and the strides of a slice fit into 64 bits. With symbols a start may exceed every valid
/// extent, so the limits of `shape` do not bound the offset.
fn placeable(starts: &[Dim], steps: &[i64], shape: &Shape, taken: &[Dim]) -> Result<(), Overflow> {
    let known = |dims: &[Dim]| dims.iter().all(|dim| dim.as_literal().is_some());
    if known(shape) && known(starts) {
        return Ok(());
    }
    let (mut offset, mut stride) = (Dim::ZERO, Dim::ONE);
    for axis in (0..shape.rank()).rev() {
        offset = offset.add(&starts[axis].mul(&stride)?)?;
        if !taken[axis].is_one() {
            stride.mul(&Dim::literal(steps[axis]))?;
        }
        stride = stride.mul(&shape[axis])?;
    }
    Ok(())
}

/// The extent of a slice along one axis. If it depends on symbols, only faults for all of their values are reported.
fn slice_dim(extent: &Dim, start: &Dim, end: &Dim, step: i64) -> Result<Result<Dim, SliceFault>, Overflow> {
    if let (Some(extent), Some(start), Some(end)) =
        (extent.as_literal(), start.as_literal(), end.as_literal())
    {
        return Ok(slice_extent(extent, start, end, step).map(Dim::literal));
    }
    if step < 1 {
        return Ok(Err(SliceFault::Step));
    }
    if below(start, &Dim::ZERO) || below(extent, start) {
        return Ok(Err(SliceFault::Start));
    }
    if below(end, &Dim::ZERO) || below(extent, end) {
        return Ok(Err(SliceFault::End));
    }
    if end.at_most(start) {
        return Ok(Err(SliceFault::Empty));
    }
    end.sub(start)?.ceil_div(step).map(Ok)
}

fn infer_slice_grad(op: &Op, operands: &[&Type]) -> Inferred {
    let Op::Part(Part::SliceGrad { shape, slice }) = op else { wrong_row(op) };
    rules::check_dtype(op, Takes::Numbers, operands, 0)?;
    rules::positive(op, shape)?;
    let taken = sliced(op, slice, shape, &[])?;
    rules::expect_shape(op, operands, 0, &taken)?;
    Ok(operands[0].with_shape(shape.clone()))
}

/// Shapes and slices of them: whole, a part, strided, a single element.
fn slices() -> [(&'static [i64], Slice); 4] {
    let dims = |bounds: &[i64]| bounds.iter().copied().map(Dim::literal).collect();
    let slice = |starts: &[i64], ends: &[i64], steps: &[i64]| Slice {
        starts: dims(starts),
        ends: dims(ends),
        steps: steps.to_vec(),
    };
    [
        (&[3], slice(&[0], &[3], &[1])),
        (&[2, 4], slice(&[1, 1], &[2, 3], &[1, 1])),
        (&[5, 4], slice(&[0, 1], &[5, 4], &[2, 3])),
        (&[], slice(&[], &[], &[])),
    ]
}
