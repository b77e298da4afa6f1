//! `tile`, `repeat`, `split`, `pad` and `meshgrid`, as composites of other operations.

use super::calls::CallArguments;
use super::operations::Operations;
use crate::diag::{Code, Diag};
use crate::dim::{Dim, DimResult};
use crate::ir::{Join, Reorder, Slice};
use crate::surface::ast::ExprId;
use crate::surface::lower::values::{Lowered, Stop, Value};
use crate::written::{Op, Own, expanded, reshaped_to, sliced_by, spread};

/// A value with its expression.
type Operand<T> = (T, ExprId);

/// A call of one of these functions.
#[derive(Clone, Debug)]
pub(crate) enum Arranging {
    /// `tile(x, [2, 3])`: the whole tensor a number of times along each axis.
    Tile { counts: Vec<Dim>, at: ExprId },
    /// `repeat(x, 2, axis = 0)`: each element a number of times along an axis.
    Repeat { count: Dim, at: ExprId, axis: i64 },
    /// `split(x, 3, axis = 0)`: parts of equal extents along an axis.
    Parts { count: i64, at: ExprId, axis: i64 },
    /// `split(x, [2, 5], axis = 0)`: parts between these positions of an axis.
    Between { bounds: Vec<Dim>, at: ExprId, axis: i64 },
    /// `pad(x, low, high)`
    Pad(Padding),
}

/// The arguments of `pad` after the tensor.
#[derive(Clone, Debug)]
pub(crate) struct Padding {
    /// The numbers of elements before and after the tensor, along each axis.
    pub(crate) sides: [Vec<i64>; 2],
    /// The numbers of zeros between elements, with the argument.
    pub(crate) interior: Option<(Vec<i64>, ExprId)>,
    pub(crate) fill: Fill,
    /// The arguments `low` and `high`.
    pub(crate) at: [ExprId; 2],
}

/// The elements that `pad` adds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fill {
    Zeros,
    /// A number.
    Value(ExprId),
    Mode(Mode),
}

/// The elements of the tensor that `pad` adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The first or last one.
    Edge,
    /// Those next to the first or last one, in reverse order.
    Reflect,
    /// The first or last one and those next to it, in reverse order.
    Symmetric,
    /// Those from the other end.
    Wrap,
}

impl Mode {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "edge" => Some(Self::Edge),
            "reflect" => Some(Self::Reflect),
            "symmetric" => Some(Self::Symmetric),
            "wrap" => Some(Self::Wrap),
            _ => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Edge => "edge",
            Self::Reflect => "reflect",
            Self::Symmetric => "symmetric",
            Self::Wrap => "wrap",
        }
    }

    /// The most elements that it adds at one end of an axis of this extent.
    const fn most(self, extent: i64) -> i64 {
        match self {
            Self::Edge => i64::MAX,
            Self::Reflect => extent - 1,
            Self::Symmetric | Self::Wrap => extent,
        }
    }
}

/// The help for calls of `meshgrid`.
pub(super) const GRID: &str =
    "write `meshgrid(x, y)`; the axes of the results are those of the vectors, in their order";

/// Lowers `meshgrid(x, y, z)`: each vector as a tensor with an axis for each of them.
pub(super) fn meshgrid<L: Operations + ?Sized>(
    lowering: &mut L,
    given: &CallArguments,
    vectors: &[ExprId],
) -> Lowered<Value<L::Tensor>> {
    let mut operands = Vec::new();
    let mut shape = Vec::new();
    for vector in vectors {
        let operand = lowering.operand(*vector)?;
        shape.extend(lowering.extents_of_list(given, operand, *vector, 1)?);
        operands.push(operand);
    }
    let mut results = Vec::new();
    for (axis, (mut value, vector)) in operands.into_iter().enumerate() {
        let behind = i64::try_from(vectors.len() - 1 - axis).expect("a call has few arguments");
        if behind > 0 {
            let new = (0..behind).map(|axis| axis + 1).collect();
            value = lowering.emit_call(given, expanded(new), &[(value, vector)], &[vector])?;
        }
        if shape.len() > 1 {
            value = lowering.emit_call(given, spread(shape.clone()), &[(value, vector)], &[vector])?;
        }
        results.push(Value::Tensor(value));
    }
    match results.len() {
        1 => Ok(results.remove(0)),
        _ => lowering.tuple(results, given.expr),
    }
}

/// Lowers a call.
pub(super) fn arranged<L: Operations + ?Sized>(
    lowering: &mut L,
    given: &CallArguments,
    x: ExprId,
    arranging: Arranging,
) -> Lowered<Value<L::Tensor>> {
    let operand = lowering.operand(x)?;
    let mut arranger = Arranger { lowering, given, x };
    match arranging {
        Arranging::Tile { counts, at } => arranger.tile(operand, &counts, at),
        Arranging::Repeat { count, at, axis } => arranger.repeat(operand, &count, at, axis),
        Arranging::Parts { count, at, axis } => arranger.parts(operand, count, at, axis),
        Arranging::Between { bounds, at, axis } => arranger.between(operand, &bounds, at, axis),
        Arranging::Pad(padding) => arranger.pad(operand, padding),
    }
}

