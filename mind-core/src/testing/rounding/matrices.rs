//! Error bounds of factorizations and of triangular systems: perturbations of the matrix, magnified by its condition.
//!
//! All norms are those of Frobenius. Sources: N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition,
//! sections 7.2, 8.1, 9.11 and 10.3; for eigenvalues and singular values the inequality of Weyl.

use super::{Near, RoundedInst};
use crate::ir::{Factorization, Triangular};

/// Perturbations that are magnified to more than this part of a result have no bound here.
const MOST: f64 = 0.1;

/// A matrix, row by row, with its number of columns.
#[derive(Clone)]
struct Dense {
    columns: usize,
    elements: Vec<f64>,
}

impl RoundedInst<'_> {
    /// Bounds of the factors of each matrix. Those of vectors are infinite: close eigenvalues exchange them, and rounding
    /// errors may change their signs.
    pub(super) fn factors(&self, factorization: Factorization) -> Vec<f64> {
        let [.., rows, columns] = *self.shape(0) else { unreachable!("inference checks the rank") };
        let near: Vec<Near> = self.operands[0].near().collect();
        let results = self.result.elements.to_f64();
        let count = near.len() / (rows * columns);
        let each = near.chunks_exact(rows * columns).zip(results.chunks_exact(results.len() / count));
        let bounds = each.flat_map(|(near, result)| {
            // An operation may read one of two equal elements only.
            let moved = 2.0 * norm(near.iter().map(|near| near.bound));
            let own = norm(near.iter().map(|near| near.element));
            let roundings = 16.0 * (rows * columns) as f64 * self.format.epsilon;
            let smaller = rows.min(columns);
            match factorization {
                Factorization::Cholesky => self.cholesky(rows, result, moved),
                Factorization::Lu => self.lu(rows, result, moved),
                Factorization::Eigh | Factorization::Svd => {
                    let of_value = or_infinite(moved + roundings * own);
                    (0..result.len()).map(|at| if at < smaller { of_value } else { f64::INFINITY }).collect()
                }
                Factorization::Qr => vec![f64::INFINITY; result.len()],
            }
        });
        bounds.collect()
    }

    /// `moved` is the norm of the perturbation of the matrix.
    fn cholesky(&self, n: usize, l: &[f64], moved: f64) -> Vec<f64> {
        let size = norm(l.iter().copied());
        let perturbation = moved + 8.0 * n as f64 * self.format.epsilon * size * size;
        let inverse = norm(inverse_of_lower(&Dense { columns: n, elements: l.to_vec() }));
        let bound = magnified(inverse * perturbation * inverse, size);
        (0..n * n).map(|at| if at % n <= at / n { bound } else { 0.0 }).collect()
    }

    /// Another evaluation has the same order of rows if every other candidate for a pivot is smaller by more than errors.
    fn lu(&self, n: usize, packed: &[f64], moved: f64) -> Vec<f64> {
        let part = |of: fn(usize, usize) -> bool, diagonal: Option<f64>| {
            let element = |at: usize| {
                let (row, column) = (at / n, at % n);
                match diagonal {
                    Some(diagonal) if row == column => diagonal,
                    _ if of(row, column) => packed[at],
                    _ => 0.0,
                }
            };
            Dense { columns: n, elements: (0..n * n).map(element).collect() }
        };
        let (l, u) = (part(|row, column| column < row, Some(1.0)), part(|row, column| row <= column, None));
        let [l_size, u_size] = [&l, &u].map(|factor| norm(factor.elements.iter().copied()));
        let perturbation = moved + 8.0 * n as f64 * self.format.epsilon * l_size * u_size;
        let inverses = norm(inverse_of_lower(&l)) * norm(inverse_of_lower(&transposed(&u)));
        let [of_l, of_u] = [l_size, u_size].map(|size| magnified(inverses * perturbation, size));
        let largest = (0..n * n).filter(|at| at % n < at / n).map(|at| packed[at].abs()).fold(0.0, f64::max);
        if largest + of_l >= 1.0 {
            return vec![f64::INFINITY; packed.len()];
        }
        let of = |at: usize| match (at / n, at % n) {
            (row, _) if row >= n => 0.0,
            (row, column) if column < row => of_l,
            _ => of_u,
        };
        (0..packed.len()).map(of).collect()
    }

    /// Bounds of the solutions of triangular systems, one for each column.
    pub(super) fn solutions(&self, of: Triangular) -> Vec<f64> {
        let [.., n, columns] = self.result.shape[..] else { unreachable!("inference checks the rank") };
        let [a, b]: [Vec<Near>; 2] = [0, 1].map(|operand| self.operands[operand].near().collect());
        let results = self.result.elements.to_f64();
        let each =
            a.chunks_exact(n * n).zip(b.chunks_exact(n * columns)).zip(results.chunks_exact(n * columns));
        let bounds = each.flat_map(|((a, b), x)| {
            let is_read = |at: &usize| match (at / n, at % n) {
                (row, column) if row == column => !of.unit_diagonal,
                (row, column) => (column < row) == of.lower,
            };
            let element = |at: usize| match (is_read(&at), at / n == at % n) {
                (true, _) => a[at].element,
                (false, is_on_diagonal) => f64::from(u8::from(is_on_diagonal)),
            };
            let read = Dense { columns: n, elements: (0..n * n).map(element).collect() };
            let lower = if of.lower { read } else { transposed(&read) };
            let size = norm(lower.elements.iter().copied());
            let moved = norm((0..n * n).filter(is_read).map(|at| a[at].bound));
            let perturbation = moved + 8.0 * n as f64 * self.format.epsilon * size;
            let inverse = norm(inverse_of_lower(&lower));
            let of_column = |column: usize| {
                let column = |at: usize| at * columns + column;
                let x = norm((0..n).map(|row| x[column(row)]));
                let b = norm((0..n).map(|row| b[column(row)].bound));
                magnified(inverse * perturbation, x) + or_infinite(2.0 * inverse * b)
            };
            let each: Vec<f64> = (0..columns).map(of_column).collect();
            (0..n).flat_map(move |_| each.clone()).collect::<Vec<_>>()
        });
        bounds.collect()
    }
}

