//! Fourier transforms of rows. A complex number is a pair, the last axis of a tensor.

use super::{Dims, Takes, agree, elementwise::check_dtype, fail, merged};
use crate::{
    failure::{Problem, TypeResult},
    ty::{Type, UNKNOWN},
};

/// The transforms of rows of complex numbers.
///
/// # Errors
/// E3002 for a rank below 2; E2005 unless the elements are floats; E3003 unless the last extent is 2.
pub const fn fft<'a>(x: Type) -> TypeResult<'a> {
    if x.rank() < 2 {
        return fail(Problem::NoMatrix);
    }
    attempt!(check_dtype(Takes::Floats, x, 0));
    let rank = x.rank();
    let needed = attempt!(Dims::of(x.dims().split_at(rank - 1).0).and(2).typed(x.dtype()));
    if agree(x.extent(rank - 1), 2) { Ok(needed) } else { fail(Problem::Shape { operand: 0, needed }) }
}

/// The first halves of the transforms of rows of real numbers.
///
/// # Errors
/// E3002 for rank 0; E2005 unless the elements are floats.
pub const fn real_fft<'a>(x: Type) -> TypeResult<'a> {
    if x.rank() == 0 {
        return fail(Problem::NoRow);
    }
    attempt!(check_dtype(Takes::Floats, x, 0));
    let (outer, n) = (x.rank() - 1, x.extent(x.rank() - 1));
    let half = if n == UNKNOWN { UNKNOWN } else { n / 2 + 1 };
    Dims::of(x.dims().split_at(outer).0).and(half).and(2).typed(x.dtype())
}

/// The derivative of [`real_fft`], whose operand has the shape of `x`.
///
/// # Errors
/// E3002 if `x` has rank 0; E2005 unless the elements of `y` are floats; E3003 if `y` does not have the shape of the
/// transform of `x`.
pub const fn real_fft_back<'a>(y: Type, x: Type) -> TypeResult<'a> {
    attempt!(check_dtype(Takes::Floats, y, 0));
    let needed = attempt!(real_fft(x.with_dtype(y.dtype())));
    match merged(y, needed) {
        Some(_) => Ok(x.with_dtype(y.dtype())),
        None => fail(Problem::Shape { operand: 0, needed }),
    }
}
