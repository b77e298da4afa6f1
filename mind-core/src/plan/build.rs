//! Steps from instructions: views are followed, loops are fused, results and updates are placed.

use std::collections::HashSet;

use crate::{
    data::TensorData,
    dim::Dim,
    ir::{Inst, Module, Op, Reduction, ValueId},
    opt::Optimised,
    plan::{
        Buffer, BufferId, Conv2d, ConvKind, Finish, Fold, Indices, MatMul, Nest, Node, Operand, Parameter,
        Pass, Place, Plan, Returned, Scalar, ScalarOp, ScalarStep, Source, Step, Store, Target, Update, View,
        fuse::{Groups, iteration_shape},
        hazards::{direct_updates, feeds_indices},
        schedule, slots, view,
    },
    ty::{Shape, Type},
};

pub(super) fn build(module: &Optimised, updates: &[Update]) -> Plan {
    let mut planner = Planner::new(module, updates);
    for (value, inst) in module.iter() {
        planner.instruction(value, inst);
    }
    planner.finish(module, updates)
}

struct Planner<'m> {
    module: &'m Module,
    groups: Groups,
    /// Where each value is; nothing for what a loop computes on the way.
    views: Vec<Option<View>>,
    /// The result that a value is stored to directly.
    results: Vec<Option<usize>>,
    /// The input that a value is stored to directly.
    direct_updates: Vec<Option<usize>>,
    /// The buffer of each input of rank 1 or more.
    input_buffers: Vec<Option<BufferId>>,
    buffers: Vec<Buffer>,
    steps: Vec<Step>,
    /// Loops that overwrite inputs: they run after everything that reads those.
    late: Vec<Step>,
    checked: HashSet<(ValueId, Dim)>,
}

impl<'m> Planner<'m> {
    fn new(module: &'m Module, updates: &[Update]) -> Self {
        let groups = Groups::new(module);
        let count = module.insts().len();
        let mut results = vec![None; count];
        let feeds_indices = feeds_indices(module);
        let is_update = |output: usize| updates.iter().any(|update| update.output == output);
        let returned = (0..module.outputs().len()).filter(|output| !is_update(*output));
        for (result, output) in returned.enumerate() {
            let value = module.outputs()[output];
            if !feeds_indices[value.index()] && results[value.index()].is_none() {
                results[value.index()] = Some(result);
            }
        }
        let direct_updates = direct_updates(module, &groups, updates);
        Self {
            module,
            groups,
            views: vec![None; count],
            results,
            direct_updates,
            input_buffers: Vec::new(),
            buffers: Vec::new(),
            steps: Vec::new(),
            late: Vec::new(),
            checked: HashSet::new(),
        }
    }

