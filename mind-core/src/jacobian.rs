//! Jacobians: the derivatives of all elements of the results by all elements of some inputs.
//!
//! Forward mode computes a column for each element of the inputs, reverse mode a row for each element of the results.
//! All of these passes are one [batch](mod@crate::batch) over the rows of an identity matrix.

use std::ops::Range;

use crate::{
    batch::batch,
    build::Builder,
    canon::Canonical,
    dim::{Bindings, Dim},
    grad::{AutodiffError, Cotangent, GradientOptions, Wrt, canonical, differentiate, push, push_forward},
    ir::{Arrange, Join, Made, Module, Op, Slice, ValueId},
    map::{Map, formula},
    ops::{OpError, Profile},
    ty::{Shape, Type},
};

/// The direction in which a Jacobian is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One pass for each element of the inputs.
    Forward,
    /// One pass for each element of the results.
    Reverse,
}

impl Mode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Forward, Self::Reverse];

    /// The name in programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        }
    }
}

/// Some consecutive results or inputs that are one side of a Jacobian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Their positions.
    pub members: Range<usize>,
    /// Whether they are one vector of all their elements, as the fields of a struct are. Otherwise it is one tensor.
    pub is_flat: bool,
}

/// The module that computes the Jacobians of `module`: one for each of `results` with respect to each of `inputs`.
///
/// The shape of a Jacobian is that of the result, then that of the input. Without a mode, the one with fewer passes is
/// chosen; reverse mode if this is not known. `zero_ok` says by input of the module whether an input that reaches no
/// result has a Jacobian of zeros rather than being an error.
///
/// # Errors
/// See [`AutodiffError`].
pub fn jacobian(
    module: &Canonical,
    results: &[Side],
    inputs: &[Side],
    zero_ok: impl Fn(usize) -> bool,
    mode: Option<Mode>,
) -> Result<Module, AutodiffError> {
    let mut jacobian = Jacobian::new(module)?;
    let rows = total(results.iter().map(|side| jacobian.count(side, &jacobian.outputs)))?;
    let columns = total(inputs.iter().map(|side| jacobian.count(side, &jacobian.inputs)))?;
    let mode = mode.unwrap_or(if columns.at_most(&rows) { Mode::Forward } else { Mode::Reverse });
    let wrt = |side: &Side| -> Vec<Wrt> {
        let wrt = |input| Wrt { input: ValueId::new(input), zero_ok: zero_ok(input) };
        side.members.clone().map(wrt).collect()
    };
    // By result, then by input.
    let mut blocks = vec![Vec::new(); results.len()];
    match mode {
        Mode::Forward => {
            for input in inputs {
                let pushed = push_forward(module, &wrt(input))?.module;
                let tangents = jacobian.passes(&pushed, input, Mode::Forward)?;
                for (result, blocks) in results.iter().zip(&mut blocks) {
                    let columns = jacobian.joined(result, &tangents[result.members.clone()])?;
                    blocks.push(jacobian.transposed(columns, result, input)?);
                }
            }
        }
        Mode::Reverse => {
            let wrt: Vec<_> = inputs.iter().flat_map(wrt).collect();
            let options = GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended };
            let pulled = differentiate(module, &options)?.module;
            for (result, blocks) in results.iter().zip(&mut blocks) {
                let gradients = jacobian.passes(&pulled, result, Mode::Reverse)?;
                let mut start = 0;
                for input in inputs {
                    let end = start + input.members.len();
                    let rows = jacobian.joined(input, &gradients[start..end])?;
                    start = end;
                    blocks.push(jacobian.shaped(rows, result, input)?);
                }
            }
        }
    }
    Ok(jacobian.builder.finish(blocks.concat()))
}

/// The module of a Jacobian while it is built.
struct Jacobian {
    builder: Builder,
    /// The types of the inputs of the module.
    inputs: Vec<Type>,
    /// The types of its results.
    outputs: Vec<Type>,
}

impl Jacobian {
    fn new(module: &Module) -> Result<Self, AutodiffError> {
        let mut builder = Builder::new();
        for (name, ty) in module.inputs() {
            builder.input(name.clone(), ty.clone()).map_err(|error| broken(&error))?;
        }
        let inputs = module.inputs().map(|(_, ty)| ty.clone()).collect();
        let outputs = module.outputs().iter().map(|output| module.ty(*output).clone()).collect();
        Ok(Self { builder, inputs, outputs })
    }

    /// The number of elements of a side.
    fn count(&self, side: &Side, types: &[Type]) -> Result<Dim, AutodiffError> {
        total(types[side.members.clone()].iter().map(|ty| elements(&ty.shape)))
    }

