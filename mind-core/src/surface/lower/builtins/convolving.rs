//! Convolutions over one to three axes, with dilations and groups, and transposed convolutions. Those that are not one
//! operation are products of the windows of the image and the filter.

use super::calls::CallArguments;
use super::operations::Operations;
use crate::diag::{Code, Diag};
use crate::dim::{Dim, DimResult};
use crate::ir::{Convolution, Padding, Part, Pooling, Windows};
use crate::surface::ast::ExprId;
use crate::surface::lower::values::{Lowered, Value};
use crate::written::{
    self, Constant, Op, Own, Permutation, expanded, permuted_by, reshaped_to, spread, squeezed,
};

/// A value with its expression.
type Operand<T> = (T, ExprId);

/// The arguments of a convolution after the image and the filter.
#[derive(Clone, Debug)]
pub(crate) struct Convolving {
    /// The number of axes over which the filter moves.
    pub(crate) axes: usize,
    pub(crate) strides: Vec<i64>,
    pub(crate) padding: Padding,
    pub(crate) dilations: Vec<i64>,
    pub(crate) groups: i64,
    /// Whether it is the derivative of a convolution by its image.
    pub(crate) is_transposed: bool,
    /// The expressions of the four attributes, or of the call.
    pub(crate) at: [ExprId; 4],
}

/// Lowers a call.
pub(super) fn convolved<L: Operations + ?Sized>(
    lowering: &mut L,
    given: &CallArguments,
    [x, f]: [ExprId; 2],
    with: &Convolving,
) -> Lowered<Value<L::Tensor>> {
    let operands = [lowering.operand(x)?, lowering.operand(f)?];
    let mut convolver = Convolver { lowering, given, with };
    convolver.check_lists()?;
    let is_plain = with.groups == 1 && with.dilations.iter().all(|dilation| *dilation == 1);
    let result = match (with.axes, with.is_transposed) {
        (2, false) if is_plain => convolver.conv2d(operands, &with.strides, with.padding.clone())?,
        (_, true) => convolver.transposed(operands)?,
        (_, false) => {
            let sizes = convolver.sizes(operands)?;
            match with.axes {
                1 if is_plain => convolver.conv1d(operands)?,
                3 if is_plain => convolver.conv3d(operands, &sizes)?,
                _ => convolver.by_windows(operands, &sizes)?,
            }
        }
    };
    Ok(Value::Tensor(result.0))
}

struct Convolver<'l, L: ?Sized> {
    lowering: &'l mut L,
    given: &'l CallArguments,
    with: &'l Convolving,
}

/// The extents of a convolution.
struct Sizes {
    batch: Dim,
    /// The image along each axis, the filter, and the result.
    image: Vec<Dim>,
    filter: Vec<Dim>,
    result: Vec<Dim>,
    /// The zeros before and after the image along each axis.
    pads: Vec<[i64; 2]>,
    channels: Dim,
    /// The channels of a group in the filter.
    depth: Dim,
    features: Dim,
}