    fn instruction(&mut self, value: ValueId, inst: &Inst) {
        let view = match &inst.op {
            Op::Input { .. } => self.input(value, &inst.ty),
            Op::ConstI64(number) => View::scalar(Scalar::Constant(vec![*number].into()), &inst.ty.shape),
            Op::ConstF32(number) => View::scalar(Scalar::Constant(vec![number.get()].into()), &inst.ty.shape),
            Op::ConstF64(number) => View::scalar(Scalar::Constant(vec![number.get()].into()), &inst.ty.shape),
            Op::ConstTensor { data, .. } => self.constant(value, data, &inst.ty),
            Op::Add => return self.elementwise(value, inst, ScalarOp::Add),
            Op::Sub => return self.elementwise(value, inst, ScalarOp::Sub),
            Op::Mul => return self.elementwise(value, inst, ScalarOp::Mul),
            Op::Div => return self.elementwise(value, inst, ScalarOp::Div),
            Op::Neg => return self.elementwise(value, inst, ScalarOp::Neg),
            Op::Exp => return self.elementwise(value, inst, ScalarOp::Exp),
            Op::Log => return self.elementwise(value, inst, ScalarOp::Log),
            Op::Relu => return self.elementwise(value, inst, ScalarOp::Relu),
            Op::ReluGrad => return self.elementwise(value, inst, ScalarOp::ReluGrad),
            Op::StopGradient => return self.elementwise(value, inst, ScalarOp::Copy),
            Op::Sum(reduction) => self.reduction(value, inst, reduction, None),
            Op::Mean(reduction) => {
                let operand = &self.module.ty(inst.operands[0]).shape;
                let extents = reduced_axes(operand, reduction).into_iter().zip(operand.iter());
                let count = extents.filter(|(reduced, _)| *reduced).map(|(_, extent)| extent.clone());
                let count = count.collect::<Shape>().element_count().expect("a part of a countable shape");
                self.reduction(value, inst, reduction, Some(count))
            }
            Op::Reshape { shape } => {
                let view = self.view(inst.operands[0]);
                view.reshape(shape).unwrap_or_else(|| {
                    let copy = self.materialise(&view, inst.operands[0]);
                    copy.reshape(shape).expect("a contiguous tensor reshapes in place")
                })
            }
            Op::Transpose { permutation } => self.view(inst.operands[0]).transpose(permutation),
            Op::ExpandDims { .. } | Op::Squeeze { .. } => {
                self.view(inst.operands[0]).insert_or_remove_ones(&inst.ty.shape)
            }
            Op::BroadcastTo { shape } => self.view(inst.operands[0]).broadcast(shape),
            Op::Index { indices } => self.view(inst.operands[0]).index(indices),
            Op::Slice(slice) => self.view(inst.operands[0]).slice(slice, &inst.ty.shape),
            Op::Gather => self.gather(value, inst),
            Op::Dot => self.dot(value, inst),
            Op::MatMul => self.matmul(value, inst),
            Op::Conv2d(convolution) => {
                let [input, filter] = self.operand_shapes(inst);
                let shapes = [input, filter, inst.ty.shape.clone()];
                self.conv2d(value, inst, ConvKind::Forward, convolution, shapes)
            }
            Op::Conv2dGradInput { shape, convolution } => {
                let [output, filter] = self.operand_shapes(inst);
                let shapes = [shape.clone(), filter, output];
                self.conv2d(value, inst, ConvKind::GradInput, convolution, shapes)
            }
            Op::Conv2dGradFilter { shape, convolution } => {
                let [input, output] = self.operand_shapes(inst);
                let shapes = [input, shape.clone(), output];
                self.conv2d(value, inst, ConvKind::GradFilter, convolution, shapes)
            }
            Op::SliceGrad { slice, .. } => {
                let updates = self.contiguous(inst.operands[0]);
                let result = self.result_buffer(value);
                let part = self.module.ty(inst.operands[0]).shape.clone();
                self.steps.push(Step::SliceGrad { updates, part, slice: (**slice).clone(), result });
                View::contiguous(result, &inst.ty.shape)
            }
            Op::ScatterAdd { .. } => {
                let indices = self.indices(value, inst.operands[0], &inst.ty.shape[0]);
                let updates = self.contiguous(inst.operands[1]);
                let result = self.result_buffer(value);
                self.steps.push(Step::ScatterAdd { indices, updates, row: row_len(&inst.ty.shape), result });
                View::contiguous(result, &inst.ty.shape)
            }
        };
        self.define(value, view);
    }

    /// Notes where a value is. A single number in memory is loaded, so that every value of rank 0 is a scalar.
    fn define(&mut self, value: ValueId, view: View) {
        let in_memory = matches!(view.source, Source::Buffer(_));
        let view = if in_memory && view.shape.rank() == 0 {
            self.steps.push(Step::Load { result: value, from: view });
            View::scalar(Scalar::Local(value), &Shape::scalar())
        } else {
            view
        };
        self.views[value.index()] = Some(view);
    }

    fn view(&self, value: ValueId) -> View {
        self.views[value.index()].clone().expect("what anything but its own loop reads is stored")
    }

    fn scalar_operand(&self, value: ValueId) -> Scalar {
        match self.view(value).source {
            Source::Scalar(scalar) => scalar,
            Source::Buffer(_) => unreachable!("every value of rank 0 is a scalar"),
        }
    }

