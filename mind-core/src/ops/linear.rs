//! Products of vectors and matrices.

use super::{
    Derivative, Focus, Inferred, KERNEL, Make, OpError, OpInfo,
    rules::{self, same_numbers, wrong_row},
    sample::{Case, Sampling},
};
use crate::{
    diag::Code,
    dim::Dim,
    ir::{Op, Product},
    ty::Type,
};

rows! {
    Product:
    Product::Dot => DOT,
    Product::MatMul => MAT_MUL,
}

/// `Dot(lhs, rhs)`: the product of vectors and matrices.
///
/// - **Shape**: `[n]·[n] → []`, `[m, n]·[n] → [m]`, `[m]·[m, n] → [n]`, `[m, k]·[k, n] → [m, n]`.
/// - **Dtype**: the dtype of both operands.
/// - **Semantics**: sums the products over the shared dimension. Integers wrap. The reference interpreter adds with
///   twice the digits and rounds once.
/// - **Error**: at most `γ(k)` times the sum of the magnitudes of the `k` products, where `k` is the shared
///   dimension; see [products](#products).
/// - **Derivative**: the product of the cotangent and the other operand: an outer product for a matrix, `Dot` for a
///   vector.
/// - **Constraints**: 1. both operands have rank 1 or 2 (E3002). 2. Both have the same dtype (E2004). 3. The inner
///   dimensions are equal (E3003).
/// - **Example**: `%2 = Dot (%0, %1) : f32`.
static DOT: OpInfo = OpInfo {
    name: "Dot",
    mnemonic: "dot",
    label: "dot",
    make: Make::Plain(|| Op::Product(Product::Dot)),
    infer: infer_dot,
    origin: |_, operands, axis| {
        let from_lhs = operands[0].rank() - 1;
        if axis < from_lhs { Some((0, axis)) } else { Some((1, 1)) }
    },
    derivative: Derivative::Rule,
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [[&[i64]; 2]; 4] =
                [[&[3], &[3]], [&[2, 3], &[3]], [&[2], &[2, 3]], [&[2, 3], &[3, 4]]];
            forms.map(|shapes| Case::new(Op::Product(Product::Dot), dtype, &shapes)).into()
        },
        ..PRODUCT.sample
    },
    ..PRODUCT
};

/// `MatMul(lhs, rhs)`: the product of matrices, over leading batch dimensions that broadcast.
///
/// - **Shape**: `[a…, m, k] · [b…, k, n] → [broadcast(a, b)…, m, n]`.
/// - **Dtype**: the dtype of both operands.
/// - **Semantics**: sums the products over the shared dimension. Integers wrap. The reference interpreter adds with
///   twice the digits and rounds once.
/// - **Error**: at most `γ(k)` times the sum of the magnitudes of the `k` products, where `k` is the shared
///   dimension; see [products](#products).
/// - **Derivative**: `dy · rhsᵀ` to `lhs` and `lhsᵀ · dy` to `rhs`, summed over the batch dimensions that were
///   broadcast.
/// - **Constraints**: 1. both operands have rank 2 or more (E3002). 2. Both have the same dtype (E2004). 3. The inner
///   dimensions are equal (E3003). 4. The batch dimensions broadcast (E3001).
/// - **Example**: `%2 = MatMul (%0, %1) : f32[32, 10]`.
static MAT_MUL: OpInfo = OpInfo {
    name: "MatMul",
    mnemonic: "matmul",
    label: "@",
    make: Make::Plain(|| Op::Product(Product::MatMul)),
    infer: infer_matmul,
    origin: |op, operands, axis| {
        let [lhs, rhs] = operands else { wrong_row(op) };
        let rank = lhs.rank().max(rhs.rank());
        if axis + 1 == rank {
            Some((1, rhs.rank() - 1))
        } else if axis + 2 == rank {
            Some((0, lhs.rank() - 2))
        } else {
            rules::broadcast_origin(op, operands, axis)
        }
    },
    derivative: Derivative::Rule,
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [[&[i64]; 2]; 6] = [
                [&[2, 3], &[3, 4]],
                [&[1, 1], &[1, 1]],
                [&[2, 2, 3], &[2, 3, 2]],
                [&[2, 2, 3], &[3, 2]],
                [&[2, 3], &[2, 3, 2]],
                [&[2, 1, 2, 3], &[3, 3, 2]],
            ];
            forms.map(|shapes| Case::new(Op::Product(Product::MatMul), dtype, &shapes)).into()
        },
        ..PRODUCT.sample
    },
    ..PRODUCT
};

