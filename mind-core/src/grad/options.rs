//! What is differentiated, by what, and in which operations.

use crate::{ir::ValueId, ops::Profile};

/// What to differentiate, by what, and in which operations.
///
/// What the specification calls options besides is not one here: every gradient is canonical and verified.
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

/// By no input yet, from 1, in the operations that the macro and `mind grad` use.
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
    /// Whether an input that does not reach the output gets zeros rather than E5005.
    pub zero_ok: bool,
}

/// Where the derivative starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cotangent {
    /// At 1: the module has one output, a single float.
    One,
    /// At 1 of the first output, a single float. The others are passed on.
    First,
    /// At one more input an output, in order, each of its output's type. Their names are the first that no input has of
    /// `cotangent`, `cotangent1`, `cotangent2`, ….
    Input,
}
