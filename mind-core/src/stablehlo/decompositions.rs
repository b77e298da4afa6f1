//! Lowers decompositions of matrices.
//!
//! XLA expands the calls named `Qr` and `ProductOfElementaryHouseholderReflectors` to loops, on every device
//! (`qr_expander.cc`). Eigenvalues and singular values are found by the rotations of Jacobi, of
//! all columns in pairs at the same time: XLA's own `Eigh` leaves errors of 1e-8 in `f64`, and it has no call for
//! singular values. Source: G. H. Golub and C. F. Van Loan, *Matrix Computations*, 4th edition, sections 8.5 and 8.6.

use super::{
    elements::{apply, evaluate},
    matrices::{nan_where_any, over, triangle},
    ordering::sort,
    tensor::{Tensor, list, number},
    writer::{SsaValue, Writer},
};
use crate::{map::Map, reduce::Reduce, ty::DType};

/// The most rounds in which each pair of columns is turned. About 10 are needed.
const MOST_ROUNDS: i64 = 40;

/// The rows of `Q`, and those of the transpose of `R`.
pub(super) fn qr(writer: &mut Writer, a: SsaValue, to: Tensor) -> SsaValue {
    let (x, scale) = scaled(writer, a);
    let (q, packed) = reflected(writer, x);
    let [.., _, rank] = writer.tensor(q).shape[..] else { unreachable!("it is a matrix") };
    let upper = triangle(writer, packed, "where(le(row, column), x, 0.0)");
    let r = part(writer, upper, 2, [0, rank]);
    let r = product(writer, r, scale);
    let r = transposed(writer, r);
    let factors = joined(writer, &[q, r], 2, to);
    nan_without_numbers(writer, a, factors)
}

/// The first columns of the product of the reflections of a QR decomposition, and `R` with their vectors below.
fn reflected(writer: &mut Writer, x: SsaValue) -> (SsaValue, SsaValue) {
    let whole = writer.tensor(x).clone();
    let [ref batch @ .., rows, columns] = whole.shape[..] else { unreachable!("it is a matrix") };
    let rank = rows.min(columns);
    let factors = whole.with_shape([batch, &[rank]].concat());
    let results = format!("({whole}, {factors})");
    let (names, types) = (writer.names(&[x]), writer.types(&[x], results));
    let [packed, factors] = writer
        .two_results([whole.clone(), factors], format_args!("stablehlo.custom_call @Qr({names}) : {types}"));
    let vectors = part(writer, packed, 1, [0, rank]);
    let to = writer.tensor(vectors).clone();
    let (names, types) = (writer.names(&[vectors, factors]), writer.types(&[vectors, factors], &to));
    let call =
        format_args!("stablehlo.custom_call @ProductOfElementaryHouseholderReflectors({names}) : {types}");
    let q = writer.line(to, call);
    (q, packed)
}

/// A row of eigenvalues, and the rows of the matrix of eigenvectors.
///
/// A multiple of the identity is added, so that no eigenvalue is negative. Then they are singular values, with the same
/// vectors on both sides.
pub(super) fn eigh(writer: &mut Writer, a: SsaValue, to: Tensor) -> SsaValue {
    let lower = triangle(writer, a, "where(le(column, row), x, 0.0)");
    let upper = transposed(writer, lower);
    let upper = triangle(writer, upper, "where(lt(row, column), x, 0.0)");
    let whole = apply(writer, Map::PLUS, &[lower, upper]);
    let (x, scale) = scaled(writer, whole);
    let sizes = evaluate(writer, "abs(x)", &[("x", x)]);
    let sums = over_rows(writer, Reduce::TOTAL, sizes);
    let columns = writer.tensor(sums).rank() - 1;
    let most = over(writer, Reduce::LARGEST, sums, &[columns]);
    let identity = triangle(writer, x, "where(eq(row, column), 1.0, 0.0)");
    let added = product(writer, identity, most);
    let shifted = apply(writer, Map::PLUS, &[x, added]);
    let (turned, vectors) = orthogonal(writer, shifted, Order::Ascending);
    let products = apply(writer, Map::TIMES, &[turned, vectors]);
    let values = over_rows(writer, Reduce::TOTAL, products);
    let line = writer.tensor(values).shape.clone();
    let most = writer.broadcast(most, &line);
    let values = evaluate(writer, "x - most", &[("x", values), ("most", most)]);
    let values = product(writer, values, scale);
    let signs = signs(writer, vectors);
    let vectors = product(writer, vectors, signs);
    let factors = joined(writer, &[values, vectors], 2, to);
    nan_without_numbers(writer, lower, factors)
}

