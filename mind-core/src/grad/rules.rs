//! The derivative rules: one per operation, for Core IR and for programs without types.
//!
//! A rule reads the cotangent of a result and contributes to the cotangents of the operands. The rules of elementwise
//! functions are the formulas of their rows. A rule that needs a shape names a value of that shape. Core IR reads the
//! shape from the type of that value, and a program without types keeps the value as a witness.

use crate::{
    build::Builder,
    cumulate::{self, Cumulate},
    grad::{AutodiffError, push},
    ir::{
        Arrange, Cumulation, Form, Fourier, Join, Matrix, Op, Part, Pool, Pooling, Product, Reduction,
        Reorder, Rows, Triangular, ValueId, Window,
    },
    map::{Calculus, DerivativeInputs, Map, evaluate},
    reduce::{self, Reduce},
    ty::DType,
};

/// The rule of one operation: what it reads, and where its contributions go.
pub(crate) trait Reverse: Calculus {
    /// The form of operations.
    type Form: Form;

    /// An operand.
    fn operand(&self, position: usize) -> Self::Value;

    /// The number of operands.
    fn operand_count(&self) -> usize;

    /// The result.
    fn result(&self) -> Self::Value;

    /// The cotangent of the result, of its type.
    fn cotangent(&self) -> Self::Value;

    /// Whether the rule should contribute to this operand, because it depends on a parameter.
    fn wants(&self, position: usize) -> bool;

    /// Adds a value of the operand's type to its cotangent.
    ///
    /// Contributions to one value are summed in the order in which they are made: operations in reverse program order,
    /// and within one operation in the order of its rule.
    fn contribute(&mut self, position: usize, value: Self::Value) -> Result<(), Self::Error>;

    /// The same for a value of a type to which the operand was broadcast. The value is summed to the operand's type.
    fn contribute_broadcast(&mut self, position: usize, value: Self::Value) -> Result<(), Self::Error>;

    /// Emits an operation.
    fn emit(&mut self, op: Op<Self::Form>, operands: &[Self::Value]) -> Result<Self::Value, Self::Error>;

    /// Emits an operation whose result has the shape of `like`.
    fn emit_like(
        &mut self,
        op: impl FnOnce(<Self::Form as Form>::Shape) -> Op<Self::Form>,
        operands: &[Self::Value],
        like: Self::Value,
    ) -> Result<Self::Value, Self::Error>;

    /// Divides `value` by the number of elements that a reduction of `of` combines into one.
    fn average(
        &mut self,
        value: Self::Value,
        reduction: &ReductionOf<Self>,
        of: Self::Value,
    ) -> Result<Self::Value, Self::Error>;

    /// Inserts the reduced axes of a reduction of `of` into a value of the shape of its result, each with extent 1, so
    /// that the value broadcasts to `of`.
    fn put_back(
        &mut self,
        value: Self::Value,
        reduction: &ReductionOf<Self>,
        of: Self::Value,
    ) -> Result<Self::Value, Self::Error>;

    /// The operands of an operation that takes `value` in place of the first operand. Operands that only provide
    /// extents of attributes follow `value`.
    fn in_place(&self, value: Self::Value) -> Vec<Self::Value>;

    /// Zeros of the shape of `of` with `value` at the position that an index expression reads.
    fn index_grad(
        &mut self,
        value: Self::Value,
        indices: &<Self::Form as Form>::Indices,
        of: Self::Value,
    ) -> Result<Self::Value, Self::Error>;

    /// The part of `value` for the operand at `position`, where `value` has the shape of all operands joined along an
    /// axis.
    fn joined_part(
        &mut self,
        value: Self::Value,
        axis: i64,
        position: usize,
    ) -> Result<Self::Value, Self::Error>;

    /// The contribution to one factor of the product `a @ b`, given the cotangent `dy` of the product.
    fn product_grad(
        &mut self,
        factor: Factor,
        dy: Self::Value,
        factors: [Self::Value; 2],
    ) -> Result<Self::Value, Self::Error>;

    /// The inverse of a permutation.
    fn inverse(permutation: &<Self::Form as Form>::Permutation) -> <Self::Form as Form>::Permutation;

