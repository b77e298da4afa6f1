//! Core IR: a flat list of instructions in SSA order.

mod module;
mod nested;

use std::{fmt, hash::Hash, sync::Arc};

pub use module::Module;
pub use nested::{Access, Guard, Nested, Nesting, NestingFault, Scan};

use crate::{
    cumulate::Cumulate,
    data::{F32, F64, TensorData},
    dim::Dim,
    map::Map,
    reduce::{ArgReduce, Reduce},
    ty::{DType, Shape, Type},
};

/// A value, by the position of the instruction that makes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(u32);

impl ValueId {
    /// The value of the instruction at this position.
    ///
    /// # Panics
    /// If the position exceeds 32 bits, which no module within the limits reaches.
    pub fn new(position: usize) -> Self {
        Self(u32::try_from(position).expect("a module holds fewer than 2^32 instructions"))
    }

    /// The position of the instruction that makes the value.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// As in Core IR text, `%3`.
impl fmt::Display for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl fmt::Debug for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How attributes are written, and what a form of operations has beside the common ones.
pub trait Form: Clone + fmt::Debug + Eq + Hash {
    /// What names an input.
    type Name: Clone + fmt::Debug + Eq + Hash;
    /// Known values.
    type Const: Clone + fmt::Debug + Eq + Hash;
    /// A shape.
    type Shape: Clone + fmt::Debug + Eq + Hash;
    /// Axes where leaving them out means something.
    type Axes: Clone + fmt::Debug + Eq + Hash;
    /// In which order axes are taken.
    type Permutation: Clone + fmt::Debug + Eq + Hash;
    /// The places of an index expression.
    type Indices: Clone + fmt::Debug + Eq + Hash;
    /// A bound of a slice.
    type Bound: Clone + fmt::Debug + Eq + Hash;
    /// An operation that this form alone has.
    type Own: Clone + fmt::Debug + Eq + Hash;
}

/// The form of Core IR: nothing is left out, nothing counts from the end, and what has no value has a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolved {}

impl Form for Resolved {
    type Name = Arc<str>;
    type Const = Const;
    type Shape = Shape;
    type Axes = Vec<i64>;
    type Permutation = Vec<i64>;
    type Indices = Vec<Dim>;
    type Bound = Dim;
    type Own = Own;
}

/// An operation with its attributes: of Core IR, or of a program without types ([`open::Op`](crate::open::Op)). What an
/// operation of Core IR means stands in its row of the table, [`Op::info`](Op::info).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op<A: Form = Resolved> {
    /// A named input of the module.
    Input {
        /// Its name, unique among the inputs.
        name: A::Name,
    },
    /// Known values.
    Const(A::Const),
    /// Made of attributes alone.
    Made(Made),
    /// A function of the elements at each index.
    Map(Map),
    /// A reduction over axes.
    Reduce(Reduce, Reduction<A::Axes>),
    /// The position of the largest or the smallest element over axes, counted row by row along these.
    ArgReduce(ArgReduce, Reduction<A::Axes>),
    /// What the elements up to each along an axis are together.
    Cumulate(Cumulate, Cumulation),
    /// The elements along an axis in another order.
    Reorder(Reorder),
    /// The elements of the operand in another arrangement.
    Arrange(Arrange<A>),
    /// Elements at places that are known, taken out or put back.
    Part(Part<A>),
    /// Rows or elements that integers pick, taken out or added back.
    Rows(Rows<A>),
    /// Tensors put together to one.
    Join(Join),
    /// A product of vectors or matrices.
    Product(Product),
    /// A filter that moves over an image, and its derivatives.
    Window(Window<A>),
    /// The operand as it is, and something beside that is done with it.
    Effect(Effect),
    /// One that this form alone has.
    Own(A::Own),
}

impl<A: Form> Op<A> {
    /// An input.
    pub const fn input(name: A::Name) -> Self {
        Self::Input { name }
    }

    /// What names it, if it is an input.
    pub const fn input_name(&self) -> Option<&A::Name> {
        if let Self::Input { name } = self { Some(name) } else { None }
    }

    /// Whether it is an input.
    pub const fn is_input(&self) -> bool {
        self.input_name().is_some()
    }

    /// How it is shown in listings: without its kind, where the operation's own name says it.
    pub fn shown(&self) -> &dyn fmt::Debug {
        match self {
            Self::Made(op) => op,
            Self::Reorder(op) => op,
            Self::Arrange(op) => op,
            Self::Part(op) => op,
            Self::Rows(op) => op,
            Self::Join(op) => op,
            Self::Product(op) => op,
            Self::Window(op) => op,
            Self::Effect(op) => op,
            Self::Own(op) => op,
            _ => self,
        }
    }

