//! The rows of elementwise functions.

use std::cmp::Ordering;

use super::{
    Cost, Domain, Exactness, Gives, Hlo, KeepsZeros, Notation, Row, Rust, ShapeRule, Takes, Tightness,
    threefry,
};
use crate::{profile::Profile, ty::DType};

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident = $row:expr;)+) => {
        /// An elementwise function. Its [row](Map::row) defines it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Map {
            $($(#[$doc])* $name,)+
        }

        impl Map {
            /// Every function, in the order of the rows.
            pub const ALL: &[Self] = &[$(Self::$name),+];
        }

        static ROWS: [Row; Map::ALL.len()] = [$(Row { name: stringify!($name), ..$row }),+];
    };
}

// The defaults leave `hlo` empty, so each row must set it.
const _: () = {
    let mut row = 0;
    while row < ROWS.len() {
        assert!(!matches!(ROWS[row].hlo, Hlo::Formula([])), "every row says what it becomes in StableHLO");
        row += 1;
    }
};

impl Map {
    /// The row of the function.
    #[inline]
    pub const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The function of the sign before an operand.
    pub const SIGN: Self = Self::Neg;

    /// The conversion to an element type.
    pub const fn to(dtype: DType) -> Self {
        match dtype {
            DType::Bool => Self::ToBool,
            DType::U8 => Self::ToU8,
            DType::I32 => Self::ToI32,
            DType::I64 => Self::ToI64,
            DType::F32 => Self::ToF32,
            DType::F64 => Self::ToF64,
        }
    }

    /// Whether the function converts to an element type.
    pub fn is_conversion(self) -> bool {
        DType::ALL.into_iter().any(|dtype| Self::to(dtype) == self)
    }

    /// The function that chooses between two values by truth values.
    pub const SELECTION: Self = Self::Where;

    /// The sum of two numbers.
    pub const PLUS: Self = Self::Add;
    /// The product of two numbers.
    pub const TIMES: Self = Self::Mul;
    /// The quotient of two numbers.
    pub const RATIO: Self = Self::Div;
    /// The element with the other sign.
    pub const NEGATIVE: Self = Self::Neg;

    /// The function of a copy, which returns its operand.
    pub const COPY: Self = Self::StopGradient;

    /// The function that equals this one except that it [keeps zeros](Row::keeps_zeros), if there is one.
    pub fn keeping_zeros(self) -> Option<Self> {
        let is_it = |map: &Self| map.row().keeps_zeros.as_ref().is_some_and(|keeps| keeps.otherwise == self);
        Self::ALL.iter().copied().find(is_it)
    }

    /// Whether the function is a product that is 0 where a factor is 0.
    pub(crate) fn keeps_zeros_of_products(self) -> bool {
        Self::TIMES.keeping_zeros() == Some(self)
    }

    /// The functions that are written between their operands.
    pub fn operators() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|map| map.row().infix().is_some())
    }

    /// The functions that are written before their operand.
    pub fn prefixes() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|map| matches!(map.row().notation, Notation::Prefix(_)))
    }

    /// The function of this mnemonic.
    pub fn by_mnemonic(mnemonic: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|map| map.row().mnemonic == mnemonic)
    }
}

/// The defaults of functions of one floating-point operand.
pub(super) const FLOATS: Row = Row {
    name: "",
    mnemonic: "",
    label: "",
    notation: Notation::Function,
    formals: &["x"],
    profile: Profile::CoreV1,
    takes: Takes::Floats,
    gives: Gives::Operand,
    shapes: ShapeRule::Broadcast,
    commutative: false,
    signs: &[],
    decides: None,
    keeps_zeros: None,
    cost: Cost::Series,
    exactness: Exactness::Within([1, 2]),
    least_error: 0.0,
    pole: None,
    jumps_where_equal: false,
    mask: None,
    keeps_positive: false,
    rust: Rust::Identity,
    hlo: Hlo::Formula(&[]),
    range: None,
    float: |_| unreachable!("every row says what it computes"),
    integer: |_| unreachable!("inference refuses integers"),
    derivative: &[],
    flat: false,
    domain: Domain::Any,
};

/// The defaults of arithmetic operators.
const OPERATOR: Row = Row {
    notation: Notation::Infix(Tightness::Multiplicative),
    formals: &["lhs", "rhs"],
    takes: Takes::Numbers,
    cost: Cost::Addition,
    exactness: Exactness::Rounded,
    ..FLOATS
};

/// The defaults of functions that are constant between jumps.
const STEP: Row = Row {
    profile: Profile::Extended,
    cost: Cost::Addition,
    exactness: Exactness::Exact,
    flat: true,
    domain: Domain::OffHalves,
    ..FLOATS
};

/// The defaults of comparisons. `==` and `!=` take truth values too.
const COMPARISON: Row = Row {
    notation: Notation::Infix(Tightness::Comparison),
    formals: &["lhs", "rhs"],
    profile: Profile::Extended,
    takes: Takes::Numbers,
    gives: Gives::Type(DType::Bool),
    cost: Cost::Addition,
    exactness: Exactness::Exact,
    jumps_where_equal: true,
    domain: Domain::Apart,
    ..FLOATS
};

/// The defaults of functions that classify a float.
const KIND: Row = Row {
    profile: Profile::Extended,
    gives: Gives::Type(DType::Bool),
    cost: Cost::Addition,
    exactness: Exactness::Exact,
    ..FLOATS
};

/// The defaults of operators on the bits of integers and on truth values.
const BITS: Row = Row {
    formals: &["lhs", "rhs"],
    profile: Profile::Extended,
    takes: Takes::Bits,
    commutative: true,
    cost: Cost::Addition,
    exactness: Exactness::Exact,
    float: |_| unreachable!("inference refuses floats"),
    ..FLOATS
};

/// The defaults of shifts.
const SHIFT: Row =
    Row { notation: Notation::Infix(Tightness::Shift), takes: Takes::Integers, commutative: false, ..BITS };

/// The defaults of conversions.
const CONVERSION: Row = Row {
    profile: Profile::Extended,
    takes: Takes::All,
    cost: Cost::Addition,
    exactness: Exactness::Rounded,
    hlo: Hlo::Operation("stablehlo.convert"),
    float: |x| x[0],
    integer: |x| x[0],
    ..FLOATS
};

/// The defaults of maximum and minimum.
const EXTREME: Row = Row {
    formals: &["lhs", "rhs"],
    profile: Profile::Extended,
    takes: Takes::Numbers,
    commutative: true,
    cost: Cost::Addition,
    exactness: Exactness::Exact,
    domain: Domain::Apart,
    derivative: &[
        "relu_grad(dy, same(lhs, y)) / (same(lhs, y) + same(rhs, y))",
        "relu_grad(dy, same(rhs, y)) / (same(lhs, y) + same(rhs, y))",
    ],
    ..FLOATS
};

