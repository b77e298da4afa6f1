//! Checks of gradients against difference quotients.

use std::borrow::Cow;

use mind_shape::{match_dtype, match_elements};

use crate::element::{Elements, ElementsMut};
use crate::parameters::Parameters;

/// Compares a gradient with difference quotients of its function, in every element.
///
/// - `at` is the point: a tensor or a struct of tensors. Small steps change it during the check; afterwards it is
///   restored.
/// - `gradient` has the same parts as `at`.
/// - `f` returns the function's value at its argument. It is called five times per element.
///
/// Parts without floating-point elements are skipped. At a kink of the function, as of `relu` at 0, the check accepts
/// any slope between the two one-sided slopes.
///
/// The check is for functions and pullbacks that you write yourself:
///
/// ```
/// use mind_rt::{Tensor, gradcheck};
///
/// let f = |x: &Tensor![f64; 3]| x.as_slice().iter().map(|x| x.powi(3)).sum::<f64>();
/// let mut x = Tensor::from([1.0, -2.0, 0.5]);
/// let right = x.map(|x| 3.0 * x * x);
/// assert_eq!(gradcheck(&mut x, &right, f), Ok(()));
///
/// let wrong = x.map(|x| 3.0 * x * x.abs());
/// let error = gradcheck(&mut x, &wrong, f).unwrap_err();
/// assert!(error.to_string().starts_with("the gradient at [1] is -12, a difference quotient is 12"), "{error}");
/// ```
///
/// # Errors
/// Returns the first element that differs from its quotient by more than rounding and the length of a step explain, or
/// an error if the gradient does not have the parts of the parameters.
pub fn gradcheck<P, G, V>(at: &mut P, gradient: &G, f: impl FnMut(&P) -> V) -> Result<(), GradientMismatch>
where
    P: Parameters,
    G: Parameters,
    V: Into<f64>,
{
    gradcheck_some(at, gradient, usize::MAX, f)
}

/// Does the same as [`gradcheck`] for at most `most` elements of each part, spread evenly. This is for large
/// parameters.
///
/// # Errors
/// The errors of [`gradcheck`].
pub fn gradcheck_some<P, G, V>(
    at: &mut P,
    gradient: &G,
    most: usize,
    mut f: impl FnMut(&P) -> V,
) -> Result<(), GradientMismatch>
where
    P: Parameters,
    G: Parameters,
    V: Into<f64>,
{
    let parts: Vec<FieldShape> = at
        .parameters()
        .into_iter()
        .map(|part| FieldShape { name: part.name, dims: part.dims.to_vec(), count: part.elements.len() })
        .collect();
    let gradients: Vec<Option<Vec<f64>>> = gradient
        .parameters()
        .into_iter()
        .zip(&parts)
        .map(|(own, part)| (own.dims[..] == part.dims[..]).then(|| numbers(own.elements)).flatten())
        .collect();
    if gradient.parameters().len() != parts.len() {
        return Err(GradientMismatch::Parts { found: gradient.parameters().len(), needed: parts.len() });
    }
    let (mut first, mut checked, mut differ) = (None, 0, 0);
    for (position, part) in parts.iter().enumerate() {
        let Some(epsilon) = epsilon(at, position) else { continue };
        let Some(slopes) = &gradients[position] else {
            return Err(GradientMismatch::Part { name: part.name.to_string() });
        };
        let stride = part.count.div_ceil(most.max(1)).max(1);
        for element in (0..part.count).step_by(stride) {
            let quotient = quotient(at, (position, element), epsilon, &mut f);
            let found = slopes[element];
            checked += 1;
            let differs = (found - quotient.slope).abs() > quotient.error + tolerance(epsilon) * found.abs();
            if differs || found.is_nan() != quotient.slope.is_nan() {
                differ += 1;
                first.get_or_insert((position, element, found, quotient));
            }
        }
    }
    let Some((position, element, found, quotient)) = first else { return Ok(()) };
    let part = &parts[position];
    Err(GradientMismatch::Element(Box::new(Differing {
        name: part.name.to_string(),
        index: part.index(element),
        found,
        needed: quotient.slope,
        within: quotient.error,
        differ,
        checked,
    })))
}

/// A disagreement between a gradient and its function.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GradientMismatch {
    /// An element differs from the difference quotient.
    #[error("{0}")]
    Element(Box<Differing>),
    /// A part of the gradient has other extents or another element type than the parameter of this name.
    #[error("the gradient of `{name}` has other extents or another element type than the parameter")]
    Part {
        /// The parameter's name; empty for a single tensor.
        name: String,
    },
    /// The gradient and the parameters differ in the number of parts.
    #[error("the gradient has {found} parts, needed {needed}")]
    Parts {
        /// The number of parts of the gradient.
        found: usize,
        /// The number of parameters.
        needed: usize,
    },
}

