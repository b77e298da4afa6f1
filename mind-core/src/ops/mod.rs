//! The table of operations: one row per operation, one file per family.
//!
//! A row ([`OpInfo`]) holds the name, the profile, the shape and dtype rule, how it is differentiated, where each
//! result dimension comes from, the cost, the attributes in text forms, and how generated tests sample it.
//! [`interp`](crate::interp) evaluates operations and [`grad`](crate::grad) differentiates them. Both use the rows;
//! rows use neither.

/// Maps each operation of a kind to its row. Defines `row`, the lookup, and `ROWS`, all rows of the kind.
macro_rules! rows {
    ($kind:ty: $($pattern:pat => $row:ident,)+) => {
        pub(super) const ROWS: &[&OpInfo] = &[$(&$row),+];

        /// The row of an operation of this kind.
        pub(super) const fn row(op: &$kind) -> &'static OpInfo {
            match op {
                $($pattern => &$row,)+
            }
        }
    };
}

/// Makes rows of operations from a table of plain data, in the order of that table. The function `of` makes each row,
/// and the function `row` that is defined here returns it.
macro_rules! rows_of {
    ($kind:ty) => {
        /// The row in the table of operations.
        pub(super) const fn row(of: $kind) -> &'static OpInfo {
            &ROWS[of as usize]
        }

        static ROWS: [OpInfo; <$kind>::ALL.len()] = {
            let mut rows = [KERNEL; <$kind>::ALL.len()];
            let mut next = 0;
            while next < rows.len() {
                rows[next] = of(<$kind>::ALL[next]);
                next += 1;
            }
            rows
        };
    };
}

mod constant;
mod convolution;
mod cumulative;
mod dynamic;
mod effects;
mod elementwise;
mod error;
mod external;
mod fields;
mod fourier;
mod gathering;
mod indexing;
mod joining;
mod linear;
mod making;
mod matrices;
mod nesting;
mod ordering;
mod pooling;
mod reduction;
mod row;
mod rules;
pub mod sample;
mod scan;
mod shape;
mod windows;

use std::sync::Arc;

pub use error::{Focus, OpError};
use fields::exactly;
pub(crate) use fields::listed;
pub use fields::{Attribute, Attributes, Field, FieldKind, InMic};
use row::KERNEL;
pub(crate) use row::Motion;
pub use row::{Derivative, Inferred, Make, OpInfo, OperandAxis, Requirement, VARIADIC, WorkClass};

use crate::{
    cumulate::Cumulate,
    diag::Code,
    dim::{Bindings, Dim, Overflow},
    ir::{Const, Inst, Op, Own, ValueId},
    map::Map,
    reduce::Reduce,
    ty::{DType, Type, type_fault},
};

pub use crate::profile::Profile;
pub(crate) use external::MOST_OF_EXTERN;
pub(crate) use joining::place_of_part;
pub(crate) use nesting::{results_of_pullback, seen_through};
pub(crate) use rules::position;
pub(crate) use scan::results as results_of_loop;
pub(crate) use shape::inverse;

impl OpInfo {
    /// Makes the operation from the values of its fields: one per field, each of the field's kind.
    pub fn op(&self, attributes: Attributes) -> Op {
        match self.make {
            Make::Plain(make) => make(),
            Make::Map(map) => Op::Map(map),
            Make::Reduce(reduce) => Op::Reduce(reduce, reduction::made(attributes)),
            Make::Cumulate(cumulate) => Op::Cumulate(cumulate, cumulative::made(attributes)),
            Make::Of(make) => make(attributes),
        }
    }

    /// Instances of the operation that together cover every form and broadcast pattern, with operands of the given
    /// element type. Empty if the operation does not take that element type.
    pub fn cases(&self, dtype: DType) -> Vec<sample::Case> {
        let mut cases = (self.sample.cases)(self, dtype);
        if dtype == DType::Bool {
            // The cases of a row leave out the numeric types that it does not take, but may contain `bool`, which
            // inference then refuses.
            cases.retain(|case| infer(&case.op, &case.operands.iter().collect::<Vec<_>>()).is_ok());
        }
        cases
    }
}

