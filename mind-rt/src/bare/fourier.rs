//! Fourier transforms of rows, for shapes that are values, not types.

use mind_shape::{Type, match_dtype};

use super::{Argument, count, extent, number::Number};
use crate::kernels::{fourier::Fourier, refused};

/// The transforms of rows of complex numbers.
pub fn fft<T: Number>(x: Argument<'_, T>, inverse: bool, out: &mut [T]) {
    let n = extent(x.ty, x.ty.rank() - 2);
    match_dtype!(T::DTYPE, R {
        floats => R::fft(inverse, n, T::cast(x.elements), &mut T::cast_mut(out)[..x.elements.len()]),
        others => refused(),
    });
}

/// The first halves of the transforms of rows of real numbers.
pub fn real_fft<T: Number>(x: Argument<'_, T>, out: &mut [T]) {
    let n = extent(x.ty, x.ty.rank() - 1);
    let len = x.elements.len() / n * (n / 2 + 1) * 2;
    match_dtype!(T::DTYPE, R {
        floats => R::real_fft(n, T::cast(x.elements), &mut T::cast_mut(out)[..len]),
        others => refused(),
    });
}

/// The cotangent of the operand of [`real_fft`].
pub fn real_fft_grad<T: Number>(y: Argument<'_, T>, x: &Type, out: &mut [T]) {
    let n = extent(x, x.rank() - 1);
    match_dtype!(T::DTYPE, R {
        floats => R::real_fft_grad(n, T::cast(y.elements), &mut T::cast_mut(out)[..count(x)]),
        others => refused(),
    });
}