    fn operand_shapes(&self, inst: &Inst) -> [Shape; 2] {
        [0, 1].map(|position| self.module.ty(inst.operands[position]).shape.clone())
    }

    fn add_buffer(&mut self, place: Place, ty: Type, value: ValueId) -> BufferId {
        self.buffers.push(Buffer { place, ty, value });
        BufferId(self.buffers.len() - 1)
    }

    /// A new buffer for a value: the caller's result or input if it goes there directly, else a temporary.
    fn result_buffer(&mut self, value: ValueId) -> BufferId {
        let place = self.results[value.index()].map_or(slots::UNASSIGNED, Place::Result);
        self.add_buffer(place, self.module.ty(value).clone(), value)
    }

    fn input(&mut self, value: ValueId, ty: &Type) -> View {
        let input = value.index();
        if ty.rank() == 0 {
            self.input_buffers.push(None);
            return View::scalar(Scalar::Input(input), &ty.shape);
        }
        let buffer = self.add_buffer(Place::Input(input), ty.clone(), value);
        self.input_buffers.push(Some(buffer));
        View::contiguous(buffer, &ty.shape)
    }

    fn constant(&mut self, value: ValueId, data: &TensorData, ty: &Type) -> View {
        if data.stored() == 1 {
            return View::scalar(Scalar::Constant(data.clone()), &ty.shape);
        }
        let buffer = self.add_buffer(Place::Constant(data.clone()), ty.clone(), value);
        View::contiguous(buffer, &ty.shape)
    }

    fn elementwise(&mut self, value: ValueId, inst: &Inst, op: ScalarOp) {
        if inst.ty.rank() == 0 {
            let operands = inst.operands.iter().map(|operand| self.scalar_operand(*operand)).collect();
            self.steps.push(Step::Scalar(ScalarStep { result: value, op, operands, dtype: inst.ty.dtype }));
            return self.define(value, View::scalar(Scalar::Local(value), &Shape::scalar()));
        }
        if self.groups.root(value) != Some(value) {
            return;
        }
        let (buffer, late) = match self.direct_updates[value.index()] {
            Some(input) => (self.input_buffers[input].expect("a direct update is of rank 1 or more"), true),
            None => (self.result_buffer(value), false),
        };
        let (loads, body) = self.body(value);
        let target = View::contiguous(buffer, &inst.ty.shape);
        let operand = Operand::Node(body.len() - 1);
        let step = Step::Nest(store_nest(&inst.ty.shape, loads, body, operand, target.clone()));
        if late {
            self.late.push(step)
        } else {
            self.steps.push(step)
        }
        self.define(value, target);
    }

    /// What the loop that ends in `root` reads and computes.
    fn body(&self, root: ValueId) -> (Vec<View>, Vec<Node>) {
        let shape = iteration_shape(self.module, root);
        let members = self.groups.members(root);
        let mut loads: Vec<View> = Vec::new();
        let mut body: Vec<Node> = Vec::new();
        let mut operand_of = |operand: ValueId, body: &[Node]| {
            if self.groups.root(operand) == Some(root) {
                let node = body.iter().rposition(|node| node.value == operand);
                return Operand::Node(node.expect("members come in order"));
            }
            let view = self.view(operand).broadcast(shape);
            if let Source::Scalar(scalar) = view.source {
                return Operand::Scalar(scalar);
            }
            let known = loads.iter().position(|load| *load == view);
            Operand::Load(known.unwrap_or_else(|| {
                loads.push(view);
                loads.len() - 1
            }))
        };
        for member in members {
            let inst = self.module.inst(*member);
            if let Some(op) = scalar_op(&inst.op) {
                let operands = inst.operands.iter().map(|operand| operand_of(*operand, &body)).collect();
                body.push(Node { op, operands, dtype: inst.ty.dtype, value: *member });
            } else if body.is_empty() || inst.operands[0] != body[body.len() - 1].value {
                // The reduction itself, of something computed elsewhere.
                let operands = vec![operand_of(inst.operands[0], &body)];
                body.push(Node {
                    op: ScalarOp::Copy,
                    operands,
                    dtype: inst.ty.dtype,
                    value: inst.operands[0],
                });
            }
        }
        (loads, body)
    }

