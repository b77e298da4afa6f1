//! The options of differentiation.

use crate::{ir::ValueId, ops::Profile};

/// The options of [`differentiate`](super::differentiate).
///
/// The specification's further options do not exist here: every gradient is canonical and verified.
///
/// ```
/// use mind_core::{
///     grad::{Cotangent, GradientOptions, Wrt},
///     ir::ValueId,
///     ops::Profile,
/// };
/// let by_the_first = vec![Wrt { input: ValueId::new(0), zero_ok: false }];
/// let options = GradientOptions { wrt: by_the_first, ..GradientOptions::default() };
/// assert_eq!((options.cotangent, options.profile), (Cotangent::One, Profile::Extended));
/// ```
#[derive(Clone, Debug)]
pub struct GradientOptions {
    /// The inputs to differentiate with respect to, in the order of the gradients.
    pub wrt: Vec<Wrt>,
    /// Where the derivative starts.
    pub cotangent: Cotangent,
    /// Which operations the gradient may use.
    pub profile: Profile,
}

/// No inputs, a cotangent of 1, and the operations that the macro and `mind grad` use.
impl Default for GradientOptions {
    fn default() -> Self {
        Self { wrt: Vec::new(), cotangent: Cotangent::One, profile: Profile::Extended }
    }
}

/// An input to differentiate with respect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrt {
    /// The input.
    pub input: ValueId,
    /// Whether an input that does not reach the output has a gradient of zeros, rather than being an error, E5005.
    pub zero_ok: bool,
}

/// Where the derivative starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cotangent {
    /// At 1. The module must have one output, a single float.
    One,
    /// At 1 for the first output, which must be a single float. The other outputs are passed through.
    First,
    /// At one additional input per output, in order, each of the type of its output. Their names are the first among
    /// `cotangent`, `cotangent1`, `cotangent2`, … that no input has.
    Input,
}
