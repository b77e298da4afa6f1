//! Lowers operations on the matrices in the last two axes.

use super::{
    decompositions,
    elements::{self, apply},
    reductions,
    tensor::{Tensor, number},
    writer::{SsaValue, Writer},
};
use crate::{
    ir::{Factorization, Matrix, Reduction, Triangular},
    map::Map,
    reduce::{ArgReduce, Reduce},
    ty::DType,
};

pub(super) fn lower(writer: &mut Writer, matrix: Matrix, operands: &[SsaValue], to: Tensor) -> SsaValue {
    let first = operands[0];
    match matrix {
        Matrix::Factor(Factorization::Cholesky) => {
            let other = decompositions::transposed(writer, first);
            let formula = "add(mul(0.5, x), mul(0.5, y))";
            let symmetric = elements::evaluate(writer, formula, &[("x", first), ("y", other)]);
            let factor =
                writer.operation("stablehlo.cholesky", &[symmetric], format_args!(", lower = true"), to);
            triangle(writer, factor, "where(le(column, row), x, 0.0)")
        }
        Matrix::Factor(Factorization::Lu) => lu(writer, first, &to),
        Matrix::Factor(Factorization::Qr) => decompositions::qr(writer, first, to),
        Matrix::Factor(Factorization::Eigh) => decompositions::eigh(writer, first, to),
        Matrix::Factor(Factorization::Svd) => decompositions::svd(writer, first, to),
        Matrix::SolveTriangular(of) => solve_triangular(writer, of, [first, operands[1]], to),
        Matrix::Triangle { lower, strict } => {
            let kept = match (lower, strict) {
                (true, false) => "where(le(column, row), x, 0.0)",
                (true, true) => "where(lt(column, row), x, 0.0)",
                (false, false) => "where(le(row, column), x, 0.0)",
                (false, true) => "where(lt(row, column), x, 0.0)",
            };
            triangle(writer, first, kept)
        }
    }
}

/// The number of the row and of the column of each element of these matrices.
fn positions(writer: &mut Writer, of: &Tensor) -> [SsaValue; 2] {
    let rank = of.rank();
    [rank - 2, rank - 1].map(|axis| writer.iota(axis, Tensor::new(DType::I64, of.shape.clone())))
}

/// A formula of the elements `x` and their positions `row` and `column`.
pub(super) fn triangle(writer: &mut Writer, x: SsaValue, formula: &'static str) -> SsaValue {
    let [row, column] = positions(writer, &writer.tensor(x).clone());
    elements::evaluate(writer, formula, &[("x", x), ("row", row), ("column", column)])
}

fn solve_triangular(writer: &mut Writer, of: Triangular, [a, b]: [SsaValue; 2], to: Tensor) -> SsaValue {
    let Triangular { lower, transposed, unit_diagonal } = of;
    let transposed = if transposed { "TRANSPOSE" } else { "NO_TRANSPOSE" };
    let (names, types) = (writer.names(&[a, b]), writer.types(&[a, b], &to));
    let x = writer.line(
        to,
        format_args!(
            "\"stablehlo.triangular_solve\"({names}) <{{left_side = true, lower = {lower}, transpose_a = \
             #stablehlo<transpose {transposed}>, unit_diagonal = {unit_diagonal}}}> : {types}"
        ),
    );
    if unit_diagonal {
        return x;
    }
    let is_singular = triangle(writer, a, "where(eq(row, column), where(eq(x, 0.0), 1.0, 0.0), 0.0)");
    nan_where_any(writer, is_singular, x)
}

/// The matrices of `x`, with NaN for those for which an element of `marks` is not 0.
pub(super) fn nan_where_any(writer: &mut Writer, marks: SsaValue, x: SsaValue) -> SsaValue {
    let to = writer.tensor(x).clone();
    let marked = over(writer, Reduce::Max, marks, &[to.rank() - 2, to.rank() - 1]);
    let marked = writer.broadcast(marked, &to.shape);
    let nan = writer.constant(&number(f64::NAN, to.dtype), to);
    elements::evaluate(
        writer,
        "where(eq(marked, 0.0), x, nan)",
        &[("x", x), ("marked", marked), ("nan", nan)],
    )
}

/// A reduction over axes, which stay with extent 1.
pub(super) fn over(writer: &mut Writer, reduce: Reduce, x: SsaValue, axes: &[usize]) -> SsaValue {
    let mut to = writer.tensor(x).clone();
    axes.iter().for_each(|axis| to.shape[*axis] = 1);
    let reduction = Reduction { axes: axes.iter().map(|axis| *axis as i64).collect(), keepdims: true };
    reductions::reduce(writer, reduce, &reduction, x, &to)
}