impl Product {
    /// The product that `@` denotes for operands of these types.
    pub(crate) fn of(lhs: &Type, rhs: &Type) -> Self {
        if lhs.rank() == 1 || rhs.rank() == 1 { Self::Dot } else { Self::MatMul }
    }

    /// The canonical form of the product for operands of these types.
    pub(crate) fn canonical(self, operands: &[&Type]) -> Self {
        match self {
            Self::Dot if operands.iter().all(|operand| operand.rank() == 2) => Self::MatMul,
            Self::Dot | Self::MatMul => self,
        }
    }
}

/// The fields that the rows share.
const PRODUCT: OpInfo = OpInfo {
    arity: 2,
    // One multiplication and one addition per result element and position of the shared dimension.
    flops: |_, operands, result| {
        let shared = operands[0].shape.last().expect("products have operands of rank 1 or more");
        result.shape.element_count()?.mul(shared)?.mul(&Dim::literal(2))
    },
    ..KERNEL
};

fn infer_dot(op: &Op, operands: &[&Type]) -> Inferred {
    let [lhs, rhs] = operands else { wrong_row(op) };
    for (position, operand) in operands.iter().enumerate() {
        if !matches!(operand.rank(), 1 | 2) {
            let problem = format!("operand of rank {}, needed rank 1 or 2", operand.rank());
            let error = wrong_rank(op, position, problem);
            return Err(if operand.rank() > 2 {
                error.help("use `matmul` for batches of matrices")
            } else {
                error
            }
            .into());
        }
    }
    same_numbers(op, operands)?;
    inner(op, lhs, rhs)?;
    let rows = &lhs.shape[..lhs.rank() - 1];
    let columns = &rhs.shape[1..];
    Ok(lhs.with_shape(rows.iter().chain(columns).cloned().collect()))
}

fn infer_matmul(op: &Op, operands: &[&Type]) -> Inferred {
    let [lhs, rhs] = operands else { wrong_row(op) };
    for (position, operand) in operands.iter().enumerate() {
        if operand.rank() < 2 {
            let problem = format!("operand of rank {}, needed rank 2 or more", operand.rank());
            let error = wrong_rank(op, position, problem);
            let vectors = lhs.rank().min(rhs.rank()) == 1 && lhs.rank().max(rhs.rank()) <= 2;
            return Err(if vectors { error.help("use `@` or `dot` for vectors") } else { error }.into());
        }
    }
    same_numbers(op, operands)?;
    inner(op, lhs, rhs)?;
    let (lhs_batch, rows) = lhs.shape.split_at(lhs.rank() - 2);
    let (rhs_batch, columns) = rhs.shape.split_at(rhs.rank() - 2);
    if lhs_batch.is_empty() && rhs_batch.is_empty() {
        return Ok(lhs.with_shape([&rows[0], &columns[1]].into_iter().cloned().collect()));
    }
    let batch = rules::broadcast(op, lhs_batch, rhs_batch)?;
    Ok(lhs.with_shape(batch.iter().chain([&rows[0], &columns[1]]).cloned().collect()))
}

fn wrong_rank(op: &Op, position: usize, problem: String) -> OpError {
    OpError::new(op, Code::E3002).problem(problem).focus(Focus::Operand(position)).operands(&[0, 1])
}

/// Reports E3003 unless the last dimension of `lhs` equals the last but one of `rhs`, or the only one if `rhs` is a
/// vector.
fn inner(op: &Op, lhs: &Type, rhs: &Type) -> Result<(), Box<OpError>> {
    let on_lhs = lhs.rank() - 1;
    let on_rhs = rhs.rank().saturating_sub(2);
    let (a, b) = (&lhs.shape[on_lhs], &rhs.shape[on_rhs]);
    if a == b {
        return Ok(());
    }
    let mut error = OpError::new(op, Code::E3003)
        .problem(format!("inner dimensions differ, {a} and {b}"))
        .operands(&[0, 1])
        .dims(&[(0, on_lhs), (1, on_rhs)]);
    error.help = if rhs.rank() == 2 && *a == rhs.shape[1] {
        Some("write `{1}.T`".into())
    } else if lhs.rank() == 2 && lhs.shape[0] == *b {
        Some("write `{0}.T`".into())
    } else if lhs.rank() == 2 && rhs.rank() == 2 && rhs.shape[1] == lhs.shape[0] {
        Some("swap the operands: `{1} @ {0}`".into())
    } else {
        rules::equate(a, b)
    };
    Err(error.into())
}
