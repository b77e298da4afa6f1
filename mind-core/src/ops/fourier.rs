//! Fourier transforms of rows. A complex number is a pair, the last axis of a tensor.

use super::{
    Attribute, Derivative, Field, FieldKind, KERNEL, Make, OpError, OpInfo,
    fields::{SHAPE, exactly, listed, not_these_fields},
    matrices::wrong_rank,
    rules::{self, expect_shape, wrong_row},
    sample::{Case, Sampling},
};
use crate::{
    dim::{Dim, Overflow},
    ir::{Form, Fourier, Op},
    map::Takes,
    profile::Profile,
    ty::{DType, Shape, Type},
};

rows! {
    Fourier:
    Fourier::Fft { .. } => FFT,
    Fourier::RealFft => REAL_FFT,
    Fourier::RealFftGrad { .. } => REAL_FFT_GRAD,
}

/// `Fft(x; inverse)`: the Fourier transform of each row of complex numbers; an extension.
///
/// - **Shape**: the operand's, `[…, n, 2]`.
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: the last axis has the real and the imaginary part of a number. The element `k` of a row is the sum of
///   `x[j] * exp(-2πi j k / n)` over all `j`; with `inverse` of `x[j] * exp(2πi j k / n)`, not divided by `n`.
/// - **Error**: the norm of the errors of a row is at most `8 log2(2 n) ε` times the norm of the result.
/// - **Derivative**: the transform of the cotangent with the other `inverse`.
/// - **Constraints**: 1. the rank is at least 2 (E3002). 2. `x` is of floats (E2005). 3. The last extent is 2 (E3003).
/// - **Example**: `%1 = Fft (%0) {inverse=false} : f32[8, 2]`.
static FFT: OpInfo = OpInfo {
    name: "Fft",
    mnemonic: "fft",
    label: "fft",
    infer: |op, operands| {
        let x = operands[0];
        if x.rank() < 2 {
            return Err(wrong_rank(op, 0, format!("operand of rank {}, needed rank 2 or more", x.rank())));
        }
        rules::check_dtype(op, Takes::Floats, operands, 0)?;
        let pairs = x.shape[..x.rank() - 1].iter().cloned().chain([Dim::literal(2)]).collect();
        expect_shape(op, operands, 0, &pairs)?;
        Ok(x.clone())
    },
    origin: rules::same_origin,
    fields: &[Field::key("inverse", "in", FieldKind::Flag)],
    attributes: |op| {
        let Op::Fourier(Fourier::Fft { inverse }) = op else { wrong_row(op) };
        listed([Attribute::Flag(*inverse)])
    },
    make: Make::Of(|given| {
        let [Attribute::Flag(inverse)] = exactly(given) else { not_these_fields() };
        Op::Fourier(Fourier::Fft { inverse })
    }),
    sample: Sampling {
        cases: |row, dtype| {
            let shapes: [&[i64]; 4] = [&[1, 2], &[4, 2], &[2, 3, 2], &[7, 2]];
            let all = [false, true].into_iter().flat_map(|inverse| shapes.map(|shape| (inverse, shape)));
            let case =
                |(inverse, shape)| Case::new(row.op(listed([Attribute::Flag(inverse)])), dtype, &[shape]);
            of_floats(dtype, all.map(case))
        },
        ..KERNEL.sample
    },
    ..ROW
};

/// `RealFft(x)`: the first half of the Fourier transform of each row of real numbers; an extension.
///
/// - **Shape**: `[…, n] → […, floor(n / 2) + 1, 2]`.
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: the elements `0` to `floor(n / 2)` of `Fft` of the row with imaginary parts of 0. The other elements
///   are the conjugates of these.
/// - **Error**: as for `Fft`.
/// - **Derivative**: `RealFftGrad`.
/// - **Constraints**: 1. the rank is at least 1 (E3002). 2. `x` is of floats (E2005).
/// - **Example**: `%1 = RealFft (%0) : f32[5, 2]`.
static REAL_FFT: OpInfo = OpInfo {
    name: "RealFft",
    mnemonic: "real_fft",
    label: "real_fft",
    infer: |op, operands| Ok(operands[0].with_shape(half(op, operands, &operands[0].shape)?)),
    origin: |_, operands, axis| (axis + 1 < operands[0].rank()).then_some((0, axis)),
    make: Make::Plain(|| Op::Fourier(Fourier::RealFft)),
    sample: Sampling {
        cases: |row, dtype| {
            of_floats(dtype, REAL.map(|shape| Case::new(row.op(listed([])), dtype, &[shape])))
        },
        ..KERNEL.sample
    },
    ..ROW
};

