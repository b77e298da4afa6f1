//! Windows that slide over the axes before the last one, what they reduce to, and derivatives.

use mind_shape::window_span;

use super::{
    Attribute, Derivative, Field, FieldKind, Focus, KERNEL, Make, OpError, OpInfo, Profile,
    fields::{Attributes, SHAPE, exactly, listed, not_these_fields},
    rules::{self, position, same_numbers, wrong_row},
    sample::{Case, Sampling},
};
use crate::{
    diag::Code,
    dim::{Dim, DimResult, Overflow},
    ir::{Convolution, Form, Op, Padding, Pool, Pooling},
    map::Takes,
    ty::{DType, Shape, Type},
};

rows! {
    Pool:
    Pool::Max(_) => MAX_POOL,
    Pool::MaxGrad(_) => MAX_POOL_GRAD,
    Pool::MaxTake(_) => MAX_POOL_TAKE,
    Pool::Total(_) => SUM_POOL,
    Pool::SumGrad { .. } => SUM_POOL_GRAD,
    Pool::Depthwise(_) => DEPTHWISE_CONV,
    Pool::DepthwiseGradInput { .. } => DEPTHWISE_CONV_GRAD_INPUT,
    Pool::DepthwiseGradFilter(_) => DEPTHWISE_CONV_GRAD_FILTER,
}

/// `MaxPool(x; sizes, strides, padding, dilations)`: the largest element of each window; an extension.
///
/// - **Shape**: the operand's, with `floor((extent + before + after - (size - 1) * dilation - 1) / stride) + 1` along
///   each axis over which windows slide: the axes before the last one, one for each size. With `same` padding
///   `ceil(extent / stride)`.
/// - **Dtype**: the operand's.
/// - **Semantics**: the first of the largest elements of the window, in row-major order, or its first NaN. Padding has
///   no elements. A window without elements has negative infinity, or the least integer.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: `MaxPoolGrad`: the cotangent of each window goes to the element that was chosen.
/// - **Constraints**: 1. one to three sizes of at least 1 (E4010). 2. A stride and a dilation of at least 1 for each,
///   and pairs of padding of at least 0 (E4010). 3. One more axis than sizes (E3002). 4. Numbers (E2005). 5. The window
///   fits into the padded operand (E3006).
/// - **Example**: `%1 = MaxPool (%0) {sizes=[2], strides=[2], padding=valid, dilations=[1]} : f32[1, 3, 2]`.
static MAX_POOL: OpInfo = OpInfo {
    name: "MaxPool",
    mnemonic: "max_pool",
    label: "max_pool",
    infer: |op, operands| Ok(operands[0].with_shape(pooled(op, operands, 0, &operands[0].shape)?)),
    origin: of_pool,
    make: Make::Of(|attributes| Op::Pool(Pool::Max(pooling_of(exactly(attributes))))),
    derivative: Derivative::Rule,
    sample: Sampling { cases: |_, dtype| cases(dtype, Pool::Max, |_, x, _| vec![x]), ..ROW.sample },
    ..ROW
};

/// `MaxPoolGrad(x, dy; sizes, strides, padding, dilations)`: the cotangent of the operand of `MaxPool`; an extension.
///
/// - **Shape**: the shape of `x`.
/// - **Dtype**: the dtype of both operands.
/// - **Semantics**: zeros, to which each element of `dy` is added at the element that `MaxPool` chooses in its window.
/// - **Error**: `k` elements of `dy` are added one after the other. The error is at most `γ(k)` times the sum of their
///   magnitudes; see [products](#products).
/// - **Derivative**: `MaxPoolTake` of the cotangent to `dy`, none to `x`.
/// - **Constraints**: 1. the constraints of `MaxPool` hold for `x` (E4010, E3002, E2005, E3006). 2. Both operands have the
///   same dtype (E2004). 3. `dy` has the shape of the result of that `MaxPool` (E3003).
/// - **Example**: `%2 = MaxPoolGrad (%0, %1) {sizes=[2], strides=[2], padding=valid, dilations=[1]} : f32[1, 6, 2]`.
static MAX_POOL_GRAD: OpInfo = OpInfo {
    name: "MaxPoolGrad",
    mnemonic: "max_pool_grad",
    label: "max_pool_grad",
    arity: 2,
    infer: |op, operands| {
        same_numbers(op, operands)?;
        let needed = pooled(op, operands, 0, &operands[0].shape)?;
        rules::expect_shape(op, operands, 1, &needed)?;
        Ok(operands[0].clone())
    },
    origin: rules::same_origin,
    make: Make::Of(|attributes| Op::Pool(Pool::MaxGrad(pooling_of(exactly(attributes))))),
    derivative: Derivative::Rule,
    sample: Sampling { cases: |_, dtype| cases(dtype, Pool::MaxGrad, |_, x, y| vec![x, y]), ..ROW.sample },
    ..ROW
};

