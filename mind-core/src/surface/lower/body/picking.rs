//! Index expressions with tensors of integers: `x[i]`, `x[.., i]`, `x[i, j]`. They follow NumPy's rules for several
//! index arrays, and gather rows.

use super::lowering::{BodyLowering, LoweredOperand};
use super::report::Spot;
use super::subscripts::{Indexed, is_of_axis};
use crate::dim::Dim;
use crate::ir::{Arrange, Made, Op, Rows, ValueId};
use crate::map::Map;
use crate::surface::ast::{ExprId, Subscript, SubscriptKind};
use crate::surface::lower::values::literals::LiteralClass;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Value};
use crate::ty::DType;
use crate::written::{Permutation, expanded, permuted_by, resolve};

/// The axes of the result of an index expression, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    /// The broadcast axes of the index tensors.
    Picked,
    /// An axis of the operand.
    Kept,
    /// An axis that `_` adds.
    New,
}

impl BodyLowering<'_> {
    /// Whether a subscript is a tensor of integers, or a list of them.
    pub(super) fn is_pick(&self, subscript: &Subscript) -> bool {
        let SubscriptKind::At(place) = subscript.kind else { return false };
        match &self.values[place.index()] {
            Value::Tensor(tensor) => {
                let ty = self.builder.ty(*tensor);
                ty.rank() > 0 && ty.dtype.is_integer()
            }
            Value::Literal(id) => {
                let is_list = self.literals.shape(*id).is_some_and(|shape| !shape.is_empty());
                is_list && self.literals.class(*id) == LiteralClass::Integer
            }
            Value::Poison | Value::Tuple(_) | Value::Struct(_) | Value::Word(_) => false,
        }
    }

    /// The elements that index tensors pick, which are broadcast to one shape. Its axes come first in the result, or
    /// where the indices stand if no range is between them.
    pub(super) fn picked(
        &mut self,
        of: &Indexed,
        subscripts: &[Subscript],
        expr: ExprId,
    ) -> Lowered<ValueId> {
        let spot = Spot::of(expr).label("index");
        let taken = self.taken_ranges(of, subscripts)?;
        let kept = taken.iter().filter(|taken| !taken.is_index()).count();
        let value = self.part(&spot, of.operand, taken)?;
        let (mut picks, mut axes, mut axis) = (Vec::new(), Vec::new(), 0);
        let written = subscripts.iter().filter(|subscript| is_of_axis(subscript)).count();
        let single = |subscript: &Subscript| matches!(subscript.kind, SubscriptKind::At(_));
        let rest = of.axes.len() - written;
        let mut groups = 0;
        let mut was_single = false;
        for subscript in subscripts {
            let is_single = single(subscript);
            if is_single && !was_single {
                groups += 1;
                axes.push(Axis::Picked);
            }
            was_single = is_single;
            match subscript.kind {
                SubscriptKind::At(place) if self.is_pick(subscript) => {
                    picks.push((axis, place));
                    axis += 1;
                }
                SubscriptKind::At(_) => {}
                SubscriptKind::New => axes.push(Axis::New),
                SubscriptKind::Rest => {
                    axes.extend(vec![Axis::Kept; rest]);
                    axis += rest;
                }
                SubscriptKind::Range { .. } | SubscriptKind::Counted { .. } => {
                    axes.push(Axis::Kept);
                    axis += 1;
                }
            }
        }
        axes.extend(vec![Axis::Kept; kept - axis]);
        if groups > 1 {
            axes.retain(|axis| *axis != Axis::Picked);
            axes.insert(0, Axis::Picked);
        }
        let gathered = self.gathered(&spot, (value, of.operand.1), &picks)?;
        self.in_order(&spot, (gathered, expr), &axes)
    }

    /// Rows of a tensor whose picked axes are replaced by one that comes first, at the picked positions.
    fn gathered(&mut self, spot: &Spot, of: LoweredOperand, picks: &[(usize, ExprId)]) -> Lowered<ValueId> {
        let shape = self.builder.ty(of.0).shape.to_vec();
        let is_picked = |axis: &usize| picks.iter().any(|(pick, _)| pick == axis);
        let others: Vec<usize> = (0..shape.len()).filter(|axis| !is_picked(axis)).collect();
        let order: Vec<usize> = picks.iter().map(|(axis, _)| *axis).chain(others.iter().copied()).collect();
        let mut table = self.permuted(spot, of, &order)?;
        if let [(_, place)] = picks {
            let index = self.index_tensor(*place)?;
            return self.emit(spot, Op::Rows(Rows::Gather), &[(table, of.1), (index, *place)]);
        }
        let extents: Vec<Dim> = picks.iter().map(|(axis, _)| shape[*axis].clone()).collect();
        let rows = extents.iter().try_fold(Dim::ONE, |rows, extent| rows.mul(extent));
        let rows = rows.map_err(|overflow| self.overflow(overflow, self.body[spot.expr()].site))?;
        let merged = [rows].into_iter().chain(others.iter().map(|axis| shape[*axis].clone())).collect();
        table = self.emit(spot, Op::Arrange(Arrange::reshape(merged)), &[(table, of.1)])?;
        let mut place_in_table: Option<ValueId> = None;
        let mut first = None;
        for ((_, place), extent) in picks.iter().zip(&extents) {
            // A position in a list of all positions is itself; the gather checks it.
            let written = (self.index_tensor(*place)?, *place);
            let positions =
                self.emit(spot, Op::Made(Made::Iota { shape: vec![extent.clone()], axis: 0 }), &[])?;
            let index = self.emit(spot, Op::Rows(Rows::Gather), &[(positions, *place), written])?;
            let first = *first.get_or_insert(written);
            place_in_table = Some(match place_in_table {
                None => index,
                Some(before) => {
                    let count = self.literals.dim(extent.clone(), spot.expr());
                    let count = self.materialise(count, DType::I64)?;
                    let before =
                        self.emit(spot, Op::Map(Map::TIMES), &[(before, first.1), (count, spot.expr())])?;
                    // Messages show the index as it is written, unless others have been broadcast with it.
                    let is_first = self.builder.ty(before).shape == self.builder.ty(first.0).shape;
                    let shown = if is_first { first } else { (before, first.1) };
                    let operands = [(before, first.1), (index, *place)];
                    self.emit_for(spot, Op::Map(Map::PLUS), &operands, &[shown, written])?
                }
            });
        }
        let index = place_in_table.expect("there are several index tensors");
        self.emit(spot, Op::Rows(Rows::Gather), &[(table, of.1), (index, spot.expr())])
    }

    /// The indices that a subscript holds. A list of numbers is a tensor of i64.
    pub(super) fn index_tensor(&mut self, place: ExprId) -> Lowered<ValueId> {
        let dtype = matches!(self.values[place.index()], Value::Literal(_)).then_some(DType::I64);
        self.tensor(place, dtype)
    }

    /// The gathered rows with their axes in the order of the result.
    fn in_order(&mut self, spot: &Spot, gathered: LoweredOperand, axes: &[Axis]) -> Lowered<ValueId> {
        let rank = self.builder.ty(gathered.0).rank();
        let kept = axes.iter().filter(|axis| **axis == Axis::Kept).count();
        let (picked, mut order, mut new) = (rank - kept, Vec::new(), Vec::new());
        let mut next = picked..rank;
        for axis in axes {
            match axis {
                Axis::Picked => order.extend(0..picked),
                Axis::Kept => order.extend(next.next()),
                Axis::New => new.push(order.len() + new.len()),
            }
        }
        let value = self.permuted(spot, gathered, &order)?;
        if new.is_empty() {
            return Ok(value);
        }
        let new = new.into_iter().map(|axis| i64::try_from(axis).expect("a rank is small")).collect();
        let ops = resolve(&expanded(new), &[self.builder.ty(value)]);
        self.emit_each(spot, ops.expect("they are counted in the result"), vec![(value, gathered.1)])
    }

    fn permuted(&mut self, spot: &Spot, of: LoweredOperand, order: &[usize]) -> Lowered<ValueId> {
        if order.is_sorted() {
            return Ok(of.0);
        }
        let permutation = order.iter().map(|axis| i64::try_from(*axis).expect("a rank is small")).collect();
        let ops = resolve(&permuted_by(Permutation::Written(permutation)), &[self.builder.ty(of.0)]);
        self.emit_each(spot, ops.expect("it is a permutation of the axes"), vec![of])
    }
}
