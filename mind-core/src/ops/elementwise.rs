//! Operations on each element, operands broadcast.

use super::{
    Class, Concrete, Derivative, Focus, Inferred, KERNEL, Make, OpError, OpInfo, Profile,
    rules::{broadcast_origin, floats, foreign, infer_broadcast, same_dtype, same_origin},
    sample::{Case, Domain, Sampling},
};
use crate::{
    diag::Code,
    dim::{Dim, Overflow},
    grad::{AutodiffError, Pullback},
    interp::{Float, Number, RunError, Value, broadcast_offset, with_float, with_number},
    ir::Op,
    ty::{DType, Type},
};

/// `Add(lhs, rhs)`: the sum.
///
/// - **Shape**: the operands broadcast.
/// - **Dtype**: that of both operands.
/// - **Semantics**: `lhs + rhs`; integers wrap.
/// - **Error**: 0.5 ulp: rounded once, as IEEE 754 has it; none for integers.
/// - **Derivative**: the cotangent to each operand.
/// - **Constraints**: 1. one dtype (E2004). 2. The shapes broadcast (E3001).
/// - **Example**: `%2 = Add (%0, %1) : f32[2, 3]`.
pub(super) static ADD: OpInfo = OpInfo {
    name: "Add",
    mnemonic: "add",
    label: "+",
    make: Make::Plain(|| Op::Add),
    commutative: true,
    evaluate: |_, operands, to| with_number!(to.dtype, T => zip(operands, to, <T as Number>::add)),
    derivative: Derivative::Linear(|p| {
        let dy = p.cotangent();
        p.contribute(0, dy)?;
        p.contribute(1, dy)
    }),
    sample: Sampling { cases: |dtype| binary_cases(Op::Add, dtype), ..BINARY.sample },
    ..BINARY
};

/// `Sub(lhs, rhs)`: the difference.
///
/// - **Shape**: the operands broadcast.
/// - **Dtype**: that of both operands.
/// - **Semantics**: `lhs - rhs`; integers wrap.
/// - **Error**: 0.5 ulp: rounded once, as IEEE 754 has it; none for integers.
/// - **Derivative**: the cotangent to `lhs`, its negation to `rhs`.
/// - **Constraints**: 1. one dtype (E2004). 2. The shapes broadcast (E3001).
/// - **Example**: `%2 = Sub (%0, %1) : f32[2, 3]`.
pub(super) static SUB: OpInfo = OpInfo {
    name: "Sub",
    mnemonic: "sub",
    label: "-",
    make: Make::Plain(|| Op::Sub),
    evaluate: |_, operands, to| with_number!(to.dtype, T => zip(operands, to, <T as Number>::sub)),
    derivative: Derivative::Linear(|p| {
        let dy = p.cotangent();
        p.contribute(0, dy)?;
        if p.wants(1) {
            let negated = p.push(Op::Neg, &[dy])?;
            p.contribute(1, negated)?;
        }
        Ok(())
    }),
    sample: Sampling { cases: |dtype| binary_cases(Op::Sub, dtype), ..BINARY.sample },
    ..BINARY
};

/// `Mul(lhs, rhs)`: the product of elements.
///
/// - **Shape**: the operands broadcast.
/// - **Dtype**: that of both operands.
/// - **Semantics**: `lhs * rhs`; integers wrap.
/// - **Error**: 0.5 ulp: rounded once, as IEEE 754 has it; none for integers.
/// - **Derivative**: `dy * rhs` to `lhs`, `dy * lhs` to `rhs`.
/// - **Constraints**: 1. one dtype (E2004). 2. The shapes broadcast (E3001).
/// - **Example**: `%2 = Mul (%0, %1) : f32[2, 3]`.
pub(super) static MUL: OpInfo = OpInfo {
    name: "Mul",
    mnemonic: "mul",
    label: "*",
    make: Make::Plain(|| Op::Mul),
    commutative: true,
    evaluate: |_, operands, to| with_number!(to.dtype, T => zip(operands, to, <T as Number>::mul)),
    derivative: Derivative::Rule(|p| {
        let dy = p.cotangent();
        for (position, other) in [(0, p.operand(1)), (1, p.operand(0))] {
            if p.wants(position) {
                let value = p.push(Op::Mul, &[dy, other])?;
                p.contribute(position, value)?;
            }
        }
        Ok(())
    }),
    sample: Sampling { cases: |dtype| binary_cases(Op::Mul, dtype), ..BINARY.sample },
    ..BINARY
};

