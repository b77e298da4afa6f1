//! What each operation passes back: one rule an operation, for Core IR and for programs without types.
//!
//! A rule reads the cotangent of a result and contributes to those of the operands. Those of functions of elements are the
//! formulas of their rows. Where a rule needs a shape it names the value that has it: Core IR reads it off, and a program
//! without types keeps that value as a witness.

use crate::{
    build::Builder,
    cumulate::{self, Cumulate},
    grad::{AutodiffError, push},
    ir::{Arrange, Cumulation, Form, Join, Op, Part, Product, Reduction, Reorder, Rows, ValueId, Window},
    map::{Calculus, Given, Map, play},
    reduce::{self, Reduce},
};

/// One operation on the way back: what its rule sees, and where contributions go.
pub(crate) trait Reverse: Calculus {
    /// How operations are written.
    type Form: Form;

    /// An operand.
    fn operand(&self, position: usize) -> Self::Value;

    /// The number of operands.
    fn operand_count(&self) -> usize;

    /// The result.
    fn result(&self) -> Self::Value;

    /// The cotangent of the result, of its type.
    fn cotangent(&self) -> Self::Value;

    /// Whether a contribution to this operand is of use: it leads to what is differentiated by.
    fn wants(&self, position: usize) -> bool;

    /// Adds a value of the operand's type to its cotangent.
    ///
    /// Contributions to one value are summed in the order they are made: the reverse of the program's, and within one
    /// operation that of its rule.
    fn contribute(&mut self, position: usize, value: Self::Value) -> Result<(), Self::Error>;

    /// The same for a value of a type to which the operand was broadcast: it is summed back.
    fn contribute_broadcast(&mut self, position: usize, value: Self::Value) -> Result<(), Self::Error>;

    /// An operation.
    fn emit(&mut self, op: Op<Self::Form>, operands: &[Self::Value]) -> Result<Self::Value, Self::Error>;

    /// An operation whose result has the shape of `like`.
    fn emit_like(
        &mut self,
        op: impl FnOnce(<Self::Form as Form>::Shape) -> Op<Self::Form>,
        operands: &[Self::Value],
        like: Self::Value,
    ) -> Result<Self::Value, Self::Error>;

    /// `value` over the number of elements that a reduction of `of` takes together.
    fn average(
        &mut self,
        value: Self::Value,
        reduction: &ReductionOf<Self>,
        of: Self::Value,
    ) -> Result<Self::Value, Self::Error>;

    /// The cotangent of a reduction with the reduced axes put back, each of extent 1, so that it broadcasts.
    fn put_back(
        &mut self,
        value: Self::Value,
        reduction: &ReductionOf<Self>,
        of: Self::Value,
    ) -> Result<Self::Value, Self::Error>;

    /// A value in place of the first operand, before those of which extents stand in attributes.
    fn in_place(&self, value: Self::Value) -> Vec<Self::Value>;

    /// Zeros of the shape of `of` with `value` where an index expression takes from.
    fn index_grad(
        &mut self,
        value: Self::Value,
        indices: &<Self::Form as Form>::Indices,
        of: Self::Value,
    ) -> Result<Self::Value, Self::Error>;

    /// What is where an operand stands in a value in which all operands stand one after the other along an axis.
    fn joined_part(
        &mut self,
        value: Self::Value,
        axis: i64,
        position: usize,
    ) -> Result<Self::Value, Self::Error>;

    /// What the product `a @ b` with the cotangent `dy` passes back to one of its factors.
    fn product_grad(
        &mut self,
        factor: Factor,
        dy: Self::Value,
        factors: [Self::Value; 2],
    ) -> Result<Self::Value, Self::Error>;

    /// The permutation that undoes one.
    fn inverse(permutation: &<Self::Form as Form>::Permutation) -> <Self::Form as Form>::Permutation;

    /// The rule of an operation that this form alone has.
    fn own(&mut self, own: &<Self::Form as Form>::Own) -> Result<(), Self::Error>;
}

/// A reduction in the form of a calculus.
type ReductionOf<R> = Reduction<<<R as Reverse>::Form as Form>::Axes>;

/// A factor of a product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Factor {
    /// `a` of `a @ b`.
    Lhs,
    /// `b` of `a @ b`.
    Rhs,
}

