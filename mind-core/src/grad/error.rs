//! Why a module has no gradient.

use crate::{
    build::Builder,
    diag::Code,
    ir::{Op, ValueId},
    ops::OpError,
    ty::DType,
};

/// Why a module has no gradient.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AutodiffError {
    /// E5001: an operation on the path has no derivative rule in this profile.
    #[error("`{op}` has no derivative in this profile; it is on the path {path}")]
    UnsupportedOp {
        /// The operation.
        op: &'static str,
        /// Its value in the primal.
        value: ValueId,
        /// From the output to the parameter, `%7 Mul <- %4 Conv2d <- %0 x`.
        path: String,
    },
    /// E5001: a loop without a limit on its steps. Its derivative would keep values of each step.
    #[error(
        "`while` has no gradient without a limit on its steps, because the gradient keeps values of each step: write `at most = 100`"
    )]
    UnlimitedLoop,
    /// E5001: Core v1 has no such element type.
    #[error("Core v1 has no `{0}`, so a module that has it has no gradient in this profile")]
    UnsupportedType(DType),
    /// E5002: the gradient breaks a rule of the IR, which is a bug of the compiler.
    #[error("the gradient does not verify: {0}")]
    Verification(String),
    /// E5003: an axis is out of range.
    #[error("`{op}`: axis {axis} is out of range for shape {shape}")]
    InvalidAxis {
        /// The operation.
        op: &'static str,
        /// The axis.
        axis: i64,
        /// The shape.
        shape: String,
    },
    /// E5004: a shape that the rule cannot handle, or an output that is not a single float.
    #[error("{0}")]
    UnsupportedShape(String),
    /// E5005: the parameter is an integer, or does not reach the output.
    #[error("{problem}")]
    NotDifferentiable {
        /// The parameter.
        input: ValueId,
        /// Why it has no gradient.
        problem: String,
    },
}

impl AutodiffError {
    /// The error for an operation of a derivative that breaks a rule, with this message. It is a bug of the compiler,
    /// except that the shape of a result may exceed the limits.
    pub(crate) fn of(error: &OpError, message: String) -> Self {
        if error.code == Code::E1008 { Self::UnsupportedShape(message) } else { Self::Verification(message) }
    }

    /// The stable error code.
    pub const fn code(&self) -> Code {
        match self {
            Self::UnsupportedOp { .. } | Self::UnlimitedLoop | Self::UnsupportedType(_) => Code::E5001,
            Self::Verification(_) => Code::E5002,
            Self::InvalidAxis { .. } => Code::E5003,
            Self::UnsupportedShape(_) => Code::E5004,
            Self::NotDifferentiable { .. } => Code::E5005,
        }
    }
}

/// Emits an operation. A broken rule is a bug of the compiler, except that the shape of a result may exceed the limits.
pub(crate) fn push(builder: &mut Builder, op: Op, operands: &[ValueId]) -> Result<ValueId, AutodiffError> {
    builder.push(op, operands).map_err(|error| refused(builder, &error, operands))
}

fn refused(builder: &Builder, error: &OpError, operands: &[ValueId]) -> AutodiffError {
    let message = error.message(|operand| builder.ty(operands[operand]).to_string());
    AutodiffError::of(error, format!("[{}] {message}", error.code))
}
