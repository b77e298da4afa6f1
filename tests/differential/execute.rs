//! Plans executed step by step through the kernels that emitted code calls.
//!
//! Memory is laid out as emitted code lays it out: buffers of one slot are one piece of memory, so a slot given away too
//! early shows as a wrong result.

use std::collections::BTreeMap;

use mind::__private as rt;
use mind_core::{
    data::TensorData,
    dim::{Bindings, Dim},
    interp::{Elements, Value},
    ir::{Padding, ValueId},
    plan::{
        Buffer, BufferId, Conv2d, ConvKind, Fold, FoldTarget, Indices, Loop, MatMul, Operand, Place, Plan,
        Returned, Scalar, ScalarOp, Sink, Source, Step, View,
    },
    ty::{DType, Shape},
};

/// What a run leaves behind.
pub struct Outcome {
    /// The returned results, in order.
    pub results: Vec<Value>,
    /// Every input after the run.
    pub inputs: Vec<Value>,
}

/// Runs a plan on inputs whose extents `bindings` gives the symbols.
pub fn execute<'p>(
    plan: &'p Plan,
    inputs: &'p [Value],
    bindings: &'p Bindings,
) -> Result<Outcome, rt::Error> {
    let mut run = Run {
        plan,
        bindings,
        memory: BTreeMap::new(),
        locals: BTreeMap::new(),
        inputs: inputs.to_vec(),
        entry: inputs,
    };
    for step in &plan.steps {
        run.step(step)?;
    }
    let results = plan.returned.iter().zip(&plan.results).map(|(returned, ty)| {
        let shape: Vec<usize> = ty.shape.iter().map(|dim| run.size(dim)).collect();
        let elements = match returned {
            Returned::Scalar(scalar) => run.scalar(scalar),
            Returned::Buffer(buffer) => run.load_buffer(*buffer),
        };
        Value { shape, elements }
    });
    let results = results.collect();
    Ok(Outcome { results, inputs: run.inputs })
}

struct Run<'p> {
    plan: &'p Plan,
    bindings: &'p Bindings,
    /// Results and slots, by kind and number.
    memory: BTreeMap<(bool, usize), Elements>,
    locals: BTreeMap<ValueId, Elements>,
    inputs: Vec<Value>,
    /// The inputs before the run.
    entry: &'p [Value],
}

/// Calls `$body` with `$vec` bound to the elements' vector, whatever their type.
macro_rules! each_type {
    ($elements:expr, $vec:ident => $body:expr) => {
        match $elements {
            Elements::I32($vec) => $body,
            Elements::I64($vec) => $body,
            Elements::F32($vec) => $body,
            Elements::F64($vec) => $body,
        }
    };
}

trait Number: rt::Element {
    fn wrap(elements: Vec<Self>) -> Elements;
    fn unwrap(elements: &Elements) -> &[Self];
    fn apply(op: ScalarOp, operands: &[Self]) -> Self;
    fn sum(elements: &[Self]) -> Self;
    fn divided_by(self, count: usize) -> Self;
}

macro_rules! number {
    ($ty:ident, $variant:ident, $lanes:ident, $add:expr, $sub:expr, $mul:expr, $neg:expr, $float:expr, $divide:expr) => {
        impl Number for $ty {
            fn wrap(elements: Vec<Self>) -> Elements {
                Elements::$variant(elements)
            }
            fn unwrap(elements: &Elements) -> &[Self] {
                match elements {
                    Elements::$variant(elements) => elements,
                    _ => panic!("a buffer of another type"),
                }
            }
            fn apply(op: ScalarOp, operands: &[Self]) -> Self {
                let [a, b] = [operands[0], *operands.last().expect("operations have operands")];
                match op {
                    ScalarOp::Copy => a,
                    ScalarOp::Add => $add(a, b),
                    ScalarOp::Sub => $sub(a, b),
                    ScalarOp::Mul => $mul(a, b),
                    ScalarOp::Neg => $neg(a),
                    ScalarOp::Div | ScalarOp::Exp | ScalarOp::Log | ScalarOp::Relu | ScalarOp::ReluGrad => {
                        $float(op, a, b)
                    }
                }
            }
            fn sum(elements: &[Self]) -> Self {
                let mut lanes = [Self::default(); rt::$lanes];
                for (position, element) in elements.iter().enumerate() {
                    let lane = &mut lanes[position % rt::$lanes];
                    *lane = $add(*lane, *element);
                }
                rt::reduce_lanes(lanes)
            }
            fn divided_by(self, count: usize) -> Self {
                $divide(self, count)
            }
        }
    };
}

