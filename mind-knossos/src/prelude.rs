//! The prelude: the overloads of functions that every program has.

use crate::{
    build::Builder,
    ir::{Check, Operation, ValueId},
    scalars::Scalar,
    types::{TypeId, Types},
};

const I: TypeId = TypeId::INTEGER;
const F: TypeId = TypeId::FLOAT;
const VECTOR: TypeId = TypeId::VECTOR;
const MATRIX: TypeId = TypeId::MATRIX;

/// A function of the prelude that is written in terms of others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub name: &'static str,
    pub parameters: &'static [TypeId],
    pub result: TypeId,
    pub write: fn(&mut Builder, &mut Types, &[ValueId]) -> ValueId,
}

pub(super) const WRITTEN: &[Written] = &[
    Written { name: "sub", parameters: &[VECTOR, VECTOR], result: VECTOR, write: subtract_vectors },
    Written { name: "sub", parameters: &[VECTOR, F], result: VECTOR, write: subtract_from_each },
    Written { name: "mul", parameters: &[F, I], result: F, write: multiply_by_integer },
    Written { name: "mul", parameters: &[F, VECTOR], result: VECTOR, write: scale_vector },
    Written { name: "mul", parameters: &[MATRIX, VECTOR], result: VECTOR, write: multiply_matrix },
    Written { name: "exp", parameters: &[VECTOR], result: VECTOR, write: exponential_of_each },
    Written { name: "max", parameters: &[VECTOR], result: F, write: greatest },
    Written { name: "imax", parameters: &[VECTOR], result: I, write: position_of_greatest },
    Written { name: "dot", parameters: &[VECTOR, VECTOR], result: F, write: dot },
];

/// The parameter types and the result type of every overload of a name.
pub(super) fn overloads(name: &str) -> impl Iterator<Item = (&'static [TypeId], TypeId)> {
    let scalars = Scalar::ALL.iter().map(|scalar| scalar.signature());
    let written = WRITTEN.iter().map(|written| (written.name, written.parameters, written.result));
    scalars
        .chain(written)
        .filter(move |(own, ..)| *own == name)
        .map(|(_, parameters, result)| (parameters, result))
}

/// Every name of the prelude.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let scalars = Scalar::ALL.iter().map(|scalar| scalar.signature().0).filter(|name| !name.starts_with('#'));
    scalars.chain(WRITTEN.iter().map(|written| written.name))
}

/// Calls the overload that takes these operands. Returns `None` if no such overload exists.
pub(super) fn call(b: &mut Builder, types: &mut Types, name: &str, operands: &[ValueId]) -> Option<ValueId> {
    let takes = |b: &Builder, parameters: &[TypeId]| {
        parameters.len() == operands.len()
            && parameters.iter().zip(operands).all(|(ty, operand)| *ty == b.ty(*operand))
    };
    for scalar in Scalar::ALL {
        let (own, parameters, _) = scalar.signature();
        if own == name && takes(b, parameters) {
            return Some(b.scalar(*scalar, operands));
        }
    }
    let written = WRITTEN.iter().find(|written| written.name == name && takes(b, written.parameters))?;
    Some((written.write)(b, types, operands))
}

fn subtract_vectors(b: &mut Builder, types: &mut Types, operands: &[ValueId]) -> ValueId {
    let (x, y) = (operands[0], operands[1]);
    let size = same_size(b, types, "sub", x, y);
    b.build(types, size, |b, types, i| {
        let (x, y) = (b.index(types, i, x), b.index(types, i, y));
        b.scalar(Scalar::SubF, &[x, y])
    })
}

fn subtract_from_each(b: &mut Builder, types: &mut Types, operands: &[ValueId]) -> ValueId {
    let (x, y) = (operands[0], operands[1]);
    let size = b.size(types, x);
    b.build(types, size, |b, types, i| {
        let x = b.index(types, i, x);
        b.scalar(Scalar::SubF, &[x, y])
    })
}

fn multiply_by_integer(b: &mut Builder, _: &mut Types, operands: &[ValueId]) -> ValueId {
    let factor = b.scalar(Scalar::ToFloat, &[operands[1]]);
    b.scalar(Scalar::MulF, &[operands[0], factor])
}

fn scale_vector(b: &mut Builder, _: &mut Types, operands: &[ValueId]) -> ValueId {
    b.emit(Operation::Scale, operands, VECTOR)
}

fn multiply_matrix(b: &mut Builder, types: &mut Types, operands: &[ValueId]) -> ValueId {
    let (matrix, vector) = (operands[0], operands[1]);
    let sizes = b.size(types, matrix);
    let (rows, columns) = (b.get(types, sizes, 0), b.get(types, sizes, 1));
    let length = b.size(types, vector);
    let agree = b.equal(columns, length);
    b.assert(agree, Check::Sizes("mul"));
    b.build(types, rows, |b, types, i| {
        b.sum(types, columns, |b, types, j| {
            let at = b.tuple(types, &[i, j]);
            let (a, x) = (b.index(types, at, matrix), b.index(types, j, vector));
            b.scalar(Scalar::MulF, &[a, x])
        })
    })
}

fn exponential_of_each(b: &mut Builder, types: &mut Types, operands: &[ValueId]) -> ValueId {
    let size = b.size(types, operands[0]);
    b.build(types, size, |b, types, i| {
        let x = b.index(types, i, operands[0]);
        b.scalar(Scalar::Exp, &[x])
    })
}

fn greatest(b: &mut Builder, types: &mut Types, operands: &[ValueId]) -> ValueId {
    let at = position_of_greatest(b, types, operands);
    b.index(types, at, operands[0])
}

fn position_of_greatest(b: &mut Builder, _: &mut Types, operands: &[ValueId]) -> ValueId {
    b.emit(Operation::ArgMax, operands, I)
}

fn dot(b: &mut Builder, types: &mut Types, operands: &[ValueId]) -> ValueId {
    let (x, y) = (operands[0], operands[1]);
    let size = same_size(b, types, "dot", x, y);
    b.sum(types, size, |b, types, i| {
        let (x, y) = (b.index(types, i, x), b.index(types, i, y));
        b.scalar(Scalar::MulF, &[x, y])
    })
}

/// The size of two tensors. Asserts that their sizes are equal.
pub(super) fn same_size(
    b: &mut Builder,
    types: &mut Types,
    name: &'static str,
    x: ValueId,
    y: ValueId,
) -> ValueId {
    let (size, other) = (b.size(types, x), b.size(types, y));
    let agree = b.equal(size, other);
    b.assert(agree, Check::Sizes(name));
    size
}
