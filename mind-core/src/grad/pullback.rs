//! What a derivative rule sees: one primal instruction, the cotangent of its result, and where contributions go.

use crate::{
    build::Builder,
    dim::Dim,
    grad::{AutodiffError, accumulate, activity::Activity, core_v1, push},
    ir::{Inst, Op, Reduction, Slice, ValueId},
    map::{Calculus, Map, formula},
    ops::Profile,
    reduce::Reduce,
    ty::{Shape, Type},
};

/// One primal instruction on the way back. All values are of the gradient module.
pub struct Pullback<'a> {
    pub(super) profile: Profile,
    pub(super) activity: &'a Activity<'a>,
    /// Where the instruction stands in the primal.
    pub(super) value: ValueId,
    pub(super) inst: &'a Inst,
    pub(super) cotangent: ValueId,
    pub(super) builder: &'a mut Builder,
    /// The copy of each primal value.
    pub(super) copies: &'a [ValueId],
    /// The sum of the contributions to each primal value so far.
    pub(super) cotangents: &'a mut [Option<ValueId>],
}

type Emitted = Result<ValueId, AutodiffError>;

impl<'a> Pullback<'a> {
    /// The operation.
    pub fn op(&self) -> &'a Op {
        &self.inst.op
    }

    /// An operand.
    pub fn operand(&self, position: usize) -> ValueId {
        self.copies[self.inst.operands[position].index()]
    }

    /// The number of operands.
    pub fn operand_count(&self) -> usize {
        self.inst.operands.len()
    }

    /// The result of the primal instruction.
    pub fn result(&self) -> ValueId {
        self.copies[self.value.index()]
    }

    /// The cotangent of the result; it has the result's type.
    pub fn cotangent(&self) -> ValueId {
        self.cotangent
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> Type {
        self.builder.ty(value).clone()
    }

    /// Whether a contribution to this operand is of use: it leads to a parameter.
    pub fn wants(&self, position: usize) -> bool {
        self.activity.is_active(self.inst.operands[position])
    }

    /// Adds `value` to the cotangent of an operand, summed back to its type where it was broadcast.
    ///
    /// Contributions to one value are summed in the order they are made, which is the reverse of the primal's order and,
    /// within one instruction, the order of its rule. One that is not wanted is left out.
    ///
    /// # Errors
    /// E5002 if the contribution does not fit the operand, which is a fault of the rule.
    pub fn contribute(&mut self, position: usize, value: ValueId) -> Result<(), AutodiffError> {
        if !self.wants(position) {
            return Ok(());
        }
        let ty = self.ty(self.operand(position));
        let found = self.ty(value);
        let broadcast = found != ty && reduced_axes(&found.shape, &ty.shape).is_some();
        let summed = if broadcast { self.sum_to(value, &ty.shape)? } else { value };
        if *self.builder.ty(summed) != ty {
            let name = self.inst.op.info().name;
            return Err(AutodiffError::Verification(format!(
                "the rule of `{name}` contributes {found} to operand {position} of {}, which is {ty}",
                self.value
            )));
        }
        let operand = self.inst.operands[position].index();
        accumulate(self.builder, &mut self.cotangents[operand], summed)
    }

    /// Emits an operation that both profiles have.
    ///
    /// # Errors
    /// E5002 if the operation breaks a rule of the IR, a fault of the derivative; E5004 if its result leaves the limits
    /// on shapes.
    pub fn push(&mut self, op: Op, operands: &[ValueId]) -> Emitted {
        push(self.builder, op, operands)
    }

    /// A single number of the element type of `like`.
    pub fn constant_like(&mut self, like: ValueId, value: f64) -> ValueId {
        let dtype = self.builder.ty(like).dtype;
        self.builder.constant(dtype, value)
    }

    /// `value` broadcast to a shape it broadcasts to.
    ///
    /// Core v1 multiplies by ones. Where an extent is a symbol they are computed from a value of that shape, so the shape
    /// must be that of an operand, the result or the cotangent.
    ///
    /// # Errors
    /// E5004 in Core v1 if no value has a shape with symbols in it.
    pub fn broadcast_to(&mut self, value: ValueId, shape: &Shape) -> Emitted {
        if self.builder.ty(value).shape == *shape {
            return Ok(value);
        }
        match self.profile {
            Profile::Extended => self.push(Op::BroadcastTo { shape: shape.clone() }, &[value]),
            Profile::CoreV1 => {
                let ty = self.builder.ty(value).with_shape(shape.clone());
                let ones = match shape.as_literals() {
                    Some(_) => core_v1::filled(self.builder, &ty, 1.0)?,
                    None => {
                        let witness = self.value_of_type(&ty).ok_or_else(|| {
                            self.unsupported_shape(format!(
                                "no value at hand has the shape {shape} to broadcast to"
                            ))
                        })?;
                        core_v1::ones_like(self.builder, witness)?
                    }
                };
                formula(self, "value * ones", &[("value", value), ("ones", ones)])
            }
        }
    }

    /// `value` summed over the axes that broadcasting `shape` to its shape adds or stretches.
    ///
    /// # Errors
    /// E5004 if `shape` does not broadcast to the shape of `value`.
    pub fn sum_to(&mut self, value: ValueId, shape: &Shape) -> Emitted {
        let from = self.ty(value).shape;
        let axes = reduced_axes(&from, shape)
            .ok_or_else(|| self.unsupported_shape(format!("{shape} does not broadcast to {from}")))?;
        if axes.is_empty() {
            return Ok(value);
        }
        let added = from.rank() - shape.rank();
        let stretched = axes.len() > added;
        match self.profile {
            Profile::CoreV1 if shape.as_literals().is_some() => {
                let sum =
                    self.push(Op::Reduce(Reduce::Sum, Reduction { axes, keepdims: false }), &[value])?;
                core_v1::reshaped(self.builder, sum, shape.clone())
            }
            Profile::CoreV1 | Profile::Extended => {
                let sum =
                    self.push(Op::Reduce(Reduce::Sum, Reduction { axes, keepdims: stretched }), &[value])?;
                if stretched && added > 0 {
                    self.push(Op::Squeeze { axes: (0..added as i64).collect() }, &[sum])
                } else {
                    Ok(sum)
                }
            }
        }
    }

    /// `value / count`, where `count` is the number of elements that a reduction of `of` over `axes` takes together.
    ///
    /// # Errors
    /// E5003 if an axis is out of range.
    pub fn divide_by_count(&mut self, value: ValueId, count: &Dim, of: ValueId, axes: &[i64]) -> Emitted {
        let ty = self.ty(of);
        if let Some(axis) = axes.iter().find(|axis| !(0..ty.rank() as i64).contains(*axis)) {
            let (op, shape) = (self.inst.op.info().name, ty.shape.to_string());
            return Err(AutodiffError::InvalidAxis { op, axis: *axis, shape });
        }
        let every: Vec<i64> = (0..ty.rank() as i64).collect();
        let axes = if axes.is_empty() { &every[..] } else { axes };
        match (self.profile, count.as_literal()) {
            (_, Some(1)) => Ok(value),
            (Profile::Extended, Some(count)) => {
                let count = self.constant_like(value, count as f64);
                formula(self, "value / count", &[("value", value), ("count", count)])
            }
            (Profile::Extended, None) => {
                let count = self.count_by_broadcast(value, &ty.shape, axes)?;
                formula(self, "value / count", &[("value", value), ("count", count)])
            }
            (Profile::CoreV1, Some(count)) => {
                let inverse = self.constant_like(value, 1.0 / count as f64);
                formula(self, "value * inverse", &[("value", value), ("inverse", inverse)])
            }
            (Profile::CoreV1, None) => {
                let inverse = core_v1::inverse_count(self.builder, of, axes)?;
                formula(self, "value * inverse", &[("value", value), ("inverse", inverse)])
            }
        }
    }

    /// Zeros of `shape` with `dy` where the slice takes from.
    ///
    /// # Errors
    /// E5004 in Core v1 if an extent or a bound is not known.
    pub fn slice_grad(&mut self, dy: ValueId, shape: &Shape, slice: &Slice) -> Emitted {
        match self.profile {
            Profile::Extended => {
                self.push(Op::SliceGrad { shape: shape.clone(), slice: Box::new(slice.clone()) }, &[dy])
            }
            Profile::CoreV1 => {
                let extents = self.known(shape, shape)?;
                let starts = self.known(&slice.starts, shape)?;
                let ends = self.known(&slice.ends, shape)?;
                core_v1::place(self.builder, dy, &extents, (&starts, &ends, &slice.steps))
            }
        }
    }

    /// Zeros of `shape` with the rows of `updates` added at `indices`.
    ///
    /// # Errors
    /// E5004 in Core v1 if an extent is not known, or the element type cannot hold every index exactly.
    pub fn scatter_add(&mut self, indices: ValueId, updates: ValueId, shape: &Shape) -> Emitted {
        match self.profile {
            Profile::Extended => self.push(Op::ScatterAdd { shape: shape.clone() }, &[indices, updates]),
            Profile::CoreV1 => {
                let rows = self.ty(updates);
                let extents = self.known(shape, shape)?;
                self.known(&self.ty(indices).shape, &rows.shape)?;
                if extents.first().is_some_and(|rows_of| *rows_of > core_v1::largest_index(rows.dtype)) {
                    let problem = format!("{} does not hold every index of {shape} exactly", rows.dtype);
                    return Err(self.unsupported_shape(problem));
                }
                core_v1::scatter_add(self.builder, indices, updates, &extents)
            }
        }
    }

    /// E5001 where the profile is Core v1; an extension may be pushed after it.
    ///
    /// # Errors
    /// As said.
    pub fn needs_extended(&self) -> Result<(), AutodiffError> {
        match self.profile {
            Profile::CoreV1 => Err(self.activity.unsupported(self.value)),
            Profile::Extended => Ok(()),
        }
    }

    /// The product of the extents of `axes` as a single number of the element type of `like`.
    ///
    /// It is a product of one sum an axis, so no sum runs past what `f32` counts exactly before an extent does.
    fn count_by_broadcast(&mut self, like: ValueId, shape: &Shape, axes: &[i64]) -> Emitted {
        let extents = axes.iter().map(|axis| &shape[*axis as usize]);
        let known: f64 = extents.clone().filter_map(Dim::as_literal).map(|extent| extent as f64).product();
        let mut count = self.constant_like(like, known);
        for extent in extents.filter(|extent| extent.as_literal().is_none()) {
            let one = self.constant_like(like, 1.0);
            let ones =
                self.push(Op::BroadcastTo { shape: [extent.clone()].into_iter().collect() }, &[one])?;
            let sum =
                self.push(Op::Reduce(Reduce::Sum, Reduction { axes: vec![0], keepdims: false }), &[ones])?;
            count = if known == 1.0 && self.builder.inst(count).operands.is_empty() {
                sum
            } else {
                formula(self, "count * sum", &[("count", count), ("sum", sum)])?
            };
        }
        Ok(count)
    }

    /// A value of a type among those at hand.
    fn value_of_type(&self, ty: &Type) -> Option<ValueId> {
        let operands = self.inst.operands.iter().map(|operand| self.copies[operand.index()]);
        operands.chain([self.result(), self.cotangent]).find(|value| self.builder.ty(*value) == ty)
    }

    /// The numbers that `dims` are, which Core v1 needs to differentiate what has `shape`.
    fn known(&self, dims: &[Dim], shape: &Shape) -> Result<Vec<i64>, AutodiffError> {
        dims.iter().map(Dim::as_literal).collect::<Option<_>>().ok_or_else(|| {
            self.unsupported_shape(format!(
                "its derivative in Core v1 needs known extents and bounds, found {shape}"
            ))
        })
    }

    /// E5004 for the operation, with what is wrong.
    pub fn unsupported_shape(&self, problem: String) -> AutodiffError {
        let (name, path) = (self.inst.op.info().name, self.activity.path(self.value));
        AutodiffError::UnsupportedShape(format!("`{name}`: {problem}; it stands on the path {path}"))
    }
}