/// The row of an operation.
pub(crate) fn info(op: &Op) -> &'static OpInfo {
    match op {
        Op::Map(map) => elementwise::row(*map),
        Op::Reduce(reduce, _) => reduction::row(*reduce),
        Op::ArgReduce(arg, _) => reduction::arg_row(*arg),
        Op::Cumulate(cumulate, _) => cumulative::row(*cumulate),
        Op::Input { .. } => &INPUT,
        Op::Const(constant) => constant::row(constant),
        Op::Made(made) => making::row(made),
        Op::Reorder(reorder) => ordering::row(reorder),
        Op::Arrange(arrange) => shape::row(arrange),
        Op::Part(part) => indexing::row(part),
        Op::Rows(rows) => gathering::row(rows),
        Op::Join(join) => joining::row(join),
        Op::Product(product) => linear::row(product),
        Op::Matrix(matrix) => matrices::row(matrix),
        Op::Window(window) => convolution::row(window),
        Op::Fourier(fourier) => fourier::row(fourier),
        Op::Pool(pool) => pooling::row(pool),
        Op::Effect(effect) => effects::row(effect),
        Op::Own(Own::External(external)) => external::row(external),
        Op::Own(Own::Nesting(nesting)) => nesting::row(nesting),
    }
}

/// The rows that are written out by hand, grouped by kind.
static KINDS: [&[&OpInfo]; 16] = [
    reduction::ARGS,
    constant::ROWS,
    making::ROWS,
    ordering::ROWS,
    shape::ROWS,
    indexing::ROWS,
    gathering::ROWS,
    joining::ROWS,
    linear::ROWS,
    matrices::ROWS,
    fourier::ROWS,
    convolution::ROWS,
    pooling::ROWS,
    effects::ROWS,
    external::ROWS,
    nesting::ROWS,
];

/// Every row: elementwise functions, reductions, cumulations, inputs, then the others by kind.
pub static TABLE: &[&OpInfo] = &{
    const MAPS: usize = Map::ALL.len();
    const REDUCTIONS: usize = MAPS + Reduce::ALL.len();
    const CUMULATIONS: usize = REDUCTIONS + Cumulate::ALL.len();
    let mut rows = [&INPUT; CUMULATIONS + 1 + written_out()];
    let mut next = 0;
    while next < CUMULATIONS {
        rows[next] = match next {
            ..MAPS => elementwise::row(Map::ALL[next]),
            MAPS..REDUCTIONS => reduction::row(Reduce::ALL[next - MAPS]),
            REDUCTIONS.. => cumulative::row(Cumulate::ALL[next - REDUCTIONS]),
        };
        next += 1;
    }
    next += 1;
    let mut kind = 0;
    while kind < KINDS.len() {
        let mut row = 0;
        while row < KINDS[kind].len() {
            rows[next] = KINDS[kind][row];
            next += 1;
            row += 1;
        }
        kind += 1;
    }
    rows
};

/// The number of rows in [`KINDS`].
const fn written_out() -> usize {
    let (mut kind, mut count) = (0, 0);
    while kind < KINDS.len() {
        count += KINDS[kind].len();
        kind += 1;
    }
    count
}

/// Infers the type of the result of `op` on operands of these types. Builder and verifier share this inference.
///
/// # Errors
/// The broken rule of the operation; E2007 if the number of operands is wrong; E3006 or E1008 if no value may have the
/// type of the result.
pub fn infer(op: &Op, operands: &[&Type]) -> Inferred {
    infer_by(info(op), op, operands)
}

/// As [`infer`], for callers that already have the operation's row.
#[inline(always)]
pub(crate) fn infer_by(row: &OpInfo, op: &Op, operands: &[&Type]) -> Inferred {
    if !row.takes(operands.len()) {
        return Err(OpError::new(op, Code::E2007).problem(row.miscounted(operands.len())).into());
    }
    let inferred = (row.infer)(op, operands);
    if let Ok(ty) = &inferred {
        check_type(|| op.clone(), ty)?;
    }
    inferred
}

/// As [`infer`], for operands that are values of known instructions. The type of a further result (`Result`) depends on
/// the instruction that makes the operand.
///
/// # Errors
/// As [`infer`].
///
/// # Panics
/// If an operand is not the value of one of the instructions.
pub fn infer_among(op: &Op, operands: &[ValueId], insts: &[Inst]) -> Inferred {
    if let (Op::Own(Own::Nesting(_)), None, [operand]) = (op, op.nested(), operands) {
        return nesting::infer_further(op, &insts[operand.index()], |value| {
            insts.get(value.index()).map(|inst| &inst.ty)
        });
    }
    infer(op, &operands.iter().map(|operand| &insts[operand.index()].ty).collect::<Vec<_>>())
}

