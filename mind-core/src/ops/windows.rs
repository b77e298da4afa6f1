//! Windows that slide along axes.

use mind_shape::{window_extent, window_span};

use super::{
    Attribute, Attributes, Derivative, Field, FieldKind, Focus, KERNEL, Make, OpError, OpInfo, Profile,
    WorkClass,
    fields::{SHAPE, exactly, listed, not_these_fields},
    rules::{self, position, wrong_row},
    sample::{Case, Sampling},
};
use crate::{
    diag::Code,
    dim::{Dim, DimResult, Overflow},
    ir::{Op, Part, Windows},
    map::Takes,
    ty::{Shape, Type},
};

/// `Unfold(x; axes, sizes, strides, dilations)`: windows that slide along axes; an extension.
///
/// - **Shape**: each of the axes becomes two, of the extents `floor((extent - (size - 1) * dilation - 1) / stride) + 1`
///   and `size`.
/// - **Dtype**: the operand's.
/// - **Semantics**: `result[.., p, k, ..] = x[.., p * stride + k * dilation, ..]` for each of the axes.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: `UnfoldGrad`.
/// - **Constraints**: 1. `axes` are in `0..rank` (E3004) and ascending (E3005). 2. Each has a size, a stride and a
///   dilation of at least 1 (E4010). 3. The windows fit (E3006). If that depends on symbols, it is checked on entry.
/// - **Example**: `%1 = Unfold (%0) {axes=[1], sizes=[3], strides=[2], dilations=[1]} : f32[2, 4, 3]`.
pub(super) static UNFOLD: OpInfo = OpInfo {
    name: "Unfold",
    mnemonic: "unfold",
    label: "unfold",
    profile: Profile::Extended,
    class: WorkClass::View,
    infer: |op, operands| {
        let Op::Part(Part::Unfold(windows)) = op else { wrong_row(op) };
        Ok(operands[0].with_shape(unfolded(op, windows, &operands[0].shape, &[0])?))
    },
    origin: |op, _, axis| {
        let Op::Part(Part::Unfold(windows)) = op else { wrong_row(op) };
        let before = windows.places().take_while(|place| *place < axis).count();
        let is_new = windows.places().any(|place| place == axis || place + 1 == axis);
        (!is_new).then(|| (0, axis - before))
    },
    derivative: Derivative::Linear,
    attributes: |op| {
        let Op::Part(Part::Unfold(windows)) = op else { wrong_row(op) };
        let [axes, sizes, strides, dilations] = lists(windows);
        listed([axes, sizes, strides, dilations])
    },
    fields: &[AXES, SIZES, STRIDES, DILATIONS],
    make: Make::Of(|attributes| {
        let lists: [Attribute; 4] = exactly(attributes);
        Op::Part(Part::Unfold(windows_of(lists)))
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let case = |(shape, windows): (&'static [i64], Windows)| {
                Case::new(Op::Part(Part::Unfold(windows.into())), dtype, &[shape])
            };
            samples().map(case).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

/// `UnfoldGrad(dy; shape, axes, sizes, strides, dilations)`: the cotangent of the operand of `Unfold`; an extension.
///
/// - **Shape**: `shape`.
/// - **Dtype**: the operand's.
/// - **Semantics**: zeros, to which each element of `dy` is added where the windows read it. Integers wrap.
/// - **Error**: `k` elements of `dy` are added one after the other. The error is at most `γ(k)` times the sum of their
///   magnitudes; see [products](#products).
/// - **Derivative**: the windows of the cotangent.
/// - **Constraints**: 1. the constraints of `Unfold` hold for `shape` (E3004, E3005, E4010, E3006). 2. `dy` has the shape
///   of those windows (E3003). 3. Numbers (E2005).
/// - **Example**: `%1 = UnfoldGrad (%0) {shape=[9], axes=[0], sizes=[3], strides=[2], dilations=[1]} : f32[9]`.
pub(super) static UNFOLD_GRAD: OpInfo = OpInfo {
    name: "UnfoldGrad",
    mnemonic: "unfold_grad",
    label: "unfold_grad",
    profile: Profile::Extended,
    infer: |op, operands| {
        let Op::Part(Part::UnfoldGrad { shape, windows }) = op else { wrong_row(op) };
        rules::check_dtype(op, Takes::Numbers, operands, 0)?;
        rules::positive(op, shape)?;
        let needed = unfolded(op, windows, shape, &[])?;
        rules::expect_shape(op, operands, 0, &needed)?;
        Ok(operands[0].with_shape(shape.clone()))
    },
    flops: |_, operands, _| operands[0].shape.element_count(),
    derivative: Derivative::Linear,
    attributes: |op| {
        let Op::Part(Part::UnfoldGrad { shape, windows }) = op else { wrong_row(op) };
        let [axes, sizes, strides, dilations] = lists(windows);
        let attributes: Attributes =
            listed([Attribute::Dims(shape.to_vec()), axes, sizes, strides, dilations]);
        attributes
    },
    fields: &[SHAPE, AXES, SIZES, STRIDES, DILATIONS],
    make: Make::Of(|attributes| {
        let [Attribute::Dims(shape), axes, sizes, strides, dilations] = exactly(attributes) else {
            not_these_fields()
        };
        let windows = windows_of([axes, sizes, strides, dilations]);
        Op::Part(Part::UnfoldGrad { shape: Shape::new(shape), windows })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let case = |(shape, windows): (&'static [i64], Windows)| {
                let shape = Shape::literal(shape);
                let taken = windows.of(&shape).expect("small");
                let op = Op::Part(Part::UnfoldGrad { shape, windows: windows.into() });
                Case { op, operands: vec![Type::new(dtype, taken)] }
            };
            samples().map(case).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

/// The fields that hold windows.
const AXES: Field = Field::key("axes", "ax", FieldKind::Integers);
const SIZES: Field = Field::place("sizes", FieldKind::Dims);
const STRIDES: Field = Field::key("strides", "s", FieldKind::Integers);
const DILATIONS: Field = Field::key("dilations", "d", FieldKind::Integers);

impl Windows {
    /// The axes of the result that hold the positions of the windows. The next axis holds the elements of the window.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        self.axes.iter().enumerate().map(|(before, axis)| position(*axis) + before)
    }

    /// The shape of the windows of a tensor of this shape.
    fn of(&self, shape: &Shape) -> Result<Shape, Overflow> {
        let mut dims = Vec::with_capacity(shape.rank() + self.axes.len());
        for (axis, extent) in shape.iter().enumerate() {
            match self.axes.iter().position(|along| position(*along) == axis) {
                Some(at) => dims.extend([self.positions(at, extent)?, self.sizes[at].clone()]),
                None => dims.push(extent.clone()),
            }
        }
        Ok(Shape::new(dims))
    }

    /// The number of positions of the window along an axis of this extent.
    fn positions(&self, at: usize, extent: &Dim) -> DimResult {
        let (size, stride, dilation) = (&self.sizes[at], self.strides[at], self.dilations[at]);
        if let (Some(extent), Some(size)) = (extent.as_literal(), size.as_literal()) {
            let span = window_span(size, dilation).ok_or(Overflow::Range)?;
            let positions = window_extent(extent, span, stride, 0, 0);
            return positions.map(Dim::literal).ok_or(Overflow::Range);
        }
        let last = size.add_literal(-1)?.mul(&Dim::literal(dilation))?.add_literal(1)?;
        extent.sub(&last)?.floor_div(stride)?.add_literal(1)
    }

    /// The position along each axis of a tensor that its windows read at this position.
    pub(crate) fn source(&self, at: &[usize]) -> Vec<usize> {
        let mut axes = at.iter();
        let mut source = Vec::with_capacity(at.len() - self.axes.len());
        while let Some(place) = axes.next() {
            let along = self.axes.iter().position(|axis| position(*axis) == source.len());
            source.push(match along.zip(axes.as_slice().first()) {
                Some((along, element)) => {
                    axes.next();
                    place * position(self.strides[along]) + element * position(self.dilations[along])
                }
                None => *place,
            });
        }
        source
    }
}

/// The shape of the windows of a tensor of this shape. Messages show the operands `shown`.
fn unfolded(op: &Op, windows: &Windows, shape: &Shape, shown: &[usize]) -> Result<Shape, Box<OpError>> {
    let Windows { axes, sizes, strides, dilations } = windows;
    rules::axes(op, axes, shape.rank(), shown)?;
    if !axes.is_sorted() {
        let problem = format!("axes {axes:?} are not ascending");
        let error = OpError::new(op, Code::E3005).problem(problem).focus(Focus::Attribute("axes"));
        return Err(error.operands(shown).into());
    }
    let fault = |name: &'static str, list: String| {
        let problem = format!("{name} [{list}], needed {} of at least 1", axes.len());
        OpError::new(op, Code::E4010).problem(problem).focus(Focus::Attribute(name)).operands(shown)
    };
    let text = |list: &[i64]| list.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    if sizes.len() != axes.len() || sizes.iter().any(Dim::is_below_one) {
        let list = sizes.iter().map(Dim::to_string).collect::<Vec<_>>().join(", ");
        return Err(fault("sizes", list).into());
    }
    for (name, list) in [("strides", strides), ("dilations", dilations)] {
        if list.len() != axes.len() || list.iter().any(|number| *number < 1) {
            return Err(fault(name, text(list)).into());
        }
    }
    for (at, axis) in axes.iter().enumerate() {
        let extent = &shape[position(*axis)];
        let positions = windows.positions(at, extent).map_err(|overflow| OpError::overflow(op, overflow))?;
        if positions.is_below_one() {
            let dilation = Dim::literal(dilations[at]);
            let span = sizes[at].add_literal(-1).and_then(|last| last.mul(&dilation)?.add_literal(1));
            let span = span.map_err(|overflow| OpError::overflow(op, overflow))?;
            let problem = format!(
                "a window of {span} does not fit dimension {axis} of extent {extent}: the result has extent \
                 {positions}"
            );
            let error = OpError::new(op, Code::E3006).problem(problem).focus(Focus::Attribute("sizes"));
            return Err(error.operands(shown).into());
        }
    }
    windows.of(shape).map_err(|overflow| OpError::overflow(op, overflow))
}

fn lists(windows: &Windows) -> [Attribute; 4] {
    let Windows { axes, sizes, strides, dilations } = windows.clone();
    [
        Attribute::Integers(axes),
        Attribute::Dims(sizes),
        Attribute::Integers(strides),
        Attribute::Integers(dilations),
    ]
}

fn windows_of(lists: [Attribute; 4]) -> Box<Windows> {
    let [
        Attribute::Integers(axes),
        Attribute::Dims(sizes),
        Attribute::Integers(strides),
        Attribute::Integers(dilations),
    ] = lists
    else {
        not_these_fields()
    };
    Box::new(Windows { axes, sizes, strides, dilations })
}

/// Shapes and windows of them: apart, overlapping, with gaps, dilated, along several axes.
fn samples() -> [(&'static [i64], Windows); 5] {
    let windows = |axes: &[i64], sizes: &[i64], strides: &[i64], dilations: &[i64]| Windows {
        axes: axes.to_vec(),
        sizes: sizes.iter().copied().map(Dim::literal).collect(),
        strides: strides.to_vec(),
        dilations: dilations.to_vec(),
    };
    [
        (&[4], windows(&[0], &[2], &[2], &[1])),
        (&[2, 5], windows(&[1], &[3], &[1], &[1])),
        (&[7, 2], windows(&[0], &[2], &[3], &[1])),
        (&[6, 2], windows(&[0], &[3], &[1], &[2])),
        (&[1, 5, 4, 2], windows(&[1, 2], &[3, 2], &[2, 1], &[1, 2])),
    ]
}
