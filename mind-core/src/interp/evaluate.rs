//! Evaluates each operation in naive loops. This is the definition that everything else is compared with.

use mind_shape::{match_dtype, match_elements};

use super::{
    Array, Element, Elements, Float, Number, RunError, broadcast_offset, fourier, matrices, offset,
    positions, with_float, with_number,
};
use crate::{
    cumulate::{Combine, Cumulate},
    data::TensorData,
    diag::Code,
    dim::{Bindings, Dim},
    ir::{
        Const, Convolution, Cumulation, Join, Made, Op, Own, Pool, Product, Reduction, Reorder, Rows, Slice,
        Window,
    },
    map::{self, MOST_OPERANDS, Map},
    ops::{Motion, inverse, position},
    reduce::{self, ArgReduce, Neutral},
    ty::DType,
};

/// The data of an evaluation besides its operands: the element type and the extents of this run.
pub(crate) struct Concrete<'a> {
    /// The element type of the result.
    pub(crate) dtype: DType,
    /// The extents of the result.
    pub(crate) shape: &'a [usize],
    /// The extent of each symbol.
    pub(crate) bindings: &'a Bindings,
}

/// Evaluates an operation on operands that satisfy verification.
///
/// # Errors
/// E6001 for an index out of range, E6010 for an integer divided by 0 and for a Rust function.
pub(crate) fn evaluate(op: &Op, operands: &[&Array], to: &Concrete<'_>) -> Result<Array, RunError> {
    Ok(match op {
        Op::Input { .. } => unreachable!("the caller gives inputs"),
        Op::Const(constant) => filled(&known(constant, to)?, to),
        Op::Made(Made::Iota { axis, .. }) => to.tabulate(|at| at[position(*axis)] as i64),
        Op::Map(map) => {
            check_divisors(map.row(), operands)?;
            function(map.row(), operands, to)
        }
        Op::Reduce(reduce, reduction) => reduced(reduce.row(), reduction, operands[0], to),
        Op::ArgReduce(arg, reduction) => positions_of(*arg, reduction, operands[0], to),
        Op::Cumulate(cumulate, cumulation) => cumulated(*cumulate, cumulation, operands, to),
        Op::Reorder(Reorder::Flip { axis }) => {
            let axis = position(*axis);
            let flipped = |other, at| if other == axis { to.shape[axis] - 1 - at } else { at };
            read(operands[0], to, |at| at.iter().enumerate().map(|(other, at)| flipped(other, *at)).collect())
        }
        Op::Reorder(Reorder::Roll { shift, axis }) => {
            let axis = position(*axis);
            let from =
                |at: usize| (at as i128 - i128::from(*shift)).rem_euclid(to.shape[axis] as i128) as usize;
            let rolled = |other, at| if other == axis { from(at) } else { at };
            read(operands[0], to, |at| at.iter().enumerate().map(|(other, at)| rolled(other, *at)).collect())
        }
        // A plan may ask for the first elements only, so positions are those in the operand.
        Op::Reorder(Reorder::Sort { axis, descending }) => {
            let (axis, sorted) = (position(*axis), in_order(position(*axis), *descending, operands[0]));
            let place = |other: usize, own: usize, at| if other == axis { sorted[own] } else { at };
            read(operands[0], to, |at| {
                let own = offset(&operands[0].shape, at);
                at.iter().enumerate().map(|(other, at)| place(other, own, *at)).collect()
            })
        }
        Op::Reorder(Reorder::ArgSort { axis, descending }) => {
            let sorted = in_order(position(*axis), *descending, operands[0]);
            to.tabulate(|at| sorted[offset(&operands[0].shape, &at)] as i64)
        }
        Op::Arrange(arrange) => moved(&arrange.motion(), operands[0], to),
        Op::Part(part) => moved(&part.motion(), operands[0], to),
        Op::Rows(Rows::Gather) => {
            let (table, indices) = (operands[0], operands[1]);
            let rows = rows(op, indices, (0, table.shape[0]))?;
            read(table, to, |position| row_of(&rows, indices, position))
        }
        Op::Rows(Rows::ScatterAdd { .. }) => {
            let (indices, updates) = (operands[0], operands[1]);
            let rows = rows(op, indices, (0, to.shape[0]))?;
            added(None, updates, to, |position| row_of(&rows, indices, position))
        }
        Op::Rows(Rows::TakeAlong { axis }) => {
            let (x, indices, axis) = (operands[0], operands[1], position(*axis));
            let rows = rows(op, indices, (axis, x.shape[axis]))?;
            read(x, to, |position| place_along(&rows, indices, position, axis))
        }
        Op::Rows(Rows::AddAlong { axis, .. }) => {
            let (indices, updates, axis) = (operands[0], operands[1], position(*axis));
            let rows = rows(op, indices, (axis, to.shape[axis]))?;
            added(None, updates, to, |position| place_along(&rows, indices, position, axis))
        }
        Op::Rows(Rows::DynamicSlice { axis, .. }) => {
            let (x, axis) = (operands[0], position(*axis));
            let first = first(op, operands[1], x.shape[axis], to.shape[axis])?;
            read(x, to, |at| shifted(at, axis, first))
        }
        Op::Rows(Rows::DynamicUpdate { axis }) => {
            let (x, updates, axis) = (operands[0], operands[2], position(*axis));
            let first = first(op, operands[1], x.shape[axis], updates.shape[axis])?;
            updated(x, updates, to, |at| shifted(at, axis, first))
        }
        Op::Rows(Rows::Scatter) => {
            let (x, indices, updates) = (operands[0], operands[1], operands[2]);
            let rows = rows(op, indices, (0, x.shape[0]))?;
            updated(x, updates, to, |position| row_of(&rows, indices, position))
        }
        Op::Rows(Rows::AddRows) => {
            let (x, indices, updates) = (operands[0], operands[1], operands[2]);
            let rows = rows(op, indices, (0, x.shape[0]))?;
            added(Some(x), updates, to, |position| row_of(&rows, indices, position))
        }
        Op::Join(Join::Concat { axis }) => concatenated(operands, position(*axis), to),
        Op::Product(Product::Dot) => with_number!(to.dtype, T => dot::<T>(operands[0], operands[1], to)),
        Op::Product(Product::MatMul) => {
            with_number!(to.dtype, T => matmul::<T>(operands[0], operands[1], to))
        }
        Op::Matrix(matrix) => matrices::evaluate(*matrix, operands, to),
        Op::Fourier(of) => fourier::evaluate(of, operands[0], to),
        Op::Window(Window::Conv2d(convolution)) => {
            let shapes =
                ConvolutionShapes { image: &operands[0].shape, filter: &operands[1].shape, result: to.shape };
            let term = |tap: Tap| [tap.result, tap.image, tap.filter];
            convolved(&shapes, convolution, operands, to, term)
        }
        Op::Window(Window::Conv2dGradInput { convolution, .. }) => {
            let shapes =
                ConvolutionShapes { image: to.shape, filter: &operands[1].shape, result: &operands[0].shape };
            let term = |tap: Tap| [tap.image, tap.result, tap.filter];
            convolved(&shapes, convolution, operands, to, term)
        }
        Op::Window(Window::Conv2dGradFilter { convolution, .. }) => {
            let shapes =
                ConvolutionShapes { image: &operands[0].shape, filter: to.shape, result: &operands[1].shape };
            let term = |tap: Tap| [tap.filter, tap.image, tap.result];
            convolved(&shapes, convolution, operands, to, term)
        }
        Op::Pool(pool) => pooled(pool, operands, to),
        // The observer of a run shows it.
        Op::Effect(_) => operands[0].clone(),
        Op::Own(Own::Nesting(_)) => unreachable!("a run gives what holds a module, and reads its results"),
        Op::Own(Own::External(external)) => {
            let function = external.function();
            let message = format!("`{function}` is a Rust function, which the interpreter cannot call");
            return Err(RunError::new(Code::E6010, message));
        }
    })
}

