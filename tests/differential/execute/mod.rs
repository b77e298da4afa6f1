//! Executes plans step by step. Products use the kernels that emitted code calls; calls of other kernels use the
//! interpreter.
//!
//! The memory layout is that of emitted code: temporaries are in arenas, so memory that is freed too early shows as a
//! wrong result.

mod defined;
mod loops;
mod nest;
mod number;

use std::collections::BTreeMap;

use mind::__private as rt;
use mind_core::{
    dim::{Bindings, Dim, Symbol},
    interp::{Array, Elements, apply},
    ir::{Access, Guard, Padding, ValueId},
    loops::{LoweredNest, Product, epilogue, nest as lowered, product},
    plan::{
        Buffer, BufferId, Carry, Condition, Conv2d, ConvKind, Integers, KernelOperand, Location, LoopStep,
        MatMul, Plan, Returned, Scalar, Source, Step, Strips, View,
    },
    ty::{DType, Shape},
};
use mind_shape::{match_dtype, match_elements};
use number::{Element, Number, constant, each_number, each_type, is_unwritten, len, scalar_op, unwritten};

/// The result of a run.
pub struct Outcome {
    /// The returned results, in order.
    pub results: Vec<Array>,
    /// Every input after the run.
    pub inputs: Vec<Array>,
}

/// A run that failed.
pub struct Failure {
    /// The error.
    pub error: rt::Error,
    /// Every input after the run.
    pub inputs: Vec<Array>,
    /// Whether a result in memory has been written.
    pub has_written: bool,
}

/// How nests and finishes of products are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nests {
    /// As the plan defines them, index by index.
    Defined,
    /// As the loops that they are lowered to.
    Lowered,
}

/// Runs a plan on inputs. `bindings` gives the extents of the symbols.
pub fn execute<'p>(
    plan: &'p Plan,
    inputs: &'p [Array],
    bindings: &'p Bindings,
    nests: Nests,
) -> Result<Outcome, Failure> {
    let mut run = Run {
        plan,
        nests,
        bindings: bindings.clone(),
        memory: BTreeMap::new(),
        locals: BTreeMap::new(),
        inputs: inputs.to_vec(),
        entry: inputs,
    };
    run.allocate();
    for step in &plan.steps {
        if let Err(error) = run.step(step) {
            let is_result = |region: &Region| matches!(region, Region::Result(_));
            let has_written = run.memory.iter().any(|(region, all)| is_result(region) && !is_unwritten(all));
            return Err(Failure { error, inputs: run.inputs, has_written });
        }
    }
    let results = plan.returned.iter().zip(&plan.results).map(|(returned, ty)| {
        let shape: Vec<usize> = ty.shape.iter().map(|dim| run.size(dim)).collect();
        let elements = match returned {
            Returned::Scalar(scalar) => run.scalar(scalar),
            Returned::Buffer(buffer) => run.load_buffer(*buffer),
        };
        Array { shape, elements }
    });
    let results = results.collect();
    Ok(Outcome { results, inputs: run.inputs })
}

/// The buffer that holds a carry: the first or the second one if steps alternate between two.
fn buffer_of(carry: &Carry, now: usize) -> BufferId {
    carry.second.filter(|_| now == 1).unwrap_or(carry.last)
}

struct Run<'p> {
    plan: &'p Plan,
    nests: Nests,
    bindings: Bindings,
    /// All memory except the inputs.
    memory: BTreeMap<Region, Elements>,
    locals: BTreeMap<ValueId, Elements>,
    inputs: Vec<Array>,
    /// The inputs before the run.
    entry: &'p [Array],
}

/// A piece of memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Region {
    Result(usize),
    Arena(DType),
    Constant(BufferId),
}