    fn reduction(&mut self, value: ValueId, inst: &Inst, reduction: &Reduction, count: Option<Dim>) -> View {
        let operand = inst.operands[0];
        let shape = &self.module.ty(operand).shape;
        if shape.rank() == 0 {
            return self.view(operand);
        }
        let (mut loads, mut elements) = self.body(value);
        // The reduction of something computed elsewhere copies it; a sum reads it as well.
        let operand = match &elements[..] {
            [Node { op: ScalarOp::Copy, operands, .. }] => {
                let operand = operands[0].clone();
                elements.clear();
                operand
            }
            _ => Operand::Node(elements.len() - 1),
        };
        let dtype = inst.ty.dtype;
        let mut reduced = reduced_axes(shape, reduction);
        let mut extents = shape.to_vec();
        if inst.ty.rank() == 0 {
            let mut views: Vec<&mut View> = loads.iter_mut().collect();
            view::collapse(&mut extents, &mut views, &mut reduced);
            at_least_one_axis(&mut extents, &mut views, &mut reduced, true);
            let folds = vec![Fold { operand, count, dtype, target: Target::Total(value) }];
            let passes = vec![Pass { elements, folds, ..Pass::default() }];
            self.steps.push(Step::Nest(Nest { extents, row_axes: 0, loads, passes }));
            return View::scalar(Scalar::Local(value), &Shape::scalar());
        }
        let buffer = self.result_buffer(value);
        let result = View::contiguous(buffer, &inst.ty.shape);
        // The result seen in the operand's index space: stride 0 along what is summed.
        let mut kept = result.strides.iter();
        let strides = reduced.iter().map(|reduced| match (reduced, reduction.keepdims) {
            (true, true) => kept.next().map(|_| Dim::ZERO).expect("a kept axis for each own axis"),
            (true, false) => Dim::ZERO,
            (false, _) => kept.next().cloned().expect("a result axis for each kept axis"),
        });
        let mut target = View { strides: strides.collect(), shape: shape.clone(), ..result.clone() };
        let mut views: Vec<&mut View> = loads.iter_mut().chain([&mut target]).collect();
        view::collapse(&mut extents, &mut views, &mut reduced);
        at_least_one_axis(&mut extents, &mut views, &mut reduced, true);
        let mut pass = Pass { elements, ..Pass::default() };
        let row_axes = if reduced.last() == Some(&true) {
            let row_axes = reduced.iter().rposition(|reduced| !reduced).map_or(0, |kept| kept + 1);
            let number = Operand::Number(value);
            let own = Target::Number(value);
            if reduced[..row_axes].contains(&true) {
                pass.folds.push(Fold { operand, count: None, dtype, target: own });
                pass.row_folds.push(Fold { operand: number, count, dtype, target: Target::Memory(target) });
            } else {
                pass.folds.push(Fold { operand, count, dtype, target: own });
                pass.row_stores.push(Store { operand: number, target });
            }
            row_axes
        } else {
            pass.folds.push(Fold { operand, count, dtype, target: Target::Memory(target) });
            reduced.iter().rposition(|reduced| *reduced).map_or(0, |last| last + 1)
        };
        self.steps.push(Step::Nest(Nest { extents, row_axes, loads, passes: vec![pass] }));
        result
    }

    /// A contiguous copy in a temporary.
    fn materialise(&mut self, from: &View, value: ValueId) -> View {
        self.copy_to(from, value, slots::UNASSIGNED)
    }

    fn copy_to(&mut self, from: &View, value: ValueId, place: Place) -> View {
        let ty = Type::new(self.module.ty(value).dtype, from.shape.clone());
        let buffer = self.add_buffer(place, ty, value);
        let target = View::contiguous(buffer, &from.shape);
        let (loads, operand) = match &from.source {
            Source::Scalar(scalar) => (Vec::new(), Operand::Scalar(scalar.clone())),
            Source::Buffer(_) => (vec![from.clone()], Operand::Load(0)),
        };
        self.steps.push(Step::Nest(store_nest(&from.shape, loads, Vec::new(), operand, target.clone())));
        target
    }