impl<L: Operations + ?Sized> Convolver<'_, L> {
    fn emit(&mut self, op: Op, operands: &[Operand<L::Tensor>]) -> Lowered<Operand<L::Tensor>> {
        let shown: Vec<ExprId> = operands.iter().map(|(_, expr)| *expr).collect();
        Ok((self.lowering.emit_call(self.given, op, operands, &shown)?, operands[0].1))
    }

    fn reshape(&mut self, x: Operand<L::Tensor>, shape: Vec<Dim>) -> Lowered<Operand<L::Tensor>> {
        self.emit(reshaped_to(shape), &[x])
    }

    fn permute(&mut self, x: Operand<L::Tensor>, axes: Vec<i64>) -> Lowered<Operand<L::Tensor>> {
        self.emit(permuted_by(Permutation::Written(axes)), &[x])
    }

    fn fault(&self, code: Code, at: ExprId, problem: impl std::fmt::Display) -> Diag {
        Diag::new(code, self.lowering.site(at), format!("`{}`: {problem}", self.given.name))
    }

    fn sized<T>(&self, result: Result<T, crate::dim::Overflow>) -> Lowered<T> {
        result.map_err(|overflow| self.fault(Code::E1008, self.given.expr, overflow).into())
    }

    /// Checks that there is a stride, a dilation and a pair of padding for each axis, and that there are groups.
    fn check_lists(&self) -> Lowered<()> {
        let Convolving { axes, strides, padding, dilations, groups, at, .. } = self.with;
        let needed = ["one", "two", "three"][axes - 1];
        for (name, list, at) in [("strides", strides, at[0]), ("dilations", dilations, at[2])] {
            if list.len() != *axes || list.iter().any(|number| *number < 1) {
                let problem = format!("{name} {list:?}, needed {needed} of at least 1");
                return Err(self.fault(Code::E4010, at, problem).into());
            }
        }
        if let Padding::Custom(pairs) = padding
            && (pairs.len() != *axes || pairs.iter().flatten().any(|zeros| *zeros < 0))
        {
            let noun = if *axes == 1 { "pair" } else { "pairs" };
            let problem = format!("padding {pairs:?}, needed {needed} {noun} of at least 0");
            return Err(self.fault(Code::E4010, at[1], problem).into());
        }
        if *groups < 1 {
            let problem = format!("{groups} groups, needed at least 1");
            return Err(self.fault(Code::E4010, at[3], problem).into());
        }
        Ok(())
    }

    /// Returns E2004 for operands of known types with different element types. Operations later on would show the types of
    /// intermediate values.
    fn check_types(&self, [x, f]: [Operand<L::Tensor>; 2]) -> Lowered<()> {
        let [Some(a), Some(b)] = [x, f].map(|operand| self.lowering.tensor_type(operand.0)) else {
            return Ok(());
        };
        let [of_x, of_f] = [&a, &b].map(|ty| ty.split('[').next().unwrap_or_default());
        if of_x == of_f {
            return Ok(());
        }
        let problem = format!("element types differ, {of_x} and {of_f}{}", self.shown([x, f]));
        Err(self.fault(Code::E2004, f.1, problem).into())
    }

    /// The operands with their types, as the end of a message.
    fn shown(&self, operands: [Operand<L::Tensor>; 2]) -> String {
        let shown = operands.iter().filter_map(|(value, expr)| {
            Some(format!("{} is {}", self.lowering.text(*expr), self.lowering.tensor_type(*value)?))
        });
        let shown: Vec<String> = shown.collect();
        if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) }
    }

    /// The extents, after checks of the ranks, the channels, the groups, and that the filter fits.
    fn sizes(&mut self, [x, f]: [Operand<L::Tensor>; 2]) -> Lowered<Sizes> {
        self.check_types([x, f])?;
        let Convolving { axes, groups, at, .. } = *self.with;
        let mut image = self.lowering.extents_of_list(self.given, x, x.1, axes + 2)?;
        let mut filter = self.lowering.extents_of_list(self.given, f, f.1, axes + 2)?;
        let (Some(channels), batch) = (image.pop(), image.remove(0)) else { unreachable!("there are axes") };
        let (Some(features), Some(depth)) = (filter.pop(), filter.pop()) else {
            unreachable!("there are axes")
        };
        for (extent, what) in [(&channels, "channels"), (&features, "features")] {
            let Some(extent) = extent.as_literal() else { continue };
            if extent % groups != 0 {
                let shown = self.shown([x, f]);
                let problem = format!("{groups} groups do not divide {extent} {what}{shown}");
                return Err(self.fault(Code::E4010, at[3], problem).into());
            }
        }
        let grouped = self.sized(depth.mul(&Dim::literal(groups)))?;
        if let (Some(found), Some(needed)) = (channels.as_literal(), grouped.as_literal())
            && found != needed
        {
            let of = if groups == 1 { String::new() } else { format!(" of each of {groups} groups") };
            let shown = self.shown([x, f]);
            let problem =
                format!("channels differ, {found} in the image and {depth} in the filter{of}{shown}");
            return Err(self.fault(Code::E4009, f.1, problem).into());
        }
        let (mut pads, mut result) = (Vec::new(), Vec::new());
        for axis in 0..axes {
            let pair = self.pad_of(axis, &image[axis], &filter[axis])?;
            let positions = self.positions(axis, &image[axis], &filter[axis], pair);
            let positions = self.sized(positions)?;
            if positions.is_below_one() {
                let problem = format!(
                    "a window of {} does not fit dimension {} of extent {}: the result has extent {positions}{}",
                    self.sized(self.span(axis, &filter[axis]))?,
                    axis + 1,
                    image[axis],
                    self.shown([x, f])
                );
                return Err(self.fault(Code::E3006, f.1, problem).into());
            }
            pads.push(pair);
            result.push(positions);
        }
        Ok(Sizes { batch, image, filter, result, pads, channels, depth, features })
    }

    /// The extent of the dilated filter along an axis.
    fn span(&self, axis: usize, size: &Dim) -> DimResult {
        size.add_literal(-1)?.mul(&Dim::literal(self.with.dilations[axis]))?.add_literal(1)
    }

    fn positions(&self, axis: usize, extent: &Dim, size: &Dim, [low, high]: [i64; 2]) -> DimResult {
        let padded = extent.add_literal(low)?.add_literal(high)?;
        padded.sub(&self.span(axis, size)?)?.floor_div(self.with.strides[axis])?.add_literal(1)
    }

    /// The zeros before and after the image along an axis.
    fn pad_of(&self, axis: usize, extent: &Dim, size: &Dim) -> Lowered<[i64; 2]> {
        let stride = self.with.strides[axis];
        match &self.with.padding {
            Padding::Valid => Ok([0, 0]),
            Padding::Custom(pairs) => Ok(pairs[axis]),
            Padding::Same => {
                let span = self.sized(self.span(axis, size))?.as_literal();
                // With stride 1 the number of zeros does not depend on the extent.
                let extent = extent.as_literal().or((stride == 1).then_some(1));
                let pads = span.zip(extent).and_then(|(span, extent)| {
                    if stride == 1 {
                        let zeros = span - 1;
                        return Some([zeros / 2, zeros - zeros / 2]);
                    }
                    mind_shape::same_padding(extent, span, stride).map(|(low, high)| [low, high])
                });
                pads.ok_or_else(|| {
                    let problem = "`same` needs known extents where the stride is above 1";
                    self.fault(Code::E4010, self.with.at[1], problem)
                        .help("write the padding as pairs")
                        .into()
                })
            }
        }
    }

    fn conv2d(
        &mut self,
        [x, f]: [Operand<L::Tensor>; 2],
        strides: &[i64],
        padding: Padding,
    ) -> Lowered<Operand<L::Tensor>> {
        let convolution = Convolution { strides: strides.to_vec(), padding };
        self.emit(written::convolved(convolution), &[x, f])
    }

    /// A convolution of images of one row.
    fn conv1d(&mut self, [x, f]: [Operand<L::Tensor>; 2]) -> Lowered<Operand<L::Tensor>> {
        let (x, f) = (self.emit(expanded(vec![1]), &[x])?, self.emit(expanded(vec![0]), &[f])?);
        let padding = match &self.with.padding {
            Padding::Custom(pairs) => Padding::Custom(vec![[0, 0], pairs[0]]),
            other => other.clone(),
        };
        let result = self.conv2d([x, f], &[1, self.with.strides[0]], padding)?;
        self.emit(squeezed(vec![1]), &[result])
    }

    /// A convolution of images whose channels are those of several planes.
    fn conv3d(&mut self, [x, f]: [Operand<L::Tensor>; 2], of: &Sizes) -> Lowered<Operand<L::Tensor>> {
        let x = self.padded(x, &[of.pads[0]])?;
        let x = self.windows(x, &of.filter[..1])?;
        let x = self.permute(x, vec![0, 1, 3, 4, 2, 5])?;
        let planes = self.sized(of.batch.mul(&of.result[0]))?;
        let channels = self.sized(of.filter[0].mul(&of.channels))?;
        let shape = vec![planes, of.image[1].clone(), of.image[2].clone(), channels.clone()];
        let x = self.reshape(x, shape)?;
        let f = self.permute(f, vec![1, 2, 0, 3, 4])?;
        let shape = vec![of.filter[1].clone(), of.filter[2].clone(), channels, of.features.clone()];
        let f = self.reshape(f, shape)?;
        let padding = Padding::Custom(of.pads[1..].to_vec());
        let result = self.conv2d([x, f], &self.with.strides[1..], padding)?;
        self.as_image(result, of)
    }

    /// A product of all windows and the filter, or a filter for each channel.
    fn by_windows(&mut self, [x, f]: [Operand<L::Tensor>; 2], of: &Sizes) -> Lowered<Operand<L::Tensor>> {
        let (axes, groups) = (self.with.axes as i64, Dim::literal(self.with.groups));
        let sizes: Option<Vec<i64>> = of.filter.iter().map(Dim::as_literal).collect();
        if let Some(sizes) = sizes
            && of.channels == groups
            && of.features == groups
            && of.depth.is_one()
        {
            let f = self.reshape(f, of.filter.iter().chain([&groups]).cloned().collect())?;
            let padding = Padding::Custom(of.pads.clone());
            let slide = Convolution { strides: self.with.strides.clone(), padding };
            let pooling = Pooling { sizes, dilations: self.with.dilations.clone(), slide };
            return self.emit(written::convolved_by_channel(pooling), &[x, f]);
        }
        let x = self.padded(x, &of.pads)?;
        let windows = self.windows(x, &of.filter)?;
        let order = [0].into_iter().chain((0..axes).map(|axis| 2 * axis + 1));
        let order = order.chain((1..=axes).map(|axis| 2 * axis)).chain([2 * axes + 1]);
        let windows = self.permute(windows, order.collect())?;
        let pixels = self.sized(Dim::product(&of.result).and_then(|pixels| pixels.mul(&of.batch)))?;
        let taps = self.sized(Dim::product(&of.filter))?;
        let factors = self.sized(taps.mul(&of.depth))?;
        let product = written::multiplied();
        if groups.is_one() {
            let lhs = self.reshape(windows, vec![pixels, factors.clone()])?;
            let rhs = self.reshape(f, vec![factors, of.features.clone()])?;
            let result = self.emit(product, &[lhs, rhs])?;
            return self.as_image(result, of);
        }
        let features = self.sized(of.features.floor_div(self.with.groups))?;
        let lhs = self.reshape(windows, vec![pixels.clone(), taps, groups.clone(), of.depth.clone()])?;
        let lhs = self.permute(lhs, vec![2, 0, 1, 3])?;
        let lhs = self.reshape(lhs, vec![groups.clone(), pixels, factors.clone()])?;
        let rhs = self.reshape(f, vec![factors, groups, features])?;
        let rhs = self.permute(rhs, vec![1, 0, 2])?;
        let result = self.emit(product, &[lhs, rhs])?;
        let result = self.permute(result, vec![1, 0, 2])?;
        self.as_image(result, of)
    }

    /// Zeros around the first axes after the batch.
    fn padded(&mut self, x: Operand<L::Tensor>, pads: &[[i64; 2]]) -> Lowered<Operand<L::Tensor>> {
        if pads.iter().flatten().all(|zeros| *zeros == 0) {
            return Ok(x);
        }
        let side = |side: usize| {
            let mut zeros = vec![0; self.with.axes + 2];
            pads.iter().enumerate().for_each(|(axis, pair)| zeros[axis + 1] = pair[side]);
            zeros
        };
        self.emit(Op::Own(Own::Pad { low: side(0), high: side(1) }), &[x])
    }

    /// The windows along the first axes after the batch, one for each size.
    fn windows(&mut self, x: Operand<L::Tensor>, sizes: &[Dim]) -> Lowered<Operand<L::Tensor>> {
        let windows = Windows {
            axes: (1..).take(sizes.len()).collect(),
            sizes: sizes.to_vec(),
            strides: self.with.strides[..sizes.len()].to_vec(),
            dilations: self.with.dilations[..sizes.len()].to_vec(),
        };
        self.emit(Op::Part(Part::Unfold(windows.into())), &[x])
    }

    fn as_image(&mut self, result: Operand<L::Tensor>, of: &Sizes) -> Lowered<Operand<L::Tensor>> {
        let shape = [&of.batch].into_iter().chain(&of.result).chain([&of.features]).cloned().collect();
        self.reshape(result, shape)
    }

    /// The derivative of a convolution by its image: the image is the cotangent, and the filter has its channels last but
    /// one.
    fn transposed(&mut self, [x, f]: [Operand<L::Tensor>; 2]) -> Lowered<Operand<L::Tensor>> {
        self.check_types([x, f])?;
        let Convolving { axes, strides, padding, .. } = self.with;
        let image = self.lowering.extents_of_list(self.given, x, x.1, axes + 2)?;
        let filter = self.lowering.extents_of_list(self.given, f, f.1, axes + 2)?;
        if let (Some(found), Some(needed)) = (image[axes + 1].as_literal(), filter[*axes].as_literal())
            && found != needed
        {
            let shown = self.shown([x, f]);
            let problem = format!("channels differ, {found} in the image and {needed} in the filter{shown}");
            return Err(self.fault(Code::E4009, f.1, problem).into());
        }
        let mut shape = vec![image[0].clone()];
        for axis in 0..*axes {
            let spread = image[axis + 1].mul(&Dim::literal(strides[axis]));
            let extent = spread.and_then(|spread| match padding {
                Padding::Same => Ok(spread),
                Padding::Valid => spread.add_literal(-strides[axis])?.add(&filter[axis]),
                Padding::Custom(pairs) => spread
                    .add_literal(-strides[axis])?
                    .add(&filter[axis])?
                    .add_literal(-pairs[axis][0])?
                    .add_literal(-pairs[axis][1]),
            });
            let extent = self.sized(extent)?;
            if extent.is_below_one() {
                let problem = format!("the padding leaves extent {extent} along dimension {}", axis + 1);
                return Err(self.fault(Code::E3006, self.with.at[1], problem).into());
            }
            shape.push(extent);
        }
        shape.push(filter[axes + 1].clone());
        let f = self.permute(f, (0..*axes as i64).chain([*axes as i64 + 1, *axes as i64]).collect())?;
        if *axes == 3 {
            return self.transposed_planes([x, f], &image, &filter, &shape);
        }
        let (mut x, mut f) = (x, f);
        let (mut strides, mut padding) = (strides.clone(), padding.clone());
        if *axes == 1 {
            (x, f) = (self.emit(expanded(vec![1]), &[x])?, self.emit(expanded(vec![0]), &[f])?);
            strides.insert(0, 1);
            shape.insert(1, Dim::ONE);
            if let Padding::Custom(pairs) = &mut padding {
                pairs.insert(0, [0, 0]);
            }
        }
        let result = self.convolved_back([x, f], Convolution { strides, padding }, shape)?;
        match axes {
            1 => self.emit(squeezed(vec![1]), &[result]),
            _ => Ok(result),
        }
    }

    fn convolved_back(
        &mut self,
        [x, f]: [Operand<L::Tensor>; 2],
        convolution: Convolution,
        shape: Vec<Dim>,
    ) -> Lowered<Operand<L::Tensor>> {
        let like = self.witness(x, shape)?;
        self.emit(written::convolved_back(convolution), &[x, f, like])
    }

    /// A tensor of a shape and of the element type of `x`, which is never computed.
    fn witness(&mut self, x: Operand<L::Tensor>, shape: Vec<Dim>) -> Lowered<Operand<L::Tensor>> {
        let zero = self.emit(Op::Const(Box::new(Constant::number(0.0))), &[x])?;
        self.emit(spread(shape), &[zero])
    }

    /// A transposed convolution over three axes: each plane has a result for each plane of the filter, as further channels.
    /// Those that overlap are added. The last two axes of the filter are exchanged.
    fn transposed_planes(
        &mut self,
        [x, f]: [Operand<L::Tensor>; 2],
        image: &[Dim],
        filter: &[Dim],
        shape: &[Dim],
    ) -> Lowered<Operand<L::Tensor>> {
        let Convolving { strides, padding, at, .. } = self.with;
        let [batch, depth, height, width, channels] = image else { unreachable!("there are three axes") };
        let [taps, rows, columns, _, features] = filter else { unreachable!("there are three axes") };
        // Expressions without types cannot fold windows of a size that is known only at run time.
        let Some(length) = taps.as_literal() else {
            let problem = "needs a filter whose first extent is known";
            return Err(self.fault(Code::E4010, f.1, problem).help("write it in a function").into());
        };
        let planes = self.sized(batch.mul(depth))?;
        let x = self.reshape(x, vec![planes.clone(), height.clone(), width.clone(), channels.clone()])?;
        let of_taps = self.sized(taps.mul(features))?;
        let f = self.permute(f, vec![1, 2, 0, 3, 4])?;
        let f = self.reshape(f, vec![rows.clone(), columns.clone(), of_taps.clone(), channels.clone()])?;
        let of_plane = match padding {
            Padding::Custom(pairs) => Padding::Custom(pairs[1..].to_vec()),
            other => other.clone(),
        };
        let slide = Convolution { strides: strides[1..].to_vec(), padding: of_plane };
        let y =
            self.convolved_back([x, f], slide, vec![planes, shape[2].clone(), shape[3].clone(), of_taps])?;
        let [batch, depth, taps, features] = [batch, depth, taps, features].map(Dim::clone);
        let split =
            vec![batch.clone(), depth, shape[2].clone(), shape[3].clone(), taps.clone(), features.clone()];
        let y = self.reshape(y, split)?;
        let y = self.permute(y, vec![0, 1, 4, 2, 3, 5])?;
        // The zeros that the padding removes again.
        let [before, after] = match padding {
            Padding::Valid => [0, 0],
            Padding::Custom(pairs) => pairs[0],
            Padding::Same => {
                let zeros = (length - strides[0]).max(0);
                [zeros / 2, zeros - zeros / 2]
            }
        };
        let padded = shape[1].add_literal(before).and_then(|extent| extent.add_literal(after));
        let padded = self.sized(padded)?;
        let windows =
            Windows { axes: vec![1], sizes: vec![taps], strides: vec![strides[0]], dilations: vec![1] };
        let like = vec![batch, padded, shape[2].clone(), shape[3].clone(), features];
        let like = self.witness(y, like)?;
        let y = self.emit(written::folded(windows), &[y, like])?;
        if [before, after] == [0, 0] {
            return Ok(y);
        }
        let (start, end) = (Dim::literal(before), self.sized(shape[1].add_literal(before))?);
        let part = self.lowering.part_of_axis(self.given, y, 1, (Some(&start), Some(&end)), at[1])?;
        Ok((part, y.1))
    }
}