fn float_op<T: rt::Float + std::ops::Div<Output = T>>(op: ScalarOp, a: T, b: T) -> T {
    match op {
        ScalarOp::Div => a / b,
        ScalarOp::Exp => rt::exp(a),
        ScalarOp::Log => rt::ln(a),
        ScalarOp::Relu => rt::relu(a),
        ScalarOp::ReluGrad => rt::relu_grad(a, b),
        ScalarOp::Copy | ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul | ScalarOp::Neg => unreachable!(),
    }
}

number!(f32, F32, LANES_F32, |a, b| a + b, |a, b| a - b, |a, b| a * b, |a: f32| -a, float_op, |a: f32, n| a
    / n as f32);
number!(f64, F64, LANES_F64, |a, b| a + b, |a, b| a - b, |a, b| a * b, |a: f64| -a, float_op, |a: f64, n| a
    / n as f64);
number!(
    i32,
    I32,
    LANES_I32,
    i32::wrapping_add,
    i32::wrapping_sub,
    i32::wrapping_mul,
    i32::wrapping_neg,
    |_, _, _| panic!("floats only"),
    |_, _| panic!("floats only")
);
number!(
    i64,
    I64,
    LANES_I64,
    i64::wrapping_add,
    i64::wrapping_sub,
    i64::wrapping_mul,
    i64::wrapping_neg,
    |_, _, _| panic!("floats only"),
    |_, _| panic!("floats only")
);

fn zeros(dtype: DType, len: usize) -> Elements {
    match dtype {
        DType::I32 => Elements::I32(vec![0; len]),
        DType::I64 => Elements::I64(vec![0; len]),
        DType::F32 => Elements::F32(vec![0.0; len]),
        DType::F64 => Elements::F64(vec![0.0; len]),
        DType::Bool => panic!("no buffer holds truth values"),
    }
}

fn constant(data: &TensorData) -> Elements {
    match data {
        TensorData::I32(elements) => Elements::I32(elements.to_vec()),
        TensorData::I64(elements) => Elements::I64(elements.to_vec()),
        TensorData::F32(elements) => Elements::F32(elements.iter().map(|element| element.get()).collect()),
        TensorData::F64(elements) => Elements::F64(elements.iter().map(|element| element.get()).collect()),
    }
}

fn len(elements: &Elements) -> usize {
    each_type!(elements, vec => vec.len())
}

