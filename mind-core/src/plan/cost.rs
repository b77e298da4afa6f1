//! The least cost of steps: arithmetic, and bytes moved.

use super::{
    BufferId, Conv2d, Finish, Integers, KernelCall, KernelOperand, LoopStep, MatMul, Nest, Node, Plan, Step,
    Store, Strips, Target, View,
};
use crate::dim::{Dim, Overflow};
use crate::ir::Op;
use crate::map::{self, Map};

/// The work of one step, whichever kernel does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Additions, subtractions, multiplications, divisions and comparisons, one per element.
    pub flops: Dim,
    /// Exponentials and logarithms.
    pub functions: Dim,
    /// The bytes of the elements that are read and written, each element once.
    pub bytes: Dim,
}

impl Step {
    /// The cost of the step as part of `plan`.
    ///
    /// # Errors
    /// If a number overflows 64 bits.
    pub fn cost(&self, plan: &Plan) -> Result<Cost, Overflow> {
        let mut count =
            Count { plan, cost: Cost { flops: Dim::ZERO, functions: Dim::ZERO, bytes: Dim::ZERO } };
        count.step(self)?;
        Ok(count.cost)
    }
}

struct Count<'p> {
    plan: &'p Plan,
    cost: Cost,
}

impl Count<'_> {
    fn step(&mut self, step: &Step) -> Result<(), Overflow> {
        match step {
            Step::Scalar(step) => self.operation(step.op, &Dim::ONE),
            Step::Load { from, .. } => self.view(from),
            Step::Nest(nest) => self.nest(nest),
            Step::MatMul(product) => self.product(product),
            Step::Dot { operands, .. } => {
                for operand in operands {
                    self.flops(&operand.shape[0])?;
                    self.view(operand)?;
                }
                Ok(())
            }
            Step::Check { integers, .. } => self.integers(integers),
            Step::Call(call) => self.call(call),
            Step::Loop(of) => self.repeated(of),
            Step::Conv2d(convolution) => self.convolution(convolution),
            Step::Strips(strips) => self.strips(strips),
            Step::Update { from, to } => self.buffers([*from, *to]),
            Step::UpdateScalar { .. } | Step::Watch { .. } => Ok(()),
        }
    }

    /// Adds the cost of the body for each step. A loop without a limit counts as one step.
    fn repeated(&mut self, of: &LoopStep) -> Result<(), Overflow> {
        for step in &of.body.steps {
            self.add(&step.cost(&of.body)?, of.steps.as_ref().unwrap_or(&Dim::ONE))?;
        }
        Ok(())
    }

    fn call(&mut self, call: &KernelCall) -> Result<(), Overflow> {
        let types: Vec<_> = call.operands.iter().map(KernelOperand::ty).collect();
        let types: Vec<_> = types.iter().collect();
        self.flops(&(call.op.info().flops)(&call.op, &types, &call.ty)?)?;
        // A gather reads as many elements of the table as it writes.
        let table = call.operands.first().and_then(KernelOperand::buffer);
        let picks = matches!(&call.op, Op::Rows(rows) if !rows.adds());
        let read = |buffer: BufferId| if picks && Some(buffer) == table { call.result } else { buffer };
        self.buffers(call.buffers().map(read))
    }

    /// Adds the cost of all strips.
    fn strips(&mut self, strips: &Strips) -> Result<(), Overflow> {
        let (symbols, times) = strips.all_rows();
        let times = times?;
        let mut of_strip = Count {
            plan: self.plan,
            cost: Cost { flops: Dim::ZERO, functions: Dim::ZERO, bytes: Dim::ZERO },
        };
        strips.steps.iter().try_for_each(|step| of_strip.step(step))?;
        let Cost { flops, functions, bytes } = &of_strip.cost;
        let [flops, functions, bytes] = [flops, functions, bytes].map(|own| own.substitute(&symbols));
        self.add(&Cost { flops: flops?, functions: functions?, bytes: bytes? }, &times)
    }

    /// Adds a cost, multiplied by the number of its occurrences.
    fn add(&mut self, own: &Cost, times: &Dim) -> Result<(), Overflow> {
        let Cost { flops, functions, bytes } = &mut self.cost;
        for (all, own) in [(flops, &own.flops), (functions, &own.functions), (bytes, &own.bytes)] {
            *all = all.add(&own.mul(times)?)?;
        }
        Ok(())
    }

    fn nest(&mut self, nest: &Nest) -> Result<(), Overflow> {
        let (rows, elements) = (product(&nest.extents[..nest.row_axes])?, product(&nest.extents)?);
        for load in &nest.loads {
            self.view(load)?;
        }
        for pass in &nest.passes {
            self.nodes(&pass.elements, &elements)?;
            self.nodes(&pass.numbers, &rows)?;
            self.stores(&pass.stores)?;
            self.stores(&pass.row_stores)?;
            for (folds, times) in [(&pass.folds, &elements), (&pass.row_folds, &rows)] {
                for fold in folds {
                    self.flops(times)?;
                    match &fold.target {
                        Target::Memory(view) => self.view(view)?,
                        Target::Number(_) | Target::Total(_) => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn product(&mut self, matmul: &MatMul) -> Result<(), Overflow> {
        let sums = product(&matmul.batch)?.mul(&product(&matmul.extents)?)?;
        self.multiply_adds(&sums)?;
        self.view(&matmul.lhs)?;
        self.view(&matmul.rhs)?;
        self.finish(&matmul.finish)
    }

    fn convolution(&mut self, convolution: &Conv2d) -> Result<(), Overflow> {
        let pixels = product(&convolution.output[..3])?;
        self.multiply_adds(&pixels.mul(&product(&convolution.filter)?)?)?;
        self.buffers(convolution.operands)?;
        self.finish(&convolution.finish)
    }

    fn finish(&mut self, finish: &Finish) -> Result<(), Overflow> {
        for load in &finish.loads {
            self.view(load)?;
        }
        self.nodes(&finish.nodes, &product(&finish.extents)?)?;
        self.stores(&finish.stores)
    }

    fn nodes(&mut self, nodes: &[Node], times: &Dim) -> Result<(), Overflow> {
        nodes.iter().try_for_each(|node| self.operation(node.op, times))
    }

    fn operation(&mut self, op: Map, times: &Dim) -> Result<(), Overflow> {
        match op.row().cost {
            map::Cost::Free => Ok(()),
            map::Cost::Addition | map::Cost::Division => self.flops(times),
            map::Cost::Series => {
                self.cost.functions = self.cost.functions.add(times)?;
                Ok(())
            }
        }
    }

    fn flops(&mut self, times: &Dim) -> Result<(), Overflow> {
        self.cost.flops = self.cost.flops.add(times)?;
        Ok(())
    }

    fn multiply_adds(&mut self, times: &Dim) -> Result<(), Overflow> {
        self.flops(times)?;
        self.flops(times)
    }

    fn stores(&mut self, stores: &[Store]) -> Result<(), Overflow> {
        stores.iter().try_for_each(|store| self.view(&store.target))
    }

    /// Adds the bytes of a view. An axis of stride 0 is read once.
    fn view(&mut self, view: &View) -> Result<(), Overflow> {
        let Some(buffer) = view.buffer() else { return Ok(()) };
        let axes = view.shape.iter().zip(&view.strides);
        let mut distinct = axes.filter(|(_, stride)| **stride != Dim::ZERO).map(|(extent, _)| extent);
        let elements = distinct.try_fold(Dim::ONE, |elements, extent| elements.mul(extent))?;
        self.bytes(buffer, &elements)
    }

    fn integers(&mut self, integers: &Integers) -> Result<(), Overflow> {
        match integers {
            Integers::Buffer(buffer) => self.buffers([*buffer]),
            Integers::Scalar(..) => Ok(()),
        }
    }

    fn buffers(&mut self, buffers: impl IntoIterator<Item = BufferId>) -> Result<(), Overflow> {
        buffers.into_iter().try_for_each(|buffer| self.bytes(buffer, &self.elements(buffer)?))
    }

    fn elements(&self, buffer: BufferId) -> Result<Dim, Overflow> {
        product(&self.plan.buffers[buffer.0].ty.shape)
    }

    fn bytes(&mut self, buffer: BufferId, elements: &Dim) -> Result<(), Overflow> {
        let size = Dim::literal(self.plan.buffers[buffer.0].ty.dtype.bytes() as i64);
        self.cost.bytes = self.cost.bytes.add(&elements.mul(&size)?)?;
        Ok(())
    }
}

fn product(extents: &[Dim]) -> Result<Dim, Overflow> {
    Dim::product(extents)
}