/// Checks that a value may have this type: element type, rank, extents and element count are within the limits.
#[inline]
pub(crate) fn check_type(op: impl Fn() -> Op, ty: &Type) -> Result<(), Box<OpError>> {
    match type_fault(ty) {
        None => Ok(()),
        Some((code, problem)) => Err(OpError::new(&op(), code).problem(problem).into()),
    }
}

/// `Input(name)`: a value that the caller passes.
///
/// - **Shape**: as declared.
/// - **Dtype**: as declared.
/// - **Semantics**: the tensor that the caller passes under this name.
/// - **Error**: none: the value is kept bit for bit.
/// - **Derivative**: the cotangent of an input is a result of the derivative.
/// - **Constraints**: 1. the name is not empty, no other input has it, and only inputs precede the instruction
///   (E4004). 2. The type is numeric in Core v1 (E2005), its rank is at most 8 (E1008), and every extent is at least 1
///   (E3006).
/// - **Example**: `%0 = Input () {name="x"} : f32[2, 3]`.
static INPUT: OpInfo = OpInfo {
    name: "Input",
    mnemonic: "input",
    label: "input",
    class: WorkClass::Input,
    fields: &[Field::place("name", FieldKind::Text)],
    attributes: |op| {
        let Some(name) = op.input_name() else { rules::wrong_row(op) };
        listed([Attribute::Text(name.clone())])
    },
    make: Make::Of(|attributes| {
        let [Attribute::Text(name)] = exactly(attributes) else { fields::not_these_fields() };
        Op::input(name)
    }),
    ..constant::NULLARY
};

/// Checks the rules for an input beyond those for every type: its name is not empty and not taken, and only inputs
/// precede it. `before` is the operation that precedes it, and `taken` says whether another input has its name.
pub(crate) fn check_input(
    before: Option<&Op>,
    taken: bool,
    name: &Arc<str>,
    ty: &Type,
) -> Result<(), Box<OpError>> {
    let op = || Op::input(name.clone());
    let fault = |problem: String| Err(OpError::new(&op(), Code::E4004).problem(problem).into());
    if name.is_empty() {
        return fault("an input has no name".into());
    }
    if let Some(other) = before.filter(|op| !op.is_input()) {
        return fault(format!(
            "input `{name}` comes after `{}`, needed before every operation",
            other.info().name
        ));
    }
    if taken {
        return fault(format!("two inputs are named `{name}`"));
    }
    check_type(op, ty)
}

impl Op {
    /// The operation's row in the table.
    pub fn info(&self) -> &'static OpInfo {
        info(self)
    }

    /// The position in the operand of each element of the result, if the operation only moves elements.
    pub(crate) fn motion(&self) -> Option<Motion<'_>> {
        match self {
            Self::Arrange(arrange) => Some(arrange.motion()),
            Self::Part(part) => Some(part.motion()),
            _ => None,
        }
    }

    /// Calls `visit` with each dim of the attributes, except for the dims in a nested module.
    pub fn for_each_dim(&self, visit: &mut dyn FnMut(&Dim)) {
        if self.has_dims() {
            let mut attributes = (self.info().attributes)(self);
            attributes.iter_mut().flatten().flat_map(Attribute::dims).for_each(|dim| visit(dim));
        }
    }

    /// Replaces every bound symbol in the attributes.
    ///
    /// # Errors
    /// If a dim does not fit into 64 bits.
    pub fn substitute(&self, bindings: &Bindings) -> Result<Self, Overflow> {
        // The shape of a tensor constant is known, so its data is not copied.
        if !self.has_dims() || matches!(self, Self::Const(Const::Tensor { .. })) {
            return Ok(self.clone());
        }
        let mut attributes = (self.info().attributes)(self);
        for dim in attributes.iter_mut().flatten().flat_map(Attribute::dims) {
            *dim = dim.substitute(bindings)?;
        }
        Ok(self.info().op(attributes))
    }

    fn has_dims(&self) -> bool {
        self.info().fields.iter().any(|field| matches!(field.kind, FieldKind::Dims | FieldKind::Slice))
    }
}
