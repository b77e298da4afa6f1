//! Parts of values that are replaced: `x[i] = value`, `replace(x[i], value)`.

use super::lowering::{BodyLowering, LoweredOperand};
use super::records::ParameterPart;
use super::report::Spot;
use super::subscripts::{Indexed, Taken, slice_of};
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::ir::{Arrange, Const, Op, Rows, ValueId};
use crate::map::Map;
use crate::surface::ast::{BinaryOp, ExprId, NodeKind, Path, Subscript, SubscriptKind};
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Binding, Lowered, Stop, Value};
use crate::ty::{DType, Shape};

/// What is done with the elements of a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    /// They are replaced.
    Replace,
    /// New values are added to the rows that an index tensor picks, one after the other.
    Add,
    /// New values are subtracted from these rows, one after the other.
    Subtract,
}

impl BodyLowering<'_> {
    /// The part of a parameter that a path names, if a part `w[i]` of it may be assigned to.
    pub(crate) fn writable_part(&mut self, target: &Path, part: ExprId) -> Lowered<ParameterPart> {
        self.writable(target).map_err(|stop| {
            let is_local = matches!(self.names.get(&target.name.to_string()), Some(Binding::Local(_)));
            let help = format!("write `let {target} = replace({}, …);`", self.body.text(part));
            stop.map(|diag| if is_local { diag.help(help) } else { diag })
        })
    }

    /// The value of a part `w[i]` where `w` is `whole`, which may be another value than when the part was read.
    pub(crate) fn read_again(&mut self, part: ExprId, whole: &Value) -> Lowered<Value> {
        let body = self.body;
        let NodeKind::Subscript { base, subscripts } = &body[part].kind else {
            unreachable!("the parser assigns to index expressions")
        };
        if self.values[base.index()].leaves() != whole.leaves() {
            self.values[base.index()] = whole.clone();
            self.values[part.index()] = self.subscript(*base, subscripts, part)?;
        }
        Ok(self.values[part.index()].clone())
    }

    /// The effect of an assignment to a part, by `w[i] = value` or by an operator.
    ///
    /// Of equal indices of a tensor, a replacement leaves the last value. With an operator that would drop values, so
    /// `w[i] += value` adds all of them, `w[i] -= value` subtracts all, and other operators are errors.
    pub(crate) fn put(&self, part: ExprId, op: Option<(BinaryOp, Site)>) -> Lowered<Put> {
        let NodeKind::Subscript { subscripts, .. } = &self.body[part].kind else { return Ok(Put::Replace) };
        let picks = subscripts.iter().any(|subscript| self.is_pick(subscript));
        match op {
            Some((BinaryOp::Map(Map::PLUS), _)) if picks => Ok(Put::Add),
            Some((BinaryOp::Map(Map::Sub), _)) if picks => Ok(Put::Subtract),
            Some((op, site)) if picks => {
                let (symbol, text) = (op.symbol(), self.body.text(part));
                let message = format!(
                    "`{symbol}=`: {} has elements picked by a tensor, which may repeat",
                    self.text(part)
                );
                let help =
                    format!("write `{text} = {text} {symbol} …`, where of equal indices the last one counts");
                Err(Diag::new(Code::E2001, site, message).help(help).into())
            }
            _ => Ok(Put::Replace),
        }
    }

    /// The value that `part` is a part of, with the part replaced by `new`, or with `new` added or
    /// subtracted. `new` is the value of
    /// the expression `value`. A tensor or a number is broadcast to the shape of the part.
    pub(crate) fn with_part(
        &mut self,
        part: ExprId,
        (put, new): (Put, Value),
        (value, expr): (ExprId, ExprId),
    ) -> Lowered<Value> {
        let body = self.body;
        let NodeKind::Subscript { base, subscripts } = &body[part].kind else {
            let message = format!("`replace`: {} is not a part of a tensor", self.text(part));
            let help = "write the part as an index expression, as in `replace(x[0], …)`";
            return Err(Diag::new(Code::E2001, body[part].site, message).help(help).into());
        };
        let old = self.values[part.index()].clone();
        if matches!(old, Value::Poison) || matches!(new, Value::Poison) {
            return Err(Stop::Poisoned);
        }
        let what = format!("the new value of {}", self.text(part));
        let new = self.coerce(&new, &self.broadcastable(&old, &new), value, &what)?;
        let whole = match self.values[base.index()].clone() {
            Value::Struct(record) => Value::Struct(record),
            _ => Value::Tensor(self.tensor(*base, None)?),
        };
        let leaves = whole.leaves();
        let (axes, ty) = match &whole {
            Value::Struct(record) => (record.ty.counts().to_vec(), format!("a `{}`", record.ty)),
            _ => (self.builder.ty(leaves[0]).shape.to_vec(), self.builder.ty(leaves[0]).to_string()),
        };
        let of = Indexed { operand: (leaves[0], *base), axes, ty };
        let taken = self.taken_ranges(&of, subscripts)?;
        self.check_replaceable(part, subscripts, &taken)?;
        let rows = self.rows_picked(part, &of, subscripts, &taken)?;
        let spot = Spot::of(expr).label(match put {
            Put::Replace => "replace",
            Put::Add => "+=",
            Put::Subtract => "-=",
        });
        let mut replaced = Vec::new();
        for ((leaf, old), new) in leaves.into_iter().zip(old.leaves()).zip(new.leaves()) {
            let of_part = self.builder.ty(old).shape.clone();
            let (whole, mut new) = ((leaf, *base), (new, value));
            if self.builder.ty(new.0).shape != of_part {
                new.0 = self.emit(&spot, Op::Arrange(Arrange::broadcast(of_part)), &[new])?;
            }
            replaced.push(match rows {
                Some(place) => self.leaf_with_rows(&spot, whole, place, (put, new))?,
                None => self.leaf_with_part(&spot, whole, &taken, new)?,
            });
        }
        Ok(Value::rebuilt(&self.structure_of(&whole), &mut replaced.into_iter()))
    }

    /// The structure that a new value must have. A tensor may have another shape than the part.
    fn broadcastable(&self, old: &Value, new: &Value) -> Structure {
        let shape = match (old, new) {
            (Value::Struct(_), _) => return self.structure_of(old),
            (_, Value::Tensor(new)) => self.builder.ty(*new).shape.clone(),
            (_, Value::Literal(id)) => {
                let extents = self.literals.shape(*id).unwrap_or_default();
                Shape::literal(&extents)
            }
            _ => return self.structure_of(old),
        };
        Structure::Value(self.builder.ty(old.leaves()[0]).with_shape(shape))
    }

    /// Returns an error for a new axis, or a step.
    fn check_replaceable(&self, part: ExprId, subscripts: &[Subscript], taken: &[Taken]) -> Lowered<()> {
        let fault = |code, subscript: &Subscript, problem: &str, help: &str| {
            let message = format!("`replace`: {} {problem}", self.text(part));
            Err(Stop::from(Diag::new(code, subscript.site, message).help(help)))
        };
        let is_new = |subscript: &&Subscript| matches!(subscript.kind, SubscriptKind::New);
        if let Some(new) = subscripts.iter().find(is_new) {
            return fault(
                Code::E2001,
                new,
                "has a new axis, which is not a part of the tensor",
                "remove the `_`",
            );
        }
        let has_step =
            |subscript: &&Subscript| matches!(subscript.kind, SubscriptKind::Range { step: Some(_), .. });
        match subscripts.iter().find(has_step) {
            Some(range) if taken.iter().any(|taken| taken.step != 1 || taken.is_reversed) => fault(
                Code::E4008,
                range,
                "has a step, and only consecutive elements can be replaced",
                "replace the elements in a loop, one in each step",
            ),
            _ => Ok(()),
        }
    }

    /// The tensor that picks rows along the first axis, if one does. Returns an error if a tensor picks others.
    fn rows_picked(
        &self,
        part: ExprId,
        of: &Indexed,
        subscripts: &[Subscript],
        taken: &[Taken],
    ) -> Lowered<Option<ExprId>> {
        let mut picks = subscripts.iter().filter(|subscript| self.is_pick(subscript));
        let Some(pick) = picks.next() else { return Ok(None) };
        let mut others = taken.iter().zip(&of.axes).skip(1);
        let is_whole = |(taken, extent): (&Taken, &Dim)| !taken.is_index() && taken.is_whole(extent);
        if let SubscriptKind::At(place) = pick.kind
            && std::ptr::eq(pick, &subscripts[0])
            && picks.next().is_none()
            && others.all(is_whole)
        {
            return Ok(Some(place));
        }
        let text = self.text(part);
        let message = format!(
            "`replace`: {text} picks elements by a tensor, and it can pick only whole rows, as in `x[i]`"
        );
        let help = "write `num::scatter(x, i, u)`, which replaces those at the indices `i` along an axis";
        Err(Diag::new(Code::E2001, pick.site, message).help(help).into())
    }

    /// Emits a tensor with the rows that an index tensor picks replaced, added to or subtracted from.
    fn leaf_with_rows(
        &mut self,
        spot: &Spot,
        whole: LoweredOperand,
        place: ExprId,
        (put, (mut new, value)): (Put, LoweredOperand),
    ) -> Lowered<ValueId> {
        let mut indices = self.index_tensor(place)?;
        if put != Put::Replace {
            if put == Put::Subtract {
                new = self.emit(spot, Op::Map(Map::NEGATIVE), &[(new, value)])?;
            }
            return self.emit(spot, Op::Rows(Rows::ADDED), &[whole, (indices, place), (new, value)]);
        }
        let shape = self.builder.ty(whole.0).shape.clone();
        let of_indices = self.builder.ty(indices).shape.clone();
        if of_indices.rank() > 1 {
            let count = of_indices.element_count();
            let count = count.map_err(|overflow| self.overflow(overflow, self.body[place].site))?;
            let flat = Shape::new(vec![count.clone()]);
            let rows = [&count].into_iter().chain(&shape[1..]).cloned().collect();
            indices = self.emit(spot, Op::Arrange(Arrange::reshape(flat)), &[(indices, place)])?;
            new = self.emit(spot, Op::Arrange(Arrange::reshape(rows)), &[(new, value)])?;
        }
        self.emit(spot, Op::Rows(Rows::Scatter), &[whole, (indices, place), (new, value)])
    }

    /// Emits a tensor with a part replaced by a value of the shape of the part.
    fn leaf_with_part(
        &mut self,
        spot: &Spot,
        whole: LoweredOperand,
        taken: &[Taken],
        (mut new, value): LoweredOperand,
    ) -> Lowered<ValueId> {
        let shape = self.builder.ty(whole.0).shape.clone();
        let rest = shape[taken.len()..].iter().map(Taken::whole);
        let taken: Vec<Taken> = taken.iter().cloned().chain(rest).collect();
        let (_, dropped) = slice_of(taken.iter().cloned());
        if !dropped.is_empty() {
            new = self.emit(spot, Op::Arrange(Arrange::expand(dropped)), &[(new, value)])?;
        }
        let axes: Vec<usize> =
            (0..taken.len()).filter(|axis| !taken[*axis].is_whole(&shape[*axis])).collect();
        self.replaced_along(spot, whole, &axes, &taken, (new, value))
    }

    /// Emits a tensor with the elements taken from these axes replaced.
    fn replaced_along(
        &mut self,
        spot: &Spot,
        whole: LoweredOperand,
        axes: &[usize],
        taken: &[Taken],
        new: LoweredOperand,
    ) -> Lowered<ValueId> {
        let Some((axis, rest)) = axes.split_first() else { return Ok(new.0) };
        let Taken { start, end, from, .. } = &taken[*axis];
        let from = match from {
            Some(from) => *from,
            None => (self.position(spot, start)?, new.1),
        };
        let new = if rest.is_empty() {
            new
        } else {
            let count = end.sub(start).expect("the part was read, so its extent fits");
            let part = self.counted(spot, whole, *axis, (from, &count))?;
            (self.replaced_along(spot, (part, whole.1), rest, taken, new)?, new.1)
        };
        self.emit(spot, Op::Rows(Rows::update(*axis)), &[whole, from, new])
    }

    /// Emits a position that is known, as a number.
    fn position(&mut self, spot: &Spot, position: &Dim) -> Lowered<ValueId> {
        let number = |known: i64| Op::Const(Const::new(vec![known].into(), Shape::scalar()));
        if let Some(known) = position.as_literal() {
            return self.emit(spot, number(known), &[]);
        }
        // A count is at least 1, and a position may be 0.
        let expr = spot.expr();
        let count =
            position.add_literal(1).map_err(|overflow| self.overflow(overflow, self.body[expr].site))?;
        let count = Const::Count { shape: Shape::new(vec![count]), dtype: DType::I64 };
        let (count, one) = (self.emit(spot, Op::Const(count), &[])?, self.emit(spot, number(1), &[])?);
        self.emit(spot, Op::Map(Map::Sub), &[(count, expr), (one, expr)])
    }
}
