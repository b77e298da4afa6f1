//! Lowers operations, by one match over all of them.

use std::{collections::BTreeMap, mem, sync::Arc};

use super::{
    Compute, Described, Error, Mesh, Options, Precision, ProgramArgument, ShardedType, elements, fourier,
    matrices, mesh, ordering, pool, quoted_text, reductions, rows,
    tensor::{self, Tensor, list, number},
    window,
    writer::{SsaValue, Writer},
};
use crate::{
    canon::Canonical,
    data::TensorData,
    dim::{Bindings, Dim},
    ir::{
        Access, Arrange, Const, Effect, Guard, Inst, Join, Made, Module, Nesting, Op, Own, Part, Product,
        Rows, Scan, Slice, ValueId,
    },
    map::Map,
    ops::{position, seen_through},
    plan::Update,
    ty::DType,
};

/// The text of a module. Every dim must have a value under the bindings.
///
/// # Errors
/// If the inputs cannot be split over the mesh.
pub(super) fn module(module: &Canonical, bindings: &Bindings, options: &Options) -> Result<Described, Error> {
    let extents = SymbolExtents(bindings);
    let inputs: Vec<_> =
        module.inputs().map(|(_, ty)| Tensor::new(ty.dtype, extents.of(&ty.shape))).collect();
    let mesh = options.mesh.as_ref();
    mesh.map_or(Ok(()), |mesh| mesh.check(module, &inputs))?;
    let writer = Writer::new(inputs.clone());
    let given = (0..inputs.len()).map(|input| writer.argument(input)).collect();
    let (values, further) = (Vec::new(), BTreeMap::new());
    let Options { precision, compute, .. } = *options;
    let mut lowering = ModuleLowering { extents, precision, compute, writer, values, further };
    let outputs = lowering.module(module, given);
    let arguments = arguments(module, inputs, options);
    let results = outputs.iter().enumerate().map(|(position, output)| {
        let tensor = lowering.writer.tensor(*output).clone();
        let updated = arguments.iter().find(|argument| argument.updated == Some(position));
        let split =
            updated.map_or_else(|| vec![None; tensor.rank()], |argument| argument.placed.split.clone());
        placed(tensor, split)
    });
    let results: Vec<_> = results.collect();
    let (names, lines) = (lowering.writer.names(&outputs), lowering.writer.into_lines());
    let types: Vec<_> = results.iter().map(|result| tensor_of(result).to_string()).collect();
    let layout = |placed: &ShardedType| mesh.map(|_| mesh::attribute(&placed.split));
    let inside = arguments.iter().enumerate().map(|(position, argument)| {
        let donated = argument.updated.map(|output| format!("tf.aliasing_output = {output} : i32"));
        let attributes = attributes(layout(&argument.placed).into_iter().chain(donated));
        let (tensor, name) = (tensor_of(&argument.placed), quoted_text(&argument.name));
        format!("%arg{position}: {tensor}{attributes} loc({name})")
    });
    let outside =
        results.iter().zip(&types).map(|(result, ty)| format!("{ty}{}", attributes(layout(result))));
    let text = format!(
        "module {{\n{}  func.func public @main({}) -> ({}) {{\n{lines}    return {names} : {}\n  }}\n}}\n",
        mesh.map_or_else(String::new, Mesh::declared),
        inside.collect::<Vec<_>>().join(", "),
        outside.collect::<Vec<_>>().join(", "),
        types.join(", "),
    );
    let axes = mesh.map_or_else(Vec::new, |mesh| mesh.axes.clone());
    Ok(Described { text, axes, arguments, results })
}