impl Run<'_> {
    fn size(&self, dim: &Dim) -> usize {
        let value = dim.evaluate(self.bindings).expect("every symbol is bound");
        usize::try_from(value).expect("sizes and strides are not negative")
    }

    fn sizes(&self, shape: &Shape) -> Vec<usize> {
        shape.iter().map(|dim| self.size(dim)).collect()
    }

    fn buffer(&self, id: BufferId) -> &Buffer {
        &self.plan.buffers[id.0]
    }

    /// The memory of a buffer, as long as the buffer.
    fn load_buffer(&self, id: BufferId) -> Elements {
        let buffer = self.buffer(id);
        let needed = self.sizes(&buffer.ty.shape).iter().product();
        let mut elements = match &buffer.place {
            Place::Input(input) => self.inputs[*input].elements.clone(),
            Place::Constant(data) => constant(data),
            Place::Result(result) => self.memory[&(true, *result)].clone(),
            Place::Slot(slot) => self.memory[&(false, *slot)].clone(),
        };
        each_type!(&mut elements, vec => vec.truncate(needed));
        assert_eq!(len(&elements), needed, "a slot is too small for {}", buffer.ty);
        elements
    }

    fn store_buffer(&mut self, id: BufferId, elements: Elements) {
        let buffer = &self.plan.buffers[id.0];
        assert_eq!(len(&elements), self.sizes(&buffer.ty.shape).iter().product::<usize>());
        match &buffer.place {
            Place::Input(input) => {
                assert!(self.plan.inputs[*input].updated, "an input that is not updated is written");
                self.inputs[*input].elements = elements;
            }
            Place::Constant(_) => panic!("a constant is written"),
            Place::Result(result) => _ = self.memory.insert((true, *result), elements),
            Place::Slot(slot) => {
                let (dtype, capacity) =
                    (self.plan.slots[*slot].dtype, self.size(&self.plan.slots[*slot].len));
                assert_eq!(dtype, buffer.ty.dtype);
                // What lies beyond the buffer in the slot stays.
                let mut whole = self.memory.remove(&(false, *slot)).unwrap_or_else(|| zeros(dtype, capacity));
                macro_rules! copy {
                    ($($variant:ident)*) => {
                        match (&mut whole, &elements) {
                            $((Elements::$variant(to), Elements::$variant(from)) => to[..from.len()].copy_from_slice(from),)*
                            _ => panic!("a slot of another type"),
                        }
                    };
                }
                copy!(I32 I64 F32 F64);
                self.memory.insert((false, *slot), whole);
            }
        }
    }

    fn scalar(&self, scalar: &Scalar) -> Elements {
        match scalar {
            Scalar::Constant(data) => constant(data),
            Scalar::Input(input) => self.entry[*input].elements.clone(),
            Scalar::Local(value) => self.locals[value].clone(),
        }
    }

    /// The elements of a view in row-major order.
    fn gathered(&self, view: &View) -> Elements {
        let shape = self.sizes(&view.shape);
        match &view.source {
            Source::Scalar(scalar) => {
                let count: usize = shape.iter().product();
                each_type!(self.scalar(scalar), vec => Number::wrap(vec![vec[0]; count]))
            }
            Source::Buffer(buffer) => {
                let positions = self.positions(view, &shape);
                each_type!(self.load_buffer(*buffer), vec => {
                    Number::wrap(positions.iter().map(|position| vec[*position]).collect())
                })
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

    fn step(&mut self, step: &Step) -> Result<(), rt::Error> {
        match step {
            Step::Scalar(step) => {
                let operands: Vec<Elements> =
                    step.operands.iter().map(|operand| self.scalar(operand)).collect();
                let result = match step.dtype {
                    DType::I32 => scalar_op::<i32>(step.op, &operands),
                    DType::I64 => scalar_op::<i64>(step.op, &operands),
                    DType::F32 => scalar_op::<f32>(step.op, &operands),
                    DType::F64 => scalar_op::<f64>(step.op, &operands),
                    DType::Bool => panic!("no operation takes truth values"),
                };
                self.locals.insert(step.result, result);
            }
            Step::Load { result, from } => _ = self.locals.insert(*result, self.gathered(from)),
            Step::Loop(nest) => match nest.body.last().expect("a loop computes something").dtype {
                DType::I32 => self.nest::<i32>(nest),
                DType::I64 => self.nest::<i64>(nest),
                DType::F32 => self.nest::<f32>(nest),
                DType::F64 => self.nest::<f64>(nest),
                DType::Bool => panic!("no operation takes truth values"),
            },
            Step::MatMul(product) => match self.buffer(product.result).ty.dtype {
                DType::I32 => self.matmul::<i32>(product),
                DType::I64 => self.matmul::<i64>(product),
                DType::F32 => self.matmul::<f32>(product),
                DType::F64 => self.matmul::<f64>(product),
                DType::Bool => panic!("no operation takes truth values"),
            },
            Step::Dot { result, operands: [lhs, rhs] } => {
                let [a, b] = [lhs, rhs].map(|view| self.load_buffer(view.buffer().expect("in memory")));
                let len = self.size(&lhs.shape[0]);
                let [(ao, astep), (bo, bstep)] =
                    [lhs, rhs].map(|view| (self.size(&view.offset), self.size(&view.strides[0])));
                let value = each_type!(&a, vec => {
                    Number::wrap(vec![rt::dot(len, (vec, ao, astep), (Number::unwrap(&b), bo, bstep))])
                });
                self.locals.insert(*result, value);
            }
            Step::CheckIndices { indices, extent, .. } => {
                let extent = self.size(extent);
                match self.indices(indices) {
                    Elements::I32(indices) => rt::check_indices(&indices, extent, "test")?,
                    Elements::I64(indices) => rt::check_indices(&indices, extent, "test")?,
                    Elements::F32(_) | Elements::F64(_) => panic!("indices are integers"),
                }
            }
            Step::Gather { table, indices, row, result } => {
                let (row, mut out) = (self.size(row), self.empty(*result));
                each_type!(self.load_buffer(*table), table => {
                    let mut rows = Number::unwrap(&out).to_vec();
                    match self.indices(indices) {
                        Elements::I32(indices) => rt::gather(&table, row, &indices, &mut rows),
                        Elements::I64(indices) => rt::gather(&table, row, &indices, &mut rows),
                        Elements::F32(_) | Elements::F64(_) => panic!("indices are integers"),
                    }
                    out = Number::wrap(rows);
                });
                self.store_buffer(*result, out);
            }
            Step::ScatterAdd { indices, updates, row, result } => {
                let (row, mut out) = (self.size(row), self.empty(*result));
                each_type!(self.load_buffer(*updates), updates => {
                    let mut rows = Number::unwrap(&out).to_vec();
                    match self.indices(indices) {
                        Elements::I32(indices) => rt::scatter_add(&mut rows, row, &indices, &updates),
                        Elements::I64(indices) => rt::scatter_add(&mut rows, row, &indices, &updates),
                        Elements::F32(_) | Elements::F64(_) => panic!("indices are integers"),
                    }
                    out = Number::wrap(rows);
                });
                self.store_buffer(*result, out);
            }
            Step::SliceGrad { updates, part, slice, result } => {
                let whole = self.sizes(&self.buffer(*result).ty.shape);
                let part = self.sizes(part);
                let starts: Vec<usize> = slice.starts.iter().map(|start| self.size(start)).collect();
                let steps: Vec<usize> =
                    slice.steps.iter().map(|step| usize::try_from(*step).expect("positive")).collect();
                let mut out = self.empty(*result);
                each_type!(self.load_buffer(*updates), updates => {
                    let mut all = Number::unwrap(&out).to_vec();
                    rt::slice_grad(&whole, &starts, &steps, &part, &updates, &mut all);
                    out = Number::wrap(all);
                });
                self.store_buffer(*result, out);
            }
            Step::Conv2d(convolution) => self.conv2d(convolution),
            Step::Update { from, to } => {
                let elements = self.load_buffer(*from);
                self.store_buffer(*to, elements);
            }
            Step::UpdateScalar { from, input } => self.inputs[*input].elements = self.scalar(from),
        }
        Ok(())
    }

    /// Something to be overwritten: not zeros, so that what a kernel leaves unwritten shows.
    fn empty(&self, buffer: BufferId) -> Elements {
        let ty = &self.buffer(buffer).ty;
        let len = self.sizes(&ty.shape).iter().product();
        match ty.dtype {
            DType::I32 => Elements::I32(vec![77; len]),
            DType::I64 => Elements::I64(vec![77; len]),
            DType::F32 => Elements::F32(vec![f32::NAN; len]),
            DType::F64 => Elements::F64(vec![f64::NAN; len]),
            DType::Bool => panic!("no buffer holds truth values"),
        }
    }

    fn indices(&self, indices: &Indices) -> Elements {
        match indices {
            Indices::Buffer(buffer) => self.load_buffer(*buffer),
            Indices::Scalar(scalar, _) => self.scalar(scalar),
        }
    }

    fn nest<T: Number>(&mut self, nest: &Loop) {
        let extents: Vec<usize> = nest.extents.iter().map(|extent| self.size(extent)).collect();
        let loads: Vec<Elements> = nest.loads.iter().map(|view| self.gathered(view)).collect();
        let count: usize = extents.iter().product();
        let scalars: Vec<Vec<Option<T>>> = nest
            .body
            .iter()
            .map(|node| {
                let operand = |operand: &Operand| match operand {
                    Operand::Scalar(scalar) => Some(T::unwrap(&self.scalar(scalar))[0]),
                    Operand::Load(_) | Operand::Node(_) => None,
                };
                node.operands.iter().map(operand).collect()
            })
            .collect();
        let values: Vec<T> = (0..count)
            .map(|index| {
                let mut nodes: Vec<T> = Vec::with_capacity(nest.body.len());
                for (node, scalars) in nest.body.iter().zip(&scalars) {
                    let operands: Vec<T> = node
                        .operands
                        .iter()
                        .zip(scalars)
                        .map(|(operand, scalar)| match operand {
                            Operand::Load(load) => T::unwrap(&loads[*load])[index],
                            Operand::Node(node) => nodes[*node],
                            Operand::Scalar(_) => scalar.expect("read above"),
                        })
                        .collect();
                    nodes.push(T::apply(node.op, &operands));
                }
                *nodes.last().expect("a loop computes something")
            })
            .collect();
        match &nest.sink {
            Sink::Store(target) => {
                let positions = self.positions(target, &extents);
                let mut out = values.clone();
                for (position, value) in positions.iter().zip(values) {
                    out[*position] = value;
                }
                self.store_buffer(target.buffer().expect("in memory"), T::wrap(out));
            }
            Sink::Fold(fold) => self.fold(fold, &extents, &values),
        }
    }

    fn fold<T: Number>(&mut self, fold: &Fold, extents: &[usize], values: &[T]) {
        let count = fold.count.as_ref().map(|count| self.size(count));
        let finish = |sum: T| count.map_or(sum, |count| sum.divided_by(count));
        match &fold.target {
            FoldTarget::Scalar(value) => {
                _ = self.locals.insert(*value, T::wrap(vec![finish(T::sum(values))]))
            }
            FoldTarget::Buffer(target) => {
                let mut groups: BTreeMap<usize, Vec<T>> = BTreeMap::new();
                for (position, value) in self.positions(target, extents).into_iter().zip(values) {
                    groups.entry(position).or_default().push(*value);
                }
                let sums = groups.values().map(|group| finish(T::sum(group))).collect();
                self.store_buffer(target.buffer().expect("in memory"), T::wrap(sums));
            }
        }
    }

    fn matmul<T: Number>(&mut self, product: &MatMul) {
        let batch: Vec<rt::BatchDim> = product
            .batch
            .iter()
            .enumerate()
            .map(|(axis, extent)| rt::BatchDim {
                extent: self.size(extent),
                lhs_stride: self.size(&product.lhs.strides[axis]),
                rhs_stride: self.size(&product.rhs.strides[axis]),
            })
            .collect();
        let [m, k, n] = [0, 1, 2].map(|position| self.size(&product.extents[position]));
        let operand = |view: &View| {
            let rank = view.strides.len();
            let layout = [
                self.size(&view.offset),
                self.size(&view.strides[rank - 2]),
                self.size(&view.strides[rank - 1]),
            ];
            (self.load_buffer(view.buffer().expect("in memory")), layout)
        };
        let (lhs, rhs) = (operand(&product.lhs), operand(&product.rhs));
        let matrix = |(data, [offset, row_stride, col_stride]): &(Elements, [usize; 3])| {
            let data = T::unwrap(data).to_vec();
            (data, *offset, *row_stride, *col_stride)
        };
        let (lhs, rhs) = (matrix(&lhs), matrix(&rhs));
        let mut out = T::unwrap(&self.empty(product.result)).to_vec();
        rt::matmul(
            &batch,
            [m, k, n],
            rt::MatRef { data: &lhs.0, offset: lhs.1, row_stride: lhs.2, col_stride: lhs.3 },
            rt::MatRef { data: &rhs.0, offset: rhs.1, row_stride: rhs.2, col_stride: rhs.3 },
            &mut out,
        );
        self.store_buffer(product.result, T::wrap(out));
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
        let mut out = self.empty(conv.result);
        each_type!(&first, first => {
            let (second, mut all) = (Number::unwrap(&second), Number::unwrap(&out).to_vec());
            match conv.kind {
                ConvKind::Forward => rt::conv2d(&g, first, second, &mut all),
                ConvKind::GradInput => rt::conv2d_grad_input(&g, first, second, &mut all),
                ConvKind::GradFilter => rt::conv2d_grad_filter(&g, first, second, &mut all),
            }
            out = Number::wrap(all);
        });
        self.store_buffer(conv.result, out);
    }
}

fn scalar_op<T: Number>(op: ScalarOp, operands: &[Elements]) -> Elements {
    let operands: Vec<T> = operands.iter().map(|operand| T::unwrap(operand)[0]).collect();
    T::wrap(vec![T::apply(op, &operands)])
}
