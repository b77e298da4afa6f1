//! The computations of a module as a graph. Views are resolved: every item reads other items through views of them.

mod arrange;

use crate::{
    data::TensorData,
    dim::Dim,
    ir::{Access, Convolution, Guard, Op, Own, ValueId},
    map::Map,
    opt::Optimised,
    plan::{Condition, Plan, Scalar, Update, View, Watch, Watching, ir::loop_can_fail},
    reduce::Monoid,
    ty::{DType, Shape, Type},
};

/// The position of an item in [`Graph::items`]. An item comes after the items that it reads.
///
/// In the views of a graph a [`BufferId`] is the position of the item that is viewed.
pub(super) type ItemId = usize;

/// All computations, and the uses of their results.
pub(super) struct Graph {
    pub(super) items: Vec<Item>,
    /// The readers of each item, in order, each once.
    pub(super) readers: Vec<Vec<ItemId>>,
    /// Whether each item is a result or the new value of an input.
    pub(super) delivered: Vec<bool>,
    /// The source of each returned result.
    pub(super) returned: Vec<Delivery>,
    /// The new values, each with the input that it updates.
    pub(super) updates: Vec<(Delivery, usize)>,
    /// The outputs of the module that are new values of inputs.
    pub(super) updated_outputs: Vec<usize>,
}

/// The source of a result, or of the new value of an input.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Delivery {
    /// All elements of an item in order.
    Item(ItemId),
    /// A scalar.
    Scalar(Scalar),
}

/// A tensor in memory or a scalar, and the work that computes it.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The value, for names.
    pub(super) value: ValueId,
    pub(super) dtype: DType,
    /// The element type of the operands of an elementwise function, except for a condition.
    pub(super) of: DType,
    /// The extents of the result.
    pub(super) shape: Shape,
    pub(super) work: Work,
    /// The operands. For elementwise operations and sums they are in the index space [`Item::space`].
    pub(super) reads: Vec<ItemOperand>,
    /// The items that must be computed before, each once.
    pub(super) needs: Vec<ItemId>,
    /// The index space of an elementwise operation or sum, without axes of extent 1.
    pub(super) space: Vec<Dim>,
    /// Whether a check depends on it.
    pub(super) feeds_check: bool,
}

/// The work that computes an item.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// An input of the program.
    Input(usize),
    /// Known elements.
    Constant(TensorData),
    /// One operation at each index.
    Elementwise(Map),
    /// The elements of a view, copied in order.
    Copy,
    /// A fold over the marked axes of the index space, divided by the count if there is one. It is a scalar if it is
    /// over all axes and its shape has rank 0.
    Fold { monoid: &'static Monoid, reduced: Vec<bool>, count: Option<Dim> },
    /// A scalar from scalars.
    Scalar(Map),
    /// A scalar from memory.
    Load,
    /// A matrix product.
    MatMul { batch: Vec<Dim>, extents: [Dim; 3] },
    /// The inner product of two vectors.
    Dot,
    /// A convolution or one of its derivatives.
    Conv2d(Box<Conv>),
    /// A check of integers of this type. It has no result.
    Check { must: Condition, dtype: DType },
    /// A kernel called on operands of these types, and the type of its result.
    Call { op: Op, operands: Vec<Type>, ty: Type },
    /// A loop. The item is its first result. The memory of each other result is a separate item after it.
    Loop(Box<LoopWork>),
    /// Memory of the loop before it: a further result, or the second buffer of a carry.
    LoopBuffer,
    /// Watches a value of this type. It has no result.
    Watch { watch: Watch, ty: Type },
}

/// A loop.
#[derive(Clone, Debug)]
pub(super) struct LoopWork {
    pub(super) body: Plan,
    /// The number of steps; `None` if only the guard ends the loop.
    pub(super) steps: Option<Dim>,
    pub(super) reverse: bool,
    pub(super) guard: Guard,
    pub(super) operands: Vec<(Type, Access)>,
    /// For each carry, the item of its last value, and the item of its second buffer, unless steps update it in place.
    pub(super) carries: Vec<(ItemId, Option<ItemId>)>,
    pub(super) stacked: Vec<ItemId>,
}

/// A convolution.
#[derive(Clone, Debug)]
pub(super) struct Conv {
    pub(super) kind: super::ConvKind,
    pub(super) convolution: Convolution,
    /// Input, filter, output.
    pub(super) shapes: [Shape; 3],
}

/// An operand of an item.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ItemOperand {
    /// The same number at every index.
    Scalar(Scalar),
    /// Elements of an item.
    View(View),
}

impl Graph {
    /// The graph of a module, with updates in the given order. `plan_of` plans the bodies of loops.
    pub(super) fn new(
        module: &Optimised,
        updates: &[Update],
        watching: Watching,
        plan_of: &dyn Fn(&Optimised, &[Update]) -> Plan,
    ) -> Self {
        arrange::arrange(module, updates, watching, plan_of)
    }
}

impl Work {
    /// The axes of the index space that a fold reduces; `None` for other work.
    pub(super) fn reduced(&self) -> Option<&[bool]> {
        match self {
            Self::Fold { reduced, .. } => Some(reduced),
            _ => None,
        }
    }
}

impl Item {
    /// The extents of the result, without extents of 1.
    pub(super) fn stripped(&self) -> Vec<Dim> {
        without_ones(&self.shape)
    }

    /// Whether it is computed at each index of a space.
    pub(super) fn is_looped(&self) -> bool {
        matches!(self.work, Work::Elementwise(_) | Work::Fold { .. })
    }

    /// Whether the item can fail.
    pub(super) fn can_fail(&self) -> bool {
        match &self.work {
            Work::Check { .. } => true,
            Work::Call { op, .. } => matches!(op, Op::Own(Own::External(_))) || op.refuses_matrices(),
            Work::Loop(of) => loop_can_fail(&of.body, of.guard, of.steps.as_ref()),
            _ => false,
        }
    }

    /// Whether it can fail in the `try_` form of a function only, after its result is stored.
    pub(super) fn refuses_matrices(&self) -> bool {
        matches!(&self.work, Work::Call { op, .. } if op.refuses_matrices())
    }

    /// Whether it is a product or convolution, whose elements can be changed while they are stored.
    pub(super) fn has_finish(&self) -> bool {
        matches!(self.work, Work::MatMul { .. } | Work::Conv2d(_))
    }

    /// Whether a step writes it to memory, all elements in order.
    pub(super) fn is_written(&self) -> bool {
        self.shape.rank() > 0 && !matches!(self.work, Work::Input(_) | Work::Constant(_))
    }
}

impl ItemOperand {
    /// The item that is viewed.
    pub(super) fn item(&self) -> Option<ItemId> {
        match self {
            Self::View(view) => view.buffer().map(|item| item.0),
            Self::Scalar(_) => None,
        }
    }
}

/// The extents that are not 1.
pub(super) fn without_ones(shape: &[Dim]) -> Vec<Dim> {
    shape.iter().filter(|extent| !extent.is_one()).cloned().collect()
}
