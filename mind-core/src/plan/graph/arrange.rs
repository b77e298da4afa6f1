//! Converts instructions to items. Views are resolved, and values that cannot be views are copied.

mod loops;
mod reading;
mod watched;

use std::collections::HashMap;

use super::{Conv, Delivery, Graph, Item, ItemId, ItemOperand, LoopWork, Work, without_ones};
use crate::{
    data::TensorData,
    dim::{Dim, Symbol},
    ir::{Const, Convolution, Inst, Made, Module, Nesting, Op, Own, Product, Reduction, ValueId, Window},
    map::{self, Map},
    ops::{Motion, position},
    opt::Optimised,
    plan::{BufferId, Condition, ConvKind, Plan, Scalar, Source, Update, View, Watch, Watching},
    reduce::Row,
    ty::{DType, Shape, Type},
};

use loops::passed;
use reading::{heads, masks, matrices_transposed, read_transposed};
use watched::may_be_nan;

const FIRST: &str = "the first place of a tensor is 0";
const COUNTABLE: &str = "a part of a countable shape";

pub(super) fn arrange(
    module: &Optimised,
    updates: &[Update],
    watching: Watching,
    plan_of: &dyn Fn(&Optimised, &[Update]) -> Plan,
) -> Graph {
    let mut arranger = Arranger::new(module, plan_of);
    let is_computed = computed(module, &arranger.heads);
    for (value, inst) in module.iter() {
        if !is_computed[value.index()] {
            let unread = Scalar::Constant(TensorData::splat(inst.ty.dtype, 0.0));
            arranger.views.push(View::scalar(unread, &inst.ty.shape));
            continue;
        }
        let view = arranger.instruction(value, inst);
        // Every value of rank 0 is a scalar.
        let view = if inst.ty.rank() == 0 { arranger.loaded(value, view, inst.ty.dtype) } else { view };
        arranger.views.push(view);
        if watching == Watching::Nan && may_be_nan(inst) {
            arranger.search(value, inst);
        }
    }
    arranger.finish(updates)
}

struct Arranger<'m> {
    module: &'m Module,
    items: Vec<Item>,
    /// The view of each value.
    views: Vec<View>,
    /// For each value of rank 0, the item that computes it.
    numbers: HashMap<ValueId, ItemId>,
    /// For each value, the value that a mask may read instead.
    masks: Vec<ValueId>,
    /// Whether each product is only read with rows and columns swapped. It is then stored with them swapped.
    is_read_transposed: Vec<bool>,
    /// For each value that is the first elements of a sort, the sort. It is not computed apart.
    heads: Vec<Option<ValueId>>,
    /// Contiguous copies of values.
    copies: HashMap<ValueId, ItemId>,
    /// The items that store positions, by their number.
    positions: Vec<(Dim, ItemId)>,
    checks: HashMap<(ValueId, Condition), ItemId>,
    /// The last item so far that watches a value.
    watched: Option<ItemId>,
    /// The results of each loop after the first.
    further: HashMap<ValueId, Vec<View>>,
    symbols: Vec<Symbol>,
    /// Plans the body of a loop.
    plan_of: &'m dyn Fn(&Optimised, &[Update]) -> Plan,
}

impl<'m> Arranger<'m> {
    fn new(module: &'m Optimised, plan_of: &'m dyn Fn(&Optimised, &[Update]) -> Plan) -> Self {
        let count = module.insts().len();
        Self {
            symbols: module.symbols(),
            plan_of,
            further: HashMap::new(),
            module,
            items: Vec::with_capacity(count),
            views: Vec::with_capacity(count),
            numbers: HashMap::new(),
            masks: masks(module),
            is_read_transposed: read_transposed(module),
            heads: heads(module),
            copies: HashMap::new(),
            positions: Vec::new(),
            checks: HashMap::new(),
            watched: None,
        }
    }