/// `MaxPoolTake(x, t; sizes, strides, padding, dilations)`: elements at the places of maxima; an extension.
///
/// - **Shape**: the shape of the result of that `MaxPool` of `x`.
/// - **Dtype**: the dtype of both operands.
/// - **Semantics**: for each window, the element of `t` at the place of the element of `x` that `MaxPool` chooses. A
///   window without elements has 0.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: `MaxPoolGrad` of `x` and the cotangent to `t`, none to `x`.
/// - **Constraints**: 1. the constraints of `MaxPool` hold for `x` (E4010, E3002, E2005, E3006). 2. Both operands have the
///   same dtype (E2004) 3. and the same shape (E3003).
/// - **Example**: `%2 = MaxPoolTake (%0, %1) {sizes=[2], strides=[2], padding=valid, dilations=[1]} : f32[1, 3, 2]`.
static MAX_POOL_TAKE: OpInfo = OpInfo {
    name: "MaxPoolTake",
    mnemonic: "max_pool_take",
    label: "max_pool_take",
    arity: 2,
    infer: |op, operands| {
        same_numbers(op, operands)?;
        rules::expect_shape(op, operands, 1, &operands[0].shape)?;
        Ok(operands[0].with_shape(pooled(op, operands, 0, &operands[0].shape)?))
    },
    origin: of_pool,
    make: Make::Of(|attributes| Op::Pool(Pool::MaxTake(pooling_of(exactly(attributes))))),
    derivative: Derivative::Rule,
    sample: Sampling {
        cases: |_, dtype| cases(dtype, Pool::MaxTake, |_, x, _| vec![x.clone(), x]),
        ..ROW.sample
    },
    ..ROW
};

/// `SumPool(x; sizes, strides, padding, dilations)`: the sum of each window; an extension.
///
/// - **Shape**: the operand's, with `floor((extent + before + after - (size - 1) * dilation - 1) / stride) + 1` along
///   each axis over which windows slide: the axes before the last one, one for each size. With `same` padding
///   `ceil(extent / stride)`.
/// - **Dtype**: the operand's.
/// - **Semantics**: adds the elements of each window in row-major order. Padding has no elements. Integers wrap.
/// - **Error**: at most `γ(k)` times the sum of the magnitudes of the `k` elements of a window; see
///   [products](#products).
/// - **Derivative**: `SumPoolGrad`.
/// - **Constraints**: 1. one to three sizes of at least 1 (E4010). 2. A stride and a dilation of at least 1 for each,
///   and pairs of padding of at least 0 (E4010). 3. One more axis than sizes (E3002). 4. Numbers (E2005). 5. The window
///   fits into the padded operand (E3006).
/// - **Example**: `%1 = SumPool (%0) {sizes=[2], strides=[2], padding=valid, dilations=[1]} : f32[1, 3, 2]`.
static SUM_POOL: OpInfo = OpInfo {
    name: "SumPool",
    mnemonic: "sum_pool",
    label: "sum_pool",
    infer: |op, operands| Ok(operands[0].with_shape(pooled(op, operands, 0, &operands[0].shape)?)),
    origin: of_pool,
    flops: |op, _, result| result.shape.element_count()?.mul(&taps(op)?),
    make: Make::Of(|attributes| Op::Pool(Pool::Total(pooling_of(exactly(attributes))))),
    derivative: Derivative::Linear,
    sample: Sampling { cases: |_, dtype| cases(dtype, Pool::Total, |_, x, _| vec![x]), ..ROW.sample },
    ..ROW
};

