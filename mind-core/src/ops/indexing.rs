//! Elements, boxes and rows taken out of a tensor, and put back.

use mind_shape::{SliceFault, slice_extent};

use super::{
    Attribute, Class, Concrete, Derivative, Focus, Inferred, OpError, OpInfo, Profile, Requirement,
    no_attributes, no_flops, no_origin, no_requirements,
    rules::{self, foreign},
    sample::{self, Case, Domain, Sampling},
};
use crate::{
    diag::Code,
    dim::Dim,
    grad::{AutodiffError, Pullback},
    interp::{Number, RunError, Value, offset, positions, with_number},
    ir::{Op, Slice},
    ty::{DType, Shape, Type},
};

/// `Index(x; indices)`: a single element.
///
/// - **Shape**: `[]`.
/// - **Dtype**: the operand's.
/// - **Semantics**: `x[indices]`.
/// - **Derivative**: the cotangent at that place, zero elsewhere.
/// - **Constraints**: 1. one index an axis (E4006). 2. Each in `0..extent` (E3011); one that only the symbols decide is
///   checked on entry.
/// - **Example**: `%1 = Index (%0) {indices=[0, 2]} : f32`.
pub(super) static INDEX: OpInfo = OpInfo {
    name: "Index",
    mnemonic: "index",
    label: "index",
    class: Class::View,
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
    evaluate: |op, operands, to| {
        let at: Vec<_> = indices(op).iter().map(|index| to.extent(index)).collect();
        let at = offset(&operands[0].shape, &at);
        Ok(with_number!(to.dtype, T => to.tabulate(|_| T::elements(operands[0])[at])))
    },
    derivative: Derivative::Linear(index_back),
    attributes: |op| vec![("indices", Attribute::Dims(indices(op).to_vec()))],
    sample: Sampling {
        cases: |dtype| {
            let forms: [(&[i64], &[i64]); 3] = [(&[], &[]), (&[3], &[2]), (&[2, 3], &[1, 0])];
            let op =
                |indices: &[i64]| Op::Index { indices: indices.iter().copied().map(Dim::literal).collect() };
            forms.map(|(shape, indices)| Case::new(op(indices), dtype, &[shape])).into()
        },
        ..ROW.sample
    },
    ..ROW
};

/// `Slice(x; starts, ends, steps)`: a strided box of elements.
///
/// - **Shape**: `ceil((end - start) / step)` an axis.
/// - **Dtype**: the operand's.
/// - **Semantics**: `result[i] = x[start + i * step]` an axis.
/// - **Derivative**: the cotangent at those places, zero elsewhere.
/// - **Constraints**: 1. as many starts, ends and steps as axes (E4007). 2. Steps at least 1 (E4008). 3. Bounds within
///   the extent (E3011); those that only the symbols decide are checked on entry. 4. `start < end` (E3006).
/// - **Example**: `%1 = Slice (%0) {starts=[0, 1], ends=[2, 3], steps=[1, 1]} : f32[2, 2]`.
pub(super) static SLICE: OpInfo = OpInfo {
    name: "Slice",
    mnemonic: "slice",
    label: "slice",
    class: Class::View,
    infer: |op, operands| {
        let Op::Slice(slice) = op else { foreign(op) };
        Ok(operands[0].with_shape(sliced(op, slice, &operands[0].shape, &[0])?))
    },
    requirements: |op, operands| {
        let Op::Slice(slice) = op else { foreign(op) };
        slice_requirements(slice, &operands[0].shape)
    },
    origin: |op, operands, axis| {
        let Op::Slice(slice) = op else { foreign(op) };
        let whole = slice.starts[axis] == Dim::ZERO
            && slice.ends[axis] == operands[0].shape[axis]
            && slice.steps[axis] == 1;
        whole.then_some((0, axis))
    },
    evaluate: |op, operands, to| {
        let Op::Slice(slice) = op else { foreign(op) };
        Ok(with_number!(to.dtype, T => {
            let elements = T::elements(operands[0]);
            to.tabulate(|position| elements[offset(&operands[0].shape, &taken(slice, &position, to))])
        }))
    },
    derivative: Derivative::Linear(|p| {
        let Op::Slice(slice) = p.op().clone() else { foreign(p.op()) };
        let shape = p.ty(p.operand(0)).shape;
        let dy = p.cotangent();
        let dx = p.slice_grad(dy, &shape, &slice)?;
        p.contribute(0, dx)
    }),
    attributes: |op| {
        let Op::Slice(slice) = op else { foreign(op) };
        vec![("slice", Attribute::Slice((**slice).clone()))]
    },
    sample: Sampling {
        cases: |dtype| {
            slices().map(|(shape, slice)| Case::new(Op::Slice(slice.into()), dtype, &[shape])).into()
        },
        ..ROW.sample
    },
    ..ROW
};

