//! A trait for elements of all types, and one for elements of numeric types.

use std::cmp::Ordering;

use mind::__private as rt;
use mind_core::{data::TensorData, interp::Elements, map::Map, reduce::Monoid, ty::DType};
use mind_shape::{element_types, match_dtype, match_elements};

/// Calls `$body` with `$vec` bound to the elements' vector of any type.
macro_rules! each_type {
    ($elements:expr, $vec:ident => $body:expr) => {
        mind_shape::match_elements!($elements, Elements($vec) => $body)
    };
}

/// Like [`each_type`], for numeric types only.
macro_rules! each_number {
    ($elements:expr, $vec:ident => $body:expr) => {
        mind_shape::match_elements!($elements, Elements($vec) {
            truths => panic!("truth values where numbers are needed"),
            numbers => $body,
        })
    };
}

pub trait Element: rt::Element {
    fn wrap(elements: Vec<Self>) -> Elements;
    fn unwrap(elements: &Elements) -> &[Self];
    fn unwrap_mut(elements: &mut Elements) -> &mut [Self];
    /// A value that no kernel computes by chance.
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
                if monoid.is_compensated {
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

macro_rules! integers {
    ($($ty:ident $variant:ident;)*) => {
        $(number!($ty, $variant, 1 << ($ty::BITS - 1), |op, x| of_integers(op, x) as $ty, |_, _| panic!("floats only"));)*
    };
}

element_types!(integers => integers!);

macro_rules! one {
    ($($ty:ident $variant:ident;)*) => {
        /// One element of any type.
        #[derive(Clone, Copy, Debug)]
        pub enum One {
            $($variant($ty),)*
        }

        impl One {
            /// The element at a position.
            pub fn of(elements: &Elements, at: usize) -> Self {
                match elements {
                    $(Elements::$variant(elements) => Self::$variant(elements[at]),)*
                }
            }
        }
    };
}

element_types!(all => one!);

impl One {
    /// The elements of a tensor with this one element.
    pub fn wrap(self) -> Elements {
        match_elements!(self, Self(one) => vec![one].into())
    }

    /// Applies a function whose result has the type `dtype`.
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

/// Unwritten memory. It does not hold zeros, so that elements which a kernel does not write show.
pub fn unwritten(dtype: DType, len: usize) -> Elements {
    match_dtype!(dtype, T => vec![T::UNWRITTEN; len].into())
}

/// A number of elements, in an element type.
pub fn count(elements: usize, dtype: DType) -> Elements {
    match_dtype!(dtype, T {
        truths => panic!("a number of elements is no bool"),
        numbers => vec![elements as T].into(),
    })
}

pub fn constant(data: &TensorData) -> Elements {
    match_elements!(data, TensorData(elements) => {
        elements.iter().map(|element| element.get()).collect::<Vec<_>>().into()
    })
}

/// Whether memory from [`unwritten`] is still unwritten.
pub fn is_unwritten(elements: &Elements) -> bool {
    fn all<T: Element>(elements: &[T]) -> bool {
        // The unwritten value of floats is NaN, which is not comparable, not even with itself.
        let is_nan = |element: &T| element.partial_cmp(element).is_none();
        let is_unwritten =
            |element: &T| element.partial_cmp(&T::UNWRITTEN).map_or_else(|| is_nan(element), Ordering::is_eq);
        elements.iter().all(is_unwritten)
    }
    each_type!(elements, vec => all(vec))
}

pub fn len(elements: &Elements) -> usize {
    each_type!(elements, vec => vec.len())
}

/// Computes a single element from single elements.
pub fn scalar_op(op: Map, dtype: DType, operands: &[Elements]) -> Elements {
    let row = op.row();
    let is_float = matches!(operands[row.leading()], Elements::F32(_) | Elements::F64(_));
    let float = || -> f64 {
        let wide = operands.iter().map(|operand| operand.to_f64()[0]);
        (row.float)(&wide.collect::<Vec<_>>())
    };
    let integer = || -> i64 {
        let wide = operands.iter().map(|operand| {
            match_elements!(operand, Elements(operand) {
                truths => i64::from(operand[0]),
                integers => i64::from(operand[0]),
                floats => panic!("floats where integers are needed"),
            })
        });
        (row.integer)(&wide.collect::<Vec<_>>())
    };
    match_dtype!(dtype, T {
        truths => if is_float { vec![float() != 0.0].into() } else { vec![integer() & 1 == 1].into() },
        numbers => if is_float { vec![float() as T].into() } else { vec![integer() as T].into() },
    })
}

pub(super) use {each_number, each_type};
