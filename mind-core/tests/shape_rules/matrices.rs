//! Operations on the matrices in the last two axes. Programs cannot name factorizations, so the rules are compared with
//! the inference of the compiler itself.

use mind_core::{
    dim::Dim,
    ir::{Factorization, Matrix, Op, Triangular},
    ops::infer,
    ty,
};
use mind_shape::{
    DType, Failure, Type,
    rules::{decompose, factor, solve_triangular, triangle},
};

use super::support::{f32s, shapes};

/// The type of the compiler.
fn resolved(of: Type) -> ty::Type {
    let extents = (0..of.rank()).map(|axis| Dim::literal(of.extent(axis)));
    ty::Type::new(of.dtype(), extents.collect::<ty::Shape>())
}

/// Checks that a rule and the compiler find the same type, or refuse the operands with the same code.
#[track_caller]
fn check(op: Op, operands: &[Type], answer: Result<Type, Failure<'_>>) -> bool {
    let types: Vec<ty::Type> = operands.iter().map(|ty| resolved(*ty)).collect();
    let found = infer(&op, &types.iter().collect::<Vec<_>>());
    let found = found.map(|ty| ty.to_string()).map_err(|error| error.code.to_string());
    let expected = answer.map(|ty| ty.text().to_string()).map_err(|failure| failure.code().to_owned());
    assert_eq!(found, expected, "{op:?} of {types:?}");
    found.is_ok()
}

fn types() -> Vec<Type> {
    let floats = shapes().into_iter().map(|shape| f32s(&shape));
    let others = [DType::F64, DType::I32, DType::Bool];
    floats
        .chain(
            others.into_iter().flat_map(|dtype| {
                [&[2][..], &[2, 2], &[2, 3], &[3, 2, 2]].map(|shape| Type::new(dtype, shape))
            }),
        )
        .collect()
}

#[test]
fn factors_have_the_types_that_the_compiler_infers() {
    let all = [
        (Factorization::Cholesky, 0, true),
        (Factorization::Lu, 2, true),
        (Factorization::Eigh, 1, true),
        (Factorization::Qr, 0, false),
        (Factorization::Svd, 1, false),
    ];
    for (factorization, extra, is_of_square) in all {
        let counts = types().into_iter().fold([0; 2], |mut counts, a| {
            let answer = if is_of_square { factor(a, extra) } else { decompose(a, extra) };
            counts[usize::from(check(Op::Matrix(Matrix::Factor(factorization)), &[a], answer))] += 1;
            counts
        });
        // Of the shapes of 2, 3 and 4 axes, each has 1 of 3 square, and all have factors of `Qr` and `Svd`.
        let of_floats = if is_of_square { 39 + 2 } else { 117 + 3 };
        assert_eq!(counts[1], of_floats, "{factorization:?}");
    }
}

#[test]
fn triangles_have_the_types_that_the_compiler_infers() {
    for a in types() {
        check(Op::Matrix(Matrix::Triangle { lower: true, strict: false }), &[a], triangle(a));
    }
}

#[test]
fn triangular_solutions_have_the_types_that_the_compiler_infers() {
    let op = Op::Matrix(Matrix::SolveTriangular(Triangular {
        lower: true,
        transposed: false,
        unit_diagonal: false,
    }));
    let [mut accepted, mut refused] = [0; 2];
    for a in types().into_iter().filter(|a| a.rank() < 4) {
        for b in types().into_iter().filter(|b| b.rank() < 4) {
            match check(op.clone(), &[a, b], solve_triangular(a, b)) {
                true => accepted += 1,
                false => refused += 1,
            }
        }
    }
    assert!(accepted > 20 && refused > 1000, "{accepted} {refused}");
}
