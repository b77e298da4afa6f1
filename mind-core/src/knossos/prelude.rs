//! The functions that every program has: the table of scalar operations, and the overloads of the prelude.

use super::{
    build::Builder,
    ir::{Check, Operation, ValueId},
    types::{TypeId, Types},
};

const I: TypeId = TypeId::INTEGER;
const F: TypeId = TypeId::FLOAT;
const B: TypeId = TypeId::BOOL;
const VECTOR: TypeId = TypeId::VECTOR;
const MATRIX: TypeId = TypeId::MATRIX;

macro_rules! scalars {
    ($($(#[$doc:meta])* $scalar:ident $name:literal [$($parameter:ident),*] $result:ident;)+) => {
        /// An operation on numbers and truth values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Scalar { $($(#[$doc])* $scalar,)+ }

        impl Scalar {
            /// Every operation.
            pub const ALL: &'static [Self] = &[$(Self::$scalar),+];

            /// What programs call it, the types of its operands and of its result. Names that begin with `#` are of
            /// derivatives; programs cannot write them.
            pub const fn signature(self) -> (&'static str, &'static [TypeId], TypeId) {
                match self {
                    $(Self::$scalar => ($name, &[$($parameter),*], $result),)+
                }
            }
        }
    };
}

scalars! {
    /// The sum.
    AddF "add" [F, F] F;
    /// The wrapping sum.
    AddI "add" [I, I] I;
    /// The difference.
    SubF "sub" [F, F] F;
    /// The wrapping difference.
    SubI "sub" [I, I] I;
    /// The product.
    MulF "mul" [F, F] F;
    /// The wrapping product.
    MulI "mul" [I, I] I;
    /// The quotient.
    DivF "div" [F, F] F;
    /// The quotient, towards zero; an error where the divisor is zero.
    DivI "div" [I, I] I;
    /// The negative.
    NegF "neg" [F] F;
    /// The wrapping negative.
    NegI "neg" [I] I;
    /// Greater.
    GtF "gt" [F, F] B;
    /// Greater.
    GtI "gt" [I, I] B;
    /// Less.
    LtF "lt" [F, F] B;
    /// Less.
    LtI "lt" [I, I] B;
    /// Greater or equal.
    GteF "gte" [F, F] B;
    /// Greater or equal.
    GteI "gte" [I, I] B;
    /// Less or equal.
    LteF "lte" [F, F] B;
    /// Less or equal.
    LteI "lte" [I, I] B;
    /// A whole power; the zeroth is 1, with derivative 0 everywhere.
    Pow "pow" [F, I] F;
    /// The natural logarithm.
    Log "log" [F] F;
    /// The exponential.
    Exp "exp" [F] F;
    /// The sine.
    Sin "sin" [F] F;
    /// The cosine.
    Cos "cos" [F] F;
    /// The hyperbolic tangent.
    Tanh "tanh" [F] F;
    /// The hyperbolic cosine.
    Cosh "cosh" [F] F;
    /// The hyperbolic sine, the derivative of `cosh`.
    Sinh "#sinh" [F] F;
    /// The absolute value; its derivative at 0 is -1.
    Abs "abs" [F] F;
    /// The square root.
    Sqrt "sqrt" [F] F;
    /// The error function.
    Erf "erf" [F] F;
    /// The logarithm of the absolute value of the gamma function.
    Lgamma "lgamma" [F] F;
    /// The n-th derivative of digamma, itself the derivative of `lgamma`.
    Polygamma "#polygamma" [I, F] F;
    /// The angle of the point (x, y) from y and x.
    Atan2 "atan2" [F, F] F;
    /// The greater; the first where they are equal.
    Max "max" [F, F] F;
    /// The smaller; the first where they are equal.
    Min "min" [F, F] F;
    /// Either or both; both are computed.
    Or "or" [B, B] B;
    /// Both; both are computed.
    And "and" [B, B] B;
    /// The contrary.
    Not "not" [B] B;
    /// The nearest float.
    ToFloat "to_float" [I] F;
    /// 1 or 0.
    BoolToFloat "bool_to_float" [B] F;
    /// The ratio of a circle's circumference to its diameter.
    Pi "pi" [] F;
    /// A fixed hash of an integer, in [0, 1).
    RandomHash "$ranhashdoub" [I] F;
}

/// A function of the prelude that is written in others.
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

/// The parameters and results of every overload of a name.
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

/// Calls the overload that takes these operands, if there is one.
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

/// The size that two tensors have to have in common.
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
