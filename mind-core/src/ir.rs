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

/// A value, identified by the position of the instruction that makes it.
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

/// Writes the value as in Core IR text, `%3`.
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

/// A form of operations: the types of their attributes, and the operations that only this form has.
pub trait Form: Clone + fmt::Debug + Eq + Hash {
    /// The name of an input.
    type Name: Clone + fmt::Debug + Eq + Hash;
    /// The values of a constant.
    type Const: Clone + fmt::Debug + Eq + Hash;
    /// A shape.
    type Shape: Clone + fmt::Debug + Eq + Hash;
    /// Axes that may be left out.
    type Axes: Clone + fmt::Debug + Eq + Hash;
    /// The order of axes in a transpose.
    type Permutation: Clone + fmt::Debug + Eq + Hash;
    /// The positions of an index expression.
    type Indices: Clone + fmt::Debug + Eq + Hash;
    /// A bound of a slice.
    type Bound: Clone + fmt::Debug + Eq + Hash;
    /// An operation that only this form has.
    type Own: Clone + fmt::Debug + Eq + Hash;
}

/// The form of Core IR: every attribute is given, no axis or bound counts from the end, and every unknown extent is a
/// symbol.
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

/// An operation with its attributes. Its form `A` says whether it belongs to Core IR or to a program without types
/// ([`open::Op`](crate::open::Op)). The row of the table ([`Op::info`](Op::info)) defines an operation of Core IR. "An
/// extension" below means an operation that Core v1 does not have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op<A: Form = Resolved> {
    /// A named input of the module.
    Input {
        /// Its name, unique among the inputs.
        name: A::Name,
    },
    /// A constant.
    Const(A::Const),
    /// A value that is made from attributes alone.
    Made(Made),
    /// An elementwise function of the operands.
    Map(Map),
    /// A reduction over axes.
    Reduce(Reduce, Reduction<A::Axes>),
    /// The position of the largest or the smallest element over axes, counted in row-major order along these axes.
    ArgReduce(ArgReduce, Reduction<A::Axes>),
    /// A cumulation: each position along an axis combines the elements up to it.
    Cumulate(Cumulate, Cumulation),
    /// The elements along an axis, reordered.
    Reorder(Reorder),
    /// The elements of the operand in another arrangement.
    Arrange(Arrange<A>),
    /// Elements at known positions, taken out or put back.
    Part(Part<A>),
    /// Rows or elements at integer indices, read or added to.
    Rows(Rows<A>),
    /// Several tensors joined into one.
    Join(Join),
    /// A product of vectors or matrices.
    Product(Product),
    /// An operation on the matrices in the last two axes.
    Matrix(Matrix),
    /// A Fourier transform of rows.
    Fourier(Fourier<A>),
    /// A filter that moves over an image, and its derivatives.
    Window(Window<A>),
    /// What windows reduce to, and its derivatives.
    Pool(Pool<A>),
    /// The operand, with an effect when the program runs.
    Effect(Effect),
    /// An operation that only this form has.
    Own(A::Own),
}

impl<A: Form> Op<A> {
    /// An input.
    pub const fn input(name: A::Name) -> Self {
        Self::Input { name }
    }

    /// The name, if the operation is an input.
    pub const fn input_name(&self) -> Option<&A::Name> {
        if let Self::Input { name } = self { Some(name) } else { None }
    }

    /// Whether it is an input.
    pub const fn is_input(&self) -> bool {
        self.input_name().is_some()
    }

    /// The operation for listings. The kind is left out where the name of the operation implies it.
    pub fn shown(&self) -> &dyn fmt::Debug {
        match self {
            Self::Made(op) => op,
            Self::Reorder(op) => op,
            Self::Arrange(op) => op,
            Self::Part(op) => op,
            Self::Rows(op) => op,
            Self::Join(op) => op,
            Self::Product(op) => op,
            Self::Matrix(op) => op,
            Self::Fourier(op) => op,
            Self::Window(op) => op,
            Self::Pool(op) => op,
            Self::Effect(op) => op,
            Self::Own(op) => op,
            _ => self,
        }
    }