    fn instruction(&mut self, value: ValueId, inst: &Inst) -> View {
        let shape = &inst.ty.shape;
        match &inst.op {
            Op::Input { .. } if shape.rank() == 0 => View::scalar(Scalar::Input(value.index()), shape),
            Op::Input { .. } => self.whole(value, Work::Input(value.index()), Vec::new(), &inst.ty),
            Op::Const(constant) => match (constant, constant.data()) {
                (Const::Count { shape: of, dtype }, None) => {
                    let count = of.element_count().expect(COUNTABLE);
                    View::scalar(Scalar::Count { count, dtype: *dtype }, shape)
                }
                (_, data) => {
                    let data = data.expect("the elements of all other constants are known");
                    match data.stored() {
                        1 => View::scalar(Scalar::Constant(data), shape),
                        _ => self.whole(value, Work::Constant(data), Vec::new(), &inst.ty),
                    }
                }
            },
            Op::Made(Made::Iota { axis, .. }) => positions(&inst.ty.shape, position(*axis)),
            Op::Map(map) if map.row().is_identity() => self.views[inst.operands[0].index()].clone(),
            Op::Map(map) => self.elementwise(value, inst, *map),
            Op::Reduce(reduce, reduction) => self.fold(value, inst, reduction, reduce.row()),
            Op::Arrange(arrange) => self.moved(value, inst, &arrange.motion()),
            Op::Part(part) => match self.heads[value.index()] {
                Some(sort) => {
                    self.call(value, &Inst { ty: inst.ty.clone(), ..self.module.inst(sort).clone() })
                }
                None => self.moved(value, inst, &part.motion()),
            },
            Op::Rows(rows) => {
                let operands: Vec<&Type> =
                    inst.operands.iter().map(|operand| self.module.ty(*operand)).collect();
                let extent = rows.extent_of_indices(&operands, &inst.ty).expect(COUNTABLE);
                let check = self.check_of_indices(value, inst.operands[rows.indices()], extent);
                let view = self.call(value, inst);
                self.needs(&view, check);
                view
            }
            Op::Product(Product::Dot) => self.dot(value, inst),
            Op::Product(Product::MatMul) => self.matmul(value, inst),
            Op::Fourier(_) | Op::Pool(_) => self.call(value, inst),
            Op::Window(Window::Conv2d(convolution)) => {
                let [input, filter] = self.operand_shapes(inst);
                let shapes = [input, filter, shape.clone()];
                self.conv2d(value, inst, ConvKind::Forward, convolution, shapes)
            }
            Op::Window(Window::Conv2dGradInput { shape, convolution }) => {
                let [output, filter] = self.operand_shapes(inst);
                let shapes = [shape.clone(), filter, output];
                self.conv2d(value, inst, ConvKind::GradInput, convolution, shapes)
            }
            Op::Window(Window::Conv2dGradFilter { shape, convolution }) => {
                let [input, output] = self.operand_shapes(inst);
                let shapes = [input, shape.clone(), output];
                self.conv2d(value, inst, ConvKind::GradFilter, convolution, shapes)
            }
            Op::Effect(effect) => {
                self.watch(inst.operands[0], Watch::Show(effect.label().clone()));
                self.view(inst.operands[0])
            }
            Op::Own(Own::Nesting(Nesting::Scan(scan))) => self.scan(value, inst, scan),
            Op::Own(Own::Nesting(Nesting::Result { position: at })) => {
                self.further[&inst.operands[0]][position(*at) - 1].clone()
            }
            Op::Own(Own::Nesting(Nesting::Call(_) | Nesting::Pullback(_))) => {
                unreachable!("an optimised module has no calls, and nothing for derivatives alone")
            }
            _ => self.call(value, inst),
        }
    }

    /// The same view of memory, for a reader that is no elementwise function: positions are stored.
    fn stored(&mut self, value: ValueId, view: View) -> View {
        let Source::Positions(count) = &view.source else { return view };
        let known = self.positions.iter().find(|(known, _)| known == count).map(|(_, item)| *item);
        let item = known.unwrap_or_else(|| {
            let ty = Type::new(DType::I64, Shape::from_slice(std::slice::from_ref(count)));
            let op = Op::Made(Made::Iota { shape: ty.shape.to_vec(), axis: 0 });
            let work = Work::Call { op, operands: Vec::new(), ty: ty.clone() };
            let item = self.push(value, work, Vec::new(), ty, Vec::new());
            self.positions.push((count.clone(), item));
            item
        });
        view.of(BufferId(item))
    }