/// `Gather(x, indices)`: rows of `x` picked by integers.
///
/// - **Shape**: `indices.shape ++ x.shape[1..]`.
/// - **Dtype**: that of `x`.
/// - **Semantics**: `result[i, d] = x[indices[i], d]`; an index outside `0..x.shape[0]` stops the program (E6001)
///   before anything is written.
/// - **Derivative**: the rows of the cotangent added at the indices.
/// - **Constraints**: 1. `indices` are `i32` or `i64` (E4011). 2. `x` has rank 1 or more (E3002).
/// - **Example**: `%2 = Gather (%0, %1) : f32[5, 3]`.
pub(super) static GATHER: OpInfo = OpInfo {
    name: "Gather",
    mnemonic: "gather",
    label: "gather",
    arity: 2,
    infer: infer_gather,
    origin: |_, operands, axis| {
        let lead = operands[1].rank();
        Some(if axis < lead { (1, axis) } else { (0, axis - lead + 1) })
    },
    evaluate: |op, operands, to| {
        let [table, indices] = operands else { foreign(op) };
        let rows = rows(op, indices, table.shape[0])?;
        Ok(with_number!(to.dtype, T => {
            let elements = T::elements(table);
            to.tabulate(|position| {
                let (index, rest) = position.split_at(indices.shape.len());
                let mut at = vec![rows[offset(&indices.shape, index)]];
                at.extend(rest);
                elements[offset(&table.shape, &at)]
            })
        }))
    },
    derivative: Derivative::Linear(|p| {
        if p.wants(0) {
            let shape = p.ty(p.operand(0)).shape;
            let (dy, indices) = (p.cotangent(), p.operand(1));
            let dx = p.scatter_add(indices, dy, &shape)?;
            p.contribute(0, dx)?;
        }
        Ok(())
    }),
    sample: Sampling {
        cases: |dtype| {
            let forms: [(&[i64], &[i64]); 4] =
                [(&[4], &[]), (&[4], &[3]), (&[3, 2], &[5]), (&[3, 2, 2], &[2, 2])];
            let case = |(table, indices): (&[i64], &[i64])| Case {
                op: Op::Gather,
                operands: vec![
                    Type::new(dtype, Shape::literal(table)),
                    Type::new(DType::I64, Shape::literal(indices)),
                ],
            };
            forms.map(case).into()
        },
        ..ROW.sample
    },
    ..ROW
};