impl Concrete<'_> {
    /// The value of a dim of an attribute as a position.
    ///
    /// # Panics
    /// If a symbol is not bound, or the value exceeds 64 bits. Both are checked before anything runs.
    fn extent(&self, dim: &Dim) -> usize {
        let value = dim.evaluate(self.bindings).expect("dims are bound and in range before anything runs");
        usize::try_from(value).expect("extents are at least 1 before anything runs")
    }

    /// A value of the result's shape. `element` returns the element at each position.
    fn tabulate<T: Element>(&self, element: impl FnMut(Vec<usize>) -> T) -> Array {
        Array::new(self.shape, T::wrap(positions(self.shape).map(element).collect()))
    }
}

/// The elements of a constant for known extents. Returns E6004 if an element count exceeds 64 bits.
fn known(constant: &Const, to: &Concrete<'_>) -> Result<TensorData, RunError> {
    if let Some(data) = constant.data() {
        return Ok(data);
    }
    let Const::Count { shape, dtype } = constant else {
        unreachable!("the elements of all other constants are known")
    };
    let count = shape.iter().try_fold(1_i64, |count, dim| count.checked_mul(to.extent(dim) as i64));
    let too_many = || RunError::new(Code::E6004, format!("{shape} has more elements than 64 bits can count"));
    count.map(|count| TensorData::count(count, *dtype)).ok_or_else(too_many)
}

