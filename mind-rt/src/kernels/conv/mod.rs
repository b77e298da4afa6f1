//! Two-dimensional convolution (cross-correlation) and its derivatives. Images are NHWC, filters HWCF.
//!
//! An [`Epilogue`] receives a result as a matrix: an image result has a row for each pixel and a column for each
//! channel, a filter result has a row for each filter position and input channel and a column for each output channel.
//!
//! If a filter has one position, and the result has the extents of the image, all three are matrix products.

mod axis;
mod correlate;
mod geometry;
mod grad_filter;
mod naive;
mod pack;
mod parts;
mod pixels;
mod store;
#[cfg(test)]
mod tests;
mod tile;

pub use geometry::Conv2d;
pub use store::{conv2d, conv2d_grad_filter, conv2d_grad_input};

use super::check;
use super::compiled::Compiled;
use super::epilogue::Epilogue;
use super::matmul::{Gemm, MatRef, matmul_scratch, matmul_with};
use super::memory::poison;
use crate::kernels::number::Number;
use crate::simd::{SimdLevel, simd_level};
use correlate::Correlation;
use grad_filter::GradFilter;
use parts::{SplitRows, parts_worth, with_parts};
use tile::{ConvMicro, ConvTiles};

/// `y[n, i, j, f] = Σ_{a, b, c} input[n, i · stride + a - pad, j · stride + b - pad, c] · filter[a, b, c, f]`, where
/// input outside the image is left out. Integers wrap.
///
/// The epilogue receives `y` as a matrix of `n · h_out · w_out` rows and `c_out` columns. `scratch` must have
/// [`conv2d_scratch`] elements or more, of any values.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn conv2d_with<T: Convolve>(
    g: &Conv2d,
    input: &[T],
    filter: &[T],
    scratch: &mut [T],
    epilogue: impl Epilogue<T>,
) {
    let g = &g.checked(Some(input.len()), Some(filter.len()), None);
    check(scratch.len() >= conv2d_scratch::<T>(g), "conv2d: too little scratch memory");
    compute(g, Convolution::Forward { input, filter }, [g.n * g.h_out * g.w_out, g.w_out], scratch, epilogue);
}

/// The derivative by the input, from the cotangent of the output: a matrix of `n · h · w` rows and `c_in` columns.
///
/// `scratch` must have [`conv2d_grad_input_scratch`] elements or more, of any values.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn conv2d_grad_input_with<T: Convolve>(
    g: &Conv2d,
    cotangent: &[T],
    filter: &[T],
    scratch: &mut [T],
    epilogue: impl Epilogue<T>,
) {
    let g = &g.checked(None, Some(filter.len()), Some(cotangent.len()));
    check(scratch.len() >= conv2d_grad_input_scratch::<T>(g), "conv2d: too little scratch memory");
    compute(g, Convolution::GradInput { cotangent, filter }, [g.n * g.h * g.w, g.w], scratch, epilogue);
}

/// The derivative by the filter, from the cotangent of the output: a matrix of `kh · kw · c_in` rows and `c_out`
/// columns.
///
/// `scratch` must have [`conv2d_grad_filter_scratch`] elements or more, of any values.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn conv2d_grad_filter_with<T: Convolve>(
    g: &Conv2d,
    input: &[T],
    cotangent: &[T],
    scratch: &mut [T],
    epilogue: impl Epilogue<T>,
) {
    let g = &g.checked(Some(input.len()), None, Some(cotangent.len()));
    check(scratch.len() >= conv2d_grad_filter_scratch::<T>(g), "conv2d: too little scratch memory");
    compute(g, Convolution::GradFilter { input, cotangent }, [g.kh * g.kw * g.c_in, 1], scratch, epilogue);
}

/// Computes a result of `rows` rows, which threads divide at multiples of `grain`.
fn compute<T: Convolve>(
    g: &Conv2d,
    of: Convolution<'_, T>,
    [rows, grain]: [usize; 2],
    scratch: &mut [T],
    epilogue: impl Epilogue<T>,
) {
    poison(scratch);
    if let Some((extents, [lhs, rhs])) = of.product(g) {
        return matmul_with(&[], extents, lhs, rhs, scratch, epilogue);
    }
    with_parts(parts_worth(g.work()), [rows, grain], epilogue, |parts| {
        T::convolve(simd_level(), g, of, scratch, parts);
    });
}

/// The elements of scratch memory that [`conv2d_with`] needs at most, on any machine; `usize::MAX` on overflow.
#[must_use]
pub const fn conv2d_scratch<T>(g: &Conv2d) -> usize {
    match g.pixels() {
        Some(pixels) => matmul_scratch::<T>(pixels, g.c_in, g.c_out, 1),
        None => panel_len(g.kh, g.kw, g.c_in, g.c_out),
    }
}

