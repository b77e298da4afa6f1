//! Evaluates operations on matrices in `f64`, one matrix after the other.

use super::{Array, Element, Elements, evaluate::Concrete, with_float};
use crate::ir::{Factorization, Matrix, Triangular};
use crate::ty::DType;

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
        Matrix::Factor(Factorization::Cholesky) => {
            each(0).flat_map(|a| cholesky(n, &symmetric_part(n, a, to.dtype))).collect()
        }
        Matrix::Factor(Factorization::Lu) => each(0).flat_map(|a| lu(n, a)).collect(),
        Matrix::Factor(Factorization::Qr) => each(0).flat_map(|a| decomposed(n, a, qr)).collect(),
        Matrix::Factor(Factorization::Eigh) => {
            each(0).flat_map(|a| decomposed(n, &symmetric(n, a), eigh)).collect()
        }
        Matrix::Factor(Factorization::Svd) => each(0).flat_map(|a| decomposed(n, a, svd)).collect(),
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

/// `(a + aᵀ) / 2`, rounded as tensors of this type.
fn symmetric_part(n: usize, a: &[f64], dtype: DType) -> Vec<f64> {
    let rounded = |x: f64| with_float!(dtype, T => f64::from(x as T));
    (0..n * n).map(|at| rounded(rounded(0.5 * a[at]) + rounded(0.5 * a[at % n * n + at / n]))).collect()
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

/// A matrix as its columns.
type Columns = Vec<Vec<f64>>;

/// The rows that `decompose` computes of a matrix of `n` columns, scaled by a power of two so that no square overflows.
/// The first rows or the last ones, of which it returns the numbers, are then scaled back. NaN if an element is not
/// finite.
fn decomposed(n: usize, a: &[f64], decompose: fn(Columns) -> (Columns, std::ops::Range<usize>)) -> Vec<f64> {
    let largest = a.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    let scale = if largest > 0.0 { largest.log2().floor().exp2() } else { 1.0 };
    let columns = (0..n).map(|j| a.iter().skip(j).step_by(n).map(|x| x / scale).collect()).collect();
    let (mut rows, scaled) = decompose(columns);
    rows[scaled].iter_mut().flatten().for_each(|x| *x *= scale);
    let is_finite = a.iter().all(|x| x.is_finite());
    rows.into_iter().flatten().map(|x| if is_finite { x } else { f64::NAN }).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The rows of a matrix of `count` rows.
fn rows(count: usize, columns: &[Vec<f64>]) -> Columns {
    (0..count).map(|i| columns.iter().map(|column| column[i]).collect()).collect()
}

/// The first columns of the identity, of `len` elements.
fn identity(len: usize, count: usize) -> Columns {
    (0..count).map(|j| (0..len).map(|i| if i == j { 1.0 } else { 0.0 }).collect()).collect()
}

/// The rows of `Q`, and those of the transpose of `R`, by reflections.
fn qr(mut a: Columns) -> (Columns, std::ops::Range<usize>) {
    let (m, n) = (a[0].len(), a.len());
    let rank = m.min(n);
    // Each vector `v` is that of the reflection `1 - v vᵀ`.
    let mut reflections = Vec::new();
    let reflect = |v: &[f64], x: &mut [f64]| {
        let along = dot(v, x);
        x.iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
    };
    for j in 0..rank {
        let mut v: Vec<f64> = a[j].iter().enumerate().map(|(i, x)| if i < j { 0.0 } else { *x }).collect();
        let below = v[j + 1..].iter().fold(0.0, |norm: f64, x| norm.hypot(*x));
        if below > 0.0 {
            v[j] += v[j].hypot(below).copysign(v[j]);
            let length = v[j].hypot(below) / 2.0_f64.sqrt();
            v.iter_mut().for_each(|x| *x /= length);
            a[j..].iter_mut().for_each(|column| reflect(&v, column));
            reflections.push(v);
        }
    }
    let mut q = identity(m, rank);
    for v in reflections.iter().rev() {
        q.iter_mut().for_each(|column| reflect(v, column));
    }
    let triangle = a
        .iter()
        .enumerate()
        .map(|(j, column)| (0..rank).map(|i| if i <= j { column[i] } else { 0.0 }).collect());
    ([rows(m, &q), triangle.collect()].concat(), m..m + n)
}

/// The symmetric matrix of which `a` has the lower triangle.
fn symmetric(n: usize, a: &[f64]) -> Vec<f64> {
    (0..n * n).map(|at| (at / n, at % n)).map(|(i, j)| a[i.max(j) * n + i.min(j)]).collect()
}

/// The most rounds in which each pair of columns is turned.
const MOST_ROUNDS: usize = 60;

/// The cosine and sine of the rotation that makes the symmetric matrix with the diagonal `p`, `q` and `off` beside it
/// diagonal.
fn rotation(p: f64, q: f64, off: f64) -> [f64; 2] {
    let half = (q - p) / (2.0 * off);
    let tangent = 1.0_f64.copysign(half) / (half.abs() + half.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    [cosine, tangent * cosine]
}

/// Turns two columns.
fn turn(columns: &mut [Vec<f64>], [p, q]: [usize; 2], [c, s]: [f64; 2]) {
    let (before, after) = columns.split_at_mut(q);
    for (x, y) in before[p].iter_mut().zip(&mut after[0]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

/// Calls `turned` with all pairs of `n` columns until it turns none.
fn by_rotations(n: usize, mut turned: impl FnMut([usize; 2]) -> bool) {
    for _ in 0..MOST_ROUNDS {
        let mut is_done = true;
        for q in 1..n {
            for p in 0..q {
                is_done &= !turned([p, q]);
            }
        }
        if is_done {
            break;
        }
    }
}

/// Minus 1 if the first element with at least half the largest magnitude is negative, else 1.
fn sign(column: &[f64]) -> f64 {
    let half = column.iter().fold(0.0, |largest: f64, x| largest.max(x.abs())) / 2.0;
    let first = column.iter().find(|x| x.abs() >= half);
    first.map_or(1.0, |x| if *x < 0.0 { -1.0 } else { 1.0 })
}

/// A row with the ascending eigenvalues, and the rows of the matrix of eigenvectors, by rotations of Jacobi.
fn eigh(mut a: Columns) -> (Columns, std::ops::Range<usize>) {
    let n = a.len();
    let mut vectors = identity(n, n);
    by_rotations(n, |[p, q]| {
        let off = a[p][q];
        let is_turned =
            off.abs() > f64::EPSILON * 0.25 * a[p][p].abs().min(a[q][q].abs()) && off.abs() > 1e-290;
        if is_turned {
            let by = rotation(a[p][p], a[q][q], off);
            turn(&mut a, [p, q], by);
            let mut across = rows(n, &a);
            turn(&mut across, [p, q], by);
            a = across;
            turn(&mut vectors, [p, q], by);
        }
        is_turned
    });
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|i, j| a[*i][*i].total_cmp(&a[*j][*j]));
    let values = order.iter().map(|j| a[*j][*j]).collect();
    let signed = |j: &usize| vectors[*j].iter().map(|x| x * sign(&vectors[*j])).collect();
    let vectors: Columns = order.iter().map(signed).collect();
    ([vec![values], rows(n, &vectors)].concat(), 0..1)
}

/// A row with the descending singular values, and the rows of `U` and `V`, by rotations of Jacobi of the columns.
fn svd(mut a: Columns) -> (Columns, std::ops::Range<usize>) {
    let (m, n) = (a[0].len(), a.len());
    if m < n {
        let (mut factors, values) = svd(rows(m, &a));
        factors[1..].rotate_left(n);
        return (factors, values);
    }
    let mut v = identity(n, n);
    by_rotations(n, |[p, q]| {
        let [squares, others, off] = [(p, p), (q, q), (p, q)].map(|(p, q)| dot(&a[p], &a[q]));
        let is_turned = off.abs() > f64::EPSILON * (squares * others).sqrt() && off.abs() > 1e-290;
        if is_turned {
            let by = rotation(squares, others, off);
            turn(&mut a, [p, q], by);
            turn(&mut v, [p, q], by);
        }
        is_turned
    });
    let lengths: Vec<f64> = a.iter().map(|column| dot(column, column).sqrt()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|i, j| lengths[*j].total_cmp(&lengths[*i]));
    let mut u = Columns::new();
    for j in &order {
        let mut column: Vec<f64> = a[*j].iter().map(|x| x / lengths[*j]).collect();
        if lengths[*j] == 0.0 {
            column = beside(m, &u);
        }
        let sign = sign(&column);
        column.iter_mut().for_each(|x| *x *= sign);
        v[*j].iter_mut().for_each(|x| *x *= sign);
        u.push(column);
    }
    let values = order.iter().map(|j| lengths[*j]).collect();
    let v: Columns = order.iter().map(|j| v[*j].clone()).collect();
    ([vec![values], rows(m, &u), rows(n, &v)].concat(), 0..1)
}

/// A vector of length 1 that is orthogonal to fewer than `len` orthonormal vectors.
fn beside(len: usize, others: &[Vec<f64>]) -> Vec<f64> {
    let rest = |mut x: Vec<f64>| {
        // Once more, since the first time may leave rounding errors.
        for other in others.iter().chain(others) {
            let along = dot(other, &x);
            x.iter_mut().zip(other).for_each(|(x, other)| *x -= along * other);
        }
        let length = dot(&x, &x).sqrt();
        (length, x)
    };
    let all = identity(len, len).into_iter().map(rest);
    let (length, x) = all.max_by(|a, b| a.0.total_cmp(&b.0)).expect("a matrix has rows");
    x.into_iter().map(|x| x / length).collect()
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
