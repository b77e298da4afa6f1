//! Core v1 gradients: replaces the extensions that rules emit by operations of the specification.
//!
//! It is a pass over a finished gradient, so rules do not depend on profiles.

use crate::{
    build::Builder,
    dim::Dim,
    grad::{AutodiffError, activity::Activity, core_v1, push, typed},
    ir::{Const, Module, Op, Reduction, Slice, ValueId},
    map::{Map, formula},
    number::KnownNumber,
    ops::{Motion, Profile},
    reduce::Reduce,
    ty::{DType, Shape, Type, is_core_v1},
};

/// Why an operation cannot be expressed in Core v1.
pub(super) enum Fault {
    /// E5001: it is an extension that Core v1 has no replacement for.
    Extension,
    /// E5004: the replacement does not support the shape.
    Shape(String),
    /// An operation of the replacement failed.
    Made(AutodiffError),
}

impl From<AutodiffError> for Fault {
    fn from(error: AutodiffError) -> Self {
        Self::Made(error)
    }
}

type Legal = Result<ValueId, Fault>;

/// Returns the error for the fault of a value that the rule of `primal` emitted. It shows the path of `primal`.
pub(super) fn refused(activity: &Activity<'_>, primal: Option<ValueId>, fault: Fault) -> AutodiffError {
    match (fault, primal) {
        (Fault::Made(error), _) => error,
        (Fault::Extension, Some(value)) => activity.unsupported(value),
        (Fault::Shape(problem), Some(value)) => activity.unsupported_shape(value, problem),
        (Fault::Shape(problem), None) => AutodiffError::UnsupportedShape(problem),
        (Fault::Extension, None) => {
            AutodiffError::Verification("no rule made an extension that Core v1 does not have".to_owned())
        }
    }
}

/// Replaces every extension of a module. `refused` makes the error for an extension that has no replacement.
pub(super) fn legalise(
    module: &Module,
    refused: impl Fn(ValueId, Fault) -> AutodiffError,
) -> Result<Module, AutodiffError> {
    let mut legal = Legaliser { module, builder: Builder::new(), values: Vec::new() };
    for (value, inst) in module.iter() {
        if inst.op.info().profile == Profile::CoreV1 && !is_core_v1(inst.ty.dtype) {
            return Err(AutodiffError::UnsupportedType(inst.ty.dtype));
        }
        let made = match inst.op.input_name() {
            Some(name) => legal
                .builder
                .input(name.clone(), inst.ty.clone())
                .map_err(|error| AutodiffError::Verification(error.to_string()))?,
            None => legal.value(value).map_err(|fault| refused(value, fault))?,
        };
        let found = legal.builder.ty(made);
        if *found != inst.ty {
            let problem = format!("`{}` of {} became {found} in Core v1", inst.op.info().name, inst.ty);
            return Err(AutodiffError::Verification(problem));
        }
        legal.values.push(made);
    }
    let outputs: Vec<_> = module.outputs().iter().map(|output| legal.values[output.index()]).collect();
    Ok(legal.builder.finish(outputs))
}

struct Legaliser<'a> {
    module: &'a Module,
    builder: Builder,
    /// The replacement of each value of the module so far.
    values: Vec<ValueId>,
}