/// What an operation passes back.
pub(crate) fn step<R: Reverse>(on: &mut R, op: &Op<R::Form>) -> Result<(), R::Error> {
    let dy = on.cotangent();
    match op {
        Op::Input { .. } | Op::Const(_) | Op::Made(_) | Op::ArgReduce(..) => Ok(()),
        Op::Map(map) => function(on, *map),
        Op::Reduce(reduce, reduction) => pass(on, 0, |on| reduced(on, *reduce, reduction)),
        Op::Cumulate(cumulate, cumulation) => (0..on.operand_count()).try_for_each(|position| {
            pass(on, position, |on| cumulated(on, position, *cumulate, *cumulation))
        }),
        Op::Reorder(flip @ Reorder::Flip { .. }) => pass(on, 0, |on| on.emit(Op::Reorder(*flip), &[dy])),
        Op::Reorder(Reorder::Roll { shift, axis }) => pass(on, 0, |on| {
            let roll =
                |on: &mut R, shift, x| on.emit(Op::Reorder(Reorder::Roll { shift, axis: *axis }), &[x]);
            let back = roll(on, shift.saturating_neg(), dy)?;
            // Of the least `i64` there is no negative.
            if *shift == i64::MIN { roll(on, 1, back) } else { Ok(back) }
        }),
        Op::Reorder(Reorder::Sort { axis, descending }) => pass(on, 0, |on| {
            let (axis, descending) = (*axis, *descending);
            let order = on.emit(Op::Reorder(Reorder::ArgSort { axis, descending }), &[on.operand(0)])?;
            on.emit_like(|shape| Op::Rows(Rows::AddAlong { shape, axis }), &[order, dy], on.operand(0))
        }),
        Op::Reorder(Reorder::ArgSort { .. }) => Ok(()),
        Op::Arrange(Arrange::Reshape { .. } | Arrange::ExpandDims { .. } | Arrange::Squeeze { .. }) => {
            pass(on, 0, |on| {
                on.emit_like(|shape| Op::Arrange(Arrange::Reshape { shape }), &[dy], on.operand(0))
            })
        }
        Op::Arrange(Arrange::Transpose { permutation }) => {
            let permutation = R::inverse(permutation);
            pass(on, 0, |on| on.emit(Op::Arrange(Arrange::Transpose { permutation }), &[dy]))
        }
        Op::Arrange(Arrange::BroadcastTo { .. }) => on.contribute_broadcast(0, dy),
        Op::Part(Part::Index { indices }) => pass(on, 0, |on| on.index_grad(dy, indices, on.operand(0))),
        Op::Part(Part::Slice(slice)) => pass(on, 0, |on| {
            let (slice, operands) = (slice.clone(), on.in_place(dy));
            on.emit_like(|shape| Op::Part(Part::SliceGrad { shape, slice }), &operands, on.operand(0))
        }),
        Op::Part(Part::SliceGrad { slice, .. }) => {
            pass(on, 0, |on| on.emit(Op::Part(Part::Slice(slice.clone())), &on.in_place(dy)))
        }
        Op::Rows(Rows::Gather) => pass(on, 0, |on| {
            on.emit_like(|shape| Op::Rows(Rows::ScatterAdd { shape }), &[on.operand(1), dy], on.operand(0))
        }),
        Op::Rows(Rows::ScatterAdd { .. }) => {
            pass(on, 1, |on| on.emit(Op::Rows(Rows::Gather), &[dy, on.operand(0)]))
        }
        Op::Rows(Rows::TakeAlong { axis }) => pass(on, 0, |on| {
            let back = |shape| Op::Rows(Rows::AddAlong { shape, axis: *axis });
            on.emit_like(back, &[on.operand(1), dy], on.operand(0))
        }),
        Op::Rows(Rows::AddAlong { axis, .. }) => {
            pass(on, 1, |on| on.emit(Op::Rows(Rows::TakeAlong { axis: *axis }), &[dy, on.operand(0)]))
        }
        Op::Join(Join::Concat { axis }) => (0..on.operand_count())
            .try_for_each(|position| pass(on, position, |on| on.joined_part(dy, *axis, position))),
        Op::Product(Product::Dot | Product::MatMul) => product(on, dy),
        // The derivatives of a convolution are convolutions: `dy` and the operands take turns.
        Op::Window(Window::Conv2d(convolution)) => {
            let (image, filter) = (on.operand(0), on.operand(1));
            let convolution = || Box::new(convolution.clone());
            pass(on, 0, |on| {
                let convolution = convolution();
                on.emit_like(
                    |shape| Op::Window(Window::Conv2dGradInput { shape, convolution }),
                    &[dy, filter],
                    image,
                )
            })?;
            pass(on, 1, |on| {
                let convolution = convolution();
                on.emit_like(
                    |shape| Op::Window(Window::Conv2dGradFilter { shape, convolution }),
                    &[image, dy],
                    filter,
                )
            })
        }
        Op::Window(Window::Conv2dGradInput { convolution, .. }) => {
            let (dz, filter) = (on.operand(0), on.operand(1));
            pass(on, 0, |on| on.emit(Op::Window(Window::Conv2d((**convolution).clone())), &[dy, filter]))?;
            pass(on, 1, |on| {
                let convolution = convolution.clone();
                on.emit_like(
                    |shape| Op::Window(Window::Conv2dGradFilter { shape, convolution }),
                    &[dy, dz],
                    filter,
                )
            })
        }
        Op::Window(Window::Conv2dGradFilter { convolution, .. }) => {
            let (image, dz) = (on.operand(0), on.operand(1));
            pass(on, 0, |on| {
                let convolution = convolution.clone();
                on.emit_like(
                    |shape| Op::Window(Window::Conv2dGradInput { shape, convolution }),
                    &[dz, dy],
                    image,
                )
            })?;
            pass(on, 1, |on| on.emit(Op::Window(Window::Conv2d((**convolution).clone())), &[image, dy]))
        }
        Op::Effect(_) => on.contribute(0, dy),
        Op::Own(own) => on.own(own),
    }
}

