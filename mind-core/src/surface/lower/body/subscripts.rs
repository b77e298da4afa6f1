//! Index expressions: `x[0, 1..3, .., -1]`.

use super::lowering::{BodyLowering, Operand};
use super::report::Spot;
use crate::diag::{Code, Diag, Site};
use crate::dim::{Dim, Overflow};
use crate::ir::Slice;
use crate::surface::ast::{ExprId, Subscript, SubscriptKind, new_axes};
use crate::surface::lower::builtins::foreign::Foreign;
use crate::surface::lower::values::attributes::Attributes;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Stop, Value};
use crate::written::{expanded, part, resolve};

/// The elements that an index expression takes from one axis.
struct Taken {
    start: Dim,
    end: Dim,
    step: i64,
    /// Whether it is an index, which drops the axis.
    index: bool,
}

impl BodyLowering<'_> {
    pub(crate) fn subscript(
        &mut self,
        base: ExprId,
        subscripts: &[Subscript],
        expr: ExprId,
    ) -> Lowered<Value> {
        let operand = (self.tensor(base, None)?, base);
        let taken = self.taken(operand, subscripts)?;
        let dropped = taken.iter().enumerate().filter(|(_, taken)| taken.index);
        let dropped = dropped.map(|(axis, _)| i64::try_from(axis).expect("a rank is at most 8")).collect();
        let steps = taken.iter().map(|taken| taken.step).collect();
        let (starts, ends) = taken.into_iter().map(|taken| (taken.start, taken.end)).unzip();
        let ops = part(Slice { starts, ends, steps }, dropped, &self.builder.ty(operand.0).shape);
        let spot = Spot::of(expr).label("index");
        let taken = self.emit_each(&spot, ops, vec![operand])?;
        let new = new_axes(subscripts);
        if new.is_empty() {
            return Ok(Value::Tensor(taken));
        }
        let ops = resolve(&expanded(new), &[self.builder.ty(taken)]).expect("they are counted in the result");
        self.emit_each(&spot, ops, vec![(taken, expr)]).map(Value::Tensor)
    }

    /// The elements taken from each axis. Bounds are resolved, and checked as far as they are known.
    fn taken(&self, operand: Operand, subscripts: &[Subscript]) -> Lowered<Vec<Taken>> {
        let ty = self.builder.ty(operand.0);
        let written = subscripts.iter().filter(|subscript| is_of_axis(subscript)).count();
        let mut of_axes = (0..subscripts.len()).filter(|position| is_of_axis(&subscripts[*position]));
        if let Some(surplus) = of_axes.nth(ty.rank()) {
            return Err(self.too_many(operand, subscripts, surplus).into());
        }
        let whole =
            |axis: usize| Taken { start: Dim::ZERO, end: ty.shape[axis].clone(), step: 1, index: false };
        let mut taken: Vec<Taken> = Vec::new();
        for subscript in subscripts {
            let axis = taken.len();
            match subscript.kind {
                SubscriptKind::Rest => {
                    taken.extend((axis..axis + ty.rank() - written).map(whole));
                }
                SubscriptKind::New => {}
                SubscriptKind::At(place) => taken.push(self.index(operand, axis, place)?),
                SubscriptKind::Range { start, end, step } => {
                    let place = (&subscript.kind, subscript.site);
                    let range = self.range(operand, axis, place, (start, end, step))?;
                    taken.push(range);
                }
            }
        }
        taken.extend((taken.len()..ty.rank()).map(whole));
        Ok(taken)
    }

    /// The error E4006 at the first subscript that has no axis, which is at position `surplus`.
    fn too_many(&self, operand: Operand, subscripts: &[Subscript], surplus: usize) -> Diag {
        let (ty, base) = (self.builder.ty(operand.0), operand.1);
        let written = subscripts.iter().filter(|subscript| is_of_axis(subscript)).count();
        let s = if written == 1 { "index" } else { "indices" };
        let (rank, text) = (ty.rank(), self.text(base));
        let message = format!("`index`: {written} {s} given, at most {rank} needed: {text} is {ty}");
        let kept: Vec<_> = subscripts[..surplus].iter().map(|kept| self.subscript_text(&kept.kind)).collect();
        let text = self.operand_text(base);
        let shorter = if kept.is_empty() { text } else { format!("{text}[{}]", kept.join(", ")) };
        Diag::new(Code::E4006, subscripts[surplus].site, message).help(format!("write `{shorter}`"))
    }

    fn index(&self, operand: Operand, axis: usize, place: ExprId) -> Lowered<Taken> {
        let extent = &self.builder.ty(operand.0).shape[axis];
        let site = self.body[place].site;
        if let Value::Tensor(_) = self.values[place.index()] {
            let message =
                format!("an index must be an integer known at compile time, found {}", self.describe(place));
            return Err(Diag::new(Code::E2001, site, message).help(self.picked(operand.1, place)).into());
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
            return Err(self.bound_fault((Code::E3011, problem, Some(end.to_owned())), operand, axis, site));
        }
        let end = start.add_literal(1).map_err(|overflow| self.overflow(overflow, site))?;
        Ok(Taken { start, end, step: 1, index: true })
    }

    fn range(
        &self,
        operand: Operand,
        axis: usize,
        (kind, site): (&SubscriptKind, Site),
        written: (Option<ExprId>, Option<ExprId>, Option<ExprId>),
    ) -> Lowered<Taken> {
        let (start, end, step) = written;
        let extent = &self.builder.ty(operand.0).shape[axis];
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
                    return Err(self.bound_fault((Code::E3011, problem, help), operand, axis, site));
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
            return Err(self.bound_fault((Code::E3006, problem, help), operand, axis, site));
        }
        let step = match step {
            None => 1,
            Some(step) => {
                let value = self.integer_attribute(step)?;
                if value < 1 {
                    let problem = format!("step {value} in dimension {axis}, needed at least 1");
                    let site = self.body[step].site;
                    let text = self.operand_text(operand.1);
                    let help = match value {
                        0 => "remove the step, or write `1`".to_owned(),
                        _ => format!("list the indices in the wanted order, as in `gather({text}, […])`"),
                    };
                    return Err(self.bound_fault((Code::E4008, problem, Some(help)), operand, axis, site));
                }
                value
            }
        };
        Ok(Taken { start, end, step, index: false })
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
            SubscriptKind::Range { start, end, step } => {
                let step = if step.is_some() { format!(";{}", text(step)) } else { String::new() };
                format!("{}..{}{step}", text(start), text(end))
            }
        }
    }

    fn bound_fault(
        &self,
        (code, problem, help): (Code, String, Option<String>),
        operand: Operand,
        axis: usize,
        site: Site,
    ) -> Stop {
        let (value, base) = operand;
        let message = format!("`index`: {problem}: {} is {}", self.text(base), self.builder.ty(value));
        let mut diag = Diag { help, ..Diag::new(code, site, message) };
        self.add_origin(&mut diag, operand, axis);
        diag.into()
    }

    fn overflow(&self, overflow: Overflow, site: Site) -> Stop {
        Diag::new(Code::E1008, site, format!("`index`: {overflow}")).into()
    }
}

/// Whether a subscript applies to a single existing axis.
fn is_of_axis(subscript: &Subscript) -> bool {
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