/// `SumPoolGrad(dy; shape, sizes, strides, padding, dilations)`: the cotangent of the operand of `SumPool`; an extension.
///
/// - **Shape**: `shape`.
/// - **Dtype**: the operand's.
/// - **Semantics**: each element of the result is the sum of `dy` over the windows that contain it. Integers wrap.
/// - **Error**: `k` elements of `dy` are added one after the other. The error is at most `γ(k)` times the sum of their
///   magnitudes; see [products](#products).
/// - **Derivative**: `SumPool` of the cotangent.
/// - **Constraints**: 1. the constraints of `SumPool` hold for `shape` (E4010, E3002, E2005, E3006). 2. `dy` has the
///   shape of that result (E3003).
/// - **Example**: `%1 = SumPoolGrad (%0) {shape=[1, 6, 2], sizes=[2], strides=[2], padding=valid, dilations=[1]} :
///   f32[1, 6, 2]`.
static SUM_POOL_GRAD: OpInfo = OpInfo {
    name: "SumPoolGrad",
    mnemonic: "sum_pool_grad",
    label: "sum_pool_grad",
    infer: |op, operands| {
        let Op::Pool(Pool::SumGrad { shape, .. }) = op else { wrong_row(op) };
        rules::positive(op, shape)?;
        let needed = pooled(op, operands, 0, shape)?;
        rules::expect_shape(op, operands, 0, &needed)?;
        Ok(operands[0].with_shape(shape.clone()))
    },
    flops: |op, operands, _| operands[0].shape.element_count()?.mul(&taps(op)?),
    attributes: shaped_attributes,
    fields: SHAPED,
    make: Make::Of(|attributes| {
        let (shape, pooling) = shaped(attributes);
        Op::Pool(Pool::SumGrad { shape, pooling })
    }),
    derivative: Derivative::Linear,
    sample: Sampling {
        cases: |_, dtype| {
            shaped_cases(dtype, |shape, pooling, dy| (Pool::SumGrad { shape, pooling }, vec![dy]))
        },
        ..ROW.sample
    },
    ..ROW
};

/// `DepthwiseConv(x, filter; sizes, strides, padding, dilations)`: a convolution that has a filter for each channel; an
/// extension.
///
/// - **Shape**: that of `SumPool` of `x`.
/// - **Dtype**: the dtype of both operands.
/// - **Semantics**: adds the elements of each window, multiplied by the filter of their channel, in row-major order. Padding
///   has no elements. Integers wrap.
/// - **Error**: at most `γ(k)` times the sum of the magnitudes of the `k` products of a window; see
///   [products](#products).
/// - **Derivative**: `DepthwiseConvGradInput` to `x`, `DepthwiseConvGradFilter` to `filter`.
/// - **Constraints**: 1. the constraints of `SumPool` hold for `x` (E4010, E3002, E2005, E3006). 2. Both operands have the
///   same dtype (E2004). 3. The filter has the sizes as its shape, followed by the channels of `x` (E3003).
/// - **Example**: `%2 = DepthwiseConv (%0, %1) {sizes=[2], strides=[2], padding=valid, dilations=[1]} : f32[1, 3, 2]`.
static DEPTHWISE_CONV: OpInfo = OpInfo {
    name: "DepthwiseConv",
    mnemonic: "depthwise_conv",
    label: "depthwise_conv",
    arity: 2,
    infer: |op, operands| {
        same_numbers(op, operands)?;
        let shape = pooled(op, operands, 0, &operands[0].shape)?;
        rules::expect_shape(op, operands, 1, &pooling(op).filter(&operands[0].shape))?;
        Ok(operands[0].with_shape(shape))
    },
    origin: of_pool,
    flops: |op, _, result| result.shape.element_count()?.mul(&taps(op)?)?.mul(&Dim::literal(2)),
    make: Make::Of(|attributes| Op::Pool(Pool::Depthwise(pooling_of(exactly(attributes))))),
    derivative: Derivative::Rule,
    sample: Sampling {
        cases: |_, dtype| {
            let operands = |op: &Op, x: Type, _| vec![x.clone(), x.with_shape(pooling(op).filter(&x.shape))];
            cases(dtype, Pool::Depthwise, operands)
        },
        ..ROW.sample
    },
    ..ROW
};

