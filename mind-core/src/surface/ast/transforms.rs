//! Transforms of functions and of expressions.

use super::{ExprId, Path};
use crate::diag::Site;
use crate::jacobian::Mode;

/// `grad(·, wrt = a)`, `vmap(·, over = a, axis = 1)`
#[derive(Clone, Debug)]
pub struct Transform {
    /// Which one, with its options.
    pub kind: TransformKind,
    /// The parameters to differentiate by, or to map over; empty for a transform that lists none.
    pub wrt: Wrt,
    /// From its name to its closing parenthesis.
    pub site: Site,
}

/// The derivative of an expression among Rust variables.
#[derive(Clone, Debug)]
pub struct Derivative {
    /// Which one.
    pub kind: GradientKind,
    /// The expression that is differentiated.
    pub value: ExprId,
    /// The places to differentiate by, in the order of the gradients; never empty.
    pub wrt: Vec<WrtPlace>,
    /// Whether the gradients are returned as a tuple even if there is only one.
    pub tuple: bool,
    /// The whole list.
    pub wrt_site: Site,
    /// The cotangent that `vjp` pulls back.
    pub cotangent: Option<ExprId>,
    /// From its name to the closing parenthesis after the list.
    pub site: Site,
}

/// A place to differentiate by.
#[derive(Clone, Copy, Debug)]
pub struct WrtPlace {
    /// `self.w`: a name and its fields.
    pub place: ExprId,
    /// As [`WrtTarget::zero_ok`].
    pub zero_ok: bool,
}

/// The transforms that make a gradient. They apply to expressions, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradientKind {
    /// The gradient of a scalar.
    Grad,
    /// The value and the gradient.
    ValueAndGrad,
    /// Pulls back a cotangent, which is the last argument.
    Vjp,
}

impl GradientKind {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Grad, Self::ValueAndGrad, Self::Vjp];

    /// As written in programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grad => "grad",
            Self::ValueAndGrad => "value_and_grad",
            Self::Vjp => "vjp",
        }
    }
}

/// The transforms of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransformKind {
    /// A gradient.
    Gradient(GradientKind),
    /// Returns the value, and pushes forward tangents, which are the last arguments.
    Jvp,
    /// The derivatives of all elements of the result.
    Jacobian {
        /// The direction of the passes; `None` if the extents decide.
        mode: Option<Mode>,
    },
    /// The second derivatives of a scalar.
    Hessian,
    /// The second derivatives of a scalar, multiplied by a vector. The last arguments are the vector.
    Hvp,
    /// The function for each slice of some arguments.
    Vmap {
        /// The axis of the slices in the arguments. A negative one counts from the end.
        axis: i64,
        /// The axis of the slices in the results.
        out: i64,
    },
    /// The associative scan of a function of two values.
    AssociativeScan {
        /// Whether the order is from the last element to the first.
        reverse: bool,
    },
    /// The function itself, whose gradient computes the values in it again.
    Checkpoint,
}

impl TransformKind {
    /// Every transform, with its default options.
    pub const ALL: [Self; 10] = [
        Self::Gradient(GradientKind::Grad),
        Self::Gradient(GradientKind::ValueAndGrad),
        Self::Gradient(GradientKind::Vjp),
        Self::Jvp,
        Self::Jacobian { mode: None },
        Self::Hessian,
        Self::Hvp,
        Self::Vmap { axis: 0, out: 0 },
        Self::AssociativeScan { reverse: false },
        Self::Checkpoint,
    ];

    /// As written in programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gradient(kind) => kind.name(),
            Self::Jvp => "jvp",
            Self::Jacobian { .. } => "jacobian",
            Self::Hessian => "hessian",
            Self::Hvp => "hvp",
            Self::Vmap { .. } => "vmap",
            Self::AssociativeScan { .. } => "associative_scan",
            Self::Checkpoint => "checkpoint",
        }
    }

    /// The name of the argument that lists parameters, if there is one.
    pub const fn list(self) -> Option<&'static str> {
        match self {
            Self::Vmap { .. } => Some("over"),
            Self::AssociativeScan { .. } | Self::Checkpoint => None,
            Self::Gradient(_) | Self::Jvp | Self::Jacobian { .. } | Self::Hessian | Self::Hvp => Some("wrt"),
        }
    }

    /// The arguments after the function, as messages show them.
    pub fn arguments(self) -> String {
        self.list().map_or_else(String::new, |list| format!(", {list} = …"))
    }

    /// The names of its options.
    pub const fn options(self) -> &'static [&'static str] {
        match self {
            Self::Jacobian { .. } => &["mode"],
            Self::Vmap { .. } => &["axis", "out"],
            Self::AssociativeScan { .. } => &["reverse"],
            Self::Gradient(_) | Self::Jvp | Self::Hessian | Self::Hvp | Self::Checkpoint => &[],
        }
    }
}

/// The parameters to differentiate by: `a`, or `(a, zero_ok b)`.
#[derive(Clone, Debug)]
pub struct Wrt {
    /// In the order of the gradients.
    pub targets: Vec<WrtTarget>,
    /// Whether the gradients are returned as a tuple even if there is only one.
    pub tuple: bool,
    /// The whole list.
    pub site: Site,
}

/// A parameter to differentiate by, or a field of one.
#[derive(Clone, Debug)]
pub struct WrtTarget {
    /// The parameter or field.
    pub path: Path,
    /// Whether a parameter that does not reach the output has a gradient of zeros instead of being an error.
    pub zero_ok: bool,
}
