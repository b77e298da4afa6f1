//! The reference interpreter: naive loops, no sharing with the kernels it judges.
//!
//! Arithmetic rounds after each operation in the element type; only sums differ: those of `f32` (in `Sum`, `Mean`,
//! `Dot`, `MatMul`, the convolutions and `ScatterAdd`) are added in `f64`, in row-major order, and rounded once. `Exp`
//! and `Log` of `f32` are computed in `f64` and rounded. Integers wrap.

mod bind;
mod number;

pub(crate) use bind::bindable;
pub use bind::{bind, check_requirements};
pub(crate) use number::{Float, Number, with_float, with_number};

use crate::{
    diag::Code,
    dim::{Bindings, Dim},
    ir::Op,
    ops::Concrete,
    ty::{DType, Shape},
    verify::{Verified, requirements},
};

/// The results of a module on these inputs, one value an input in order.
///
/// # Errors
/// E2007 and E2001 for inputs that are not of the declared number, element type and rank; E3006 for an extent of 0 or a
/// dimension that the extents make less than 1; E6009 for extents that contradict the declared ones; E6001 for an index
/// out of range.
pub fn run(module: &Verified, inputs: &[Value]) -> Result<Vec<Value>, RunError> {
    let Trace { values, .. } = trace(module, inputs)?;
    Ok(module.outputs().iter().map(|output| values[output.index()].clone()).collect())
}

/// What a run computes.
pub(crate) struct Trace {
    /// The value of each instruction.
    pub(crate) values: Vec<Value>,
    /// The extent of each symbol.
    #[cfg_attr(not(feature = "testing"), allow(dead_code, reason = "for what looks at a run again"))]
    pub(crate) bindings: Bindings,
}

/// Runs every instruction; errors as those of [`run`].
pub(crate) fn trace(module: &Verified, inputs: &[Value]) -> Result<Trace, RunError> {
    let bindings = bind(module, inputs)?;
    check_requirements(&requirements(module), &bindings)?;
    let mut values: Vec<Value> = Vec::with_capacity(module.insts().len());
    for inst in module.insts() {
        let value = if let (Op::Input { .. }, Some(input)) = (&inst.op, inputs.get(values.len())) {
            input.clone()
        } else {
            let shape = extents(&inst.ty.shape, &bindings)?;
            let operands: Vec<&Value> =
                inst.operands.iter().map(|operand| &values[operand.index()]).collect();
            let to = Concrete { dtype: inst.ty.dtype, shape: &shape, bindings: &bindings };
            (inst.op.info().evaluate)(&inst.op, &operands, &to)?
        };
        values.push(value);
    }
    Ok(Trace { values, bindings })
}

/// A tensor of known values.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The extents.
    pub shape: Vec<usize>,
    /// The elements in row-major order.
    pub elements: Elements,
}

/// The elements of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// `i32` elements.
    I32(Vec<i32>),
    /// `i64` elements.
    I64(Vec<i64>),
    /// `f32` elements.
    F32(Vec<f32>),
    /// `f64` elements.
    F64(Vec<f64>),
}

/// Why a program stopped as it ran.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("[{code}] {message}")]
pub struct RunError {
    /// The stable number.
    pub code: Code,
    /// What happened.
    pub message: String,
}

impl RunError {
    /// A stop with its reason.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl Value {
    /// A tensor with these extents and elements.
    ///
    /// # Panics
    /// If there are not as many elements as the shape holds.
    pub fn new(shape: impl Into<Vec<usize>>, elements: impl Into<Elements>) -> Self {
        let (shape, elements) = (shape.into(), elements.into());
        assert_eq!(
            shape.iter().product::<usize>(),
            elements.len(),
            "as many elements as shape {shape:?} holds"
        );
        Self { shape, elements }
    }

    /// The element type.
    pub const fn dtype(&self) -> DType {
        match self.elements {
            Elements::I32(_) => DType::I32,
            Elements::I64(_) => DType::I64,
            Elements::F32(_) => DType::F32,
            Elements::F64(_) => DType::F64,
        }
    }
}

impl Elements {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::I32(elements) => elements.len(),
            Self::I64(elements) => elements.len(),
            Self::F32(elements) => elements.len(),
            Self::F64(elements) => elements.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every element as the nearest `f64`, for comparisons with a tolerance.
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            Self::I32(elements) => elements.iter().map(|element| f64::from(*element)).collect(),
            Self::I64(elements) => elements.iter().map(|element| *element as f64).collect(),
            Self::F32(elements) => elements.iter().map(|element| f64::from(*element)).collect(),
            Self::F64(elements) => elements.clone(),
        }
    }
}

macro_rules! elements_from {
    ($($number:ty => $variant:ident),+) => {$(
        impl From<Vec<$number>> for Elements {
            fn from(elements: Vec<$number>) -> Self {
                Self::$variant(elements)
            }
        }
    )+};
}

elements_from!(i32 => I32, i64 => I64, f32 => F32, f64 => F64);

fn extents(shape: &Shape, bindings: &Bindings) -> Result<Vec<usize>, RunError> {
    let extent = |dim: &Dim| usize::try_from(dim.evaluate(bindings)?).ok();
    let extents: Option<Vec<_>> = shape.iter().map(extent).collect();
    let fits = extents.filter(|extents| {
        let count = extents.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent));
        // Far above what a reference run can mean, far below what an allocation refuses by stopping the process.
        count.is_some_and(|count| count <= 1 << 32)
    });
    fits.ok_or_else(|| RunError::new(Code::E6004, format!("a tensor of shape {shape} is too large")))
}

/// Every position of a shape in row-major order.
pub(crate) fn positions(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let count: usize = shape.iter().product();
    (0..count).map(move |mut offset| {
        let mut position = vec![0; shape.len()];
        for (at, extent) in position.iter_mut().zip(shape).rev() {
            (*at, offset) = (offset % extent, offset / extent);
        }
        position
    })
}

/// Where a position stands in row-major order.
pub(crate) fn offset(shape: &[usize], position: &[usize]) -> usize {
    shape.iter().zip(position).fold(0, |offset, (extent, at)| offset * extent + at)
}

/// Where a position of a broadcast result reads an operand: aligned at the last dimensions, 0 along extents of 1.
pub(crate) fn broadcast_offset(shape: &[usize], position: &[usize]) -> usize {
    let aligned = &position[position.len() - shape.len()..];
    shape
        .iter()
        .zip(aligned)
        .fold(0, |offset, (extent, at)| offset * extent + if *extent == 1 { 0 } else { *at })
}
