//! Two-dimensional convolution (cross-correlation) and its derivatives, images NHWC, filters HWCF.
//!
//! Results are matrices to their [`Epilogue`]: an image of a result has a row for each pixel and a column for each
//! channel, a filter has a row for each place and input channel and a column for each output channel.

mod loops;
mod naive;

pub use loops::{conv2d, conv2d_grad_filter, conv2d_grad_input};

use super::check;
use super::epilogue::Epilogue;
use crate::element::Element;

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
pub fn conv2d_with<T: Element>(
    g: &Conv2d,
    input: &[T],
    filter: &[T],
    scratch: &mut [T],
    mut epilogue: impl Epilogue<T>,
) {
    g.check(Some(input.len()), Some(filter.len()), None);
    check(scratch.len() >= conv2d_scratch(g), "conv2d: too little scratch memory");
    T::forward(g, input, filter, scratch, &mut epilogue);
}

/// The derivative by the input, from the cotangent of the output: a matrix of `n · h · w` rows and `c_in` columns.
///
/// What `scratch` holds does not matter; it has [`conv2d_grad_input_scratch`] elements or more.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn conv2d_grad_input_with<T: Element>(
    g: &Conv2d,
    cotangent: &[T],
    filter: &[T],
    scratch: &mut [T],
    mut epilogue: impl Epilogue<T>,
) {
    g.check(None, Some(filter.len()), Some(cotangent.len()));
    check(scratch.len() >= conv2d_grad_input_scratch(g), "conv2d: too little scratch memory");
    T::grad_input(g, cotangent, filter, scratch, &mut epilogue);
}

/// The derivative by the filter, from the cotangent of the output: a matrix of `kh · kw · c_in` rows and `c_out`
/// columns.
///
/// What `scratch` holds does not matter; it has [`conv2d_grad_filter_scratch`] elements or more.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn conv2d_grad_filter_with<T: Element>(
    g: &Conv2d,
    input: &[T],
    cotangent: &[T],
    scratch: &mut [T],
    mut epilogue: impl Epilogue<T>,
) {
    g.check(Some(input.len()), None, Some(cotangent.len()));
    check(scratch.len() >= conv2d_grad_filter_scratch(g), "conv2d: too little scratch memory");
    T::grad_filter(g, input, cotangent, scratch, &mut epilogue);
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

/// The kernels of an element type, compiled with this crate and not once more in each program.
pub trait Convolve: Sized {
    /// [`conv2d_with`], everything checked.
    fn forward(g: &Conv2d, x: &[Self], filter: &[Self], scratch: &mut [Self], out: &mut dyn Epilogue<Self>);

    /// [`conv2d_grad_input_with`], everything checked.
    fn grad_input(
        g: &Conv2d,
        dy: &[Self],
        filter: &[Self],
        scratch: &mut [Self],
        out: &mut dyn Epilogue<Self>,
    );

    /// [`conv2d_grad_filter_with`], everything checked.
    fn grad_filter(g: &Conv2d, x: &[Self], dy: &[Self], scratch: &mut [Self], out: &mut dyn Epilogue<Self>);
}

macro_rules! convolve {
    ($($ty:ty),*) => {
        $(impl Convolve for $ty {
            fn forward(g: &Conv2d, x: &[$ty], filter: &[$ty], _: &mut [$ty], out: &mut dyn Epilogue<$ty>) {
                naive::forward(g, x, filter, out);
            }

            fn grad_input(g: &Conv2d, dy: &[$ty], filter: &[$ty], _: &mut [$ty], out: &mut dyn Epilogue<$ty>) {
                naive::grad_input(g, dy, filter, out);
            }

            fn grad_filter(g: &Conv2d, x: &[$ty], dy: &[$ty], _: &mut [$ty], out: &mut dyn Epilogue<$ty>) {
                naive::grad_filter(g, x, dy, out);
            }
        })*
    };
}

convolve!(f32, f64, i32, i64);

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
        let reach = |outputs: usize, stride: usize, kernel: usize, extent: usize, pad: usize| {
            outputs.checked_mul(stride).and_then(|at| at.checked_add(kernel)).is_some()
                && extent.checked_add(pad).is_some()
        };
        check(
            reach(self.h_out, self.stride[0], self.kh, self.h, self.pad[0][0])
                && reach(self.w_out, self.stride[1], self.kw, self.w, self.pad[1][0]),
            "conv2d: sizes overflow",
        );
    }
}
