//! Operations on the matrices in the last two axes.

use super::{
    Attribute, Derivative, Field, FieldKind, Focus, Inferred, KERNEL, Make, OpError, OpInfo,
    fields::{exactly, listed, not_these_fields},
    indexing::unproved,
    rules::{self, expect_shape, same_dtype, wrong_row},
    sample::{Case, Domain, Sampling},
};
use crate::{
    diag::Code,
    dim::Dim,
    ir::{Factorization, Matrix, Op, Triangular},
    map::Takes,
    profile::Profile,
    ty::{DType, Shape, Type},
};

rows! {
    Matrix:
    Matrix::Factor(Factorization::Cholesky) => CHOLESKY,
    Matrix::Factor(Factorization::Lu) => LU,
    Matrix::Factor(Factorization::Qr) => QR,
    Matrix::Factor(Factorization::Eigh) => EIGH,
    Matrix::Factor(Factorization::Svd) => SVD,
    Matrix::SolveTriangular(_) => SOLVE_TRIANGULAR,
    Matrix::Triangle { .. } => TRIANGLE,
}

/// `Cholesky(a)`: the lower triangular `L` with `L @ Lᵀ = (a + aᵀ) / 2`, for each matrix in the last two axes; an extension.
///
/// - **Shape**: the operand's.
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: zeros above the diagonal of the result. The diagonal is positive. If `(a + aᵀ) / 2` is not positive
///   definite, the lower triangle of its result is NaN.
/// - **Error**: `L @ Lᵀ` differs from `(a + aᵀ) / 2` by at most `2 n ε |L| @ |Lᵀ|` in each element.
/// - **Derivative**: none; the library's `linalg::cholesky` has one, in its own text.
/// - **Constraints**: 1. the rank is at least 2 (E3002). 2. `a` is of floats (E2005). 3. Each matrix is square (E3003).
/// - **Example**: `%1 = Cholesky (%0) : f32[3, 3]`.
static CHOLESKY: OpInfo = OpInfo {
    name: "Cholesky",
    mnemonic: "cholesky",
    label: "cholesky",
    make: Make::Plain(|| Op::Matrix(Matrix::Factor(Factorization::Cholesky))),
    // Random matrices of several rows are not positive definite.
    sample: Sampling {
        cases: |row, dtype| {
            of_floats(dtype, [&[1, 1][..], &[3, 1, 1]].map(|a| Case::new(row.op(listed([])), dtype, &[a])))
        },
        ..FACTOR.sample
    },
    ..FACTOR
};

/// `Lu(a)`: triangular factors of each matrix in the last two axes, with its rows permuted; an extension.
///
/// - **Shape**: `[…, n, n] → […, n + 2, n]`.
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: the first `n` rows of a result hold `U` on and above the diagonal, and `L` without its diagonal of
///   ones below it. `L @ U` has the row `p[i]` of the matrix as row `i`, where `p` is the next row of the result. Its
///   last row has -1 for each step that exchanged two rows, else 1. The pivot is the first of the largest elements by
///   magnitude. A step with a pivot of 0 leaves its column unchanged.
/// - **Error**: `L @ U` differs from the permuted matrix by at most `2 n ε |L| @ |U|` in each element.
/// - **Derivative**: none; the library's functions have one, in their own text.
/// - **Constraints**: 1. the rank is at least 2 (E3002). 2. `a` is of floats (E2005). 3. Each matrix is square (E3003).
/// - **Example**: `%1 = Lu (%0) : f32[5, 3]`.
static LU: OpInfo = OpInfo {
    name: "Lu",
    mnemonic: "lu",
    label: "lu",
    // The rows of the result are more than those of the matrix.
    origin: |_, operands, axis| (axis + 2 != operands[0].rank()).then_some((0, axis)),
    make: Make::Plain(|| Op::Matrix(Matrix::Factor(Factorization::Lu))),
    ..FACTOR
};

