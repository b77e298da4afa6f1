//! Two-dimensional convolution and its derivatives.

use mind_shape::{same_extent, same_padding, window_extent};

use super::{
    Attribute, Attributes, Derivative, Field, FieldKind, Focus, KERNEL, Make, OpError, OpInfo, Profile,
    fields::{SHAPE, exactly, listed, not_these_fields},
    rules::{self, rank, same_numbers, wrong_row},
    sample::{Case, Sampling},
};
use crate::{
    diag::Code,
    dim::{Dim, DimResult, Overflow},
    ir::{Convolution, Op, Padding, Window},
    ty::{DType, Shape, Type},
};

rows! {
    Window:
    Window::Conv2d(_) => CONV2D,
    Window::Conv2dGradInput { .. } => CONV2D_GRAD_INPUT,
    Window::Conv2dGradFilter { .. } => CONV2D_GRAD_FILTER,
}

/// `Conv2d(x, filter; strides, padding)`: two-dimensional convolution of an NHWC image by an HWCF filter, without
/// flipping the filter.
///
/// - **Shape**: `[n, h, w, c] * [kh, kw, c, f] → [n, oh, ow, f]`, where
///   `o = floor((i + before + after - k) / stride) + 1`. With `same` padding `o = ceil(i / stride)`.
/// - **Dtype**: the dtype of both operands.
/// - **Semantics**: sums the products over the window and the channels. Integers wrap. The reference interpreter adds
///   with twice the digits and rounds once. `same` pads an axis with `max((o - 1) * stride + k - i, 0)` zeros, half
///   before and half after. If their number is odd, the extra zero goes after.
/// - **Error**: at most `γ(k)` times the sum of the magnitudes of the `k` products, where `k` is `kh * kw * c`; see
///   [products](#products).
/// - **Derivative**: `Conv2dGradInput` to `x`, `Conv2dGradFilter` to `filter`. In Core v1 it is an error (E5001).
/// - **Constraints**: 1. both operands have rank 4 (E3002). 2. Both have the same dtype (E2004). 3. Both have the same
///   number of channels (E4009). 4. Two strides of at least 1, and two pairs of padding of at least 0 (E4010). 5. The
///   window fits into the padded image (E3006).
/// - **Example**: `%2 = Conv2d (%0, %1) {strides=[1, 1], padding=same} : f32[1, 28, 28, 8]`.
static CONV2D: OpInfo = OpInfo {
    name: "Conv2d",
    mnemonic: "conv2d",
    label: "conv2d",
    fields: &[STRIDES, PADDING],
    attributes: |op| {
        let Op::Window(Window::Conv2d(Convolution { strides, padding })) = op else { wrong_row(op) };
        listed([Attribute::Integers(strides.clone()), Attribute::Padding(padding.clone())])
    },
    make: Make::Of(|attributes| {
        let [Attribute::Integers(strides), Attribute::Padding(padding)] = exactly(attributes) else {
            not_these_fields()
        };
        Op::Window(Window::Conv2d(Convolution { strides, padding }))
    }),
    infer: |op, operands| {
        let (Op::Window(Window::Conv2d(convolution)), [image, filter]) = (op, operands) else {
            wrong_row(op)
        };
        rank(op, operands, 0, 4)?;
        rank(op, operands, 1, 4)?;
        same_numbers(op, operands)?;
        Ok(image.with_shape(convolved(op, convolution, &image.shape, &filter.shape)?))
    },
    origin: |op, _, axis| {
        let Op::Window(Window::Conv2d(Convolution { strides, padding })) = op else { wrong_row(op) };
        match axis {
            0 => Some((0, 0)),
            3 => Some((1, 3)),
            spatial => (*padding == Padding::Same && strides[spatial - 1] == 1).then_some((0, spatial)),
        }
    },
    // One multiplication and one addition per result element, window position and channel.
    flops: |_, operands, result| work(&operands[1].shape, &result.shape),
    derivative: Derivative::Rule,
    sample: Sampling {
        cases: |_, dtype| {
            cases(dtype, |convolution, image, filter, _| {
                Case::new(Op::Window(Window::Conv2d(convolution)), dtype, &[image, filter])
            })
        },
        ..ROW.sample
    },
    ..ROW
};