fn filled(data: &TensorData, to: &Concrete<'_>) -> Array {
    let count: usize = to.shape.iter().product();
    fn spread<T: Clone>(elements: Vec<T>, count: usize) -> Vec<T> {
        if elements.len() == 1 { vec![elements[0].clone(); count] } else { elements }
    }
    match_elements!(data, TensorData(elements) => {
        Array::new(to.shape, spread(elements.iter().map(|element| element.get()).collect(), count))
    })
}

/// Concatenates the operands along an axis.
fn concatenated(operands: &[&Array], axis: usize, to: &Concrete<'_>) -> Array {
    match_dtype!(to.dtype, T => to.tabulate(|mut at| {
        let mut part = 0;
        while at[axis] >= operands[part].shape[axis] {
            at[axis] -= operands[part].shape[axis];
            part += 1;
        }
        T::elements(operands[part])[offset(&operands[part].shape, &at)]
    }))
}

/// Returns E6010 if integers are divided by 0.
fn check_divisors(row: &map::Row, operands: &[&Array]) -> Result<(), RunError> {
    let Some(divisors) =
        row.pole.map(|divisor| operands[divisor]).filter(|divisors| !divisors.dtype().is_float())
    else {
        return Ok(());
    };
    let zero = positions(&divisors.shape)
        .find(|at| Elements::integer(&divisors.elements, offset(&divisors.shape, at)) == 0);
    zero.map_or(Ok(()), |at| {
        let message = format!("`{}`: an integer is divided by 0: the divisor at {at:?} is 0", row.label);
        Err(RunError::new(Code::E6010, message))
    })
}

fn function(row: &map::Row, operands: &[&Array], to: &Concrete<'_>) -> Array {
    if row.is_identity() {
        return operands[0].clone();
    }
    /// The elements of the operands that broadcast to a position.
    fn broadcast_elements<N: Copy + Default>(
        operands: &[&Array],
        position: &[usize],
        element: fn(&Elements, usize) -> N,
    ) -> [N; MOST_OPERANDS] {
        let mut given = [N::default(); MOST_OPERANDS];
        for (place, operand) in given.iter_mut().zip(operands) {
            *place = element(&operand.elements, broadcast_offset(&operand.shape, position));
        }
        given
    }
    let count = operands.len();
    let float = |at: Vec<usize>| (row.float)(&broadcast_elements(operands, &at, Elements::float)[..count]);
    let integer =
        |at: Vec<usize>| (row.integer)(&broadcast_elements(operands, &at, Elements::integer)[..count]);
    let is_float = operands[row.leading()].dtype().is_float();
    match_dtype!(to.dtype, T {
        truths => if is_float {
            to.tabulate(|at| float(at) != 0.0)
        } else {
            to.tabulate(|at| integer(at) & 1 == 1)
        },
        numbers => if is_float {
            to.tabulate(|at| float(at) as T)
        } else {
            to.tabulate(|at| integer(at) as T)
        },
    })
}

