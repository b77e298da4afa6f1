//! The data of a plan: steps over buffers.

use std::sync::Arc;

use super::{Finish, Nest, Strips, View};
use crate::{
    data::TensorData,
    dim::{Dim, Symbol},
    ir::{Access, Convolution, External, Guard, Op, Own, ValueId},
    map::Map,
    ops::Requirement,
    ty::{DType, Shape, Type},
};

/// The steps of a program, and the memory that they use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The inputs, in order.
    pub inputs: Vec<Parameter>,
    /// The types of the results that are returned, in order.
    pub results: Vec<Type>,
    /// The source of each returned result.
    pub returned: Vec<Returned>,
    /// Every symbol, ascending.
    pub symbols: Vec<Symbol>,
    /// The conditions on symbolic extents that must hold before the first step.
    pub requirements: Vec<Requirement>,
    /// All buffers in memory.
    pub buffers: Vec<Buffer>,
    /// The memory for temporaries, at most one arena per element type.
    pub arenas: Vec<Arena>,
    /// The steps, in order. Every step that can fail precedes the first write to a result or parameter.
    pub steps: Vec<Step>,
}

impl Plan {
    /// The offset of a buffer in the arena of its element type, if it is there, whole or as a part of another.
    #[must_use]
    pub fn arena_offset(&self, buffer: BufferId) -> Option<Dim> {
        match &self.buffers[buffer.0].place {
            Location::Arena { offset } => Some(offset.clone()),
            Location::Part { of, from } => match &self.buffers[of.0].place {
                Location::Arena { offset } => {
                    Some(offset.add(from).expect("a part of a buffer is inside the arena"))
                }
                Location::Input(_) | Location::Result(_) | Location::Constant(_) | Location::Part { .. } => {
                    None
                }
            },
            Location::Input(_) | Location::Result(_) | Location::Constant(_) => None,
        }
    }

    /// The same plan with the symbols in this order, also in the plans of its loops.
    #[must_use]
    pub fn with_symbols(mut self, symbols: &[Symbol]) -> Self {
        self.symbols = symbols.to_vec();
        for step in &mut self.steps {
            if let Step::Loop(of) = step {
                *of.body = std::mem::take(&mut *of.body).with_symbols(symbols);
            }
        }
        self
    }
}

/// An input of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Whether the program writes a new value into it.
    pub updated: bool,
}

/// The source of a returned result.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// A tensor: the steps write it to this buffer, whose place is [`Location::Result`].
    Buffer(BufferId),
    /// A scalar.
    Scalar(Scalar),
}

/// The memory that temporaries of one element type need.
#[derive(Clone, Debug, PartialEq)]
pub struct Arena {
    /// The element type.
    pub dtype: DType,
    /// The number of elements, a multiple of those in [`ALIGNMENT`] bytes.
    pub len: Dim,
}

/// The alignment, in bytes, of the buffers in an arena.
pub const ALIGNMENT: usize = 64;

/// The position of a buffer in [`Plan::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub usize);

/// A contiguous row-major tensor in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Its location.
    pub place: Location,
    /// Element type and extents.
    pub ty: Type,
    /// The value it holds, for names.
    pub value: ValueId,
    /// Whether most elements are expected to be 0, as those of a mask that selects one of many.
    pub is_sparse: bool,
}

/// The location of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Location {
    /// The caller's input.
    Input(usize),
    /// The caller's result, in the order of [`Plan::results`].
    Result(usize),
    /// The arena of the buffer's element type, for as long as steps use the buffer. Buffers at one place hold the same
    /// number of elements.
    Arena {
        /// The element at which it begins. The offset in bytes is a multiple of [`ALIGNMENT`].
        offset: Dim,
    },
    /// Constant data of the program.
    Constant(TensorData),
    /// A part of another buffer, from an element on: of an input or result that [`Strips`] write, or of a joined tensor.
    Part {
        /// The whole buffer.
        of: BufferId,
        /// The element of the whole at which the part begins.
        from: Dim,
    },
}

/// A scalar that steps read.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A known number.
    Constant(TensorData),
    /// An input of rank 0, as it was on entry.
    Input(usize),
    /// A scalar that an earlier step computed.
    Local(ValueId),
    /// An element count that is known only at run time.
    Count {
        /// The number, above 0.
        count: Dim,
        /// The element type that it is converted to.
        dtype: DType,
    },
}

impl Scalar {
    /// Whether it is known to be 0.
    pub(crate) fn is_zero(&self) -> bool {
        matches!(self, Self::Constant(data) if *data == TensorData::splat(data.dtype(), 0.0))
    }
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Computes a scalar from scalars.
    Scalar(ScalarStep),
    /// Reads a scalar from memory.
    Load {
        /// The value of the scalar.
        result: ValueId,
        /// A view of rank 0.
        from: View,
    },
    /// Fused loops.
    Nest(Nest),
    /// A matrix product, batched.
    MatMul(MatMul),
    /// Computes the inner product of two vectors, a scalar.
    Dot {
        /// The value of the scalar.
        result: ValueId,
        /// Views of rank 1.
        operands: [View; 2],
    },
    /// Fails unless each of these integers satisfies a condition.
    Check {
        /// The integers, contiguous.
        integers: Integers,
        /// The condition.
        must: Condition,
    },
    /// A kernel called on whole tensors.
    Call(KernelCall),
    /// A plan that runs once for each element along the leading axis of operands.
    Loop(LoopStep),
    /// A convolution or one of its derivatives, of contiguous tensors.
    Conv2d(Conv2d),
    /// Watches a value. Such steps run in the order of the module.
    Watch {
        /// The action.
        watch: Watch,
        /// The value, contiguous.
        argument: KernelOperand,
    },
    /// Nests and products that run on a strip of rows at a time.
    Strips(Strips),
    /// Copies a buffer to an input that the program updates.
    Update {
        /// The new value, of the same type.
        from: BufferId,
        /// The input's buffer.
        to: BufferId,
    },
    /// Stores a scalar to an input of rank 0 that the program updates.
    UpdateScalar {
        /// The new value.
        from: Scalar,
        /// The position of the input.
        input: usize,
    },
}