/// `Conv2dGradInput(dy, filter; shape, strides, padding)`: the cotangent of the input of `Conv2d`; an extension.
///
/// - **Shape**: `shape`, the shape of the input.
/// - **Dtype**: the dtype of both operands.
/// - **Semantics**: each element of the input receives the sum of `dy * filter` over the windows that contain it.
/// - **Error**: at most `γ(k)` times the sum of the magnitudes of the `k` products, where `k` is `kh * kw * f`; see
///   [products](#products).
/// - **Derivative**: `Conv2d` of the cotangent with `filter` to `dy`, `Conv2dGradFilter` to `filter`.
/// - **Constraints**: 1. `dy`, `filter` and `shape` have rank 4 (E3002). 2. Both operands have the same dtype (E2004).
///   3. The constraints of `Conv2d` hold for `shape` and `filter` (E4009, E4010, E3006). 4. `dy` has the shape of the
///   result of that convolution (E3003).
/// - **Example**: `%2 = Conv2dGradInput (%0, %1) {shape=[1, 5, 5, 2], strides=[1, 1], padding=valid} : f32[1, 5, 5, 2]`.
static CONV2D_GRAD_INPUT: OpInfo = OpInfo {
    name: "Conv2dGradInput",
    mnemonic: "conv2d_grad_input",
    label: "conv2d_grad_input",
    make: Make::Of(|attributes| {
        let (shape, convolution) = made(attributes);
        Op::Window(Window::Conv2dGradInput { shape, convolution })
    }),
    profile: Profile::Extended,
    infer: |op, operands| {
        let (Op::Window(Window::Conv2dGradInput { shape, convolution }), [dy, filter]) = (op, operands)
        else {
            wrong_row(op)
        };
        infer_gradient(op, operands, shape, convolution, 0, (shape, &filter.shape))?;
        Ok(dy.with_shape(shape.clone()))
    },
    flops: |_, operands, _| work(&operands[1].shape, &operands[0].shape),
    derivative: Derivative::Rule,
    sample: Sampling {
        cases: |_, dtype| {
            cases(dtype, |convolution, image, filter, dy| {
                let op = Op::Window(Window::Conv2dGradInput {
                    shape: Shape::literal(image),
                    convolution: convolution.into(),
                });
                Case { op, operands: vec![dy, Type::new(dtype, Shape::literal(filter))] }
            })
        },
        ..ROW.sample
    },
    ..ROW
};

/// `Conv2dGradFilter(x, dy; shape, strides, padding)`: the cotangent of the filter of `Conv2d`; an extension.
///
/// - **Shape**: `shape`, the shape of the filter.
/// - **Dtype**: the dtype of both operands.
/// - **Semantics**: each element of the filter receives the sum of `x * dy` over the positions of the window.
/// - **Error**: at most `γ(k)` times the sum of the magnitudes of the `k` products, where `k` is `n * oh * ow`; see
///   [products](#products).
/// - **Derivative**: `Conv2dGradInput` to `x`, `Conv2d` of `x` with the cotangent to `dy`.
/// - **Constraints**: 1. `x`, `dy` and `shape` have rank 4 (E3002). 2. Both operands have the same dtype (E2004).
///   3. The constraints of `Conv2d` hold for `x` and `shape` (E4009, E4010, E3006). 4. `dy` has the shape of the result
///   of that convolution (E3003).
/// - **Example**: `%2 = Conv2dGradFilter (%0, %1) {shape=[3, 3, 2, 4], strides=[1, 1], padding=valid} : f32[3, 3, 2, 4]`.
static CONV2D_GRAD_FILTER: OpInfo = OpInfo {
    name: "Conv2dGradFilter",
    mnemonic: "conv2d_grad_filter",
    label: "conv2d_grad_filter",
    make: Make::Of(|attributes| {
        let (shape, convolution) = made(attributes);
        Op::Window(Window::Conv2dGradFilter { shape, convolution })
    }),
    profile: Profile::Extended,
    infer: |op, operands| {
        let (Op::Window(Window::Conv2dGradFilter { shape, convolution }), [image, dy]) = (op, operands)
        else {
            wrong_row(op)
        };
        infer_gradient(op, operands, shape, convolution, 1, (&image.shape, shape))?;
        Ok(dy.with_shape(shape.clone()))
    },
    flops: |_, operands, result| work(&result.shape, &operands[1].shape),
    derivative: Derivative::Rule,
    sample: Sampling {
        cases: |_, dtype| {
            cases(dtype, |convolution, image, filter, dy| {
                let op = Op::Window(Window::Conv2dGradFilter {
                    shape: Shape::literal(filter),
                    convolution: convolution.into(),
                });
                Case { op, operands: vec![Type::new(dtype, Shape::literal(image)), dy] }
            })
        },
        ..ROW.sample
    },
    ..ROW
};