/// The elements of scratch memory that [`conv2d_grad_input_with`] needs at most, on any machine; `usize::MAX` on
/// overflow.
#[must_use]
pub const fn conv2d_grad_input_scratch<T>(g: &Conv2d) -> usize {
    match g.pixels() {
        Some(pixels) => matmul_scratch::<T>(pixels, g.c_out, g.c_in, 1),
        None => panel_len(g.kh, g.kw, g.c_out, g.c_in),
    }
}

/// The elements of scratch memory that [`conv2d_grad_filter_with`] needs at most, on any machine; `usize::MAX` on
/// overflow.
#[must_use]
pub const fn conv2d_grad_filter_scratch<T>(g: &Conv2d) -> usize {
    match g.pixels() {
        Some(pixels) => matmul_scratch::<T>(g.c_in, pixels, g.c_out, g.c_in),
        None => panel_len(g.kh, g.kw, g.c_in, g.c_out),
    }
}

/// The most columns of a result that are computed at a time.
const PANEL: usize = 32;

/// The elements of a panel: some columns of a filter, at most as many as exist, in vectors of up to 16 elements.
const fn panel_len(kh: usize, kw: usize, depth: usize, columns: usize) -> usize {
    let width = if columns > 16 { PANEL } else { 16 };
    kh.saturating_mul(kw).saturating_mul(depth).saturating_mul(width)
}

/// The function to compute, with its operands.
#[derive(Clone, Copy, Debug)]
pub enum Convolution<'a, T> {
    Forward { input: &'a [T], filter: &'a [T] },
    GradInput { cotangent: &'a [T], filter: &'a [T] },
    GradFilter { input: &'a [T], cotangent: &'a [T] },
}

impl<'a, T> Convolution<'a, T> {
    /// The matrix product that this is: its extents and its operands.
    fn product(self, g: &Conv2d) -> Option<([usize; 3], [MatRef<'a, T>; 2])> {
        let pixels = g.pixels()?;
        let rows = |data, length| MatRef { data, offset: 0, row_stride: length, col_stride: 1 };
        let columns = |data, length| MatRef { data, offset: 0, row_stride: 1, col_stride: length };
        Some(match self {
            Self::Forward { input, filter } => {
                ([pixels, g.c_in, g.c_out], [rows(input, g.c_in), rows(filter, g.c_out)])
            }
            Self::GradInput { cotangent, filter } => {
                ([pixels, g.c_out, g.c_in], [rows(cotangent, g.c_out), columns(filter, g.c_out)])
            }
            Self::GradFilter { input, cotangent } => {
                ([g.c_in, pixels, g.c_out], [columns(input, g.c_in), rows(cotangent, g.c_out)])
            }
        })
    }
}

/// The convolution kernels of an element type, compiled with this crate and not again in each program.
pub trait Convolve: Number + Compiled + Gemm {
    /// Computes the result and passes it to the parts. All lengths have been checked.
    fn convolve(
        level: SimdLevel,
        g: &Conv2d,
        of: Convolution<'_, Self>,
        scratch: &mut [Self],
        to: SplitRows<'_, '_, Self>,
    );
}

macro_rules! convolve {
    ($run:ident: $($ty:ident $variant:ident;)*) => {
        $(impl Convolve for $ty {
            fn convolve(
                level: SimdLevel,
                g: &Conv2d,
                of: Convolution<'_, $ty>,
                scratch: &mut [$ty],
                to: SplitRows<'_, '_, $ty>,
            ) {
                $run(level, g, of, scratch, to);
            }
        })*
    };
}

mind_shape::element_types!(floats => convolve! by_tiles:);
mind_shape::element_types!(integers => convolve! naively:);

fn by_tiles<T: Number + ConvTiles>(
    level: SimdLevel,
    g: &Conv2d,
    of: Convolution<'_, T>,
    scratch: &mut [T],
    to: SplitRows<'_, '_, T>,
) {
    by_tiles_of(T::micro(level), g, of, scratch, to);
}

fn by_tiles_of<T: Number + ConvTiles>(
    micro: &ConvMicro<T>,
    g: &Conv2d,
    of: Convolution<'_, T>,
    scratch: &mut [T],
    to: SplitRows<'_, '_, T>,
) {
    match of {
        Convolution::Forward { input, filter } => {
            Correlation::forward(g, input, filter).run(micro, scratch, to);
        }
        Convolution::GradInput { cotangent, filter } => {
            Correlation::grad_input(g, cotangent, filter).run(micro, scratch, to);
        }
        Convolution::GradFilter { input, cotangent } => {
            GradFilter { g, input, cotangent }.run(micro, scratch, to);
        }
    }
}

fn naively<T: Number>(
    _: SimdLevel,
    g: &Conv2d,
    of: Convolution<'_, T>,
    _: &mut [T],
    mut to: SplitRows<'_, '_, T>,
) {
    to.for_each(&|part| match of {
        Convolution::Forward { input, filter } => naive::forward(g, input, filter, part),
        Convolution::GradInput { cotangent, filter } => naive::grad_input(g, cotangent, filter, part),
        Convolution::GradFilter { input, cotangent } => naive::grad_filter(g, input, cotangent, part),
    });
}