/// A row of singular values, and the rows of `U` and `V`.
pub(super) fn svd(writer: &mut Writer, a: SsaValue, to: Tensor) -> SsaValue {
    let [.., rows, columns] = writer.tensor(a).shape[..] else { unreachable!("it is a matrix") };
    let tall = if rows < columns { transposed(writer, a) } else { a };
    let (x, scale) = scaled(writer, tall);
    let (turned, of_columns) = orthogonal(writer, x, Order::Descending);
    let squares = apply(writer, Map::TIMES, &[turned, turned]);
    let squares = over_rows(writer, Reduce::TOTAL, squares);
    let values = evaluate(writer, "sqrt(x)", &[("x", squares)]);
    let values = product(writer, values, scale);
    // Reflections divide columns by their lengths, and find vectors beside those of columns of zeros.
    let (of_rows, packed) = reflected(writer, turned);
    let diagonal = triangle(writer, packed, "where(eq(row, column), x, 0.0)");
    let diagonal = over_rows(writer, Reduce::TOTAL, diagonal);
    let turns = evaluate(writer, "where(lt(x, 0.0), -1.0, 1.0)", &[("x", diagonal)]);
    let of_rows = product(writer, of_rows, turns);
    let signs = signs(writer, of_rows);
    let [of_rows, of_columns] = [of_rows, of_columns].map(|vectors| product(writer, vectors, signs));
    let parts = if rows < columns { [values, of_columns, of_rows] } else { [values, of_rows, of_columns] };
    let factors = joined(writer, &parts, 2, to);
    nan_without_numbers(writer, a, factors)
}

/// The order of columns by their lengths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Ascending,
    Descending,
}

/// The product of a matrix and an orthogonal one whose columns are orthogonal, in an order, and the orthogonal matrix.
/// The matrix has as many rows as columns, or more.
fn orthogonal(writer: &mut Writer, x: SsaValue, order: Order) -> (SsaValue, SsaValue) {
    let whole = writer.tensor(x).clone();
    let [ref batch @ .., rows, columns] = whole.shape[..] else { unreachable!("it is a matrix") };
    let pairs = (columns + 1) / 2;
    let identity = whole.with_shape([batch, &[columns, columns]].concat());
    let zeros = writer.constant(&number(0.0, whole.dtype), identity);
    let identity = triangle(writer, zeros, "where(eq(row, column), 1.0, x)");
    let both = whole.with_shape([batch, &[rows + columns, columns]].concat());
    let mut both = joined(writer, &[x, identity], 2, both);
    if columns % 2 == 1 {
        let zeros = whole.with_shape([batch, &[rows + columns, 1]].concat());
        let zeros = writer.constant(&number(0.0, whole.dtype), zeros);
        let even = whole.with_shape([batch, &[rows + columns, columns + 1]].concat());
        both = joined(writer, &[both, zeros], 1, even);
    }
    let [left, right] = [[0, pairs], [pairs, 2 * pairs]].map(|columns| part(writer, both, 1, columns));
    let both = rounds(writer, [left, right], rows);
    let [lengths, is_own] = [[0, rows], [rows, rows + columns]].map(|rows| {
        let vectors = part(writer, both, 2, rows);
        let squares = apply(writer, Map::TIMES, &[vectors, vectors]);
        over_rows(writer, Reduce::TOTAL, squares)
    });
    // The added column of zeros comes last.
    let last = if order == Order::Ascending { f64::INFINITY } else { -1.0 };
    let line = writer.tensor(lengths).clone();
    let last = writer.constant(&number(last, line.dtype), line);
    let names = [("x", lengths), ("own", is_own), ("last", last)];
    let key = evaluate(writer, "where(lt(own, 0.5), last, x)", &names);
    let to = writer.tensor(both).clone();
    let key = writer.broadcast(key, &to.shape);
    let sorted = sort(writer, whole.rank() as i64 - 1, order == Order::Descending, key, to, Some(both));
    let sorted = part(writer, sorted, 1, [0, columns]);
    (part(writer, sorted, 2, [0, rows]), part(writer, sorted, 2, [rows, rows + columns]))
}