/// `DepthwiseConvGradInput(dy, filter; shape, sizes, strides, padding, dilations)`: the cotangent of the input of
/// `DepthwiseConv`; an extension.
///
/// - **Shape**: `shape`, the shape of the input.
/// - **Dtype**: the dtype of both operands.
/// - **Semantics**: each element of the input receives the sum of `dy * filter` over the windows that contain it.
/// - **Error**: at most `γ(k)` times the sum of the magnitudes of the `k` products; see [products](#products).
/// - **Derivative**: `DepthwiseConv` of the cotangent with `filter` to `dy`, `DepthwiseConvGradFilter` to `filter`.
/// - **Constraints**: 1. the constraints of `DepthwiseConv` hold for `shape` and `filter` (E4010, E3002, E2005, E3006,
///   E3003). 2. Both operands have the same dtype (E2004). 3. `dy` has the shape of that result (E3003).
/// - **Example**: `%2 = DepthwiseConvGradInput (%0, %1) {shape=[1, 6, 2], sizes=[2], strides=[2], padding=valid,
///   dilations=[1]} : f32[1, 6, 2]`.
static DEPTHWISE_CONV_GRAD_INPUT: OpInfo = OpInfo {
    name: "DepthwiseConvGradInput",
    mnemonic: "depthwise_conv_grad_input",
    label: "depthwise_conv_grad_input",
    arity: 2,
    infer: |op, operands| {
        let Op::Pool(Pool::DepthwiseGradInput { shape, .. }) = op else { wrong_row(op) };
        same_numbers(op, operands)?;
        rules::positive(op, shape)?;
        let needed = pooled(op, operands, 0, shape)?;
        rules::expect_shape(op, operands, 1, &pooling(op).filter(shape))?;
        rules::expect_shape(op, operands, 0, &needed)?;
        Ok(operands[0].with_shape(shape.clone()))
    },
    flops: |op, operands, _| operands[0].shape.element_count()?.mul(&taps(op)?)?.mul(&Dim::literal(2)),
    attributes: shaped_attributes,
    fields: SHAPED,
    make: Make::Of(|attributes| {
        let (shape, pooling) = shaped(attributes);
        Op::Pool(Pool::DepthwiseGradInput { shape, pooling })
    }),
    derivative: Derivative::Rule,
    sample: Sampling {
        cases: |_, dtype| {
            shaped_cases(dtype, |shape, pooling, dy| {
                let filter = dy.with_shape(pooling.filter(&shape));
                (Pool::DepthwiseGradInput { shape, pooling }, vec![dy, filter])
            })
        },
        ..ROW.sample
    },
    ..ROW
};

/// `DepthwiseConvGradFilter(x, dy; sizes, strides, padding, dilations)`: the cotangent of the filter of `DepthwiseConv`; an
/// extension.
///
/// - **Shape**: the sizes, followed by the channels of `x`.
/// - **Dtype**: the dtype of both operands.
/// - **Semantics**: each element of the filter receives the sum of `x * dy` over the positions of the window: that of each
///   row of positions, then of the rows.
/// - **Error**: at most `γ(k)` times the sum of the magnitudes of the `k` products; see [products](#products).
/// - **Derivative**: `DepthwiseConvGradInput` to `x`, `DepthwiseConv` of `x` with the cotangent to `dy`.
/// - **Constraints**: 1. the constraints of `SumPool` hold for `x` (E4010, E3002, E2005, E3006). 2. Both operands have the
///   same dtype (E2004). 3. `dy` has the shape of the result of that `SumPool` (E3003).
/// - **Example**: `%2 = DepthwiseConvGradFilter (%0, %1) {sizes=[2], strides=[2], padding=valid, dilations=[1]} : f32[2, 2]`.
static DEPTHWISE_CONV_GRAD_FILTER: OpInfo = OpInfo {
    name: "DepthwiseConvGradFilter",
    mnemonic: "depthwise_conv_grad_filter",
    label: "depthwise_conv_grad_filter",
    arity: 2,
    infer: |op, operands| {
        same_numbers(op, operands)?;
        let needed = pooled(op, operands, 0, &operands[0].shape)?;
        rules::expect_shape(op, operands, 1, &needed)?;
        Ok(operands[0].with_shape(pooling(op).filter(&operands[0].shape)))
    },
    origin: |_, operands, axis| {
        let rank = operands[0].rank();
        (axis + 1 == rank).then_some((0, rank - 1))
    },
    flops: |op, operands, _| operands[1].shape.element_count()?.mul(&taps(op)?)?.mul(&Dim::literal(2)),
    make: Make::Of(|attributes| Op::Pool(Pool::DepthwiseGradFilter(pooling_of(exactly(attributes))))),
    derivative: Derivative::Rule,
    sample: Sampling {
        cases: |_, dtype| cases(dtype, Pool::DepthwiseGradFilter, |_, x, y| vec![x, y]),
        ..ROW.sample
    },
    ..ROW
};