    /// The same operation in another form, if none of its attributes depends on the form.
    pub(crate) fn in_form<B: Form>(&self) -> Option<Op<B>> {
        Some(match self {
            Self::Made(op) => Op::Made(op.clone()),
            Self::Map(op) => Op::Map(*op),
            Self::Cumulate(op, cumulation) => Op::Cumulate(*op, *cumulation),
            Self::Reorder(op) => Op::Reorder(*op),
            Self::Join(op) => Op::Join(*op),
            Self::Product(op) => Op::Product(*op),
            Self::Matrix(op) => Op::Matrix(*op),
            Self::Effect(op) => Op::Effect(op.clone()),
            _ => return None,
        })
    }

    /// Whether the result of a matrix is NaN if it is singular, or not positive definite. The `try_` form of a function
    /// reports an error then.
    pub const fn refuses_matrices(&self) -> bool {
        let Self::Matrix(matrix) = self else { return false };
        match matrix {
            Matrix::Factor(Factorization::Cholesky) => true,
            Matrix::SolveTriangular(of) => !of.unit_diagonal,
            Matrix::Factor(_) | Matrix::Triangle { .. } => false,
        }
    }

    /// Whether it is a Fourier transform.
    pub const fn is_transform(&self) -> bool {
        matches!(self, Self::Fourier(_))
    }

    /// Whether the operation returns its operand and has an effect. Such an operation is never removed or merged with
    /// another.
    pub const fn is_effect(&self) -> bool {
        matches!(self, Self::Effect(_))
    }
}

/// Operations that make a value from attributes alone. Their rows are in `ops/making.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Made {
    /// Each element is its position along an axis, an `i64`; an extension.
    Iota {
        /// The extents.
        shape: Vec<Dim>,
        /// The axis; not negative in Core IR.
        axis: i64,
    },
}

/// Operations that reorder the elements along an axis. Their rows are in `ops/ordering.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reorder {
    /// From the last to the first; an extension.
    Flip {
        /// The axis; not negative in Core IR.
        axis: i64,
    },
    /// Shifted by `shift` positions with wraparound; an extension.
    Roll {
        /// The number of positions towards the end of the axis; negative towards its start.
        shift: i64,
        /// The axis; not negative in Core IR.
        axis: i64,
    },
    /// From the least to the greatest; an extension.
    Sort {
        /// The axis; not negative in Core IR.
        axis: i64,
        /// Whether the order is from the greatest to the least.
        descending: bool,
    },
    /// The positions of the elements in sorted order; an extension.
    ArgSort {
        /// The axis; not negative in Core IR.
        axis: i64,
        /// Whether the order is from the greatest to the least.
        descending: bool,
    },
}

impl Reorder {
    /// The axis along which elements are compared, which must then be numeric. `None` if the order does not depend on
    /// the elements, which have any element type.
    #[must_use]
    pub fn compared_axis(&self) -> Option<i64> {
        match self {
            Self::Flip { .. } | Self::Roll { .. } => None,
            Self::Sort { axis, .. } | Self::ArgSort { axis, .. } => Some(*axis),
        }
    }
}

/// Operations that arrange the same elements in another shape. Their rows are in `ops/shape.rs`.
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
        /// Their positions in the operand. In Core IR an empty list is the identity.
        axes: A::Axes,
    },
    /// The operand broadcast to a shape; an extension.
    BroadcastTo {
        /// The result's shape.
        shape: A::Shape,
    },
}

/// Operations on elements at known positions. Their rows are in `ops/indexing.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part<A: Form = Resolved> {
    /// An element, or a box if the indices have ranges.
    Index {
        /// In Core IR one index per axis.
        indices: A::Indices,
    },
    /// A strided box of elements.
    Slice(Box<Slice<A::Bound>>),
    /// Zeros with the operand at the positions that the slice reads; an extension.
    SliceGrad {
        /// The shape that is sliced, which is the result's.
        shape: A::Shape,
        /// The slice.
        slice: Box<Slice<A::Bound>>,
    },
    /// Windows that slide along axes; an extension.
    Unfold(Box<Windows<A::Bound>>),
    /// Zeros to which each element of the operand is added where the windows read it; an extension.
    UnfoldGrad {
        /// The shape along which the windows slide, which is the result's.
        shape: A::Shape,
        /// The windows.
        windows: Box<Windows<A::Bound>>,
    },
}