    /// Applies the rule of an operation that only this form has.
    fn own(&mut self, own: &<Self::Form as Form>::Own) -> Result<(), Self::Error>;
}

/// A reduction in the form that `R` uses.
type ReductionOf<R> = Reduction<<<R as Reverse>::Form as Form>::Axes>;

/// A factor of a product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Factor {
    /// `a` of `a @ b`.
    Lhs,
    /// `b` of `a @ b`.
    Rhs,
}

/// Applies the rule of an operation.
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
            // The negative of `i64::MIN` does not fit, so two rolls replace one.
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
        Op::Part(Part::Unfold(windows)) => pass(on, 0, |on| {
            let (windows, operands) = (windows.clone(), on.in_place(dy));
            on.emit_like(|shape| Op::Part(Part::UnfoldGrad { shape, windows }), &operands, on.operand(0))
        }),
        Op::Part(Part::UnfoldGrad { windows, .. }) => {
            pass(on, 0, |on| on.emit(Op::Part(Part::Unfold(windows.clone())), &on.in_place(dy)))
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
        Op::Rows(Rows::DynamicSlice { axis, .. }) => pass(on, 0, |on| {
            let zeros = zeros_like(on, on.operand(0))?;
            on.emit(Op::Rows(Rows::DynamicUpdate { axis: *axis }), &[zeros, on.operand(1), dy])
        }),
        Op::Rows(Rows::DynamicUpdate { axis }) => {
            let (start, updates) = (on.operand(1), on.operand(2));
            pass(on, 0, |on| {
                let zeros = zeros_like(on, updates)?;
                on.emit(Op::Rows(Rows::DynamicUpdate { axis: *axis }), &[dy, start, zeros])
            })?;
            pass(on, 2, |on| {
                let slice = |shape| Op::Rows(Rows::DynamicSlice { shape, axis: *axis });
                on.emit_like(slice, &[dy, start], updates)
            })
        }
        Op::Rows(Rows::Scatter) => {
            let (indices, updates) = (on.operand(1), on.operand(2));
            pass(on, 0, |on| {
                let zeros = zeros_like(on, updates)?;
                on.emit(Op::Rows(Rows::Scatter), &[dy, indices, zeros])
            })?;
            pass(on, 2, |on| {
                let (sorted, last) = last_of_equal(on, indices)?;
                let rows = on.emit(Op::Rows(Rows::Gather), &[dy, sorted])?;
                let zeros = zeros_like(on, updates)?;
                on.emit(Op::Rows(Rows::Scatter), &[zeros, last, rows])
            })
        }
        Op::Rows(Rows::AddRows) => {
            pass(on, 0, |_| Ok(dy))?;
            pass(on, 2, |on| on.emit(Op::Rows(Rows::Gather), &[dy, on.operand(1)]))
        }
        Op::Join(Join::Concat { axis }) => (0..on.operand_count())
            .try_for_each(|position| pass(on, position, |on| on.joined_part(dy, *axis, position))),
        Op::Product(Product::Dot | Product::MatMul) => product(on, dy),
        // Only functions of the library with derivatives of their own factor matrices.
        Op::Matrix(Matrix::Factor(_)) => Ok(()),
        Op::Matrix(Matrix::SolveTriangular(of)) => solved(on, *of),
        Op::Matrix(triangle @ Matrix::Triangle { .. }) => {
            pass(on, 0, |on| on.emit(Op::Matrix(*triangle), &[dy]))
        }
        // The transposed transform of complex numbers, as a map of pairs, is the one with the other exponents.
        Op::Fourier(Fourier::Fft { inverse }) => {
            let inverse = !inverse;
            pass(on, 0, |on| on.emit(Op::Fourier(Fourier::Fft { inverse }), &[dy]))
        }
        Op::Fourier(Fourier::RealFft) => pass(on, 0, |on| {
            on.emit_like(|shape| Op::Fourier(Fourier::RealFftGrad { shape }), &[dy], on.operand(0))
        }),
        Op::Fourier(Fourier::RealFftGrad { .. }) => {
            pass(on, 0, |on| on.emit(Op::Fourier(Fourier::RealFft), &[dy]))
        }
        // The derivatives of a convolution are convolutions of `dy` and one of the operands.
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
        Op::Pool(Pool::Max(pooling)) => {
            pass(on, 0, |on| on.emit(Op::Pool(Pool::MaxGrad(pooling.clone())), &[on.operand(0), dy]))
        }
        Op::Pool(Pool::MaxGrad(pooling)) => {
            pass(on, 1, |on| on.emit(Op::Pool(Pool::MaxTake(pooling.clone())), &[on.operand(0), dy]))
        }
        Op::Pool(Pool::MaxTake(pooling)) => {
            pass(on, 1, |on| on.emit(Op::Pool(Pool::MaxGrad(pooling.clone())), &[on.operand(0), dy]))
        }
        Op::Pool(Pool::Total(pooling)) => pass(on, 0, |on| {
            let pooling = pooling.clone();
            on.emit_like(|shape| Op::Pool(Pool::SumGrad { shape, pooling }), &[dy], on.operand(0))
        }),
        Op::Pool(Pool::SumGrad { pooling, .. }) => {
            pass(on, 0, |on| on.emit(Op::Pool(Pool::Total(pooling.clone())), &[dy]))
        }
        Op::Pool(Pool::Depthwise(pooling)) => {
            let (x, filter) = (on.operand(0), on.operand(1));
            pass(on, 0, |on| depthwise_grad_input(on, pooling, [dy, filter], x))?;
            pass(on, 1, |on| on.emit(Op::Pool(Pool::DepthwiseGradFilter(pooling.clone())), &[x, dy]))
        }
        Op::Pool(Pool::DepthwiseGradInput { pooling, .. }) => {
            let (dz, filter) = (on.operand(0), on.operand(1));
            pass(on, 0, |on| on.emit(Op::Pool(Pool::Depthwise(pooling.clone())), &[dy, filter]))?;
            pass(on, 1, |on| on.emit(Op::Pool(Pool::DepthwiseGradFilter(pooling.clone())), &[dy, dz]))
        }
        Op::Pool(Pool::DepthwiseGradFilter(pooling)) => {
            let (x, dz) = (on.operand(0), on.operand(1));
            pass(on, 0, |on| depthwise_grad_input(on, pooling, [dz, dy], x))?;
            pass(on, 1, |on| on.emit(Op::Pool(Pool::Depthwise(pooling.clone())), &[x, dy]))
        }
        Op::Effect(_) => on.contribute(0, dy),
        Op::Own(own) => on.own(own),
    }
}