/// The fields that most rows share.
const ROW: OpInfo = OpInfo {
    profile: Profile::Extended,
    fields: &[SIZES, STRIDES, PADDING, DILATIONS],
    attributes: |op| -> Attributes { listed(lists(op)) },
    ..KERNEL
};

const SIZES: Field = Field::place("sizes", FieldKind::Integers);
const STRIDES: Field = Field::key("strides", "s", FieldKind::Integers);
const PADDING: Field = Field::key("padding", "p", FieldKind::Padding);
const DILATIONS: Field = Field::key("dilations", "d", FieldKind::Integers);

impl<A: Form> Pool<A> {
    /// The windows.
    pub fn pooling(&self) -> &Pooling {
        match self {
            Self::Max(pooling)
            | Self::MaxGrad(pooling)
            | Self::MaxTake(pooling)
            | Self::Total(pooling)
            | Self::SumGrad { pooling, .. }
            | Self::Depthwise(pooling)
            | Self::DepthwiseGradInput { pooling, .. }
            | Self::DepthwiseGradFilter(pooling) => pooling,
        }
    }

    /// Whether the operation sums products of two operands.
    pub(crate) fn is_product(&self) -> bool {
        match self {
            Self::Depthwise(_) | Self::DepthwiseGradInput { .. } | Self::DepthwiseGradFilter(_) => true,
            Self::Max(_) | Self::MaxGrad(_) | Self::MaxTake(_) | Self::Total(_) | Self::SumGrad { .. } => {
                false
            }
        }
    }

    /// The shape attribute, if the operation has one.
    pub(crate) fn shape_mut(&mut self) -> Option<&mut A::Shape> {
        match self {
            Self::SumGrad { shape, .. } | Self::DepthwiseGradInput { shape, .. } => Some(shape),
            Self::Max(_)
            | Self::MaxGrad(_)
            | Self::MaxTake(_)
            | Self::Total(_)
            | Self::Depthwise(_)
            | Self::DepthwiseGradFilter(_) => None,
        }
    }

    /// The same operation in another [form](Form); `shape` converts the shape attribute.
    pub(crate) fn with_shape<B: Form>(&self, shape: impl FnOnce(&A::Shape) -> B::Shape) -> Pool<B> {
        match self.clone() {
            Self::Max(pooling) => Pool::Max(pooling),
            Self::MaxGrad(pooling) => Pool::MaxGrad(pooling),
            Self::MaxTake(pooling) => Pool::MaxTake(pooling),
            Self::Total(pooling) => Pool::Total(pooling),
            Self::SumGrad { shape: of, pooling } => Pool::SumGrad { shape: shape(&of), pooling },
            Self::Depthwise(pooling) => Pool::Depthwise(pooling),
            Self::DepthwiseGradInput { shape: of, pooling } => {
                Pool::DepthwiseGradInput { shape: shape(&of), pooling }
            }
            Self::DepthwiseGradFilter(pooling) => Pool::DepthwiseGradFilter(pooling),
        }
    }
}

impl Pooling {
    /// The axis of a tensor of this rank over which the first entry of each list slides.
    pub(crate) fn lead(&self, rank: usize) -> usize {
        rank - 1 - self.sizes.len()
    }

    /// The extent of a window along an axis, from its first to its last element.
    pub(crate) fn span(&self, at: usize) -> Option<i64> {
        window_span(self.sizes[at], self.dilations[at])
    }

