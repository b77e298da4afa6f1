//! Static reverse-mode autodiff: from a canonical module to the module of its gradient.

mod pullback;

use crate::{
    canon::Canonical,
    diag::Code,
    ir::{Module, ValueId},
    ops::Profile,
};

pub use pullback::Pullback;

/// What to differentiate, by what, and in which operations.
#[derive(Clone, Debug)]
pub struct GradientOptions {
    /// The inputs to differentiate with respect to, in the order of the gradients.
    pub wrt: Vec<Wrt>,
    /// Where the derivative starts.
    pub cotangent: Cotangent,
    /// Which operations the gradient may use.
    pub profile: Profile,
    /// Whether the result is verified; it is canonical either way.
    pub verify: bool,
}

/// An input to differentiate with respect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrt {
    /// The input.
    pub input: ValueId,
    /// Whether an input that does not reach the output gets zeros rather than E5005.
    pub zero_ok: bool,
}

/// Where the derivative starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cotangent {
    /// At 1: the module has one output, a single float.
    One,
    /// At one more input an output, named `cotangent` (`cotangent1`, … where there are several outputs or the name is taken).
    Input,
}

/// A module that computes what the primal computes and the gradients.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// Inputs: the primal's, then the cotangents asked for. Outputs: the primal's, then the gradients in `wrt` order.
    pub module: Canonical,
    /// For each primal value that was differentiated (as it is numbered in `module`), its gradient; ascending.
    pub gradients: Vec<(ValueId, ValueId)>,
}

/// Why a module has no gradient.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AutodiffError {
    /// E5001: an operation on the way has no derivative rule in this profile.
    #[error("`{op}` has no derivative in this profile; it stands on the path {path}")]
    UnsupportedOp {
        /// The operation.
        op: &'static str,
        /// Its value in the primal.
        value: ValueId,
        /// From the output to the parameter, `%7 Mul <- %4 Conv2d <- %0 x`.
        path: String,
    },
    /// E5002: the gradient breaks a rule of the IR; a fault of the compiler.
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
    #[error("{0}")]
    NotDifferentiable(String),
}

impl AutodiffError {
    /// The stable number.
    pub const fn code(&self) -> Code {
        match self {
            Self::UnsupportedOp { .. } => Code::E5001,
            Self::Verification(_) => Code::E5002,
            Self::InvalidAxis { .. } => Code::E5003,
            Self::UnsupportedShape(_) => Code::E5004,
            Self::NotDifferentiable(_) => Code::E5005,
        }
    }
}

/// The module that computes the gradient of `module`.
///
/// # Errors
/// See [`AutodiffError`].
pub fn differentiate(module: &Canonical, options: &GradientOptions) -> Result<Gradient, AutodiffError> {
    let _ = (module, options);
    todo!("written by the autodiff work")
}

/// The same module with every output kept.
#[allow(dead_code)]
fn placeholder(_: &Module) {}
