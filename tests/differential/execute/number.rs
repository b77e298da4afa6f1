//! Elements of four types behind one trait.

use std::cmp::Ordering;

use mind::__private as rt;
use mind_core::{data::TensorData, interp::Elements, plan::ScalarOp, ty::DType};

/// Calls `$body` with `$vec` bound to the elements' vector, whatever their type.
macro_rules! each_type {
    ($elements:expr, $vec:ident => $body:expr) => {
        match $elements {
            Elements::I32($vec) => $body,
            Elements::I64($vec) => $body,
            Elements::F32($vec) => $body,
            Elements::F64($vec) => $body,
        }
    };
}

pub trait Number: rt::Element {
    fn wrap(elements: Vec<Self>) -> Elements;
    fn unwrap(elements: &Elements) -> &[Self];
    fn unwrap_mut(elements: &mut Elements) -> &mut [Self];
    /// What no kernel computes by chance.
    const UNWRITTEN: Self;
    fn apply(op: ScalarOp, operands: &[Self]) -> Self;
    fn sum(elements: &[Self]) -> Self;
    fn divided_by(self, count: usize) -> Self;
}

macro_rules! number {
    ($ty:ident, $variant:ident, $unwritten:expr, $add:expr, $sub:expr, $mul:expr, $neg:expr, $float:expr, $divide:expr) => {
        impl Number for $ty {
            fn wrap(elements: Vec<Self>) -> Elements {
                Elements::$variant(elements)
            }
            fn unwrap(elements: &Elements) -> &[Self] {
                match elements {
                    Elements::$variant(elements) => elements,
                    _ => panic!("a buffer of another type"),
                }
            }
            fn unwrap_mut(elements: &mut Elements) -> &mut [Self] {
                match elements {
                    Elements::$variant(elements) => elements,
                    _ => panic!("a buffer of another type"),
                }
            }
            const UNWRITTEN: Self = $unwritten;
            fn apply(op: ScalarOp, operands: &[Self]) -> Self {
                let [a, b] = [operands[0], *operands.last().expect("operations have operands")];
                match op {
                    ScalarOp::Copy => a,
                    ScalarOp::Add => $add(a, b),
                    ScalarOp::Sub => $sub(a, b),
                    ScalarOp::Mul => $mul(a, b),
                    ScalarOp::Neg => $neg(a),
                    ScalarOp::Div | ScalarOp::Exp | ScalarOp::Log | ScalarOp::Relu | ScalarOp::ReluGrad => {
                        $float(op, a, b)
                    }
                }
            }
            fn sum(elements: &[Self]) -> Self {
                rt::sum(elements)
            }
            fn divided_by(self, count: usize) -> Self {
                $divide(self, count)
            }
        }
    };
}

fn float_op<T: rt::Float + std::ops::Div<Output = T>>(op: ScalarOp, a: T, b: T) -> T {
    match op {
        ScalarOp::Div => a / b,
        ScalarOp::Exp => rt::exp(a),
        ScalarOp::Log => rt::ln(a),
        ScalarOp::Relu => rt::relu(a),
        ScalarOp::ReluGrad => rt::relu_grad(a, b),
        ScalarOp::Copy | ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul | ScalarOp::Neg => unreachable!(),
    }
}

number!(f32, F32, f32::NAN, |a, b| a + b, |a, b| a - b, |a, b| a * b, |a: f32| -a, float_op, |a: f32, n| a
    / n as f32);
number!(f64, F64, f64::NAN, |a, b| a + b, |a, b| a - b, |a, b| a * b, |a: f64| -a, float_op, |a: f64, n| a
    / n as f64);
number!(
    i32,
    I32,
    i32::MIN,
    i32::wrapping_add,
    i32::wrapping_sub,
    i32::wrapping_mul,
    i32::wrapping_neg,
    |_, _, _| panic!("floats only"),
    |_, _| panic!("floats only")
);
number!(
    i64,
    I64,
    i64::MIN,
    i64::wrapping_add,
    i64::wrapping_sub,
    i64::wrapping_mul,
    i64::wrapping_neg,
    |_, _, _| panic!("floats only"),
    |_, _| panic!("floats only")
);

/// Memory that nothing has written yet; not zeros, so that what a kernel leaves unwritten shows.
pub fn unwritten(dtype: DType, len: usize) -> Elements {
    match dtype {
        DType::I32 => Elements::I32(vec![i32::UNWRITTEN; len]),
        DType::I64 => Elements::I64(vec![i64::UNWRITTEN; len]),
        DType::F32 => Elements::F32(vec![f32::UNWRITTEN; len]),
        DType::F64 => Elements::F64(vec![f64::UNWRITTEN; len]),
        DType::Bool => panic!("no buffer holds truth values"),
    }
}

pub fn constant(data: &TensorData) -> Elements {
    match data {
        TensorData::I32(elements) => Elements::I32(elements.to_vec()),
        TensorData::I64(elements) => Elements::I64(elements.to_vec()),
        TensorData::F32(elements) => Elements::F32(elements.iter().map(|element| element.get()).collect()),
        TensorData::F64(elements) => Elements::F64(elements.iter().map(|element| element.get()).collect()),
    }
}

/// Whether nothing has written to memory that [`unwritten`] made.
pub fn is_unwritten(elements: &Elements) -> bool {
    fn all<T: Number>(elements: &[T]) -> bool {
        // A NaN is not comparable with what is not written, which is one.
        elements.iter().all(|element| element.partial_cmp(&T::UNWRITTEN).is_none_or(Ordering::is_eq))
    }
    each_type!(elements, vec => all(vec))
}

pub fn len(elements: &Elements) -> usize {
    each_type!(elements, vec => vec.len())
}

/// A single number from single numbers.
pub fn scalar_op<T: Number>(op: ScalarOp, operands: &[Elements]) -> Elements {
    let operands: Vec<T> = operands.iter().map(|operand| T::unwrap(operand)[0]).collect();
    T::wrap(vec![T::apply(op, &operands)])
}

pub(super) use each_type;