struct Arranger<'l, L: ?Sized> {
    lowering: &'l mut L,
    given: &'l CallArguments,
    x: ExprId,
}

impl<L: Operations + ?Sized> Arranger<'_, L> {
    fn emit(&mut self, op: Op, operands: &[Operand<L::Tensor>]) -> Lowered<Operand<L::Tensor>> {
        let shown: Vec<ExprId> = operands.iter().map(|(_, expr)| *expr).collect();
        Ok((self.lowering.emit_call(self.given, op, operands, &shown)?, self.x))
    }

    fn reshape(&mut self, x: Operand<L::Tensor>, shape: Vec<Dim>) -> Lowered<Operand<L::Tensor>> {
        self.emit(reshaped_to(shape), &[x])
    }

    fn fault(&self, code: Code, at: ExprId, problem: impl std::fmt::Display) -> Diag {
        Diag::new(code, self.lowering.site(at), format!("`{}`: {problem}", self.given.name))
    }

    fn sized<T>(&self, at: ExprId, result: Result<T, crate::dim::Overflow>) -> Lowered<T> {
        result.map_err(|overflow| self.fault(Code::E1008, at, overflow).into())
    }

    /// Checks that a number of copies or of parts is positive.
    fn check_positive(&self, count: &Dim, at: ExprId) -> Lowered<()> {
        if count.at_most(&Dim::ZERO) {
            return Err(self.fault(Code::E3006, at, format!("count {count}, needed at least 1")).into());
        }
        Ok(())
    }

    fn tile(&mut self, x: Operand<L::Tensor>, counts: &[Dim], at: ExprId) -> Lowered<Value<L::Tensor>> {
        counts.iter().try_for_each(|count| self.check_positive(count, at))?;
        let mut shape = self.lowering.extents_of_list(self.given, x, at, counts.len())?;
        let mut value = x;
        for (axis, count) in counts.iter().enumerate().filter(|(_, count)| !count.is_one()) {
            let before = Dim::product(&shape[..axis]);
            let behind = Dim::product(&shape[axis..]);
            let (before, behind) = (self.sized(at, before)?, self.sized(at, behind)?);
            value = self.reshape(value, vec![before.clone(), Dim::ONE, behind.clone()])?;
            value = self.emit(spread(vec![before, count.clone(), behind]), &[value])?;
            shape[axis] = self.sized(at, shape[axis].mul(count))?;
            value = self.reshape(value, shape.clone())?;
        }
        Ok(Value::Tensor(value.0))
    }

    fn repeat(
        &mut self,
        x: Operand<L::Tensor>,
        count: &Dim,
        at: ExprId,
        axis: i64,
    ) -> Lowered<Value<L::Tensor>> {
        self.check_positive(count, at)?;
        let (before, mut last) = self.lowering.extents_from(self.given, x, axis)?;
        // The new axis follows the repeated one.
        let new = -i64::try_from(last.len()).expect("a rank is small");
        let value = self.emit(expanded(vec![new]), &[x])?;
        let (extent, behind) = (last[0].clone(), last.split_off(1));
        let spreaded = [&before[..], &[extent.clone(), count.clone()], &behind].concat();
        let value = self.emit(spread(spreaded), &[value])?;
        let merged = self.sized(at, extent.mul(count))?;
        let value = self.reshape(value, [&before[..], &[merged], &behind].concat())?;
        Ok(Value::Tensor(value.0))
    }

    fn parts(
        &mut self,
        x: Operand<L::Tensor>,
        count: i64,
        at: ExprId,
        axis: i64,
    ) -> Lowered<Value<L::Tensor>> {
        self.check_positive(&Dim::literal(count), at)?;
        let extent = self.lowering.extent_of(self.given, x, axis)?;
        let length = self.sized(at, extent.floor_div(count))?;
        let whole = self.sized(at, length.mul(&Dim::literal(count)))?;
        self.lowering.divides(self.given, x, axis, (&extent, &whole), (count, at))?;
        let bounds = (1..count).map(|part| length.mul(&Dim::literal(part))).collect::<Result<Vec<_>, _>>();
        let bounds = self.sized(at, bounds)?;
        self.between(x, &bounds, at, axis)
    }

    fn between(
        &mut self,
        x: Operand<L::Tensor>,
        bounds: &[Dim],
        at: ExprId,
        axis: i64,
    ) -> Lowered<Value<L::Tensor>> {
        let starts = std::iter::once(None).chain(bounds.iter().map(Some));
        let ends = bounds.iter().map(Some).chain([None]);
        let mut parts = Vec::new();
        for (start, end) in starts.zip(ends) {
            let part = self.lowering.part_of_axis(self.given, x, axis, (start, end), at)?;
            parts.push(Value::Tensor(part));
        }
        match parts.len() {
            1 => Ok(parts.remove(0)),
            _ => self.lowering.tuple(parts, self.given.expr),
        }
    }

    fn pad(&mut self, x: Operand<L::Tensor>, padding: Padding) -> Lowered<Value<L::Tensor>> {
        let Padding { sides: [low, high], interior, fill, at } = padding;
        let number = match fill {
            Fill::Value(number) => {
                let both = self.lowering.same_dtype_operands(self.given.name, None, &[self.x, number])?;
                Some((both[1].0, number))
            }
            Fill::Zeros | Fill::Mode(_) => None,
        };
        let mut value = x;
        if let Some((interior, at)) = interior {
            if let Fill::Mode(mode) = fill {
                let problem = format!("`{}` adds nothing between elements", mode.name());
                return Err(self.fault(Code::E4010, at, problem).help("remove `interior` or `mode`").into());
            }
            value = self.interior(value, &interior, at, number)?;
        }
        match (fill, number) {
            (Fill::Value(_), Some(number)) => {
                self.check_amounts(x, [&low, &high], at)?;
                self.around(value, [&low, &high], at, |arranger, _, (shape, axis, count)| {
                    let mut shape = shape.to_vec();
                    shape[axis] = Dim::literal(count);
                    arranger.emit(spread(shape), &[number])
                })
            }
            (Fill::Zeros | Fill::Value(_), _) => {
                Ok(Value::Tensor(self.emit(Op::Own(Own::Pad { low, high }), &[value])?.0))
            }
            (Fill::Mode(mode), _) => {
                self.check_amounts(x, [&low, &high], at)?;
                self.check_mode(mode, x, [&low, &high], at)?;
                self.around(value, [&low, &high], at, |arranger, side, (shape, axis, count)| {
                    arranger.copied(side, mode, (shape, axis, count))
                })
            }
        }
    }

    /// Checks that there is an amount of at least 0 for each axis.
    fn check_amounts(&mut self, x: Operand<L::Tensor>, sides: [&[i64]; 2], at: [ExprId; 2]) -> Lowered<()> {
        for (side, at) in sides.iter().zip(at) {
            self.lowering.extents_of_list(self.given, x, at, side.len())?;
            if let Some((axis, amount)) = side.iter().enumerate().find(|(_, amount)| **amount < 0) {
                let problem = format!("amount {amount} in dimension {axis}, needed at least 0");
                return Err(self.fault(Code::E4010, at, problem).into());
            }
        }
        Ok(())
    }

    /// Checks that an axis has the elements that a mode adds.
    fn check_mode(
        &mut self,
        mode: Mode,
        x: Operand<L::Tensor>,
        sides: [&[i64]; 2],
        at: [ExprId; 2],
    ) -> Lowered<()> {
        let extents = self.lowering.extents_of_list(self.given, x, at[0], sides[0].len())?;
        for (side, at) in sides.iter().zip(at) {
            for (axis, (amount, extent)) in side.iter().zip(&extents).enumerate() {
                let Some(extent) = extent.as_literal() else { continue };
                if *amount > mode.most(extent) {
                    let problem = format!(
                        "amount {amount} in dimension {axis} of extent {extent}, `{}` adds at most {}",
                        mode.name(),
                        mode.most(extent)
                    );
                    return Err(self.fault(Code::E4010, at, problem).into());
                }
            }
        }
        Ok(())
    }

    /// Zeros, or a number, between the elements along each axis.
    fn interior(
        &mut self,
        x: Operand<L::Tensor>,
        amounts: &[i64],
        at: ExprId,
        number: Option<Operand<L::Tensor>>,
    ) -> Lowered<Operand<L::Tensor>> {
        let mut shape = self.lowering.extents_of_list(self.given, x, at, amounts.len())?;
        let mut value = x;
        for (axis, amount) in amounts.iter().copied().enumerate().filter(|(_, amount)| *amount != 0) {
            let step = amount.checked_add(1).filter(|step| *step > 0);
            let step = step.ok_or_else(|| {
                Stop::from(self.fault(
                    Code::E4010,
                    at,
                    format!("amount {amount} in dimension {axis}, needed at least 0"),
                ))
            })?;
            let before = self.sized(at, Dim::product(&shape[..=axis]))?;
            let behind = self.sized(at, Dim::product(&shape[axis + 1..]))?;
            value = self.reshape(value, vec![before.clone(), Dim::ONE, behind.clone()])?;
            value = match number {
                None => {
                    let pad = Own::Pad { low: vec![0; 3], high: vec![0, amount, 0] };
                    self.emit(Op::Own(pad), &[value])?
                }
                Some(number) => {
                    let between = self.emit(spread(vec![before, Dim::literal(amount), behind]), &[number])?;
                    self.emit(Op::Join(Join::Concat { axis: 1 }), &[value, between])?
                }
            };
            let spaced = self.sized(at, shape[axis].mul(&Dim::literal(step)))?;
            shape[axis] = spaced.clone();
            value = self.reshape(value, shape.clone())?;
            shape[axis] = self.sized(at, spaced.add_literal(-amount))?;
            value = self.slice(value, &shape, axis, (Dim::ZERO, shape[axis].clone()))?;
        }
        Ok(value)
    }

    /// The elements of an axis between two bounds, of a tensor with this shape elsewhere.
    fn slice(
        &mut self,
        x: Operand<L::Tensor>,
        shape: &[Dim],
        axis: usize,
        (start, end): (Dim, Dim),
    ) -> Lowered<Operand<L::Tensor>> {
        let (mut starts, mut ends) = (vec![Dim::ZERO; shape.len()], shape.to_vec());
        (starts[axis], ends[axis]) = (start, end);
        let steps = vec![1; shape.len()];
        self.emit(sliced_by(Slice { starts, ends, steps }), &[x])
    }

    /// A tensor between the parts that `side` makes, for each axis in turn.
    fn around(
        &mut self,
        x: Operand<L::Tensor>,
        [low, high]: [&[i64]; 2],
        at: [ExprId; 2],
        side: impl Fn(&mut Self, Side<L::Tensor>, Along<'_>) -> Lowered<Operand<L::Tensor>>,
    ) -> Lowered<Value<L::Tensor>> {
        let mut shape = self.lowering.extents_of_list(self.given, x, at[0], low.len())?;
        let mut value = x;
        for axis in 0..shape.len() {
            let mut parts = Vec::new();
            if low[axis] > 0 {
                parts.push(side(self, Side::Low(value), (&shape, axis, low[axis]))?);
            }
            parts.push(value);
            if high[axis] > 0 {
                parts.push(side(self, Side::High(value), (&shape, axis, high[axis]))?);
            }
            let added = low[axis].checked_add(high[axis]).ok_or(crate::dim::Overflow::Range);
            let extent: DimResult = added.and_then(|added| shape[axis].add_literal(added));
            shape[axis] = self.sized(at[0], extent)?;
            if parts.len() > 1 {
                let axis = i64::try_from(axis).expect("a rank is small");
                value = self.emit(Op::Join(Join::Concat { axis }), &parts)?;
            }
        }
        Ok(Value::Tensor(value.0))
    }

    /// The elements of a tensor that a mode adds on one side.
    fn copied(
        &mut self,
        side: Side<L::Tensor>,
        mode: Mode,
        (shape, axis, count): Along<'_>,
    ) -> Lowered<Operand<L::Tensor>> {
        let extent = shape[axis].clone();
        let from_start = |first: i64, count: i64| Ok((Dim::literal(first), Dim::literal(first + count)));
        let from_end = |left_out: i64, count: i64| -> Result<(Dim, Dim), crate::dim::Overflow> {
            Ok((extent.add_literal(-left_out - count)?, extent.add_literal(-left_out)?))
        };
        let (x, bounds) = match (side, mode) {
            (Side::Low(x), Mode::Edge) => (x, from_start(0, 1)),
            (Side::High(x), Mode::Edge) => (x, from_end(0, 1)),
            (Side::Low(x), Mode::Reflect) => (x, from_start(1, count)),
            (Side::High(x), Mode::Reflect) => (x, from_end(1, count)),
            (Side::Low(x), Mode::Symmetric) | (Side::High(x), Mode::Wrap) => (x, from_start(0, count)),
            (Side::High(x), Mode::Symmetric) | (Side::Low(x), Mode::Wrap) => (x, from_end(0, count)),
        };
        let bounds = self.sized(self.x, bounds)?;
        let part = self.slice(x, shape, axis, bounds)?;
        match mode {
            Mode::Wrap => Ok(part),
            Mode::Reflect | Mode::Symmetric => {
                let axis = i64::try_from(axis).expect("a rank is small");
                self.emit(Op::Reorder(Reorder::reversed(axis)), &[part])
            }
            Mode::Edge => {
                let mut shape = shape.to_vec();
                shape[axis] = Dim::literal(count);
                self.emit(spread(shape), &[part])
            }
        }
    }
}

/// The side of a tensor on which elements are added.
enum Side<T> {
    Low(Operand<T>),
    High(Operand<T>),
}

/// The shape of a tensor, an axis, and the number of elements that are added along it.
type Along<'s> = (&'s [Dim], usize, i64);
