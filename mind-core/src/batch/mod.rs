//! Batching: from a module to the module that computes it for each slice of some inputs.
//!
//! A batched value has a new leading axis. A rule applies an operation to all slices at once, if Core IR has an
//! operation for this. Any other operation is applied in a loop over the slices. A value that depends on no batched
//! input is computed once, without the axis.

mod loops;
mod rules;

use std::collections::BTreeMap;

use crate::{
    build::Builder,
    canon::Canonical,
    dim::{Bindings, Dim},
    ir::{Arrange, Guard, Inst, Module, Op, Scan, ValueId},
    ops::OpError,
    ty::Shape,
};

type Emitted = Result<ValueId, Box<OpError>>;

/// A module that computes another one for each slice of some inputs.
#[derive(Clone, Debug)]
pub struct Batched {
    /// Its inputs have the order and the names of the old ones. Every output has the leading axis.
    pub module: Module,
    /// For each value, the value of the old module that it is computed for.
    pub made_for: Vec<ValueId>,
}

/// The module that computes `module` for each slice of the inputs `over` along a new leading axis of this extent.
///
/// ```
/// use mind_core::{
///     batch::batch, build::Builder, canon::canonicalise, dim::Dim, ir::{Op, Product}, ops::Profile, text::core_ir,
///     ty::{DType, Shape, Type}, verify::verify,
/// };
/// let mut b = Builder::new();
/// let x = b.input("x", Type::new(DType::F32, Shape::literal(&[3])))?;
/// let w = b.input("w", Type::new(DType::F32, Shape::literal(&[3, 2])))?;
/// let y = b.push(Op::Product(Product::Dot), &[x, w])?;
/// let module = canonicalise(verify(b.finish([y]), Profile::Extended).expect("it is valid"));
/// assert_eq!(
///     core_ir::print(&batch(&module, &[x], &Dim::symbol("N"))?.module),
///     "%0 = Input () {name=\"x\"} : f32[N, 3]\n\
///      %1 = Input () {name=\"w\"} : f32[3, 2]\n\
///      %2 = MatMul (%0, %1) : f32[N, 2]\n\
///      outputs: %2\n"
/// );
/// # Ok::<(), Box<mind_core::ops::OpError>>(())
/// ```
///
/// # Errors
/// E1008 if a value would exceed the limits of shapes, of operands or of nested modules.
pub fn batch(module: &Canonical, over: &[ValueId], extent: &Dim) -> Result<Batched, Box<OpError>> {
    let is_batched: Vec<_> = (0..module.inputs().len()).map(|at| over.contains(&ValueId::new(at))).collect();
    let mut batch = Batch::new(module, extent, &is_batched)?;
    batch.run()?;
    let outputs = batch.outputs(|_| true)?;
    batch.made_for.resize(batch.builder.insts().len(), last_output(module));
    Ok(Batched { module: batch.builder.finish(outputs), made_for: batch.made_for })
}

/// As [`batch`], except that slices may be along any axis: `axes` has the axis of each batched input, and `out` the
/// axis of each output.
///
/// # Errors
/// As [`batch`].
pub fn batch_along(
    module: &Canonical,
    axes: &[Option<usize>],
    out: &[usize],
    extent: &Dim,
) -> Result<Batched, Box<OpError>> {
    let over = axes.iter().enumerate().filter_map(|(at, axis)| axis.map(|_| ValueId::new(at)));
    let leading = batch(module, &over.collect::<Vec<_>>(), extent)?;
    if axes.iter().flatten().chain(out).all(|axis| *axis == 0) {
        return Ok(leading);
    }
    let mut builder = Builder::new();
    let mut inputs = Vec::new();
    for ((name, ty), axis) in leading.module.inputs().zip(axes) {
        let mut shape = ty.shape.to_vec();
        if let Some(axis) = axis {
            shape[..=*axis].rotate_left(1);
        }
        inputs.push(builder.input(name.clone(), ty.with_shape(shape.into_iter().collect()))?);
    }
    let count = inputs.len();
    let mut made_for: Vec<_> = (0..count).map(ValueId::new).collect();
    for (at, (input, axis)) in inputs.iter_mut().zip(axes).enumerate() {
        *input = moved(&mut builder, *input, axis.unwrap_or(0), 0)?;
        made_for.resize(builder.insts().len(), ValueId::new(at));
    }
    let results = builder.inline(&leading.module, &inputs, &Bindings::new())?;
    let results = results.into_iter().zip(out).map(|(result, axis)| moved(&mut builder, result, 0, *axis));
    let results = results.collect::<Result<Vec<_>, _>>()?;
    made_for.extend(&leading.made_for[count..]);
    made_for.resize(builder.insts().len(), last_output(module));
    Ok(Batched { module: builder.finish(results), made_for })
}

/// The last output. [`Batched::made_for`] names it for the instructions that move the axes of outputs.
fn last_output(module: &Module) -> ValueId {
    *module.outputs().last().expect("a verified module has an output")
}

/// Moves an axis to another position.
pub(crate) fn moved(builder: &mut Builder, value: ValueId, from: usize, to: usize) -> Emitted {
    if from == to {
        return Ok(value);
    }
    let mut permutation: Vec<i64> = (0..builder.ty(value).rank() as i64).collect();
    let axis = permutation.remove(from);
    permutation.insert(to, axis);
    builder.push(Op::Arrange(Arrange::transpose(permutation)), &[value])
}