/// `Qr(a)`: a matrix with orthonormal columns times an upper triangular matrix, for each matrix in the last two axes; an
/// extension.
///
/// - **Shape**: `[…, m, n] → […, m + n, k]`, where `k` is the smaller of `m` and `n`. If symbols do not determine which
///   one that is, it is `n`, and a program checks on entry that `m` is at least as large (E6009).
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: the first `m` rows of a result are `Q`, and the others the transpose of `R`, where `Q @ R` is the
///   matrix. Each step reflects a column onto the opposite sign of its pivot, unless all elements below are 0, so that
///   the diagonal of `R` may be negative. If an element is infinite or NaN, the result of its matrix is NaN.
/// - **Error**: `Q @ R` differs from `a`, and `Qᵀ @ Q` from the identity, by at most `4 m n ε` relative to the norm.
/// - **Derivative**: none; the library's `linalg::qr` has one, in its own text.
/// - **Constraints**: 1. the rank is at least 2 (E3002). 2. `a` is of floats (E2005).
/// - **Example**: `%1 = Qr (%0) : f32[5, 2]`.
static QR: OpInfo = OpInfo {
    name: "Qr",
    mnemonic: "qr",
    label: "qr",
    make: Make::Plain(|| Op::Matrix(Matrix::Factor(Factorization::Qr))),
    ..DECOMPOSITION
};

/// `Eigh(a)`: the eigenvalues and eigenvectors of symmetric matrices in the last two axes; an extension.
///
/// - **Shape**: `[…, n, n] → […, n + 1, n]`.
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: reads the lower triangle of each matrix. The first row of a result has the eigenvalues, ascending.
///   The columns of the other rows are orthonormal eigenvectors. In each of them the first element whose magnitude is
///   at least half the largest is positive. If an element that is read is infinite or NaN, the result of its matrix is
///   NaN.
/// - **Error**: the eigenvalues and `V @ diag(w) @ Vᵀ` differ by at most `8 n² ε` relative to the norm.
/// - **Derivative**: none; the library's functions have one, in their own text.
/// - **Constraints**: 1. the rank is at least 2 (E3002). 2. `a` is of floats (E2005). 3. Each matrix is square (E3003).
/// - **Example**: `%1 = Eigh (%0) : f32[4, 3]`.
static EIGH: OpInfo = OpInfo {
    name: "Eigh",
    mnemonic: "eigh",
    label: "eigh",
    // The rows of the result are more than those of the matrix.
    origin: |_, operands, axis| (axis + 2 != operands[0].rank()).then_some((0, axis)),
    make: Make::Plain(|| Op::Matrix(Matrix::Factor(Factorization::Eigh))),
    ..FACTOR
};

/// `Svd(a)`: the reduced singular value decomposition of each matrix in the last two axes; an extension.
///
/// - **Shape**: `[…, m, n] → […, 1 + m + n, k]`, where `k` is the smaller of `m` and `n`. If symbols do not determine
///   which one that is, it is `n`, and a program checks on entry that `m` is at least as large (E6009).
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: the first row of a result has the singular values `s`, descending, the next `m` rows are `U` and
///   the last `n` rows `V`, both with orthonormal columns, where `U @ diag(s) @ Vᵀ` is the matrix. In each column of `U`,
///   or of `V` if `n` is larger than `m`, the first element whose magnitude is at least half the largest is positive. If
///   an element is infinite or NaN, the result of its matrix is NaN.
/// - **Error**: the singular values and `U @ diag(s) @ Vᵀ` differ by at most `8 m n ε` relative to the norm.
/// - **Derivative**: none; the library's functions have one, in their own text.
/// - **Constraints**: 1. the rank is at least 2 (E3002). 2. `a` is of floats (E2005).
/// - **Example**: `%1 = Svd (%0) : f32[6, 2]`.
static SVD: OpInfo = OpInfo {
    name: "Svd",
    mnemonic: "svd",
    label: "svd",
    make: Make::Plain(|| Op::Matrix(Matrix::Factor(Factorization::Svd))),
    ..DECOMPOSITION
};

const DECOMPOSITION: OpInfo = OpInfo {
    // The extents of the result are other numbers than those of the operand.
    origin: |_, operands, axis| (axis + 2 < operands[0].rank()).then_some((0, axis)),
    requirements: |_, operands| {
        let [.., rows, columns] = &operands[0].shape[..] else { unreachable!("inference checks the rank") };
        if rows.at_most(columns) { Vec::new() } else { unproved(columns, rows).into_iter().collect() }
    },
    sample: Sampling {
        cases: |row, dtype| {
            let shapes: [&[i64]; 5] = [&[1, 1], &[3, 3], &[4, 2], &[2, 3, 2], &[2, 2, 3]];
            of_floats(dtype, shapes.map(|a| Case::new(row.op(listed([])), dtype, &[a])))
        },
        ..FACTOR.sample
    },
    ..FACTOR
};