fn reduced(row: &reduce::Row, reduction: &Reduction, operand: &Array, to: &Concrete<'_>) -> Array {
    if !row.monoid.is_compensated {
        return match_dtype!(to.dtype, T => folded::<T>(row.monoid.combine.row(), reduction, operand, to));
    }
    if row.divides {
        with_float!(to.dtype, T => totals::<T>(reduction, operand, to, T::average))
    } else {
        with_number!(to.dtype, T => totals::<T>(reduction, operand, to, |total, _| T::narrow(total)))
    }
}

/// Combines the elements of each group, one after the other.
fn folded<T: Element>(
    combine: &map::Row,
    reduction: &Reduction,
    operand: &Array,
    to: &Concrete<'_>,
) -> Array {
    let combine = |all: Option<T>, element: T| match all {
        None => Some(element),
        Some(all) => Some(T::apply(combine, &[all, element])),
    };
    let (all, _) = groups(reduction, operand, to, None, combine);
    let all = all.into_iter().map(|all| all.expect("an extent is at least 1"));
    Array::new(to.shape, T::wrap(all.collect()))
}

/// The total of each group of elements. `finish` converts a total, given the number of elements of a group.
fn totals<T: Number>(
    reduction: &Reduction,
    operand: &Array,
    to: &Concrete<'_>,
    finish: impl Fn(T::Total, usize) -> T,
) -> Array {
    let add = |total, element: T| element.accumulate(total);
    let (totals, count) = groups(reduction, operand, to, T::NOTHING, add);
    Array::new(to.shape, T::wrap(totals.into_iter().map(|total| finish(total, count)).collect()))
}

/// The position of the largest or the smallest element of each group: of the first NaN, else of the first of equal
/// elements.
fn positions_of(arg: ArgReduce, reduction: &Reduction, operand: &Array, to: &Concrete<'_>) -> Array {
    with_number!(operand.dtype(), T => {
        let is_nan = |x: T| x.partial_cmp(&x).is_none();
        let beats = |x: T, best: T| {
            is_nan(x) && !is_nan(best) || if arg == ArgReduce::Max { x > best } else { x < best }
        };
        type Best = Option<(T, i64)>;
        let add = |(seen, best): (i64, Best), x: T| {
            (seen + 1, Some(best.filter(|(best, _)| !beats(x, *best)).unwrap_or((x, seen))))
        };
        let (groups, _) = groups(reduction, operand, to, (0, None), add);
        let found = groups.into_iter().map(|(_, best)| best.map_or(0, |(_, at)| at));
        Array::new(to.shape, found.collect::<Vec<i64>>())
    })
}

/// For each place of the sorted result, the position along the axis of the element that belongs there. NaN is greater
/// than every number, and equal elements keep their order.
fn in_order(axis: usize, descending: bool, operand: &Array) -> Vec<usize> {
    let mut first = operand.shape.clone();
    first[axis] = 1;
    let mut sorted = vec![0; operand.shape.iter().product()];
    with_number!(operand.dtype(), T => {
        let elements = T::elements(operand);
        for at in positions(&first) {
            let place = |along: usize| {
                let mut at = at.clone();
                at[axis] = along;
                offset(&operand.shape, &at)
            };
            let element = |along: &usize| elements[place(*along)];
            let is_nan = |x: T| x.partial_cmp(&x).is_none();
            let mut line: Vec<usize> = (0..operand.shape[axis]).collect();
            line.sort_by(|a, b| {
                let (a, b) = (element(a), element(b));
                let (low, high) = if descending { (b, a) } else { (a, b) };
                low.partial_cmp(&high).unwrap_or_else(|| is_nan(low).cmp(&is_nan(high)))
            });
            line.into_iter().enumerate().for_each(|(along, from)| sorted[place(along)] = from);
        }
    });
    sorted
}

