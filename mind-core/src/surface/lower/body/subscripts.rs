//! Index expressions: `x[0, 1..3, .., -1]`.

use super::lowering::{BodyLowering, LoweredOperand};
use super::report::Spot;
use crate::diag::{Code, Diag, Site};
use crate::dim::{Dim, Overflow};
use crate::ir::{Op, Reorder, Rows, Slice, ValueId};
use crate::surface::ast::{ExprId, Subscript, SubscriptKind, new_axes};
use crate::surface::lower::builtins::foreign::ForeignNames;
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::values::attributes::Attributes;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Record, Stop, Value};
use crate::ty::Shape;
use crate::written::{expanded, part, resolve, squeeze};

/// The value that is indexed: a tensor, or a stack of structs.
pub(super) struct Indexed {
    /// The tensor, or the first one of the stack.
    pub(super) operand: LoweredOperand,
    /// The extents of the axes that may be indexed.
    pub(super) axes: Vec<Dim>,
    /// The type in messages.
    pub(super) ty: String,
}

/// The elements that an index expression takes from one axis.
#[derive(Clone)]
pub(super) struct Taken {
    pub(super) start: Dim,
    pub(super) end: Dim,
    pub(super) step: i64,
    /// Whether the elements are in reverse order: from the end of the range, in steps back.
    pub(super) is_reversed: bool,
    /// Whether it is an index, which drops the axis.
    index: bool,
    /// The position of the first element, if the program computes it. `start` is then 0.
    pub(super) from: Option<LoweredOperand>,
}

impl Taken {
    /// All elements of an axis.
    pub(super) fn whole(extent: &Dim) -> Self {
        Self { start: Dim::ZERO, end: extent.clone(), step: 1, is_reversed: false, index: false, from: None }
    }

    /// Whether it is an index, which drops the axis.
    pub(super) fn is_index(&self) -> bool {
        self.index
    }

    /// Whether it is all of an axis of this extent.
    pub(super) fn is_whole(&self, extent: &Dim) -> bool {
        let is_all = self.start == Dim::ZERO && self.end == *extent && self.step == 1;
        self.from.is_none() && is_all && !self.is_reversed
    }
}

