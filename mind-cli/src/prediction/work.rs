//! The work of the steps of a plan, as numbers.

use std::collections::BTreeMap;

use mind_core::{
    dim::{Bindings, Dim},
    ir::Op,
    loops::{self, Execution, LoweredNest},
    map,
    plan::{
        BufferId, Conv2d, Finish, Integers, KernelCall, KernelOperand, Location, LoopStep, MatMul, Nest,
        Node, Plan, Step, Store, Strips, Target, View,
    },
    ty::DType,
};
use mind_shape::loops::WORTH_SPLITTING;

use super::machine::Float;

/// A step of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum StepWork {
    /// A step that runs once.
    Once(Work),
    /// Steps that run this many times, one after the other.
    Repeated(f64, Vec<StepWork>),
    /// A function of Rust, whose work is unknown.
    Unknown,
}

/// The work of a step that runs once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// The arithmetic.
    pub arithmetic: Arithmetic,
    /// The memory that is read and written, each element once.
    pub traffic: Vec<Traffic>,
    /// How threads share the step.
    pub split: Split,
}

/// The arithmetic of a step, as numbers of operations. The fields are for `f32` and for `f64`; other element types count
/// as the one of their size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arithmetic {
    /// The number of additions and multiplications of elements.
    pub additions: [f64; 2],
    /// The number of divisions and roots of elements.
    pub divisions: [f64; 2],
    /// The number of exponentials and similar functions of elements.
    pub functions: [f64; 2],
    /// The number of elements that are added to sums.
    pub folds: [f64; 2],
    /// The number of sums that end.
    pub rows: [f64; 2],
    /// The bytes that loops read from and write to the first cache.
    pub bytes: f64,
    /// A product, or a convolution as one.
    pub product: Option<(Float, [f64; 3])>,
}

/// The bytes of one buffer that a step reads or writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// The first buffer at the place in memory.
    pub place: usize,
    pub bytes: f64,
    pub is_written: bool,
    /// The split by which every thread reads all of these bytes.
    pub read_by_all: Option<Parts>,
}

/// The parts into which threads split a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    Rows,
    Columns,
}

/// How threads share a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// The step cannot be split.
    #[default]
    Never,
    /// The step is too short for any number of threads.
    TooLittle,
    /// A fused loop.
    Loop { steps: usize, elements: usize, cost: usize, axis: Axis },
    /// A product of this many rows in total.
    Product { rows: usize, matrices: usize, k: usize, n: usize, may_pack_left: bool, is_stored: bool },
    /// A convolution of this many multiply-adds.
    Convolution { work: usize, rows: usize },
}

/// The kind of axis along which a fused loop is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Parts write to different memory.
    Rows,
    /// Parts compute totals, which are combined.
    Totals,
    /// Parts sum different columns.
    Columns,
}

/// The work of each step of a plan. Every symbol must have an extent.
pub fn of_plan(plan: &Plan, bindings: &Bindings) -> Vec<StepWork> {
    steps(plan, &plan.steps, bindings)
}

fn steps(plan: &Plan, steps: &[Step], bindings: &Bindings) -> Vec<StepWork> {
    steps.iter().map(|step| Counter { plan, bindings, work: Work::default() }.step(step)).collect()
}

struct Counter<'p> {
    plan: &'p Plan,
    bindings: &'p Bindings,
    work: Work,
}