    /// Runs a derivative once for each element of `side`, and returns its results with an axis for the passes. The
    /// first outputs of `derivative` are the results of the module. Its last inputs are the tangents of `side` in
    /// forward mode, and the cotangents of all results in reverse mode. Cotangents of other sides are zeros.
    fn passes(
        &mut self,
        derivative: &Canonical,
        side: &Side,
        mode: Mode,
    ) -> Result<Vec<ValueId>, AutodiffError> {
        let (types, seeds) = match mode {
            Mode::Forward => (self.inputs.clone(), side.members.clone()),
            Mode::Reverse => (self.outputs.clone(), 0..self.outputs.len()),
        };
        let count = self.count(side, &types)?;
        let first = self.inputs.len();
        let (mut over, mut given) = (Vec::new(), (0..first).map(ValueId::new).collect::<Vec<_>>());
        let mut start = Dim::ZERO;
        for (at, member) in seeds.enumerate() {
            let ty = &types[member];
            if side.members.contains(&member) {
                over.push(ValueId::new(first + at));
                let end = sum(&start, &elements(&ty.shape)?)?;
                given.push(self.identity(ty, &count, [start, end.clone()])?);
                start = end;
            } else {
                let zero = self.builder.constant(ty.dtype, 0.0);
                given.push(self.arranged(zero, Arrange::broadcast(ty.shape.clone()))?);
            }
        }
        let module = derivative.clone().into_verified().into_module();
        let (module, _) = canonical(module.without_first(self.outputs.len()))?;
        let batched = batch(&module, &over, &count).map_err(|error| broken(&error))?;
        self.builder.inline(&batched.module, &given, &Bindings::new()).map_err(|error| broken(&error))
    }

    /// The columns from `start` to `end` of an identity matrix with `count` rows. Each row has the shape of `ty`.
    fn identity(&mut self, ty: &Type, count: &Dim, [start, end]: [Dim; 2]) -> Result<ValueId, AutodiffError> {
        let positions = |on: &mut Self, axis| {
            let made = Made::Iota { shape: vec![count.clone(); 2], axis };
            push(&mut on.builder, Op::Made(made), &[])
        };
        let (rows, columns) = (positions(self, 0)?, positions(self, 1)?);
        let is_one =
            formula(&mut self.builder, "eq(rows, columns)", &[("rows", rows), ("columns", columns)])?;
        let matrix = push(&mut self.builder, Op::Map(Map::to(ty.dtype)), &[is_one])?;
        let slice =
            Slice { starts: vec![Dim::ZERO, start], ends: vec![count.clone(), end], steps: vec![1; 2] };
        let columns = push(&mut self.builder, slice.into(), &[matrix])?;
        let shape = [count].into_iter().chain(ty.shape.iter()).cloned().collect();
        self.arranged(columns, Arrange::reshape(shape))
    }

    /// The members of a side as one value, behind the axis of the passes.
    fn joined(&mut self, side: &Side, members: &[ValueId]) -> Result<ValueId, AutodiffError> {
        if !side.is_flat {
            return Ok(members[0]);
        }
        let mut flat = Vec::new();
        for member in members {
            let shape = self.builder.ty(*member).shape.clone();
            let (passes, rest) = shape.split_first().expect("it has the axis of the passes");
            let rest = elements(&rest.iter().cloned().collect())?;
            let shape = [passes.clone(), rest].into_iter().collect();
            flat.push(self.arranged(*member, Arrange::reshape(shape))?);
        }
        let mut joined = flat[0];
        for part in flat.into_iter().skip(1) {
            joined = push(&mut self.builder, Op::Join(Join::Concat { axis: 1 }), &[joined, part])?;
        }
        Ok(joined)
    }

    /// The Jacobian from its columns, which are along the first axis.
    fn transposed(
        &mut self,
        columns: ValueId,
        result: &Side,
        input: &Side,
    ) -> Result<ValueId, AutodiffError> {
        let rank = self.builder.ty(columns).rank() as i64;
        let permutation = (1..rank).chain([0]).collect();
        let rows = self.arranged(columns, Arrange::transpose(permutation))?;
        self.shaped(rows, result, input)
    }

    fn shaped(&mut self, value: ValueId, result: &Side, input: &Side) -> Result<ValueId, AutodiffError> {
        let dtype = self.outputs[result.members.start].dtype;
        let value = match self.builder.ty(value).dtype == dtype {
            true => value,
            false => push(&mut self.builder, Op::Map(Map::to(dtype)), &[value])?,
        };
        let mut shape = self.shape(result, &self.outputs)?;
        shape.extend(self.shape(input, &self.inputs)?);
        self.arranged(value, Arrange::reshape(shape.into_iter().collect()))
    }

    fn shape(&self, side: &Side, types: &[Type]) -> Result<Vec<Dim>, AutodiffError> {
        match side.is_flat {
            true => Ok(vec![self.count(side, types)?]),
            false => Ok(types[side.members.start].shape.to_vec()),
        }
    }

    fn arranged(&mut self, value: ValueId, arrange: Arrange) -> Result<ValueId, AutodiffError> {
        push(&mut self.builder, Op::Arrange(arrange), &[value])
    }
}

fn elements(shape: &Shape) -> Result<Dim, AutodiffError> {
    shape.element_count().map_err(|overflow| AutodiffError::UnsupportedShape(overflow.to_string()))
}

fn sum(a: &Dim, b: &Dim) -> Result<Dim, AutodiffError> {
    a.add(b).map_err(|overflow| AutodiffError::UnsupportedShape(overflow.to_string()))
}

fn total(counts: impl Iterator<Item = Result<Dim, AutodiffError>>) -> Result<Dim, AutodiffError> {
    let mut total = Dim::ZERO;
    for count in counts {
        total = sum(&total, &count?)?;
    }
    Ok(total)
}

fn broken(error: &OpError) -> AutodiffError {
    AutodiffError::of(error, error.to_string())
}