    /// A view of the operand's elements, or of a copy of them if there is no such view.
    fn moved(&mut self, value: ValueId, inst: &Inst, motion: &Motion<'_>) -> View {
        let (operand, shape) = (inst.operands[0], &inst.ty.shape);
        match motion {
            Motion::Order => self.part(operand, |view| view.reshape(shape)),
            Motion::Axes(permutation) => self.view(operand).transpose(permutation),
            Motion::Repeat => self.view(operand).broadcast(shape),
            Motion::At(indices) => self.part(operand, |view| view.index(indices)),
            Motion::Taken(slice) => self.part(operand, |view| view.slice(slice, shape)),
            Motion::Windows(windows) => self.part(operand, |view| view.windows(windows, shape)),
            Motion::Put(_) | Motion::Added(_) => self.call(value, inst),
        }
    }

    fn view(&self, value: ValueId) -> View {
        self.views[value.index()].clone()
    }

    fn operand_shapes(&self, inst: &Inst) -> [Shape; 2] {
        [0, 1].map(|position| self.module.ty(inst.operands[position]).shape.clone())
    }

    fn push(
        &mut self,
        value: ValueId,
        work: Work,
        reads: Vec<ItemOperand>,
        ty: Type,
        space: Vec<Dim>,
    ) -> ItemId {
        let mut needs: Vec<ItemId> = Vec::new();
        for read in &reads {
            let item = match read {
                ItemOperand::Scalar(Scalar::Local(value)) => self.numbers.get(value).copied(),
                ItemOperand::Scalar(Scalar::Constant(_) | Scalar::Input(_) | Scalar::Count { .. })
                | ItemOperand::View(_) => read.item(),
            };
            if let Some(item) = item
                && !needs.contains(&item)
            {
                needs.push(item);
            }
        }
        let (dtype, shape) = (ty.dtype, ty.shape);
        let of = match &self.module.inst(value).op {
            Op::Map(map) => self.module.ty(self.module.inst(value).operands[map.row().leading()]).dtype,
            _ => dtype,
        };
        self.items.push(Item { value, dtype, of, shape, work, reads, needs, space, feeds_check: false });
        self.items.len() - 1
    }

    /// Adds an item that is a tensor. Returns a view of all of it.
    fn whole(&mut self, value: ValueId, work: Work, reads: Vec<ItemOperand>, ty: &Type) -> View {
        let item = self.push(value, work, reads, ty.clone(), Vec::new());
        View::contiguous(BufferId(item), &ty.shape)
    }

    /// Adds an item that is a scalar.
    fn number(
        &mut self,
        value: ValueId,
        work: Work,
        reads: Vec<ItemOperand>,
        dtype: DType,
        space: Vec<Dim>,
    ) -> View {
        let item = self.push(value, work, reads, Type::scalar(dtype), space);
        self.numbers.insert(value, item);
        View::scalar(Scalar::Local(value), &Shape::scalar())
    }

    /// Converts a view of rank 0 to a scalar.
    fn loaded(&mut self, value: ValueId, view: View, dtype: DType) -> View {
        let view = self.stored(value, view);
        match view.source {
            Source::Scalar(_) => view,
            Source::Buffer(_) | Source::Positions(_) => {
                self.number(value, Work::Load, vec![ItemOperand::View(view)], dtype, Vec::new())
            }
        }
    }

    fn elementwise(&mut self, value: ValueId, inst: &Inst, op: Map) -> View {
        let shape = &inst.ty.shape;
        let operand = |position: usize| {
            let operand = inst.operands[position];
            let mask = Some(self.masks[operand.index()]).filter(|mask| *mask < value);
            mask.filter(|_| op.row().mask == Some(position)).unwrap_or(operand)
        };
        let operands: Vec<ValueId> = (0..inst.operands.len()).map(operand).collect();
        let reads = operands.into_iter().map(|operand| read(&self.repeated(operand, shape)));
        let reads: Vec<ItemOperand> = reads.collect();
        let check = self.check_of_divisors(value, inst, op.row());
        let view = if shape.rank() == 0 {
            self.number(value, Work::Scalar(op), reads, inst.ty.dtype, Vec::new())
        } else {
            let item = self.push(value, Work::Elementwise(op), reads, inst.ty.clone(), without_ones(shape));
            View::contiguous(BufferId(item), shape)
        };
        let made = self.items.last_mut().expect("an item was just made");
        made.needs.extend(check);
        view
    }