    /// The elements that the first window covers before a tensor of this extent.
    ///
    /// # Panics
    /// If the pool was not verified.
    pub(crate) fn before(&self, at: usize, extent: usize) -> usize {
        let span = self.span(at).expect("verified windows are within 64 bits");
        self.slide.before(at, extent, position(span))
    }

    /// The number of positions of the window along an axis of this extent.
    fn positions(&self, at: usize, extent: &Dim) -> DimResult {
        let span = self.span(at).ok_or(Overflow::Range)?;
        self.slide.positions(at, extent, &Dim::literal(span))
    }

    /// The shape of a filter that has a factor for each element of a window and each channel of a tensor of this shape.
    pub(crate) fn filter(&self, of: &Shape) -> Shape {
        let sizes = self.sizes.iter().map(|size| Dim::literal(*size));
        Shape::new(sizes.chain(of.last().cloned()).collect::<Vec<_>>())
    }

    /// The shape of the result for a tensor of this shape.
    fn shape(&self, of: &Shape) -> Result<Shape, Overflow> {
        let lead = self.lead(of.rank());
        let mut dims = of.to_vec();
        for at in 0..self.sizes.len() {
            dims[lead + at] = self.positions(at, &of[lead + at])?;
        }
        Ok(Shape::new(dims))
    }
}

/// The shape of the result for a tensor of this shape. Messages show an operand.
fn pooled(op: &Op, operands: &[&Type], shown: usize, of: &Shape) -> Result<Shape, Box<OpError>> {
    let pooling = pooling(op);
    let Pooling { sizes, dilations, slide: Convolution { strides, padding } } = pooling;
    let count = sizes.len();
    let fault = |name: &'static str, problem: String| {
        OpError::new(op, Code::E4010).problem(problem).focus(Focus::Attribute(name)).operands(&[shown])
    };
    if !(1..=3).contains(&count) || sizes.iter().any(|size| *size < 1) {
        let problem = format!("sizes {sizes:?}, needed {} of at least 1", count.clamp(1, 3));
        return Err(fault("sizes", problem).into());
    }
    for (name, list) in [("strides", strides), ("dilations", dilations)] {
        if list.len() != count || list.iter().any(|number| *number < 1) {
            return Err(fault(name, format!("{name} {list:?}, needed {count} of at least 1")).into());
        }
    }
    if let Padding::Custom(pairs) = padding
        && (pairs.len() != count || pairs.iter().flatten().any(|zeros| *zeros < 0))
    {
        let needed = ["one pair", "two pairs", "three pairs"][count - 1];
        let problem = format!("padding {pairs:?}, needed {needed} of at least 0");
        return Err(fault("padding", problem).into());
    }
    if of.rank() < count + 1 {
        let problem = format!("operand of rank {}, needed rank {}", of.rank(), count + 1);
        let focus = Focus::Operand(shown);
        return Err(OpError::new(op, Code::E3002).problem(problem).focus(focus).operands(&[shown]).into());
    }
    rules::check_dtype(op, Takes::Numbers, operands, shown)?;
    for at in 0..count {
        let (axis, extent) = (pooling.lead(of.rank()) + at, &of[pooling.lead(of.rank()) + at]);
        let positions = pooling.positions(at, extent).map_err(|overflow| OpError::overflow(op, overflow))?;
        if positions.is_below_one() {
            let problem = format!(
                "a window of {} does not fit dimension {axis} of extent {extent}: the result has extent {positions}",
                pooling.span(at).expect("the positions are within 64 bits")
            );
            let error = OpError::new(op, Code::E3006).problem(problem).focus(Focus::Attribute("sizes"));
            return Err(error.operands(&[shown]).into());
        }
    }
    pooling.shape(of).map_err(|overflow| OpError::overflow(op, overflow))
}

/// Each axis without windows takes its extent from the operand.
fn of_pool(op: &Op, operands: &[&Type], axis: usize) -> Option<(usize, usize)> {
    let rank = operands[0].rank();
    (axis < pooling(op).lead(rank) || axis + 1 == rank).then_some((0, axis))
}

/// The number of elements of a window.
fn taps(op: &Op) -> DimResult {
    pooling(op).sizes.iter().try_fold(Dim::ONE, |product, size| product.mul(&Dim::literal(*size)))
}