/// Combines at each place the elements up to it along an axis.
fn cumulated(cumulate: Cumulate, cumulation: &Cumulation, operands: &[&Array], to: &Concrete<'_>) -> Array {
    match cumulate.row().combine {
        Combine::Monoid(monoid) => with_number!(to.dtype, T => {
            let elements = T::elements(operands[0]);
            if monoid.is_compensated {
                running(cumulation, to, T::NOTHING, |total, place| elements[place].accumulate(total), T::narrow)
            } else {
                let combine = |all, place: usize| T::apply(monoid.combine.row(), &[all, elements[place]]);
                running(cumulation, to, T::neutral(monoid.neutral), combine, |all| all)
            }
        }),
        Combine::Recurrence => with_float!(to.dtype, T => {
            let [a, b] = [0, 1].map(|operand: usize| &operands[operand].elements);
            let next = |h, place| (Map::MulKeepZero.row().float)(&[a.float(place), h]) + b.float(place);
            running(cumulation, to, 0.0, next, |h: f64| h as T)
        }),
    }
}

/// Scans along an axis. `begin` is the state before the first place, and `next` updates it at each place. `finish`
/// computes the result of a place from the updated state, or from the state before the update if the cumulation is
/// exclusive.
fn running<T: Element, S: Copy>(
    cumulation: &Cumulation,
    to: &Concrete<'_>,
    begin: S,
    next: impl Fn(S, usize) -> S,
    finish: impl Fn(S) -> T,
) -> Array {
    let Cumulation { axis, reverse, exclusive } = *cumulation;
    let axis = position(axis);
    let extent = to.shape[axis];
    let mut first = to.shape.to_vec();
    first[axis] = 1;
    let mut results = vec![T::default(); to.shape.iter().product()];
    for mut at in positions(&first) {
        let mut state = begin;
        for turn in 0..extent {
            at[axis] = if reverse { extent - 1 - turn } else { turn };
            let place = offset(to.shape, &at);
            let after = next(state, place);
            results[place] = finish(if exclusive { state } else { after });
            state = after;
        }
    }
    Array::new(to.shape, T::wrap(results))
}

/// Folds the elements of each group in order. Also returns the number of elements of a group.
fn groups<T: Element, A: Copy>(
    reduction: &Reduction,
    operand: &Array,
    to: &Concrete<'_>,
    nothing: A,
    add: impl Fn(A, T) -> A,
) -> (Vec<A>, usize) {
    let rank = operand.shape.len();
    let reduced = reduction.positions(rank);
    let count = reduced.iter().map(|axis| operand.shape[*axis]).product();
    let mut groups = vec![nothing; to.shape.iter().product()];
    for (position, element) in positions(&operand.shape).zip(T::elements(operand)) {
        let kept = (0..rank).filter(|axis| reduction.keeps() || !reduced.contains(axis));
        let at: Vec<_> = kept.map(|axis| if reduced.contains(&axis) { 0 } else { position[axis] }).collect();
        let group = &mut groups[offset(to.shape, &at)];
        *group = add(*group, *element);
    }
    (groups, count)
}

/// Reads an operand, for each position of the result, at the place that `place` returns.
fn read(operand: &Array, to: &Concrete<'_>, place: impl Fn(&[usize]) -> Vec<usize>) -> Array {
    match_dtype!(to.dtype, T => {
        let elements = T::elements(operand);
        to.tabulate(|position| elements[offset(&operand.shape, &place(&position))])
    })
}

/// Moves the elements of a value.
fn moved(motion: &Motion<'_>, operand: &Array, to: &Concrete<'_>) -> Array {
    match motion {
        Motion::Order => Array::new(to.shape, operand.elements.clone()),
        Motion::Axes(permutation) => {
            let inverse = inverse(permutation);
            read(operand, to, |at| inverse.iter().map(|axis| at[position(*axis)]).collect())
        }
        Motion::Repeat => match_dtype!(to.dtype, T => {
            let elements = T::elements(operand);
            to.tabulate(|position| elements[broadcast_offset(&operand.shape, &position)])
        }),
        Motion::At(indices) => read(operand, to, |_| indices.iter().map(|index| to.extent(index)).collect()),
        Motion::Taken(slice) => read(operand, to, |position| source_position(slice, position, to)),
        Motion::Windows(windows) => read(operand, to, |at| windows.source(at)),
        Motion::Added(windows) => added(None, operand, to, |at| windows.source(at)),
        Motion::Put(slice) => match_dtype!(to.dtype, T => {
            let mut elements = vec![T::default(); to.shape.iter().product()];
            for (position, element) in positions(&operand.shape).zip(T::elements(operand)) {
                elements[offset(to.shape, &source_position(slice, &position, to))] = *element;
            }
            Array::new(to.shape, T::wrap(elements))
        }),
    }
}