    /// A value at every index of a shape. A value that is cheap to compute from smaller tensors, such as a mask of
    /// positions, is computed at each index. Reading it would load more elements than its operands have.
    fn repeated(&mut self, value: ValueId, shape: &Shape) -> View {
        let view = self.view(value).broadcast(shape);
        let inst = self.module.inst(value);
        let Op::Map(map) = inst.op else { return view };
        let is_smaller = |view: &View| {
            let mut axes = view.shape.iter().zip(&view.strides);
            axes.any(|(extent, stride)| !extent.is_one() && *stride == Dim::ZERO)
        };
        let operands: Vec<View> =
            inst.operands.iter().map(|operand| self.view(*operand).broadcast(&inst.ty.shape)).collect();
        let is_made_here = view.buffer().is_some_and(|BufferId(item)| self.items[item].value == value);
        let is_cheap = !map.row().cost.is_worth_keeping();
        if !(is_made_here && is_cheap && is_smaller(&view) && operands.iter().all(is_smaller)) {
            return view;
        }
        let reads = operands.iter().map(|operand| read(&operand.broadcast(shape))).collect();
        let ty = inst.ty.with_shape(shape.clone());
        let item = self.push(value, Work::Elementwise(map), reads, ty, without_ones(shape));
        View::contiguous(BufferId(item), shape)
    }

    fn fold(&mut self, value: ValueId, inst: &Inst, reduction: &Reduction, row: &Row) -> View {
        let operand = self.view(inst.operands[0]);
        let operand = self.stored(inst.operands[0], operand);
        let every = reduction.axes.is_empty();
        let marked = |axis: usize| every || reduction.axes.contains(&(axis as i64));
        let axes = || operand.shape.iter().enumerate().filter(|(_, extent)| !extent.is_one());
        let reduced: Vec<bool> = axes().map(|(axis, _)| marked(axis)).collect();
        if !reduced.contains(&true) {
            // Each fold is of one element.
            let view = operand.insert_or_remove_ones(&inst.ty.shape);
            return view;
        }
        let count = axes().filter(|(axis, _)| marked(*axis)).map(|(_, extent)| extent.clone());
        let count = row.divides.then(|| count.collect::<Shape>().element_count().expect(COUNTABLE));
        let work = Work::Fold { monoid: row.monoid, reduced, count };
        let (space, reads) = (without_ones(&operand.shape), vec![read(&operand)]);
        if inst.ty.rank() == 0 {
            return self.number(value, work, reads, inst.ty.dtype, space);
        }
        let item = self.push(value, work, reads, inst.ty.clone(), space);
        View::contiguous(BufferId(item), &inst.ty.shape)
    }

    /// A view of a value's elements, or of a copy of them if there is no such view.
    fn part(&mut self, value: ValueId, view_of: impl Fn(&View) -> Option<View>) -> View {
        let view = self.view(value);
        view_of(&view).unwrap_or_else(|| {
            let copy = self.copied(value, &view);
            view_of(&copy).expect("inference sees to it that a contiguous tensor has this view")
        })
    }

    /// A contiguous copy of a view of a value.
    fn copied(&mut self, value: ValueId, view: &View) -> View {
        let view = &self.stored(value, view.clone());
        let known = self.copies.get(&value).copied();
        let item = known.unwrap_or_else(|| {
            let ty = Type::new(self.module.ty(value).dtype, view.shape.clone());
            let space = without_ones(&view.shape);
            let item = self.push(value, Work::Copy, vec![read(view)], ty, space);
            self.copies.insert(value, item);
            item
        });
        View::contiguous(BufferId(item), &view.shape)
    }

    /// A view of a value in memory.
    fn in_memory(&mut self, value: ValueId) -> View {
        let view = self.view(value);
        let view = self.stored(value, view);
        match view.source {
            Source::Buffer(_) => view,
            Source::Scalar(_) | Source::Positions(_) => self.copied(value, &view),
        }
    }

    /// Reads a value in row-major order, as the whole of an item.
    fn contiguous(&mut self, value: ValueId) -> ItemOperand {
        let view = self.view(value);
        let view = self.stored(value, view);
        ItemOperand::View(if self.is_whole(&view) { view } else { self.copied(value, &view) })
    }