/// Contributes what is made for an operand, if it is wanted.
pub(crate) fn pass<R: Reverse>(
    on: &mut R,
    position: usize,
    make: impl FnOnce(&mut R) -> Result<R::Value, R::Error>,
) -> Result<(), R::Error> {
    if on.wants(position) {
        let value = make(on)?;
        on.contribute(position, value)?;
    }
    Ok(())
}

/// The rows of a value that indices pick.
pub(super) fn picked(
    builder: &mut Builder,
    value: ValueId,
    indices: ValueId,
) -> Result<ValueId, AutodiffError> {
    push(builder, Op::Rows(Rows::Gather), &[value, indices])
}

/// A value at every index of the shape of another.
pub(crate) fn spread<R: Reverse>(on: &mut R, value: R::Value, like: R::Value) -> Result<R::Value, R::Error> {
    on.emit_like(|shape| Op::Arrange(Arrange::BroadcastTo { shape }), &[value], like)
}

/// The formulas of a row, played where they are wanted.
fn function<R: Reverse>(on: &mut R, map: Map) -> Result<(), R::Error> {
    let row = map.row();
    let operands: Vec<_> = (0..on.operand_count()).map(|position| on.operand(position)).collect();
    let given = Given { row, operands: &operands, y: on.result(), dy: on.cotangent() };
    for position in 0..operands.len() {
        if on.wants(position) && row.flows_to(position) {
            let value = play(on, given, position)?;
            on.contribute_broadcast(position, value)?;
        }
    }
    Ok(())
}

/// An operation of a pullback that its author wrote: a product or quotient of what depends on a cotangent keeps its zeros, as in
/// the rules here. `is_linear` says for each operand whether it depends on one.
pub(crate) fn keeping_zeros<F: Form>(op: &Op<F>, is_linear: impl Fn(usize) -> bool) -> Op<F> {
    let Op::Map(map) = op else { return op.clone() };
    let keeps = |keeping: &Map| {
        keeping.row().keeps_zeros.is_some_and(|keeps| keeps.of.iter().any(|operand| is_linear(*operand)))
    };
    Op::Map(map.keeping_zeros().filter(keeps).unwrap_or(*map))
}

/// The cotangent, divided where the result was, at every element that was put together; then what the row makes of it.
fn reduced<R: Reverse>(on: &mut R, reduce: Reduce, reduction: &ReductionOf<R>) -> Result<R::Value, R::Error> {
    let (x, y, dy) = (on.operand(0), on.result(), on.cotangent());
    let row = reduce.row();
    let dy = if row.divides { on.average(dy, reduction, x)? } else { dy };
    let back = |on: &mut R, value| {
        let value = on.put_back(value, reduction, x)?;
        spread(on, value, x)
    };
    let dy = back(on, dy)?;
    if row.adjoint.is_empty() {
        return Ok(dy);
    }
    let y = back(on, y)?;
    reduce::play(on, row, [x, y, dy], |on, reduce, value| {
        let value = on.emit(Op::Reduce(reduce, reduction.clone()), &[value])?;
        back(on, value)
    })
}

/// The cotangent of an operand of a cumulation, by the adjoint in its row.
fn cumulated<R: Reverse>(
    on: &mut R,
    position: usize,
    cumulate: Cumulate,
    of: Cumulation,
) -> Result<R::Value, R::Error> {
    let row = cumulate.row();
    let operands = row.operands.iter().enumerate().map(|(position, name)| (*name, on.operand(position)));
    let names = operands.chain([("y", on.result()), ("dy", on.cotangent())]).collect();
    let steps = row.adjoint[position][usize::from(of.exclusive)];
    cumulate::play(on, steps, names, |on, over, operands| {
        let reverse = of.reverse != over.back;
        let along = Cumulation { axis: of.axis, reverse, exclusive: over.exclusive };
        on.emit(Op::Cumulate(over.cumulate, along), operands)
    })
}

/// What a product passes back to its factors.
pub(crate) fn product<R: Reverse>(on: &mut R, dy: R::Value) -> Result<(), R::Error> {
    let factors = [on.operand(0), on.operand(1)];
    pass(on, 0, |on| on.product_grad(Factor::Lhs, dy, factors))?;
    pass(on, 1, |on| on.product_grad(Factor::Rhs, dy, factors))
}
