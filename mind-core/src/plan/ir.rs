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

/// What a program does, step by step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The inputs, in order.
    pub inputs: Vec<Parameter>,
    /// The types of the results that are returned, in order.
    pub results: Vec<Type>,
    /// Where each result comes from.
    pub returned: Vec<Returned>,
    /// Every unknown extent, ascending.
    pub symbols: Vec<Symbol>,
    /// What must hold of symbolic extents before the first step.
    pub requirements: Vec<Requirement>,
    /// Everything in memory.
    pub buffers: Vec<Buffer>,
    /// Memory for temporaries, at most one arena an element type.
    pub arenas: Vec<Arena>,
    /// What runs, in order. Everything that can fail comes before the first write to a result or parameter.
    pub steps: Vec<Step>,
}

impl Plan {
    /// The same plan, and those of its loops, with the unknown extents in this order.
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

/// Where a returned result comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// A tensor: the steps write it to this buffer, whose place is [`Location::Result`].
    Buffer(BufferId),
    /// A single number.
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

/// Buffers in an arena begin at multiples of so many bytes.
pub const ALIGNMENT: usize = 64;

/// The position of a buffer in [`Plan::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub usize);

/// A contiguous row-major tensor in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Where it lies.
    pub place: Location,
    /// Element type and extents.
    pub ty: Type,
    /// The value it holds, for names.
    pub value: ValueId,
}

/// Where a buffer lies.
#[derive(Clone, Debug, PartialEq)]
pub enum Location {
    /// The caller's input.
    Input(usize),
    /// The caller's result, in the order of [`Plan::results`].
    Result(usize),
    /// The arena of the buffer's element type, for as long as steps use the buffer. Buffers at one place hold the same
    /// number of elements.
    Arena {
        /// The element that it begins at; its bytes are a multiple of [`ALIGNMENT`].
        offset: Dim,
    },
    /// Constant data of the program.
    Constant(TensorData),
    /// A part of an input or result that [`Strips`] write, from an element on.
    Part {
        /// The whole.
        of: BufferId,
        /// The element that it begins at.
        from: Dim,
    },
}

/// A single number as steps name it.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A known number.
    Constant(TensorData),
    /// An input of rank 0, as it was on entry.
    Input(usize),
    /// What an earlier step computed.
    Local(ValueId),
    /// A number of elements that only run time knows.
    Count {
        /// The number, above 0.
        count: Dim,
        /// The element type that it is converted to.
        dtype: DType,
    },
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A single number from single numbers.
    Scalar(ScalarStep),
    /// A single number from memory.
    Load {
        /// What it is from now on.
        result: ValueId,
        /// A view of rank 0.
        from: View,
    },
    /// Fused loops.
    Nest(Nest),
    /// A matrix product, batched.
    MatMul(MatMul),
    /// The inner product of two vectors, to a single number.
    Dot {
        /// What it is from now on.
        result: ValueId,
        /// Views of rank 1.
        operands: [View; 2],
    },
    /// An error unless something holds of each of these integers.
    Check {
        /// Contiguous.
        integers: Integers,
        /// What must hold.
        must: Condition,
    },
    /// A kernel called on whole tensors.
    Call(Call),
    /// A plan that runs once for each element along the leading axis of operands.
    Loop(Loop),
    /// A convolution or one of its derivatives, all contiguous.
    Conv2d(Conv2d),
    /// A value that is watched. Such steps run in the order of the module.
    Watch {
        /// What is done with it.
        watch: Watch,
        /// The value, contiguous.
        argument: Argument,
    },
    /// Nests and products, a strip of rows at a time.
    Strips(Strips),
    /// A buffer copied into an input that the program updates.
    Update {
        /// Of the same type.
        from: BufferId,
        /// The input's buffer.
        to: BufferId,
    },
    /// A single number stored into an input of rank 0 that the program updates.
    UpdateScalar {
        /// The new value.
        from: Scalar,
        /// The position of the input.
        input: usize,
    },
}

/// What a program asks of integers before it writes anything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// They index this extent; else it is E6001.
    BeBelow(Dim),
    /// They divide, so none is 0; else it is E6010.
    Divide,
}

