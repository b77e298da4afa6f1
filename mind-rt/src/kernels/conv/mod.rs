//! Two-dimensional convolution (cross-correlation) and its derivatives, images NHWC, filters HWCF.
//!
//! Results are matrices to their [`Epilogue`]: an image of a result has a row for each pixel and a column for each
//! channel, a filter has a row for each place and input channel and a column for each output channel.

mod axis;
mod correlate;
mod grad_filter;
mod naive;
mod pack;
mod parts;
mod pixels;
mod store;
#[cfg(test)]
mod tests;
mod tile;

pub use store::{conv2d, conv2d_grad_filter, conv2d_grad_input};

use super::check;
use super::epilogue::Epilogue;
use super::storage::poison;
use crate::kernels::arithmetic::Arithmetic;
use crate::simd::{SimdLevel, simd_level};
use axis::Axis;
use correlate::Correlation;
use grad_filter::GradFilter;
use parts::{Parts, parts_worth, with_parts};
use tile::{Micro, Tiles};

/// The geometry of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv2d {
    /// Images.
    pub n: usize,
    /// Height of an input image.
    pub h: usize,
    /// Width of an input image.
    pub w: usize,
    /// Channels of an input image.
    pub c_in: usize,
    /// Height of the filter.
    pub kh: usize,
    /// Width of the filter.
    pub kw: usize,
    /// Channels of an output image.
    pub c_out: usize,
    /// Steps down and across, 1 or more.
    pub stride: [usize; 2],
    /// Rows of zeros above and below, columns of zeros before and after.
    pub pad: [[usize; 2]; 2],
    /// Height of an output image.
    pub h_out: usize,
    /// Width of an output image.
    pub w_out: usize,
}

/// `y[n, i, j, f] = Σ_{a, b, c} input[n, i · stride + a - pad, j · stride + b - pad, c] · filter[a, b, c, f]`, input
/// outside the image being left out. Integers wrap.
///
/// The epilogue takes `y` as a matrix of `n · h_out · w_out` rows and `c_out` columns. What `scratch` holds does not
/// matter; it has [`conv2d_scratch`] elements or more.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn conv2d_with<T: Arithmetic>(
    g: &Conv2d,
    input: &[T],
    filter: &[T],
    scratch: &mut [T],
    epilogue: impl Epilogue<T>,
) {
    g.check(Some(input.len()), Some(filter.len()), None);
    check(scratch.len() >= conv2d_scratch(g), "conv2d: too little scratch memory");
    poison(scratch);
    with_parts(parts_worth(g.work()), [g.n * g.h_out * g.w_out, g.w_out], epilogue, |parts| {
        T::convolve(simd_level(), g, Convolution::Forward { input, filter }, scratch, parts);
    });
}

/// The derivative by the input, from the cotangent of the output: a matrix of `n · h · w` rows and `c_in` columns.
///
/// What `scratch` holds does not matter; it has [`conv2d_grad_input_scratch`] elements or more.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn conv2d_grad_input_with<T: Arithmetic>(
    g: &Conv2d,
    cotangent: &[T],
    filter: &[T],
    scratch: &mut [T],
    epilogue: impl Epilogue<T>,
) {
    g.check(None, Some(filter.len()), Some(cotangent.len()));
    check(scratch.len() >= conv2d_grad_input_scratch(g), "conv2d: too little scratch memory");
    poison(scratch);
    with_parts(parts_worth(g.work()), [g.n * g.h * g.w, g.w], epilogue, |parts| {
        T::convolve(simd_level(), g, Convolution::GradInput { cotangent, filter }, scratch, parts);
    });
}

/// The derivative by the filter, from the cotangent of the output: a matrix of `kh · kw · c_in` rows and `c_out`
/// columns.
///
/// What `scratch` holds does not matter; it has [`conv2d_grad_filter_scratch`] elements or more.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn conv2d_grad_filter_with<T: Arithmetic>(
    g: &Conv2d,
    input: &[T],
    cotangent: &[T],
    scratch: &mut [T],
    epilogue: impl Epilogue<T>,
) {
    g.check(Some(input.len()), None, Some(cotangent.len()));
    check(scratch.len() >= conv2d_grad_filter_scratch(g), "conv2d: too little scratch memory");
    poison(scratch);
    with_parts(parts_worth(g.work()), [g.kh * g.kw * g.c_in, 1], epilogue, |parts| {
        T::convolve(simd_level(), g, Convolution::GradFilter { input, cotangent }, scratch, parts);
    });
}

/// The elements of scratch memory that [`conv2d_with`] needs at most, on any machine; `usize::MAX` on overflow.
#[must_use]
pub const fn conv2d_scratch(g: &Conv2d) -> usize {
    panel_len(g.kh, g.kw, g.c_in, g.c_out)
}

/// The elements of scratch memory that [`conv2d_grad_input_with`] needs at most, on any machine; `usize::MAX` on
/// overflow.
#[must_use]
pub const fn conv2d_grad_input_scratch(g: &Conv2d) -> usize {
    panel_len(g.kh, g.kw, g.c_out, g.c_in)
}