/// The arguments, one per input of the module.
fn arguments(module: &Canonical, inputs: Vec<Tensor>, options: &Options) -> Vec<ProgramArgument> {
    let mut updated = BTreeMap::new();
    for Update { output, input } in options.updates.iter().copied() {
        assert_eq!(
            module.ty(module.outputs()[output]),
            module.ty(ValueId::new(input)),
            "an input is updated by an output of its type"
        );
        updated.insert(input, output);
    }
    let arguments = module.inputs().zip(inputs).enumerate().map(|(position, ((name, _), tensor))| {
        let mesh = options.mesh.as_ref();
        let split = mesh.map_or_else(|| vec![None; tensor.rank()], |mesh| mesh.split(name, tensor.rank()));
        ProgramArgument {
            name: name.clone(),
            placed: placed(tensor, split),
            updated: updated.get(&position).copied(),
        }
    });
    arguments.collect()
}

fn placed(tensor: Tensor, split: Vec<Option<Arc<str>>>) -> ShardedType {
    ShardedType { dtype: tensor.dtype, extents: tensor.shape, split }
}

fn tensor_of(placed: &ShardedType) -> Tensor {
    Tensor::new(placed.dtype, &*placed.extents)
}

/// ` {a = 1, b = 2}`, or nothing.
fn attributes(all: impl IntoIterator<Item = String>) -> String {
    let all: Vec<_> = all.into_iter().collect();
    if all.is_empty() { String::new() } else { format!(" {{{}}}", all.join(", ")) }
}

/// The extents of the symbols.
struct SymbolExtents<'a>(&'a Bindings);

impl SymbolExtents<'_> {
    fn of(&self, shape: &[Dim]) -> Vec<i64> {
        shape.iter().map(|dim| self.value(dim)).collect()
    }

    fn value(&self, dim: &Dim) -> i64 {
        dim.evaluate(self.0).expect("every dim was found to have a value")
    }
}

/// The state of the lowering of a module.
struct ModuleLowering<'a> {
    extents: SymbolExtents<'a>,
    precision: Precision,
    compute: Compute,
    writer: Writer,
    /// The first result of each instruction.
    values: Vec<SsaValue>,
    /// The further results of instructions that have several.
    further: BTreeMap<ValueId, Vec<SsaValue>>,
}