/// Operations on rows or elements at integer indices. Their rows of the table are in `ops/gathering.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rows<A: Form = Resolved> {
    /// Rows of the first operand at the indices in the second.
    Gather,
    /// Zeros to which the rows of `updates` are added at `indices`. The operands are `(indices, updates)`; an
    /// extension.
    ScatterAdd {
        /// The result's shape.
        shape: A::Shape,
    },
    /// Elements of the first operand at the indices in the second, along an axis; an extension.
    TakeAlong {
        /// The axis; not negative in Core IR.
        axis: i64,
    },
    /// Zeros to which the elements of `updates` are added at `indices` along an axis. The operands are
    /// `(indices, updates)`; an extension.
    AddAlong {
        /// The result's shape.
        shape: A::Shape,
        /// The axis; not negative in Core IR.
        axis: i64,
    },
    /// The elements of the first operand from the position in the second on, along an axis; an extension.
    DynamicSlice {
        /// The result's shape.
        shape: A::Shape,
        /// The axis; not negative in Core IR.
        axis: i64,
    },
    /// The first operand with the elements from the position in the second on, along an axis, replaced by the third; an
    /// extension.
    DynamicUpdate {
        /// The axis; not negative in Core IR.
        axis: i64,
    },
    /// The first operand with the rows at the indices in the second replaced by those of the third; an extension.
    Scatter,
    /// The first operand with the rows of the third added at the indices in the second; an extension.
    AddRows,
}

/// Operations that join tensors. Their rows are in `ops/joining.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// Concatenation along an axis; an extension.
    Concat {
        /// The axis; not negative in Core IR.
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

/// Operations on the matrices in the last two axes. Their rows are in `ops/matrices.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Matrix {
    /// All factors of a matrix in one matrix; an extension.
    Factor(Factorization),
    /// The solution `x` of `a @ x = b` for a triangular matrix `a`; an extension.
    SolveTriangular(Triangular),
    /// The elements of a triangle, and zeros elsewhere; an extension.
    Triangle {
        /// Whether it is the lower triangle.
        lower: bool,
        /// Whether the diagonal is left out.
        strict: bool,
    },
}

/// A factorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factorization {
    /// `L @ Lᵀ` with a lower triangular matrix `L`, of the symmetric part.
    Cholesky,
    /// `L @ U` with the rows permuted.
    Lu,
    /// `Q @ R` with orthogonal columns of `Q` and an upper triangular matrix `R`.
    Qr,
    /// Eigenvalues and eigenvectors of a symmetric matrix.
    Eigh,
    /// Singular values and vectors.
    Svd,
}

impl Factorization {
    /// The function of the run time that computes it.
    pub(crate) const fn function(self) -> &'static str {
        match self {
            Self::Cholesky => "cholesky",
            Self::Lu => "lu",
            Self::Qr => "qr",
            Self::Eigh => "eigh",
            Self::Svd => "svd",
        }
    }

    /// The number of rows of the result beyond those of the matrix and, unless it is square, a row for each column.
    pub(crate) const fn extra_rows(self) -> i64 {
        match self {
            Self::Cholesky | Self::Qr => 0,
            Self::Eigh | Self::Svd => 1,
            Self::Lu => 2,
        }
    }

    /// Whether it is only of square matrices, else of all.
    pub(crate) const fn is_of_square(self) -> bool {
        match self {
            Self::Cholesky | Self::Lu | Self::Eigh => true,
            Self::Qr | Self::Svd => false,
        }
    }
}

/// The part of a matrix that a triangular solution reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Triangular {
    /// Whether the lower triangle is read, else the upper one.
    pub lower: bool,
    /// Whether the transposed triangle takes its place.
    pub transposed: bool,
    /// Whether the diagonal is not read: all its elements are 1.
    pub unit_diagonal: bool,
}