const FACTOR: OpInfo = OpInfo {
    derivative: Derivative::Unsupported,
    sample: Sampling {
        cases: |row, dtype| {
            let shapes: [&[i64]; 3] = [&[1, 1], &[3, 3], &[2, 2, 2]];
            of_floats(dtype, shapes.map(|a| Case::new(row.op(listed([])), dtype, &[a])))
        },
        domain: Domain::Positive,
        ..KERNEL.sample
    },
    ..MATRIX
};

/// `SolveTriangular(a, b; lower, transposed, unit_diagonal)`: the `x` with `a @ x = b`, for triangular matrices `a` in
/// the last two axes; an extension.
///
/// - **Shape**: `[…, n, n] · […, n, k] → […, n, k]`.
/// - **Dtype**: the dtype of both operands, `f32` or `f64`.
/// - **Semantics**: reads the lower triangle of `a` if `lower`, else the upper one, without the diagonal if
///   `unit_diagonal`: all its elements are then 1. If `transposed`, the transposed triangle takes the place of the
///   triangle. If an element of the diagonal that is read is 0, the solution of its matrix is NaN.
/// - **Error**: each column of the result solves a system whose triangle differs by at most `2 n ε` relative to each
///   element.
/// - **Derivative**: the transposed system solved for the cotangent `dy` is the cotangent of `b`. Minus the outer
///   product of that and the result, in the triangle that is read, is the cotangent of `a`.
/// - **Constraints**: 1. the rank of `a` is at least 2 (E3002). 2. `a` is of floats (E2005). 3. Both have the same
///   dtype (E2004). 4. Each matrix of `a` is square (E3003). 5. `b` has the rank of `a` (E3002). 6. `b` has the shape
///   of `a`, except for its last extent (E3003).
/// - **Example**: `%2 = SolveTriangular (%0, %1) {lower=true, transposed=false, unit_diagonal=false} : f32[3, 2]`.
static SOLVE_TRIANGULAR: OpInfo = OpInfo {
    name: "SolveTriangular",
    mnemonic: "solve_triangular",
    label: "solve_triangular",
    arity: 2,
    derivative: Derivative::Rule,
    origin: |_, _, axis| Some((1, axis)),
    flops: |_, operands, result| {
        let n = operands[0].shape.last().expect("a matrix has columns");
        result.shape.element_count()?.mul(n)
    },
    fields: &[
        Field::key("lower", "lo", FieldKind::Flag),
        Field::key("transposed", "tr", FieldKind::Flag),
        Field::key("unit_diagonal", "un", FieldKind::Flag),
    ],
    attributes: |op| {
        let Op::Matrix(Matrix::SolveTriangular(of)) = op else { wrong_row(op) };
        listed([of.lower, of.transposed, of.unit_diagonal].map(Attribute::Flag))
    },
    make: Make::Of(|given| {
        let [Attribute::Flag(lower), Attribute::Flag(transposed), Attribute::Flag(unit_diagonal)] =
            exactly(given)
        else {
            not_these_fields()
        };
        Op::Matrix(Matrix::SolveTriangular(Triangular { lower, transposed, unit_diagonal }))
    }),
    sample: Sampling {
        cases: |row, dtype| {
            let flags = (0..8).map(|bits| [1, 2, 4].map(|bit| Attribute::Flag(bits & bit != 0)));
            let shapes: [[&[i64]; 2]; 3] = [[&[1, 1], &[1, 1]], [&[3, 3], &[3, 2]], [&[2, 2, 2], &[2, 2, 1]]];
            let all = flags.flat_map(|flags| shapes.map(|shapes| (flags.clone(), shapes)));
            of_floats(dtype, all.map(|(flags, shapes)| Case::new(row.op(listed(flags)), dtype, &shapes)))
        },
        domain: Domain::Positive,
        ..KERNEL.sample
    },
    ..MATRIX
};