/// A condition on integers that is checked before a program writes anything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// They are indices below this extent. Otherwise the program fails with E6001.
    BeBelow(Dim),
    /// They are divisors, and none is 0. Otherwise the program fails with E6010.
    Divide,
}

/// The action on a watched value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watch {
    /// The value is shown under this label to whoever runs the program.
    Show(Arc<str>),
    /// The value is searched for NaN.
    Search(Search),
}

/// A search of a value for NaN, after the searches of its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The value.
    pub value: ValueId,
    /// Its floating-point operands. All of them were searched. Empty for an input or a constant.
    pub made_of: Vec<ValueId>,
    /// Whether it is returned to the caller.
    pub delivered: bool,
}

/// The values that a plan watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watching {
    /// The values that the program shows.
    Shown,
    /// Also every floating-point value, to search it for NaN. Every such value is then in memory.
    Nan,
}

/// Indices that must be within an extent, or divisors.
#[derive(Clone, Debug, PartialEq)]
pub enum Integers {
    /// Contiguous in memory.
    Buffer(BufferId),
    /// A single integer.
    Scalar(Scalar, DType),
}

/// A scalar computed from other scalars.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarStep {
    /// The value of the scalar.
    pub result: ValueId,
    /// The function.
    pub op: Map,
    /// Its operands.
    pub operands: Vec<Scalar>,
    /// The element type.
    pub dtype: DType,
    /// The element type of its operands, except for a condition.
    pub of: DType,
}

/// `result[b, i, j] = sum over k of lhs[b, i, k] * rhs[b, k, j]`.
#[derive(Clone, Debug, PartialEq)]
pub struct MatMul {
    /// The left operand, of rank 2 plus the rank of the batch. Its strides are 0 where the batch is broadcast.
    pub lhs: View,
    /// The right operand, likewise.
    pub rhs: View,
    /// The batch extents.
    pub batch: Vec<Dim>,
    /// Rows of the result, contraction, columns of the result.
    pub extents: [Dim; 3],
    /// The processing of its elements.
    pub finish: Finish,
}

/// A convolution or one of its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Conv2d {
    /// The part that is computed.
    pub kind: ConvKind,
    /// Strides and padding.
    pub convolution: Convolution,
    /// The shape of the input, NHWC.
    pub input: Shape,
    /// The shape of the filter, HWCF.
    pub filter: Shape,
    /// The shape of the output, NHWC.
    pub output: Shape,
    /// Input and filter, or output's cotangent and filter, or input and output's cotangent.
    pub operands: [BufferId; 2],
    /// The processing of the elements of its result, a matrix with one column per channel.
    pub finish: Finish,
}

/// A kernel called on whole tensors, each contiguous. It computes an operation that is neither loops nor a product.
///
/// The table of [written operations](crate::written::kernel_text) gives the function of the run time and its arguments.
/// Expressions without types read this table too.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelCall {
    /// The operation. Its indices have been checked.
    pub op: Op,
    /// The operands.
    pub operands: Vec<KernelOperand>,
    /// The type of the result. A scalar is stored as one element. The result of a sort may be its first elements only.
    pub ty: Type,
    /// The buffer of the result.
    pub result: BufferId,
}

impl KernelCall {
    /// The called function, if the program does not define it.
    pub fn external(&self) -> Option<&External> {
        if let Op::Own(Own::External(external)) = &self.op { Some(external) } else { None }
    }
}

/// A plan that runs once for each element along the leading axis of operands.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopStep {
    /// The plan of a step. Its inputs are the operands; it updates those that are carries without a second buffer. Its
    /// results are the next values of the other carries, then the stacked results. Its symbols are those of the plan
    /// around it.
    pub body: Box<Plan>,
    /// The number of steps; `None` if only the guard ends the loop.
    pub steps: Option<Dim>,
    /// Whether the steps run from the last element to the first.
    pub reverse: bool,
    /// The rule for which steps run.
    pub guard: Guard,
    /// The operands, the first values of the carries before all others.
    pub operands: Vec<(KernelOperand, Access)>,
    /// The carries. A scalar is stored as one element.
    pub carries: Vec<Carry>,
    /// The buffers of the further results. Each step writes one element along the leading axis.
    pub stacked: Vec<BufferId>,
}

/// The memory of a carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carry {
    /// The buffer of the last value.
    pub last: BufferId,
    /// A buffer of the same size. A step reads one of the two and writes the other. `None` if each step updates the
    /// value in place.
    pub second: Option<BufferId>,
}

/// Whether a loop can fail: in a step, or because it has not ended after the last step.
pub(super) fn loop_can_fail(body: &Plan, guard: Guard, steps: Option<&Dim>) -> bool {
    (guard == Guard::Carry && steps.is_some()) || body.steps.iter().any(Step::can_fail)
}

/// An operand of a call, or a value that is watched.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelOperand {
    /// A contiguous tensor of this type.
    Tensor(BufferId, Type),
    /// A scalar.
    Scalar(Scalar, DType),
}

/// The part of a convolution that is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvKind {
    /// The output.
    Forward,
    /// The derivative by the input.
    GradInput,
    /// The derivative by the filter.
    GradFilter,
}

/// The update of an input by an output of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// The position among the module's outputs.
    pub output: usize,
    /// The position among the module's inputs.
    pub input: usize,
}