    /// Whether a view is of all of an item in order.
    fn is_whole(&self, view: &View) -> bool {
        view.buffer().is_some_and(|item| {
            view.is_contiguous() && self.items[item.0].shape.element_count() == view.shape.element_count()
        })
    }

    /// The check that indices are within an extent.
    fn check_of_indices(&mut self, value: ValueId, operand: ValueId, extent: Dim) -> ItemId {
        let indices = self.argument(operand);
        self.check(value, operand, &indices, Condition::BeBelow(extent))
    }

    /// A value as kernels take it: a scalar, or contiguous elements.
    fn argument(&mut self, value: ValueId) -> ItemOperand {
        if self.module.ty(value).rank() == 0 { read(&self.view(value)) } else { self.contiguous(value) }
    }

    /// The check of the integers of an operand.
    fn check(&mut self, value: ValueId, operand: ValueId, integers: &ItemOperand, must: Condition) -> ItemId {
        let key = (operand, must.clone());
        if let Some(known) = self.checks.get(&key) {
            return *known;
        }
        let dtype = self.module.ty(operand).dtype;
        let work = Work::Check { must, dtype };
        let check = self.push(value, work, vec![integers.clone()], Type::scalar(dtype), Vec::new());
        self.checks.insert(key, check);
        check
    }

    /// The check that must precede a division of integers, unless the divisor is known not to be 0.
    fn check_of_divisors(&mut self, value: ValueId, inst: &Inst, row: &map::Row) -> Option<ItemId> {
        let divisor = inst.operands[row.pole?];
        let ty = self.module.ty(divisor);
        // An element count is above 0.
        let has_no_zero = |known: &Const| known.data().is_none_or(|known| !known.has_zero_integer());
        let is_known = matches!(&self.module.inst(divisor).op, Op::Const(known) if has_no_zero(known));
        if is_known || !ty.dtype.is_integer() {
            return None;
        }
        let divisors = self.argument(divisor);
        Some(self.check(value, divisor, &divisors, Condition::Divide))
    }

    fn needs(&mut self, view: &View, before: ItemId) {
        let item = view.buffer().expect("the view was just stored");
        self.items[item.0].needs.push(before);
    }

    /// The result of a kernel called on the operands. A scalar is stored as one element and loaded from there.
    fn call(&mut self, value: ValueId, inst: &Inst) -> View {
        let reads = inst.operands.iter().map(|operand| self.argument(*operand)).collect();
        let operands = inst.operands.iter().map(|operand| self.module.ty(*operand).clone()).collect();
        let work = Work::Call { op: inst.op.clone(), operands, ty: inst.ty.clone() };
        let stored = if inst.ty.rank() == 0 { Shape::literal(&[1]) } else { inst.ty.shape.clone() };
        let view = self.whole(value, work, reads, &inst.ty.with_shape(stored));
        if inst.ty.rank() == 0 { view.index(&[Dim::ZERO]).expect(FIRST) } else { view }
    }

