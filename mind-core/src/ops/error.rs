//! Errors in an instruction, without the names of its operands. A front end knows these names and adds them.

use std::fmt;

use crate::{
    diag::Code,
    dim::Overflow,
    ir::Op,
    map::Takes,
    ty::{DType, Type},
};

/// A broken rule: the operation, the problem and the operand at fault.
///
/// The complete message of a front end reads `` `label`: problem: x is f32[N, 784], w is f32[785, 256] ``. It shows the
/// operands in [`OpError::operands`] under the names of the front end. [`fmt::Display`] writes the part without names.
#[derive(Clone, Debug, PartialEq)]
pub struct OpError {
    /// The stable number.
    pub code: Code,
    /// The name of the operation in messages to users.
    pub label: &'static str,
    /// The problem in lower case: the value found and the value needed, without the operands' names and types.
    pub problem: String,
    /// The part of the instruction to underline.
    pub focus: Focus,
    /// The operands whose names and types the message shows, in order.
    pub operands: Vec<usize>,
    /// The dimensions at fault, as operand and axis. A front end shows the origin of each.
    pub dims: Vec<(usize, usize)>,
    /// A likely fix; `{0}`, `{1}` and `{2}` stand for the operands' names in the front end, see [`OpError::help_with`].
    pub help: Option<String>,
}

/// Which part of an instruction is at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Focus {
    /// The operation as a whole: the operator sign or the function's name.
    Operation,
    /// One operand.
    Operand(usize),
    /// One attribute, by its name in the surface language: `axes`, `shape`, `permutation`, `strides`.
    Attribute(&'static str),
}

impl OpError {
    /// An error in an operation. [`OpError::problem`] adds the description.
    pub fn new(op: &Op, code: Code) -> Self {
        Self {
            code,
            label: op.info().label,
            problem: String::new(),
            focus: Focus::Operation,
            operands: Vec::new(),
            dims: Vec::new(),
            help: None,
        }
    }

    /// E2005: the operation does not take the element type of this operand.
    pub fn dtype(op: &Op, operand: usize, found: DType, takes: Takes) -> Self {
        let error = Self::new(op, Code::E2005)
            .problem(format!("found {found}, allowed {}", takes.names()))
            .focus(Focus::Operand(operand))
            .operands(&[operand]);
        match (found, takes) {
            (DType::Bool, _) => error.help(format!("write `where({{{operand}}}, 1.0, 0.0)` for numbers")),
            (_, Takes::Truths) => error.help(format!("compare it, as in `{{{operand}}} > 0.0`")),
            (_, Takes::Numbers | Takes::Floats | Takes::Integers | Takes::Bits | Takes::All) => error,
        }
    }

    /// E2004: the operands have different element types.
    pub fn mixed(op: &Op, lhs: &Type, rhs: &Type) -> Self {
        Self::new(op, Code::E2004)
            .problem(format!("element types differ, {} and {}", lhs.dtype, rhs.dtype))
            .operands(&[0, 1])
    }

    /// E1008: the result of arithmetic on dims does not fit into 64 bits.
    pub fn overflow(op: &Op, overflow: Overflow) -> Box<Self> {
        Self::new(op, Code::E1008).problem(overflow.to_string()).into()
    }

    /// Sets the description of the problem.
    pub fn problem(mut self, problem: impl Into<String>) -> Self {
        self.problem = problem.into();
        self
    }

    /// Sets the part of the instruction to underline.
    pub fn focus(mut self, focus: Focus) -> Self {
        self.focus = focus;
        self
    }

    /// Sets the operands that the message shows.
    pub fn operands(mut self, operands: &[usize]) -> Self {
        self.operands = operands.to_vec();
        self
    }

    /// Sets the dimensions at fault.
    pub fn dims(mut self, dims: &[(usize, usize)]) -> Self {
        self.dims = dims.to_vec();
        self
    }

    /// Sets the likely fix.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The likely fix, with the operands' names in the front end.
    ///
    /// ```
    /// use mind_core::{diag::Code, ir::{Op, Product}, ops::OpError};
    /// let error = OpError::new(&Op::Product(Product::MatMul), Code::E3003).help("write `{1}.T`");
    /// assert_eq!(error.help_with(|operand| ["x", "w"][operand].into()), Some("write `w.T`".into()));
    /// ```
    pub fn help_with(&self, name: impl Fn(usize) -> String) -> Option<String> {
        let fill = |help: String, operand: usize| {
            let placeholder = format!("{{{operand}}}");
            if help.contains(&placeholder) { help.replace(&placeholder, &name(operand)) } else { help }
        };
        // A placeholder has one digit.
        self.help.clone().map(|help| (0..10).fold(help, fill))
    }

    /// The message, with the operands' names and types in the front end.
    pub fn message(&self, name_and_type: impl Fn(usize) -> String) -> String {
        let operands: Vec<_> = self.operands.iter().map(|operand| name_and_type(*operand)).collect();
        if operands.is_empty() { self.to_string() } else { format!("{self}: {}", operands.join(", ")) }
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.label, self.problem)
    }
}

impl std::error::Error for OpError {}