/// `SliceGrad(dy; shape, starts, ends, steps)`: what `Slice` passes back; an extension.
///
/// - **Shape**: `shape`.
/// - **Dtype**: the operand's.
/// - **Semantics**: zeros with `dy` at the places that the slice takes from.
/// - **Derivative**: the slice of the cotangent.
/// - **Constraints**: 1. those of `Slice` on `shape` (E4007, E4008, E3011, E3006). 2. `dy` has the shape that the slice
///   makes (E3003).
/// - **Example**: `%1 = SliceGrad (%0) {shape=[4], starts=[1], ends=[3], steps=[1]} : f32[4]`.
pub(super) static SLICE_GRAD: OpInfo = OpInfo {
    name: "SliceGrad",
    mnemonic: "slice_grad",
    label: "slice_grad",
    profile: Profile::Extended,
    infer: infer_slice_grad,
    requirements: |op, _| {
        let Op::SliceGrad { shape, slice } = op else { foreign(op) };
        slice_requirements(slice, shape)
    },
    evaluate: |op, operands, to| {
        let Op::SliceGrad { slice, .. } = op else { foreign(op) };
        Ok(with_number!(to.dtype, T => {
            let mut elements = vec![T::ZERO; to.shape.iter().product()];
            for (position, element) in positions(&operands[0].shape).zip(T::elements(operands[0])) {
                elements[offset(to.shape, &taken(slice, &position, to))] = *element;
            }
            Value::new(to.shape, T::wrap(elements))
        }))
    },
    derivative: Derivative::Linear(|p| {
        let Op::SliceGrad { slice, .. } = p.op().clone() else { foreign(p.op()) };
        let dy = p.cotangent();
        let dx = p.push(Op::Slice(slice), &[dy])?;
        p.contribute(0, dx)
    }),
    attributes: |op| {
        let Op::SliceGrad { shape, slice } = op else { foreign(op) };
        vec![("shape", Attribute::Dims(shape.to_vec())), ("slice", Attribute::Slice((**slice).clone()))]
    },
    sample: Sampling {
        cases: |dtype| {
            let case = |(shape, slice): (&'static [i64], Slice)| {
                let shape = Shape::literal(shape);
                let extent = |axis: usize| {
                    let (start, end) = (&slice.starts[axis], &slice.ends[axis]);
                    end.sub(start).and_then(|length| length.ceil_div(slice.steps[axis])).expect("small")
                };
                let taken = (0..shape.rank()).map(extent).collect();
                Case {
                    operands: vec![Type::new(dtype, taken)],
                    op: Op::SliceGrad { shape, slice: slice.into() },
                }
            };
            slices().map(case).into()
        },
        ..ROW.sample
    },
    ..ROW
};

/// `ScatterAdd(indices, updates; shape)`: what `Gather` passes back; an extension.
///
/// - **Shape**: `shape`.
/// - **Dtype**: that of `updates`.
/// - **Semantics**: zeros with each row of `updates` added at its index; an index outside `0..shape[0]` stops the
///   program (E6001) before anything is written.
/// - **Derivative**: the rows of the cotangent at the indices, to `updates`.
/// - **Constraints**: 1. `indices` are `i32` or `i64` (E4011). 2. `shape` has rank 1 or more (E3002) and extents of at
///   least 1 (E3006). 3. `updates` has shape `indices.shape ++ shape[1..]` (E3003).
/// - **Example**: `%2 = ScatterAdd (%0, %1) {shape=[4, 3]} : f32[4, 3]`.
pub(super) static SCATTER_ADD: OpInfo = OpInfo {
    name: "ScatterAdd",
    mnemonic: "scatter_add",
    label: "scatter_add",
    profile: Profile::Extended,
    arity: 2,
    infer: infer_scatter,
    evaluate: |op, operands, to| {
        let [indices, updates] = operands else { foreign(op) };
        let rows = rows(op, indices, to.shape[0])?;
        Ok(with_number!(to.dtype, T => {
            let mut totals = vec![T::NOTHING; to.shape.iter().product()];
            for (position, element) in positions(&updates.shape).zip(T::elements(updates)) {
                let (index, rest) = position.split_at(indices.shape.len());
                let mut at = vec![rows[offset(&indices.shape, index)]];
                at.extend(rest);
                let total = &mut totals[offset(to.shape, &at)];
                *total = element.accumulate(*total);
            }
            Value::new(to.shape, T::wrap(totals.into_iter().map(T::narrow).collect()))
        }))
    },
    flops: |_, operands, _| operands[1].shape.element_count(),
    derivative: Derivative::Linear(|p| {
        p.needs_extended()?;
        if p.wants(1) {
            let (dy, indices) = (p.cotangent(), p.operand(0));
            let rows = p.push(Op::Gather, &[dy, indices])?;
            p.contribute(1, rows)?;
        }
        Ok(())
    }),
    attributes: |op| {
        let Op::ScatterAdd { shape } = op else { foreign(op) };
        vec![("shape", Attribute::Dims(shape.to_vec()))]
    },
    sample: Sampling {
        cases: |dtype| {
            let forms: [[&[i64]; 3]; 3] =
                [[&[4], &[], &[]], [&[4], &[3], &[3]], [&[3, 2], &[2, 2], &[2, 2, 2]]];
            let case = |[shape, indices, updates]: [&[i64]; 3]| Case {
                op: Op::ScatterAdd { shape: Shape::literal(shape) },
                operands: vec![
                    Type::new(DType::I64, Shape::literal(indices)),
                    Type::new(dtype, Shape::literal(updates)),
                ],
            };
            forms.map(case).into()
        },
        ..ROW.sample
    },
    ..ROW
};