impl ModuleLowering<'_> {
    /// Lowers a module with these inputs, and returns its results.
    fn module(&mut self, module: &Module, inputs: Vec<SsaValue>) -> Vec<SsaValue> {
        let count = inputs.len();
        let around = (mem::replace(&mut self.values, inputs), mem::take(&mut self.further));
        for (value, inst) in module.iter().skip(count) {
            let lowered = match seen_through(module, inst) {
                Some(same) => self.values[same.index()],
                None => self.inst(value, inst),
            };
            self.values.push(lowered);
        }
        let outputs = module.outputs().iter().map(|output| self.values[output.index()]).collect();
        (self.values, self.further) = around;
        outputs
    }

    fn inst(&mut self, value: ValueId, inst: &Inst) -> SsaValue {
        let operands: Vec<_> = inst.operands.iter().map(|operand| self.values[operand.index()]).collect();
        let to = Tensor::new(inst.ty.dtype, self.extents.of(&inst.ty.shape));
        match &inst.op {
            Op::Input { .. } => unreachable!("inputs are arguments"),
            Op::Const(constant) => self.constant(constant, to),
            Op::Made(Made::Iota { axis, .. }) => self.writer.iota(position(*axis), to),
            Op::Map(map) => elements::lower(&mut self.writer, *map, &operands, &to.shape),
            Op::Reduce(reduce, reduction) => {
                reductions::reduce(&mut self.writer, *reduce, reduction, operands[0], &to)
            }
            Op::ArgReduce(arg, reduction) => {
                reductions::arg_reduce(&mut self.writer, *arg, reduction, operands[0], &to)
            }
            Op::Cumulate(cumulate, cumulation) => {
                reductions::cumulate(&mut self.writer, *cumulate, *cumulation, &operands, to)
            }
            Op::Reorder(reorder) => ordering::lower(&mut self.writer, *reorder, operands[0], to),
            Op::Arrange(arrange) => self.arrange(arrange, operands[0], to),
            Op::Part(part) => self.part(part, operands[0], to),
            Op::Rows(Rows::Gather) => rows::gather(&mut self.writer, operands[0], operands[1], to),
            Op::Rows(Rows::ScatterAdd { .. }) => {
                rows::scatter_add(&mut self.writer, operands[0], operands[1], to)
            }
            Op::Rows(Rows::TakeAlong { axis }) => {
                rows::take_along(&mut self.writer, position(*axis), operands[0], operands[1], to)
            }
            Op::Rows(Rows::AddAlong { axis, .. }) => {
                rows::add_along(&mut self.writer, position(*axis), operands[0], operands[1], to)
            }
            Op::Rows(Rows::DynamicSlice { axis, .. }) => {
                rows::dynamic_slice(&mut self.writer, position(*axis), [operands[0], operands[1]], to)
            }
            Op::Rows(Rows::DynamicUpdate { axis }) => {
                let operands = [operands[0], operands[1], operands[2]];
                rows::dynamic_update(&mut self.writer, position(*axis), operands, to)
            }
            Op::Rows(Rows::Scatter) => {
                rows::scatter(&mut self.writer, [operands[0], operands[1], operands[2]], to)
            }
            Op::Rows(Rows::AddRows) => {
                rows::add_rows(&mut self.writer, [operands[0], operands[1], operands[2]], to)
            }
            Op::Join(Join::Concat { axis }) => {
                self.writer.operation("stablehlo.concatenate", &operands, format_args!(", dim = {axis}"), to)
            }
            Op::Product(Product::Dot) => self.dot(operands[0], operands[1], to),
            Op::Product(Product::MatMul) => self.matmul(operands[0], operands[1], to),
            Op::Matrix(matrix) => matrices::lower(&mut self.writer, *matrix, &operands, to),
            Op::Window(window) => {
                let operands = [operands[0], operands[1]].map(|operand| self.rounded(operand));
                window::lower(&mut self.writer, window, operands, to, self.precision)
            }
            Op::Fourier(of) => fourier::lower(&mut self.writer, of, operands[0], to),
            Op::Pool(pool) => {
                let rounded =
                    |operand: &SsaValue| if pool.is_product() { self.rounded(*operand) } else { *operand };
                let operands: Vec<SsaValue> = operands.iter().map(rounded).collect();
                pool::lower(&mut self.writer, pool, &operands, to, self.precision)
            }
            Op::Effect(Effect::Inspect { .. }) => operands[0],
            Op::Own(Own::External(_)) => unreachable!("a module that calls Rust functions is refused"),
            Op::Own(Own::Nesting(Nesting::Result { position: at })) => {
                self.further[&inst.operands[0]][position(*at) - 1]
            }
            Op::Own(Own::Nesting(_)) => {
                let scan = inst
                    .op
                    .as_loop()
                    .expect("the canonical form has no calls, and a pullback is its operand");
                let mut results = self.scan(scan, &operands).into_iter();
                let first = results.next().expect("a verified module has an output");
                self.further.insert(value, results.collect());
                first
            }
        }
    }

    /// Lowers a loop and returns its results.
    fn scan(&mut self, scan: &Scan, operands: &[SsaValue]) -> Vec<SsaValue> {
        let accesses = scan.accesses(operands.iter().map(|operand| self.writer.tensor(*operand).rank()));
        let counted = Scan::counted(&accesses);
        let steps = counted.map(|counted| self.writer.tensor(operands[counted]).shape[0]);
        match steps {
            Some(1) if scan.guard != Guard::Carry => self.one_step(scan, operands, &accesses),
            _ => self.steps(scan, operands, &accesses, steps),
        }
    }

    /// Lowers a loop of at most one step without a loop: its body, or a conditional with the body in a branch. The
    /// branches of an `if` are such loops.
    fn one_step(&mut self, scan: &Scan, operands: &[SsaValue], accesses: &[Access]) -> Vec<SsaValue> {
        let carries = scan.carry_count();
        let mut inputs = Vec::with_capacity(operands.len());
        for (operand, access) in operands.iter().zip(accesses) {
            let element = self.writer.tensor(*operand).shape.get(1..).unwrap_or_default().to_vec();
            let is_iterated = *access == Access::Element;
            inputs.push(if is_iterated { self.writer.reshaped(*operand, &element) } else { *operand });
        }
        if scan.guard == Guard::Always {
            return self.results_of_step(scan, inputs);
        }
        let runs = inputs[carries];
        let outer = self.writer.open();
        let results = self.results_of_step(scan, inputs);
        let tensors: Vec<_> = results.iter().map(|value| self.writer.tensor(*value).clone()).collect();
        let then = self.writer.close(outer, &results);
        let outer = self.writer.open();
        let mut unchanged = operands[..carries].to_vec();
        for tensor in &tensors[carries..] {
            unchanged.push(self.writer.constant(&number(0.0, tensor.dtype), tensor.clone()));
        }
        let otherwise = self.writer.close(outer, &unchanged);
        self.writer.either(runs, [&then, &otherwise], tensors)
    }

    /// The carries after the only step, and its stacked results.
    fn results_of_step(&mut self, scan: &Scan, inputs: Vec<SsaValue>) -> Vec<SsaValue> {
        let mut results = self.module(&scan.body, inputs);
        for result in &mut results[scan.carry_count()..] {
            let shape = self.writer.tensor(*result).shape.clone();
            let stacked: Vec<i64> = [1].into_iter().chain(shape).collect();
            *result = self.writer.reshaped(*result, &stacked);
        }
        results
    }

    /// Lowers a loop of `steps` steps; `None` for a loop that only its guard ends. The loop of StableHLO carries the
    /// step count, the carries, and the stacked results. Each step writes one element of the stacked results. The loop
    /// reads other operands from outside.
    fn steps(
        &mut self,
        scan: &Scan,
        operands: &[SsaValue],
        accesses: &[Access],
        steps: Option<i64>,
    ) -> Vec<SsaValue> {
        let (carries, is_counted) = (scan.carry_count(), steps.is_some());
        let steps = steps.unwrap_or(1);
        let place = Tensor::scalar(DType::I64);
        let mut number_of = |number: i64| self.writer.constant(&number.to_string(), place.clone());
        let [zero, one, end] = [0, 1, steps].map(&mut number_of);
        let last = scan.reverse.then(|| number_of(steps - 1));
        let mut start = vec![zero];
        start.extend(&operands[..carries]);
        for output in &scan.body.outputs()[carries..] {
            let ty = scan.body.ty(*output);
            let shape: Vec<i64> = [steps].into_iter().chain(self.extents.of(&ty.shape)).collect();
            let unwritten = self.writer.constant(&number(0.0, ty.dtype), Tensor::new(ty.dtype, shape));
            start.push(unwritten);
        }
        let under_way = self.writer.start(&start);
        let (count, now) = (under_way.now[0], under_way.now.clone());
        let outer = self.writer.open();
        let is_left = elements::evaluate(&mut self.writer, "lt(at, end)", &[("at", count), ("end", end)]);
        let guard = match scan.guard {
            Guard::Always => None,
            Guard::Carry => Some(now[1]),
            Guard::Operand => (accesses[carries] == Access::Whole).then(|| operands[carries]),
        };
        let goes_on = match guard {
            None => is_left,
            Some(guard) if !is_counted => guard,
            Some(guard) => elements::apply(&mut self.writer, Map::And, &[is_left, guard]),
        };
        let condition = self.writer.close(outer, &[goes_on]);
        let outer = self.writer.open();
        let at = last.map_or(count, |last| {
            elements::evaluate(&mut self.writer, "last - at", &[("last", last), ("at", count)])
        });
        let (carried, stacked) = now[1..].split_at(carries);
        let mut inputs = carried.to_vec();
        for (operand, access) in operands.iter().zip(accesses).skip(carries) {
            let is_iterated = *access == Access::Element;
            inputs.push(if is_iterated { self.element(*operand, at, zero) } else { *operand });
        }
        let mut next = vec![elements::evaluate(&mut self.writer, "at + one", &[("at", count), ("one", one)])];
        let is_optional = scan.guard == Guard::Operand && guard.is_none();
        let runs = is_optional.then(|| (inputs[carries], self.writer.open()));
        let results = self.module(&scan.body, inputs);
        let mut after = results[..carries].to_vec();
        for (whole, element) in stacked.iter().zip(&results[carries..]) {
            after.push(self.with_element(*whole, *element, at, zero));
        }
        if let Some((runs, outer)) = runs {
            let then = self.writer.close(outer, &after);
            let outer = self.writer.open();
            let otherwise = self.writer.close(outer, &now[1..]);
            let tensors = now[1..].iter().map(|value| self.writer.tensor(*value).clone()).collect();
            after = self.writer.either(runs, [&then, &otherwise], tensors);
        }
        next.extend(after);
        let step = self.writer.close(outer, &next);
        let results = self.writer.repeat(under_way, &condition, &step);
        results[1..].to_vec()
    }

    /// The element at position `at` of the leading axis.
    fn element(&mut self, operand: SsaValue, at: SsaValue, zero: SsaValue) -> SsaValue {
        let shape = self.writer.tensor(operand).shape.clone();
        let sizes: Vec<i64> = [1].into_iter().chain(shape[1..].iter().copied()).collect();
        let mut operands = vec![operand, at];
        operands.resize(1 + shape.len(), zero);
        let (between, to) = (list(&sizes), self.writer.tensor(operand).with_shape(sizes));
        let part = self.writer.operation(
            "stablehlo.dynamic_slice",
            &operands,
            format_args!(", sizes = {between}"),
            to,
        );
        self.writer.reshaped(part, &shape[1..])
    }

    /// Replaces the element at position `at` of the leading axis.
    fn with_element(&mut self, whole: SsaValue, element: SsaValue, at: SsaValue, zero: SsaValue) -> SsaValue {
        let to = self.writer.tensor(whole).clone();
        let shape: Vec<i64> = [1].into_iter().chain(to.shape[1..].iter().copied()).collect();
        let part = self.writer.reshaped(element, &shape);
        let mut operands = vec![whole, part, at];
        operands.resize(2 + to.rank(), zero);
        self.writer.operation("stablehlo.dynamic_update_slice", &operands, format_args!(""), to)
    }

    fn constant(&mut self, constant: &Const, to: Tensor) -> SsaValue {
        let elements = match constant {
            Const::Count { shape, dtype } => {
                let count = self.extents.of(shape).iter().product();
                tensor::elements(&TensorData::count(count, *dtype), &[])
            }
            Const::I64(_) | Const::F32(_) | Const::F64(_) | Const::Tensor { .. } => {
                tensor::elements(&constant.data().expect("only counts are not known"), &to.shape)
            }
        };
        self.writer.constant(&elements, to)
    }

    fn arrange(&mut self, arrange: &Arrange, operand: SsaValue, to: Tensor) -> SsaValue {
        match arrange {
            Arrange::Reshape { .. } | Arrange::ExpandDims { .. } | Arrange::Squeeze { .. } => {
                self.writer.reshaped(operand, &to.shape)
            }
            Arrange::Transpose { permutation } => {
                let axes = list(permutation);
                self.writer.operation("stablehlo.transpose", &[operand], format_args!(", dims = {axes}"), to)
            }
            Arrange::BroadcastTo { .. } => self.writer.broadcast(operand, &to.shape),
        }
    }

    fn part(&mut self, part: &Part, operand: SsaValue, to: Tensor) -> SsaValue {
        match part {
            Part::Index { indices } => {
                let starts = self.extents.of(indices);
                let ones = vec![1; starts.len()];
                let element = self.slice(&starts, &ones, &ones, operand);
                self.writer.reshaped(element, &to.shape)
            }
            Part::Slice(slice) => {
                let starts = self.extents.of(&slice.starts);
                self.slice(&starts, &to.shape, &slice.steps, operand)
            }
            Part::SliceGrad { slice, .. } => self.pad(slice, operand, to),
            Part::Unfold(windows) => rows::unfold(&mut self.writer, windows, operand, &to),
            Part::UnfoldGrad { windows, .. } => rows::unfold_grad(&mut self.writer, windows, operand, to),
        }
    }

    /// Takes `counts` elements of each axis, from `starts` on, with these steps.
    fn slice(&mut self, starts: &[i64], counts: &[i64], steps: &[i64], operand: SsaValue) -> SsaValue {
        let ranges = starts.iter().zip(counts).zip(steps).map(|((start, count), step)| {
            let end = start + (count - 1) * step + 1;
            if *step == 1 { format!("{start}:{end}") } else { format!("{start}:{end}:{step}") }
        });
        let (ranges, to) = (list(ranges), self.writer.tensor(operand).with_shape(counts));
        self.writer.operation("stablehlo.slice", &[operand], format_args!(" {ranges}"), to)
    }

    fn pad(&mut self, slice: &Slice, operand: SsaValue, to: Tensor) -> SsaValue {
        let low = self.extents.of(&slice.starts);
        let from = self.writer.tensor(operand).clone();
        let taken = from.shape.iter().zip(&slice.steps).map(|(count, step)| (count - 1) * step + 1);
        let high = to.shape.iter().zip(&low).zip(taken).map(|((extent, low), taken)| extent - low - taken);
        let (high, interior) = (list(high), list(slice.steps.iter().map(|step| step - 1)));
        let zero = self.writer.constant(&number(0.0, to.dtype), Tensor::scalar(to.dtype));
        let low = list(low);
        let between = format_args!(", low = {low}, high = {high}, interior = {interior}");
        self.writer.operation("stablehlo.pad", &[operand, zero], between, to)
    }

    /// An operand of a product or a convolution in the type in which it is computed.
    fn rounded(&mut self, operand: SsaValue) -> SsaValue {
        let tensor = self.writer.tensor(operand);
        match (self.compute, tensor.dtype) {
            (Compute::Bf16, DType::F32) => {
                let to = tensor.rounded();
                self.writer.operation("stablehlo.convert", &[operand], format_args!(""), to)
            }
            (Compute::F32 | Compute::Bf16, _) => operand,
        }
    }

    fn dot(&mut self, lhs: SsaValue, rhs: SsaValue, to: Tensor) -> SsaValue {
        let last = self.writer.tensor(lhs).rank() - 1;
        self.contract([lhs, rhs], 0, [last, 0], to)
    }

    /// Multiplies matrices in batches that broadcast. A second operand without batch axes is shared by all matrices.
    fn matmul(&mut self, lhs: SsaValue, rhs: SsaValue, to: Tensor) -> SsaValue {
        if self.writer.tensor(rhs).rank() == 2 {
            return self.dot(lhs, rhs, to);
        }
        let batch = to.rank() - 2;
        let operands = [lhs, rhs].map(|operand| {
            let shape = &self.writer.tensor(operand).shape;
            let matrix = &shape[shape.len() - 2..];
            let shape: Vec<_> = to.shape[..batch].iter().chain(matrix).copied().collect();
            self.writer.broadcast(operand, &shape)
        });
        self.contract(operands, batch, [batch + 1, batch], to)
    }

    /// Contracts an axis of each operand. The first `batch` axes are batch axes.
    fn contract(&mut self, operands: [SsaValue; 2], batch: usize, axes: [usize; 2], to: Tensor) -> SsaValue {
        let batching = list(0..batch);
        let batching =
            if batch == 0 { String::new() } else { format!("batching_dims = {batching} x {batching}, ") };
        let [lhs, rhs] = axes;
        let dtype = self.writer.tensor(operands[0]).dtype;
        let operands = operands.map(|operand| self.rounded(operand));
        let (precision, algorithm) = (self.precision.of_operand(dtype), self.precision.algorithm(dtype));
        let between = format_args!(
            ", {batching}contracting_dims = [{lhs}] x [{rhs}], precision = [{precision}, {precision}]{algorithm}"
        );
        self.writer.operation("stablehlo.dot_general", &operands, between, to)
    }
}