/// The cotangent of the input `like` of a depthwise convolution, from that of its result and the filter.
fn depthwise_grad_input<R: Reverse>(
    on: &mut R,
    pooling: &Pooling,
    operands: [R::Value; 2],
    like: R::Value,
) -> Result<R::Value, R::Error> {
    let pooling = Box::new(pooling.clone());
    on.emit_like(|shape| Op::Pool(Pool::DepthwiseGradInput { shape, pooling }), &operands, like)
}

/// Contributes the value that `make` returns to an operand, if the operand is wanted.
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

/// Gathers the rows of a value at `indices`.
pub(super) fn picked(
    builder: &mut Builder,
    value: ValueId,
    indices: ValueId,
) -> Result<ValueId, AutodiffError> {
    push(builder, Op::Rows(Rows::Gather), &[value, indices])
}

/// Broadcasts a value to the shape of `like`.
pub(crate) fn spread<R: Reverse>(on: &mut R, value: R::Value, like: R::Value) -> Result<R::Value, R::Error> {
    on.emit_like(|shape| Op::Arrange(Arrange::BroadcastTo { shape }), &[value], like)
}

/// Zeros of the type of `like`.
fn zeros_like<R: Reverse>(on: &mut R, like: R::Value) -> Result<R::Value, R::Error> {
    let zero = on.number(0.0, like)?;
    spread(on, zero, like)
}

