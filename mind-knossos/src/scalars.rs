//! The table of scalar operations.

use crate::types::TypeId;

const I: TypeId = TypeId::INTEGER;
const F: TypeId = TypeId::FLOAT;
const B: TypeId = TypeId::BOOL;

macro_rules! scalars {
    ($($(#[$doc:meta])* $scalar:ident $name:literal [$($parameter:ident),*] $result:ident;)+) => {
        /// An operation on numbers and truth values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Scalar { $($(#[$doc])* $scalar,)+ }

        impl Scalar {
            /// Every operation.
            pub const ALL: &'static [Self] = &[$(Self::$scalar),+];

            /// The name in programs, the operand types and the result type. Names that begin with `#` occur only in
            /// derivatives, programs cannot write them.
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
    /// The quotient, rounded towards zero; fails if the divisor is zero.
    DivI "div" [I, I] I;
    /// The negative.
    NegF "neg" [F] F;
    /// The wrapping negative.
    NegI "neg" [I] I;
    /// Whether the first operand is greater.
    GtF "gt" [F, F] B;
    /// Whether the first operand is greater.
    GtI "gt" [I, I] B;
    /// Whether the first operand is less.
    LtF "lt" [F, F] B;
    /// Whether the first operand is less.
    LtI "lt" [I, I] B;
    /// Whether the first operand is greater or equal.
    GteF "gte" [F, F] B;
    /// Whether the first operand is greater or equal.
    GteI "gte" [I, I] B;
    /// Whether the first operand is less or equal.
    LteF "lte" [F, F] B;
    /// Whether the first operand is less or equal.
    LteI "lte" [I, I] B;
    /// A power with an integer exponent. With exponent 0 it is 1, with derivative 0 everywhere.
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
    /// The maximum; the first operand if they are equal.
    Max "max" [F, F] F;
    /// The minimum; the first operand if they are equal.
    Min "min" [F, F] F;
    /// Logical or; both operands are evaluated.
    Or "or" [B, B] B;
    /// Logical and; both operands are evaluated.
    And "and" [B, B] B;
    /// Logical negation.
    Not "not" [B] B;
    /// The nearest float.
    ToFloat "to_float" [I] F;
    /// 1 for true, 0 for false.
    BoolToFloat "bool_to_float" [B] F;
    /// The ratio of a circle's circumference to its diameter.
    Pi "pi" [] F;
    /// A fixed hash of an integer, in [0, 1).
    RandomHash "$ranhashdoub" [I] F;
}
