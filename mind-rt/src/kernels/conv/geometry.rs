//! The sizes of images and filters, and the strides.

use super::axis::ConvAxis;
use crate::kernels::check;

/// The geometry of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv2d {
    /// The number of images.
    pub n: usize,
    /// The height of an input image.
    pub h: usize,
    /// The width of an input image.
    pub w: usize,
    /// The number of channels of an input image.
    pub c_in: usize,
    /// The height of the filter.
    pub kh: usize,
    /// The width of the filter.
    pub kw: usize,
    /// The number of channels of an output image.
    pub c_out: usize,
    /// The strides down and across, each 1 or more.
    pub stride: [usize; 2],
    /// The rows of zeros above and below, and the columns of zeros before and after.
    pub pad: [[usize; 2]; 2],
    /// The height of an output image.
    pub h_out: usize,
    /// The width of an output image.
    pub w_out: usize,
}

impl Conv2d {
    /// The number of pixels, if the convolution multiplies each pixel by one matrix: the filter has one position, and
    /// the result has the extents of the image.
    #[must_use]
    pub(super) const fn pixels(&self) -> Option<usize> {
        let is_product = self.kh == 1 && self.kw == 1 && self.h == self.h_out && self.w == self.w_out;
        let [[above, below], [before, after]] = self.pad;
        if is_product && above == 0 && below == 0 && before == 0 && after == 0 {
            Some(self.n.saturating_mul(self.h).saturating_mul(self.w))
        } else {
            None
        }
    }

    /// The same convolution with bounded strides, after checks of the geometry and of the lengths that are given.
    #[track_caller]
    pub(super) fn checked(&self, input: Option<usize>, filter: Option<usize>, out: Option<usize>) -> Self {
        let bounded = self.with_bounded_strides();
        bounded.check(input, filter, out);
        bounded
    }

    /// The same convolution with strides of at most the extent of the padded image. A stride has no effect along an axis
    /// with one position, but products with a large one would overflow.
    fn with_bounded_strides(&self) -> Self {
        let bounded = |stride: usize, outputs: usize, extent: usize, [before, after]: [usize; 2]| {
            let padded = extent.saturating_add(before).saturating_add(after).max(1);
            if outputs <= 1 { stride.min(padded) } else { stride }
        };
        let [down, across] = self.stride;
        let down = bounded(down, self.h_out, self.h, self.pad[0]);
        let across = bounded(across, self.w_out, self.w, self.pad[1]);
        Self { stride: [down, across], ..*self }
    }

    #[track_caller]
    fn check(&self, input: Option<usize>, filter: Option<usize>, out: Option<usize>) {
        let len = |dims: [usize; 4]| dims.into_iter().try_fold(1usize, usize::checked_mul);
        let is =
            |found: Option<usize>, dims| len(dims).is_some_and(|len| found.is_none_or(|found| found == len));
        check(is(input, [self.n, self.h, self.w, self.c_in]), "conv2d: wrong input length");
        check(is(filter, [self.kh, self.kw, self.c_in, self.c_out]), "conv2d: wrong filter length");
        check(is(out, [self.n, self.h_out, self.w_out, self.c_out]), "conv2d: wrong output length");
        check(!self.stride.contains(&0), "conv2d: a stride is 0");
        // Positions in the padding are below 0, so all positions are signed.
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

    pub(super) fn axes(&self) -> [ConvAxis; 2] {
        let axis = |input, output, kernel, axis: usize| ConvAxis {
            input,
            output,
            kernel,
            stride: self.stride[axis],
            pad: self.pad[axis][0],
        };
        [axis(self.h, self.h_out, self.kh, 0), axis(self.w, self.w_out, self.kw, 1)]
    }

    /// The number of multiply-adds of each of the three functions, padding included.
    pub(super) fn work(&self) -> usize {
        let sums = self.n * self.h_out * self.w_out * self.c_out;
        sums.saturating_mul(self.kh.saturating_mul(self.kw).saturating_mul(self.c_in))
    }
}