/// The elements of scratch memory that [`conv2d_grad_filter_with`] needs at most, on any machine; `usize::MAX` on
/// overflow.
#[must_use]
pub const fn conv2d_grad_filter_scratch(g: &Conv2d) -> usize {
    panel_len(g.kh, g.kw, g.c_in, g.c_out)
}

/// The columns of a result that are computed at a time, at most.
const PANEL: usize = 32;

/// Some columns of a filter: as many as there are, in vectors of up to 16.
const fn panel_len(kh: usize, kw: usize, depth: usize, columns: usize) -> usize {
    let width = if columns > 16 { PANEL } else { 16 };
    kh.saturating_mul(kw).saturating_mul(depth).saturating_mul(width)
}

/// What is computed of which operands.
#[derive(Clone, Copy, Debug)]
pub enum Convolution<'a, T> {
    Forward { input: &'a [T], filter: &'a [T] },
    GradInput { cotangent: &'a [T], filter: &'a [T] },
    GradFilter { input: &'a [T], cotangent: &'a [T] },
}

/// The kernels of an element type, compiled with this crate and not once more in each program.
pub trait Convolve: Sized {
    /// Hands the result to the parts. All lengths have been checked.
    fn convolve(
        level: SimdLevel,
        g: &Conv2d,
        of: Convolution<'_, Self>,
        scratch: &mut [Self],
        to: Parts<'_, '_, Self>,
    );
}

macro_rules! convolve {
    ($run:path: $($ty:ty),*) => {
        $(impl Convolve for $ty {
            fn convolve(
                level: SimdLevel,
                g: &Conv2d,
                of: Convolution<'_, $ty>,
                scratch: &mut [$ty],
                to: Parts<'_, '_, $ty>,
            ) {
                $run(level, g, of, scratch, to);
            }
        })*
    };
}

convolve!(by_tiles: f32, f64);
convolve!(naively: i32, i64);

fn by_tiles<T: Arithmetic + Tiles>(
    level: SimdLevel,
    g: &Conv2d,
    of: Convolution<'_, T>,
    scratch: &mut [T],
    to: Parts<'_, '_, T>,
) {
    by_tiles_of(T::micro(level), g, of, scratch, to);
}

fn by_tiles_of<T: Arithmetic + Tiles>(
    micro: &Micro<T>,
    g: &Conv2d,
    of: Convolution<'_, T>,
    scratch: &mut [T],
    to: Parts<'_, '_, T>,
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

fn naively<T: Arithmetic>(
    _: SimdLevel,
    g: &Conv2d,
    of: Convolution<'_, T>,
    _: &mut [T],
    mut to: Parts<'_, '_, T>,
) {
    to.for_each(&|part| match of {
        Convolution::Forward { input, filter } => naive::forward(g, input, filter, part),
        Convolution::GradInput { cotangent, filter } => naive::grad_input(g, cotangent, filter, part),
        Convolution::GradFilter { input, cotangent } => naive::grad_filter(g, input, cotangent, part),
    });
}

impl Conv2d {
    /// Checks the geometry, and the lengths of what is there.
    #[track_caller]
    fn check(&self, input: Option<usize>, filter: Option<usize>, out: Option<usize>) {
        let len = |dims: [usize; 4]| dims.into_iter().try_fold(1usize, usize::checked_mul);
        let is =
            |found: Option<usize>, dims| len(dims).is_some_and(|len| found.is_none_or(|found| found == len));
        check(is(input, [self.n, self.h, self.w, self.c_in]), "conv2d: wrong input length");
        check(is(filter, [self.kh, self.kw, self.c_in, self.c_out]), "conv2d: wrong filter length");
        check(is(out, [self.n, self.h_out, self.w_out, self.c_out]), "conv2d: wrong output length");
        check(!self.stride.contains(&0), "conv2d: a stride is 0");
        // Positions in the padding are below 0, so all are signed.
        let fits = |outputs: usize, stride: usize, kernel: usize, extent: usize, pad: usize| {
            let reach = outputs.checked_add(1).and_then(|outputs| outputs.checked_mul(stride));
            let reach =
                reach.and_then(|reach| reach.checked_add(kernel)?.checked_add(extent)?.checked_add(pad));
            reach.is_some_and(|reach| reach <= isize::MAX as usize / 2)
        };
        check(
            fits(self.h_out, self.stride[0], self.kh, self.h, self.pad[0][0])
                && fits(self.w_out, self.stride[1], self.kw, self.w, self.pad[1][0]),
            "conv2d: sizes overflow",
        );
    }

    fn axes(&self) -> [Axis; 2] {
        let axis = |input, output, kernel, axis: usize| Axis {
            input,
            output,
            kernel,
            stride: self.stride[axis],
            pad: self.pad[axis][0],
        };
        [axis(self.h, self.h_out, self.kh, 0), axis(self.w, self.w_out, self.kw, 1)]
    }

    /// The multiply-adds of each of the three functions, padding included.
    fn work(&self) -> usize {
        let sums = self.n * self.h_out * self.w_out * self.c_out;
        sums.saturating_mul(self.kh.saturating_mul(self.kw).saturating_mul(self.c_in))
    }
}