/// The factors by a loop over the columns.
fn lu(writer: &mut Writer, a: SsaValue, to: &Tensor) -> SsaValue {
    let whole = writer.tensor(a).clone();
    let rank = whole.rank();
    let [rows, columns] = [rank - 2, rank - 1];
    let mut line = whole.clone();
    line.shape[columns] = 1;
    let place = Tensor::scalar(DType::I64);
    let [zero, one, end] =
        [0, 1, whole.shape[columns]].map(|number| writer.constant(&number.to_string(), place.clone()));
    let [row, column] = positions(writer, &whole);
    let [row_of_line, _] = positions(writer, &line);
    let from = writer.iota(rows, line.clone());
    let signs = writer.constant(&number(1.0, line.dtype), line.clone());
    let under_way = writer.start(&[zero, a, from, signs]);
    let [step, a, from, signs] = under_way.now[..] else { unreachable!("the loop carries four values") };
    let outer = writer.open();
    let goes_on = elements::evaluate(writer, "lt(step, end)", &[("step", step), ("end", end)]);
    let condition = writer.close(outer, &[goes_on]);
    let outer = writer.open();
    let at = writer.broadcast(step, &whole.shape);
    let at_of_line = writer.broadcast(step, &line.shape);
    // The only element at a position is the largest of it and minus infinities.
    let picked = |writer: &mut Writer, x, place, at, axis| {
        let to = writer.tensor(x).clone();
        let least = writer.constant(&number(f64::NEG_INFINITY, to.dtype), to);
        let own = "where(eq(place, at), x, least)";
        let own =
            elements::evaluate(writer, own, &[("x", x), ("place", place), ("at", at), ("least", least)]);
        over(writer, Reduce::Max, own, &[axis])
    };
    let candidates = picked(writer, a, column, at, columns);
    let sizes = elements::evaluate(
        writer,
        "where(lt(row, at), -1.0, abs(x))",
        &[("x", candidates), ("row", row_of_line), ("at", at_of_line)],
    );
    let mut single = Tensor::new(DType::I64, line.shape.clone());
    single.shape[rows] = 1;
    let along = Reduction { axes: vec![rows as i64], keepdims: true };
    let pivot = reductions::arg_reduce(writer, ArgReduce::Max, &along, sizes, &single);
    let exchanged = |writer: &mut Writer, x, row, at| {
        let shape = writer.tensor(x).shape.clone();
        let pivot = writer.broadcast(pivot, &shape);
        let [low, high] = [pivot, at].map(|place| {
            let own = picked(writer, x, row, place, rows);
            writer.broadcast(own, &shape)
        });
        let names = [("x", x), ("row", row), ("at", at), ("pivot", pivot), ("low", low), ("high", high)];
        elements::evaluate(writer, "where(eq(row, at), low, where(eq(row, pivot), high, x))", &names)
    };
    let (a, from) = (exchanged(writer, a, row, at), exchanged(writer, from, row_of_line, at_of_line));
    let of = picked(writer, a, row, at, rows);
    let of = writer.broadcast(of, &whole.shape);
    let below = picked(writer, a, column, at, columns);
    let divisor = picked(writer, below, row_of_line, at_of_line, rows);
    let divisor = writer.broadcast(divisor, &line.shape);
    let factors = elements::evaluate(
        writer,
        "where(le(row, at), 0.0, where(eq(divisor, 0.0), x, x / divisor))",
        &[("x", below), ("row", row_of_line), ("at", at_of_line), ("divisor", divisor)],
    );
    let factors = writer.broadcast(factors, &whole.shape);
    let names = [("x", a), ("row", row), ("column", column), ("at", at), ("factor", factors), ("of", of)];
    let rest = elements::evaluate(writer, "where(eq(column, at), factor, x - factor * of)", &names);
    let is_done =
        elements::evaluate(writer, "where(le(row, at), 1.0, where(lt(column, at), 1.0, 0.0))", &names);
    let names = [("x", a), ("rest", rest), ("done", is_done)];
    let a = elements::evaluate(writer, "where(eq(done, 0.0), rest, x)", &names);
    let pivot = writer.broadcast(pivot, &line.shape);
    let names = [("x", signs), ("row", row_of_line), ("at", at_of_line), ("pivot", pivot)];
    let signs = elements::evaluate(writer, "where(eq(row, at), where(eq(pivot, at), 1.0, -1.0), x)", &names);
    let next = apply(writer, Map::PLUS, &[step, one]);
    let body = writer.close(outer, &[next, a, from, signs]);
    let results = writer.repeat(under_way, &condition, &body);
    let mut flat = whole.shape.clone();
    flat[rows] = 1;
    let [from, signs] = [results[2], results[3]].map(|line| writer.reshaped(line, &flat));
    let between = format_args!(", dim = {rows}");
    writer.operation("stablehlo.concatenate", &[results[1], from, signs], between, to.clone())
}