/// Fourier transforms of rows. A complex number is a pair, the last axis of a tensor. Their rows are in
/// `ops/fourier.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fourier<A: Form = Resolved> {
    /// Rows of complex numbers to rows of complex numbers; an extension.
    Fft {
        /// Whether the exponents are positive. The result is not divided by the length of the row.
        inverse: bool,
    },
    /// Rows of real numbers to the first half of rows of complex numbers; an extension.
    RealFft,
    /// The derivative of `RealFft`; an extension.
    RealFftGrad {
        /// The shape of the operand of `RealFft`, which is the result's.
        shape: A::Shape,
    },
}

/// Operations that move a filter over an image. Their rows are in `ops/convolution.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Window<A: Form = Resolved> {
    /// Two-dimensional convolution of an NHWC image by an HWCF filter.
    Conv2d(Convolution),
    /// The derivative of `Conv2d` by its input. The operands are `(dy, filter)`; an extension.
    Conv2dGradInput {
        /// The shape of the input, which is the result's.
        shape: A::Shape,
        /// The convolution.
        convolution: Box<Convolution>,
    },
    /// The derivative of `Conv2d` by its filter. The operands are `(input, dy)`; an extension.
    Conv2dGradFilter {
        /// The shape of the filter, which is the result's.
        shape: A::Shape,
        /// The convolution.
        convolution: Box<Convolution>,
    },
}

/// Operations on windows that slide over the axes before the last one. Their rows are in `ops/pooling.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pool<A: Form = Resolved> {
    /// The largest element of each window; an extension.
    Max(Box<Pooling>),
    /// The derivative of `Max`. The operands are `(x, dy)`; an extension.
    MaxGrad(Box<Pooling>),
    /// Elements at the places of the largest elements of windows. The operands are `(x, t)`; an extension.
    MaxTake(Box<Pooling>),
    /// The sum of each window; an extension.
    Total(Box<Pooling>),
    /// The derivative of `Total`; an extension.
    SumGrad {
        /// The shape of the operand of `Total`, which is the result's.
        shape: A::Shape,
        /// The windows.
        pooling: Box<Pooling>,
    },
    /// The sum of each window, in which elements are multiplied by a filter. The operands are `(x, filter)`; an extension.
    Depthwise(Box<Pooling>),
    /// The derivative of `Depthwise` by its input. The operands are `(dy, filter)`; an extension.
    DepthwiseGradInput {
        /// The shape of the input, which is the result's.
        shape: A::Shape,
        /// The windows.
        pooling: Box<Pooling>,
    },
    /// The derivative of `Depthwise` by its filter. The operands are `(x, dy)`; an extension.
    DepthwiseGradFilter(Box<Pooling>),
}

/// Operations that return their operand and have an effect. Their rows are in `ops/effects.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Shows the operand when the program runs; an extension.
    Inspect {
        /// The label under which the operand is shown.
        label: Arc<str>,
    },
}

impl Effect {
    /// The label under which the operand is shown.
    pub const fn label(&self) -> &Arc<str> {
        match self {
            Self::Inspect { label } => label,
        }
    }
}

/// A constant of Core IR.
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
    /// The number of elements of a shape. It may be known only at run time; an extension.
    Count {
        /// The shape.
        shape: Shape,
        /// The element type of the number.
        dtype: DType,
    },
}

impl Const {
    /// The constant in canonical form for these values.
    pub fn new(data: TensorData, shape: Shape) -> Self {
        match (&data, shape.rank()) {
            (TensorData::I64(elements), 0) => Self::I64(elements[0].get()),
            (TensorData::F32(elements), 0) => Self::F32(elements[0]),
            (TensorData::F64(elements), 0) => Self::F64(elements[0]),
            _ => Self::Tensor { data, shape },
        }
    }

    /// The canonical form of this constant.
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

