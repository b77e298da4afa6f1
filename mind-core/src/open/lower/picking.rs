//! Index expressions with tensors of integers: `x[i]`, `x[.., i]`, `x[i, j]`. They follow NumPy's rules for several
//! index arrays, and gather rows. The ranks of the tensors are not known here.

use super::lowering::ExpressionLowering;
use super::tensors::DTypeSource;
use crate::diag::{Code, Diag};
use crate::dim::Dim;
use crate::ir::{Made, Rows};
use crate::map::Map;
use crate::open::{NodeId, Op, Spot};
use crate::surface::ast::{ExprId, Subscript, SubscriptKind};
use crate::surface::lower::builtins::foreign::is_condition;
use crate::surface::lower::values::attributes::Attributes;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::literals::LiteralClass;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Value};
use crate::ty::DType;
use crate::written::{ExtentRef, Permutation, permuted_by, reshaped_to};

/// An index tensor, and the axis along which it picks. An axis behind `..` is negative: it counts from the end.
#[derive(Clone, Copy)]
struct Pick {
    axis: i64,
    place: ExprId,
}

impl ExpressionLowering<'_> {
    /// Whether a subscript is a value of integers that only the program knows, or a list of integers.
    pub(super) fn is_pick(&self, subscript: &Subscript) -> bool {
        let SubscriptKind::At(place) = subscript.kind else { return false };
        match self.value(place) {
            Value::Tensor(_) => !is_condition(&self.body[place].kind),
            Value::Literal(id) => {
                let is_list = self.literals.shape(*id).is_some_and(|shape| !shape.is_empty());
                is_list && self.literals.class(*id) == LiteralClass::Integer
            }
            Value::Poison | Value::Tuple(_) | Value::Struct(_) | Value::Word(_) => false,
        }
    }

    /// The elements that index tensors pick, which are broadcast to one shape. Its axes come first in the result, or
    /// where the indices stand if no range is between them.
    pub(super) fn picked(&mut self, base: ExprId, subscripts: &[Subscript], expr: ExprId) -> Lowered<NodeId> {
        let all = SubscriptKind::Range { start: None, end: None, step: None };
        let is_index = |subscript: &Subscript| matches!(subscript.kind, SubscriptKind::At(_));
        let (mut ranges, mut picks) = (Vec::new(), Vec::new());
        for subscript in subscripts {
            let is_pick = self.is_pick(subscript);
            if let (SubscriptKind::At(place), true) = (&subscript.kind, is_pick) {
                picks.push((ranges.len(), *place));
            }
            let kind = if is_pick { all.clone() } else { subscript.kind.clone() };
            ranges.push(Subscript { kind, site: subscript.site });
        }
        // The part is checked even if its elements are those of the operand.
        let part = self.part(base, &ranges, expr)?;
        let takes_all = ranges.iter().all(|range| self.takes_all(range));
        let table = if takes_all { self.tensor(base, None)? } else { part };
        let begins = |at: &usize| is_index(&subscripts[*at]) && (*at == 0 || !is_index(&subscripts[*at - 1]));
        let groups = (0..subscripts.len()).filter(begins).count();
        let pick = |(at, place)| Pick { axis: axis_of(&ranges, at), place };
        self.gathered(table, base, picks.into_iter().map(pick).collect(), groups, expr)
    }

    /// Whether a subscript takes all of its axis, or stands for all other axes.
    fn takes_all(&self, subscript: &Subscript) -> bool {
        match subscript.kind {
            SubscriptKind::Rest => true,
            SubscriptKind::Range { start: None, end: None, step: None } => true,
            SubscriptKind::Range { start: Some(start), end: None, step: None } => {
                self.bound_attribute(start).is_ok_and(|start| start == Dim::ZERO)
            }
            SubscriptKind::Range { .. }
            | SubscriptKind::Counted { .. }
            | SubscriptKind::At(_)
            | SubscriptKind::New => false,
        }
    }

    /// The rows of a table at the indices that the picks hold, with the picked axes in their place.
    fn gathered(
        &mut self,
        mut table: NodeId,
        base: ExprId,
        picks: Vec<Pick>,
        groups: usize,
        expr: ExprId,
    ) -> Lowered<NodeId> {
        let places: Vec<_> = [base].into_iter().chain(picks.iter().map(|pick| pick.place)).collect();
        let spot = self.spot("index", expr, &places);
        for (to, pick) in (0..).zip(&picks) {
            if pick.axis != to {
                let moved = permuted_by(Permutation::Moved { from: pick.axis, to });
                table = self.emit(moved, &[table], spot.clone());
            }
        }
        let index = match &picks[..] {
            [pick] => self.index_tensor(pick.place)?,
            picks => {
                let index = self.index_of_rows(table, base, picks, expr)?;
                table = self.merged_rows(table, picks.len(), &spot, expr)?;
                index
            }
        };
        let (first, count) = (picks[0].axis, i64::try_from(picks.len()).expect("a rank is small"));
        if first == 0 || groups > 1 {
            return Ok(self.emit(Op::Rows(Rows::PICKED), &[table, index], spot));
        }
        // The rank of the index is not known, so it moves as one axis.
        let flat = self.emit(reshaped_to(vec![Dim::literal(-1)]), &[index], spot.clone());
        let rows = self.emit(Op::Rows(Rows::PICKED), &[table, flat], spot.clone());
        let to = if first < 0 { first + count - 1 } else { first };
        let rows = self.emit(permuted_by(Permutation::Moved { from: 0, to }), &[rows], spot.clone());
        let mut extents = |node, what| self.extent_symbol("index", node, what, expr);
        let shape: Vec<Dim> = match usize::try_from(to) {
            Ok(before) => {
                let axes: Vec<_> = (0..to).map(|axis| extents(rows, ExtentRef::Axis(axis))).collect();
                let picked = extents(index, ExtentRef::Leading(0));
                let rest = extents(rows, ExtentRef::Trailing(before + 1));
                axes.into_iter().chain([picked, rest]).collect()
            }
            Err(_) => {
                let behind = usize::try_from(to.unsigned_abs()).expect("a rank is small");
                let rest = extents(rows, ExtentRef::Leading(behind));
                let picked = extents(index, ExtentRef::Leading(0));
                let axes = (to + 1..0).map(|axis| extents(rows, ExtentRef::Axis(axis)));
                [rest, picked].into_iter().chain(axes.collect::<Vec<_>>()).collect()
            }
        };
        Ok(self.emit(reshaped_to(shape), &[rows], spot))
    }

    /// The rows of a table whose first `count` axes are merged.
    fn merged_rows(&mut self, table: NodeId, count: usize, spot: &Spot, expr: ExprId) -> Lowered<NodeId> {
        let extents: Vec<_> = (0..).take(count).map(|axis| self.extent_of_table(table, axis, expr)).collect();
        let rows = extents.iter().try_fold(Dim::ONE, |rows, extent| rows.mul(extent));
        let rows =
            rows.map_err(|overflow| Diag::new(Code::E1008, self.site(expr), format!("`index`: {overflow}")))?;
        let rest = self.extent_symbol("index", table, ExtentRef::Trailing(count), expr);
        Ok(self.emit(reshaped_to(vec![rows, rest]), &[table], spot.clone()))
    }

    /// The index of each picked row among those of the merged first axes of a table.
    fn index_of_rows(
        &mut self,
        table: NodeId,
        base: ExprId,
        picks: &[Pick],
        expr: ExprId,
    ) -> Lowered<NodeId> {
        let mut row: Option<NodeId> = None;
        for (axis, pick) in (0..).zip(picks) {
            // A position in a list of all positions is itself; the gather checks it.
            let extent = self.extent_of_table(table, axis, expr);
            let spot = self.spot("index", expr, &[base, pick.place]);
            let positions = Op::Made(Made::Iota { shape: vec![extent.clone()], axis: 0 });
            let positions = self.emit(positions, &[], spot.clone());
            let index = self.index_tensor(pick.place)?;
            let index = self.emit(Op::Rows(Rows::PICKED), &[positions, index], spot);
            row = Some(match row {
                None => index,
                Some(before) => {
                    let spot = self.spot("index", expr, &[picks[0].place, pick.place]);
                    let count = self.number(extent, DTypeSource::Fixed(DType::I64), expr);
                    let before = self.emit(Op::Map(Map::TIMES), &[before, count], spot.clone());
                    self.emit(Op::Map(Map::PLUS), &[before, index], spot)
                }
            });
        }
        Ok(row.expect("there are several index tensors"))
    }

    fn extent_of_table(&mut self, table: NodeId, axis: i64, expr: ExprId) -> Dim {
        self.extent_symbol("index", table, ExtentRef::Axis(axis), expr)
    }

    /// The indices that a subscript holds. A list of numbers is a tensor of i64.
    fn index_tensor(&mut self, place: ExprId) -> Lowered<NodeId> {
        let dtype = matches!(self.value(place), Value::Literal(_)).then_some(DType::I64);
        self.tensor(place, dtype)
    }
}

/// The axis of the part that the subscript at a position takes or adds.
fn axis_of(subscripts: &[Subscript], at: usize) -> i64 {
    let kept = |subscripts: &[Subscript]| {
        let kept = subscripts.iter().filter(|subscript| !matches!(subscript.kind, SubscriptKind::At(_)));
        i64::try_from(kept.count()).expect("a list of subscripts is short")
    };
    let is_rest = |subscript: &Subscript| matches!(subscript.kind, SubscriptKind::Rest);
    if subscripts[..at].iter().any(is_rest) { -kept(&subscripts[at..]) } else { kept(&subscripts[..at]) }
}