/// The fields that the rows share.
const ROW: OpInfo =
    OpInfo { arity: 2, fields: &[SHAPE, STRIDES, PADDING], attributes: gradient_attributes, ..KERNEL };

/// The shape of `image` convolved with `filter`, both of rank 4.
fn convolved(
    op: &Op,
    convolution: &Convolution,
    image: &Shape,
    filter: &Shape,
) -> Result<Shape, Box<OpError>> {
    let (channels, expected) = (&image[3], &filter[2]);
    if channels != expected {
        let mut error = OpError::new(op, Code::E4009)
            .problem(format!("channels differ, {channels} in the image and {expected} in the filter"))
            .operands(&[0, 1]);
        if matches!(op, Op::Window(Window::Conv2d(_))) {
            error = error.dims(&[(0, 3), (1, 2)]);
        }
        error.help = rules::equate(channels, expected);
        return Err(error.into());
    }
    check_convolution(op, convolution)?;
    let extent = |axis: usize| -> Result<Dim, Box<OpError>> {
        let (size, window) = (&image[axis + 1], &filter[axis]);
        let positions = convolution.positions(axis, size, window);
        let positions = positions.map_err(|overflow| OpError::overflow(op, overflow))?;
        // An extent that is positive for only some values of the symbols is checked on entry. An extent that is never
        // positive is refused here.
        if positions.is_below_one() {
            let problem = format!(
                "a window of {window} does not fit dimension {} of extent {size}: the result has extent {positions}",
                axis + 1
            );
            return Err(OpError::new(op, Code::E3006).problem(problem).operands(&[0, 1]).into());
        }
        Ok(positions)
    };
    Ok(Shape::new([image[0].clone(), extent(0)?, extent(1)?, filter[3].clone()]))
}

impl Convolution {
    /// The zeros before the first row (axis 0) or column (axis 1) of an image of this extent.
    ///
    /// # Panics
    /// If the convolution was not verified.
    pub fn before(&self, axis: usize, extent: usize, window: usize) -> usize {
        let before = match &self.padding {
            Padding::Valid => 0,
            Padding::Same => {
                let [extent, window] =
                    [extent, window].map(|n| i64::try_from(n).expect("extents are within 63 bits"));
                let padding = same_padding(extent, window, self.strides[axis]);
                padding.expect("verified convolutions are within 64 bits").0
            }
            Padding::Custom(pairs) => pairs[axis][0],
        };
        rules::position(before)
    }

    /// The number of positions of a window along axis 0 or 1 of the image.
    ///
    /// # Errors
    /// If the number does not fit into 64 bits.
    pub fn positions(&self, axis: usize, extent: &Dim, window: &Dim) -> DimResult {
        let stride = self.strides[axis];
        let [before, after] = match &self.padding {
            Padding::Same => {
                return match extent.as_literal() {
                    Some(extent) => same_extent(extent, stride).map(Dim::literal).ok_or(Overflow::Range),
                    None => extent.ceil_div(stride),
                };
            }
            Padding::Valid => [0, 0],
            Padding::Custom(pairs) => pairs[axis],
        };
        if let (Some(extent), Some(window)) = (extent.as_literal(), window.as_literal()) {
            let positions = window_extent(extent, window, stride, before, after);
            return positions.map(Dim::literal).ok_or(Overflow::Range);
        }
        extent.add_literal(before)?.add_literal(after)?.sub(window)?.floor_div(stride)?.add_literal(1)
    }
}

