//! Gradients against difference quotients.

use std::borrow::Cow;

use mind_shape::{match_dtype, match_elements};

use crate::element::{Elements, ElementsMut};
use crate::parameters::Parameters;

/// Compares a gradient with difference quotients of the function that it is of, in every element.
///
/// `at` is where: a tensor or a struct of tensors; it is changed by small steps in between and as it was afterwards.
/// `gradient` has the same parts. `f` gives the value at what it is called with, five times an element. Parts that hold
/// no floats are left alone. Where the function has a kink, as `relu` at 0, any slope between those to both sides is right.
///
/// It is for functions and pullbacks of one's own:
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
/// The first element where they differ by more than what rounding and the length of a step explain, or that the parts of
/// the gradient are others.
pub fn gradcheck<P, G, V>(at: &mut P, gradient: &G, f: impl FnMut(&P) -> V) -> Result<(), GradientMismatch>
where
    P: Parameters,
    G: Parameters,
    V: Into<f64>,
{
    gradcheck_some(at, gradient, usize::MAX, f)
}

/// As [`gradcheck`], in so many elements of each part at the most, which are spread evenly: for large parameters.
///
/// # Errors
/// As [`gradcheck`].
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
    let parts: Vec<Part> = at
        .parameters()
        .into_iter()
        .map(|part| Part { name: part.name, dims: part.dims.to_vec(), count: part.elements.len() })
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

/// Where a gradient is not that of the function.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GradientMismatch {
    /// An element differs from the difference quotient.
    #[error("{0}")]
    Element(Box<Differing>),
    /// A part of the gradient has other extents or elements than the parameter of this name.
    #[error("the gradient of `{name}` has other extents or another element type than the parameter")]
    Part {
        /// The parameter's name; empty for a tensor by itself.
        name: String,
    },
    /// The gradient has not as many parts as there are parameters.
    #[error("the gradient has {found} parts, needed {needed}")]
    Parts {
        /// How many it has.
        found: usize,
        /// How many parameters there are.
        needed: usize,
    },
}

/// An element of a gradient beside the difference quotient.
#[derive(Clone, Debug, PartialEq)]
pub struct Differing {
    /// The parameter's name; empty for a tensor by itself.
    pub name: String,
    /// Which element.
    pub index: Vec<usize>,
    /// The gradient.
    pub found: f64,
    /// The difference quotient.
    pub needed: f64,
    /// How far the quotient may be from the derivative.
    pub within: f64,
    /// How many elements differ.
    pub differ: usize,
    /// Of how many.
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

/// Without digits that a quotient does not have.
fn rounded(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

struct Part {
    name: Cow<'static, str>,
    dims: Vec<usize>,
    count: usize,
}

impl Part {
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

/// A difference quotient, and how far it may be from the derivative.
struct Quotient {
    slope: f64,
    error: f64,
}

/// Central differences of two steps, put together so that the error of the second order goes (Richardson).
///
/// A step is the cube root of the relative error of a number, where rounding and the length of the step cost alike. Where
/// the slopes to both sides do not come closer as the step is halved, the function has a kink, and any slope between is one.
fn quotient<P: Parameters, V: Into<f64>>(
    at: &mut P,
    place: (usize, usize),
    epsilon: f64,
    f: &mut impl FnMut(&P) -> V,
) -> Quotient {
    let x = get(at, place);
    let middle: f64 = f(at).into();
    let step = epsilon.cbrt() * x.abs().max(1.0);
    let mut noise = 0.0_f64;
    let mut difference = |step: f64| {
        let mut value = |x: f64| {
            set(at, place, x);
            // What is stored is rounded.
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
    Quotient { slope: (4.0 * fine - coarse) / 3.0, error: (fine - coarse).abs() + 4.0 * noise + kink }
}

/// How far a gradient may be from a quotient beside the quotient's own error, relatively: what rounding in the function
/// may come to.
fn tolerance(epsilon: f64) -> f64 {
    epsilon.cbrt() * 0.1
}

/// The relative error of the elements of a part; nothing where they are no floats.
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