/// What the rows share.
const ROW: OpInfo = OpInfo {
    name: "",
    mnemonic: "",
    label: "",
    profile: Profile::CoreV1,
    class: Class::Kernel,
    commutative: false,
    arity: 1,
    infer: |op, _| foreign(op),
    requirements: no_requirements,
    origin: no_origin,
    evaluate: |op, _, _| foreign(op),
    derivative: Derivative::Zero,
    flops: no_flops,
    attributes: no_attributes,
    sample: Sampling { cases: sample::none, domain: Domain::Any, tolerance: (1e-2, 1e-6) },
};

fn indices(op: &Op) -> &[Dim] {
    if let Op::Index { indices } = op { indices } else { foreign(op) }
}

/// The position that a slice takes its element at `position` from.
fn taken(slice: &Slice, position: &[usize], to: &Concrete<'_>) -> Vec<usize> {
    let starts = slice.starts.iter().map(|start| to.extent(start));
    starts
        .zip(&slice.steps)
        .zip(position)
        .map(|((start, step), at)| start + at * rules::position(*step))
        .collect()
}

/// The rows that indices pick among `extent`: E6001 for one that is outside.
fn rows(op: &Op, indices: &Value, extent: usize) -> Result<Vec<usize>, RunError> {
    let row = |index: i64| {
        let row = usize::try_from(index).ok().filter(|row| *row < extent);
        row.ok_or_else(|| {
            let label = op.info().label;
            RunError::new(
                Code::E6001,
                format!("`{label}`: index {index} is outside dimension 0 of extent {extent}"),
            )
        })
    };
    if indices.dtype() == DType::I32 {
        i32::elements(indices).iter().map(|index| row(i64::from(*index))).collect()
    } else {
        i64::elements(indices).iter().map(|index| row(*index)).collect()
    }
}

/// `lhs <= rhs` as a requirement, where it is not proved.
fn unproved(lhs: &Dim, rhs: &Dim) -> Option<Requirement> {
    (!lhs.at_most(rhs)).then(|| Requirement::AtMost(lhs.clone(), rhs.clone()))
}

/// Whether `lhs < rhs` whatever the symbols are.
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
        let problem = format!("{} indices given, {} needed for rank {1}", indices.len(), operand.rank());
        return Err(fault(Code::E4006, problem).into());
    }
    for (axis, (index, extent)) in indices.iter().zip(operand.shape.iter()).enumerate() {
        index.add_literal(1).map_err(|overflow| OpError::overflow(op, overflow))?;
        if below(index, &Dim::ZERO) || extent.at_most(index) {
            let problem = format!("index {index} is outside dimension {axis} of extent {extent}");
            return Err(fault(Code::E3011, problem).dims(&[(0, axis)]).into());
        }
    }
    Ok(Type::scalar(operand.dtype))
}

/// The shape of a slice of a shape; `shown` are the operands that messages show, the first of them of this shape.
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
    (0..rank)
        .map(|axis| {
            let (start, end, step, extent) = (&starts[axis], &ends[axis], steps[axis], &shape[axis]);
            slice_dim(extent, start, end, step).map_err(|fault_found| {
                let of_extent = format!("dimension {axis} of extent {extent}");
                let (code, problem, attribute) = match fault_found {
                    None => return OpError::overflow(op, crate::dim::Overflow),
                    Some(SliceFault::Step) => {
                        (Code::E4008, format!("step {step} in dimension {axis}, needed at least 1"), "steps")
                    }
                    Some(SliceFault::Start) => {
                        (Code::E3011, format!("start {start} is outside {of_extent}"), "starts")
                    }
                    Some(SliceFault::End) => {
                        (Code::E3011, format!("end {end} is outside {of_extent}"), "ends")
                    }
                    Some(SliceFault::Empty) => {
                        (Code::E3006, format!("{start}..{end} in dimension {axis} is empty"), "ends")
                    }
                };
                let error = fault(code, problem, attribute);
                (if shown.is_empty() { error } else { error.dims(&[(0, axis)]) }).into()
            })
        })
        .collect()
}

