//! Elements of all types behind one trait, and those of numbers behind another.

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
            Elements::Bool($vec) => $body,
        }
    };
}

/// As [`each_type`] where only numbers can be.
macro_rules! each_number {
    ($elements:expr, $vec:ident => $body:expr) => {
        match $elements {
            Elements::I32($vec) => $body,
            Elements::I64($vec) => $body,
            Elements::F32($vec) => $body,
            Elements::F64($vec) => $body,
            Elements::Bool(_) => panic!("truth values where numbers are needed"),
        }
    };
}

pub trait Element: rt::Element {
    fn wrap(elements: Vec<Self>) -> Elements;
    fn unwrap(elements: &Elements) -> &[Self];
    fn unwrap_mut(elements: &mut Elements) -> &mut [Self];
    /// What no kernel computes by chance.
    const UNWRITTEN: Self;
}

pub trait Number: Element + rt::bare::Arithmetic {
    fn apply(op: Map, operands: &[Self]) -> Self;
    fn total(monoid: &Monoid, elements: &[Self]) -> Self;
    fn divided_by(self, count: usize) -> Self;
}

macro_rules! element {
    ($ty:ident, $variant:ident, $unwritten:expr) => {
        impl Element for $ty {
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
        }
    };
}

element!(bool, Bool, true);

macro_rules! number {
    ($ty:ident, $variant:ident, $unwritten:expr, $apply:expr, $divide:expr) => {
        element!($ty, $variant, $unwritten);

        impl Number for $ty {
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
    Bool(bool),
}

impl One {
    /// The element at a position.
    pub fn of(elements: &Elements, at: usize) -> Self {
        match elements {
            Elements::I32(elements) => Self::I32(elements[at]),
            Elements::I64(elements) => Self::I64(elements[at]),
            Elements::F32(elements) => Self::F32(elements[at]),
            Elements::F64(elements) => Self::F64(elements[at]),
            Elements::Bool(elements) => Self::Bool(elements[at]),
        }
    }

    /// As all elements of a tensor.
    pub fn wrap(self) -> Elements {
        match self {
            Self::I32(one) => Elements::I32(vec![one]),
            Self::I64(one) => Elements::I64(vec![one]),
            Self::F32(one) => Elements::F32(vec![one]),
            Self::F64(one) => Elements::F64(vec![one]),
            Self::Bool(one) => Elements::Bool(vec![one]),
        }
    }

    /// A function that gives an element of a type.
    pub fn apply(op: Map, dtype: DType, operands: &[Self]) -> Self {
        let operands: Vec<Elements> = operands.iter().map(|operand| operand.wrap()).collect();
        Self::of(&scalar_op(op, dtype, &operands), 0)
    }

    pub fn total(monoid: &Monoid, elements: &[Self]) -> Self {
        fn all<T: Number>(_: &[T], elements: &[One]) -> Vec<T> {
            elements.iter().map(|one| T::unwrap(&one.wrap())[0]).collect()
        }
        let total = each_number!(elements[0].wrap(), first => {
            Element::wrap(vec![Number::total(monoid, &all(&first, elements))])
        });
        Self::of(&total, 0)
    }

    pub fn divided_by(self, count: usize) -> Self {
        let average = each_number!(self.wrap(), one => Element::wrap(vec![one[0].divided_by(count)]));
        Self::of(&average, 0)
    }
}

/// Memory that nothing has written yet; not zeros, so that what a kernel leaves unwritten shows.
pub fn unwritten(dtype: DType, len: usize) -> Elements {
    match dtype {
        DType::I32 => Elements::I32(vec![i32::UNWRITTEN; len]),
        DType::I64 => Elements::I64(vec![i64::UNWRITTEN; len]),
        DType::F32 => Elements::F32(vec![f32::UNWRITTEN; len]),
        DType::F64 => Elements::F64(vec![f64::UNWRITTEN; len]),
        DType::Bool => Elements::Bool(vec![bool::UNWRITTEN; len]),
    }
}

/// A number of elements in an element type.
pub fn count(elements: usize, dtype: DType) -> Elements {
    match dtype {
        DType::I32 => Elements::I32(vec![elements as i32]),
        DType::I64 => Elements::I64(vec![elements as i64]),
        DType::F32 => Elements::F32(vec![elements as f32]),
        DType::F64 => Elements::F64(vec![elements as f64]),
        DType::Bool => panic!("a number of elements is no bool"),
    }
}

pub fn constant(data: &TensorData) -> Elements {
    match data {
        TensorData::I32(elements) => Elements::I32(elements.to_vec()),
        TensorData::I64(elements) => Elements::I64(elements.to_vec()),
        TensorData::F32(elements) => Elements::F32(elements.iter().map(|element| element.get()).collect()),
        TensorData::F64(elements) => Elements::F64(elements.iter().map(|element| element.get()).collect()),
        TensorData::Bool(elements) => Elements::Bool(elements.to_vec()),
    }
}

/// Whether nothing has written to memory that [`unwritten`] made.
pub fn is_unwritten(elements: &Elements) -> bool {
    fn all<T: Element>(elements: &[T]) -> bool {
        // A NaN is not comparable with what is not written, which is one.
        elements.iter().all(|element| element.partial_cmp(&T::UNWRITTEN).is_none_or(Ordering::is_eq))
    }
    each_type!(elements, vec => all(vec))
}

pub fn len(elements: &Elements) -> usize {
    each_type!(elements, vec => vec.len())
}

/// A single element from single elements.
pub fn scalar_op(op: Map, dtype: DType, operands: &[Elements]) -> Elements {
    let row = op.row();
    let is_float = matches!(operands[row.leading()], Elements::F32(_) | Elements::F64(_));
    let float = || -> f64 {
        let wide = operands.iter().map(|operand| operand.to_f64()[0]);
        (row.float)(&wide.collect::<Vec<_>>())
    };
    let integer = || -> i64 {
        let wide = operands.iter().map(|operand| match operand {
            Elements::I32(operand) => i64::from(operand[0]),
            Elements::I64(operand) => operand[0],
            Elements::Bool(operand) => i64::from(operand[0]),
            Elements::F32(_) | Elements::F64(_) => panic!("floats where integers are needed"),
        });
        (row.integer)(&wide.collect::<Vec<_>>())
    };
    match (is_float, dtype) {
        (true, DType::F32) => Elements::F32(vec![float() as f32]),
        (true, DType::F64) => Elements::F64(vec![float()]),
        (true, DType::I32) => Elements::I32(vec![float() as i32]),
        (true, DType::I64) => Elements::I64(vec![float() as i64]),
        (true, DType::Bool) => Elements::Bool(vec![float() != 0.0]),
        (false, DType::F32) => Elements::F32(vec![integer() as f32]),
        (false, DType::F64) => Elements::F64(vec![integer() as f64]),
        (false, DType::I32) => Elements::I32(vec![integer() as i32]),
        (false, DType::I64) => Elements::I64(vec![integer()]),
        (false, DType::Bool) => Elements::Bool(vec![integer() & 1 == 1]),
    }
}

pub(super) use {each_number, each_type};