/// `RealFftGrad(y; shape)`: the cotangent of the operand of `RealFft`; an extension.
///
/// - **Shape**: `shape`, `[…, n]`.
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: the element `j` of a row is the real part of the sum of `y[k] * exp(2πi j k / n)` over all `k` from
///   `0` to `floor(n / 2)`. With the elements between the first one and `n / 2` doubled, it is the inverse of `RealFft`
///   times `n`.
/// - **Error**: as for `Fft`.
/// - **Derivative**: `RealFft` of the cotangent.
/// - **Constraints**: 1. `shape` has rank 1 or more (E3002). 2. `y` is of floats (E2005). 3. `y` has the shape of the
///   transform of `shape` (E3003).
/// - **Example**: `%1 = RealFftGrad (%0) {shape=[8]} : f32[8]`.
static REAL_FFT_GRAD: OpInfo = OpInfo {
    name: "RealFftGrad",
    mnemonic: "real_fft_grad",
    label: "real_fft_grad",
    infer: |op, operands| {
        let Op::Fourier(Fourier::RealFftGrad { shape }) = op else { wrong_row(op) };
        rules::positive(op, shape)?;
        let needed = half(op, operands, shape)?;
        expect_shape(op, operands, 0, &needed)?;
        Ok(operands[0].with_shape(shape.clone()))
    },
    fields: &[SHAPE],
    attributes: |op| {
        let Op::Fourier(Fourier::RealFftGrad { shape }) = op else { wrong_row(op) };
        listed([Attribute::Dims(shape.to_vec())])
    },
    make: Make::Of(|given| {
        let [Attribute::Dims(shape)] = exactly(given) else { not_these_fields() };
        Op::Fourier(Fourier::RealFftGrad { shape: Shape::new(shape) })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let cases = REAL.map(|shape| {
                let shape = Shape::literal(shape);
                let y = Type::new(dtype, transformed(&shape).expect("small extents"));
                Case { op: Op::Fourier(Fourier::RealFftGrad { shape }), operands: vec![y] }
            });
            of_floats(dtype, cases)
        },
        ..KERNEL.sample
    },
    ..ROW
};

/// The shapes of samples: even and odd lengths.
const REAL: [&[i64]; 6] = [&[1], &[2], &[3], &[2, 4], &[5], &[2, 6]];

/// The fields that all rows share.
const ROW: OpInfo = OpInfo {
    profile: Profile::Extended,
    derivative: Derivative::Linear,
    // About `5 n log2(n)` for `n` pairs: the logarithm of an extent is no polynomial, and 10 is usual.
    flops: |_, operands, _| operands[0].shape.element_count()?.mul(&Dim::literal(25)),
    ..KERNEL
};

/// The shape of the transform of rows of real numbers of this shape.
fn half(op: &Op, operands: &[&Type], rows: &Shape) -> Result<Shape, Box<OpError>> {
    if rows.rank() == 0 {
        return Err(wrong_rank(op, 0, "operand of rank 0, needed rank 1 or more".into()));
    }
    rules::check_dtype(op, Takes::Floats, operands, 0)?;
    transformed(rows).map_err(|overflow| OpError::overflow(op, overflow))
}

fn transformed(rows: &Shape) -> Result<Shape, Overflow> {
    let (last, outer) = rows.split_last().expect("the rank is at least 1");
    let half = last.floor_div(2)?.add_literal(1)?;
    Ok(outer.iter().cloned().chain([half, Dim::literal(2)]).collect())
}

/// The cases, if the element type is one of floats.
fn of_floats(dtype: DType, cases: impl IntoIterator<Item = Case>) -> Vec<Case> {
    if dtype.is_float() { cases.into_iter().collect() } else { Vec::new() }
}

impl<A: Form> Fourier<A> {
    /// The shape attribute, if the operation has one.
    pub(crate) fn shape_mut(&mut self) -> Option<&mut A::Shape> {
        match self {
            Self::RealFftGrad { shape } => Some(shape),
            Self::Fft { .. } | Self::RealFft => None,
        }
    }

    /// The same operation in another [form](Form); `shape` converts the shape attribute.
    pub(crate) fn with_shape<B: Form>(&self, shape: impl FnOnce(&A::Shape) -> B::Shape) -> Fourier<B> {
        match self {
            Self::Fft { inverse } => Fourier::Fft { inverse: *inverse },
            Self::RealFft => Fourier::RealFft,
            Self::RealFftGrad { shape: of } => Fourier::RealFftGrad { shape: shape(of) },
        }
    }
}