/// A module during batching.
struct Batch<'a> {
    old: &'a Module,
    extent: &'a Dim,
    builder: Builder,
    /// The new value for each value of the old module so far.
    values: Vec<Value>,
    /// For each loop, its results.
    loops: BTreeMap<ValueId, Vec<Value>>,
    made_for: Vec<ValueId>,
}

/// The new value for a value of the old module.
#[derive(Clone, Copy)]
struct Value {
    id: ValueId,
    /// Whether it has the leading axis.
    is_batched: bool,
}

impl<'a> Batch<'a> {
    /// Adds the inputs of the old module, with the axis where `is_batched` says so.
    fn new(old: &'a Module, extent: &'a Dim, is_batched: &[bool]) -> Result<Self, Box<OpError>> {
        let mut batch = Self {
            old,
            extent,
            builder: Builder::new(),
            values: Vec::new(),
            loops: BTreeMap::new(),
            made_for: Vec::new(),
        };
        for ((name, ty), is_batched) in old.inputs().zip(is_batched) {
            let shape = if *is_batched { batch.with_axis(&ty.shape) } else { ty.shape.clone() };
            let id = batch.builder.input(name.clone(), ty.with_shape(shape))?;
            batch.made_for.push(ValueId::new(batch.values.len()));
            batch.values.push(Value { id, is_batched: *is_batched });
        }
        Ok(batch)
    }

    fn run(&mut self) -> Result<(), Box<OpError>> {
        for (value, inst) in self.old.iter().skip(self.values.len()) {
            let new = self.instruction(value, inst)?;
            self.values.push(new);
            self.made_for.resize(self.builder.insts().len(), value);
        }
        Ok(())
    }

    /// The outputs, with the axis where `has_axis` says so.
    fn outputs(&mut self, has_axis: impl Fn(usize) -> bool) -> Result<Vec<ValueId>, Box<OpError>> {
        let outputs = self.old.outputs().to_vec();
        let output = |(at, output): (usize, ValueId)| match has_axis(at) {
            true => self.batched(output),
            false => Ok(self.values[output.index()].id),
        };
        outputs.into_iter().enumerate().map(output).collect()
    }

    fn instruction(&mut self, value: ValueId, inst: &Inst) -> Result<Value, Box<OpError>> {
        if let Some(at) = inst.op.as_further_result() {
            let of = inst.operands[0];
            return match self.loops.get(&of) {
                Some(results) => Ok(results[at]),
                None => {
                    let Value { id, is_batched } = self.values[of.index()];
                    Ok(Value { id: self.builder.push(inst.op.clone(), &[id])?, is_batched })
                }
            };
        }
        if !inst.operands.iter().any(|operand| self.values[operand.index()].is_batched) {
            let operands = inst.operands.map(|operand| self.values[operand.index()].id);
            return Ok(Value { id: self.builder.push(inst.op.clone(), &operands)?, is_batched: false });
        }
        if let Some(scan) = inst.op.as_loop() {
            let results = self.batch_loop(scan, inst)?;
            let first = results[0];
            self.loops.insert(value, results);
            return Ok(first);
        }
        Ok(Value { id: self.rule(inst)?, is_batched: true })
    }

    /// Applies an operation in a loop over the slices.
    fn each(&mut self, inst: &Inst) -> Emitted {
        let mut step = Builder::new();
        let (mut inputs, mut operands) = (Vec::new(), Vec::new());
        for (at, operand) in inst.operands.iter().enumerate() {
            inputs.push(step.input(format!("x{at}"), self.old.ty(*operand).clone())?);
            operands.push(self.values[operand.index()].id);
        }
        let result = step.push(inst.op.clone(), &inputs)?;
        let body = loops::nested(step.finish([result]), &inst.op)?;
        self.builder.push(Scan::new(body, 0, Guard::Always).into(), &operands)
    }

    /// The shape with the new leading axis.
    fn with_axis(&self, shape: &Shape) -> Shape {
        std::iter::once(self.extent).chain(shape.iter()).cloned().collect()
    }

    /// A value with the axis. Without it the value is broadcast.
    fn batched(&mut self, old: ValueId) -> Emitted {
        let Value { id, is_batched } = self.values[old.index()];
        if is_batched {
            return Ok(id);
        }
        let shape = self.with_axis(&self.old.ty(old).shape);
        self.broadcast(id, shape)
    }

    fn is_batched(&self, old: ValueId) -> bool {
        self.values[old.index()].is_batched
    }

    fn arranged(&mut self, value: ValueId, arrange: Arrange) -> Emitted {
        self.builder.push(Op::Arrange(arrange), &[value])
    }

    fn broadcast(&mut self, value: ValueId, shape: Shape) -> Emitted {
        self.arranged(value, Arrange::broadcast(shape))
    }

    fn reshaped(&mut self, value: ValueId, shape: Shape) -> Emitted {
        self.arranged(value, Arrange::reshape(shape))
    }

    /// A value with the leading axis and at least `rank` further axes. Missing axes are inserted after the leading one,
    /// with extent 1.
    fn aligned(&mut self, value: ValueId, rank: usize) -> Emitted {
        let own = self.builder.ty(value).rank() - 1;
        if own >= rank {
            return Ok(value);
        }
        let axes = (1..=rank - own).map(|axis| axis as i64).collect();
        self.arranged(value, Arrange::expand(axes))
    }

    /// Moves an axis to another position.
    fn moved(&mut self, value: ValueId, from: usize, to: usize) -> Emitted {
        moved(&mut self.builder, value, from, to)
    }
}