/// An element of a gradient that differs from the difference quotient.
#[derive(Clone, Debug, PartialEq)]
pub struct Differing {
    /// The parameter's name; empty for a single tensor.
    pub name: String,
    /// The index of the element.
    pub index: Vec<usize>,
    /// The element of the gradient.
    pub found: f64,
    /// The difference quotient.
    pub needed: f64,
    /// A bound on the distance between the quotient and the derivative.
    pub within: f64,
    /// The number of elements that differ.
    pub differ: usize,
    /// The number of elements checked.
    pub checked: usize,
}

impl std::fmt::Display for Differing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, index, found, needed, within, differ, checked } = self;
        let of = if name.is_empty() { String::new() } else { format!(" of `{name}`") };
        let at = if index.is_empty() { String::new() } else { format!(" at {index:?}") };
        let needed = rounded(*needed);
        write!(
            f,
            "the gradient{of}{at} is {found}, a difference quotient is {needed} to within {within:.1e}"
        )?;
        write!(f, "; {differ} of {checked} elements differ")
    }
}

/// Rounds away the digits that a quotient does not determine.
fn rounded(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

struct FieldShape {
    name: Cow<'static, str>,
    dims: Vec<usize>,
    count: usize,
}

impl FieldShape {
    fn index(&self, element: usize) -> Vec<usize> {
        let mut rest = element;
        let mut index: Vec<usize> = self
            .dims
            .iter()
            .rev()
            .map(|extent| {
                let place = rest % extent;
                rest /= extent;
                place
            })
            .collect();
        index.reverse();
        index
    }
}

/// A difference quotient, and a bound on its distance from the derivative.
struct DifferenceQuotient {
    slope: f64,
    error: f64,
}

/// Combines the central differences of two steps so that their second-order errors cancel (Richardson extrapolation).
///
/// The step is the cube root of the relative error of a number. This balances the errors from rounding and from the
/// length of the step. If halving the step does not bring the one-sided slopes closer together, the function has a
/// kink, and any slope between them is accepted.
fn quotient<P: Parameters, V: Into<f64>>(
    at: &mut P,
    place: (usize, usize),
    epsilon: f64,
    f: &mut impl FnMut(&P) -> V,
) -> DifferenceQuotient {
    let x = get(at, place);
    let middle: f64 = f(at).into();
    let step = epsilon.cbrt() * x.abs().max(1.0);
    let mut noise = 0.0_f64;
    let mut difference = |step: f64| {
        let mut value = |x: f64| {
            set(at, place, x);
            // The stored value is rounded, so it is read back.
            (get(at, place), f(at).into())
        };
        let ((above, high), (below, low)) = (value(x + step), value(x - step));
        noise = noise.max(4.0 * epsilon * high.abs().max(low.abs()) / (above - below));
        let gap = ((high - middle) / (above - x) - (middle - low) / (x - below)).abs();
        ((high - low) / (above - below), gap)
    };
    let ((coarse, wide), (fine, narrow)) = (difference(step), difference(0.5 * step));
    set(at, place, x);
    let kink = if narrow > 0.75 * wide { narrow } else { 0.0 };
    DifferenceQuotient {
        slope: (4.0 * fine - coarse) / 3.0,
        error: (fine - coarse).abs() + 4.0 * noise + kink,
    }
}

/// The accepted relative distance between a gradient and a quotient, in addition to the quotient's own error: an
/// allowance for rounding inside the function.
fn tolerance(epsilon: f64) -> f64 {
    epsilon.cbrt() * 0.1
}

/// The relative rounding error of the elements of a part; `None` if they are not floats.
fn epsilon<P: Parameters>(at: &P, position: usize) -> Option<f64> {
    match_dtype!(at.parameters().get(position)?.dtype(), T {
        floats => Some(T::EPSILON.into()),
        others => None,
    })
}

fn get<P: Parameters>(at: &P, (position, element): (usize, usize)) -> f64 {
    match_elements!(at.parameters()[position].elements, Elements(elements) {
        floats => elements[element].into(),
        others => f64::NAN,
    })
}

fn set<P: Parameters>(at: &mut P, (position, element): (usize, usize), x: f64) {
    match_elements!(&mut at.parameters_mut()[position].elements, ElementsMut(elements) {
        floats => elements[element] = x as _,
        others => {},
    });
}

fn numbers(elements: Elements<'_>) -> Option<Vec<f64>> {
    match_elements!(elements, Elements(elements) {
        floats => Some(elements.iter().map(|x| (*x).into()).collect()),
        others => None,
    })
}