/// Reports E4010 unless there are two strides of at least 1 and, with custom padding, two pairs of at least 0.
fn check_convolution(op: &Op, Convolution { strides, padding }: &Convolution) -> Result<(), Box<OpError>> {
    let fault = |problem: String, attribute| {
        Err(OpError::new(op, Code::E4010).problem(problem).focus(Focus::Attribute(attribute)).into())
    };
    if strides.len() != 2 || strides.iter().any(|stride| *stride < 1) {
        return fault(format!("strides {strides:?}, needed two of at least 1"), "strides");
    }
    match padding {
        Padding::Custom(pairs) if pairs.len() != 2 || pairs.iter().flatten().any(|zeros| *zeros < 0) => {
            fault(format!("padding {pairs:?}, needed two pairs of at least 0"), "padding")
        }
        Padding::Valid | Padding::Same | Padding::Custom(_) => Ok(()),
    }
}

/// Checks the constraints that both gradients share: ranks, dtype, a valid convolution, and that `dy` has the shape of
/// its result.
fn infer_gradient(
    op: &Op,
    operands: &[&Type],
    shape: &Shape,
    convolution: &Convolution,
    dy: usize,
    (image, filter): (&Shape, &Shape),
) -> Result<(), Box<OpError>> {
    rank(op, operands, 0, 4)?;
    rank(op, operands, 1, 4)?;
    if shape.rank() != 4 {
        let problem = format!("shape {shape} of rank {}, needed rank 4", shape.rank());
        return Err(OpError::new(op, Code::E3002).problem(problem).focus(Focus::Attribute("shape")).into());
    }
    same_numbers(op, operands)?;
    rules::positive(op, shape)?;
    let made = convolved(op, convolution, image, filter)?;
    rules::expect_shape(op, operands, dy, &made)
}

fn work(filter: &Shape, result: &Shape) -> DimResult {
    let window = filter[..3].iter().try_fold(Dim::literal(2), |product, dim| product.mul(dim))?;
    result.element_count()?.mul(&window)
}

/// The fields that hold strides and padding.
const STRIDES: Field = Field::key("strides", "s", FieldKind::Integers);
const PADDING: Field = Field::key("padding", "p", FieldKind::Padding);

fn gradient_attributes(op: &Op) -> Attributes {
    if let Op::Window(Window::Conv2dGradInput { shape, convolution })
    | Op::Window(Window::Conv2dGradFilter { shape, convolution }) = op
    {
        let Convolution { strides, padding } = (**convolution).clone();
        listed([Attribute::Dims(shape.to_vec()), Attribute::Integers(strides), Attribute::Padding(padding)])
    } else {
        wrong_row(op)
    }
}

fn made(attributes: Attributes) -> (Shape, Box<Convolution>) {
    let [Attribute::Dims(shape), Attribute::Integers(strides), Attribute::Padding(padding)] =
        exactly(attributes)
    else {
        not_these_fields()
    };
    (Shape::new(shape), Convolution { strides, padding }.into())
}

/// The shape of the image, the shape of the filter, strides and padding.
type ConvolutionCase = ([i64; 4], [i64; 4], [i64; 2], Padding);

/// Cases with every kind of padding, strides of 1 and more, and windows larger than a stride.
fn cases(dtype: DType, case: impl Fn(Convolution, &[i64], &[i64], Type) -> Case) -> Vec<Case> {
    let forms: [ConvolutionCase; 5] = [
        ([1, 3, 3, 1], [2, 2, 1, 1], [1, 1], Padding::Valid),
        ([2, 4, 5, 2], [3, 2, 2, 3], [1, 2], Padding::Valid),
        ([1, 4, 5, 2], [3, 3, 2, 2], [1, 1], Padding::Same),
        ([1, 5, 4, 1], [2, 3, 1, 2], [2, 2], Padding::Same),
        ([1, 3, 4, 1], [2, 2, 1, 1], [2, 1], Padding::Custom(vec![[1, 0], [0, 2]])),
    ];
    let made = |(image, filter, strides, padding): ConvolutionCase| {
        let convolution = Convolution { strides: strides.to_vec(), padding };
        let extent = |axis: usize| {
            let positions = convolution.positions(axis, &image[axis + 1].into(), &filter[axis].into());
            positions.expect("small extents")
        };
        let dy = Type::new(dtype, Shape::new([image[0].into(), extent(0), extent(1), filter[3].into()]));
        case(convolution, &image, &filter, dy)
    };
    forms.map(made).into()
}