impl Counter<'_> {
    fn step(mut self, step: &Step) -> StepWork {
        match step {
            // Numbers take no time worth counting.
            Step::Scalar(_) | Step::UpdateScalar { .. } => {}
            Step::Load { from, .. } => self.view(from, false),
            Step::Nest(nest) => self.nest(nest),
            Step::MatMul(product) => self.product(product),
            Step::Dot { operands, .. } => {
                let float = self.float_of(&operands[0]);
                self.work.arithmetic.folds[float as usize] += self.size(&operands[0].shape[0]);
                operands.iter().for_each(|operand| self.view(operand, false));
            }
            Step::Check { integers, .. } => match integers {
                Integers::Buffer(buffer) => self.buffer(*buffer, false),
                Integers::Scalar(..) => {}
            },
            Step::Call(call) if call.external().is_some() => return StepWork::Unknown,
            Step::Call(call) => self.call(call),
            Step::Loop(of) => return self.repeated(of),
            Step::Conv2d(convolution) => self.convolution(convolution),
            Step::Watch { argument, .. } => {
                argument.buffer().into_iter().for_each(|buffer| self.buffer(buffer, false));
            }
            Step::Strips(strips) => return self.strips(strips),
            Step::Update { from, to } => {
                self.buffer(*from, false);
                self.buffer(*to, true);
            }
        }
        StepWork::Once(self.work)
    }

    fn repeated(&self, of: &LoopStep) -> StepWork {
        let times = of.steps.as_ref().map_or(1.0, |steps| self.size(steps));
        StepWork::Repeated(times, of_plan(&of.body, self.bindings))
    }

    /// All strips count as long as the longest one.
    fn strips(&self, strips: &Strips) -> StepWork {
        let mut bindings = self.bindings.clone();
        bindings.extend(strips.longest());
        let outer: f64 = strips.outer.iter().map(|walk| self.size(&walk.extent)).product();
        let times = outer * self.size(&strips.cut.extent) / strips.most as f64;
        StepWork::Repeated(times.max(1.0), steps(self.plan, &strips.steps, &bindings))
    }

    fn nest(&mut self, nest: &Nest) {
        let all = |extents: &[Dim]| -> f64 { extents.iter().map(|extent| self.size(extent)).product() };
        let (rows, elements) = (all(&nest.extents[..nest.row_axes]), all(&nest.extents));
        nest.loads.iter().for_each(|load| self.view(load, false));
        for (position, pass) in nest.passes.iter().enumerate() {
            self.nodes(&pass.elements, elements);
            for (folds, times) in [(&pass.folds, elements), (&pass.row_folds, rows)] {
                for fold in folds {
                    let float = float(fold.dtype) as usize;
                    self.work.arithmetic.folds[float] += times;
                    match &fold.target {
                        Target::Number(_) => self.work.arithmetic.rows[float] += rows,
                        Target::Memory(view) => self.view(view, true),
                        Target::Total(_) => {}
                    }
                }
            }
            pass.stores.iter().chain(&pass.row_stores).for_each(|store| self.view(&store.target, true));
            if pass.elements.is_empty() && pass.folds.is_empty() && pass.stores.is_empty() {
                continue;
            }
            // Each pass reads its operands again, from the first cache. The first pass is part of the traffic.
            if position > 0 {
                let loads = nest.loads.iter().filter(|load| load.strides.last() != Some(&Dim::ZERO));
                let bytes: usize = loads.map(|load| self.float_of(load).bytes()).sum();
                self.work.arithmetic.bytes += bytes as f64 * elements;
            }
        }
        self.work.split = self.split_of(nest);
    }

    fn split_of(&self, nest: &Nest) -> Split {
        let whole = |dim: &Dim| self.size(dim) as usize;
        match loops::nest(self.plan, nest) {
            LoweredNest::Copied { .. } => Split::Loop {
                steps: whole(&nest.extents[0]),
                elements: nest.extents[1..].iter().map(whole).product(),
                cost: mind_shape::threads::COST_OF_COPY,
                axis: Axis::Rows,
            },
            LoweredNest::Looped(loops) => match &loops.run {
                Execution::Inline | Execution::Dispatched => {
                    let additions = nest.passes.iter().flat_map(|pass| &pass.elements);
                    let cost: usize = additions.map(|node| node.op.row().cost.additions()).sum();
                    let elements: f64 = nest.extents.iter().map(|extent| self.size(extent)).product();
                    let is_little = elements * (cost.max(1) as f64) < WORTH_SPLITTING as f64;
                    if is_little { Split::TooLittle } else { Split::Never }
                }
                Execution::Cut(cut) => Split::Loop {
                    steps: whole(&cut.steps),
                    elements: whole(&cut.elements),
                    cost: cut.cost,
                    axis: match (cut.axis, loops.totals.is_empty()) {
                        (0, true) => Axis::Rows,
                        (0, false) => Axis::Totals,
                        (_, _) => Axis::Columns,
                    },
                },
            },
        }
    }

    fn product(&mut self, product: &MatMul) {
        let MatMul { lhs, rhs, batch, extents, finish } = product;
        let [m, k, n] = [0, 1, 2].map(|axis| self.size(&extents[axis]));
        let matrices: f64 = batch.iter().map(|extent| self.size(extent)).product();
        self.work.arithmetic.product = Some((self.float_of(lhs), [m * matrices, k, n]));
        self.view(lhs, false);
        self.view(rhs, false);
        if matrices == 1.0 {
            self.read_by_all(lhs, Parts::Columns);
            self.read_by_all(rhs, Parts::Rows);
        }
        self.finish(finish);
        let column = lhs.strides.last().map_or(1.0, |stride| self.size(stride));
        self.work.split = match loops::product(self.plan, product) {
            loops::Product::Tiny(_) => Split::TooLittle,
            loops::Product::Kernel(_) => Split::Product {
                rows: (m * matrices) as usize,
                matrices: matrices as usize,
                k: k as usize,
                n: n as usize,
                may_pack_left: column != 1.0,
                is_stored: finish.nodes.is_empty(),
            },
        };
    }

    fn convolution(&mut self, convolution: &Conv2d) {
        let pixels: f64 = convolution.output[..3].iter().map(|extent| self.size(extent)).product();
        let filter: Vec<f64> = convolution.filter.iter().map(|extent| self.size(extent)).collect();
        let [sums, channels] = [filter[..3].iter().product(), filter[3]];
        let float = float(self.plan.buffers[convolution.operands[0].0].ty.dtype);
        self.work.arithmetic.product = Some((float, [pixels, sums, channels]));
        convolution.operands.iter().for_each(|operand| self.buffer(*operand, false));
        self.finish(&convolution.finish);
        self.work.split =
            Split::Convolution { work: (pixels * sums * channels) as usize, rows: pixels as usize };
    }

    fn call(&mut self, call: &KernelCall) {
        let types: Vec<_> = call.operands.iter().map(KernelOperand::ty).collect();
        let types: Vec<_> = types.iter().collect();
        if let Ok(flops) = (call.op.info().flops)(&call.op, &types, &call.ty) {
            self.work.arithmetic.additions[float(call.ty.dtype) as usize] += self.size(&flops);
        }
        // A gather reads as many elements of the table as it writes.
        let table = call.operands.first().and_then(KernelOperand::buffer);
        let picks = matches!(&call.op, Op::Rows(rows) if !rows.adds());
        for buffer in call.operands.iter().filter_map(KernelOperand::buffer) {
            let bytes =
                if picks && Some(buffer) == table { self.bytes(call.result) } else { self.bytes(buffer) };
            self.traffic(buffer, bytes, false);
        }
        self.buffer(call.result, true);
    }

    fn finish(&mut self, finish: &Finish) {
        let elements = self.size(&finish.extents[0]) * self.size(&finish.extents[1]);
        finish.loads.iter().for_each(|load| self.view(load, false));
        self.nodes(&finish.nodes, elements);
        finish.stores.iter().for_each(|Store { target, .. }| self.view(target, true));
    }

    fn nodes(&mut self, nodes: &[Node], times: f64) {
        for node in nodes {
            let float = float(node.dtype) as usize;
            let Arithmetic { additions, divisions, functions, .. } = &mut self.work.arithmetic;
            match node.op.row().cost {
                map::Cost::Free => {}
                map::Cost::Addition => additions[float] += times,
                map::Cost::Division => divisions[float] += times,
                map::Cost::Series => functions[float] += times,
            }
        }
    }

    fn float_of(&self, view: &View) -> Float {
        view.buffer().map_or(Float::F32, |buffer| float(self.plan.buffers[buffer.0].ty.dtype))
    }

    /// Adds the bytes of a view. An axis of stride 0 is read once.
    fn view(&mut self, view: &View, is_written: bool) {
        let Some(buffer) = view.buffer() else { return };
        let axes = view.shape.iter().zip(&view.strides);
        let distinct = axes.filter(|(_, stride)| **stride != Dim::ZERO);
        let elements: f64 = distinct.map(|(extent, _)| self.size(extent)).product();
        let bytes = self.plan.buffers[buffer.0].ty.dtype.bytes() as f64;
        self.traffic(buffer, elements * bytes, is_written);
    }

    fn buffer(&mut self, buffer: BufferId, is_written: bool) {
        self.traffic(buffer, self.bytes(buffer), is_written);
    }

    /// Adds bytes of a buffer. Bytes that a step reads several times count once.
    fn traffic(&mut self, buffer: BufferId, bytes: f64, is_written: bool) {
        let place = place(self.plan, buffer);
        let same = |traffic: &&mut Traffic| traffic.place == place && traffic.is_written == is_written;
        match self.work.traffic.iter_mut().find(same) {
            Some(known) => known.bytes = known.bytes.max(bytes),
            None => self.work.traffic.push(Traffic { place, bytes, is_written, read_by_all: None }),
        }
    }

    fn read_by_all(&mut self, view: &View, parts: Parts) {
        let place = view.buffer().map(|buffer| place(self.plan, buffer));
        let same = |traffic: &&mut Traffic| Some(traffic.place) == place && !traffic.is_written;
        self.work.traffic.iter_mut().filter(same).for_each(|traffic| traffic.read_by_all = Some(parts));
    }

    fn bytes(&self, buffer: BufferId) -> f64 {
        let ty = &self.plan.buffers[buffer.0].ty;
        ty.shape.iter().map(|extent| self.size(extent)).product::<f64>() * ty.dtype.bytes() as f64
    }

    /// The value of a dim. Numbers beyond 64 bits count as the largest one.
    fn size(&self, dim: &Dim) -> f64 {
        dim.evaluate(self.bindings).unwrap_or(i64::MAX) as f64
    }
}

