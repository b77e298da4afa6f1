//! Convolutions and their derivatives: each is a convolution.

use super::{
    Precision,
    tensor::{Tensor, list},
    writer::{SsaValue, Writer},
};
use crate::ir::{Convolution, Window};

/// The parameters of a StableHLO convolution.
struct HloWindow {
    /// The roles of the axes of both operands and the result.
    axes: &'static str,
    stride: [i64; 2],
    /// The zeros before and after each axis. A negative number removes elements.
    padding: [[i64; 2]; 2],
    /// The distance of the elements of the first operand, and of the second operand.
    dilation: [[i64; 2]; 2],
}

/// Lowers a convolution or a derivative of one.
pub(super) fn lower(
    writer: &mut Writer,
    window: &Window,
    operands: [SsaValue; 2],
    to: Tensor,
    precision: Precision,
) -> SsaValue {
    let [lhs, rhs] = operands;
    let shape = |value| writer.tensor(value).shape.clone();
    let (form, rhs) = match window {
        Window::Conv2d(convolution) => {
            let taps = Taps::new(convolution, &shape(lhs), &shape(rhs), &to.shape);
            let high = |axis: usize| taps.needed_after(axis).max(0);
            let form = HloWindow {
                axes: "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
                stride: taps.strides,
                padding: [0, 1].map(|axis| [taps.before[axis], high(axis)]),
                dilation: [[1, 1]; 2],
            };
            (form, rhs)
        }
        Window::Conv2dGradInput { convolution, .. } => {
            let taps = Taps::new(convolution, &to.shape, &shape(rhs), &shape(lhs));
            let padding = |axis: usize| {
                let low = taps.window[axis] - 1 - taps.before[axis];
                [low, taps.image[axis] - taps.span(axis) + taps.before[axis]]
            };
            let form = HloWindow {
                axes: "[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]",
                stride: [1, 1],
                padding: [0, 1].map(padding),
                dilation: [taps.strides, [1, 1]],
            };
            let turned = writer.tensor(rhs).clone();
            (form, writer.operation("stablehlo.reverse", &[rhs], format_args!(", dims = [0, 1]"), turned))
        }
        Window::Conv2dGradFilter { convolution, .. } => {
            let taps = Taps::new(convolution, &shape(lhs), &to.shape, &shape(rhs));
            let padding = |axis: usize| [taps.before[axis], taps.needed_after(axis)];
            let form = HloWindow {
                axes: "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
                stride: [1, 1],
                padding: [0, 1].map(padding),
                dilation: [[1, 1], taps.strides],
            };
            (form, rhs)
        }
    };
    let (names, types) = (writer.names(&[lhs, rhs]), writer.types(&[lhs, rhs], &to));
    let precision = precision.of_operand(to.dtype);
    let HloWindow { axes, stride, padding, dilation: [lhs_dilation, rhs_dilation] } = form;
    writer.line(
        to,
        format_args!(
            "stablehlo.convolution({names}) dim_numbers = {axes}, window = {{stride = {}, pad = {}, lhs_dilate = {}, \
             rhs_dilate = {}}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = \
             [#stablehlo<precision {precision}>, #stablehlo<precision {precision}>]}} : {types}",
            list(stride),
            list(padding.map(list)),
            list(lhs_dilation),
            list(rhs_dilation),
        ),
    )
}

/// The extents of a convolution along both axes of the image.
struct Taps {
    image: [i64; 2],
    window: [i64; 2],
    result: [i64; 2],
    strides: [i64; 2],
    before: [i64; 2],
}

impl Taps {
    fn new(convolution: &Convolution, image: &[i64], filter: &[i64], result: &[i64]) -> Self {
        let extent = |extent: i64| usize::try_from(extent).expect("extents are at least 1");
        let before =
            |axis: usize| convolution.before(axis, extent(image[axis + 1]), extent(filter[axis])) as i64;
        Self {
            image: [image[1], image[2]],
            window: [filter[0], filter[1]],
            result: [result[1], result[2]],
            strides: [convolution.strides[0], convolution.strides[1]],
            before: [0, 1].map(before),
        }
    }

    /// The extent from the first to the last position of the window, inclusive.
    fn span(&self, axis: usize) -> i64 {
        (self.result[axis] - 1) * self.strides[axis] + 1
    }
    /// The zeros that the last position of the window needs after the image; negative if it ends before the image does.
    fn needed_after(&self, axis: usize) -> i64 {
        (self.span(axis) - 1) + (self.window[axis] - self.image[axis]) - self.before[axis]
    }
}