impl BodyLowering<'_> {
    pub(crate) fn subscript(
        &mut self,
        base: ExprId,
        subscripts: &[Subscript],
        expr: ExprId,
    ) -> Lowered<Value> {
        if let Value::Struct(record) = self.values[base.index()].clone() {
            return self.subscript_of_stack(&record, base, subscripts, expr);
        }
        let operand = (self.tensor(base, None)?, base);
        let ty = self.builder.ty(operand.0);
        let of = Indexed { operand, axes: ty.shape.to_vec(), ty: ty.to_string() };
        if subscripts.iter().any(|subscript| self.is_pick(subscript)) {
            return self.picked(&of, subscripts, expr).map(Value::Tensor);
        }
        let taken = self.taken_ranges(&of, subscripts)?;
        let spot = Spot::of(expr).label("index");
        let taken = self.part(&spot, operand, taken)?;
        let new = new_axes(subscripts);
        if new.is_empty() {
            return Ok(Value::Tensor(taken));
        }
        let ops = resolve(&expanded(new), &[self.builder.ty(taken)]).expect("they are counted in the result");
        self.emit_each(&spot, ops, vec![(taken, expr)]).map(Value::Tensor)
    }

    /// `p.blocks[0]`: structs of a stack.
    fn subscript_of_stack(
        &mut self,
        record: &Record,
        base: ExprId,
        subscripts: &[Subscript],
        expr: ExprId,
    ) -> Lowered<Value> {
        record.sound()?;
        let counts = record.ty.counts().to_vec();
        if counts.is_empty() {
            let text = self.text(base);
            let message = format!("`index`: {text} is a `{}`, which has no leading axis", record.ty);
            let help = format!("declare {text} as `{}[12]`, or select a field by its name", record.ty);
            return Err(Diag::new(Code::E2001, self.body[expr].site, message).help(help).into());
        }
        if let Some(new) = subscripts.iter().find(|subscript| matches!(subscript.kind, SubscriptKind::New)) {
            let message = format!(
                "`index`: `_` adds an axis to a tensor, found {}, a `{}`",
                self.text(base),
                record.ty
            );
            let help = "index a field, as in `layers.w[_]`";
            return Err(Diag::new(Code::E2001, new.site, message).help(help).into());
        }
        if let Some(pick) = subscripts.iter().find(|subscript| self.is_pick(subscript)) {
            let message = format!(
                "`index`: a tensor picks elements of a tensor, found {}, a `{}`",
                self.text(base),
                record.ty
            );
            return Err(Diag::new(Code::E2001, pick.site, message)
                .help("index a field, as in `layers.w[i]`")
                .into());
        }
        let value = Value::Struct(record.clone());
        let leaves = value.leaves();
        let of = Indexed { operand: (leaves[0], base), axes: counts, ty: format!("a `{}`", record.ty) };
        let taken = self.taken_ranges(&of, subscripts)?;
        let spot = Spot::of(expr).label("index");
        let mut parts = Vec::new();
        for leaf in leaves {
            let shape = self.builder.ty(leaf).shape.clone();
            let whole = shape[taken.len()..].iter().map(Taken::whole);
            parts.push(self.part(&spot, (leaf, base), taken.iter().cloned().chain(whole).collect())?);
        }
        let kept = taken.iter().filter(|taken| !taken.index).count();
        let mut ty = record.ty.base();
        for count in self.builder.ty(parts[0]).shape[..kept].iter().rev() {
            let stack = ty.stacked(count.clone()).expect("it was one");
            ty = stack.map_err(|overflow| self.overflow(overflow, self.body[expr].site))?;
        }
        Ok(Value::rebuilt(&Structure::Struct(ty), &mut parts.into_iter()))
    }

    /// Emits the elements taken from each axis of a tensor.
    pub(super) fn part(
        &mut self,
        spot: &Spot,
        mut operand: LoweredOperand,
        mut taken: Vec<Taken>,
    ) -> Lowered<ValueId> {
        if taken.iter().any(|taken| taken.is_reversed) {
            operand.0 = self.reversed(spot, operand, &mut taken)?;
        }
        let shape = self.builder.ty(operand.0).shape.clone();
        let computed = taken.iter().enumerate().filter_map(|(axis, taken)| {
            // The start is 0, so the end is the number of elements.
            Some((axis, taken.end.clone(), taken.from?))
        });
        let computed: Vec<_> = computed.collect();
        if computed.is_empty() {
            let (slice, dropped) = slice_of(taken.into_iter());
            return self.emit_each(spot, part(slice, dropped, &shape), vec![operand]);
        }
        let known = taken.iter().zip(shape.iter()).map(|(taken, extent)| match taken.from {
            Some(_) => Taken::whole(extent),
            None => Taken { index: false, ..taken.clone() },
        });
        let (slice, _) = slice_of(known);
        let mut value = self.emit_each(spot, part(slice, Vec::new(), &shape), vec![operand])?;
        for (axis, count, from) in computed {
            value = self.counted(spot, (value, operand.1), axis, (from, &count))?;
        }
        let (_, dropped) = slice_of(taken.into_iter());
        self.emit_each(spot, squeeze(dropped).into_iter().collect(), vec![(value, operand.1)])
    }

    /// Emits the ranges that are taken in reverse order, reversed. What is left to take of them is every step.
    fn reversed(&mut self, spot: &Spot, operand: LoweredOperand, taken: &mut [Taken]) -> Lowered<ValueId> {
        let shape = self.builder.ty(operand.0).shape.clone();
        let range = |(taken, extent): (&Taken, &Dim)| match taken.is_reversed {
            true => Taken { step: 1, is_reversed: false, ..taken.clone() },
            false => Taken::whole(extent),
        };
        let (slice, _) = slice_of(taken.iter().zip(shape.iter()).map(range));
        let mut value = self.emit_each(spot, part(slice, Vec::new(), &shape), vec![operand])?;
        for (axis, taken) in taken.iter_mut().enumerate().filter(|(_, taken)| taken.is_reversed) {
            let flip = Reorder::reversed(i64::try_from(axis).expect("a rank is at most 8"));
            value = self.emit(spot, Op::Reorder(flip), &[(value, operand.1)])?;
            let end = self.builder.ty(value).shape[axis].clone();
            *taken = Taken { start: Dim::ZERO, end, is_reversed: false, ..taken.clone() };
        }
        Ok(value)
    }

    /// Emits the part between two positions of an axis. Returns an error if they are outside of it, or if it is empty.
    pub(super) fn between(
        &mut self,
        spot: &Spot,
        operand: LoweredOperand,
        axis: usize,
        (start, end): (Option<&Dim>, Option<&Dim>),
        at: ExprId,
    ) -> Lowered<ValueId> {
        let ty = self.builder.ty(operand.0);
        let (shape, extent) = (ty.shape.clone(), ty.shape[axis].clone());
        let bound = |bound: Option<&Dim>, default: &Dim| {
            bound.map_or_else(|| default.clone(), |bound| from_end(bound, &extent))
        };
        let (start, end) = (bound(start, &Dim::ZERO), bound(end, &extent));
        let of = Indexed { operand, axes: shape.to_vec(), ty: ty.to_string() };
        let fault = |code, problem: String| {
            let diag = self.bound_fault((code, problem, None), &of, axis, self.body[at].site);
            Err(diag.map(|diag| Diag { message: diag.message.replacen("`index`", "`split`", 1), ..diag }))
        };
        if let Some(outside) = [&start, &end].into_iter().find(|at| below_zero(at) || above(at, &extent)) {
            let problem = format!("position {outside} is outside dimension {axis} of extent {extent}");
            return fault(Code::E3011, problem);
        }
        if end.at_most(&start) {
            return fault(Code::E3006, format!("{start}..{end} in dimension {axis} is empty"));
        }
        let mut taken: Vec<Taken> = shape.iter().map(Taken::whole).collect();
        (taken[axis].start, taken[axis].end) = (start, end);
        self.part(spot, operand, taken)
    }

    /// Emits `count` elements along an axis, from a position that the program computes.
    pub(super) fn counted(
        &mut self,
        spot: &Spot,
        operand: LoweredOperand,
        axis: usize,
        (from, count): (LoweredOperand, &Dim),
    ) -> Lowered<ValueId> {
        let mut shape = self.builder.ty(operand.0).shape.to_vec();
        shape[axis] = count.clone();
        self.emit(spot, Op::Rows(Rows::part(Shape::new(shape), axis)), &[operand, from])
    }

    /// The elements taken from each axis, all of them where a tensor picks some. Bounds are resolved, and checked as far
    /// as they are known.
    pub(super) fn taken_ranges(&self, of: &Indexed, subscripts: &[Subscript]) -> Lowered<Vec<Taken>> {
        let axes = &of.axes;
        let written = subscripts.iter().filter(|subscript| is_of_axis(subscript)).count();
        let mut of_axes = (0..subscripts.len()).filter(|position| is_of_axis(&subscripts[*position]));
        if let Some(surplus) = of_axes.nth(axes.len()) {
            return Err(self.too_many(of, subscripts, surplus).into());
        }
        let whole = |axis: usize| Taken::whole(&axes[axis]);
        let mut taken: Vec<Taken> = Vec::new();
        for subscript in subscripts {
            let axis = taken.len();
            match subscript.kind {
                SubscriptKind::Rest => {
                    taken.extend((axis..axis + axes.len() - written).map(whole));
                }
                SubscriptKind::New => {}
                SubscriptKind::At(_) if self.is_pick(subscript) => taken.push(whole(axis)),
                SubscriptKind::At(place) => taken.push(self.index(of, axis, place)?),
                SubscriptKind::Counted { start, count } => {
                    taken.push(self.counted_from(of, axis, (start, count), subscript)?);
                }
                SubscriptKind::Range { start, end, step } => {
                    let place = (&subscript.kind, subscript.site);
                    let range = self.range(of, axis, place, (start, end, step))?;
                    taken.push(range);
                }
            }
        }
        taken.extend((taken.len()..axes.len()).map(whole));
        Ok(taken)
    }

    /// The error E4006 at the first subscript that has no axis, which is at position `surplus`.
    fn too_many(&self, of: &Indexed, subscripts: &[Subscript], surplus: usize) -> Diag {
        let (ty, base) = (&of.ty, of.operand.1);
        let written = subscripts.iter().filter(|subscript| is_of_axis(subscript)).count();
        let s = if written == 1 { "index" } else { "indices" };
        let (rank, text) = (of.axes.len(), self.text(base));
        let message = format!("`index`: {written} {s} given, at most {rank} needed: {text} is {ty}");
        let kept: Vec<_> = subscripts[..surplus].iter().map(|kept| self.subscript_text(&kept.kind)).collect();
        let text = self.operand_text(base);
        let shorter = if kept.is_empty() { text } else { format!("{text}[{}]", kept.join(", ")) };
        Diag::new(Code::E4006, subscripts[surplus].site, message).help(format!("write `{shorter}`"))
    }

    fn index(&self, of: &Indexed, axis: usize, place: ExprId) -> Lowered<Taken> {
        let (operand, extent) = (of.operand, &of.axes[axis]);
        let site = self.body[place].site;
        if let Some(from) = self.computed(place) {
            return Ok(Taken { end: Dim::ONE, index: true, from: Some(from), ..Taken::whole(extent) });
        }
        if let Value::Tensor(_) = self.values[place.index()] {
            let message = format!(
                "an index must be an integer or a tensor of integers, found {}",
                self.describe(place)
            );
            return Err(Diag::new(Code::E2001, site, message)
                .help(self.picked_help(operand.1, place))
                .into());
        }
        let written = self.dim_attribute(place).map_err(|stop| self.not_a_list(operand.1, place, stop))?;
        let start = from_end(&written, extent);
        let outside = below_zero(&start) || extent.at_most(&start);
        if outside {
            let problem = format!(
                "index {written}{} is outside dimension {axis} of extent {extent}",
                self.as_written(place, &written)
            );
            let end = if below_zero(&written) {
                "the first is `0`"
            } else {
                "indices count from 0: the last is `-1`"
            };
            return Err(self.bound_fault((Code::E3011, problem, Some(end.to_owned())), of, axis, site));
        }
        let end = start.add_literal(1).map_err(|overflow| self.overflow(overflow, site))?;
        Ok(Taken { start, end, step: 1, is_reversed: false, index: true, from: None })
    }

    fn range(
        &self,
        of: &Indexed,
        axis: usize,
        (kind, site): (&SubscriptKind, Site),
        written: (Option<ExprId>, Option<ExprId>, Option<ExprId>),
    ) -> Lowered<Taken> {
        let (start, end, step) = written;
        let extent = &of.axes[axis];
        let bound = |bound: Option<ExprId>, default: &Dim| match bound {
            None => Ok(default.clone()),
            Some(bound) => {
                let written = self.bound_attribute(bound)?;
                let resolved = from_end(&written, extent);
                if below_zero(&resolved) || above(&resolved, extent) {
                    let as_written = self.as_written(bound, &written);
                    let problem =
                        format!("bound {written}{as_written} is outside dimension {axis} of extent {extent}");
                    let help = match below_zero(&resolved) {
                        true => "the first index is `0`".to_owned(),
                        false if *default == Dim::ZERO => "indices count from 0: the last is `-1`".to_owned(),
                        false => format!("write `{extent}`, the end, or omit it"),
                    };
                    // The help replaces a number, so it is dropped for a bound that is not written as one.
                    let help = Some(help).filter(|_| as_written.is_empty());
                    let site = self.body[bound].site;
                    return Err(self.bound_fault((Code::E3011, problem, help), of, axis, site));
                }
                Ok(resolved)
            }
        };
        let (start, end) = (bound(start, &Dim::ZERO)?, bound(end, extent)?);
        if end.at_most(&start) {
            let bounds = [written.0, written.1].into_iter().flatten();
            let is_plain = bounds.clone().all(|bound| {
                self.dim_attribute(bound).is_ok_and(|dim| self.as_written(bound, &dim).is_empty())
            });
            let as_written = match is_plain {
                true => String::new(),
                false => format!(", written `{}`,", self.subscript_text(kind)),
            };
            let problem = format!("{start}..{end}{as_written} in dimension {axis} is empty");
            let next = start.add_literal(1).unwrap_or_else(|_| start.clone());
            let help = match start == end {
                true if above(&next, extent) => None,
                true => Some(format!("a range excludes its end: write `{start}..{next}`")),
                false => Some(format!("a range goes up: write `{end}..{start}`")),
            };
            let help = help.filter(|_| is_plain);
            return Err(self.bound_fault((Code::E3006, problem, help), of, axis, site));
        }
        let (step, is_reversed) = match step {
            None => (1, false),
            Some(step) => {
                let value = self.integer_attribute(step)?;
                if value == 0 {
                    let problem = format!("step 0 in dimension {axis}, needed at least 1");
                    let help = Some("remove the step, or write `1`".to_owned());
                    return Err(self.bound_fault(
                        (Code::E4008, problem, help),
                        of,
                        axis,
                        self.body[step].site,
                    ));
                }
                (value.saturating_abs(), value < 0)
            }
        };
        Ok(Taken { start, end, step, is_reversed, index: false, from: None })
    }

    /// `start ..+ count`
    fn counted_from(
        &self,
        of: &Indexed,
        axis: usize,
        (start, count): (ExprId, ExprId),
        subscript: &Subscript,
    ) -> Lowered<Taken> {
        let extent = &of.axes[axis];
        let length = self.dim_attribute(count)?;
        let site = subscript.site;
        if length.at_most(&Dim::ZERO) {
            let problem = format!("a part of {length} elements in dimension {axis}, needed at least 1");
            return Err(self.bound_fault((Code::E3006, problem, None), of, axis, self.body[count].site));
        }
        if above(&length, extent) {
            let problem =
                format!("a part of {length} elements does not fit dimension {axis} of extent {extent}");
            return Err(self.bound_fault((Code::E3011, problem, None), of, axis, self.body[count].site));
        }
        if let Some(from) = self.computed(start) {
            return Ok(Taken { end: length, from: Some(from), ..Taken::whole(extent) });
        }
        let written = self.bound_attribute(start)?;
        let first = from_end(&written, extent);
        let end = first.add(&length).map_err(|overflow| self.overflow(overflow, site))?;
        if below_zero(&first) || above(&end, extent) {
            let problem = format!(
                "{first}..{end}, written `{}`, is outside dimension {axis} of extent {extent}",
                self.subscript_text(&subscript.kind)
            );
            return Err(self.bound_fault((Code::E3011, problem, None), of, axis, site));
        }
        Ok(Taken { start: first, end, ..Taken::whole(extent) })
    }

    /// The integer of rank 0 that an expression computes when the program runs.
    fn computed(&self, expr: ExprId) -> Option<LoweredOperand> {
        let Value::Tensor(value) = self.values[expr.index()] else { return None };
        let ty = self.builder.ty(value);
        (ty.rank() == 0 && ty.dtype.is_integer()).then_some((value, expr))
    }

    /// The addition to a message for a bound whose text is not its value.
    fn as_written(&self, bound: ExprId, is: &Dim) -> String {
        let text = self.body.text(bound);
        if text == is.to_string() { String::new() } else { format!(", written `{text}`,") }
    }

    /// A subscript as written.
    fn subscript_text(&self, kind: &SubscriptKind) -> String {
        let text = |part: Option<ExprId>| part.map(|part| self.body.text(part)).unwrap_or_default();
        match *kind {
            SubscriptKind::At(at) => self.body.text(at),
            SubscriptKind::Rest => "..".to_owned(),
            SubscriptKind::New => "_".to_owned(),
            SubscriptKind::Counted { start, count } => {
                format!("{} ..+ {}", self.body.text(start), self.body.text(count))
            }
            SubscriptKind::Range { start, end, step } => {
                let step = if step.is_some() { format!(";{}", text(step)) } else { String::new() };
                format!("{}..{}{step}", text(start), text(end))
            }
        }
    }

    fn bound_fault(
        &self,
        (code, problem, help): (Code, String, Option<String>),
        of: &Indexed,
        axis: usize,
        site: Site,
    ) -> Stop {
        let message = format!("`index`: {problem}: {} is {}", self.text(of.operand.1), of.ty);
        let mut diag = Diag { help, ..Diag::new(code, site, message) };
        self.add_origin(&mut diag, of.operand, axis);
        diag.into()
    }

    pub(super) fn overflow(&self, overflow: Overflow, site: Site) -> Stop {
        Diag::new(Code::E1008, site, format!("`index`: {overflow}")).into()
    }
}