    /// The same operation in another form, where nothing of it depends on the form.
    pub(crate) fn in_form<B: Form>(&self) -> Option<Op<B>> {
        Some(match self {
            Self::Made(op) => Op::Made(op.clone()),
            Self::Map(op) => Op::Map(*op),
            Self::Cumulate(op, cumulation) => Op::Cumulate(*op, *cumulation),
            Self::Reorder(op) => Op::Reorder(*op),
            Self::Join(op) => Op::Join(*op),
            Self::Product(op) => Op::Product(*op),
            Self::Effect(op) => Op::Effect(op.clone()),
            _ => return None,
        })
    }

    /// Whether it passes its operand on and does something besides: it is there as often as it is written, needed or not.
    pub const fn is_effect(&self) -> bool {
        matches!(self, Self::Effect(_))
    }
}

/// Values that are made of attributes alone. Their rows are in `ops/making.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Made {
    /// Each element its position along an axis, an `i64`; an extension.
    Iota {
        /// The extents.
        shape: Vec<Dim>,
        /// The axis; in Core IR a position.
        axis: i64,
    },
}

/// The elements along an axis in another order. Their rows are in `ops/ordering.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reorder {
    /// From the last to the first; an extension.
    Flip {
        /// The axis; in Core IR a position.
        axis: i64,
    },
    /// Moved by `shift` places, those moved off one end to the other; an extension.
    Roll {
        /// By how many places to the back; to the front where it is negative.
        shift: i64,
        /// The axis; in Core IR a position.
        axis: i64,
    },
    /// From the least to the greatest; an extension.
    Sort {
        /// The axis; in Core IR a position.
        axis: i64,
        /// Whether from the greatest to the least.
        descending: bool,
    },
    /// The positions of the elements in that order; an extension.
    ArgSort {
        /// The axis; in Core IR a position.
        axis: i64,
        /// Whether from the greatest to the least.
        descending: bool,
    },
}

impl Reorder {
    /// Whether the order depends on the elements, which are numbers then. Else they are of any type.
    #[must_use]
    pub fn compares(&self) -> bool {
        match self {
            Self::Flip { .. } | Self::Roll { .. } => false,
            Self::Sort { .. } | Self::ArgSort { .. } => true,
        }
    }
}

impl Arrange<Resolved> {
    /// The transpose of a matrix.
    pub(crate) fn transposed() -> Self {
        Self::Transpose { permutation: vec![1, 0] }
    }
}

/// The same elements in another arrangement. Their rows are in `ops/shape.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Arrange<A: Form = Resolved> {
    /// The same elements in another shape.
    Reshape {
        /// The new shape.
        shape: A::Shape,
    },
    /// Axes permuted: `result.shape[i] = operand.shape[permutation[i]]`.
    Transpose {
        /// Each axis once.
        permutation: A::Permutation,
    },
    /// New axes of extent 1.
    ExpandDims {
        /// Their positions in the result, ascending.
        axes: Vec<i64>,
    },
    /// Axes of extent 1 removed.
    Squeeze {
        /// Their positions in the operand; in Core IR empty is the identity.
        axes: A::Axes,
    },
    /// The operand broadcast to a shape; an extension.
    BroadcastTo {
        /// The result's shape.
        shape: A::Shape,
    },
}

/// Elements at known places. Their rows are in `ops/indexing.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part<A: Form = Resolved> {
    /// An element, or with ranges a box.
    Index {
        /// In Core IR one index an axis.
        indices: A::Indices,
    },
    /// A strided box of elements.
    Slice(Box<Slice<A::Bound>>),
    /// Zeros of a shape with the operand placed where the slice takes from; an extension.
    SliceGrad {
        /// The shape sliced from, and the result's.
        shape: A::Shape,
        /// The slice.
        slice: Box<Slice<A::Bound>>,
    },
}

/// Rows or elements that integers pick. Their rows of the table are in `ops/gathering.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rows<A: Form = Resolved> {
    /// Rows of the first operand picked by the second, of integers.
    Gather,
    /// Zeros of a shape with the rows of `(indices, updates)` added at the indices; an extension.
    ScatterAdd {
        /// The result's shape.
        shape: A::Shape,
    },
    /// Elements of the first operand, picked along an axis by the second, of integers; an extension.
    TakeAlong {
        /// The axis; in Core IR a position.
        axis: i64,
    },
    /// Zeros of a shape with the elements of `(indices, updates)` added along an axis at the indices; an extension.
    AddAlong {
        /// The result's shape.
        shape: A::Shape,
        /// The axis; in Core IR a position.
        axis: i64,
    },
}