/// `Div(lhs, rhs)`: the quotient; an extension.
///
/// - **Shape**: the operands broadcast.
/// - **Dtype**: that of both operands, `f32` or `f64`.
/// - **Semantics**: `lhs / rhs` as IEEE 754 divides.
/// - **Error**: 0.5 ulp: rounded once, as IEEE 754 has it.
/// - **Derivative**: `dy / rhs` to `lhs`, `-(dy * y / rhs)` to `rhs`; extended profile only (E5001).
/// - **Constraints**: 1. one dtype (E2004). 2. The shapes broadcast (E3001). 3. Floats (E2005).
/// - **Example**: `%2 = Div (%0, %1) : f32[2, 3]`.
pub(super) static DIV: OpInfo = OpInfo {
    name: "Div",
    mnemonic: "div",
    label: "/",
    make: Make::Plain(|| Op::Div),
    profile: Profile::Extended,
    infer: |op, operands| {
        let ty = infer_broadcast(op, operands)?;
        floats(op, operands, 0)?;
        Ok(ty)
    },
    evaluate: |_, operands, to| with_float!(to.dtype, T => zip(operands, to, <T as Float>::div)),
    derivative: Derivative::Rule(divide_back),
    sample: Sampling {
        cases: |dtype| floats_only(dtype, || binary_cases(Op::Div, dtype)),
        domain: Domain::Positive,
        ..BINARY.sample
    },
    ..BINARY
};