fn pooling(op: &Op) -> &Pooling {
    let Op::Pool(pool) = op else { wrong_row(op) };
    pool.pooling()
}

fn lists(op: &Op) -> [Attribute; 4] {
    let Pooling { sizes, dilations, slide: Convolution { strides, padding } } = pooling(op).clone();
    [
        Attribute::Integers(sizes),
        Attribute::Integers(strides),
        Attribute::Padding(padding),
        Attribute::Integers(dilations),
    ]
}

/// The fields of rows that also have the shape of the result.
const SHAPED: &[Field] = &[SHAPE, SIZES, STRIDES, PADDING, DILATIONS];

fn shaped_attributes(op: &Op) -> Attributes {
    let Op::Pool(Pool::SumGrad { shape, .. } | Pool::DepthwiseGradInput { shape, .. }) = op else {
        wrong_row(op)
    };
    let [sizes, strides, padding, dilations] = lists(op);
    listed([Attribute::Dims(shape.to_vec()), sizes, strides, padding, dilations])
}

fn shaped(attributes: Attributes) -> (Shape, Box<Pooling>) {
    let [Attribute::Dims(shape), sizes, strides, padding, dilations] = exactly(attributes) else {
        not_these_fields()
    };
    (Shape::new(shape), pooling_of([sizes, strides, padding, dilations]))
}

fn pooling_of(lists: [Attribute; 4]) -> Box<Pooling> {
    let [
        Attribute::Integers(sizes),
        Attribute::Integers(strides),
        Attribute::Padding(padding),
        Attribute::Integers(dilations),
    ] = lists
    else {
        not_these_fields()
    };
    Box::new(Pooling { sizes, dilations, slide: Convolution { strides, padding } })
}

/// Cases of an operation whose attributes include the shape of the tensor. `of` makes the operation and its operands from
/// that shape, the windows and the type of the pool.
fn shaped_cases(dtype: DType, of: impl Fn(Shape, Box<Pooling>, Type) -> (Pool, Vec<Type>)) -> Vec<Case> {
    let case = |(shape, pooling): (&'static [i64], Pooling)| {
        let shape = Shape::literal(shape);
        let dy = Type::new(dtype, pooling.shape(&shape).expect("small extents"));
        let (pool, operands) = of(shape, pooling.into(), dy);
        Case { op: Op::Pool(pool), operands }
    };
    samples().map(case).into()
}

/// Cases of an operation. `operands` makes the operands from it, the type of the tensor and that of its pool.
fn cases(
    dtype: DType,
    of: impl Fn(Box<Pooling>) -> Pool,
    operands: impl Fn(&Op, Type, Type) -> Vec<Type>,
) -> Vec<Case> {
    let case = |(shape, pooling): (&'static [i64], Pooling)| {
        let x = Type::new(dtype, Shape::literal(shape));
        let y = x.with_shape(pooling.shape(&x.shape).expect("small extents"));
        let op = Op::Pool(of(pooling.into()));
        let operands = operands(&op, x, y);
        Case { op, operands }
    };
    samples().map(case).into()
}

/// Shapes and windows over them: apart, overlapping, padded, dilated, over one to three axes.
fn samples() -> [(&'static [i64], Pooling); 6] {
    let pooling = |sizes: &[i64], strides: &[i64], dilations: &[i64], padding| Pooling {
        sizes: sizes.to_vec(),
        dilations: dilations.to_vec(),
        slide: Convolution { strides: strides.to_vec(), padding },
    };
    [
        (&[6, 2], pooling(&[2], &[2], &[1], Padding::Valid)),
        (&[2, 5, 1], pooling(&[3], &[1], &[1], Padding::Same)),
        (&[1, 4, 5, 2], pooling(&[3, 2], &[1, 2], &[1, 1], Padding::Custom(vec![[1, 0], [0, 1]]))),
        (&[5, 5, 1], pooling(&[2, 3], &[2, 1], &[2, 1], Padding::Custom(vec![[1, 1], [1, 0]]))),
        (&[2, 3, 2, 4, 1], pooling(&[2, 1, 2], &[1, 1, 2], &[1, 1, 1], Padding::Valid)),
        (&[1, 5, 4, 1], pooling(&[2, 2], &[2, 3], &[1, 1], Padding::Same)),
    ]
}