/// Tensors put together. Their rows are in `ops/joining.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// One after the other along an axis; an extension.
    Concat {
        /// The axis; in Core IR a position.
        axis: i64,
    },
}

/// Products. Their rows are in `ops/linear.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
    /// Inner product, matrix times vector, vector times matrix, or matrix times matrix.
    Dot,
    /// Batched matrix product.
    MatMul,
}

/// A filter that moves over an image. Their rows are in `ops/convolution.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Window<A: Form = Resolved> {
    /// Two-dimensional convolution of NHWC by HWCF.
    Conv2d(Convolution),
    /// The derivative of `Conv2d` by its input, of `(dy, filter)`; an extension.
    Conv2dGradInput {
        /// The input's shape, and the result's.
        shape: A::Shape,
        /// The convolution.
        convolution: Box<Convolution>,
    },
    /// The derivative of `Conv2d` by its filter, of `(input, dy)`; an extension.
    Conv2dGradFilter {
        /// The filter's shape, and the result's.
        shape: A::Shape,
        /// The convolution.
        convolution: Box<Convolution>,
    },
}

/// The operand as it is, and something beside that is done with it. Their rows are in `ops/effects.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Whoever runs the program is shown the operand; an extension.
    Inspect {
        /// What it is shown as.
        label: Arc<str>,
    },
}

impl Effect {
    /// What it is shown as.
    pub const fn label(&self) -> &Arc<str> {
        match self {
            Self::Inspect { label } => label,
        }
    }
}

/// Known values in Core IR.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    /// An `i64`.
    I64(i64),
    /// An `f32`.
    F32(F32),
    /// An `f64`.
    F64(F64),
    /// A tensor of known values.
    Tensor {
        /// The values; their element type is the result's.
        data: TensorData,
        /// Known extents.
        shape: Shape,
    },
    /// How many elements a shape has, as a number, which only run time may know; an extension.
    Count {
        /// The shape.
        shape: Shape,
        /// The element type of the number.
        dtype: DType,
    },
}

impl Const {
    /// The one way to write these values in canonical form.
    pub fn new(data: TensorData, shape: Shape) -> Self {
        match (&data, shape.rank()) {
            (TensorData::I64(elements), 0) => Self::I64(elements[0].get()),
            (TensorData::F32(elements), 0) => Self::F32(elements[0]),
            (TensorData::F64(elements), 0) => Self::F64(elements[0]),
            _ => Self::Tensor { data, shape },
        }
    }

    /// These values in the one way to write them in canonical form.
    pub(crate) fn canonical(self) -> Self {
        match self {
            Self::Tensor { data, shape } => Self::new(data, shape),
            Self::Count { .. } => match self.data() {
                Some(known) => Self::new(known, Shape::scalar()),
                None => self,
            },
            Self::I64(_) | Self::F32(_) | Self::F64(_) => self,
        }
    }

    /// The values, a single one filling the shape; nothing where only run time knows them.
    pub fn data(&self) -> Option<TensorData> {
        Some(match self {
            Self::I64(value) => vec![*value].into(),
            Self::F32(value) => vec![value.get()].into(),
            Self::F64(value) => vec![value.get()].into(),
            Self::Tensor { data, .. } => data.clone(),
            Self::Count { shape, dtype } => {
                TensorData::count(shape.element_count().ok()?.as_literal()?, *dtype)
            }
        })
    }
}

/// What Core IR alone has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Own {
    /// A function that is elsewhere.
    External(External),
    /// A module within an instruction, or a further result of one.
    Nesting(Nesting),
}

/// A function that is elsewhere; an extension of Core IR.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum External {
    /// A call of it.
    Call {
        /// Its path in Rust.
        function: Arc<str>,
        /// The shape of what it gives.
        shape: Shape,
    },
    /// What it, or its derivative, passes back to its operands of floats, one after the other.
    Grad {
        /// The path of the function.
        function: Arc<str>,
        /// How often it is differentiated, 1 or more.
        order: i64,
    },
}

impl External {
    /// The path of the function in Rust.
    pub const fn function(&self) -> &Arc<str> {
        match self {
            Self::Call { function, .. } | Self::Grad { function, .. } => function,
        }
    }
}

