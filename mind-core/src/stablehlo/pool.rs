//! Pools and their derivatives: reductions of windows, and additions at the places that they choose.

use super::{
    Precision,
    elements::evaluate,
    rows,
    tensor::{Tensor, comparison, list, neutral, number},
    writer::{SsaValue, Writer, fold},
};
use crate::{
    ir::{Pool, Pooling},
    reduce::Neutral,
    ty::{DType, Kind},
};

/// Lowers a pool or a derivative of one.
pub(super) fn lower(
    writer: &mut Writer,
    pool: &Pool,
    operands: &[SsaValue],
    to: Tensor,
    precision: Precision,
) -> SsaValue {
    let first = operands[0];
    let slide = |x: &[i64], result: &[i64]| Slide::new(pool.pooling(), x, result);
    match pool {
        Pool::Max(_) => {
            let slide = slide(&writer.tensor(first).shape.clone(), &to.shape);
            let least = least(writer, to.dtype);
            let region = fold("stablehlo.maximum", &Tensor::scalar(to.dtype));
            slide.reduced(writer, first, least, &region, to)
        }
        Pool::Total(_) => {
            let slide = slide(&writer.tensor(first).shape.clone(), &to.shape);
            let zero = writer.constant(&number(0.0, to.dtype), Tensor::scalar(to.dtype));
            let region = fold("stablehlo.add", &Tensor::scalar(to.dtype));
            slide.reduced(writer, first, zero, &region, to)
        }
        Pool::SumGrad { .. } => {
            let slide = slide(&to.shape, &writer.tensor(first).shape.clone());
            slide.spread(writer, first, to)
        }
        Pool::MaxTake(_) => {
            let slide = slide(&writer.tensor(first).shape.clone(), &to.shape);
            let places = slide.chosen(writer, first, &to.shape);
            let count: i64 = writer.tensor(first).shape.iter().product();
            let table = writer.reshaped(operands[1], &[count]);
            let flat = writer.reshaped(places, &[to.shape.iter().product()]);
            let taken = writer.tensor(table).with_shape(writer.tensor(flat).shape.clone());
            let taken = rows::gather(writer, table, flat, taken);
            let taken = writer.reshaped(taken, &to.shape);
            // A window without elements has a place beyond the last one.
            let of = writer.tensor(places).clone();
            let beyond = writer.constant(&count.to_string(), of);
            let zero = writer.constant(&number(0.0, to.dtype), to);
            let names = [("place", places), ("beyond", beyond), ("taken", taken), ("zero", zero)];
            evaluate(writer, "where(lt(place, beyond), taken, zero)", &names)
        }
        Pool::MaxGrad(_) => {
            let result = writer.tensor(operands[1]).shape.clone();
            let places = slide(&to.shape, &result).chosen(writer, first, &result);
            let count: i64 = to.shape.iter().product();
            let flat = [result.iter().product()];
            let (places, dy) = (writer.reshaped(places, &flat), writer.reshaped(operands[1], &flat));
            let sums = rows::scatter_add(writer, places, dy, to.with_shape([count]));
            writer.reshaped(sums, &to.shape)
        }
        Pool::Depthwise(_) => {
            let slide = slide(&writer.tensor(first).shape.clone(), &to.shape);
            slide.convolved(writer, pool, [first, operands[1]], to, precision)
        }
        Pool::DepthwiseGradInput { .. } => {
            let slide = slide(&to.shape, &writer.tensor(first).shape.clone());
            slide.convolved(writer, pool, [first, operands[1]], to, precision)
        }
        Pool::DepthwiseGradFilter(_) => {
            let (x, dy) = (writer.tensor(first).shape.clone(), writer.tensor(operands[1]).shape.clone());
            slide(&x, &dy).convolved(writer, pool, [first, operands[1]], to, precision)
        }
    }
}

fn least(writer: &mut Writer, dtype: DType) -> SsaValue {
    writer.constant(&neutral(Neutral::Least, dtype), Tensor::scalar(dtype))
}

/// The windows along every axis of a tensor. Axes without windows have windows of one element.
struct Slide {
    extents: Vec<i64>,
    positions: Vec<i64>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    before: Vec<i64>,
}

impl Slide {
    fn new(pooling: &Pooling, x: &[i64], result: &[i64]) -> Self {
        let lead = pooling.lead(x.len());
        let each = |other: i64, of: &dyn Fn(usize) -> i64| {
            let at = |axis: usize| axis.checked_sub(lead).filter(|at| *at < pooling.sizes.len());
            (0..x.len()).map(|axis| at(axis).map_or(other, of)).collect()
        };
        let extent = |at: usize| usize::try_from(x[lead + at]).expect("extents are at least 1");
        Self {
            extents: x.to_vec(),
            positions: result.to_vec(),
            sizes: each(1, &|at| pooling.sizes[at]),
            strides: each(1, &|at| pooling.slide.strides[at]),
            dilations: each(1, &|at| pooling.dilations[at]),
            before: each(0, &|at| pooling.before(at, extent(at)) as i64),
        }
    }