/// `Relu(x)`: the positive part.
///
/// - **Shape**: the operand's.
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: `x > 0 ? x : 0`, as the specification defines it, so 0 at NaN. There is no rectifier that keeps NaN;
///   `x + relu(-x)` does, and is the positive part of every other number but negative infinity, where it is NaN too. Its
///   derivative at 0 is 1.
/// - **Error**: none: the result is exact.
/// - **Derivative**: `x > 0 ? dy : 0`, so 0 at 0.
/// - **Constraints**: 1. floats (E2005).
/// - **Example**: `%1 = Relu (%0) : f32[2, 3]`.
pub(super) static RELU: OpInfo = OpInfo {
    name: "Relu",
    mnemonic: "relu",
    label: "relu",
    make: Make::Plain(|| Op::Relu),
    infer: infer_float,
    evaluate: |_, operands, to| with_float!(to.dtype, T => map(operands, to, |x: T| if x.is_above_zero() { x } else { T::ZERO })),
    derivative: Derivative::Rule(|p| {
        let dy = p.cotangent();
        let dx = p.relu_grad(dy, p.operand(0))?;
        p.contribute(0, dx)
    }),
    sample: Sampling {
        cases: |dtype| floats_only(dtype, || unary_cases(Op::Relu, dtype)),
        domain: Domain::NonZero,
        ..UNARY.sample
    },
    ..UNARY
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
pub(super) static NEG: OpInfo = OpInfo {
    name: "Neg",
    mnemonic: "neg",
    label: "-",
    make: Make::Plain(|| Op::Neg),
    evaluate: |_, operands, to| with_number!(to.dtype, T => map(operands, to, <T as Number>::neg)),
    derivative: Derivative::Linear(|p| {
        let dy = p.cotangent();
        let dx = p.push(Op::Neg, &[dy])?;
        p.contribute(0, dx)
    }),
    sample: Sampling { cases: |dtype| unary_cases(Op::Neg, dtype), ..UNARY.sample },
    ..UNARY
};

/// `Exp(x)`: the exponential.
///
/// - **Shape**: the operand's.
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: `e^x`.
/// - **Error**: less than 1 ulp in `f32`, less than 2 ulp in `f64`; exact at zeros, infinities and NaN.
/// - **Derivative**: `dy * y`.
/// - **Constraints**: 1. floats (E2005).
/// - **Example**: `%1 = Exp (%0) : f32[2, 3]`.
pub(super) static EXP: OpInfo = OpInfo {
    name: "Exp",
    mnemonic: "exp",
    label: "exp",
    make: Make::Plain(|| Op::Exp),
    infer: infer_float,
    evaluate: |_, operands, to| with_float!(to.dtype, T => map(operands, to, <T as Float>::exp)),
    derivative: Derivative::Rule(|p| {
        let dy = p.cotangent();
        let dx = p.push(Op::Mul, &[dy, p.result()])?;
        p.contribute(0, dx)
    }),
    sample: Sampling { cases: |dtype| floats_only(dtype, || unary_cases(Op::Exp, dtype)), ..UNARY.sample },
    ..UNARY
};

/// `Log(x)`: the natural logarithm.
///
/// - **Shape**: the operand's.
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: `ln(x)`: negative infinity at 0, NaN below.
/// - **Error**: less than 1 ulp in `f32`, less than 2 ulp in `f64`; exact at 1, zeros, infinities and NaN.
/// - **Derivative**: `dy / x`; in Core v1 `dy * exp(-y)`, which like `y` is NaN where `x < 0`.
/// - **Constraints**: 1. floats (E2005).
/// - **Example**: `%1 = Log (%0) : f32[2, 3]`.
pub(super) static LOG: OpInfo = OpInfo {
    name: "Log",
    mnemonic: "log",
    label: "log",
    make: Make::Plain(|| Op::Log),
    infer: infer_float,
    evaluate: |_, operands, to| with_float!(to.dtype, T => map(operands, to, <T as Float>::ln)),
    derivative: Derivative::Rule(|p| {
        let dy = p.cotangent();
        let dx = p.divide_by_exp(dy, p.operand(0), p.result())?;
        p.contribute(0, dx)
    }),
    sample: Sampling {
        cases: |dtype| floats_only(dtype, || unary_cases(Op::Log, dtype)),
        domain: Domain::Positive,
        ..UNARY.sample
    },
    ..UNARY
};

/// `ReluGrad(dy, x)`: what `Relu` passes back; an extension.
///
/// - **Shape**: that of both operands.
/// - **Dtype**: that of both operands, `f32` or `f64`.
/// - **Semantics**: `x > 0 ? dy : 0`.
/// - **Error**: none: the result is exact.
/// - **Derivative**: `x > 0 ? dz : 0` to `dy`, nothing to `x`.
/// - **Constraints**: 1. one dtype (E2004). 2. Equal shapes (E3003). 3. Floats (E2005).
/// - **Example**: `%2 = ReluGrad (%0, %1) : f32[2, 3]`.
pub(super) static RELU_GRAD: OpInfo = OpInfo {
    name: "ReluGrad",
    mnemonic: "relu_grad",
    label: "relu_grad",
    make: Make::Plain(|| Op::ReluGrad),
    profile: Profile::Extended,
    infer: infer_relu_grad,
    origin: same_origin,
    evaluate: |_, operands, to| with_float!(to.dtype, T => zip(operands, to, |dy: T, x: T| if x.is_above_zero() { dy } else { T::ZERO })),
    derivative: Derivative::Rule(|p| {
        p.needs_extended()?;
        if p.wants(0) {
            let (dz, x) = (p.cotangent(), p.operand(1));
            let value = p.push(Op::ReluGrad, &[dz, x])?;
            p.contribute(0, value)?;
        }
        Ok(())
    }),
    sample: Sampling {
        cases: |dtype| floats_only(dtype, || vec![Case::new(Op::ReluGrad, dtype, &[&[2, 3], &[2, 3]])]),
        domain: Domain::NonZero,
        ..BINARY.sample
    },
    ..BINARY
};

/// `StopGradient(x)`: a value that differentiation takes as constant; an extension.
///
/// - **Shape**: the operand's.
/// - **Dtype**: the operand's.
/// - **Semantics**: `x`.
/// - **Error**: none: elements are moved.
/// - **Derivative**: zero, of every order. A gradient in Core v1 is E5001 where a float input reaches the operand: no
///   operation there would stop the gradient's own derivative.
/// - **Constraints**: none beyond those of every type.
/// - **Example**: `%1 = StopGradient (%0) : f32[2, 3]`.
pub(super) static STOP_GRADIENT: OpInfo = OpInfo {
    name: "StopGradient",
    mnemonic: "stop_gradient",
    label: "stop_gradient",
    make: Make::Plain(|| Op::StopGradient),
    profile: Profile::Extended,
    flops: super::no_flops,
    sample: Sampling { cases: |dtype| unary_cases(Op::StopGradient, dtype), ..UNARY.sample },
    ..UNARY
};

/// What the rows of two operands share.
const BINARY: OpInfo = OpInfo {
    class: Class::Elementwise,
    arity: 2,
    infer: infer_broadcast,
    origin: broadcast_origin,
    flops: one_an_element,
    ..KERNEL
};

/// What the rows of one operand share.
const UNARY: OpInfo = OpInfo {
    evaluate: |_, operands, _| Ok(operands[0].clone()),
    arity: 1,
    infer: |_, operands| Ok(operands[0].clone()),
    origin: same_origin,
    ..BINARY
};

fn map<T: Number>(operands: &[&Value], to: &Concrete<'_>, f: impl Fn(T) -> T) -> Result<Value, RunError> {
    let x = T::elements(operands[0]);
    Ok(Value::new(to.shape, T::wrap(x.iter().copied().map(f).collect())))
}

fn zip<T: Number>(operands: &[&Value], to: &Concrete<'_>, f: impl Fn(T, T) -> T) -> Result<Value, RunError> {
    let (lhs, rhs) = (T::elements(operands[0]), T::elements(operands[1]));
    let element = |position: Vec<usize>| {
        let a = lhs[broadcast_offset(&operands[0].shape, &position)];
        let b = rhs[broadcast_offset(&operands[1].shape, &position)];
        f(a, b)
    };
    Ok(to.tabulate(element))
}

fn infer_float(op: &Op, operands: &[&Type]) -> Inferred {
    floats(op, operands, 0)?;
    Ok(operands[0].clone())
}

fn infer_relu_grad(op: &Op, operands: &[&Type]) -> Inferred {
    let [dy, x] = operands else { foreign(op) };
    same_dtype(op, dy, x)?;
    floats(op, operands, 0)?;
    if dy.shape != x.shape {
        return Err(OpError::new(op, Code::E3003)
            .problem(format!("shapes differ, {} and {}", dy.shape, x.shape))
            .focus(Focus::Operation)
            .operands(&[0, 1])
            .into());
    }
    Ok((*dy).clone())
}

fn divide_back(p: &mut Pullback<'_>) -> Result<(), AutodiffError> {
    p.needs_extended()?;
    let (dy, rhs, y) = (p.cotangent(), p.operand(1), p.result());
    if p.wants(0) {
        let value = p.push(Op::Div, &[dy, rhs])?;
        p.contribute(0, value)?;
    }
    if p.wants(1) {
        let product = p.push(Op::Mul, &[dy, y])?;
        let quotient = p.push(Op::Div, &[product, rhs])?;
        let value = p.push(Op::Neg, &[quotient])?;
        p.contribute(1, value)?;
    }
    Ok(())
}

fn one_an_element(_: &Op, _: &[&Type], result: &Type) -> Result<Dim, Overflow> {
    result.shape.element_count()
}

fn floats_only(dtype: DType, cases: impl FnOnce() -> Vec<Case>) -> Vec<Case> {
    if dtype.is_float() { cases() } else { Vec::new() }
}

fn unary_cases(op: Op, dtype: DType) -> Vec<Case> {
    [&[][..], &[3], &[2, 3]].map(|shape| Case::new(op.clone(), dtype, &[shape])).into()
}

/// Every broadcast pattern: none, a scalar on either side, a missing axis, a stretched one, both stretched.
fn binary_cases(op: Op, dtype: DType) -> Vec<Case> {
    let patterns: [[&[i64]; 2]; 9] = [
        [&[], &[]],
        [&[2, 3], &[2, 3]],
        [&[2, 3], &[]],
        [&[], &[2, 3]],
        [&[2, 3], &[3]],
        [&[3], &[2, 3]],
        [&[2, 1], &[2, 3]],
        [&[2, 3], &[2, 1]],
        [&[2, 1], &[1, 3]],
    ];
    patterns.map(|shapes| Case::new(op.clone(), dtype, &shapes)).into()
}