    /// The view of a value, in memory.
    fn in_memory(&mut self, value: ValueId) -> View {
        let view = self.view(value);
        match view.source {
            Source::Buffer(_) => view,
            Source::Scalar(_) => self.materialise(&view, value),
        }
    }

    /// A buffer that holds a value in row-major order and nothing else.
    fn contiguous(&mut self, value: ValueId) -> BufferId {
        let view = self.view(value);
        let view =
            if view.is_contiguous() && self.covers(&view) { view } else { self.materialise(&view, value) };
        view.buffer().expect("a contiguous view is of memory")
    }

    /// Whether a contiguous view is of all of its buffer.
    fn covers(&self, view: &View) -> bool {
        let whole = view.buffer().map(|buffer| self.buffers[buffer.0].ty.shape.element_count());
        whole == Some(view.shape.element_count())
    }

    fn indices(&mut self, value: ValueId, operand: ValueId, extent: &Dim) -> Indices {
        let ty = self.module.ty(operand);
        let indices = if ty.rank() == 0 {
            Indices::Scalar(self.scalar_operand(operand), ty.dtype)
        } else {
            Indices::Buffer(self.contiguous(operand))
        };
        if self.checked.insert((operand, extent.clone())) {
            self.steps.push(Step::CheckIndices { indices: indices.clone(), extent: extent.clone(), value });
        }
        indices
    }

    fn gather(&mut self, value: ValueId, inst: &Inst) -> View {
        let table = inst.operands[0];
        let shape = self.module.ty(table).shape.clone();
        let indices = self.indices(value, inst.operands[1], &shape[0]);
        let table = self.contiguous(table);
        if inst.ty.rank() == 0 {
            // One element: a buffer of one, loaded where the view is defined.
            let buffer = self.add_buffer(slots::UNASSIGNED, inst.ty.clone(), value);
            self.steps.push(Step::Gather { table, indices, row: Dim::ONE, result: buffer });
            return View::contiguous(buffer, &inst.ty.shape);
        }
        let result = self.result_buffer(value);
        self.steps.push(Step::Gather { table, indices, row: row_len(&shape), result });
        View::contiguous(result, &inst.ty.shape)
    }

    fn dot(&mut self, value: ValueId, inst: &Inst) -> View {
        let [lhs, rhs] = [0, 1].map(|position| self.in_memory(inst.operands[position]));
        if inst.ty.rank() == 0 {
            self.steps.push(Step::Dot { result: value, operands: [lhs, rhs] });
            return View::scalar(Scalar::Local(value), &Shape::scalar());
        }
        let as_row = |view: View| {
            let shape: Shape = [Dim::ONE].into_iter().chain(view.shape.iter().cloned()).collect();
            view.insert_or_remove_ones(&shape)
        };
        let as_column = |view: View| {
            let shape: Shape = view.shape.iter().cloned().chain([Dim::ONE]).collect();
            view.insert_or_remove_ones(&shape)
        };
        let lhs = if lhs.shape.rank() == 1 { as_row(lhs) } else { lhs };
        let rhs = if rhs.shape.rank() == 1 { as_column(rhs) } else { rhs };
        self.push_matmul(value, inst, lhs, rhs, Vec::new())
    }

    fn matmul(&mut self, value: ValueId, inst: &Inst) -> View {
        let [lhs, rhs] = [0, 1].map(|position| self.in_memory(inst.operands[position]));
        let batch = inst.ty.shape[..inst.ty.rank() - 2].to_vec();
        let batched = |view: &View| {
            let matrix = view.shape[view.shape.rank() - 2..].iter();
            view.broadcast(&batch.iter().chain(matrix).cloned().collect())
        };
        let (lhs, rhs) = (batched(&lhs), batched(&rhs));
        self.push_matmul(value, inst, lhs, rhs, batch)
    }