rows! {
    /// `Add(lhs, rhs)`: the sum.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands.
    /// - **Semantics**: `lhs + rhs`; integers wrap.
    /// - **Error**: 0.5 ulp: rounded once, as IEEE 754 specifies; none for integers.
    /// - **Derivative**: the cotangent to each operand.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = Add (%0, %1) : f32[2, 3]`.
    Add = Row {
        notation: Notation::Infix(Tightness::Additive),
        mnemonic: "add",
        label: "+",
        commutative: true,
        signs: &[1, 1],
        rust: Rust::Operator { sign: "+", wrapping: "wrapping_add", method: "plus" },
        hlo: Hlo::Operation("stablehlo.add"),
        float: |x| x[0] + x[1],
        integer: |x| x[0].wrapping_add(x[1]),
        derivative: &["dy", "dy"],
        ..OPERATOR
    };
    /// `Sub(lhs, rhs)`: the difference.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands.
    /// - **Semantics**: `lhs - rhs`; integers wrap.
    /// - **Error**: 0.5 ulp: rounded once, as IEEE 754 specifies; none for integers.
    /// - **Derivative**: the cotangent to `lhs`, its negation to `rhs`.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = Sub (%0, %1) : f32[2, 3]`.
    Sub = Row {
        notation: Notation::Infix(Tightness::Additive),
        mnemonic: "sub",
        label: "-",
        signs: &[1, -1],
        rust: Rust::Operator { sign: "-", wrapping: "wrapping_sub", method: "minus" },
        hlo: Hlo::Operation("stablehlo.subtract"),
        float: |x| x[0] - x[1],
        integer: |x| x[0].wrapping_sub(x[1]),
        derivative: &["dy", "-dy"],
        ..OPERATOR
    };
    /// `Mul(lhs, rhs)`: the product of elements.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands.
    /// - **Semantics**: `lhs * rhs`; integers wrap.
    /// - **Error**: 0.5 ulp: rounded once, as IEEE 754 specifies; none for integers.
    /// - **Derivative**: `dy * rhs` to `lhs`, `dy * lhs` to `rhs`.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = Mul (%0, %1) : f32[2, 3]`.
    Mul = Row {
        mnemonic: "mul",
        label: "*",
        commutative: true,
        rust: Rust::Operator { sign: "*", wrapping: "wrapping_mul", method: "times" },
        hlo: Hlo::Operation("stablehlo.multiply"),
        float: |x| x[0] * x[1],
        integer: |x| x[0].wrapping_mul(x[1]),
        derivative: &["dy * rhs", "dy * lhs"],
        ..OPERATOR
    };
    /// `Div(lhs, rhs)`: the quotient; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands.
    /// - **Semantics**: `lhs / rhs` as IEEE 754 specifies. A quotient of integers is rounded towards 0, as by Rust's
    ///   `/`, except that the least integer divided by -1 wraps. An integer divided by 0 stops the program (E6010)
    ///   before anything is written.
    /// - **Error**: 0.5 ulp: rounded once, as IEEE 754 specifies; none for integers.
    /// - **Derivative**: `dy / rhs` to `lhs`, `-(dy * y / rhs)` to `rhs`. In Core v1 it is an error (E5001).
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = Div (%0, %1) : f32[2, 3]`.
    Div = Row {
        mnemonic: "div",
        label: "/",
        profile: Profile::Extended,
        cost: Cost::Division,
        pole: Some(1),
        rust: Rust::Operator { sign: "/", wrapping: "wrapping_div", method: "over" },
        hlo: Hlo::Quotient("stablehlo.divide"),
        float: |x| x[0] / x[1],
        integer: |x| x[0].wrapping_div(x[1]),
        derivative: &["dy / rhs", "-(dy * y / rhs)"],
        domain: Domain::Positive,
        ..OPERATOR
    };
    /// `Relu(x)`: the positive part.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `x > 0 ? x : 0`, as the specification defines it, so the result at NaN is 0. Two expressions
    ///   keep NaN: `maximum(x, 0.0)`, with derivative 1/2 at 0, and `x + relu(-x)`, with derivative 1 at 0. The second
    ///   is also NaN at negative infinity.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: `x > 0 ? dy : 0`, which is 0 at 0.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Relu (%0) : f32[2, 3]`.
    Relu = Row {
        mnemonic: "relu",
        label: "relu",
        cost: Cost::Addition,
        exactness: Exactness::Exact,
        keeps_positive: true,
        rust: Rust::Function("relu"),
        hlo: Hlo::Formula(&[("y", "where(gt(x, 0.0), x, 0.0)")]),
        float: |x| if x[0] > 0.0 { x[0] } else { 0.0 },
        derivative: &["relu_grad(dy, x)"],
        domain: Domain::NonZero,
        ..FLOATS
    };
    /// `Neg(x)`: the negation.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: `-x`; integers wrap.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: `-dy`.
    /// - **Constraints**: none beyond those of every type.
    /// - **Example**: `%1 = Neg (%0) : f32[2, 3]`.
    Neg = Row {
        mnemonic: "neg",
        label: "-",
        notation: Notation::Prefix("neg"),
        formals: &["x"],
        signs: &[-1],
        exactness: Exactness::Exact,
        rust: Rust::Operator { sign: "-", wrapping: "wrapping_neg", method: "negated" },
        hlo: Hlo::Operation("stablehlo.negate"),
        float: |x| -x[0],
        integer: |x| x[0].wrapping_neg(),
        derivative: &["-dy"],
        ..OPERATOR
    };
    /// `Exp(x)`: the exponential.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `e^x`.
    /// - **Error**: less than 1 ulp in `f32`, less than 2 ulp in `f64`; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy * y`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Exp (%0) : f32[2, 3]`.
    Exp = Row {
        mnemonic: "exp",
        label: "exp",
        rust: Rust::By("exp"),
        hlo: Hlo::Operation("stablehlo.exponential"),
        float: |x| x[0].exp(),
        derivative: &["dy * y"],
        ..FLOATS
    };
    /// `Log(x)`: the natural logarithm.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `ln(x)`: negative infinity at 0, NaN below.
    /// - **Error**: less than 1 ulp in `f32`, less than 2 ulp in `f64`; exact at 1, zeros, infinities and NaN.
    /// - **Derivative**: `dy / x`; in Core v1 `dy * exp(-y)`, which like `y` is NaN where `x < 0`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Log (%0) : f32[2, 3]`.
    Log = Row {
        mnemonic: "log",
        label: "log",
        rust: Rust::By("ln"),
        hlo: Hlo::Operation("stablehlo.log"),
        float: |x| x[0].ln(),
        derivative: &["dy / x"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Sqrt(x)`: the square root; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `√x` as IEEE 754 specifies: NaN below 0, and -0 at -0.
    /// - **Error**: 0.5 ulp: rounded once, as IEEE 754 specifies.
    /// - **Derivative**: `dy / (y + y)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Sqrt (%0) : f32[2, 3]`.
    Sqrt = Row {
        mnemonic: "sqrt",
        label: "sqrt",
        profile: Profile::Extended,
        cost: Cost::Division,
        exactness: Exactness::Rounded,
        rust: Rust::Function("sqrt"),
        hlo: Hlo::Operation("stablehlo.sqrt"),
        float: |x| x[0].sqrt(),
        derivative: &["dy / (y + y)"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Tanh(x)`: the hyperbolic tangent; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `(e^x - e^-x) / (e^x + e^-x)`: ±1 at ±infinity. Zeros keep their sign.
    /// - **Error**: less than 3 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy * sech_squared(x)`, because `1 - y * y` is 0 where `y` rounds to 1.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Tanh (%0) : f32[2, 3]`.
    Tanh = Row {
        mnemonic: "tanh",
        label: "tanh",
        profile: Profile::Extended,
        exactness: Exactness::Within([3, 3]),
        rust: Rust::By("tanh"),
        hlo: Hlo::Operation("stablehlo.tanh"),
        float: |x| x[0].tanh(),
        derivative: &["dy * sech_squared(x)"],
        ..FLOATS
    };
    /// `Exp2(x)`: 2 to the power of a number; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `2^x`.
    /// - **Error**: less than 1 ulp in `f32`, less than 2 ulp in `f64`; exact at integers, infinities and NaN.
    /// - **Derivative**: `dy * y * ln 2`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Exp2 (%0) : f32[2, 3]`.
    Exp2 = Row {
        mnemonic: "exp2",
        label: "exp2",
        profile: Profile::Extended,
        exactness: Exactness::Within([1, 2]),
        rust: Rust::By("exp2"),
        hlo: Hlo::Formula(&[("y", "pow(2.0, x)")]),
        float: |x| x[0].exp2(),
        derivative: &["dy * (y * 0.6931471805599453)"],
        ..FLOATS
    };
    /// `Expm1(x)`: the exponential minus 1; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `e^x - 1`, without cancellation near 0. Zeros keep their sign.
    /// - **Error**: less than 2 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy * e^x`, because `y + 1` cancels where `y` is near -1.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Expm1 (%0) : f32[2, 3]`.
    Expm1 = Row {
        mnemonic: "expm1",
        label: "expm1",
        profile: Profile::Extended,
        exactness: Exactness::Within([2, 2]),
        rust: Rust::By("expm1"),
        hlo: Hlo::Operation("stablehlo.exponential_minus_one"),
        float: |x| x[0].exp_m1(),
        derivative: &["dy * exp(x)"],
        ..FLOATS
    };
    /// `Log2(x)`: the logarithm to the base 2; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `ln(x) / ln(2)`: negative infinity at 0, NaN below.
    /// - **Error**: less than 1 ulp; exact at powers of 2, zeros, infinities and NaN.
    /// - **Derivative**: `dy / (x * ln 2)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Log2 (%0) : f32[2, 3]`.
    Log2 = Row {
        mnemonic: "log2",
        label: "log2",
        profile: Profile::Extended,
        exactness: Exactness::Within([1, 1]),
        rust: Rust::By("log2"),
        hlo: Hlo::Formula(&[("y", "log(x) / 0.6931471805599453")]),
        float: |x| x[0].log2(),
        derivative: &["dy / (x * 0.6931471805599453)"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Log10(x)`: the logarithm to the base 10; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `ln(x) / ln(10)`: negative infinity at 0, NaN below.
    /// - **Error**: less than 1 ulp; exact at 1, zeros, infinities and NaN.
    /// - **Derivative**: `dy / (x * ln 10)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Log10 (%0) : f32[2, 3]`.
    Log10 = Row {
        mnemonic: "log10",
        label: "log10",
        profile: Profile::Extended,
        exactness: Exactness::Within([1, 1]),
        rust: Rust::By("log10"),
        hlo: Hlo::Formula(&[("y", "log(x) / 2.302585092994046")]),
        float: |x| x[0].log10(),
        derivative: &["dy / (x * 2.302585092994046)"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Log1p(x)`: the logarithm of 1 plus a number; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `ln(1 + x)`, without cancellation near 0: negative infinity at -1, NaN below. Zeros keep their
    ///   sign.
    /// - **Error**: less than 2 ulp in `f32`, less than 1 ulp in `f64`; exact at zeros, -1, infinities and NaN.
    /// - **Derivative**: `dy / (x + 1)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Log1p (%0) : f32[2, 3]`.
    Log1p = Row {
        mnemonic: "log1p",
        label: "log1p",
        profile: Profile::Extended,
        exactness: Exactness::Within([2, 1]),
        rust: Rust::By("log1p"),
        hlo: Hlo::Operation("stablehlo.log_plus_one"),
        float: |x| x[0].ln_1p(),
        derivative: &["dy / (x + 1.0)"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Rsqrt(x)`: 1 over the square root; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `1 / √x`: infinity of the sign of the operand at zeros, NaN below.
    /// - **Error**: less than 2 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `-(dy * y / (x + x))`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Rsqrt (%0) : f32[2, 3]`.
    Rsqrt = Row {
        mnemonic: "rsqrt",
        label: "rsqrt",
        profile: Profile::Extended,
        cost: Cost::Division,
        exactness: Exactness::Within([2, 2]),
        rust: Rust::Function("rsqrt"),
        hlo: Hlo::Operation("stablehlo.rsqrt"),
        float: |x| 1.0 / x[0].sqrt(),
        derivative: &["-(dy * y / (x + x))"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Cbrt(x)`: the cube root; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `∛x`, with the sign of the operand.
    /// - **Error**: less than 1 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy / (3 * y * y)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Cbrt (%0) : f32[2, 3]`.
    Cbrt = Row {
        mnemonic: "cbrt",
        label: "cbrt",
        profile: Profile::Extended,
        exactness: Exactness::Within([1, 1]),
        rust: Rust::By("cbrt"),
        hlo: Hlo::Operation("stablehlo.cbrt"),
        float: |x| x[0].cbrt(),
        derivative: &["dy / (3.0 * y * y)"],
        domain: Domain::NonZero,
        ..FLOATS
    };
    /// `Sinh(x)`: the hyperbolic sine; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `(e^x - e^-x) / 2`. Zeros keep their sign.
    /// - **Error**: less than 3 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy * cosh(x)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Sinh (%0) : f32[2, 3]`.
    Sinh = Row {
        mnemonic: "sinh",
        label: "sinh",
        profile: Profile::Extended,
        exactness: Exactness::Within([3, 3]),
        rust: Rust::By("sinh"),
        hlo: Hlo::Operation("chlo.sinh"),
        float: |x| x[0].sinh(),
        derivative: &["dy * cosh(x)"],
        ..FLOATS
    };
    /// `Cosh(x)`: the hyperbolic cosine; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `(e^x + e^-x) / 2`.
    /// - **Error**: less than 3 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy * sinh(x)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Cosh (%0) : f32[2, 3]`.
    Cosh = Row {
        mnemonic: "cosh",
        label: "cosh",
        profile: Profile::Extended,
        exactness: Exactness::Within([3, 3]),
        rust: Rust::By("cosh"),
        hlo: Hlo::Operation("chlo.cosh"),
        float: |x| x[0].cosh(),
        derivative: &["dy * sinh(x)"],
        ..FLOATS
    };
    /// `Asinh(x)`: the inverse hyperbolic sine; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `ln(x + √(x² + 1))`. Zeros keep their sign.
    /// - **Error**: less than 3 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy / √(x² + 1)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Asinh (%0) : f32[2, 3]`.
    Asinh = Row {
        mnemonic: "asinh",
        label: "asinh",
        profile: Profile::Extended,
        exactness: Exactness::Within([3, 3]),
        rust: Rust::By("asinh"),
        hlo: Hlo::Operation("chlo.asinh"),
        float: |x| far(x[0].abs()).map_or_else(|| x[0].asinh(), |y| y.copysign(x[0])),
        derivative: &["dy / hypot(x, 1.0)"],
        ..FLOATS
    };
    /// `Acosh(x)`: the inverse hyperbolic cosine; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `ln(x + √(x² - 1))`: NaN below 1.
    /// - **Error**: less than 3 ulp; exact at 1, infinity and NaN.
    /// - **Derivative**: `dy / √(x² - 1)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Acosh (%0) : f32[2, 3]`.
    Acosh = Row {
        mnemonic: "acosh",
        label: "acosh",
        profile: Profile::Extended,
        exactness: Exactness::Within([3, 3]),
        rust: Rust::By("acosh"),
        hlo: Hlo::Operation("chlo.acosh"),
        float: |x| far(x[0]).unwrap_or_else(|| x[0].acosh()),
        derivative: &["dy / (sqrt(x - 1.0) * sqrt(x + 1.0))"],
        domain: Domain::AboveOne,
        ..FLOATS
    };
    /// `Atanh(x)`: the inverse hyperbolic tangent; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `ln((1 + x) / (1 - x)) / 2`: ±infinity at ±1, NaN beyond. Zeros keep their sign.
    /// - **Error**: less than 3 ulp; exact at zeros, ±1 and NaN.
    /// - **Derivative**: `dy / (1 - x²)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Atanh (%0) : f32[2, 3]`.
    Atanh = Row {
        mnemonic: "atanh",
        label: "atanh",
        profile: Profile::Extended,
        exactness: Exactness::Within([3, 3]),
        rust: Rust::By("atanh"),
        hlo: Hlo::Operation("chlo.atanh"),
        // Rust's `atanh` loses digits of negative numbers.
        float: |x| x[0].abs().atanh().copysign(x[0]),
        derivative: &["dy / ((1.0 - x) * (1.0 + x))"],
        domain: Domain::Unit,
        ..FLOATS
    };
    /// `Asin(x)`: the inverse sine; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the angle from -π/2 to π/2 whose sine is `x`: NaN beyond ±1. Zeros keep their sign.
    /// - **Error**: less than 3 ulp in `f32`, less than 2 ulp in `f64`; exact at zeros and NaN.
    /// - **Derivative**: `dy / √(1 - x²)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Asin (%0) : f32[2, 3]`.
    Asin = Row {
        mnemonic: "asin",
        label: "asin",
        profile: Profile::Extended,
        exactness: Exactness::Within([3, 2]),
        rust: Rust::By("asin"),
        hlo: Hlo::Operation("chlo.asin"),
        float: |x| x[0].asin(),
        derivative: &["dy / sqrt((1.0 - x) * (1.0 + x))"],
        domain: Domain::Unit,
        ..FLOATS
    };
    /// `Acos(x)`: the inverse cosine; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the angle from 0 to π whose cosine is `x`: NaN beyond ±1.
    /// - **Error**: less than 2 ulp; exact at 1 and NaN.
    /// - **Derivative**: `-(dy / √(1 - x²))`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Acos (%0) : f32[2, 3]`.
    Acos = Row {
        mnemonic: "acos",
        label: "acos",
        profile: Profile::Extended,
        exactness: Exactness::Within([2, 2]),
        rust: Rust::By("acos"),
        hlo: Hlo::Operation("chlo.acos"),
        float: |x| x[0].acos(),
        derivative: &["-(dy / sqrt((1.0 - x) * (1.0 + x)))"],
        domain: Domain::Unit,
        ..FLOATS
    };
    /// `Atan(x)`: the inverse tangent; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the angle from -π/2 to π/2 whose tangent is `x`. Zeros keep their sign.
    /// - **Error**: less than 2 ulp; exact at zeros and NaN.
    /// - **Derivative**: `dy / (x² + 1)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Atan (%0) : f32[2, 3]`.
    Atan = Row {
        mnemonic: "atan",
        label: "atan",
        profile: Profile::Extended,
        exactness: Exactness::Within([2, 2]),
        rust: Rust::By("atan"),
        hlo: Hlo::Operation("chlo.atan"),
        float: |x| x[0].atan(),
        derivative: &["dy / (x * x + 1.0)"],
        ..FLOATS
    };
    /// `Sin(x)`: the sine; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the sine of an angle in radians, of any size. Zeros keep their sign. NaN at infinities.
    /// - **Error**: less than 2 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy * cos(x)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Sin (%0) : f32[2, 3]`.
    Sin = Row {
        mnemonic: "sin",
        label: "sin",
        profile: Profile::Extended,
        exactness: Exactness::Within([2, 2]),
        rust: Rust::By("sin"),
        hlo: Hlo::Operation("stablehlo.sine"),
        range: Some("is_near_angle"),
        float: |x| x[0].sin(),
        derivative: &["dy * cos(x)"],
        ..FLOATS
    };
    /// `Cos(x)`: the cosine; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the cosine of an angle in radians, of any size: NaN at infinities.
    /// - **Error**: less than 2 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `-(dy * sin(x))`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Cos (%0) : f32[2, 3]`.
    Cos = Row {
        mnemonic: "cos",
        label: "cos",
        profile: Profile::Extended,
        exactness: Exactness::Within([2, 2]),
        rust: Rust::By("cos"),
        hlo: Hlo::Operation("stablehlo.cosine"),
        range: Some("is_near_angle"),
        float: |x| x[0].cos(),
        derivative: &["-(dy * sin(x))"],
        ..FLOATS
    };
    /// `Tan(x)`: the tangent; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the tangent of an angle in radians, of any size. Zeros keep their sign. NaN at infinities.
    /// - **Error**: less than 3 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy * (1 + y * y)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Tan (%0) : f32[2, 3]`.
    Tan = Row {
        mnemonic: "tan",
        label: "tan",
        profile: Profile::Extended,
        exactness: Exactness::Within([3, 3]),
        rust: Rust::By("tan"),
        hlo: Hlo::Operation("stablehlo.tan"),
        range: Some("is_near_angle"),
        float: |x| x[0].tan(),
        derivative: &["dy * (1.0 + y * y)"],
        domain: Domain::Unit,
        ..FLOATS
    };
    /// `Erf(x)`: the error function; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `2 / √π` times the integral of `e^(-t²)` from 0 to `x`: ±1 at ±infinity. Zeros keep their sign.
    /// - **Error**: less than 6 ulp in `f32`, less than 2 ulp in `f64`; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy * (2 / √π) * e^(-x²)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Erf (%0) : f32[2, 3]`.
    Erf = Row {
        mnemonic: "erf",
        label: "erf",
        profile: Profile::Extended,
        exactness: Exactness::Within([6, 2]),
        rust: Rust::By("erf"),
        hlo: Hlo::Operation("chlo.erf"),
        float: |x| libm::erf(x[0]),
        derivative: &["dy * (1.1283791670955126 * gaussian(x) * gaussian(x))"],
        ..FLOATS
    };
    /// `Erfc(x)`: 1 minus the error function; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `1 - erf(x)`, without cancellation where that is small: 0 at infinity and 2 at negative
    ///   infinity.
    /// - **Error**: less than 6 ulp in `f32`, less than 5 ulp in `f64`; exact at zeros, infinities and NaN.
    /// - **Derivative**: `-(dy * (2 / √π) * e^(-x²))`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Erfc (%0) : f32[2, 3]`.
    Erfc = Row {
        mnemonic: "erfc",
        label: "erfc",
        profile: Profile::Extended,
        exactness: Exactness::Within([6, 5]),
        rust: Rust::By("erfc"),
        hlo: Hlo::Operation("chlo.erfc"),
        float: |x| libm::erfc(x[0]),
        derivative: &["-(dy * (1.1283791670955126 * gaussian(x) * gaussian(x)))"],
        ..FLOATS
    };
    /// `Gaussian(x)`: the exponential of minus half of the square, for gradients; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `e^(-x²/2)`, corrected for the rounding of the square: 1 at 0, and 0 at infinities.
    /// - **Error**: less than 2 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `-(dy * x * y)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Gaussian (%0) : f32[2, 3]`.
    Gaussian = Row {
        mnemonic: "gaussian",
        label: "gaussian",
        notation: Notation::Never,
        profile: Profile::Extended,
        exactness: Exactness::Within([2, 2]),
        rust: Rust::By("gaussian"),
        // The square of `high` is exact, and so is `size - high`. The second factor uses `expm1`, because XLA would
        // merge two exponentials into one.
        hlo: Hlo::Formula(&[
            ("size", "minimum(abs(x), 40.0)"),
            ("high", "floor(size * 256.0) / 256.0"),
            ("y", "exp(-(0.5 * high * high)) * (1.0 + expm1(-(0.5 * (size - high) * (size + high))))"),
        ]),
        float: |x| {
            // Beyond 40 the result is 0. The comparison lets NaN pass.
            let size = if x[0].abs() > 40.0 { 40.0 } else { x[0].abs() };
            let square = size * size;
            let lost = size.mul_add(size, -square);
            let power = (-0.5 * square).exp();
            power.mul_add(-0.5 * lost, power)
        },
        derivative: &["-(dy * (x * y))"],
        ..FLOATS
    };
    /// `Abs(x)`: the absolute value; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: `x` without its sign; the least integer wraps to itself.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: `(x > 0 ? dy : 0) - (-x > 0 ? dy : 0)`: `dy` times the sign of `x`, and 0 at 0.
    /// - **Constraints**: none beyond those of every type.
    /// - **Example**: `%1 = Abs (%0) : f32[2, 3]`.
    Abs = Row {
        mnemonic: "abs",
        label: "abs",
        profile: Profile::Extended,
        takes: Takes::Numbers,
        cost: Cost::Addition,
        exactness: Exactness::Exact,
        rust: Rust::Function("abs"),
        hlo: Hlo::Operation("stablehlo.abs"),
        float: |x| x[0].abs(),
        integer: |x| x[0].wrapping_abs(),
        derivative: &["relu_grad(dy, x) - relu_grad(dy, -x)"],
        domain: Domain::NonZero,
        ..FLOATS
    };
    /// `Sign(x)`: the sign of a number; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: 1 above 0, -1 below; zeros keep their sign, and NaN stays.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: zero: the result is constant except for a jump at 0.
    /// - **Constraints**: none beyond those of every type.
    /// - **Example**: `%1 = Sign (%0) : f32[2, 3]`.
    Sign = Row {
        mnemonic: "sign",
        label: "sign",
        takes: Takes::Numbers,
        rust: Rust::Function("sign"),
        hlo: Hlo::Operation("stablehlo.sign"),
        float: |x| if x[0] == 0.0 || x[0].is_nan() { x[0] } else { x[0].signum() },
        integer: |x| x[0].signum(),
        ..STEP
    };
    /// `Floor(x)`: rounded down; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the largest integer that is at most `x`. A result of 0 has the sign of `x`. Infinities and NaN
    ///   stay.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: zero: the result is constant between its jumps.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Floor (%0) : f32[2, 3]`.
    Floor = Row {
        mnemonic: "floor",
        label: "floor",
        rust: Rust::Function("floor"),
        hlo: Hlo::Operation("stablehlo.floor"),
        float: |x| x[0].floor(),
        ..STEP
    };
    /// `Ceil(x)`: rounded up; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the least integer that is at least `x`. A result of 0 has the sign of `x`. Infinities and NaN
    ///   stay.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: zero: the result is constant between its jumps.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Ceil (%0) : f32[2, 3]`.
    Ceil = Row {
        mnemonic: "ceil",
        label: "ceil",
        rust: Rust::Function("ceil"),
        hlo: Hlo::Operation("stablehlo.ceil"),
        float: |x| x[0].ceil(),
        ..STEP
    };
    /// `Round(x)`: rounded to the nearest integer; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the nearest integer, with ties to even. A result of 0 has the sign of `x`. Infinities and NaN
    ///   stay.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: zero: the result is constant between its jumps.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Round (%0) : f32[2, 3]`.
    Round = Row {
        mnemonic: "round",
        label: "round",
        rust: Rust::Function("round"),
        hlo: Hlo::Operation("stablehlo.round_nearest_even"),
        float: |x| x[0].round_ties_even(),
        ..STEP
    };
    /// `Trunc(x)`: rounded towards 0; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `x` without its fraction. A result of 0 has the sign of `x`. Infinities and NaN stay.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: zero: the result is constant between its jumps.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Trunc (%0) : f32[2, 3]`.
    Trunc = Row {
        mnemonic: "trunc",
        label: "trunc",
        rust: Rust::Function("trunc"),
        hlo: Hlo::Formula(&[("y", "where(lt(x, 0.0), ceil(x), floor(x))")]),
        float: |x| x[0].trunc(),
        ..STEP
    };
    /// `Eq(lhs, rhs)`: whether two elements are equal; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: any dtype of both operands; the result is `bool`.
    /// - **Semantics**: `lhs == rhs`: -0 equals +0, and NaN equals nothing.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none: the result is constant between its jumps.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = Eq (%0, %1) : bool[2, 3]`.
    Eq = Row {
        mnemonic: "eq",
        label: "==",
        takes: Takes::All,
        commutative: true,
        rust: Rust::Sign("=="),
        hlo: Hlo::Compare("EQ"),
        float: |x| f64::from(x[0] == x[1]),
        integer: |x| i64::from(x[0] == x[1]),
        ..COMPARISON
    };
    /// `Ne(lhs, rhs)`: whether two elements differ; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: any dtype of both operands; the result is `bool`.
    /// - **Semantics**: `lhs != rhs`: -0 equals +0, and NaN differs from everything, including itself.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none: the result is constant between its jumps.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = Ne (%0, %1) : bool[2, 3]`.
    Ne = Row {
        mnemonic: "ne",
        label: "!=",
        takes: Takes::All,
        commutative: true,
        rust: Rust::Sign("!="),
        hlo: Hlo::Compare("NE"),
        float: |x| f64::from(x[0] != x[1]),
        integer: |x| i64::from(x[0] != x[1]),
        ..COMPARISON
    };
    /// `Lt(lhs, rhs)`: whether an element is less than another; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: any numeric dtype of both operands; the result is `bool`.
    /// - **Semantics**: `lhs < rhs`; false if either operand is NaN.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none: the result is constant between its jumps.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is numeric (E2005).
    /// - **Example**: `%2 = Lt (%0, %1) : bool[2, 3]`.
    Lt = Row {
        mnemonic: "lt",
        label: "<",
        rust: Rust::Sign("<"),
        hlo: Hlo::Compare("LT"),
        float: |x| f64::from(x[0] < x[1]),
        integer: |x| i64::from(x[0] < x[1]),
        ..COMPARISON
    };
    /// `Le(lhs, rhs)`: whether an element is at most another; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: any numeric dtype of both operands; the result is `bool`.
    /// - **Semantics**: `lhs <= rhs`; false if either operand is NaN.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none: the result is constant between its jumps.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is numeric (E2005).
    /// - **Example**: `%2 = Le (%0, %1) : bool[2, 3]`.
    Le = Row {
        mnemonic: "le",
        label: "<=",
        rust: Rust::Sign("<="),
        hlo: Hlo::Compare("LE"),
        float: |x| f64::from(x[0] <= x[1]),
        integer: |x| i64::from(x[0] <= x[1]),
        ..COMPARISON
    };
    /// `Gt(lhs, rhs)`: whether an element is greater than another; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: any numeric dtype of both operands; the result is `bool`.
    /// - **Semantics**: `lhs > rhs`; false if either operand is NaN.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none: the result is constant between its jumps.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is numeric (E2005).
    /// - **Example**: `%2 = Gt (%0, %1) : bool[2, 3]`.
    Gt = Row {
        mnemonic: "gt",
        label: ">",
        rust: Rust::Sign(">"),
        hlo: Hlo::Compare("GT"),
        float: |x| f64::from(x[0] > x[1]),
        integer: |x| i64::from(x[0] > x[1]),
        ..COMPARISON
    };
    /// `Ge(lhs, rhs)`: whether an element is at least another; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: any numeric dtype of both operands; the result is `bool`.
    /// - **Semantics**: `lhs >= rhs`; false if either operand is NaN.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none: the result is constant between its jumps.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is numeric (E2005).
    /// - **Example**: `%2 = Ge (%0, %1) : bool[2, 3]`.
    Ge = Row {
        mnemonic: "ge",
        label: ">=",
        rust: Rust::Sign(">="),
        hlo: Hlo::Compare("GE"),
        float: |x| f64::from(x[0] >= x[1]),
        integer: |x| i64::from(x[0] >= x[1]),
        ..COMPARISON
    };
    /// `IsNan(x)`: whether an element is NaN; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand is `f32` or `f64`; the result is `bool`.
    /// - **Semantics**: true for NaN.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none: the result is constant between its jumps.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = IsNan (%0) : bool[2, 3]`.
    IsNan = Row {
        mnemonic: "is_nan",
        label: "is_nan",
        rust: Rust::Function("is_nan"),
        hlo: Hlo::Formula(&[("y", "ne(x, x)")]),
        float: |x| f64::from(x[0].is_nan()),
        ..KIND
    };
    /// `IsFinite(x)`: whether an element is finite; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand is `f32` or `f64`; the result is `bool`.
    /// - **Semantics**: true except for infinities and NaN.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none: the result is constant between its jumps.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = IsFinite (%0) : bool[2, 3]`.
    IsFinite = Row {
        mnemonic: "is_finite",
        label: "is_finite",
        rust: Rust::Function("is_finite"),
        hlo: Hlo::Operation("stablehlo.is_finite"),
        float: |x| f64::from(x[0].is_finite()),
        ..KIND
    };
    /// `And(lhs, rhs)`: whether both truth values are true; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: `bool`.
    /// - **Semantics**: true where both operands are.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is `bool` (E2005).
    /// - **Example**: `%2 = And (%0, %1) : bool[2, 3]`.
    And = Row {
        notation: Notation::Infix(Tightness::And),
        mnemonic: "and",
        label: "&&",
        takes: Takes::Truths,
        decides: Some(false),
        rust: Rust::Sign("&"),
        hlo: Hlo::Operation("stablehlo.and"),
        integer: |x| x[0] & x[1],
        ..BITS
    };
    /// `Or(lhs, rhs)`: whether at least one truth value is true; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: `bool`.
    /// - **Semantics**: true where at least one operand is.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is `bool` (E2005).
    /// - **Example**: `%2 = Or (%0, %1) : bool[2, 3]`.
    Or = Row {
        notation: Notation::Infix(Tightness::Or),
        mnemonic: "or",
        label: "||",
        takes: Takes::Truths,
        decides: Some(true),
        rust: Rust::Sign("|"),
        hlo: Hlo::Operation("stablehlo.or"),
        integer: |x| x[0] | x[1],
        ..BITS
    };
    /// `BitAnd(lhs, rhs)`: the bitwise and; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, an integer or `bool`.
    /// - **Semantics**: the bits that are set in both operands.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is an integer or `bool` (E2005).
    /// - **Example**: `%2 = BitAnd (%0, %1) : bool[2, 3]`.
    BitAnd = Row {
        notation: Notation::Infix(Tightness::BitAnd),
        mnemonic: "bit_and",
        label: "&",
        rust: Rust::Sign("&"),
        hlo: Hlo::Operation("stablehlo.and"),
        integer: |x| x[0] & x[1],
        ..BITS
    };
    /// `BitOr(lhs, rhs)`: the bitwise or; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, an integer or `bool`.
    /// - **Semantics**: the bits that are set in at least one operand.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is an integer or `bool` (E2005).
    /// - **Example**: `%2 = BitOr (%0, %1) : bool[2, 3]`.
    BitOr = Row {
        notation: Notation::Infix(Tightness::BitOr),
        mnemonic: "bit_or",
        label: "|",
        rust: Rust::Sign("|"),
        hlo: Hlo::Operation("stablehlo.or"),
        integer: |x| x[0] | x[1],
        ..BITS
    };
    /// `BitXor(lhs, rhs)`: the bitwise exclusive or; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, an integer or `bool`.
    /// - **Semantics**: the bits that are set in exactly one operand.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is an integer or `bool` (E2005).
    /// - **Example**: `%2 = BitXor (%0, %1) : bool[2, 3]`.
    BitXor = Row {
        notation: Notation::Infix(Tightness::BitXor),
        mnemonic: "bit_xor",
        label: "^",
        rust: Rust::Sign("^"),
        hlo: Hlo::Operation("stablehlo.xor"),
        integer: |x| x[0] ^ x[1],
        ..BITS
    };
    /// `Not(x)`: the opposite truth value, or the inverted bits of an integer; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, an integer or `bool`.
    /// - **Semantics**: true where `x` is false. Each bit of an integer is inverted.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none.
    /// - **Constraints**: 1. `x` is an integer or `bool` (E2005).
    /// - **Example**: `%1 = Not (%0) : bool[2, 3]`.
    Not = Row {
        notation: Notation::Prefix("not"),
        mnemonic: "not",
        label: "!",
        formals: &["x"],
        commutative: false,
        rust: Rust::Sign("!"),
        hlo: Hlo::Operation("stablehlo.not"),
        integer: |x| !x[0],
        ..BITS
    };
    /// `Shl(lhs, rhs)`: an integer shifted to the left; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, an integer.
    /// - **Semantics**: `lhs << rhs`: `lhs` times 2 to the power of `rhs`, wrapping. The result is 0 where `rhs` is
    ///   negative or at least the number of bits.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is an integer (E2005).
    /// - **Example**: `%2 = Shl (%0, %1) : i32[2, 3]`.
    Shl = Row {
        mnemonic: "shl",
        label: "<<",
        rust: Rust::Function("shl"),
        hlo: Hlo::Operation("stablehlo.shift_left"),
        integer: |x| x[0].checked_shl(u32::try_from(x[1]).unwrap_or(u32::MAX)).unwrap_or(0),
        ..SHIFT
    };
    /// `Shr(lhs, rhs)`: an integer shifted to the right; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, an integer.
    /// - **Semantics**: `lhs >> rhs`: `lhs` divided by 2 to the power of `rhs`, rounded down. Where `rhs` is negative
    ///   or at least the number of bits, the result is -1 for a negative `lhs`, else 0.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is an integer (E2005).
    /// - **Example**: `%2 = Shr (%0, %1) : i32[2, 3]`.
    Shr = Row {
        mnemonic: "shr",
        label: ">>",
        rust: Rust::Function("shr"),
        hlo: Hlo::Operation("stablehlo.shift_right_arithmetic"),
        integer: |x| x[0] >> u32::try_from(x[1]).map_or(63, |by| by.min(63)),
        ..SHIFT
    };
    /// `Threefry(key, counter)`: random bits; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, an integer.
    /// - **Semantics**: Threefry-2x32 with 20 rounds (Salmon et al., *Parallel Random Numbers: As Easy as 1, 2, 3*,
    ///   2011) of `key` and `counter` as 64-bit integers, whose upper half is the first word of the algorithm. The upper
    ///   half of the result is the first word `w0`, the lower half is `w0 ^ w1`. Narrower integers are its lowest bits.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is an integer (E2005).
    /// - **Example**: `%2 = Threefry (%0, %1) : i64[2, 3]`.
    Threefry = Row {
        notation: Notation::Never,
        mnemonic: "threefry",
        label: "threefry",
        formals: &["key", "counter"],
        takes: Takes::Integers,
        commutative: false,
        cost: Cost::Series,
        rust: Rust::Function("threefry"),
        hlo: Hlo::Formula(threefry::FORMULA),
        integer: |x| threefry::reference(x[0], x[1]),
        ..BITS
    };
    /// `Where(condition, chosen, other)`: elements of two tensors, chosen by truth values; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the condition is `bool`; the other operands and the result have the same dtype, which can be any.
    /// - **Semantics**: `condition ? chosen : other`. An element that is not chosen does not affect the result, even if
    ///   it is NaN.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: `condition ? dy : 0` to `chosen`, `condition ? 0 : dy` to `other`, none to the condition.
    /// - **Constraints**: 1. the condition is `bool` (E2005). 2. The other operands have the same dtype (E2004). 3. The
    ///   shapes broadcast (E3001).
    /// - **Example**: `%3 = Where (%0, %1, %2) : f32[2, 3]`.
    Where = Row {
        mnemonic: "where",
        label: "where",
        formals: &["condition", "chosen", "other"],
        profile: Profile::Extended,
        takes: Takes::All,
        shapes: ShapeRule::Choice,
        cost: Cost::Addition,
        exactness: Exactness::Exact,
        rust: Rust::Function("choose"),
        hlo: Hlo::Operation("stablehlo.select"),
        float: |x| if x[0] != 0.0 { x[1] } else { x[2] },
        integer: |x| if x[0] != 0 { x[1] } else { x[2] },
        derivative: &["", "where(condition, dy, 0.0)", "where(condition, 0.0, dy)"],
        ..FLOATS
    };
    /// `ToF32(x)`: the conversion to a 32-bit float; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: any dtype of the operand; the result is `f32`.
    /// - **Semantics**: `x as f32`: the nearest float, with ties to even; infinity beyond the largest float. Truth
    ///   values become 1 and 0.
    /// - **Error**: 0.5 ulp: rounded once.
    /// - **Derivative**: `dy`, converted to the dtype of `x`; none if `x` is not floating-point.
    /// - **Constraints**: none beyond those of every type.
    /// - **Example**: `%1 = ToF32 (%0) : f32[2, 3]`.
    ToF32 = Row {
        mnemonic: "to_f32",
        label: "f32",
        gives: Gives::Type(DType::F32),
        rust: Rust::Function("to_f32"),
        derivative: &["like(dy, x)"],
        ..CONVERSION
    };
    /// `ToF64(x)`: the conversion to a 64-bit float; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: any dtype of the operand; the result is `f64`.
    /// - **Semantics**: `x as f64`: the nearest float, with ties to even. Truth values become 1 and 0.
    /// - **Error**: none, except for `i64`, which is rounded once: 0.5 ulp.
    /// - **Derivative**: `dy`, converted to the dtype of `x`; none if `x` is not floating-point.
    /// - **Constraints**: none beyond those of every type.
    /// - **Example**: `%1 = ToF64 (%0) : f64[2, 3]`.
    ToF64 = Row {
        mnemonic: "to_f64",
        label: "f64",
        gives: Gives::Type(DType::F64),
        rust: Rust::Function("to_f64"),
        derivative: &["like(dy, x)"],
        ..CONVERSION
    };
    /// `ToU8(x)`: the conversion to an unsigned 8-bit integer; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: any dtype of the operand; the result is `u8`.
    /// - **Semantics**: `x as u8`. Floats are rounded towards 0 and saturate at 0 and 255. NaN becomes 0. Wider
    ///   integers keep their lowest bits. Truth values become 1 and 0.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none: the result is constant between its jumps.
    /// - **Constraints**: none beyond those of every type.
    /// - **Example**: `%1 = ToU8 (%0) : u8[2, 3]`.
    ToU8 = Row {
        mnemonic: "to_u8",
        label: "u8",
        gives: Gives::Type(DType::U8),
        rust: Rust::Function("to_u8"),
        exactness: Exactness::Exact,
        ..CONVERSION
    };
    /// `ToI32(x)`: the conversion to a 32-bit integer; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: any dtype of the operand; the result is `i32`.
    /// - **Semantics**: `x as i32`. Floats are rounded towards 0 and saturate out of range. NaN becomes 0. An `i64`
    ///   keeps its lowest bits. Truth values become 1 and 0.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none: the result is constant between its jumps.
    /// - **Constraints**: none beyond those of every type.
    /// - **Example**: `%1 = ToI32 (%0) : i32[2, 3]`.
    ToI32 = Row {
        mnemonic: "to_i32",
        label: "i32",
        gives: Gives::Type(DType::I32),
        rust: Rust::Function("to_i32"),
        exactness: Exactness::Exact,
        ..CONVERSION
    };
    /// `ToI64(x)`: the conversion to a 64-bit integer; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: any dtype of the operand; the result is `i64`.
    /// - **Semantics**: `x as i64`. Floats are rounded towards 0 and saturate out of range. NaN becomes 0. Truth values
    ///   become 1 and 0.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none: the result is constant between its jumps.
    /// - **Constraints**: none beyond those of every type.
    /// - **Example**: `%1 = ToI64 (%0) : i64[2, 3]`.
    ToI64 = Row {
        mnemonic: "to_i64",
        label: "i64",
        gives: Gives::Type(DType::I64),
        rust: Rust::Function("to_i64"),
        exactness: Exactness::Exact,
        ..CONVERSION
    };
    /// `ToBool(x)`: the conversion to a truth value; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: any dtype of the operand; the result is `bool`.
    /// - **Semantics**: `x != 0`: true for NaN.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: none: the result is constant between its jumps.
    /// - **Constraints**: none beyond those of every type.
    /// - **Example**: `%1 = ToBool (%0) : bool[2, 3]`.
    ToBool = Row {
        mnemonic: "to_bool",
        label: "bool",
        gives: Gives::Type(DType::Bool),
        rust: Rust::Function("to_bool"),
        float: |x| f64::from(x[0] != 0.0),
        integer: |x| i64::from(x[0] != 0),
        exactness: Exactness::Exact,
        ..CONVERSION
    };
    /// `Maximum(lhs, rhs)`: the larger of two elements; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands.
    /// - **Semantics**: the larger operand, where +0 is above -0; NaN if either operand is NaN.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: the larger operand receives the cotangent; two equal operands receive half of it each.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = Maximum (%0, %1) : f32[2, 3]`.
    Maximum = Row {
        mnemonic: "maximum",
        label: "maximum",
        rust: Rust::Function("maximum"),
        hlo: Hlo::ByType {
            integers: "stablehlo.maximum",
            floats: &[
                ("twins", "and(eq(lhs, rhs), ne(lhs, 0.0))"),
                ("rest", "where(twins, lhs, lhs + rhs)"),
                ("y", "where(gt(lhs, rhs), lhs, where(lt(lhs, rhs), rhs, rest))"),
            ],
        },
        float: |x| match x[0].partial_cmp(&x[1]) {
            None => f64::NAN,
            Some(Ordering::Equal) if x[0].is_sign_negative() => x[1],
            Some(Ordering::Less) => x[1],
            Some(Ordering::Equal | Ordering::Greater) => x[0],
        },
        integer: |x| x[0].max(x[1]),
        ..EXTREME
    };
    /// `Minimum(lhs, rhs)`: the smaller of two elements; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands.
    /// - **Semantics**: the smaller operand, where -0 is below +0; NaN if either operand is NaN.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: the smaller operand receives the cotangent; two equal operands receive half of it each.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = Minimum (%0, %1) : f32[2, 3]`.
    Minimum = Row {
        mnemonic: "minimum",
        label: "minimum",
        rust: Rust::Function("minimum"),
        hlo: Hlo::ByType {
            integers: "stablehlo.minimum",
            floats: &[
                ("twins", "and(eq(lhs, rhs), ne(lhs, 0.0))"),
                ("rest", "where(twins, lhs, -(-lhs - rhs))"),
                ("y", "where(lt(lhs, rhs), lhs, where(gt(lhs, rhs), rhs, rest))"),
            ],
        },
        float: |x| match x[0].partial_cmp(&x[1]) {
            None => f64::NAN,
            Some(Ordering::Equal) if x[0].is_sign_negative() => x[0],
            Some(Ordering::Less) => x[0],
            Some(Ordering::Equal | Ordering::Greater) => x[1],
        },
        integer: |x| x[0].min(x[1]),
        ..EXTREME
    };
    /// `Fmax(lhs, rhs)`: the larger of two elements, ignoring NaN; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands.
    /// - **Semantics**: the larger operand, where +0 is above -0. If one operand is NaN, the result is the other one.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: the larger operand receives the cotangent; two equal operands receive half of it each. A
    ///   number beside NaN receives all of it.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = Fmax (%0, %1) : f32[2, 3]`.
    Fmax = Row {
        mnemonic: "fmax",
        label: "fmax",
        rust: Rust::Function("fmax"),
        hlo: Hlo::Formula(&[("y", "where(ne(rhs, rhs), lhs, where(ne(lhs, lhs), rhs, maximum(lhs, rhs)))")]),
        float: |x| match x[0].partial_cmp(&x[1]) {
            None if x[0].is_nan() => x[1],
            Some(Ordering::Equal) if x[0].is_sign_negative() => x[1],
            Some(Ordering::Less) => x[1],
            None | Some(Ordering::Equal | Ordering::Greater) => x[0],
        },
        integer: |x| x[0].max(x[1]),
        ..EXTREME
    };
    /// `Fmin(lhs, rhs)`: the smaller of two elements, ignoring NaN; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands.
    /// - **Semantics**: the smaller operand, where -0 is below +0. If one operand is NaN, the result is the other one.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: the smaller operand receives the cotangent; two equal operands receive half of it each. A
    ///   number beside NaN receives all of it.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = Fmin (%0, %1) : f32[2, 3]`.
    Fmin = Row {
        mnemonic: "fmin",
        label: "fmin",
        rust: Rust::Function("fmin"),
        hlo: Hlo::Formula(&[("y", "where(ne(rhs, rhs), lhs, where(ne(lhs, lhs), rhs, minimum(lhs, rhs)))")]),
        float: |x| match x[0].partial_cmp(&x[1]) {
            None if x[0].is_nan() => x[1],
            Some(Ordering::Equal) if x[0].is_sign_positive() => x[1],
            Some(Ordering::Greater) => x[1],
            None | Some(Ordering::Equal | Ordering::Less) => x[0],
        },
        integer: |x| x[0].min(x[1]),
        ..EXTREME
    };
    /// `Atan2(lhs, rhs)`: the angle of a point; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, `f32` or `f64`.
    /// - **Semantics**: the angle from -π to π of the point with the first coordinate `rhs` and the second coordinate
    ///   `lhs`, as IEEE 754 specifies. It has the sign of `lhs`, also at zeros and infinities.
    /// - **Error**: less than 3 ulp; exact at zeros and NaN.
    /// - **Derivative**: `dy * rhs / (lhs² + rhs²)` to `lhs`, `-(dy * lhs / (lhs² + rhs²))` to `rhs`.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is floating-point (E2005).
    /// - **Example**: `%2 = Atan2 (%0, %1) : f32[2, 3]`.
    Atan2 = Row {
        mnemonic: "atan2",
        label: "atan2",
        formals: &["lhs", "rhs"],
        profile: Profile::Extended,
        exactness: Exactness::Within([3, 3]),
        rust: Rust::By("atan2"),
        hlo: Hlo::Operation("stablehlo.atan2"),
        float: |x| x[0].atan2(x[1]),
        derivative: &[
            "dy * (rhs / hypot(lhs, rhs)) / hypot(lhs, rhs)",
            "-(dy * (lhs / hypot(lhs, rhs)) / hypot(lhs, rhs))",
        ],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Hypot(lhs, rhs)`: the length of a hypotenuse; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, `f32` or `f64`.
    /// - **Semantics**: `√(lhs² + rhs²)`, even where the squares overflow or underflow. It is infinity if either
    ///   operand is infinite, even if the other is NaN.
    /// - **Error**: less than 1 ulp in `f32`, less than 2 ulp in `f64`; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy * (lhs / y)` to `lhs`, `dy * (rhs / y)` to `rhs`; 0 where both are 0.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is floating-point (E2005).
    /// - **Example**: `%2 = Hypot (%0, %1) : f32[2, 3]`.
    Hypot = Row {
        mnemonic: "hypot",
        label: "hypot",
        formals: &["lhs", "rhs"],
        profile: Profile::Extended,
        commutative: true,
        cost: Cost::Division,
        exactness: Exactness::Within([1, 2]),
        rust: Rust::Function("hypot"),
        hlo: Hlo::Formula(&[
            // A comparison with NaN is false, so NaN in either operand reaches the ratio.
            ("is_steep", "gt(abs(lhs), abs(rhs))"),
            ("most", "where(is_steep, abs(lhs), abs(rhs))"),
            ("least", "where(is_steep, abs(rhs), abs(lhs))"),
            ("ratio", "least / most"),
            ("finite", "where(eq(most + least, 0.0), 0.0, most * sqrt(1.0 + ratio * ratio))"),
            ("infinity", "1e999"),
            ("y", "where(or(eq(abs(lhs), infinity), eq(abs(rhs), infinity)), infinity, finite)"),
        ]),
        float: |x| x[0].hypot(x[1]),
        derivative: &["where(eq(y, 0.0), 0.0, dy * (lhs / y))", "where(eq(y, 0.0), 0.0, dy * (rhs / y))"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Logaddexp(lhs, rhs)`: the logarithm of the sum of two exponentials; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, `f32` or `f64`.
    /// - **Semantics**: `ln(e^lhs + e^rhs)`, even where the exponentials overflow or underflow. It is the larger
    ///   operand if one is infinite, and NaN if either is NaN.
    /// - **Error**: less than 1 ulp in `f32`, less than 2 ulp in `f64`, or at most 2^-51 where the result is near 0;
    ///   exact at infinities and NaN.
    /// - **Derivative**: `dy / (1 + e^(rhs - lhs))` to `lhs`, `dy / (1 + e^(lhs - rhs))` to `rhs`; half of `dy` to each
    ///   of two equal operands, also at infinities.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is floating-point (E2005).
    /// - **Example**: `%2 = Logaddexp (%0, %1) : f32[2, 3]`.
    Logaddexp = Row {
        mnemonic: "logaddexp",
        label: "logaddexp",
        formals: &["lhs", "rhs"],
        profile: Profile::Extended,
        commutative: true,
        exactness: Exactness::Within([1, 2]),
        least_error: 1.0 / 2_251_799_813_685_248.0,
        rust: Rust::By("logaddexp"),
        hlo: Hlo::Formula(&[
            ("distance", "where(eq(lhs, rhs), 0.0, abs(lhs - rhs))"),
            ("y", "maximum(lhs, rhs) + log1p(exp(-distance))"),
        ]),
        float: |x| match x[0].partial_cmp(&x[1]) {
            None => f64::NAN,
            Some(Ordering::Equal) => x[0] + std::f64::consts::LN_2,
            Some(Ordering::Less) => x[1] + (x[0] - x[1]).exp().ln_1p(),
            Some(Ordering::Greater) => x[0] + (x[1] - x[0]).exp().ln_1p(),
        },
        derivative: &[
            "dy * logistic(where(and(eq(lhs, rhs), not(is_finite(lhs))), 0.0, lhs - rhs))",
            "dy * logistic(where(and(eq(lhs, rhs), not(is_finite(lhs))), 0.0, rhs - lhs))",
        ],
        ..FLOATS
    };
    /// `Log1mexp(x)`: the logarithm of 1 minus an exponential; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `ln(1 - e^-x)`, without cancellation near 0 and far above it: negative infinity at 0, NaN
    ///   below, -0 at infinity. The operand has the same sign as in JAX and R, and the opposite sign of Stan's.
    /// - **Error**: less than 3 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy / (e^x - 1)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Log1mexp (%0) : f32[2, 3]`.
    Log1mexp = Row {
        mnemonic: "log1mexp",
        label: "log1mexp",
        profile: Profile::Extended,
        exactness: Exactness::Within([3, 3]),
        rust: Rust::By("log1mexp"),
        hlo: Hlo::Formula(&[("y", "where(gt(x, 0.35), log1p(-exp(-x)), log(-expm1(-x)))")]),
        float: |x| if x[0] > 0.35 { (-(-x[0]).exp()).ln_1p() } else { (-(-x[0]).exp_m1()).ln() },
        derivative: &["dy * (exp(-x) / -expm1(-x))"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Logistic(x)`: the logistic function, for gradients; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `1 / (1 + e^-x)`: 0 and 1 at infinities.
    /// - **Error**: less than 3 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy * y * logistic(-x)`, which loses no digits where `y` is near 1.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Logistic (%0) : f32[2, 3]`.
    Logistic = Row {
        mnemonic: "logistic",
        label: "logistic",
        notation: Notation::Never,
        profile: Profile::Extended,
        exactness: Exactness::Within([3, 3]),
        rust: Rust::By("logistic"),
        // XLA has computed its logistic function by `tanh`, which loses all digits below 0.
        hlo: Hlo::Formula(&[("power", "exp(-abs(x))"), ("y", "where(lt(x, 0.0), power, 1.0) / (1.0 + power)")]),
        float: |x| {
            let power = (-x[0].abs()).exp();
            (if x[0] < 0.0 { power } else { 1.0 }) / (1.0 + power)
        },
        derivative: &["dy * (y * logistic(-x))"],
        ..FLOATS
    };
    /// `SechSquared(x)`: the square of the hyperbolic secant, the derivative of `tanh`, for gradients; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `1 / cosh(x)^2`: 1 at 0, and 0 at infinities.
    /// - **Error**: less than 6 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `-(dy * 2 * y * tanh(x))`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = SechSquared (%0) : f32[2, 3]`.
    SechSquared = Row {
        mnemonic: "sech_squared",
        label: "sech_squared",
        notation: Notation::Never,
        profile: Profile::Extended,
        exactness: Exactness::Within([6, 6]),
        rust: Rust::By("sech_squared"),
        hlo: Hlo::Formula(&[
            ("power", "exp(-abs(x))"),
            ("secant", "2.0 * power / (1.0 + power * power)"),
            ("y", "secant * secant"),
        ]),
        float: |x| {
            let power = (-x[0].abs()).exp();
            let secant = 2.0 * power / (1.0 + power * power);
            secant * secant
        },
        derivative: &["-(dy * (2.0 * y * tanh(x)))"],
        ..FLOATS
    };
    /// `Pow(lhs, rhs)`: a number to the power of another one; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, `f32` or `f64`.
    /// - **Semantics**: `lhs` to the power of `rhs`, as IEEE 754 specifies. It is 1 if `rhs` is 0 or `lhs` is 1, even
    ///   if the other is NaN. It is NaN if `lhs` is finite and negative and `rhs` is finite and not an integer.
    /// - **Error**: less than 2 ulp; exact at zeros, infinities and NaN.
    /// - **Derivative**: `dy * rhs * pow(lhs, rhs - 1)` to `lhs`, or `dy * rhs * y / lhs` where `rhs - 1` may be
    ///   rounded; `dy * y * log(lhs)` to `rhs`. Where `lhs` is 0, the derivative with respect to `lhs` is 0 if `rhs` is
    ///   0, and that with respect to `rhs` is 0 if `rhs` is at least 0.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is floating-point (E2005).
    /// - **Example**: `%2 = Pow (%0, %1) : f32[2, 3]`.
    Pow = Row {
        mnemonic: "pow",
        label: "pow",
        formals: &["lhs", "rhs"],
        profile: Profile::Extended,
        exactness: Exactness::Within([2, 2]),
        rust: Rust::By("pow"),
        hlo: Hlo::Operation("stablehlo.power"),
        range: Some("is_ordinary_power"),
        float: |x| x[0].powf(x[1]),
        derivative: &[
            // `rhs - 1` may be rounded if `rhs` is large, or below 1 and not a multiple of a half. The quotient is NaN
            // at 0 and infinities.
            "dy * where(and(or(gt(abs(rhs), 1000000.0), and(lt(rhs, 1.0), ne(floor(rhs + rhs), rhs + rhs))), and(is_finite(lhs), ne(lhs, 0.0))), rhs * y / lhs, rhs * pow(lhs, rhs - 1.0 + same(lhs, 0.0) * same(rhs, 0.0)))",
            "dy * (y * log(lhs + same(lhs, 0.0) * same(rhs, abs(rhs))))",
        ],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Rem(lhs, rhs)`: the remainder of a quotient that is rounded towards 0; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands.
    /// - **Semantics**: `lhs - rhs * trunc(lhs / rhs)`, computed exactly, with the sign of `lhs`, like Rust's `%` and
    ///   C's `fmod`. Floats give NaN if `rhs` is 0 or `lhs` is infinite. An integer divided by 0 stops the program
    ///   (E6010) before anything is written.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: `dy` to `lhs`, `-(dy * round((lhs - y) / rhs))` to `rhs`, because `lhs / rhs` may round to the
    ///   next integer.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = Rem (%0, %1) : f32[2, 3]`.
    Rem = Row {
        notation: Notation::Named(Tightness::Multiplicative, "rem"),
        mnemonic: "rem",
        label: "%",
        formals: &["lhs", "rhs"],
        profile: Profile::Extended,
        exactness: Exactness::Exact,
        pole: Some(1),
        jumps_where_equal: true,
        rust: Rust::Function("rem"),
        hlo: Hlo::Operation("stablehlo.remainder"),
        takes: Takes::Numbers,
        float: |x| x[0] % x[1],
        integer: |x| x[0].wrapping_rem(x[1]),
        derivative: &["dy", "-(dy * round((lhs - y) / rhs))"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `FloorDivide(lhs, rhs)`: the quotient, rounded down; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands.
    /// - **Semantics**: the largest integer that is at most the exact `lhs / rhs`. Floats follow NumPy: `lhs / rhs` if
    ///   `rhs` is 0, and NaN if `lhs` is infinite. The least integer divided by -1 wraps. An integer divided by 0 stops
    ///   the program (E6010) before anything is written.
    /// - **Error**: less than 1 ulp in `f32`, less than 2 ulp in `f64`; exact for results below 2^24 in `f32` and 2^50
    ///   in `f64`, and for integers.
    /// - **Derivative**: zero.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = FloorDivide (%0, %1) : f32[2, 3]`.
    FloorDivide = Row {
        mnemonic: "floor_divide",
        label: "floor_divide",
        formals: &["lhs", "rhs"],
        profile: Profile::Extended,
        exactness: Exactness::Within([1, 2]),
        pole: Some(1),
        jumps_where_equal: true,
        rust: Rust::Function("floor_divide"),
        hlo: Hlo::OfEach {
            floats: &[
                ("left", "rem(lhs, rhs)"),
                ("differs", "and(ne(left, 0.0), bit_xor(lt(left, 0.0), lt(rhs, 0.0)))"),
                ("near", "round((lhs - left) / rhs - where(differs, 1.0, 0.0))"),
                ("y", "where(eq(rhs, 0.0), lhs / rhs, where(eq(near, 0.0), copysign(0.0, lhs / rhs), near))"),
            ],
            integers: &[
                ("left", "rem(lhs, rhs)"),
                ("differs", "and(ne(left, 0.0), bit_xor(lt(left, 0.0), lt(rhs, 0.0)))"),
                ("y", "lhs / rhs - where(differs, 1.0, 0.0)"),
            ],
        },
        takes: Takes::Numbers,
        float: |x| {
            let (quotient, left) = (x[0] / x[1], x[0] % x[1]);
            if x[1] == 0.0 {
                return quotient;
            }
            let near = ((x[0] - left) / x[1]).round() - if differ(left, x[1]) { 1.0 } else { 0.0 };
            if near == 0.0 { near.copysign(quotient) } else { near }
        },
        integer: |x| {
            let left = x[0].wrapping_rem(x[1]);
            x[0].wrapping_div(x[1]) - i64::from(left != 0 && (left < 0) != (x[1] < 0))
        },
        flat: true,
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Remainder(lhs, rhs)`: the remainder of a quotient that is rounded down; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands.
    /// - **Semantics**: `lhs - rhs * floor(lhs / rhs)`, as if computed exactly, with the sign of `rhs`, like NumPy's
    ///   `remainder` and Python's `%`. Floats give NaN if `rhs` is 0 or `lhs` is infinite, and `rhs` if `lhs` is finite
    ///   and `rhs` is infinite with the other sign. An integer divided by 0 stops the program (E6010) before anything
    ///   is written.
    /// - **Error**: 0.5 ulp: rounded once; none for integers.
    /// - **Derivative**: `dy` to `lhs`, `-(dy * floor_divide(lhs, rhs))` to `rhs`.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001).
    /// - **Example**: `%2 = Remainder (%0, %1) : f32[2, 3]`.
    Remainder = Row {
        mnemonic: "remainder",
        label: "remainder",
        formals: &["lhs", "rhs"],
        profile: Profile::Extended,
        exactness: Exactness::Rounded,
        pole: Some(1),
        jumps_where_equal: true,
        rust: Rust::Function("remainder"),
        hlo: Hlo::Formula(&[
            ("left", "rem(lhs, rhs)"),
            ("differs", "and(ne(left, 0.0), bit_xor(lt(left, 0.0), lt(rhs, 0.0)))"),
            ("zero", "where(lt(rhs, 0.0), -abs(left), abs(left))"),
            ("y", "where(eq(left, 0.0), zero, where(differs, left + rhs, left))"),
        ]),
        takes: Takes::Numbers,
        float: |x| {
            let left = x[0] % x[1];
            let left = if differ(left, x[1]) { left + x[1] } else { left };
            if left == 0.0 { left.copysign(x[1]) } else { left }
        },
        integer: |x| {
            let left = x[0].wrapping_rem(x[1]);
            if left != 0 && (left < 0) != (x[1] < 0) { left + x[1] } else { left }
        },
        derivative: &["dy", "-(dy * floor_divide(lhs, rhs))"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Copysign(lhs, rhs)`: a number with the sign of another one; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, `f32` or `f64`.
    /// - **Semantics**: the magnitude of `lhs` with the sign of `rhs`, even if `rhs` is a zero. The sign of NaN counts
    ///   as positive.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: `dy` to `lhs` where both signs are the same, else `-dy`; 0 where `lhs` is 0, as the derivative
    ///   of `Abs`. None to `rhs`: the result only jumps between its signs.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is floating-point (E2005).
    /// - **Example**: `%2 = Copysign (%0, %1) : f32[2, 3]`.
    Copysign = Row {
        mnemonic: "copysign",
        label: "copysign",
        formals: &["lhs", "rhs"],
        profile: Profile::Extended,
        cost: Cost::Addition,
        exactness: Exactness::Exact,
        rust: Rust::Function("copysign"),
        // The reciprocal of a zero has the sign of the zero.
        hlo: Hlo::Formula(&[("y", "where(or(lt(rhs, 0.0), lt(1.0 / rhs, 0.0)), -abs(lhs), abs(lhs))")]),
        float: |x| if x[1].is_sign_negative() && !x[1].is_nan() { -x[0].abs() } else { x[0].abs() },
        derivative: &["dy * (sign(lhs) * copysign(1.0, rhs))", ""],
        domain: Domain::NonZero,
        ..FLOATS
    };
    /// `ErfInv(x)`: the inverse of the error function; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the number whose error function is `x`: ±infinity at ±1, NaN beyond. Zeros keep their sign.
    /// - **Error**: less than 4 ulp in `f32`, less than 5 ulp in `f64`; exact at zeros, ±1 and NaN.
    /// - **Derivative**: `dy * √π / 2 * e^(y²)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = ErfInv (%0) : f32[2, 3]`.
    ErfInv = Row {
        mnemonic: "erf_inv",
        label: "erf_inv",
        profile: Profile::Extended,
        exactness: Exactness::Within([4, 5]),
        rust: Rust::By("erf_inv"),
        hlo: Hlo::Operation("chlo.erf_inv"),
        range: Some("is_near_quantile"),
        float: |x| mind_special::erf_inv(x[0]),
        derivative: &["dy * (exp(y * y) * 0.886226925452758)"],
        domain: Domain::Unit,
        ..FLOATS
    };
    /// `Erfcx(x)`: the scaled complementary error function; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `e^(x²) * erfc(x)`, even where `erfc` rounds to 0: 0 at infinity, and infinity below -9.4 in
    ///   `f32` and below -26.7 in `f64`.
    /// - **Error**: less than 5 ulp in `f32`, less than 4 ulp in `f64`; exact at infinities and NaN.
    /// - **Derivative**: `dy * (2 * x * y - 2 / √π)`, computed without cancellation. On StableHLO derivatives above the
    ///   second are NaN.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Erfcx (%0) : f32[2, 3]`.
    Erfcx = Row {
        mnemonic: "erfcx",
        label: "erfcx",
        profile: Profile::Extended,
        exactness: Exactness::Within([5, 4]),
        rust: Rust::By("erfcx"),
        hlo: Hlo::Formula(&[
            ("a", "abs(x)"),
            ("near", "minimum(a, 5.0)"),
            ("missed", "2.0 * exp(near * near) / (1.0 + exp(15.707963267948966 * near))"),
            ("sum", SCALED),
            // Beyond this limit parts of the sum would be subnormal.
            ("far", "where(lt(a, 100000000.0), sum, 0.5641895835477563 / a)"),
            ("scaled", "where(lt(a, 5.0), sum + missed, far)"),
            ("y", "where(lt(x, 0.0), 2.0 * exp(x * x) - scaled, scaled)"),
        ]),
        float: |x| mind_special::erfcx(x[0]),
        derivative: &["-(dy * erfcx_derivative(1.0, x))"],
        ..FLOATS
    };
    /// `ErfcxDerivative(n, x)`: the magnitude of a derivative of `Erfcx` of any order, for gradients; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, `f32` or `f64`.
    /// - **Semantics**: the derivative of `Erfcx` at `x` of the order `trunc(n)`, negated for odd orders, so it is
    ///   positive. It is NaN for orders below 0 and from 100 on; on StableHLO also from 3 on.
    /// - **Error**: less than 1 ulp in `f32` and 8 ulp in `f64` for orders up to 4.
    /// - **Derivative**: `-(dy * erfcx_derivative(n + 1, x))` to `x`, none to `n`.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is floating-point (E2005).
    /// - **Example**: `%2 = ErfcxDerivative (%0, %1) : f32[2, 3]`.
    ErfcxDerivative = Row {
        mnemonic: "erfcx_derivative",
        label: "erfcx_derivative",
        notation: Notation::Never,
        formals: &["n", "x"],
        profile: Profile::Extended,
        exactness: Exactness::Within([1, 8]),
        rust: Rust::Function("erfcx_derivative"),
        // As in mind-special: integrals by the midpoint rule, and the contribution of a pole near 0, which the rule
        // misses.
        hlo: Hlo::Formula(&[
            ("order", "trunc(n)"),
            ("zero", "erfcx(x)"),
            ("a", "abs(x)"),
            ("s", "a * a"),
            ("near", "minimum(a, 5.0)"),
            ("turn", "exp(15.707963267948966 * near)"),
            ("fraction", "4.0 * exp(near * near) / (1.0 + turn)"),
            ("slope", "1.0 + 2.0 * near * near - 15.707963267948966 * near * (turn / (1.0 + turn))"),
            ("first_sum", SCALED_FIRST),
            ("second_sum", SCALED_SECOND),
            ("far", "where(lt(a, 100000000.0), 2.0 * a * second_sum, 1.1283791670955126 / (a * s))"),
            ("first_far", "where(lt(a, 100000000.0), first_sum, 0.5641895835477563 / s)"),
            ("first", "where(lt(a, 5.0), first_sum - near * fraction, first_far)"),
            ("second", "where(lt(a, 5.0), 2.0 * a * second_sum + fraction * slope, far)"),
            ("first_below", "1.1283791670955126 - 2.0 * x * zero"),
            ("one", "where(lt(x, 0.0), first_below, first)"),
            ("two", "where(lt(x, 0.0), 2.0 * zero - 2.0 * x * first_below, second)"),
            ("y", "where(eq(order, 0.0), zero, where(eq(order, 1.0), one, where(eq(order, 2.0), two, 0.0 / 0.0)))"),
        ]),
        float: |x| mind_special::erfcx_derivative(x[0] as i64, x[1]),
        derivative: &["", "-(dy * erfcx_derivative(n + 1.0, x))"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `LogNdtr(x)`: the logarithm of the normal distribution function; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `ln((1 + erf(x / √2)) / 2)`, with all digits in both tails: negative infinity at negative
    ///   infinity, -0 at infinity.
    /// - **Error**: less than 7 ulp in `f32`, less than 5 ulp in `f64`; exact at infinities and NaN.
    /// - **Derivative**: `dy` times the density divided by the distribution function: `dy * √(2 / π) / erfcx(-x / √2)`
    ///   below 0.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = LogNdtr (%0) : f32[2, 3]`.
    LogNdtr = Row {
        mnemonic: "log_ndtr",
        label: "log_ndtr",
        profile: Profile::Extended,
        exactness: Exactness::Within([7, 5]),
        rust: Rust::By("log_ndtr"),
        hlo: Hlo::Formula(&[
            ("half", "0.5 * erfcx(abs(x) * 0.7071067811865476)"),
            ("power", "-(0.5 * x * x)"),
            ("y", "where(lt(x, 0.0), log(half) + power, log1p(-(exp(power) * half)))"),
        ]),
        float: |x| mind_special::log_ndtr(x[0]),
        // Each branch keeps its digits on its side of 0.
        derivative: &[
            "where(lt(x, 0.0), dy * 0.7978845608028654 / erfcx(x * -0.7071067811865476), dy * (0.3989422804014327 * gaussian(x) * exp(-y)))",
        ],
        ..FLOATS
    };
    /// `Lgamma(x)`: the logarithm of the gamma function; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `ln |Γ(x)|`: positive infinity at 0, negative integers and infinities.
    /// - **Error**: less than 4 ulp in `f32`; less than 6 ulp in `f64`, or at most 2^-44 where `x` is below 0 and the
    ///   result near 0; exact at 1, 2, zeros, negative integers, infinities and NaN.
    /// - **Derivative**: `dy * digamma(x)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Lgamma (%0) : f32[2, 3]`.
    Lgamma = Row {
        mnemonic: "lgamma",
        label: "lgamma",
        profile: Profile::Extended,
        exactness: Exactness::Within([4, 6]),
        least_error: GAMMA_ERROR,
        rust: Rust::By("lgamma"),
        // XLA's function is a difference of larger numbers near its zeros, 1 and 2. A series at 2 with ζ(k) - 1
        // replaces it there.
        hlo: Hlo::Between {
            before: &[],
            operation: "chlo.lgamma",
            of: &["x"],
            after: &[
                ("t", "where(lt(x, 1.5), x - 1.0, x - 2.0)"),
                ("s5", "0.0000000005731367241678862"),
                ("s4", "-0.000000022711094608943164 + t * (0.000000010838659214896955 + t * (-0.000000005183475041970047 + t * (0.0000000024836745438024785 + t * (-0.0000000011921401405860912 + t * s5))))"),
                ("s3", "0.000000955141213040742 + t * (-0.0000004492469198764566 + t * (0.00000021207184805554665 + t * (-0.00000010043224823968099 + t * (0.000000047698101693639804 + t * s4))))"),
                ("s2", "-0.00004492623673813314 + t * (0.00002050721277567069 + t * (-0.000009439488275268397 + t * (0.000004374866789907488 + t * (-0.000002039215753801366 + t * s3))))"),
                ("s1", "0.0028905103307415234 + t * (-0.001192753911703261 + t * (0.0005096695247430425 + t * (-0.00022315475845357939 + t * (0.00009945751278180853 + t * s2))))"),
                ("s0", "0.42278433509846713 + t * (0.3224670334241132 + t * (-0.0673523010531981 + t * (0.020580808427784546 + t * (-0.007385551028673986 + t * s1))))"),
                ("two", "t * s0"),
                ("near", "where(lt(x, 1.5), two - log1p(t), two)"),
                ("y", "where(and(ge(x, 0.5), le(x, 2.5)), near, own)"),
            ],
        },
        range: Some("is_positive_normal"),
        float: |x| mind_special::lgamma(x[0]),
        derivative: &["dy * digamma(x)"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Digamma(x)`: the derivative of `Lgamma`; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: `Γ'(x) / Γ(x)`: at a zero the infinity with the opposite sign, NaN at negative integers and
    ///   negative infinity.
    /// - **Error**: less than 1 ulp in `f32`, less than 8 ulp in `f64`, or at most 2^-44 where the result is near 0;
    ///   exact at zeros, negative integers, infinities and NaN.
    /// - **Derivative**: `dy * trigamma(x)`.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Digamma (%0) : f32[2, 3]`.
    Digamma = Row {
        mnemonic: "digamma",
        label: "digamma",
        profile: Profile::Extended,
        exactness: Exactness::Within([1, 8]),
        least_error: GAMMA_ERROR,
        rust: Rust::By("digamma"),
        // XLA's function is NaN at zeros.
        hlo: Hlo::Between {
            before: &[],
            operation: "chlo.digamma",
            of: &["x"],
            after: &[("y", "where(eq(x, 0.0), -(1.0 / x), own)")],
        },
        range: Some("is_positive_normal"),
        float: |x| mind_special::polygamma(0, x[0]),
        derivative: &["dy * trigamma(x)"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Trigamma(x)`: the derivative of `Digamma`; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's, `f32` or `f64`.
    /// - **Semantics**: the second derivative of `ln |Γ(x)|`: positive infinity at zeros and negative integers, NaN at
    ///   negative infinity.
    /// - **Error**: less than 1 ulp in `f32`, less than 6 ulp in `f64`; exact at zeros, negative integers, infinities
    ///   and NaN.
    /// - **Derivative**: `dy * polygamma(2, x)`. `polygamma` occurs only in gradients.
    /// - **Constraints**: 1. `x` is floating-point (E2005).
    /// - **Example**: `%1 = Trigamma (%0) : f32[2, 3]`.
    Trigamma = Row {
        mnemonic: "trigamma",
        label: "trigamma",
        profile: Profile::Extended,
        exactness: Exactness::Within([1, 6]),
        rust: Rust::By("trigamma"),
        hlo: Hlo::Formula(&[("y", "polygamma(1.0, x)")]),
        range: Some("is_positive_normal"),
        float: |x| mind_special::polygamma(1, x[0]),
        derivative: &["dy * polygamma(2.0, x)"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Polygamma(n, x)`: a derivative of `Digamma` of any order, for gradients; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, `f32` or `f64`.
    /// - **Semantics**: the derivative of `Digamma` at `x` of the order `trunc(n)`. It is NaN for orders below 0 and
    ///   from 100 on, and at negative integers except for order 1.
    /// - **Error**: less than 1 ulp in `f32` and 16 ulp in `f64` for orders up to 5 and numbers above 0.
    /// - **Derivative**: `dy * polygamma(n + 1, x)` to `x`, none to `n`.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is floating-point (E2005).
    /// - **Example**: `%2 = Polygamma (%0, %1) : f32[2, 3]`.
    Polygamma = Row {
        mnemonic: "polygamma",
        label: "polygamma",
        notation: Notation::Never,
        formals: &["n", "x"],
        profile: Profile::Extended,
        exactness: Exactness::Within([1, 16]),
        least_error: GAMMA_ERROR,
        rust: Rust::Function("polygamma"),
        // Computed by Hurwitz's zeta function. Far out its first terms are summed here, because those of XLA's function
        // leave the range. XLA's function is wrong below -8. Below 0 the derivatives of orders 1 to 4 are therefore
        // computed by reflection: from the value at 1 - x and the derivative of π cot(πx).
        hlo: Hlo::Between {
            before: &[
                ("order", "where(lt(n, 100.0), trunc(n), -1.0)"),
                ("below", "and(lt(x, 0.0), and(ge(order, 1.0), le(order, 4.0)))"),
                ("at", "where(below, 1.0 - x, x)"),
            ],
            operation: "chlo.zeta",
            of: &["order + 1.0", "at"],
            after: &[
                ("few", "where(lt(order, 2.0), 1.0, where(eq(order, 2.0), 2.0, where(eq(order, 3.0), 6.0, 24.0)))"),
                ("factorial", "where(le(order, 4.0), few, exp(lgamma(order + 1.0)))"),
                ("r", "1.0 / at"),
                ("n2", "order * (order + 1.0)"),
                ("n4", "n2 * (order + 2.0) * (order + 3.0)"),
                ("n6", "n4 * (order + 4.0) * (order + 5.0)"),
                ("even_terms", "r * r * (n2 / 12.0 - r * r * (n4 / 720.0 - r * r * n6 / 30240.0))"),
                ("far", "factorial / order * pow(at, -order) * (1.0 + order * r / 2.0 + even_terms)"),
                ("size", "where(gt(at, 100.0 * (order + 1.0)), far, factorial * own)"),
                ("is_even", "eq(order - 2.0 * floor(order / 2.0), 0.0)"),
                ("value", "where(eq(order, 0.0), digamma(at), where(is_even, -size, size))"),
                // cot(πx), which is 0 at halves.
                ("part", "x - round(x)"),
                ("pole", "and(eq(part, 0.0), gt(order, 1.0))"),
                ("opposite", "sin(3.141592653589793 * (0.5 - abs(part)))"),
                ("c", "where(pole, 0.0 / 0.0, opposite / where(lt(part, 0.0), -sin(-3.141592653589793 * part), sin(3.141592653589793 * part)))"),
                ("s", "9.869604401089358 * (1.0 + c * c)"),
                ("third", "19.739208802178716 * s * (1.0 + 3.0 * c * c)"),
                ("odd", "where(eq(order, 1.0), s, third) - value"),
                ("fourth", "248.05021344239853 * c * s * (2.0 + 3.0 * c * c)"),
                ("even", "value - where(eq(order, 2.0), 6.283185307179586 * c * s, fourth)"),
                ("reflected", "where(or(eq(order, 1.0), eq(order, 3.0)), odd, even)"),
                ("zero", "and(eq(x, 0.0), or(eq(order, 0.0), eq(order, 2.0)))"),
                ("lost", "or(lt(order, 0.0), and(eq(x, 0.0), gt(order, 2.0)))"),
                ("known", "where(lost, 0.0 / 0.0, where(below, reflected, value))"),
                ("y", "where(zero, -(1.0 / x), known)"),
            ],
        },
        float: |x| mind_special::polygamma(x[0] as i64, x[1]),
        derivative: &["", "dy * polygamma(n + 1.0, x)"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `Same(lhs, rhs)`: 1 where two elements are equal, for gradients; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, `f32` or `f64`.
    /// - **Semantics**: 1 where the operands are equal or both NaN, else 0.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: zero.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is floating-point (E2005).
    /// - **Example**: `%2 = Same (%0, %1) : f32[2, 3]`.
    Same = Row {
        mnemonic: "same",
        label: "same",
        notation: Notation::Never,
        formals: &["lhs", "rhs"],
        profile: Profile::Extended,
        commutative: true,
        cost: Cost::Addition,
        exactness: Exactness::Exact,
        jumps_where_equal: true,
        rust: Rust::Function("same"),
        hlo: Hlo::Formula(&[("y", "where(or(eq(lhs, rhs), and(ne(lhs, lhs), ne(rhs, rhs))), 1.0, 0.0)")]),
        float: |x| if x[0] == x[1] || (x[0].is_nan() && x[1].is_nan()) { 1.0 } else { 0.0 },
        ..FLOATS
    };
    /// `ReluGrad(v, x)`: the cotangent of the operand of `Relu`, for gradients; an extension.
    ///
    /// - **Shape**: the shape of both operands.
    /// - **Dtype**: the dtype of both operands, `f32` or `f64`.
    /// - **Semantics**: `x > 0 ? v : 0`, where `v` is the cotangent of the result of `Relu`.
    /// - **Error**: none: the result is exact.
    /// - **Derivative**: `x > 0 ? dy : 0` to `v`, none to `x`.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. Both have the same shape (E3003). 3. The
    ///   dtype is floating-point (E2005).
    /// - **Example**: `%2 = ReluGrad (%0, %1) : f32[2, 3]`.
    ReluGrad = Row {
        mnemonic: "relu_grad",
        label: "relu_grad",
        notation: Notation::Never,
        formals: &["v", "x"],
        profile: Profile::Extended,
        shapes: ShapeRule::Equal,
        cost: Cost::Addition,
        exactness: Exactness::Exact,
        mask: Some(1),
        rust: Rust::Function("relu_grad"),
        hlo: Hlo::Formula(&[("y", "where(gt(x, 0.0), v, 0.0)")]),
        float: |x| if x[1] > 0.0 { x[0] } else { 0.0 },
        derivative: &["relu_grad(dy, x)", ""],
        domain: Domain::NonZero,
        ..FLOATS
    };
    /// `MulKeepZero(lhs, rhs)`: a product that is 0 where a factor is 0, for gradients; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, `f32` or `f64`.
    /// - **Semantics**: 0 where an operand is 0, else `lhs * rhs`. A cotangent of exactly 0 means that an element does
    ///   not affect the result, so it stays 0 where the derivative is infinite or NaN.
    /// - **Error**: 0.5 ulp: rounded once, as IEEE 754 specifies.
    /// - **Derivative**: `dy * rhs` to `lhs`, `dy * lhs` to `rhs`, both with `MulKeepZero`.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is floating-point (E2005).
    /// - **Example**: `%2 = MulKeepZero (%0, %1) : f32[2, 3]`.
    MulKeepZero = Row {
        mnemonic: "mul_keep_zero",
        label: "mul_keep_zero",
        notation: Notation::Never,
        formals: &["lhs", "rhs"],
        profile: Profile::Extended,
        commutative: true,
        keeps_zeros: Some(KeepsZeros { of: &[0, 1], otherwise: Map::Mul }),
        cost: Cost::Addition,
        exactness: Exactness::Rounded,
        rust: Rust::Function("mul_keep_zero"),
        hlo: Hlo::Formula(&[("y", "where(or(eq(lhs, 0.0), eq(rhs, 0.0)), 0.0, lhs * rhs)")]),
        float: |x| if x[0] == 0.0 || x[1] == 0.0 { 0.0 } else { x[0] * x[1] },
        derivative: &["dy * rhs", "dy * lhs"],
        ..FLOATS
    };
    /// `DivKeepZero(lhs, rhs)`: a quotient that is 0 where the dividend is 0, for gradients; an extension.
    ///
    /// - **Shape**: the operands broadcast.
    /// - **Dtype**: the dtype of both operands, `f32` or `f64`.
    /// - **Semantics**: 0 where `lhs` is 0, else `lhs / rhs`.
    /// - **Error**: 0.5 ulp: rounded once, as IEEE 754 specifies.
    /// - **Derivative**: `dy / rhs` to `lhs`, `-(dy * y / rhs)` to `rhs`, both with operations that keep zeros.
    /// - **Constraints**: 1. both operands have the same dtype (E2004). 2. The shapes broadcast (E3001). 3. The dtype
    ///   is floating-point (E2005).
    /// - **Example**: `%2 = DivKeepZero (%0, %1) : f32[2, 3]`.
    DivKeepZero = Row {
        mnemonic: "div_keep_zero",
        label: "div_keep_zero",
        notation: Notation::Never,
        formals: &["lhs", "rhs"],
        profile: Profile::Extended,
        keeps_zeros: Some(KeepsZeros { of: &[0], otherwise: Map::Div }),
        cost: Cost::Division,
        exactness: Exactness::Rounded,
        pole: Some(1),
        rust: Rust::Function("div_keep_zero"),
        hlo: Hlo::Formula(&[("y", "where(eq(lhs, 0.0), 0.0, lhs / rhs)")]),
        float: |x| if x[0] == 0.0 { 0.0 } else { x[0] / x[1] },
        derivative: &["dy / rhs", "-(dy * y / rhs)"],
        domain: Domain::Positive,
        ..FLOATS
    };
    /// `StopGradient(x)`: a value that differentiation treats as constant; an extension.
    ///
    /// - **Shape**: the operand's.
    /// - **Dtype**: the operand's.
    /// - **Semantics**: `x`.
    /// - **Error**: none: the result is the operand.
    /// - **Derivative**: zero, for every order. In Core v1 a gradient is an error (E5001) if a floating-point input
    ///   reaches the operand, because no Core v1 operation would stop the derivative of that gradient.
    /// - **Constraints**: none beyond those of every type.
    /// - **Example**: `%1 = StopGradient (%0) : f32[2, 3]`.
    StopGradient = Row {
        mnemonic: "stop_gradient",
        label: "stop_gradient",
        profile: Profile::Extended,
        takes: Takes::Numbers,
        cost: Cost::Free,
        exactness: Exactness::Exact,
        rust: Rust::Identity,
        hlo: Hlo::Operand,
        float: |x| x[0],
        integer: |x| x[0],
        ..FLOATS
    };
}

/// `∫ e^(-t²) / (a + t² / a) dt` by the midpoint rule, divided by π / 2. This is `Erfcx` above 0 without the
/// contribution of a pole near 0.
const SCALED: &str = "0.000000000000000005148257133553441 / (a \
    + 38.44 / a) \
    + 0.0000000000000006255668737918838 / (a \
    + 33.64 / a) \
    + 0.00000000000005519668834575745 / (a \
    + 29.16 / a) \
    + 0.000000000003536535864786857 / (a \
    + 25.0 / a) \
    + 0.00000000016453900898253873 / (a \
    + 21.16 / a) \
    + 0.0000000055588563784832795 / (a \
    + 17.64 / a) \
    + 0.00000013637281196653498 / (a \
    + 14.44 / a) \
    + 0.000002429382526643741 / (a \
    + 11.56 / a) \
    + 0.000031426048554235895 / (a \
    + 9.0 / a) \
    + 0.0002951952851252001 / (a \
    + 6.76 / a) \
    + 0.0020135147801694313 / (a \
    + 4.84 / a) \
    + 0.009973003993177994 / (a \
    + 3.24 / a) \
    + 0.03586930234512505 / (a \
    + 1.96 / a) \
    + 0.09367973043891066 / (a \
    + 1.0 / a) \
    + 0.1776618175558361 / (a \
    + 0.36 / a) \
    + 0.24466302161853126 / (a \
    + 0.04 / a)";

/// `∫ e^(-t²) t² / (s + t²) dt` by the midpoint rule, divided by π / 4. With `s = a²` this is the magnitude of the
/// first derivative of `Erfcx`, also without the contribution of the pole.
const SCALED_FIRST: &str = "0.0000000000000003957980084275885 / (s \
    + 38.44) \
    + 0.000000000000042088139268717946 / (s \
    + 33.64) \
    + 0.0000000000032190708643245743 / (s \
    + 29.16) \
    + 0.00000000017682679323934285 / (s \
    + 25.0) \
    + 0.00000000696329086014104 / (s \
    + 21.16) \
    + 0.0000001961164530328901 / (s \
    + 17.64) \
    + 0.00000393844680959353 / (s \
    + 14.44) \
    + 0.0000561673240160033 / (s \
    + 11.56) \
    + 0.0005656688739762462 / (s \
    + 9.0) \
    + 0.003991040254892705 / (s \
    + 6.76) \
    + 0.019490823072040094 / (s \
    + 4.84) \
    + 0.0646250658757934 / (s \
    + 3.24) \
    + 0.1406076651928902 / (s \
    + 1.96) \
    + 0.18735946087782132 / (s \
    + 1.0) \
    + 0.127916508640202 / (s \
    + 0.36) \
    + 0.0195730417294825 / (s \
    + 0.04)";

/// The derivative of [`SCALED_FIRST`] by `s`, negated.
const SCALED_SECOND: &str = "0.0000000000000003957980084275885 / (s \
    + 38.44) / (s \
    + 38.44) \
    + 0.000000000000042088139268717946 / (s \
    + 33.64) / (s \
    + 33.64) \
    + 0.0000000000032190708643245743 / (s \
    + 29.16) / (s \
    + 29.16) \
    + 0.00000000017682679323934285 / (s \
    + 25.0) / (s \
    + 25.0) \
    + 0.00000000696329086014104 / (s \
    + 21.16) / (s \
    + 21.16) \
    + 0.0000001961164530328901 / (s \
    + 17.64) / (s \
    + 17.64) \
    + 0.00000393844680959353 / (s \
    + 14.44) / (s \
    + 14.44) \
    + 0.0000561673240160033 / (s \
    + 11.56) / (s \
    + 11.56) \
    + 0.0005656688739762462 / (s \
    + 9.0) / (s \
    + 9.0) \
    + 0.003991040254892705 / (s \
    + 6.76) / (s \
    + 6.76) \
    + 0.019490823072040094 / (s \
    + 4.84) / (s \
    + 4.84) \
    + 0.0646250658757934 / (s \
    + 3.24) / (s \
    + 3.24) \
    + 0.1406076651928902 / (s \
    + 1.96) / (s \
    + 1.96) \
    + 0.18735946087782132 / (s \
    + 1.0) / (s \
    + 1.0) \
    + 0.127916508640202 / (s \
    + 0.36) / (s \
    + 0.36) \
    + 0.0195730417294825 / (s \
    + 0.04) / (s \
    + 0.04)";

/// Whether the remainder `left` of a truncated division is not 0 and has another sign than the divisor.
fn differ(left: f64, divisor: f64) -> bool {
    left != 0.0 && (left < 0.0) != (divisor < 0.0)
}

/// The allowed absolute error of the gamma function's logarithm and its derivatives, where terms of about 2^5 cancel.
const GAMMA_ERROR: f64 = 1.0 / 17_592_186_044_416.0;

/// The inverse hyperbolic sine and cosine of a number that is so large that both equal `ln(x) + ln(2)`. `None` for
/// smaller numbers. Rust's functions would double `x`, which may overflow.
fn far(x: f64) -> Option<f64> {
    (x > 1e200).then(|| x.ln() + std::f64::consts::LN_2)
}