    /// The values: one per element, or a single one that fills the shape. `None` if they are known only at run time.
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

/// Operations that only Core IR has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Own {
    /// An external function.
    External(External),
    /// A module within an instruction, or a further result of one.
    Nesting(Nesting),
}

/// An external function, or its derivative; an extension of Core IR.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum External {
    /// A call of the function.
    Call {
        /// The path of the function in Rust.
        function: Arc<str>,
        /// The shape of the result.
        shape: Shape,
    },
    /// The derivative of the function, or of its derivative: the cotangents of the floating-point operands,
    /// concatenated.
    Grad {
        /// The path of the function.
        function: Arc<str>,
        /// The number of differentiations, 1 or more.
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

/// The axes of a reduction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reduction<A = Vec<i64>> {
    /// Ascending positions. An empty list means every axis, and the result is then a single number.
    pub axes: A,
    /// Whether reduced axes stay with extent 1.
    pub keepdims: bool,
}

/// The elements that a cumulation combines at each position along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cumulation {
    /// The axis; not negative in Core IR.
    pub axis: i64,
    /// Whether each position combines the elements from it to the end, from the last one backwards. Otherwise it
    /// combines the elements up to it.
    pub reverse: bool,
    /// Whether the element at the position is left out.
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
    /// Whether the slice is a whole tensor of this shape.
    pub fn is_whole(&self, shape: &Shape) -> bool {
        self.starts.iter().all(|start| *start == Dim::ZERO)
            && self.ends.iter().eq(shape.iter())
            && self.steps.iter().all(|step| *step == 1)
    }
}

/// Windows that slide along axes. Each axis becomes two: the positions of the window, then the elements in it. Every list
/// has an entry for each of the axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Windows<B = Dim> {
    /// The axes; ascending and not negative in Core IR.
    pub axes: Vec<i64>,
    /// The number of elements of a window, at least 1.
    pub sizes: Vec<B>,
    /// The distance between positions, at least 1.
    pub strides: Vec<i64>,
    /// The distance between the elements of a window, at least 1.
    pub dilations: Vec<i64>,
}

/// The strides and the padding of a convolution.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Convolution {
    /// The vertical and the horizontal step.
    pub strides: Vec<i64>,
    /// The zeros around the image.
    pub padding: Padding,
}

/// Windows over the axes before the last one. Every list has an entry for each of one to three axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pooling {
    /// The number of elements of a window, at least 1.
    pub sizes: Vec<i64>,
    /// The distance between the elements of a window, at least 1.
    pub dilations: Vec<i64>,
    /// The strides, and the padding that windows may cover. They have no elements there.
    pub slide: Convolution,
}

/// The zeros around an image that is convolved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Padding {
    /// No zeros.
    Valid,
    /// The number of zeros that makes the result's extent `ceil(extent / stride)`. If it is odd, the extra zero comes
    /// after the image.
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
    /// The type of the result, or of the first of several.
    pub ty: Type,
}

// A larger instruction is moved by calls of `memcpy`, which makes reading a text a tenth slower.
const _: () = assert!(size_of::<Inst>() <= 128);

/// The operands of an instruction, at most [`Operands::MAX`]. Up to three, as in nearly every operation, are stored in
/// place. More are stored in an allocation that clones share.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Operands(Ids);

/// Unused ids in place are 0, so every list has one representation.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Ids {
    Few(Few, [ValueId; 3]),
    Many(Arc<Vec<ValueId>>),
}

/// The number of operands in place.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
enum Few {
    Zero,
    One,
    Two,
    Three,
}

impl Operands {
    /// The most operands of an operation. A nested module may have this number of inputs.
    pub const MAX: usize = 1 << 14;

    /// No operands.
    pub const NONE: Self = Self(Ids::Few(Few::Zero, [ValueId(0); 3]));

    /// The list of these operands. `None` if there are more than [`Self::MAX`].
    pub fn new(operands: &[ValueId]) -> Option<Self> {
        let mut all = Self::NONE;
        operands.iter().all(|operand| all.push(*operand)).then_some(all)
    }

    /// Adds an operand. Returns whether there was room.
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

    /// The list with each operand replaced.
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