/// The bound of a result of this size whose relative perturbation is `part`, to first order.
fn magnified(part: f64, size: f64) -> f64 {
    if part < MOST { or_infinite(2.0 * part * size) } else { f64::INFINITY }
}

/// The bound, unless it is not a number.
fn or_infinite(bound: f64) -> f64 {
    if bound.is_nan() { f64::INFINITY } else { bound }
}

fn norm(elements: impl IntoIterator<Item = f64>) -> f64 {
    elements.into_iter().map(|element| element * element).sum::<f64>().sqrt()
}

fn transposed(a: &Dense) -> Dense {
    let n = a.columns;
    Dense { columns: n, elements: (0..n * n).map(|at| a.elements[at % n * n + at / n]).collect() }
}

/// The elements of the inverse of a lower triangular matrix, whose other elements are not read.
fn inverse_of_lower(a: &Dense) -> Vec<f64> {
    let n = a.columns;
    let mut inverse = vec![0.0; n * n];
    for column in 0..n {
        for row in column..n {
            let own = f64::from(u8::from(row == column));
            let rest =
                (column..row).fold(own, |rest, k| rest - a.elements[row * n + k] * inverse[k * n + column]);
            inverse[row * n + column] = rest / a.elements[row * n + row];
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use crate::{
        build::Builder,
        interp::Array,
        ir::{Factorization, Matrix, Op, Triangular},
        ops::Profile,
        testing::run_bounded,
        ty::{DType, Shape, Type},
        verify::verify,
    };

    /// The bounds of an operation on 2 by 2 matrices.
    fn bounds(matrix: Matrix, operands: &[[f64; 4]]) -> Vec<f64> {
        let mut b = Builder::new();
        let ty = Type::new(DType::F64, Shape::literal(&[2, 2]));
        let inputs: Vec<_> =
            (0..operands.len()).map(|i| b.input(format!("x{i}"), ty.clone()).expect("an input")).collect();
        let result = b.push(Op::Matrix(matrix), &inputs).expect("the operands fit");
        let module = verify(b.finish([result]), Profile::Extended).expect("it is valid");
        let inputs: Vec<_> = operands.iter().map(|x| Array::new([2, 2], x.to_vec())).collect();
        run_bounded(&module, &inputs).expect("it runs").remove(0).bounds
    }

    const REGULAR: [f64; 4] = [4.0, 1.0, 1.0, 3.0];

    #[test]
    fn bounds_of_factors_are_rounding_errors_if_the_condition_is_small() {
        let of = |factorization| bounds(Matrix::Factor(factorization), &[REGULAR]);
        let small = |bounds: &[f64]| bounds.iter().all(|bound| (1e-16..1e-12).contains(bound));
        let cholesky = of(Factorization::Cholesky);
        assert!(small(&[cholesky[0], cholesky[2], cholesky[3]]) && cholesky[1] == 0.0, "{cholesky:?}");
        let lu = of(Factorization::Lu);
        assert!(small(&lu[..4]) && lu[4..] == [0.0; 4], "{lu:?}");
        for values in [of(Factorization::Eigh), of(Factorization::Svd)] {
            assert!(small(&values[..2]) && values[2..].iter().all(|bound| bound.is_infinite()), "{values:?}");
        }
        let triangular = Triangular { lower: true, transposed: false, unit_diagonal: false };
        let solution = bounds(Matrix::SolveTriangular(triangular), &[REGULAR, REGULAR]);
        assert!(small(&solution), "{solution:?}");
    }

    #[test]
    fn singular_matrices_and_equal_pivots_have_no_bounds() {
        let is_infinite = |bounds: Vec<f64>| bounds.iter().any(|bound| bound.is_infinite());
        assert!(is_infinite(bounds(Matrix::Factor(Factorization::Cholesky), &[[1.0, 1.0, 1.0, 1.0]])));
        assert!(is_infinite(bounds(Matrix::Factor(Factorization::Lu), &[[1.0, 2.0, 1.0, 3.0]])));
        let triangular = Triangular { lower: true, transposed: false, unit_diagonal: false };
        let singular = [1.0, 0.0, 1.0, 1e-17];
        assert!(is_infinite(bounds(Matrix::SolveTriangular(triangular), &[singular, REGULAR])));
    }
}
