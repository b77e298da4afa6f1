//! The values that `extern` functions return to a program.

use crate::kernels::check;
use crate::{Element, Error, Rank, Tensor};

/// A value returned by an `extern` function: a tensor of rank `R` with elements of type `T`, or a number, of rank 0.
#[diagnostic::on_unimplemented(
    message = "an `extern` function returns `{Self}`, but is declared with {R} dimensions of `{T}`",
    label = "returns `{Self}`"
)]
pub trait ReturnedValue<T, const R: usize> {
    /// The extents.
    fn extents(&self) -> [usize; R];

    /// The elements in row-major order.
    fn elements(&self) -> &[T];
}

impl<T: Element, S: Rank<R>, const R: usize> ReturnedValue<T, R> for Tensor<T, S> {
    fn extents(&self) -> [usize; R] {
        self.shape().extents()
    }

    fn elements(&self) -> &[T] {
        self.as_slice()
    }
}

macro_rules! number {
    ($($number:ty)+) => {$(
        impl ReturnedValue<$number, 0> for $number {
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

/// Copies the value that a function returned, or a part of it, to the beginning of `to`, which has room for `extents`.
/// Returns the rest of `to`.
///
/// # Errors
/// E6009 if the value has other extents.
pub fn put<'a, T: Element, const R: usize>(
    function: &'static str,
    returned: &impl ReturnedValue<T, R>,
    extents: [usize; R],
    to: &'a mut [T],
) -> Result<&'a mut [T], Error> {
    for (dimension, (found, needed)) in returned.extents().into_iter().zip(extents).enumerate() {
        if found != needed {
            let (parameter, why) = ("result", "as declared");
            return Err(Error::DimensionMismatch { function, parameter, dimension, found, needed, why });
        }
    }
    let elements = returned.elements();
    check(
        elements.len() == extents.iter().product::<usize>(),
        "a function gives another number of elements than its extents",
    );
    let (to, rest) = to.split_at_mut(elements.len());
    to.copy_from_slice(elements);
    Ok(rest)
}
