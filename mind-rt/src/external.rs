//! What functions that are elsewhere give to a program.

use crate::kernels::check;
use crate::{Element, Error, Rank, Tensor};

/// A tensor of rank `R`, or a number, of this element type.
#[diagnostic::on_unimplemented(
    message = "an `extern` function gives `{Self}`, declared is {R} dimensions of `{T}`",
    label = "gives `{Self}`"
)]
pub trait Given<T, const R: usize> {
    /// Its extents.
    fn extents(&self) -> [usize; R];

    /// Its elements in row-major order.
    fn elements(&self) -> &[T];
}

impl<T: Element, S: Rank<R>, const R: usize> Given<T, R> for Tensor<T, S> {
    fn extents(&self) -> [usize; R] {
        self.shape().extents()
    }

    fn elements(&self) -> &[T] {
        self.as_slice()
    }
}

macro_rules! number {
    ($($number:ty)+) => {$(
        impl Given<$number, 0> for $number {
            fn extents(&self) -> [usize; 0] {
                []
            }

            fn elements(&self) -> &[$number] {
                std::slice::from_ref(self)
            }
        }
    )+};
}

number!(f32 f64);

/// Stores what a function gives, or a part of it, at the beginning of `to`, which has room for `extents`; the rest.
///
/// # Errors
/// E6009 where it has other extents.
pub fn put<'a, T: Element, const R: usize>(
    function: &'static str,
    given: &impl Given<T, R>,
    extents: [usize; R],
    to: &'a mut [T],
) -> Result<&'a mut [T], Error> {
    for (dimension, (found, needed)) in given.extents().into_iter().zip(extents).enumerate() {
        if found != needed {
            let (parameter, why) = ("result", "as declared");
            return Err(Error::DimensionMismatch { function, parameter, dimension, found, needed, why });
        }
    }
    let elements = given.elements();
    check(
        elements.len() == extents.iter().product::<usize>(),
        "a function gives another number of elements than its extents",
    );
    let (to, rest) = to.split_at_mut(elements.len());
    to.copy_from_slice(elements);
    Ok(rest)
}