impl Legaliser<'_> {
    fn value(&mut self, value: ValueId) -> Legal {
        let inst = self.module.inst(value);
        let operand = |position: usize| self.values[inst.operands[position].index()];
        if inst.op.info().profile == Profile::CoreV1 {
            let operands: Vec<_> = (0..inst.operands.len()).map(operand).collect();
            return Ok(push(&mut self.builder, inst.op.clone(), &operands)?);
        }
        let shape = &inst.ty.shape;
        // Core v1 has no function that keeps zeros, so the profiles differ where a factor is not finite.
        let op = match &inst.op {
            Op::Map(map) => Op::Map(map.row().keeps_zeros.map_or(*map, |keeps| keeps.otherwise)),
            op => op.clone(),
        };
        match &op {
            op if op.info().profile == Profile::CoreV1 => {
                Ok(push(&mut self.builder, op.clone(), &[operand(0), operand(1)])?)
            }
            Op::Map(Map::ReluGrad) => {
                let (dy, x) = (operand(0), operand(1));
                let mask = core_v1::positive_mask(&mut self.builder, x)?;
                Ok(formula(&mut self.builder, "dy * mask", &[("dy", dy), ("mask", mask)])?)
            }
            Op::Const(Const::Count { shape, dtype }) => self.count(shape, *dtype),
            Op::Map(Map::Div) => self.quotient(operand(0), inst.operands[1]),
            Op::Rows(rows) if rows.adds() && rows.axis().is_none() && rows.indices() == 0 => {
                self.scatter_add(operand(0), operand(1), shape)
            }
            // Any other extension is an error.
            op => match op.motion() {
                Some(Motion::Repeat) => self.broadcast(operand(0), inst.operands[0], shape),
                Some(Motion::Put(slice)) => self.slice_grad(operand(0), shape, slice),
                Some(
                    Motion::Order
                    | Motion::Axes(_)
                    | Motion::At(_)
                    | Motion::Taken(_)
                    | Motion::Windows(_)
                    | Motion::Added(_),
                )
                | None => Err(Fault::Extension),
            },
        }
    }

    /// A quotient by a constant, by a value whose logarithm the module computes, or by an element count.
    fn quotient(&mut self, dividend: ValueId, divisor: ValueId) -> Legal {
        if let Some(number) = KnownNumber::of(self.module.inst(divisor)).and_then(KnownNumber::float) {
            let inverse = self.builder.constant(self.module.ty(divisor).dtype, 1.0 / number);
            let names = [("dividend", dividend), ("inverse", inverse)];
            return Ok(formula(&mut self.builder, "dividend * inverse", &names)?);
        }
        let is_log = |known: &ValueId| {
            let inst = self.module.inst(*known);
            inst.op == Op::Map(Map::Log) && inst.operands[0] == divisor
        };
        let log = (0..self.values.len()).map(ValueId::new).find(is_log);
        let names = match log {
            Some(log) => [("v", dividend), ("log", self.values[log.index()])],
            None if self.is_count(divisor) => {
                let log = formula(&mut self.builder, "log(n)", &[("n", self.values[divisor.index()])])?;
                [("v", dividend), ("log", log)]
            }
            None => return Err(Fault::Extension),
        };
        Ok(formula(&mut self.builder, "v * exp(-log)", &names)?)
    }

    /// Whether a value is an element count or a positive constant, so that it is positive for all inputs.
    fn is_count(&self, value: ValueId) -> bool {
        let inst = self.module.inst(value);
        // The sign of a computed value is not known. The quotient is then an error.
        let Op::Const(constant) = &inst.op else { return false };
        matches!(constant, Const::Count { .. })
            || KnownNumber::of(inst).and_then(KnownNumber::float).is_some_and(|number| number > 0.0)
    }

    /// The number of elements of a shape: the product of the known extents, and of one sum of ones per unknown extent.
    /// Each sum is exact in `f32` as long as its extent is.
    fn count(&mut self, shape: &Shape, dtype: DType) -> Legal {
        let known: f64 = shape.iter().filter_map(Dim::as_literal).map(|extent| extent as f64).product();
        let mut count = (known != 1.0).then(|| self.builder.constant(dtype, known));
        for extent in shape.iter().filter(|extent| extent.as_literal().is_none()) {
            let ones = self.ones_along(extent, dtype)?;
            let sum = push(
                &mut self.builder,
                Op::Reduce(Reduce::Sum, Reduction { axes: vec![0], keepdims: false }),
                &[ones],
            )?;
            count = Some(match count {
                Some(count) => formula(&mut self.builder, "count * sum", &[("count", count), ("sum", sum)])?,
                None => sum,
            });
        }
        Ok(count.unwrap_or_else(|| self.builder.constant(dtype, 1.0)))
    }

    /// Broadcasts `value`, the replacement of `from`, to a shape by a product with ones.
    fn broadcast(&mut self, value: ValueId, from: ValueId, shape: &Shape) -> Legal {
        let ty = self.builder.ty(value).with_shape(shape.clone());
        let number = KnownNumber::of(self.module.inst(from)).and_then(KnownNumber::float);
        let known = shape.as_literals().is_some();
        if let (Some(number), true) = (number, known) {
            return Ok(core_v1::filled(&mut self.builder, &ty, number)?);
        }
        if known {
            let ones = core_v1::filled(&mut self.builder, &ty, 1.0)?;
            return Ok(formula(&mut self.builder, "value * ones", &[("value", value), ("ones", ones)])?);
        }
        if let Some(witness) = self.find(|known| *known == ty) {
            let zeros = core_v1::zeros_like(&mut self.builder, witness)?;
            return Ok(match number {
                Some(0.0) => zeros,
                Some(_) => formula(&mut self.builder, "zeros + c", &[("zeros", zeros), ("c", value)])?,
                None => {
                    let names = [("value", value), ("zeros", zeros)];
                    formula(&mut self.builder, "value * (zeros + 1.0)", &names)?
                }
            });
        }
        self.broadcast_by_axis(value, number, shape)
    }

    /// Broadcasts `value` by a product with ones along each axis that it lacks. If `number` is 1, the result is the
    /// ones alone.
    fn broadcast_by_axis(&mut self, value: ValueId, number: Option<f64>, shape: &Shape) -> Legal {
        let from = self.builder.ty(value).shape.clone();
        let added = shape.rank() - from.rank();
        let mut broadcast = (number != Some(1.0)).then_some(value);
        for axis in (0..shape.rank()).rev() {
            if axis >= added && from[axis - added] == shape[axis] {
                continue;
            }
            let ones = self.ones_along(&shape[axis], self.builder.ty(value).dtype)?;
            let behind: Vec<i64> = (1..(shape.rank() - axis) as i64).collect();
            let ones = typed::expanded(&mut self.builder, ones, behind)?;
            broadcast = Some(match broadcast {
                Some(value) => {
                    formula(&mut self.builder, "value * ones", &[("value", value), ("ones", ones)])?
                }
                None => ones,
            });
        }
        Ok(broadcast.unwrap_or(value))
    }

    /// A vector of `extent` ones: a constant if the extent is known, else computed from a value with an axis of that
    /// extent.
    fn ones_along(&mut self, extent: &Dim, dtype: DType) -> Legal {
        let ty = Type::new(dtype, [extent.clone()].into_iter().collect());
        if extent.as_literal().is_some() {
            return Ok(core_v1::filled(&mut self.builder, &ty, 1.0)?);
        }
        let along = |ty: &Type| ty.shape.iter().position(|other| other == extent);
        let any = || self.find(|other| other.dtype == dtype && along(other).is_some());
        let Some(witness) = self.find(|other| *other == ty).or_else(any) else {
            return Err(Fault::Shape(format!("no value has an axis of extent {extent} to broadcast to")));
        };
        let axis = along(self.builder.ty(witness)).expect("it was found by this axis");
        Ok(core_v1::ones_along(&mut self.builder, witness, axis)?)
    }

    fn find(&self, is_wanted: impl Fn(&Type) -> bool) -> Option<ValueId> {
        let all = (0..self.builder.insts().len()).map(ValueId::new);
        { all }.find(|value| is_wanted(self.builder.ty(*value)))
    }

    fn slice_grad(&mut self, dy: ValueId, shape: &Shape, slice: &Slice) -> Legal {
        let extents = known(shape, shape)?;
        let (starts, ends) = (known(&slice.starts, shape)?, known(&slice.ends, shape)?);
        let is_cut =
            |axis: &usize| (starts[*axis], ends[*axis], slice.steps[*axis]) != (0, extents[*axis], 1);
        listed(shape, (0..extents.len()).filter(is_cut).map(|axis| extents[axis]))?;
        Ok(core_v1::place(&mut self.builder, dy, &extents, (&starts, &ends, &slice.steps))?)
    }

    fn scatter_add(&mut self, indices: ValueId, updates: ValueId, shape: &Shape) -> Legal {
        let rows = self.builder.ty(updates).clone();
        let extents = known(shape, shape)?;
        known(&self.builder.ty(indices).shape, &rows.shape)?;
        listed(shape, extents.first().copied())?;
        Ok(core_v1::scatter_add(&mut self.builder, indices, updates, &extents)?)
    }
}

/// Returns a fault if an axis of these `extents` has too many positions to list in a constant. `shape` is for the
/// message.
fn listed(shape: &Shape, extents: impl IntoIterator<Item = i64>) -> Result<(), Fault> {
    let most = core_v1::MOST_POSITIONS;
    if extents.into_iter().any(|extent| extent > most) {
        let problem =
            format!("an axis of {shape} has more than {most} positions, the most that Core v1 can list");
        return Err(Fault::Shape(problem));
    }
    Ok(())
}

/// The values of `dims`. Returns a fault if one is unknown, as Core v1 needs them. `shape` is for the message.
fn known(dims: &[Dim], shape: &Shape) -> Result<Vec<i64>, Fault> {
    let numbers: Option<_> = dims.iter().map(Dim::as_literal).collect();
    numbers.ok_or_else(|| {
        Fault::Shape(format!("its derivative in Core v1 needs known extents and bounds, found {shape}"))
    })
}