/// The place in the operand of a slice that a position of its result reads.
fn source_position(slice: &Slice, at: &[usize], to: &Concrete<'_>) -> Vec<usize> {
    let starts = slice.starts.iter().map(|start| to.extent(start));
    starts.zip(&slice.steps).zip(at).map(|((start, step), at)| start + at * position(*step)).collect()
}

/// Adds each element to `x`, or to zeros, at the place that `place` returns for its position.
fn added(
    x: Option<&Array>,
    updates: &Array,
    to: &Concrete<'_>,
    place: impl Fn(&[usize]) -> Vec<usize>,
) -> Array {
    with_number!(to.dtype, T => {
        let mut totals = vec![T::NOTHING; to.shape.iter().product()];
        if let Some(x) = x {
            totals = T::elements(x).iter().map(|element| element.accumulate(T::NOTHING)).collect();
        }
        for (position, element) in positions(&updates.shape).zip(T::elements(updates)) {
            let total = &mut totals[offset(to.shape, &place(&position))];
            *total = element.accumulate(*total);
        }
        Array::new(to.shape, T::wrap(totals.into_iter().map(T::narrow).collect()))
    })
}

/// A value whose elements at the places of `updates` are replaced.
fn updated(x: &Array, updates: &Array, to: &Concrete<'_>, place: impl Fn(&[usize]) -> Vec<usize>) -> Array {
    match_dtype!(to.dtype, T => {
        let mut elements = T::elements(x).to_vec();
        for (position, element) in positions(&updates.shape).zip(T::elements(updates)) {
            elements[offset(to.shape, &place(&position))] = *element;
        }
        Array::new(to.shape, elements)
    })
}

/// A position moved by `by` along an axis.
fn shifted(position: &[usize], axis: usize, by: usize) -> Vec<usize> {
    let mut place = position.to_vec();
    place[axis] += by;
    place
}

/// A position whose place along an axis is replaced by the one that indices select.
fn place_along(rows: &[usize], indices: &Array, position: &[usize], axis: usize) -> Vec<usize> {
    let mut place = position.to_vec();
    place[axis] = rows[offset(&indices.shape, position)];
    place
}

/// The rows that indices select. Returns E6001 for an index out of range.
fn rows(op: &Op, indices: &Array, (axis, extent): (usize, usize)) -> Result<Vec<usize>, RunError> {
    let row = |index: i64| {
        let row = usize::try_from(index).ok().filter(|row| *row < extent);
        row.ok_or_else(|| {
            let label = op.info().label;
            RunError::new(
                Code::E6001,
                format!("`{label}`: index {index} is outside dimension {axis} of extent {extent}"),
            )
        })
    };
    (0..indices.elements.len()).map(|at| row(indices.elements.integer(at))).collect()
}

/// The position of the first of `count` elements. Returns E6001 if they are not all within `extent`.
fn first(op: &Op, start: &Array, extent: usize, count: usize) -> Result<usize, RunError> {
    let start = start.elements.integer(0);
    let first = usize::try_from(start).ok();
    let first = first.filter(|first| first.checked_add(count).is_some_and(|end| end <= extent));
    first.ok_or_else(|| {
        let (label, last) = (op.info().label, extent as i128 - count as i128);
        RunError::new(Code::E6001, format!("`{label}`: index {start} is out of range, needed 0 to {last}"))
    })
}

/// The place in a table that a position of the gathered result reads.
fn row_of(rows: &[usize], indices: &Array, position: &[usize]) -> Vec<usize> {
    let (index, rest) = position.split_at(indices.shape.len());
    [rows[offset(&indices.shape, index)]].into_iter().chain(rest.iter().copied()).collect()
}

