//! From operations as they are written to those of Core IR, where the types of the operands are known.

use super::{Extents, Op};
use crate::{
    dim::{Dim, Overflow},
    ir,
    ir::{Arrange, Part, Product, Reduction, Rows, Window},
    ty::{Shape, Type},
};

/// Why attributes as they are written mean nothing for operands of these types.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Unresolved {
    /// An axis is out of range for a rank.
    Axis(i64, usize),
    /// An axis stands twice; those before it, resolved.
    Twice(i64, Vec<i64>),
    /// Axes are written and there are none.
    NoAxes,
    /// So many extents are left open.
    Open(usize),
    /// The other extents' product does not divide the number of elements.
    Indivisible(Dim, Dim),
    /// An extent leaves what can be computed.
    Overflow(Overflow),
}

/// The operation of Core IR that one is on operands of these types, witnesses among them; nothing where the result is the
/// first operand.
///
/// # Panics
/// If the operation becomes several, or none: an input, a constant, an index expression, or one of its own form.
pub(crate) fn resolve(op: &Op, operands: &[&Type]) -> Result<Option<ir::Op>, Unresolved> {
    let rank = || operands[0].rank();
    Ok(Some(match op {
        Op::Map(map) => ir::Op::Map(*map),
        Op::Reduce(reduce, Reduction { axes, keepdims }) => {
            let axes = match axes {
                Some(axes) if axes.is_empty() && rank() > 0 => return Err(Unresolved::NoAxes),
                Some(axes) => resolved_axes(axes, rank())?,
                None => (0..rank()).map(position).collect(),
            };
            ir::Op::Reduce(*reduce, Reduction { axes, keepdims: *keepdims })
        }
        Op::Arrange(Arrange::Reshape { shape: Extents::Written(dims) }) => {
            ir::Op::Arrange(Arrange::Reshape { shape: reshaped(dims, operands[0])? })
        }
        Op::Arrange(Arrange::Reshape { shape }) => {
            ir::Op::Arrange(Arrange::Reshape { shape: shape_of(shape, operands) })
        }
        Op::Arrange(Arrange::Transpose { permutation }) => {
            ir::Op::Arrange(Arrange::Transpose { permutation: permuted(permutation.as_deref(), rank()) })
        }
        Op::Arrange(Arrange::ExpandDims { axes }) => {
            ir::Op::Arrange(Arrange::ExpandDims { axes: resolved_axes(axes, rank() + axes.len())? })
        }
        Op::Arrange(Arrange::Squeeze { axes }) => {
            let shape = &operands[0].shape;
            let axes = match axes {
                Some(axes) => resolved_axes(axes, rank())?,
                None => (0..rank()).filter(|axis| shape[*axis].is_one()).map(position).collect(),
            };
            if axes.is_empty() {
                return Ok(None);
            }
            ir::Op::Arrange(Arrange::Squeeze { axes })
        }
        Op::Part(Part::Slice(slice)) => ir::Op::Part(Part::Slice(slice.clone())),
        Op::Rows(Rows::Gather) => ir::Op::Rows(Rows::Gather),
        Op::Product(Product::Dot) => ir::Op::Product(Product::Dot),
        Op::Product(Product::MatMul) => ir::Op::Product(Product::MatMul),
        Op::Window(Window::Conv2d(convolution)) => ir::Op::Window(Window::Conv2d(convolution.clone())),
        Op::Arrange(Arrange::BroadcastTo { shape }) => {
            ir::Op::Arrange(Arrange::BroadcastTo { shape: shape_of(shape, operands) })
        }
        Op::Part(Part::SliceGrad { shape, slice }) => {
            ir::Op::Part(Part::SliceGrad { shape: shape_of(shape, operands), slice: slice.clone() })
        }
        Op::Rows(Rows::ScatterAdd { shape }) => {
            ir::Op::Rows(Rows::ScatterAdd { shape: shape_of(shape, operands) })
        }
        Op::Window(Window::Conv2dGradInput { shape, convolution }) => {
            ir::Op::Window(Window::Conv2dGradInput {
                shape: shape_of(shape, operands),
                convolution: convolution.clone(),
            })
        }
        Op::Window(Window::Conv2dGradFilter { shape, convolution }) => {
            ir::Op::Window(Window::Conv2dGradFilter {
                shape: shape_of(shape, operands),
                convolution: convolution.clone(),
            })
        }
        Op::Input { .. } | Op::Const(_) | Op::Part(Part::Index { .. }) | Op::Own(_) => {
            unreachable!("{op:?} is not one operation of Core IR")
        }
    }))
}

/// Axes as positions, ascending: negative ones count from the end.
fn resolved_axes(written: &[i64], rank: usize) -> Result<Vec<i64>, Unresolved> {
    let count = position(rank);
    let mut axes = Vec::new();
    for axis in written.iter().copied() {
        let position = if axis < 0 { axis.saturating_add(count) } else { axis };
        if !(0..count).contains(&position) {
            return Err(Unresolved::Axis(axis, rank));
        }
        if axes.contains(&position) {
            return Err(Unresolved::Twice(axis, axes));
        }
        axes.push(position);
    }
    axes.sort_unstable();
    Ok(axes)
}

/// A permutation with the axes counted from the front, of none the reverse. What is none is told by inference.
fn permuted(written: Option<&[i64]>, rank: usize) -> Vec<i64> {
    let count = position(rank);
    match written {
        Some(axes) => {
            let from_end = |axis: &i64| if (-count..0).contains(axis) { axis + count } else { *axis };
            axes.iter().map(from_end).collect()
        }
        None => (0..count).rev().collect(),
    }
}

/// The shape that is written, or that of the last operand.
fn shape_of(shape: &Extents, operands: &[&Type]) -> Shape {
    match shape {
        Extents::Written(dims) => dims.iter().cloned().collect(),
        Extents::Like => operands[operands.len() - 1].shape.clone(),
    }
}

/// The shape that is written, with the extent worked out that is -1.
fn reshaped(dims: &[Dim], operand: &Type) -> Result<Shape, Unresolved> {
    let open = |dim: &Dim| dim.as_literal() == Some(-1);
    match dims.iter().filter(|dim| open(dim)).count() {
        0 => return Ok(dims.iter().cloned().collect()),
        1 => {}
        several => return Err(Unresolved::Open(several)),
    }
    let others = dims.iter().filter(|dim| !open(dim)).cloned().collect::<Shape>();
    let counts = operand.shape.element_count().and_then(|all| Ok((others.element_count()?, all)));
    let (others, all) = counts.map_err(Unresolved::Overflow)?;
    match all.exact_div(&others).map_err(Unresolved::Overflow)? {
        Some(extent) => {
            Ok(dims.iter().map(|dim| if open(dim) { extent.clone() } else { dim.clone() }).collect())
        }
        None => Err(Unresolved::Indivisible(others, all)),
    }
}

fn position(axis: usize) -> i64 {
    i64::try_from(axis).expect("a rank and a written list are small")
}