/// `Triangle(x; lower, strict)`: the elements of one triangle of the matrices in the last two axes; an extension.
///
/// - **Shape**: the operand's.
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: the elements on and below the diagonal if `lower`, else those on and above it; without the diagonal
///   if `strict`. All others are 0.
/// - **Error**: none: the result is exact.
/// - **Derivative**: the same triangle of the cotangent.
/// - **Constraints**: 1. the rank is at least 2 (E3002). 2. `x` is of floats (E2005).
/// - **Example**: `%1 = Triangle (%0) {lower=true, strict=false} : f32[3, 3]`.
static TRIANGLE: OpInfo = OpInfo {
    name: "Triangle",
    mnemonic: "triangle",
    label: "triangle",
    derivative: Derivative::Linear,
    flops: KERNEL.flops,
    fields: &[Field::key("lower", "lo", FieldKind::Flag), Field::key("strict", "st", FieldKind::Flag)],
    attributes: |op| {
        let Op::Matrix(Matrix::Triangle { lower, strict }) = op else { wrong_row(op) };
        listed([*lower, *strict].map(Attribute::Flag))
    },
    make: Make::Of(|given| {
        let [Attribute::Flag(lower), Attribute::Flag(strict)] = exactly(given) else { not_these_fields() };
        Op::Matrix(Matrix::Triangle { lower, strict })
    }),
    sample: Sampling {
        cases: |row, dtype| {
            let flags = (0..4).map(|bits| [1, 2].map(|bit| Attribute::Flag(bits & bit != 0)));
            let shapes: [&[i64]; 3] = [&[1, 1], &[3, 2], &[2, 2, 4]];
            let all = flags.flat_map(|flags| shapes.map(|shape| (flags.clone(), shape)));
            of_floats(dtype, all.map(|(flags, shape)| Case::new(row.op(listed(flags)), dtype, &[shape])))
        },
        ..KERNEL.sample
    },
    ..MATRIX
};

/// The cases, if the element type is one of floats.
fn of_floats(dtype: DType, cases: impl IntoIterator<Item = Case>) -> Vec<Case> {
    if dtype.is_float() { cases.into_iter().collect() } else { Vec::new() }
}

const MATRIX: OpInfo = OpInfo {
    profile: Profile::Extended,
    infer,
    origin: rules::same_origin,
    // A factorization multiplies each element with at most one row.
    flops: |_, operands, _| {
        let a = &operands[0].shape;
        a.element_count()?.mul(a.last().expect("a matrix has columns"))
    },
    ..KERNEL
};

fn infer(op: &Op, operands: &[&Type]) -> Inferred {
    let Op::Matrix(matrix) = op else { wrong_row(op) };
    let a = operands[0];
    if a.rank() < 2 {
        return Err(wrong_rank(op, 0, format!("operand of rank {}, needed rank 2 or more", a.rank())));
    }
    rules::check_dtype(op, Takes::Floats, operands, 0)?;
    let with_end = |shape: &Shape, end: [&Dim; 2]| -> Shape {
        shape[..shape.rank() - 2].iter().chain(end).cloned().collect()
    };
    let rows = &a.shape[a.rank() - 2];
    match matrix {
        Matrix::Triangle { .. } => Ok(a.clone()),
        Matrix::Factor(factorization) => {
            let mut columns = &a.shape[a.rank() - 1];
            let mut more = Dim::literal(factorization.extra_rows());
            if factorization.is_of_square() {
                expect_shape(op, operands, 0, &with_end(&a.shape, [rows, rows]))?;
            } else {
                more = more.add(columns).map_err(|overflow| OpError::overflow(op, overflow))?;
                // The smaller extent. If it is not known, the program requires that these are the columns.
                columns = if rows.at_most(columns) { rows } else { columns };
            }
            let more = rows.add(&more).map_err(|overflow| OpError::overflow(op, overflow))?;
            Ok(a.with_shape(with_end(&a.shape, [&more, columns])))
        }
        Matrix::SolveTriangular(_) => {
            let b = operands[1];
            same_dtype(op, a, b)?;
            expect_shape(op, operands, 0, &with_end(&a.shape, [rows, rows]))?;
            if b.rank() != a.rank() {
                let problem = format!("operand of rank {}, needed rank {}", b.rank(), a.rank());
                return Err(wrong_rank(op, 1, problem));
            }
            let columns = &b.shape[b.rank() - 1];
            expect_shape(op, operands, 1, &with_end(&a.shape, [rows, columns]))?;
            Ok(b.clone())
        }
    }
}

pub(super) fn wrong_rank(op: &Op, operand: usize, problem: String) -> Box<OpError> {
    OpError::new(op, Code::E3002).problem(problem).focus(Focus::Operand(operand)).operands(&[operand]).into()
}