/// Integers sorted, and for each of them the position of the last equal one in their own order.
fn last_of_equal<R: Reverse>(on: &mut R, integers: R::Value) -> Result<(R::Value, R::Value), R::Error> {
    let cumulated = |on: &mut R, cumulate, reverse, of| {
        on.emit(Op::Cumulate(cumulate, Cumulation { axis: 0, reverse, exclusive: true }), &[of])
    };
    let order = on.emit(Op::Reorder(Reorder::ArgSort { axis: 0, descending: false }), &[integers])?;
    let sorted = on.emit(Op::Rows(Rows::Gather), &[integers, order])?;
    let next = cumulated(on, Cumulate::Min, true, sorted)?;
    let ends = on.apply(Map::Lt, &[sorted, next])?;
    let ends = on.apply(Map::to(DType::I64), &[ends])?;
    // Equal integers have one group. They are in their own order, of which the last one remains.
    let group = cumulated(on, Cumulate::SUMS, false, ends)?;
    let last = on.emit(Op::Rows(Rows::Scatter), &[order, group, order])?;
    Ok((sorted, on.emit(Op::Rows(Rows::Gather), &[last, group])?))
}

/// Evaluates the derivative formulas of an elementwise function for the wanted operands.
fn function<R: Reverse>(on: &mut R, map: Map) -> Result<(), R::Error> {
    let row = map.row();
    let operands: Vec<_> = (0..on.operand_count()).map(|position| on.operand(position)).collect();
    let given = DerivativeInputs { row, operands: &operands, y: on.result(), dy: on.cotangent() };
    for position in 0..operands.len() {
        if on.wants(position) && row.flows_to(position) {
            let value = evaluate(on, given, position)?;
            on.contribute_broadcast(position, value)?;
        }
    }
    Ok(())
}

/// Returns the operation that replaces `op` in a pullback that its author wrote. A product or quotient of an operand
/// that depends on a cotangent becomes one that keeps zeros, as in the rules here. `is_linear` says for each operand
/// whether it depends on a cotangent.
pub(crate) fn keeping_zeros<F: Form>(op: &Op<F>, is_linear: impl Fn(usize) -> bool) -> Op<F> {
    let Op::Map(map) = op else { return op.clone() };
    let keeps = |keeping: &Map| {
        keeping.row().keeps_zeros.is_some_and(|keeps| keeps.of.iter().any(|operand| is_linear(*operand)))
    };
    Op::Map(map.keeping_zeros().filter(keeps).unwrap_or(*map))
}

/// The contribution to the operand of a reduction. The cotangent of the result is divided by the element count if the
/// row says so, and broadcast to the operand. Then the adjoint of the row is evaluated, if it has one.
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
    reduce::evaluate(on, row, [x, y, dy], |on, reduce, value| {
        let value = on.emit(Op::Reduce(reduce, reduction.clone()), &[value])?;
        back(on, value)
    })
}

/// The contribution to an operand of a cumulation, by the adjoint in its row.
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
    cumulate::evaluate(on, steps, names, |on, over, operands| {
        let reverse = of.reverse != over.back;
        let along = Cumulation { axis: of.axis, reverse, exclusive: over.exclusive };
        on.emit(Op::Cumulate(over.cumulate, along), operands)
    })
}

/// Contributes to the factors of a product.
pub(crate) fn product<R: Reverse>(on: &mut R, dy: R::Value) -> Result<(), R::Error> {
    let factors = [on.operand(0), on.operand(1)];
    pass(on, 0, |on| on.product_grad(Factor::Lhs, dy, factors))?;
    pass(on, 1, |on| on.product_grad(Factor::Rhs, dy, factors))
}

/// Contributes to the matrix and to the right-hand side of a triangular system.
fn solved<R: Reverse>(on: &mut R, of: Triangular) -> Result<(), R::Error> {
    let (a, x, dy) = (on.operand(0), on.result(), on.cotangent());
    if !on.wants(0) && !on.wants(1) {
        return Ok(());
    }
    let adjoint = Triangular { transposed: !of.transposed, ..of };
    let db = on.emit(Op::Matrix(Matrix::SolveTriangular(adjoint)), &[a, dy])?;
    // The right-hand side is a product with the matrix. Its change by the matrix is made up for by the solution.
    pass(on, 0, |on| {
        let [dy, factor] = if of.transposed { [x, db] } else { [db, x] };
        let outer = on.product_grad(Factor::Lhs, dy, [a, factor])?;
        let da = on.apply(Map::NEGATIVE, &[outer])?;
        on.emit(Op::Matrix(Matrix::Triangle { lower: of.lower, strict: of.unit_diagonal }), &[da])
    })?;
    pass(on, 1, |_| Ok(db))
}