/// The first buffer at the place of a buffer.
fn place(plan: &Plan, buffer: BufferId) -> usize {
    match &plan.buffers[buffer.0].place {
        Location::Part { of, .. } => place(plan, *of),
        Location::Arena { offset } => {
            let dtype = plan.buffers[buffer.0].ty.dtype;
            let is_same = |other: &mind_core::plan::Buffer| {
                matches!(&other.place, Location::Arena { offset: at } if at == offset)
                    && other.ty.dtype == dtype
            };
            plan.buffers.iter().position(is_same).unwrap_or(buffer.0)
        }
        own @ (Location::Input(_) | Location::Result(_)) => {
            plan.buffers.iter().position(|other| other.place == *own).unwrap_or(buffer.0)
        }
        Location::Constant(_) => buffer.0,
    }
}

/// The element type as which another one counts.
fn float(dtype: DType) -> Float {
    if dtype.bytes() > 4 { Float::F64 } else { Float::F32 }
}

/// For each access of the steps, in order, the number of bytes that are accessed since the last access to the same place.
/// The place is still in a cache that is larger than this number. The steps are assumed to run many times in a row.
pub fn distances(steps: &[&Work]) -> Vec<Vec<f64>> {
    let mut last: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
    let mut distances = Vec::new();
    // In the first round no place has been used before. The second round counts.
    for round in 0..2 {
        distances.clear();
        for (position, work) in steps.iter().enumerate() {
            let now = round * steps.len() + position;
            let distance = |traffic: &Traffic| {
                let Some((before, _)) = last.get(&traffic.place) else { return f64::INFINITY };
                let between = last.values().filter(|(used, _)| used >= before);
                between.map(|(_, bytes)| bytes).sum()
            };
            distances.push(work.traffic.iter().map(distance).collect());
            for Traffic { place, bytes, .. } in &work.traffic {
                let entry = last.entry(*place).or_insert((now, 0.0));
                *entry = (now, entry.1.max(*bytes));
            }
        }
    }
    distances
}