/// Turns the pairs of a left and a right column, and exchanges columns, until all pairs were met without a turn. Only
/// the first `rows` rows have to be orthogonal. Returns all columns, in some order.
fn rounds(writer: &mut Writer, [left, right]: [SsaValue; 2], rows: i64) -> SsaValue {
    let half = writer.tensor(left).clone();
    let [ref batch @ .., height, pairs] = half.shape[..] else { unreachable!("it is a matrix") };
    let steps = 2 * pairs - 1;
    let place = Tensor::scalar(DType::I64);
    let [zero, one, round, most] =
        [0, 1, steps, MOST_ROUNDS * steps].map(|count| writer.constant(&count.to_string(), place.clone()));
    let under_way = writer.start(&[zero, zero, left, right]);
    let [step, quiet, left, right] = under_way.now[..] else { unreachable!("the loop carries four values") };
    let outer = writer.open();
    let goes_on = evaluate(
        writer,
        "and(lt(step, most), lt(quiet, round))",
        &[("step", step), ("most", most), ("quiet", quiet), ("round", round)],
    );
    let condition = writer.close(outer, &[goes_on]);
    let outer = writer.open();
    let [own, other] = [left, right].map(|columns| part(writer, columns, 2, [0, rows]));
    let [alpha, beta, gamma] = [(own, own), (other, other), (own, other)].map(|(a, b)| {
        let products = apply(writer, Map::TIMES, &[a, b]);
        over_rows(writer, Reduce::TOTAL, products)
    });
    let small = (rows as f64).sqrt() * epsilon(half.dtype);
    let line = writer.tensor(gamma).clone();
    let [small, least] = [small, least_normal(half.dtype)]
        .map(|bound| writer.constant(&number(bound, half.dtype), line.clone()));
    let names = [("alpha", alpha), ("beta", beta), ("gamma", gamma), ("small", small), ("least", least)];
    let bound = evaluate(writer, "maximum(small * sqrt(alpha) * sqrt(beta), least)", &names);
    let is_turned = evaluate(writer, "where(lt(bound, abs(x)), 1.0, 0.0)", &[("bound", bound), ("x", gamma)]);
    let half_of = evaluate(writer, "(beta - alpha) / (2.0 * gamma)", &names);
    let tangent =
        evaluate(writer, "where(lt(x, 0.0), -1.0, 1.0) / (abs(x) + sqrt(1.0 + x * x))", &[("x", half_of)]);
    let tangent =
        evaluate(writer, "where(eq(turned, 0.0), 0.0, x)", &[("turned", is_turned), ("x", tangent)]);
    let cosine = evaluate(writer, "1.0 / sqrt(1.0 + x * x)", &[("x", tangent)]);
    let sine = apply(writer, Map::TIMES, &[cosine, tangent]);
    let [cosine, sine] = [cosine, sine].map(|line| writer.broadcast(line, &half.shape));
    let names = [("left", left), ("right", right), ("c", cosine), ("s", sine)];
    let mut next =
        [evaluate(writer, "c * left - s * right", &names), evaluate(writer, "s * left + c * right", &names)];
    if pairs > 1 {
        // The first column stays, and the others move round.
        let [left, right] = next;
        let columns = |writer: &mut Writer, of, range| part(writer, of, 1, range);
        let first = columns(writer, left, [0, 1]);
        let down = columns(writer, right, [0, 1]);
        let up = columns(writer, left, [pairs - 1, pairs]);
        let backward = columns(writer, right, [1, pairs]);
        let forward = (pairs > 2).then(|| columns(writer, left, [1, pairs - 1]));
        let lefts: Vec<SsaValue> = [first, down].into_iter().chain(forward).collect();
        next = [joined(writer, &lefts, 1, half.clone()), joined(writer, &[backward, up], 1, half.clone())];
    }
    let axes: Vec<usize> = (0..half.rank()).collect();
    let any = over(writer, Reduce::LARGEST, is_turned, &axes);
    let any = writer.reshaped(any, &[]);
    let names = [("any", any), ("quiet", quiet), ("one", one), ("zero", zero)];
    let quiet = evaluate(writer, "where(eq(any, 0.0), quiet + one, zero)", &names);
    let step = apply(writer, Map::PLUS, &[step, one]);
    let body = writer.close(outer, &[step, quiet, next[0], next[1]]);
    let results = writer.repeat(under_way, &condition, &body);
    let to = half.with_shape([batch, &[height, 2 * pairs]].concat());
    joined(writer, &results[2..], 1, to)
}

