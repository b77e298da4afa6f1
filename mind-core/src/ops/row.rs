//! A row of the table: all that an operation is.

use super::{
    error::OpError,
    fields::{Attributes, Field},
    rules, sample,
};
use crate::{
    cumulate::Cumulate,
    dim::{Dim, Overflow},
    ir::{Op, Operands, Slice},
    map::Map,
    profile::Profile,
    reduce::Reduce,
    ty::Type,
};

/// What a rule answers: the type of the result, or what is wrong.
pub type Inferred = Result<Type, Box<OpError>>;

/// An operand and one of its axes.
pub type OperandAxis = (usize, usize);

/// One row of the table: what an operation is.
#[derive(Clone, Copy)]
pub struct OpInfo {
    /// As in Core IR text, `MatMul`.
    pub name: &'static str,
    /// As in MIC, `matmul`.
    pub mnemonic: &'static str,
    /// As users know it in messages, `@` or `matmul`; shown in backquotes.
    pub label: &'static str,
    /// Core v1 or an extension.
    pub profile: Profile,
    /// What kind of work it is; planners and printers group by it.
    pub class: Class,
    /// Whether the operands may be swapped without changing a bit of the result.
    pub commutative: bool,
    /// The number of operands, or [`VARIADIC`].
    pub arity: usize,
    /// Shape and dtype rule. The operands are as many as `arity`.
    pub infer: fn(&Op, &[&Type]) -> Inferred,
    /// What must hold of symbolic dims for the operation to run, beyond every extent being at least 1.
    pub requirements: fn(&Op, &[&Type]) -> Vec<Requirement>,
    /// Which operand's axis gives the extent of a result axis, for messages; nothing where it is computed or written.
    pub origin: fn(&Op, &[&Type], usize) -> Option<OperandAxis>,
    /// How a cotangent flows back.
    pub derivative: Derivative,
    /// Arithmetic operations one evaluation takes: adds, multiplications, and 1 for each exp, log, division.
    pub flops: fn(&Op, &[&Type], &Type) -> Result<Dim, Overflow>,
    /// What the attributes are, in the order of every text form.
    pub fields: &'static [Field],
    /// The value of each field.
    pub attributes: fn(&Op) -> Attributes,
    /// How the operation is made.
    pub make: Make,
    /// How generated tests sample the operation.
    pub sample: sample::Sampling,
}

/// How an operation is made.
#[derive(Clone, Copy)]
pub enum Make {
    /// It has no fields.
    Plain(fn() -> Op),
    /// It is this function of elements.
    Map(Map),
    /// It is this reduction, over what its fields say.
    Reduce(Reduce),
    /// It is this cumulation, along what its fields say.
    Cumulate(Cumulate),
    /// Of the values of its fields, one a field, each of the field's kind: [`OpInfo::attributes`] undone.
    Of(fn(Attributes) -> Op),
}

/// What rows of kernels have unless they say otherwise.
pub(super) const KERNEL: OpInfo = OpInfo {
    name: "",
    mnemonic: "",
    label: "",
    profile: Profile::CoreV1,
    class: Class::Kernel,
    commutative: false,
    arity: 1,
    infer: |op, _| rules::foreign(op),
    requirements: no_requirements,
    origin: no_origin,
    derivative: Derivative::Zero,
    flops: no_flops,
    fields: &[],
    attributes: no_attributes,
    make: Make::Plain(|| unreachable!("every row makes its own operation")),
    sample: sample::Sampling { cases: sample::none, domain: sample::Domain::Any, tolerance: (1e-2, 1e-6) },
};

/// The arity of an operation whose rule says how many operands it takes: up to [`Operands::MAX`].
pub const VARIADIC: usize = usize::MAX;

impl OpInfo {
    /// Whether the operation takes so many operands.
    #[inline(always)]
    pub fn takes(&self, count: usize) -> bool {
        match self.arity {
            VARIADIC => count <= Operands::MAX,
            arity => count == arity,
        }
    }

    /// What is wrong with so many operands.
    pub(crate) fn miscounted(&self, count: usize) -> String {
        let noun = if count == 1 { "operand" } else { "operands" };
        match self.arity {
            VARIADIC => format!("{count} {noun} given, at most {} needed", Operands::MAX),
            arity => format!("{count} {noun} given, {arity} needed"),
        }
    }
}

/// What kind of work an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// An input of the module.
    Input,
    /// Known values.
    Constant,
    /// Each result element from the elements at its position, operands broadcast.
    Elementwise,
    /// Sums over axes.
    Reduction,
    /// The same elements seen in another arrangement: a view wherever strides allow.
    View,
    /// Everything that has a kernel of its own.
    Kernel,
    /// What holds a module, and what reads its results: no plan has any.
    Module,
}

/// How a cotangent flows back through an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// By a rule that reads operand or result values.
    Rule,
    /// By the transpose of a linear map, which reads no operand values.
    Linear,
    /// Not at all: the result does not depend on its operands in a differentiable way.
    Zero,
    /// There is no rule; differentiating is E5001.
    Unsupported,
}

/// Where the elements of a result stand in the operand: what an operation means that only moves elements.
pub(crate) enum Motion<'o> {
    /// They stay where they are in row-major order.
    Order,
    /// Axis `i` of the result is axis `permutation[i]` of the operand.
    Axes(&'o [i64]),
    /// Each is there for every position along the axes that are new or had extent 1.
    Repeat,
    /// The one at these indices.
    At(&'o [Dim]),
    /// Those of a strided box.
    Taken(&'o Slice),
    /// All of them, in a strided box among zeros.
    Put(&'o Slice),
}

impl Motion<'_> {
    /// Whether the result is the operand, to the bit, where these are their types.
    pub(crate) fn is_identity(&self, operand: &Type, result: &Type) -> bool {
        match self {
            Self::Order | Self::Repeat => operand.shape == result.shape,
            Self::Axes(permutation) => permutation.iter().enumerate().all(|(to, from)| to as i64 == *from),
            Self::At(_) => false,
            Self::Taken(slice) => slice.is_whole(&operand.shape),
            Self::Put(slice) => slice.is_whole(&result.shape),
        }
    }

    /// Whether every element of the result is one of the operand.
    pub(crate) const fn adds_nothing(&self) -> bool {
        match self {
            Self::Order | Self::Axes(_) | Self::Repeat | Self::At(_) | Self::Taken(_) => true,
            Self::Put(_) => false,
        }
    }
}

/// What must hold of symbolic dims when the program runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requirement {
    /// The dim is at least 1; broken, it is E3006.
    Positive(Dim),
    /// The first dim is at most the second; broken, it is E6009.
    AtMost(Dim, Dim),
}

// Defaults that several rows share.

pub(super) fn no_requirements(_: &Op, _: &[&Type]) -> Vec<Requirement> {
    Vec::new()
}

pub(super) fn no_attributes(_: &Op) -> Attributes {
    [None, None, None]
}

pub(super) fn no_origin(_: &Op, _: &[&Type], _: usize) -> Option<(usize, usize)> {
    None
}

pub(super) fn no_flops(_: &Op, _: &[&Type], _: &Type) -> Result<Dim, Overflow> {
    Ok(Dim::ZERO)
}