    /// The extent of a window along an axis.
    fn span(&self, axis: usize) -> i64 {
        (self.sizes[axis] - 1) * self.dilations[axis] + 1
    }

    /// The padding before and after each axis. A negative number removes elements that no window reads.
    fn padding(&self) -> Vec<[i64; 2]> {
        let needed = |axis: usize| (self.positions[axis] - 1) * self.strides[axis] + self.span(axis);
        let each = (0..self.sizes.len())
            .map(|axis| [self.before[axis], (needed(axis) - self.before[axis] - self.extents[axis]).max(0)]);
        each.collect()
    }

    fn reduced(
        &self,
        writer: &mut Writer,
        x: SsaValue,
        start: SsaValue,
        region: &str,
        to: Tensor,
    ) -> SsaValue {
        let line = self.line(writer, &[x, start], &self.strides, &self.padding(), region, &to.to_string());
        writer.line(to, format_args!("{line}"))
    }

    /// The right side of a reduction of windows.
    fn line(
        &self,
        writer: &Writer,
        operands: &[SsaValue],
        strides: &[i64],
        padding: &[[i64; 2]],
        region: &str,
        to: &str,
    ) -> String {
        let array = |numbers: &[i64]| format!("array<i64: {}>", list(numbers).trim_matches(['[', ']']));
        let (names, types) = (writer.names(operands), writer.types(operands, to));
        format!(
            "\"stablehlo.reduce_window\"({names}) <{{window_dimensions = {}, window_strides = {}, window_dilations = \
             {}, padding = dense<{}> : tensor<{}x2xi64>}}> {region} : {types}",
            array(&self.sizes),
            array(strides),
            array(&self.dilations),
            list(padding.iter().map(list)),
            padding.len(),
        )
    }

    /// A depthwise convolution or a derivative of one: a convolution with as many groups as channels. Axes before the windows
    /// become the batch.
    fn convolved(
        &self,
        writer: &mut Writer,
        pool: &Pool,
        [lhs, rhs]: [SsaValue; 2],
        to: Tensor,
        precision: Precision,
    ) -> SsaValue {
        let count = pool.pooling().sizes.len();
        let axes = pool.pooling().lead(self.extents.len())..self.extents.len() - 1;
        let channels = self.extents[axes.end];
        let image = |extents: &[i64]| {
            let batch = extents[..axes.start].iter().product();
            [&[batch], &extents[axes.start..]].concat()
        };
        let filter = [&self.sizes[axes.clone()], &[1, channels]].concat();
        let ones = vec![1; count];
        let (strides, dilations) = (&self.strides[axes.clone()], &self.dilations[axes.clone()]);
        let places: Vec<usize> = (0..count).collect();
        let (b, i) = (format!("[b, {}, f]", join(&places)), format!("[{}, i, o]", join(&places)));
        let length = |axis: usize| (self.positions[axis] - 1) * self.strides[axis] + 1;
        let (dims, [lhs_shape, rhs_shape, to_shape], stride, pad, dilate, groups) = match pool {
            Pool::DepthwiseGradInput { .. } => {
                let pad = |axis: usize| {
                    let low = self.span(axis) - 1 - self.before[axis];
                    [low, self.extents[axis] - length(axis) + self.before[axis]]
                };
                let shapes = [image(&self.positions), filter, image(&self.extents)];
                (
                    format!("{b}x{i}->{b}"),
                    shapes,
                    &ones[..],
                    axes.map(pad).collect(),
                    [strides, dilations],
                    [1, channels],
                )
            }
            Pool::DepthwiseGradFilter(_) => {
                let pad = |axis: usize| {
                    let high = length(axis) + self.span(axis) - 1 - self.before[axis] - self.extents[axis];
                    [self.before[axis], high]
                };
                let dims = format!("[f, {0}, b]x[i, {0}, o]->[{0}, b, f]", join(&places));
                let shapes = [image(&self.extents), image(&self.positions), filter];
                (dims, shapes, dilations, axes.map(pad).collect(), [&ones[..], strides], [channels, 1])
            }
            _ => {
                let shapes = [image(&self.extents), filter, image(&self.positions)];
                let pad: Vec<[i64; 2]> = self.padding()[axes].to_vec();
                (format!("{b}x{i}->{b}"), shapes, strides, pad, [&ones[..], dilations], [1, channels])
            }
        };
        let (lhs, mut rhs) = (writer.reshaped(lhs, &lhs_shape), writer.reshaped(rhs, &rhs_shape));
        if matches!(pool, Pool::DepthwiseGradInput { .. }) {
            let turned = writer.tensor(rhs).clone();
            rhs = writer.operation(
                "stablehlo.reverse",
                &[rhs],
                format_args!(", dims = {}", list(&places)),
                turned,
            );
        }
        let result = to.with_shape(to_shape);
        let (names, types) = (writer.names(&[lhs, rhs]), writer.types(&[lhs, rhs], &result));
        let precision = precision.of_operand(to.dtype);
        let line = format!(
            "stablehlo.convolution({names}) dim_numbers = {dims}, window = {{stride = {}, pad = {}, lhs_dilate = {}, \
             rhs_dilate = {}}} {{batch_group_count = {} : i64, feature_group_count = {} : i64, precision_config = \
             [#stablehlo<precision {precision}>, #stablehlo<precision {precision}>]}} : {types}",
            list(stride),
            list(pad.iter().map(list)),
            list(dilate[0]),
            list(dilate[1]),
            groups[0],
            groups[1],
        );
        let value = writer.line(result, format_args!("{line}"));
        writer.reshaped(value, &to.shape)
    }