/// The slice that takes these elements, and the axes that indices drop.
pub(super) fn slice_of(taken: impl Iterator<Item = Taken>) -> (Slice, Vec<i64>) {
    let (mut slice, mut dropped) =
        (Slice { starts: Vec::new(), ends: Vec::new(), steps: Vec::new() }, Vec::new());
    for (axis, Taken { start, end, step, index, .. }) in taken.enumerate() {
        if index {
            dropped.push(i64::try_from(axis).expect("a rank is at most 8"));
        }
        slice.starts.push(start);
        slice.ends.push(end);
        slice.steps.push(step);
    }
    (slice, dropped)
}

/// Whether a subscript applies to a single existing axis.
pub(super) fn is_of_axis(subscript: &Subscript) -> bool {
    !matches!(subscript.kind, SubscriptKind::Rest | SubscriptKind::New)
}

/// Resolves a bound. A bound that is known to be negative counts from the end.
fn from_end(written: &Dim, extent: &Dim) -> Dim {
    if below_zero(written) {
        extent.add(written).unwrap_or_else(|_| written.clone())
    } else {
        written.clone()
    }
}

/// Whether a bound is negative for all values of the symbols.
fn below_zero(bound: &Dim) -> bool {
    above(&Dim::ZERO, bound)
}

/// Whether `a > b` for all values of the symbols.
fn above(a: &Dim, b: &Dim) -> bool {
    b.add_literal(1).is_ok_and(|next| next.at_most(a))
}