/// What is done with a value that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Whoever runs the program is shown it under this label.
    Show(Arc<str>),
    /// It is searched for NaN.
    Search(Search),
}

/// A search of a value for NaN, after the same of all that it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The value.
    pub value: ValueId,
    /// The values of floats that it is made of, all of which were searched; none of an input or a constant.
    pub made_of: Vec<ValueId>,
    /// Whether the caller gets it.
    pub delivered: bool,
}

/// Which values a plan watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watching {
    /// Those that the program says are to be shown.
    Shown,
    /// And for NaN all of floats, which are all in memory then.
    Nan,
}

/// Indices that are to be within an extent, or divisors.
#[derive(Clone, Debug, PartialEq)]
pub enum Integers {
    /// Contiguous in memory.
    Buffer(BufferId),
    /// A single one.
    Scalar(Scalar, DType),
}

/// A single number computed from others.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarStep {
    /// What it is from now on.
    pub result: ValueId,
    /// The function.
    pub op: Map,
    /// Its operands.
    pub operands: Vec<Scalar>,
    /// The element type.
    pub dtype: DType,
    /// That of its operands, but for a condition.
    pub of: DType,
}

/// `result[b, i, j] = sum over k of lhs[b, i, k] * rhs[b, k, j]`.
#[derive(Clone, Debug, PartialEq)]
pub struct MatMul {
    /// Of rank 2 plus the batch's; stride 0 where the batch is broadcast.
    pub lhs: View,
    /// Likewise.
    pub rhs: View,
    /// The batch extents.
    pub batch: Vec<Dim>,
    /// Rows of the result, contraction, columns of the result.
    pub extents: [Dim; 3],
    /// What becomes of its elements.
    pub finish: Finish,
}

/// A convolution or one of its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Conv2d {
    /// Which of the three.
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
    /// What becomes of the elements of its result, a matrix with a column for each channel.
    pub finish: Finish,
}

/// A kernel called on whole tensors, each contiguous: what computes an operation that is neither loops nor a product.
///
/// Nothing here says which function of the run time that is, or what it is given: both stand in the table of
/// [written operations](crate::written::kernel_text), which expressions without types read too.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The operation. Indices that it takes have been checked.
    pub op: Op,
    /// The operands.
    pub operands: Vec<Argument>,
    /// The type of the result; a single number is stored as one element.
    pub ty: Type,
    /// Where the result goes.
    pub result: BufferId,
}

impl Call {
    /// The function that is called, if it is one that the program does not hold.
    pub fn external(&self) -> Option<&External> {
        if let Op::Own(Own::External(external)) = &self.op { Some(external) } else { None }
    }
}

/// A plan that runs once for each element along the leading axis of operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The plan of a step. Its inputs are the operands, its results are the next carries, then the results that are stacked. Its symbols are
    /// those of the plan around it.
    pub body: Box<Plan>,
    /// The number of steps, unless only the guard ends the loop.
    pub steps: Option<Dim>,
    /// Whether the last element is the first to be visited.
    pub reverse: bool,
    /// Which steps run.
    pub guard: Guard,
    /// The operands, the first values of the carries before all others.
    pub operands: Vec<(Argument, Access)>,
    /// For each carry where its last value goes, and as much memory again. A single number is stored as one element.
    pub carries: Vec<[BufferId; 2]>,
    /// Where what each step gives behind the carries goes, an element along the leading axis each.
    pub stacked: Vec<BufferId>,
}

impl Loop {
    /// Whether it can fail: in a step, or because it has not ended after the last step.
    pub fn can_fail(&self) -> bool {
        let is_limited = self.guard == Guard::Carry && self.steps.is_some();
        is_limited || self.body.steps.iter().any(Step::can_fail)
    }
}

/// An operand of a call, or a value that is watched.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A tensor of these extents, contiguous.
    Tensor(BufferId, Type),
    /// A single number.
    Scalar(Scalar, DType),
}

/// Which part of a convolution is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvKind {
    /// The output.
    Forward,
    /// The derivative by the input.
    GradInput,
    /// The derivative by the filter.
    GradFilter,
}

/// Which input an output of the module updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// The position among the module's outputs.
    pub output: usize,
    /// The position among the module's inputs.
    pub input: usize,
}