/// The extent of a slice along one axis; on symbols a fault is found where it is one whatever they are. The error
/// without a fault is overflow.
fn slice_dim(extent: &Dim, start: &Dim, end: &Dim, step: i64) -> Result<Dim, Option<SliceFault>> {
    if let (Some(extent), Some(start), Some(end)) =
        (extent.as_literal(), start.as_literal(), end.as_literal())
    {
        return slice_extent(extent, start, end, step).map(Dim::literal).map_err(Some);
    }
    if step < 1 {
        return Err(Some(SliceFault::Step));
    }
    if below(start, &Dim::ZERO) || below(extent, start) {
        return Err(Some(SliceFault::Start));
    }
    if below(end, &Dim::ZERO) || below(extent, end) {
        return Err(Some(SliceFault::End));
    }
    if end.at_most(start) {
        return Err(Some(SliceFault::Empty));
    }
    end.sub(start).and_then(|length| length.ceil_div(step)).map_err(|_| None)
}

fn index_dtype(op: &Op, operands: &[&Type], position: usize) -> Result<(), Box<OpError>> {
    let dtype = operands[position].dtype;
    if dtype.is_integer() {
        return Ok(());
    }
    Err(OpError::new(op, Code::E4011)
        .problem(format!("indices are {dtype}, needed i32 or i64"))
        .focus(Focus::Operand(position))
        .operands(&[position])
        .into())
}

fn infer_gather(op: &Op, operands: &[&Type]) -> Inferred {
    let [table, indices] = operands else { foreign(op) };
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

fn infer_slice_grad(op: &Op, operands: &[&Type]) -> Inferred {
    let Op::SliceGrad { shape, slice } = op else { foreign(op) };
    rules::positive(op, shape)?;
    let taken = sliced(op, slice, shape, &[])?;
    expect_shape(op, operands, 0, &taken)?;
    Ok(operands[0].with_shape(shape.clone()))
}

fn infer_scatter(op: &Op, operands: &[&Type]) -> Inferred {
    let (Op::ScatterAdd { shape }, [indices, updates]) = (op, operands) else { foreign(op) };
    index_dtype(op, operands, 0)?;
    rules::positive(op, shape)?;
    let Some((_, row)) = shape.split_first() else {
        return Err(OpError::new(op, Code::E3002)
            .problem("shape of rank 0, needed rank 1 or more")
            .focus(Focus::Attribute("shape"))
            .into());
    };
    expect_shape(op, operands, 1, &indices.shape.iter().chain(row).cloned().collect())?;
    Ok(updates.with_shape(shape.clone()))
}

/// E3003 unless an operand has exactly this shape.
pub(super) fn expect_shape(
    op: &Op,
    operands: &[&Type],
    position: usize,
    needed: &Shape,
) -> Result<(), Box<OpError>> {
    let found = &operands[position].shape;
    if found == needed {
        return Ok(());
    }
    Err(OpError::new(op, Code::E3003)
        .problem(format!("operand of shape {found}, needed {needed}"))
        .focus(Focus::Operand(position))
        .operands(&[position])
        .into())
}

fn index_back(p: &mut Pullback<'_>) -> Result<(), AutodiffError> {
    let (op, dy) = (p.op().clone(), p.cotangent());
    let indices = indices(&op);
    let axes: Vec<i64> = (0..indices.len() as i64).collect();
    if axes.is_empty() {
        return p.contribute(0, dy);
    }
    let shape = p.ty(p.operand(0)).shape;
    let ends = indices.iter().map(|index| index.add_literal(1)).collect::<Result<_, _>>();
    let ends = ends.map_err(|overflow| AutodiffError::UnsupportedShape(format!("`index`: {overflow}")))?;
    let slice = Slice { starts: indices.to_vec(), ends, steps: vec![1; axes.len()] };
    let element = p.push(Op::ExpandDims { axes }, &[dy])?;
    let dx = p.slice_grad(element, &shape, &slice)?;
    p.contribute(0, dx)
}

/// Shapes with slices of them: whole, a part, strided, a single element.
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