    fn push_matmul(&mut self, value: ValueId, inst: &Inst, lhs: View, rhs: View, batch: Vec<Dim>) -> View {
        let rank = lhs.shape.rank();
        let extents = [lhs.shape[rank - 2].clone(), lhs.shape[rank - 1].clone(), rhs.shape[rank - 1].clone()];
        let result = self.result_buffer(value);
        let rows = batch.iter().chain([&extents[0]]).cloned().collect();
        let finish = stored_as_it_is(result, &rows, &extents[2]);
        self.steps.push(Step::MatMul(MatMul { lhs, rhs, batch, extents, finish }));
        View::contiguous(result, &inst.ty.shape)
    }

    fn conv2d(
        &mut self,
        value: ValueId,
        inst: &Inst,
        kind: ConvKind,
        convolution: &crate::ir::Convolution,
        [input, filter, output]: [Shape; 3],
    ) -> View {
        let operands = [0, 1].map(|position| self.contiguous(inst.operands[position]));
        let result = self.result_buffer(value);
        let convolution = convolution.clone();
        let rows = Shape::from_slice(&inst.ty.shape[..3]);
        let finish = stored_as_it_is(result, &rows, &inst.ty.shape[3]);
        self.steps.push(Step::Conv2d(Conv2d { kind, convolution, input, filter, output, operands, finish }));
        View::contiguous(result, &inst.ty.shape)
    }

    /// Brings results and updates to their places, orders the steps and gives temporaries their memory.
    fn finish(mut self, module: &Optimised, updates: &[Update]) -> Plan {
        let (mut results, mut returned, mut last) = (Vec::new(), Vec::new(), Vec::new());
        let updated_inputs: Vec<usize> = updates.iter().map(|update| update.input).collect();
        for (output, &value) in self.module.outputs().iter().enumerate() {
            let ty = self.module.ty(value);
            if let Some(update) = updates.iter().find(|update| update.output == output) {
                if self.direct_updates[value.index()].is_none() {
                    last.push(self.update(value, update.input, &updated_inputs));
                }
                continue;
            }
            let view = self.view(value);
            returned.push(match &view.source {
                Source::Scalar(scalar) if ty.rank() == 0 => Returned::Scalar(scalar.clone()),
                Source::Scalar(_) | Source::Buffer(_) => {
                    Returned::Buffer(self.deliver(value, &view, results.len()))
                }
            });
            results.push(ty.clone());
        }
        let mut steps = schedule::checks_first(self.steps);
        steps.append(&mut self.late);
        steps.append(&mut last);
        let slots = slots::assign(&mut self.buffers, &steps);
        let inputs = self.module.inputs().enumerate().map(|(position, (name, ty))| Parameter {
            name: name.clone(),
            ty: ty.clone(),
            updated: updated_inputs.contains(&position),
        });
        Plan {
            inputs: inputs.collect(),
            results,
            returned,
            symbols: module.symbols(),
            requirements: module.requirements().to_vec(),
            buffers: self.buffers,
            slots,
            steps,
        }
    }

    /// The buffer of a result: the one a step stored to, or a copy.
    fn deliver(&mut self, value: ValueId, view: &View, result: usize) -> BufferId {
        if let Some(buffer) = view.buffer()
            && self.buffers[buffer.0].place == Place::Result(result)
            && view.is_contiguous()
            && self.covers(view)
        {
            return buffer;
        }
        self.copy_to(view, value, Place::Result(result)).buffer().expect("a copy is in memory")
    }

    /// The step that stores a value into the input it updates, after everything has read the input.
    fn update(&mut self, value: ValueId, input: usize, updated_inputs: &[usize]) -> Step {
        let view = self.view(value);
        let Some(to) = self.input_buffers[input] else {
            return Step::UpdateScalar { from: self.scalar_operand(value), input };
        };
        let overwritten = view.buffer().is_some_and(|buffer| match &self.buffers[buffer.0].place {
            Place::Input(other) => updated_inputs.contains(other),
            Place::Result(_) | Place::Slot(_) | Place::Constant(_) => false,
        });
        let usable = view.is_contiguous() && self.covers(&view) && !overwritten;
        let view = if usable { view } else { self.materialise(&view, value) };
        Step::Update { from: view.buffer().expect("a contiguous view is of memory"), to }
    }
}