impl Run<'_> {
    fn allocate(&mut self) {
        for arena in &self.plan.arenas {
            let memory = unwritten(arena.dtype, self.size(&arena.len));
            self.memory.insert(Region::Arena(arena.dtype), memory);
        }
        for (id, buffer) in self.plan.buffers.iter().enumerate() {
            match &buffer.place {
                Location::Constant(data) => {
                    _ = self.memory.insert(Region::Constant(BufferId(id)), constant(data))
                }
                Location::Result(result) => {
                    _ = self.memory.insert(Region::Result(*result), self.empty(BufferId(id)))
                }
                Location::Input(_) | Location::Arena { .. } | Location::Part { .. } => {}
            }
        }
    }

    /// The memory that contains a buffer. It may be longer.
    fn region(&self, id: BufferId) -> &Elements {
        match &self.buffer(id).place {
            Location::Input(input) => &self.inputs[*input].elements,
            Location::Constant(_) => &self.memory[&Region::Constant(id)],
            Location::Result(result) => &self.memory[&Region::Result(*result)],
            Location::Arena { .. } => &self.memory[&Region::Arena(self.buffer(id).ty.dtype)],
            Location::Part { of, .. } => self.region(*of),
        }
    }

    fn region_mut(&mut self, id: BufferId) -> &mut Elements {
        let region = match &self.plan.buffers[id.0].place {
            Location::Input(input) => {
                assert!(self.plan.inputs[*input].updated, "an input that is not updated is written");
                return &mut self.inputs[*input].elements;
            }
            Location::Constant(_) => panic!("a constant is written"),
            Location::Result(result) => Region::Result(*result),
            Location::Arena { .. } => Region::Arena(self.plan.buffers[id.0].ty.dtype),
            Location::Part { of, .. } => return self.region_mut(*of),
        };
        self.memory.get_mut(&region).expect("allocated on entry")
    }

    /// The elements of a buffer.
    fn elements_mut<T: Element>(&mut self, id: BufferId) -> &mut [T] {
        let range = self.range(id);
        &mut T::unwrap_mut(self.region_mut(id))[range]
    }

    /// The range of a buffer in its region.
    fn range(&self, id: BufferId) -> std::ops::Range<usize> {
        let start = match &self.buffer(id).place {
            Location::Arena { offset } => self.size(offset),
            Location::Part { of, from } => self.range(*of).start + self.size(from),
            Location::Input(_) | Location::Constant(_) | Location::Result(_) => 0,
        };
        start..start + self.len(id)
    }

    fn len(&self, id: BufferId) -> usize {
        self.sizes(&self.buffer(id).ty.shape).iter().product()
    }

    fn size(&self, dim: &Dim) -> usize {
        let value = dim.evaluate(&self.bindings).expect("every symbol is bound");
        usize::try_from(value).expect("sizes and strides are not negative")
    }

    fn sizes(&self, shape: &Shape) -> Vec<usize> {
        shape.iter().map(|dim| self.size(dim)).collect()
    }

    fn buffer(&self, id: BufferId) -> &Buffer {
        &self.plan.buffers[id.0]
    }

    /// A copy of a buffer's elements.
    fn load_buffer(&self, id: BufferId) -> Elements {
        each_type!(self.region(id), all => Element::wrap(all[self.range(id)].to_vec()))
    }

    fn store_buffer(&mut self, id: BufferId, elements: Elements) {
        assert_eq!(len(&elements), self.len(id));
        each_type!(&elements, from => self.elements_mut(id).copy_from_slice(from));
    }

    fn scalar(&self, scalar: &Scalar) -> Elements {
        match scalar {
            Scalar::Constant(data) => constant(data),
            Scalar::Input(input) => self.entry[*input].elements.clone(),
            Scalar::Local(value) => self.locals[value].clone(),
            Scalar::Count { count, dtype } => number::count(self.size(count), *dtype),
        }
    }

    /// The elements of a view in row-major order.
    fn gathered(&self, view: &View) -> Elements {
        let shape = self.sizes(&view.shape);
        match &view.source {
            Source::Scalar(scalar) => {
                let count: usize = shape.iter().product();
                each_type!(self.scalar(scalar), vec => Element::wrap(vec![vec[0]; count]))
            }
            Source::Buffer(buffer) => {
                let positions = self.positions(view, &shape);
                each_type!(self.load_buffer(*buffer), vec => {
                    Element::wrap(positions.iter().map(|position| vec[*position]).collect())
                })
            }
            Source::Positions(_) => {
                let positions = self.positions(view, &shape);
                Elements::I64(positions.into_iter().map(|position| position as i64).collect())
            }
        }
    }

    fn positions(&self, view: &View, shape: &[usize]) -> Vec<usize> {
        let strides: Vec<usize> = view.strides.iter().map(|stride| self.size(stride)).collect();
        let mut positions = vec![self.size(&view.offset)];
        for (extent, stride) in shape.iter().zip(&strides) {
            positions =
                positions.iter().flat_map(|base| (0..*extent).map(move |i| base + i * stride)).collect();
        }
        positions
    }

    /// Runs strips of rows one after the other.
    fn strips(&mut self, strips: &Strips) -> Result<(), rt::Error> {
        for sum in &strips.sums {
            let dtype = self.buffer(*sum).ty.dtype;
            let zeros = vec![number::count(0, dtype); self.len(*sum)];
            let zeros = each_type!(&zeros[0], zero => Element::wrap(vec![zero[0]; zeros.len()]));
            self.store_buffer(*sum, zeros);
        }
        let finite = strips.seen.iter().flat_map(|seen| &seen.finite);
        let is_finite = finite
            .map(|buffer| self.load_buffer(*buffer))
            .all(|elements| each_number!(&elements, vec => rt::are_finite(vec)));
        let outer: Vec<usize> = strips.outer.iter().map(|walk| self.size(&walk.extent)).collect();
        let (extent, most) = (self.size(&strips.cut.extent), usize::try_from(strips.most).expect("above 0"));
        for outer_place in 0..outer.iter().product() {
            let mut rest: usize = outer_place;
            for (walk, extent) in strips.outer.iter().zip(&outer).rev() {
                self.bind(&walk.at, rest % extent);
                rest /= extent;
            }
            for at in (0..extent).step_by(most) {
                self.bind(&strips.cut.at, at);
                if let Some(len) = strips.len.as_symbol() {
                    self.bind(len, most.min(extent - at));
                }
                if let Some(seen) = &strips.seen {
                    let end = i64::try_from(extent.min(at + most)).expect("an extent");
                    let columns = if is_finite { seen.before(end) } else { seen.columns };
                    self.bind(&seen.len, usize::try_from(columns).expect("an extent"));
                }
                strips.steps.iter().try_for_each(|step| self.step(step))?;
            }
        }
        strips.symbols().for_each(|symbol| _ = self.bindings.remove(symbol));
        Ok(())
    }

    fn bind(&mut self, symbol: &Symbol, value: usize) {
        self.bindings.insert(symbol.clone(), Dim::literal(i64::try_from(value).expect("an extent")));
    }

    fn step(&mut self, step: &Step) -> Result<(), rt::Error> {
        match step {
            Step::Scalar(step) => {
                let operands: Vec<Elements> =
                    step.operands.iter().map(|operand| self.scalar(operand)).collect();
                let result = scalar_op(step.op, step.dtype, &operands);
                self.locals.insert(step.result, result);
            }
            Step::Load { result, from } => _ = self.locals.insert(*result, self.gathered(from)),
            Step::Nest(nest) if self.nests == Nests::Lowered => match lowered(self.plan, nest) {
                LoweredNest::Looped(loops) => self.loops(&loops),
                LoweredNest::Copied { from, to } => {
                    let elements = self.gathered(&from);
                    self.store_buffer(to, elements);
                }
            },
            Step::Nest(nest) => self.nest(nest),
            Step::MatMul(product) => match_dtype!(self.view_dtype(&product.finish.stores[0].target), T {
                truths => panic!("no product takes truth values"),
                numbers => self.matmul::<T>(product),
            }),
            Step::Dot { result, operands: [lhs, rhs] } => {
                let [a, b] = [lhs, rhs].map(|view| self.load_buffer(view.buffer().expect("in memory")));
                let len = self.size(&lhs.shape[0]);
                let [(ao, astep), (bo, bstep)] =
                    [lhs, rhs].map(|view| (self.size(&view.offset), self.size(&view.strides[0])));
                let value = each_number!(&a, vec => {
                    Element::wrap(vec![rt::dot(len, (vec, ao, astep), (Element::unwrap(&b), bo, bstep))])
                });
                self.locals.insert(*result, value);
            }
            Step::Strips(strips) => self.strips(strips)?,
            Step::Check { integers, must } => {
                let extent =
                    if let Condition::BeBelow(extent) = must { Some(self.size(extent)) } else { None };
                match_elements!(self.integers(integers), Elements(integers) {
                    truths => panic!("checks are of integers"),
                    integers => match extent {
                        Some(extent) => rt::check_indices(&integers, extent, "test")?,
                        None => rt::check_divisors(&integers, "test")?,
                    },
                    floats => panic!("checks are of integers"),
                });
            }
            Step::Call(call) => {
                let operands: Vec<Array> = call.operands.iter().map(|operand| self.value(operand)).collect();
                let shape = self.sizes(&call.ty.shape);
                let value = apply(&call.op, &operands, call.ty.dtype, &shape, &self.bindings);
                let value = value.expect("programs of tests call nothing that is elsewhere");
                self.store_buffer(call.result, value.elements);
            }
            Step::Loop(of) => self.repeat(of)?,
            Step::Conv2d(convolution) => self.conv2d(convolution),
            // Checks that the watched value exists.
            Step::Watch { argument, .. } => _ = self.value(argument),
            Step::Update { from, to } => {
                let elements = self.load_buffer(*from);
                self.store_buffer(*to, elements);
            }
            Step::UpdateScalar { from, input } => self.inputs[*input].elements = self.scalar(from),
        }
        Ok(())
    }

    /// Runs the plan of the body for each element. As in emitted code the carries alternate between two buffers, and
    /// each step writes its stacked results where they belong.
    fn repeat(&mut self, of: &LoopStep) -> Result<(), rt::Error> {
        let steps = of.steps.as_ref().map(|steps| self.size(steps));
        // If all steps run, the last step writes the buffer of the last value.
        let mut now = steps.filter(|_| of.guard == Guard::Always).unwrap_or(0) % 2;
        for (carry, (first, _)) in of.carries.iter().zip(&of.operands) {
            let first = self.value(first).elements;
            self.store_buffer(buffer_of(carry, now), first);
        }
        for step in 0..steps.unwrap_or(usize::MAX) {
            let at = steps.filter(|_| of.reverse).map_or(step, |steps| steps - 1 - step);
            let inputs: Vec<Array> = of
                .operands
                .iter()
                .enumerate()
                .map(|(position, (operand, access))| match access {
                    Access::Carry => {
                        let elements = self.load_buffer(buffer_of(&of.carries[position], now));
                        Array::new(self.sizes(&operand.ty().shape), elements)
                    }
                    Access::Whole => self.value(operand),
                    Access::Element => {
                        let whole = self.value(operand);
                        let shape = whole.shape[1..].to_vec();
                        let elements = part(&whole.elements, at, shape.iter().product());
                        Array::new(shape, elements)
                    }
                })
                .collect();
            let runs = match of.guard {
                Guard::Always => true,
                Guard::Carry => inputs[0].elements.to_f64()[0] != 0.0,
                Guard::Operand => inputs[of.carries.len()].elements.to_f64()[0] != 0.0,
            };
            if !runs && steps.is_none() {
                break;
            }
            let Outcome { results, inputs: updated } = match runs {
                true => {
                    let bindings = self.bindings.clone();
                    let outcome = execute(&of.body, &inputs, &bindings, self.nests);
                    outcome.map_err(|failure| failure.error)?
                }
                false => Outcome { results: Vec::new(), inputs: Vec::new() },
            };
            let next = of.body.results.len() - of.stacked.len();
            for (stacked, ty) in of.stacked.iter().zip(&of.body.results[next..]) {
                let count: usize = self.sizes(&ty.shape).iter().product();
                match_dtype!(ty.dtype, T => {
                    self.elements_mut::<T>(*stacked)[at * count..][..count].fill(T::default());
                });
            }
            let mut results = results.into_iter();
            let alternating = of.carries.iter().filter(|carry| carry.second.is_some());
            for (carry, result) in alternating.zip(results.by_ref()) {
                self.store_buffer(buffer_of(carry, 1 - now), result.elements);
            }
            for (carry, value) in of.carries.iter().zip(updated).filter(|(carry, _)| carry.second.is_none()) {
                self.store_buffer(carry.last, value.elements);
            }
            for (stacked, result) in of.stacked.iter().zip(results) {
                let count = len(&result.elements);
                each_type!(&result.elements, from => {
                    self.elements_mut(*stacked)[at * count..][..count].copy_from_slice(from);
                });
            }
            if runs {
                now = 1 - now;
            }
        }
        if let (Guard::Carry, Some(steps)) = (of.guard, steps) {
            let goes_on = self.load_buffer(buffer_of(&of.carries[0], now)).to_f64()[0] != 0.0;
            rt::check_ended(goes_on, steps, "test")?;
        }
        for carry in &of.carries {
            let last = self.load_buffer(buffer_of(carry, now));
            self.store_buffer(carry.last, last);
        }
        Ok(())
    }

    /// The whole value that a call or a watch receives.
    fn value(&self, argument: &KernelOperand) -> Array {
        let elements = match argument {
            KernelOperand::Tensor(buffer, _) => self.load_buffer(*buffer),
            KernelOperand::Scalar(scalar, _) => self.scalar(scalar),
        };
        let shape = self.sizes(&argument.ty().shape);
        assert_eq!(len(&elements), shape.iter().product::<usize>(), "all of a value is given");
        Array::new(shape, elements)
    }

    /// Memory for a buffer, which must be overwritten.
    fn empty(&self, buffer: BufferId) -> Elements {
        let ty = &self.buffer(buffer).ty;
        unwritten(ty.dtype, self.sizes(&ty.shape).iter().product())
    }

    fn integers(&self, integers: &Integers) -> Elements {
        match integers {
            Integers::Buffer(buffer) => self.load_buffer(*buffer),
            Integers::Scalar(scalar, _) => self.scalar(scalar),
        }
    }

    fn matmul<T: Number>(&mut self, matmul: &MatMul) {
        let batch: Vec<rt::BatchDim> = matmul
            .batch
            .iter()
            .enumerate()
            .map(|(axis, extent)| rt::BatchDim {
                extent: self.size(extent),
                lhs_stride: self.size(&matmul.lhs.strides[axis]),
                rhs_stride: self.size(&matmul.rhs.strides[axis]),
            })
            .collect();
        let [m, k, n] = [0, 1, 2].map(|position| self.size(&matmul.extents[position]));
        let operand = |view: &View| {
            let rank = view.strides.len();
            let layout = [
                self.size(&view.offset),
                self.size(&view.strides[rank - 2]),
                self.size(&view.strides[rank - 1]),
            ];
            (self.load_buffer(view.buffer().expect("in memory")), layout)
        };
        let (lhs, rhs) = (operand(&matmul.lhs), operand(&matmul.rhs));
        let matrix = |(data, [offset, row_stride, col_stride]): &(Elements, [usize; 3])| {
            let data = T::unwrap(data).to_vec();
            (data, *offset, *row_stride, *col_stride)
        };
        let (lhs, rhs) = (matrix(&lhs), matrix(&rhs));
        let elements = matmul.finish.extents.iter().map(|extent| self.size(extent)).product();
        let mut out = vec![T::UNWRITTEN; elements];
        rt::matmul(
            &batch,
            [m, k, n],
            rt::MatRef { data: &lhs.0, offset: lhs.1, row_stride: lhs.2, col_stride: lhs.3 },
            rt::MatRef { data: &rhs.0, offset: rhs.1, row_stride: rhs.2, col_stride: rhs.3 },
            &mut out,
        );
        if self.nests == Nests::Defined {
            return self.finish(&matmul.finish, &out);
        }
        let sums = T::wrap(out);
        match product(self.plan, matmul) {
            Product::Tiny(whole) => self.whole(&matmul.finish, &whole.loops, &sums),
            Product::Kernel(epilogue) => self.finish_by_loops(&matmul.finish, &epilogue, &sums),
        }
    }

    fn conv2d(&mut self, conv: &Conv2d) {
        let [input, filter, output] =
            [&conv.input, &conv.filter, &conv.output].map(|shape| self.sizes(shape));
        let stride = [0, 1].map(|axis| usize::try_from(conv.convolution.strides[axis]).expect("positive"));
        let pad = match &conv.convolution.padding {
            Padding::Valid => [[0; 2]; 2],
            Padding::Same => [0, 1].map(|axis| rt::same_padding(input[axis + 1], filter[axis], stride[axis])),
            Padding::Custom(pairs) => {
                [0, 1].map(|axis| pairs[axis].map(|pad| usize::try_from(pad).expect("not negative")))
            }
        };
        let [n, h, w, c_in] = [0, 1, 2, 3].map(|axis| input[axis]);
        let (kh, kw, c_out, h_out, w_out) = (filter[0], filter[1], filter[3], output[1], output[2]);
        let g = rt::Conv2d { n, h, w, c_in, kh, kw, c_out, stride, pad, h_out, w_out };
        let [first, second] = conv.operands.map(|operand| self.load_buffer(operand));
        let elements = conv.finish.extents.iter().map(|extent| self.size(extent)).product();
        each_number!(&first, first => {
            let second = Element::unwrap(&second);
            let mut out = vec![Element::UNWRITTEN; elements];
            match conv.kind {
                ConvKind::Forward => rt::conv2d(&g, first, second, &mut out),
                ConvKind::GradInput => rt::conv2d_grad_input(&g, first, second, &mut out),
                ConvKind::GradFilter => rt::conv2d_grad_filter(&g, first, second, &mut out),
            }
            match self.nests {
                Nests::Defined => self.finish(&conv.finish, &out),
                Nests::Lowered => {
                    let epilogue = epilogue(self.plan, &conv.finish);
                    self.finish_by_loops(&conv.finish, &epilogue, &Element::wrap(out));
                }
            }
        });
    }
}

/// The `at`-th part of `count` elements.
fn part(all: &Elements, at: usize, count: usize) -> Elements {
    each_type!(all, all => Element::wrap(all[at * count..][..count].to_vec()))
}