    /// The sum of the cotangents of the windows that contain each element: windows with stride 1 over the cotangents,
    /// which are as far apart as the positions.
    fn spread(&self, writer: &mut Writer, dy: SsaValue, to: Tensor) -> SsaValue {
        let axes = 0..self.sizes.len();
        let low: Vec<i64> = axes.clone().map(|axis| self.span(axis) - 1 - self.before[axis]).collect();
        let length = |axis: usize| (self.positions[axis] - 1) * self.strides[axis] + 1;
        let high: Vec<i64> = axes.map(|axis| self.extents[axis] - length(axis) + self.before[axis]).collect();
        let padded: Vec<i64> = (0..low.len()).map(|axis| low[axis] + length(axis) + high[axis]).collect();
        let zero = writer.constant(&number(0.0, to.dtype), Tensor::scalar(to.dtype));
        let between = format!(
            ", low = {}, high = {}, interior = {}",
            list(&low),
            list(&high),
            list(self.strides.iter().map(|stride| stride - 1))
        );
        let padded = to.with_shape(padded);
        let apart = writer.operation("stablehlo.pad", &[dy, zero], format_args!("{between}"), padded);
        let region = fold("stablehlo.add", &Tensor::scalar(to.dtype));
        let rank = self.sizes.len();
        let line =
            self.line(writer, &[apart, zero], &vec![1; rank], &vec![[0, 0]; rank], &region, &to.to_string());
        writer.line(to, format_args!("{line}"))
    }

    /// The place in the tensor, in row-major order, of the element that each window chooses: the first of the largest
    /// ones, or the first NaN. A window without elements has the largest number.
    fn chosen(&self, writer: &mut Writer, x: SsaValue, result: &[i64]) -> SsaValue {
        let of = writer.tensor(x).clone();
        let count = of.shape.iter().product();
        let places = writer.iota(0, Tensor::new(DType::I64, [count]));
        let places = writer.reshaped(places, &of.shape);
        let start = least(writer, of.dtype);
        let beyond = writer.constant(&i64::MAX.to_string(), Tensor::scalar(DType::I64));
        let (values, result) = (of.with_shape(result), Tensor::new(DType::I64, result));
        let region = choice(&Tensor::scalar(of.dtype));
        let types = format!("({values}, {result})");
        let operands = [x, places, start, beyond];
        let line = self.line(writer, &operands, &self.strides, &self.padding(), &region, &types);
        writer.second_result(result, format_args!("{line}"))
    }
}

fn join(places: &[usize]) -> String {
    list(places).trim_matches(['[', ']']).to_string()
}

/// The region that chooses one of two elements with their places.
fn choice(element: &Tensor) -> String {
    let (place, truth) = (Tensor::scalar(DType::I64), "tensor<i1>");
    let kind = comparison(element.dtype);
    let compare = |name: &str, how: &str, lhs: &str, rhs: &str, of: &Tensor, kind: &str| {
        format!("      %{name} = stablehlo.compare {how}, {lhs}, {rhs}{kind} : ({of}, {of}) -> {truth}\n")
    };
    let logic = |name: &str, how: &str, operands: &str| {
        format!("      %{name} = stablehlo.{how} {operands} : {truth}\n")
    };
    let mut lines = compare("greater", "GT", "%a", "%b", element, kind);
    lines += &compare("equal", "EQ", "%a", "%b", element, kind);
    if element.dtype.kind() == Kind::Float {
        lines += &compare("a_nan", "NE", "%a", "%a", element, kind);
        lines += &compare("b_nan", "NE", "%b", "%b", element, kind);
        lines += &logic("both_nan", "and", "%a_nan, %b_nan");
        lines += &logic("same", "or", "%equal, %both_nan");
        lines += &logic("b_number", "not", "%b_nan");
        lines += &logic("only_a", "and", "%a_nan, %b_number");
        lines += &logic("better", "or", "%greater, %only_a");
    } else {
        lines += &logic("same", "or", "%equal, %equal");
        lines += &logic("better", "or", "%greater, %greater");
    }
    lines += &compare("before", "LT", "%i", "%j", &place, "");
    lines += &logic("tie", "and", "%same, %before");
    lines += &logic("first", "or", "%better, %tie");
    format!(
        "({{\n    ^bb0(%a: {element}, %i: {place}, %b: {element}, %j: {place}):\n{lines}      %value = \
         stablehlo.select %first, %a, %b : {truth}, {element}\n      %place = stablehlo.select %first, %i, %j : {truth}, \
         {place}\n      stablehlo.return %value, %place : {element}, {place}\n    }})"
    )
}