fn dot<T: Number>(lhs: &Array, rhs: &Array, to: &Concrete<'_>) -> Array {
    let (a, b) = (T::elements(lhs), T::elements(rhs));
    to.tabulate(|mut position| {
        let column = if rhs.shape.len() == 2 { position.pop() } else { None };
        let row = position.pop();
        contract(rhs.shape[0], |k| {
            let on_lhs: Vec<_> = row.into_iter().chain([k]).collect();
            let on_rhs: Vec<_> = [k].into_iter().chain(column).collect();
            (a[offset(&lhs.shape, &on_lhs)], b[offset(&rhs.shape, &on_rhs)])
        })
    })
}

fn matmul<T: Number>(lhs: &Array, rhs: &Array, to: &Concrete<'_>) -> Array {
    let (a, b) = (T::elements(lhs), T::elements(rhs));
    let (lhs_batch, lhs_matrix) = lhs.shape.split_at(lhs.shape.len() - 2);
    let (rhs_batch, rhs_matrix) = rhs.shape.split_at(rhs.shape.len() - 2);
    let (rows, shared, columns) = (lhs_matrix[0], lhs_matrix[1], rhs_matrix[1]);
    to.tabulate(|position| {
        let (batch, at) = position.split_at(position.len() - 2);
        let from_a = (broadcast_offset(lhs_batch, batch) * rows + at[0]) * shared;
        let from_b = broadcast_offset(rhs_batch, batch) * shared * columns + at[1];
        contract(shared, |k| (a[from_a + k], b[from_b + k * columns]))
    })
}

fn contract<T: Number>(count: usize, factors: impl Fn(usize) -> (T, T)) -> T {
    T::narrow((0..count).fold(T::NOTHING, |total, k| {
        let (a, b) = factors(k);
        a.accumulate_product(b, total)
    }))
}

/// The shapes of a convolution. A gradient reads the result, and computes the image or the filter.
struct ConvolutionShapes<'a> {
    image: &'a [usize],
    filter: &'a [usize],
    result: &'a [usize],
}

/// One position of the window at one position of the result: the offsets in all three tensors.
struct Tap {
    image: usize,
    filter: usize,
    result: usize,
}

/// Sums products over all taps. `term` returns the offset that a product is added at, and the offsets of its factors in
/// both operands.
fn convolved(
    shapes: &ConvolutionShapes<'_>,
    convolution: &Convolution,
    operands: &[&Array],
    to: &Concrete<'_>,
    term: impl Fn(Tap) -> [usize; 3],
) -> Array {
    let ConvolutionShapes { image, filter, result } = *shapes;
    let before = [0, 1].map(|axis| convolution.before(axis, image[axis + 1], filter[axis]));
    with_number!(to.dtype, T => {
        let (a, b) = (T::elements(operands[0]), T::elements(operands[1]));
        let mut totals = vec![T::NOTHING; to.shape.iter().product()];
        for at in positions(result) {
            for window in positions(&filter[..3]) {
                // The place in the image along an axis, if it is not in the padding.
                let place = |axis: usize| {
                    let padded = at[axis + 1] * position(convolution.strides[axis]) + window[axis];
                    padded.checked_sub(before[axis]).filter(|place| *place < image[axis + 1])
                };
                let (Some(row), Some(column)) = (place(0), place(1)) else { continue };
                let [target, from_a, from_b] = term(Tap {
                    image: offset(image, &[at[0], row, column, window[2]]),
                    filter: offset(filter, &[window[0], window[1], window[2], at[3]]),
                    result: offset(result, &at),
                });
                totals[target] = a[from_a].accumulate_product(b[from_b], totals[target]);
            }
        }
        Array::new(to.shape, T::wrap(totals.into_iter().map(T::narrow).collect()))
    })
}