    fn dot(&mut self, value: ValueId, inst: &Inst) -> View {
        let [lhs, rhs] = [0, 1].map(|position| self.in_memory(inst.operands[position]));
        if inst.ty.rank() == 0 {
            let reads = vec![ItemOperand::View(lhs), ItemOperand::View(rhs)];
            return self.number(value, Work::Dot, reads, inst.ty.dtype, Vec::new());
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
        self.product(value, inst, lhs, rhs, Vec::new())
    }

    fn matmul(&mut self, value: ValueId, inst: &Inst) -> View {
        let [lhs, rhs] = [0, 1].map(|position| self.matrices(inst.operands[position]));
        let batch = inst.ty.shape[..inst.ty.rank() - 2].to_vec();
        let batched = |view: &View| {
            let matrix = view.shape[view.shape.rank() - 2..].iter();
            view.broadcast(&batch.iter().chain(matrix).cloned().collect())
        };
        let (lhs, rhs) = (batched(&lhs), batched(&rhs));
        self.product(value, inst, lhs, rhs, batch)
    }

    /// A view of matrices in memory. If only an axis of the batch is contiguous, they are copied: a product would read
    /// each element from another line of the cache.
    fn matrices(&mut self, value: ValueId) -> View {
        let view = self.in_memory(value);
        let is_contiguous = |axis: usize| view.strides[axis].is_one() && !view.shape[axis].is_one();
        let matrix = view.shape.rank() - 2;
        let is_batch = (0..matrix).any(is_contiguous);
        let has_matrices = view.shape[matrix..].iter().all(|extent| !extent.is_one());
        match is_batch && has_matrices && !(matrix..matrix + 2).any(is_contiguous) {
            true => self.copied(value, &view),
            false => view,
        }
    }

    fn product(&mut self, value: ValueId, inst: &Inst, lhs: View, rhs: View, batch: Vec<Dim>) -> View {
        let of = |lhs: &View, rhs: &View| {
            let rank = lhs.shape.rank();
            [lhs.shape[rank - 2].clone(), lhs.shape[rank - 1].clone(), rhs.shape[rank - 1].clone()]
        };
        if !self.is_read_transposed[value.index()] {
            let (extents, reads) = (of(&lhs, &rhs), vec![ItemOperand::View(lhs), ItemOperand::View(rhs)]);
            return self.whole(value, Work::MatMul { batch, extents }, reads, &inst.ty);
        }
        let swapped = matrices_transposed(inst.ty.rank());
        let [lhs, rhs, result] =
            [&rhs, &lhs, &View::contiguous(BufferId(0), &inst.ty.shape)].map(|view| view.transpose(&swapped));
        let (extents, reads) = (of(&lhs, &rhs), vec![ItemOperand::View(lhs), ItemOperand::View(rhs)]);
        let ty = inst.ty.with_shape(result.shape);
        self.whole(value, Work::MatMul { batch, extents }, reads, &ty).transpose(&swapped)
    }

    fn conv2d(
        &mut self,
        value: ValueId,
        inst: &Inst,
        kind: ConvKind,
        convolution: &Convolution,
        shapes: [Shape; 3],
    ) -> View {
        let reads = [0, 1].map(|position| self.contiguous(inst.operands[position]));
        let work = Work::Conv2d(Box::new(Conv { kind, convolution: convolution.clone(), shapes }));
        self.whole(value, work, reads.into(), &inst.ty)
    }

    /// Converts results and updates to items that can be stored, and collects the readers of each item.
    fn finish(mut self, updates: &[Update]) -> Graph {
        let feeds = self.feeding_checks();
        let mut taken: Vec<ItemId> = Vec::new();
        let mut returned = Vec::new();
        for (output, &value) in self.module.outputs().iter().enumerate() {
            if !updates.iter().any(|update| update.output == output) {
                returned.push(self.delivery(value, &mut taken, &feeds));
            }
        }
        let mut new_values = Vec::new();
        for update in updates {
            let value = self.module.outputs()[update.output];
            let view = self.view(value);
            // A value that is the whole of an item in memory is copied from there.
            let own = view.buffer().filter(|item| self.items[item.0].is_written() && self.is_whole(&view));
            let delivery = match own {
                Some(item) => Delivery::Item(item.0),
                None => self.delivery(value, &mut taken, &feeds),
            };
            new_values.push((delivery, update.input));
        }
        // A matrix is refused after the result is stored.
        let checks = self.items.iter_mut().zip(feeds);
        checks.for_each(|(item, feeds)| item.feeds_check = feeds || item.refuses_matrices());
        let mut readers = vec![Vec::new(); self.items.len()];
        for (reader, item) in self.items.iter().enumerate() {
            item.needs.iter().for_each(|needed| readers[*needed].push(reader));
        }
        let updated_outputs = updates.iter().map(|update| update.output).collect();
        let mut delivered = vec![false; self.items.len()];
        for delivery in returned.iter().chain(new_values.iter().map(|(delivery, _)| delivery)) {
            match delivery {
                Delivery::Item(item) => delivered[*item] = true,
                Delivery::Scalar(_) => {}
            }
        }
        Graph { items: self.items, readers, delivered, returned, updates: new_values, updated_outputs }
    }

    /// The source of a delivered value: a scalar, the item that computes it, or a copy. An item delivers one value
    /// only.
    fn delivery(&mut self, value: ValueId, taken: &mut Vec<ItemId>, feeds: &[bool]) -> Delivery {
        let view = self.view(value);
        let view = self.stored(value, view);
        if let (Source::Scalar(scalar), 0) = (&view.source, view.shape.rank()) {
            return Delivery::Scalar(scalar.clone());
        }
        let own = view.buffer().map(|item| item.0).filter(|item| {
            let is_free = !taken.contains(item)
                // Positions that are stored for this delivery feed nothing.
                && !feeds.get(*item).copied().unwrap_or_default()
                && !self.may_fail_after(*item)
                && !self.may_fail_midway(*item);
            self.items[*item].is_written() && self.is_whole(&view) && is_free
        });
        let item = own.unwrap_or_else(|| {
            let ty = Type::new(self.module.ty(value).dtype, view.shape.clone());
            let space = without_ones(&view.shape);
            self.push(value, Work::Copy, vec![read(&view)], ty, space)
        });
        taken.push(item);
        Delivery::Item(item)
    }

    /// Whether an item can fail and another can too. It is then not known which fails first, so neither stores to
    /// memory that the caller sees.
    fn may_fail_after(&self, item: ItemId) -> bool {
        let own = &self.items[item];
        let mut others = self.items.iter().enumerate().filter(|(other, _)| *other != item);
        let are_alike = |other: &Item| own.refuses_matrices() && other.refuses_matrices();
        own.can_fail() && others.any(|(_, other)| other.can_fail() && !are_alike(other))
    }

    /// Whether an item belongs to a loop that may fail after its first step. It is then not stored to memory that the
    /// caller sees.
    fn may_fail_midway(&self, item: ItemId) -> bool {
        let item = &self.items[item];
        match &item.work {
            Work::Loop(_) => item.can_fail(),
            Work::LoopBuffer => item.needs.iter().any(|of| self.items[*of].can_fail()),
            _ => false,
        }
    }

    /// The items that an item that can fail depends on. They are computed before the checks, so they are never stored
    /// in a result.
    fn feeding_checks(&self) -> Vec<bool> {
        let mut feeds = vec![false; self.items.len()];
        for (position, item) in self.items.iter().enumerate().rev() {
            if feeds[position] || item.can_fail() {
                item.needs.iter().for_each(|needed| feeds[*needed] = true);
            }
        }
        feeds
    }
}

/// For each value whether it is computed. A value that only counts the steps of loops is not.
fn computed(module: &Module, heads: &[Option<ValueId>]) -> Vec<bool> {
    let mut computed = vec![false; module.insts().len()];
    for value in module.outputs().iter().copied().chain(module.effects()) {
        computed[value.index()] = true;
    }
    for (value, inst) in module.iter().rev() {
        computed[value.index()] |= inst.op.is_input();
        if !computed[value.index()] {
            continue;
        }
        let is_passed = inst.op.as_loop().map(passed);
        let operands = heads[value.index()].map_or(&inst.operands, |sort| &module.inst(sort).operands);
        for (at, operand) in operands.iter().enumerate() {
            computed[operand.index()] |= is_passed.as_ref().is_none_or(|is_passed| is_passed[at]);
        }
    }
    computed
}

/// The positions along one axis of a shape.
fn positions(shape: &Shape, axis: usize) -> View {
    let strides = (0..shape.rank()).map(|at| if at == axis { Dim::ONE } else { Dim::ZERO }).collect();
    let source = Source::Positions(shape[axis].clone());
    View { source, offset: Dim::ZERO, shape: shape.clone(), strides }
}

/// The read of an operand's view. A view of memory is stripped of axes of extent 1.
fn read(view: &View) -> ItemOperand {
    match &view.source {
        Source::Scalar(scalar) => ItemOperand::Scalar(scalar.clone()),
        Source::Buffer(_) | Source::Positions(_) => {
            let axes = view.shape.iter().zip(&view.strides).filter(|(extent, _)| !extent.is_one());
            let (extents, strides): (Vec<Dim>, Vec<Dim>) =
                axes.map(|(extent, stride)| (extent.clone(), stride.clone())).unzip();
            ItemOperand::View(View {
                source: view.source.clone(),
                offset: view.offset.clone(),
                shape: Shape::new(extents),
                strides,
            })
        }
    }
}
