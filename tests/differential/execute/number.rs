//! Elements of four types behind one trait.

use std::cmp::Ordering;

use mind::__private as rt;
use mind_core::{data::TensorData, interp::Elements, map::Map, reduce::Monoid, ty::DType};

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
    fn apply(op: Map, operands: &[Self]) -> Self;
    fn total(monoid: &Monoid, elements: &[Self]) -> Self;
    fn divided_by(self, count: usize) -> Self;
}

macro_rules! number {
    ($ty:ident, $variant:ident, $unwritten:expr, $apply:expr, $divide:expr) => {
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
            fn apply(op: Map, operands: &[Self]) -> Self {
                $apply(op, operands)
            }
            fn total(monoid: &Monoid, elements: &[Self]) -> Self {
                if monoid.settles {
                    return rt::sum(elements);
                }
                let all = elements.iter().copied().reduce(|a, b| Self::apply(monoid.combine, &[a, b]));
                all.expect("an extent is at least 1")
            }
            fn divided_by(self, count: usize) -> Self {
                $divide(self, count)
            }
        }
    };
}

fn of_floats(op: Map, operands: &[impl Copy + Into<f64>]) -> f64 {
    (op.row().float)(&operands.iter().map(|operand| (*operand).into()).collect::<Vec<f64>>())
}

fn of_integers(op: Map, operands: &[impl Copy + Into<i64>]) -> i64 {
    (op.row().integer)(&operands.iter().map(|operand| (*operand).into()).collect::<Vec<i64>>())
}

number!(f32, F32, f32::NAN, |op, x| of_floats(op, x) as f32, |a: f32, n| a / n as f32);
number!(f64, F64, f64::NAN, of_floats, |a: f64, n| a / n as f64);
number!(i32, I32, i32::MIN, |op, x| of_integers(op, x) as i32, |_, _| panic!("floats only"));
number!(i64, I64, i64::MIN, of_integers, |_, _| panic!("floats only"));

/// One element of any type.
#[derive(Clone, Copy, Debug)]
pub enum One {
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
}

/// Calls `$body` with `$vec` bound to elements, all of the type of the first.
macro_rules! of_one_type {
    ($ones:expr, $vec:ident => $body:expr) => {
        match $ones[0] {
            One::I32(_) => {
                let $vec: Vec<i32> = $ones.iter().map(|one| one.expect()).collect();
                One::I32($body)
            }
            One::I64(_) => {
                let $vec: Vec<i64> = $ones.iter().map(|one| one.expect()).collect();
                One::I64($body)
            }
            One::F32(_) => {
                let $vec: Vec<f32> = $ones.iter().map(|one| one.expect()).collect();
                One::F32($body)
            }
            One::F64(_) => {
                let $vec: Vec<f64> = $ones.iter().map(|one| one.expect()).collect();
                One::F64($body)
            }
        }
    };
}

impl One {
    /// The element at a position.
    pub fn of(elements: &Elements, at: usize) -> Self {
        match elements {
            Elements::I32(elements) => Self::I32(elements[at]),
            Elements::I64(elements) => Self::I64(elements[at]),
            Elements::F32(elements) => Self::F32(elements[at]),
            Elements::F64(elements) => Self::F64(elements[at]),
        }
    }

    /// As all elements of a tensor.
    pub fn wrap(self) -> Elements {
        match self {
            Self::I32(one) => Elements::I32(vec![one]),
            Self::I64(one) => Elements::I64(vec![one]),
            Self::F32(one) => Elements::F32(vec![one]),
            Self::F64(one) => Elements::F64(vec![one]),
        }
    }

    /// The element, of this type.
    fn expect<T: Number>(self) -> T {
        T::unwrap(&self.wrap())[0]
    }

    pub fn apply(op: Map, operands: &[Self]) -> Self {
        of_one_type!(operands, operands => Number::apply(op, &operands))
    }

    pub fn total(monoid: &Monoid, elements: &[Self]) -> Self {
        of_one_type!(elements, elements => Number::total(monoid, &elements))
    }

    pub fn divided_by(self, count: usize) -> Self {
        of_one_type!([self], all => all[0].divided_by(count))
    }
}

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
pub fn scalar_op<T: Number>(op: Map, operands: &[Elements]) -> Elements {
    let operands: Vec<T> = operands.iter().map(|operand| T::unwrap(operand)[0]).collect();
    T::wrap(vec![T::apply(op, &operands)])
}

pub(super) use each_type;