/// Which axes a reduction takes away.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reduction<A = Vec<i64>> {
    /// Ascending positions; empty means every axis, and then the result is a single number.
    pub axes: A,
    /// Whether reduced axes stay with extent 1.
    pub keepdims: bool,
}

/// Which elements are together at each place along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cumulation {
    /// The axis; in Core IR a position.
    pub axis: i64,
    /// Whether they are those from the place on, the last one first, instead of those up to it.
    pub reverse: bool,
    /// Whether the one at the place is not among them.
    pub exclusive: bool,
}

/// A strided box of elements; every list has the operand's rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slice<B = Dim> {
    /// The first position of each axis.
    pub starts: Vec<B>,
    /// One past the last position of each axis.
    pub ends: Vec<B>,
    /// The distance between positions, at least 1.
    pub steps: Vec<i64>,
}

impl Slice {
    /// Whether it takes all of a tensor of this shape as it is.
    pub fn is_whole(&self, shape: &Shape) -> bool {
        self.starts.iter().all(|start| *start == Dim::ZERO)
            && self.ends.iter().eq(shape.iter())
            && self.steps.iter().all(|step| *step == 1)
    }
}

/// How a filter moves over an image.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Convolution {
    /// Vertical and horizontal step.
    pub strides: Vec<i64>,
    /// What surrounds the image.
    pub padding: Padding,
}

/// What surrounds an image that is convolved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Padding {
    /// Nothing.
    Valid,
    /// As many zeros as make the result `ceil(extent / stride)`, the odd one after.
    Same,
    /// Pairs of zeros before and after, vertical then horizontal.
    Custom(Vec<[i64; 2]>),
}

/// One instruction: an operation, its operands and the type of its result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The operation with its attributes.
    pub op: Op,
    /// Earlier values.
    pub operands: Operands,
    /// The type of the result; of several the first.
    pub ty: Type,
}

// A larger instruction is moved by calls of `memcpy`, and reading a text takes a tenth longer.
const _: () = assert!(size_of::<Inst>() <= 128);

/// The operands of an instruction, at most [`Operands::MAX`]: up to three in place, as nearly every operation has, and
/// more in an allocation that clones share.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Operands(Ids);

/// Ids in place beyond their count are 0, so every list has one representation.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Ids {
    Few(Few, [ValueId; 3]),
    Many(Arc<Vec<ValueId>>),
}

/// How many of the operands in place there are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
enum Few {
    Zero,
    One,
    Two,
    Three,
}

impl Operands {
    /// The most operands an operation takes: a module within it may have as many inputs.
    pub const MAX: usize = 1 << 14;

    /// None.
    pub const NONE: Self = Self(Ids::Few(Few::Zero, [ValueId(0); 3]));

    /// These operands; nothing if there are too many.
    pub fn new(operands: &[ValueId]) -> Option<Self> {
        let mut all = Self::NONE;
        operands.iter().all(|operand| all.push(*operand)).then_some(all)
    }

    /// Adds one; whether there was room.
    #[inline]
    pub(crate) fn push(&mut self, operand: ValueId) -> bool {
        let Ids::Few(count, ids) = &mut self.0 else { return self.push_far(operand) };
        let (place, next) = match count {
            Few::Zero => (0, Few::One),
            Few::One => (1, Few::Two),
            Few::Two => (2, Few::Three),
            Few::Three => return self.push_far(operand),
        };
        (ids[place], *count) = (operand, next);
        true
    }

    #[cold]
    fn push_far(&mut self, operand: ValueId) -> bool {
        if self.len() == Self::MAX {
            return false;
        }
        match &mut self.0 {
            Ids::Many(ids) => Arc::make_mut(ids).push(operand),
            Ids::Few(..) => {
                *self = Self(Ids::Many(Arc::new(self.iter().copied().chain([operand]).collect())));
            }
        }
        true
    }

    /// Each operand replaced.
    pub fn map(&self, replace: impl FnMut(ValueId) -> ValueId) -> Self {
        let mut all = Self::NONE;
        for operand in self.iter().copied().map(replace) {
            all.push(operand);
        }
        all
    }
}

impl std::ops::Deref for Operands {
    type Target = [ValueId];
    #[inline]
    fn deref(&self) -> &[ValueId] {
        match &self.0 {
            Ids::Few(count, ids) => &ids[..*count as usize],
            Ids::Many(ids) => ids,
        }
    }
}

impl fmt::Debug for Operands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
