//! Evaluates operations on matrices in `f64`, one matrix after the other.

use super::{Array, Element, Elements, evaluate::Concrete, with_float};
use crate::ir::{Factorization, Matrix, Triangular};

/// Evaluates an operation on matrices. Each element is rounded once to the element type of the result.
pub(super) fn evaluate(matrix: Matrix, operands: &[&Array], to: &Concrete<'_>) -> Array {
    let matrices: Vec<(usize, Vec<f64>)> = operands.iter().map(|operand| in_f64(operand)).collect();
    let columns = |operand: usize| *operands[operand].shape.last().expect("a matrix has columns");
    let each = |operand: usize| {
        let (len, elements) = &matrices[operand];
        elements.chunks_exact(*len)
    };
    let n = columns(0);
    let results: Vec<f64> = match matrix {
        Matrix::Factor(Factorization::Cholesky) => each(0).flat_map(|a| cholesky(n, a)).collect(),
        Matrix::Factor(Factorization::Lu) => each(0).flat_map(|a| lu(n, a)).collect(),
        Matrix::SolveTriangular(of) => {
            each(0).zip(each(1)).flat_map(|(a, b)| solve_triangular(of, n, a, b)).collect()
        }
        Matrix::Triangle { lower, strict } => {
            let is_kept = |at: usize| {
                let (row, column) = (at / n, at % n);
                (if lower { column < row } else { row < column }) || !strict && row == column
            };
            each(0)
                .flat_map(|x| x.iter().enumerate().map(|(at, x)| if is_kept(at) { *x } else { 0.0 }))
                .collect()
        }
    };
    with_float!(to.dtype, T => Array::new(to.shape, T::wrap(results.into_iter().map(|x| x as T).collect())))
}

/// The number of elements of a matrix, and all elements.
fn in_f64(operand: &Array) -> (usize, Vec<f64>) {
    let len = operand.shape.iter().rev().take(2).product();
    let count = operand.shape.iter().product();
    (len, (0..count).map(|at| Elements::float(&operand.elements, at)).collect())
}

/// The lower triangular factor, row by row. Its lower triangle is NaN if the matrix is not positive definite.
fn cholesky(n: usize, a: &[f64]) -> Vec<f64> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let rest = (0..j).fold(a[i * n + j], |rest, k| rest - l[i * n + k] * l[j * n + k]);
            if j < i {
                l[i * n + j] = rest / l[j * n + j];
            } else if rest > 0.0 {
                l[i * n + i] = rest.sqrt();
            } else {
                return (0..n * n).map(|at| if at % n <= at / n { f64::NAN } else { 0.0 }).collect();
            }
        }
    }
    l
}

/// Both factors, the permutation and the signs of exchanges.
fn lu(n: usize, a: &[f64]) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> = a.chunks_exact(n).map(<[f64]>::to_vec).collect();
    let mut from: Vec<f64> = (0..n).map(|row| row as f64).collect();
    let mut signs = vec![1.0; n];
    for step in 0..n {
        let larger =
            |best: usize, row: usize| if rows[row][step].abs() > rows[best][step].abs() { row } else { best };
        let pivot = (step..n).fold(step, larger);
        if pivot != step {
            rows.swap(pivot, step);
            from.swap(pivot, step);
            signs[step] = -1.0;
        }
        let (done, rest) = rows.split_at_mut(step + 1);
        let of = &done[step];
        if of[step] == 0.0 {
            continue;
        }
        for row in rest {
            row[step] /= of[step];
            for column in step + 1..n {
                row[column] -= row[step] * of[column];
            }
        }
    }
    [rows.concat(), from, signs].concat()
}

/// The solution, from the row with one unknown on.
fn solve_triangular(of: Triangular, n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let columns = b.len() / n;
    let element =
        |row: usize, column: usize| if of.transposed { a[column * n + row] } else { a[row * n + column] };
    if !of.unit_diagonal && (0..n).any(|row| element(row, row) == 0.0) {
        return vec![f64::NAN; b.len()];
    }
    let is_lower = of.lower != of.transposed;
    let mut x = b.to_vec();
    for turn in 0..n {
        let row = if is_lower { turn } else { n - 1 - turn };
        for column in 0..columns {
            let known = if is_lower { 0..row } else { row + 1..n };
            let rest = known
                .fold(x[row * columns + column], |rest, k| rest - element(row, k) * x[k * columns + column]);
            x[row * columns + column] = if of.unit_diagonal { rest } else { rest / element(row, row) };
        }
    }
    x
}