/// Evaluates a pool or a derivative of one.
fn pooled(pool: &Pool, operands: &[&Array], to: &Concrete<'_>) -> Array {
    let pooling = pool.pooling();
    let (x, result): (&[usize], &[usize]) = match pool {
        Pool::Max(_) | Pool::MaxTake(_) | Pool::Total(_) | Pool::Depthwise(_) => {
            (&operands[0].shape, to.shape)
        }
        Pool::MaxGrad(_) | Pool::DepthwiseGradFilter(_) => (&operands[0].shape, &operands[1].shape),
        Pool::SumGrad { .. } | Pool::DepthwiseGradInput { .. } => (to.shape, &operands[0].shape),
    };
    let lead = pooling.lead(x.len());
    let sizes: Vec<usize> = pooling.sizes.iter().map(|size| position(*size)).collect();
    // The elements of the window at a position of the result: offsets in the tensor, and in a filter.
    let taps = |at: &[usize]| -> Vec<[usize; 2]> {
        let channels = x[x.len() - 1];
        let taps = positions(&sizes).enumerate().filter_map(|(number, tap)| {
            let mut place = at.to_vec();
            for (axis, tap) in tap.iter().enumerate() {
                let padded = at[lead + axis] * position(pooling.slide.strides[axis])
                    + tap * position(pooling.dilations[axis]);
                let extent = x[lead + axis];
                let inside = padded.checked_sub(pooling.before(axis, extent));
                place[lead + axis] = inside.filter(|inside| *inside < extent)?;
            }
            Some([offset(x, &place), number * channels + at[x.len() - 1]])
        });
        taps.collect()
    };
    let window = |at: &[usize]| -> Vec<usize> { taps(at).into_iter().map(|[place, _]| place).collect() };
    with_number!(to.dtype, T => {
        let first = T::elements(operands[0]);
        // The offset of the first of the largest elements, or of the first NaN.
        let chosen = |at: &[usize]| {
            window(at).into_iter().reduce(|largest, new| {
                let (a, b) = (first[largest], first[new]);
                if b > a || (is_nan(b) && !is_nan(a)) { new } else { largest }
            })
        };
        match pool {
            Pool::Max(_) => to.tabulate(|at| chosen(&at).map_or(T::neutral(Neutral::Least), |place| first[place])),
            Pool::MaxTake(_) => {
                let second = T::elements(operands[1]);
                to.tabulate(|at| chosen(&at).map_or(T::default(), |place| second[place]))
            }
            Pool::Total(_) => to.tabulate(|at| {
                let sum = |total, place: usize| first[place].accumulate(total);
                T::narrow(window(&at).into_iter().fold(T::NOTHING, sum))
            }),
            Pool::MaxGrad(_) | Pool::SumGrad { .. } => {
                let is_sum = matches!(pool, Pool::SumGrad { .. });
                let dy = T::elements(operands[operands.len() - 1]);
                let mut totals = vec![T::NOTHING; to.shape.iter().product()];
                for (at, dy) in positions(result).zip(dy) {
                    let places = if is_sum { window(&at) } else { chosen(&at).into_iter().collect() };
                    for place in places {
                        totals[place] = dy.accumulate(totals[place]);
                    }
                }
                Array::new(to.shape, T::wrap(totals.into_iter().map(T::narrow).collect()))
            }
            Pool::Depthwise(_) | Pool::DepthwiseGradInput { .. } | Pool::DepthwiseGradFilter(_) => {
                let second = T::elements(operands[1]);
                let mut totals = vec![T::NOTHING; to.shape.iter().product()];
                for (result, at) in positions(result).enumerate() {
                    for [place, factor] in taps(&at) {
                        let [target, a, b] = match pool {
                            Pool::Depthwise(_) => [result, place, factor],
                            Pool::DepthwiseGradInput { .. } => [place, result, factor],
                            _ => [factor, place, result],
                        };
                        totals[target] = first[a].accumulate_product(second[b], totals[target]);
                    }
                }
                Array::new(to.shape, T::wrap(totals.into_iter().map(T::narrow).collect()))
            }
        }
    })
}

/// Whether a number is NaN.
#[allow(clippy::eq_op, reason = "only a NaN differs from itself")]
fn is_nan<T: PartialEq>(number: T) -> bool {
    number != number
}