/// Matrices divided by their largest magnitude, and that, unless it is 0 or no number.
fn scaled(writer: &mut Writer, a: SsaValue) -> (SsaValue, SsaValue) {
    let whole = writer.tensor(a).clone();
    let sizes = evaluate(writer, "abs(x)", &[("x", a)]);
    let largest = over(writer, Reduce::LARGEST, sizes, &[whole.rank() - 2, whole.rank() - 1]);
    let line = writer.tensor(largest).clone();
    let [least, most] = [least_normal(whole.dtype), largest_number(whole.dtype)]
        .map(|bound| writer.constant(&number(bound, whole.dtype), line.clone()));
    let names = [("x", largest), ("least", least), ("most", most)];
    let scale = evaluate(writer, "where(lt(x, least), 1.0, where(le(x, most), x, 1.0))", &names);
    let divisor = writer.broadcast(scale, &whole.shape);
    (evaluate(writer, "x / divisor", &[("x", a), ("divisor", divisor)]), scale)
}

/// Results, with NaN for those of the matrices of which an element is infinite or NaN.
fn nan_without_numbers(writer: &mut Writer, a: SsaValue, results: SsaValue) -> SsaValue {
    let whole = writer.tensor(a).clone();
    let most = writer.constant(&number(largest_number(whole.dtype), whole.dtype), whole);
    let marks = evaluate(writer, "where(le(abs(x), most), 0.0, 1.0)", &[("x", a), ("most", most)]);
    nan_where_any(writer, marks, results)
}

/// For each column 1 or -1: the sign of the first element that is at least half as large as the largest.
fn signs(writer: &mut Writer, columns: SsaValue) -> SsaValue {
    let whole = writer.tensor(columns).clone();
    let sizes = evaluate(writer, "abs(x)", &[("x", columns)]);
    let largest = over_rows(writer, Reduce::LARGEST, sizes);
    let largest = writer.broadcast(largest, &whole.shape);
    let row = writer.iota(whole.rank() - 2, whole.clone());
    let after = writer.constant(&number(f64::INFINITY, whole.dtype), whole.clone());
    let names = [("x", sizes), ("largest", largest), ("row", row), ("after", after)];
    let places = evaluate(writer, "where(lt(x + x, largest), after, row)", &names);
    let first = over_rows(writer, Reduce::Min, places);
    let first = writer.broadcast(first, &whole.shape);
    let names = [("x", columns), ("row", row), ("first", first)];
    let own = evaluate(writer, "where(eq(row, first), x, 0.0)", &names);
    let own = over_rows(writer, Reduce::TOTAL, own);
    evaluate(writer, "where(lt(x, 0.0), -1.0, 1.0)", &[("x", own)])
}

fn over_rows(writer: &mut Writer, reduce: Reduce, x: SsaValue) -> SsaValue {
    let rows = writer.tensor(x).rank() - 2;
    over(writer, reduce, x, &[rows])
}

/// The product with numbers that are broadcast.
fn product(writer: &mut Writer, x: SsaValue, numbers: SsaValue) -> SsaValue {
    let shape = writer.tensor(x).shape.clone();
    let numbers = writer.broadcast(numbers, &shape);
    apply(writer, Map::TIMES, &[x, numbers])
}

pub(super) fn transposed(writer: &mut Writer, x: SsaValue) -> SsaValue {
    let mut to = writer.tensor(x).clone();
    let rank = to.rank();
    to.shape.swap(rank - 2, rank - 1);
    let axes = list((0..rank - 2).chain([rank - 1, rank - 2]));
    writer.operation("stablehlo.transpose", &[x], format_args!(", dims = {axes}"), to)
}

/// A range along an axis, which is counted from the end.
fn part(writer: &mut Writer, x: SsaValue, from_end: usize, [start, end]: [i64; 2]) -> SsaValue {
    let mut to = writer.tensor(x).clone();
    let axis = to.rank() - from_end;
    if [start, end] == [0, to.shape[axis]] {
        return x;
    }
    let range = |(at, extent): (usize, &i64)| {
        if at == axis { format!("{start}:{end}") } else { format!("0:{extent}") }
    };
    let ranges = list(to.shape.iter().enumerate().map(range));
    to.shape[axis] = end - start;
    writer.operation("stablehlo.slice", &[x], format_args!(" {ranges}"), to)
}

/// Values one after the other along an axis, which is counted from the end.
fn joined(writer: &mut Writer, values: &[SsaValue], from_end: usize, to: Tensor) -> SsaValue {
    let axis = to.rank() - from_end;
    writer.operation("stablehlo.concatenate", values, format_args!(", dim = {axis}"), to)
}

const fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => f32::EPSILON as f64,
        _ => f64::EPSILON,
    }
}

const fn least_normal(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => f32::MIN_POSITIVE as f64,
        _ => f64::MIN_POSITIVE,
    }
}

const fn largest_number(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => f32::MAX as f64,
        _ => f64::MAX,
    }
}
