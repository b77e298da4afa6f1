//! A row of the table of operations: everything that the compiler knows about one operation.

use super::{
    error::OpError,
    fields::{Attributes, Field},
    rules, sample,
};
use crate::{
    cumulate::Cumulate,
    dim::{Dim, Overflow},
    ir::{Op, Operands, Slice, Windows},
    map::Map,
    profile::Profile,
    reduce::Reduce,
    ty::Type,
};

/// The result of a shape and dtype rule: the type of the result, or the error.
pub type Inferred = Result<Type, Box<OpError>>;

/// An operand and one of its axes.
pub type OperandAxis = (usize, usize);

/// One row of the table of operations.
#[derive(Clone, Copy)]
pub struct OpInfo {
    /// The name in Core IR text, such as `MatMul`.
    pub name: &'static str,
    /// The name in MIC, such as `matmul`.
    pub mnemonic: &'static str,
    /// The name in messages to users, such as `@` or `matmul`. Messages show it in backquotes.
    pub label: &'static str,
    /// Core v1 or an extension.
    pub profile: Profile,
    /// The kind of work; planners and printers group by it.
    pub class: WorkClass,
    /// Whether the operands may be swapped without changing a bit of the result.
    pub commutative: bool,
    /// The number of operands, or [`VARIADIC`].
    pub arity: usize,
    /// Shape and dtype rule. Callers check the number of operands against `arity` first.
    pub infer: fn(&Op, &[&Type]) -> Inferred,
    /// The conditions on symbolic dims under which the operation can run, beyond every extent being at least 1.
    pub requirements: fn(&Op, &[&Type]) -> Vec<Requirement>,
    /// The operand and its axis from which a result axis takes its extent, for messages. `None` where the extent is
    /// computed or written in an attribute.
    pub origin: fn(&Op, &[&Type], usize) -> Option<OperandAxis>,
    /// How cotangents of the operands are derived.
    pub derivative: Derivative,
    /// The number of arithmetic operations of one evaluation: additions, multiplications, and 1 for each exp, log or
    /// division.
    pub flops: fn(&Op, &[&Type], &Type) -> Result<Dim, Overflow>,
    /// The attributes, in the order of every text form.
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
    /// The operation has no fields.
    Plain(fn() -> Op),
    /// The operation is this elementwise function.
    Map(Map),
    /// The operation is this reduction; its fields give the axes.
    Reduce(Reduce),
    /// The operation is this cumulation; its fields give the axis.
    Cumulate(Cumulate),
    /// Makes the operation from the values of its fields, one per field, each of the field's kind: the inverse of
    /// [`OpInfo::attributes`].
    Of(fn(Attributes) -> Op),
}

/// The defaults for rows of kernels.
pub(super) const KERNEL: OpInfo = OpInfo {
    name: "",
    mnemonic: "",
    label: "",
    profile: Profile::CoreV1,
    class: WorkClass::Kernel,
    commutative: false,
    arity: 1,
    infer: |op, _| rules::wrong_row(op),
    requirements: no_requirements,
    origin: no_origin,
    derivative: Derivative::Zero,
    flops: no_flops,
    fields: &[],
    attributes: no_attributes,
    make: Make::Plain(|| unreachable!("every row makes its own operation")),
    sample: sample::Sampling { cases: sample::none, domain: sample::Domain::Any, tolerance: (1e-2, 1e-6) },
};

/// The arity of an operation whose shape and dtype rule checks the number of operands, which is at most
/// [`Operands::MAX`].
pub const VARIADIC: usize = usize::MAX;

impl OpInfo {
    /// Whether the operation takes `count` operands.
    #[inline(always)]
    pub fn takes(&self, count: usize) -> bool {
        match self.arity {
            VARIADIC => count <= Operands::MAX,
            arity => count == arity,
        }
    }

    /// The message for a wrong number of operands.
    pub(crate) fn miscounted(&self, count: usize) -> String {
        let noun = if count == 1 { "operand" } else { "operands" };
        match self.arity {
            VARIADIC => format!("{count} {noun} given, at most {} needed", Operands::MAX),
            arity => format!("{count} {noun} given, {arity} needed"),
        }
    }
}

/// The kind of work that an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkClass {
    /// An input of the module.
    Input,
    /// A value that the compiler knows.
    Constant,
    /// Computes each result element from the elements at its position in the broadcast operands.
    Elementwise,
    /// Combines elements over axes, as a sum does.
    Reduction,
    /// The same elements in another arrangement: a view wherever strides allow.
    View,
    /// An operation with its own kernel.
    Kernel,
    /// An operation that holds a module, or that reads a further result of such an operation. Loops are the only ones
    /// that a plan contains.
    Module,
}

/// How the cotangents of the operands follow from the cotangent of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// By a rule that reads operand or result values.
    Rule,
    /// By the transpose of a linear map, which reads no operand values.
    Linear,
    /// No cotangent: the result does not depend on its operands in a differentiable way.
    Zero,
    /// There is no rule; differentiation reports E5001.
    Unsupported,
}

/// The position in the operand of each element of the result, for operations that only move elements.
pub(crate) enum Motion<'o> {
    /// The elements keep their row-major order.
    Order,
    /// Axis `i` of the result is axis `permutation[i]` of the operand.
    Axes(&'o [i64]),
    /// Each element is repeated along the axes that are new or had extent 1.
    Repeat,
    /// The result is the element at these indices.
    At(&'o [Dim]),
    /// The result is a strided box of the operand.
    Taken(&'o Slice),
    /// The operand is a strided box of the result, which is zero elsewhere.
    Put(&'o Slice),
    /// The result has the windows of the operand.
    Windows(&'o Windows),
    /// The elements of the operand are added to zeros where windows of the result read them.
    Added(&'o Windows),
}

impl Motion<'_> {
    /// Whether the result is the operand bit for bit, given the types of both.
    pub(crate) fn is_identity(&self, operand: &Type, result: &Type) -> bool {
        match self {
            Self::Order | Self::Repeat => operand.shape == result.shape,
            Self::Axes(permutation) => permutation.iter().enumerate().all(|(to, from)| to as i64 == *from),
            Self::At(_) | Self::Windows(_) | Self::Added(_) => false,
            Self::Taken(slice) => slice.is_whole(&operand.shape),
            Self::Put(slice) => slice.is_whole(&result.shape),
        }
    }

    /// Whether every element of the result is an element of the operand.
    pub(crate) const fn adds_nothing(&self) -> bool {
        match self {
            Self::Order | Self::Axes(_) | Self::Repeat | Self::At(_) | Self::Taken(_) | Self::Windows(_) => {
                true
            }
            Self::Put(_) | Self::Added(_) => false,
        }
    }
}

/// A condition on symbolic dims that is checked when the program runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requirement {
    /// The dim is at least 1; otherwise the program fails with E3006.
    Positive(Dim),
    /// The first dim is at most the second; otherwise the program fails with E6009.
    AtMost(Dim, Dim),
}

// Defaults that several rows share.

pub(super) fn no_requirements(_: &Op, _: &[&Type]) -> Vec<Requirement> {
    Vec::new()
}

pub(super) fn no_attributes(_: &Op) -> Attributes {
    Attributes::default()
}

pub(super) fn no_origin(_: &Op, _: &[&Type], _: usize) -> Option<(usize, usize)> {
    None
}

pub(super) fn no_flops(_: &Op, _: &[&Type], _: &Type) -> Result<Dim, Overflow> {
    Ok(Dim::ZERO)
}