fn store_nest(
    shape: &Shape,
    mut loads: Vec<View>,
    elements: Vec<Node>,
    operand: Operand,
    mut target: View,
) -> Nest {
    let mut extents = shape.to_vec();
    let mut flags = vec![false; extents.len()];
    let mut views: Vec<&mut View> = loads.iter_mut().chain([&mut target]).collect();
    view::collapse(&mut extents, &mut views, &mut flags);
    at_least_one_axis(&mut extents, &mut views, &mut flags, false);
    let row_axes = extents.len() - 1;
    let pass = Pass { elements, stores: vec![Store { operand, target }], ..Pass::default() };
    Nest { extents, row_axes, loads, passes: vec![pass] }
}

/// A product or convolution with these axes of rows is stored to a contiguous buffer and nothing else.
fn stored_as_it_is(result: BufferId, rows: &Shape, columns: &Dim) -> Finish {
    let rows = rows.element_count().expect("a part of a countable shape");
    let extents = [rows, columns.clone()];
    let target = View::contiguous(result, &Shape::from_slice(&extents));
    Finish {
        extents,
        loads: Vec::new(),
        nodes: Vec::new(),
        stores: vec![Store { operand: Operand::Sum, target }],
    }
}

/// A loop over a single index has one axis of extent 1; a sum has at least one axis that is summed.
fn at_least_one_axis(extents: &mut Vec<Dim>, views: &mut [&mut View], flags: &mut Vec<bool>, flag: bool) {
    if extents.is_empty() || (flag && !flags.contains(&true)) {
        extents.push(Dim::ONE);
        flags.push(flag);
        for view in views {
            view.strides.push(Dim::ZERO);
            view.shape = Shape::new(extents.clone());
        }
    }
}

fn reduced_axes(shape: &Shape, reduction: &Reduction) -> Vec<bool> {
    let every = reduction.axes.is_empty();
    (0..shape.rank()).map(|axis| every || reduction.axes.contains(&(axis as i64))).collect()
}

fn row_len(shape: &Shape) -> Dim {
    Shape::new(shape[1..].to_vec()).element_count().expect("a part of a countable shape")
}

/// What a loop does for an operation; nothing for those that are not elementwise.
pub(super) fn scalar_op(op: &Op) -> Option<ScalarOp> {
    match op {
        Op::Add => Some(ScalarOp::Add),
        Op::Sub => Some(ScalarOp::Sub),
        Op::Mul => Some(ScalarOp::Mul),
        Op::Div => Some(ScalarOp::Div),
        Op::Neg => Some(ScalarOp::Neg),
        Op::Exp => Some(ScalarOp::Exp),
        Op::Log => Some(ScalarOp::Log),
        Op::Relu => Some(ScalarOp::Relu),
        Op::ReluGrad => Some(ScalarOp::ReluGrad),
        Op::StopGradient => Some(ScalarOp::Copy),
        Op::Input { .. }
        | Op::ConstI64(_)
        | Op::ConstF32(_)
        | Op::ConstF64(_)
        | Op::ConstTensor { .. }
        | Op::Sum(_)
        | Op::Mean(_)
        | Op::Reshape { .. }
        | Op::Transpose { .. }
        | Op::ExpandDims { .. }
        | Op::Squeeze { .. }
        | Op::Index { .. }
        | Op::Slice(_)
        | Op::Gather
        | Op::Dot
        | Op::MatMul
        | Op::Conv2d(_)
        | Op::BroadcastTo { .. }
        | Op::SliceGrad { .. }
        | Op::ScatterAdd { .. }
        | Op::Conv2dGradInput { .. }
        | Op::Conv2dGradFilter { .. } => None,
    }
}