/// What derivatives of functions of elements are played on.
///
/// Core v1 has neither masks nor quotients. There a mask is made of what it has, and `a / x` is `a * exp(-log(x))` where the
/// primal has the logarithm; another quotient is E5001.
impl Calculus for Pullback<'_> {
    type Value = ValueId;
    type Error = AutodiffError;

    fn apply(&mut self, map: Map, operands: &[ValueId]) -> Emitted {
        let row = map.row();
        if row.profile <= self.profile {
            return self.push(Op::Map(map), operands);
        }
        match (map, self.op()) {
            (Map::ReluGrad, _) => {
                let mask = core_v1::positive_mask(self.builder, operands[1])?;
                formula(self, "v * mask", &[("v", operands[0]), ("mask", mask)])
            }
            (Map::Div, Op::Map(Map::Log)) => {
                formula(self, "v * exp(-y)", &[("v", operands[0]), ("y", self.result())])
            }
            // Whatever else is an extension is refused, not skipped.
            _ => Err(self.activity.unsupported(self.value)),
        }
    }

    fn number(&mut self, number: f64, like: ValueId) -> Emitted {
        Ok(self.constant_like(like, number))
    }
}

/// The axes of `from` that broadcasting `to` to it adds or stretches, ascending; nothing if it does not broadcast.
fn reduced_axes(from: &Shape, to: &Shape) -> Option<Vec<i64>> {
    let added = from.rank().checked_sub(to.rank())?;
    let mut axes: Vec<i64> = (0..added as i64).collect();
    for (axis, (from, to)) in from[added..].iter().zip(to.iter()).enumerate() {
        if from == to {
            continue;
        }
        if !to.is_one() {
            return None;
        }
        axes.push((added + axis) as i64);
    }
    Some(axes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        canon::canonicalise,
        ty::{DType, Type},
        verify::verify,
    };

    /// Asks the pullback of an `Exp` of this shape, with an input of the `other` shape as another value at hand.
    fn ask(
        profile: Profile,
        [shape, other]: [Shape; 2],
        rule: impl FnOnce(&mut Pullback<'_>, ValueId) -> Result<(), AutodiffError>,
    ) -> (&'static str, String) {
        let mut b = Builder::new();
        let inputs = [("x", shape), ("y", other)]
            .map(|(name, shape)| b.input(name, Type::new(DType::F32, shape)).expect("a valid input"));
        let y = b.push(Op::Map(Map::Exp), &inputs[..1]).expect("a float");
        let module = canonicalise(verify(b.clone().finish([y]), Profile::CoreV1).expect("it is valid"));
        let activity = Activity::new(&module, inputs);
        let error = rule(
            &mut Pullback {
                profile,
                activity: &activity,
                value: y,
                inst: module.inst(y),
                cotangent: y,
                builder: &mut b,
                copies: &[inputs[0], inputs[1], y],
                cotangents: &mut [None; 3],
            },
            inputs[1],
        )
        .expect_err("the rule is wrong");
        (error.code().info().name, error.to_string())
    }

    fn literal(shapes: [&[i64]; 2]) -> [Shape; 2] {
        shapes.map(Shape::literal)
    }

    #[test]
    fn an_axis_out_of_range_is_e5003() {
        for profile in [Profile::CoreV1, Profile::Extended] {
            for axis in [-1, 2] {
                let found = ask(profile, literal([&[2, 3], &[]]), |p, _| {
                    let x = p.operand(0);
                    p.divide_by_count(x, &6.into(), x, &[0, axis]).map(drop)
                });
                assert_eq!(found, ("E5003", format!("`Exp`: axis {axis} is out of range for shape [2, 3]")));
            }
        }
    }

    #[test]
    fn shapes_that_do_not_broadcast_are_e5004() {
        for to in [&[2, 2][..], &[3, 1], &[1, 2, 3]] {
            let found = ask(Profile::Extended, literal([&[2, 3], &[]]), |p, _| {
                p.sum_to(p.operand(0), &Shape::literal(to)).map(drop)
            });
            let problem = format!("{} does not broadcast to [2, 3]", Shape::literal(to));
            assert_eq!(found, ("E5004", format!("`Exp`: {problem}; it stands on the path %2 Exp <- %0 x")));
        }
    }

    #[test]
    fn core_v1_broadcasts_to_symbols_only_where_a_value_has_the_shape() {
        let unknown = Shape::new([Dim::symbol("N")]);
        let (code, message) = ask(Profile::CoreV1, [Shape::scalar(), unknown.clone()], |p, _| {
            p.broadcast_to(p.operand(0), &unknown).map(drop)
        });
        assert_eq!(code, "E5004");
        assert!(message.contains("no value at hand has the shape [N] to broadcast to"), "{message}");
    }

    #[test]
    fn a_contribution_of_another_type_is_e5002() {
        for other in [&[4][..], &[2, 2], &[1, 3]] {
            let (code, message) =
                ask(Profile::Extended, literal([&[2, 3], other]), |p, other| p.contribute(0, other));
            let wanted = format!(
                "the rule of `Exp` contributes f32{} to operand 0 of %2, which is f32[2, 3]",
                Shape::literal(other)
            );
            assert_eq!((code, message), ("E5002", format!("the gradient does not verify: {wanted}")));
        }
    }

    #[test]
    fn an_operation_that_breaks_a_rule_is_e5002() {
        let (code, message) = ask(Profile::Extended, literal([&[2, 3], &[4]]), |p, other| {
            p.push(Op::Map(Map::Add), &[p.operand(0), other]).map(drop)
        });
        assert_eq!(code, "E5002");
        assert!(message.contains("[E3001]") && message.contains("f32[2, 3], f32[4]"), "{message}");
    }
}
