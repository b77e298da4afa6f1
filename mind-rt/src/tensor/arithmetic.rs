//! The operators `+ - * /` between tensors, and between tensors and numbers.
//!
//! An owned operand of the result's shape is overwritten with the result. Then nothing is allocated, unless the other
//! operand broadcasts.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::numeric::Numeric;
use super::same_shape::SameShape;
use crate::error::{Error, describe};
use crate::kernels::copy::copy_strided;
use crate::parallel::{self, Split};
use crate::shape::{MAX_RANK, Shape};
use crate::simd::Kernel;
use crate::tensor::storage::{Tensor, TensorRef};

/// An operation on two numbers.
trait Operation: Copy + Send + 'static {
    /// The operator in source text.
    const SYMBOL: &'static str;

    /// Whether an integer right operand must not be 0.
    const DIVIDES: bool = false;

    fn apply<T: Numeric>(x: T, y: T) -> T;
}

#[derive(Clone, Copy)]
struct Sum;

#[derive(Clone, Copy)]
struct Difference;

#[derive(Clone, Copy)]
struct Product;

#[derive(Clone, Copy)]
struct Quotient;

impl Operation for Sum {
    const SYMBOL: &'static str = "+";

    #[inline(always)]
    fn apply<T: Numeric>(x: T, y: T) -> T {
        x.plus(y)
    }
}

impl Operation for Difference {
    const SYMBOL: &'static str = "-";

    #[inline(always)]
    fn apply<T: Numeric>(x: T, y: T) -> T {
        x.minus(y)
    }
}

impl Operation for Product {
    const SYMBOL: &'static str = "*";

    #[inline(always)]
    fn apply<T: Numeric>(x: T, y: T) -> T {
        x.times(y)
    }
}

impl Operation for Quotient {
    const SYMBOL: &'static str = "/";
    const DIVIDES: bool = true;

    #[inline(always)]
    fn apply<T: Numeric>(x: T, y: T) -> T {
        x.over(y)
    }
}

/// An operation with its operands exchanged, for results that overwrite the right operand.
#[derive(Clone, Copy)]
struct Exchanged<O>(PhantomData<O>);

impl<O: Operation> Operation for Exchanged<O> {
    const SYMBOL: &'static str = O::SYMBOL;

    #[inline(always)]
    fn apply<T: Numeric>(x: T, y: T) -> T {
        O::apply(y, x)
    }
}

/// Computes the result in newly allocated memory.
#[track_caller]
fn between<O: Operation, T: Numeric, S: Shape>(x: &TensorRef<T, S>, y: &TensorRef<T, S>) -> Tensor<T, S> {
    let shape = broadcast::<O, T, S>(x, y);
    check_divisors::<O, T>(y.as_slice(), shape);
    let mut out = Tensor::try_stale_with(shape).unwrap_or_else(|error| panic!("{error}"));
    let (x, y) = (expanded(x, shape), expanded(y, shape));
    let by = PhantomData::<O>;
    run(Between { x: x.as_slice(), y: y.as_slice(), out: out.as_mut_slice(), by }, shape.len());
    out
}

/// Computes the result in the memory of the left operand, if that has the result's shape.
#[track_caller]
fn onto_left<O: Operation, T: Numeric, S: Shape>(mut x: Tensor<T, S>, y: &TensorRef<T, S>) -> Tensor<T, S> {
    if broadcast::<O, T, S>(&x, y) != x.shape() {
        return between::<O, T, S>(&x, y);
    }
    assign::<O, T, S>(&mut x, y);
    x
}

/// Computes the result in the memory of the right operand, if that has the result's shape.
#[track_caller]
fn onto_right<O: Operation, T: Numeric, S: Shape>(x: &TensorRef<T, S>, mut y: Tensor<T, S>) -> Tensor<T, S> {
    if broadcast::<O, T, S>(x, &y) != y.shape() {
        return between::<O, T, S>(x, &y);
    }
    check_divisors::<O, T>(y.as_slice(), y.shape());
    assign::<Exchanged<O>, T, S>(&mut y, x);
    y
}

/// Overwrites the left operand with the result.
#[track_caller]
fn assign<O: Operation, T: Numeric, S: Shape>(x: &mut TensorRef<T, S>, y: &TensorRef<T, S>) {
    let shape = x.shape();
    if broadcast::<O, T, S>(x, y) != shape {
        let (x, y) = (describe(T::DTYPE, &shape.dims()), describe(T::DTYPE, &y.shape().dims()));
        panic!("E3001: `{}=`: {y} does not broadcast to {x}, which it is to change", O::SYMBOL);
    }
    check_divisors::<O, T>(y.as_slice(), shape);
    let y = expanded(y, shape);
    let by = PhantomData::<O>;
    run(Onto { out: x.as_mut_slice(), y: y.as_slice(), by }, shape.len());
}

/// Overwrites the tensor with the result of the operation with a number.
#[track_caller]
fn assign_number<O: Operation, T: Numeric, S: Shape>(x: &mut TensorRef<T, S>, number: T) {
    check_divisors::<O, T>(&[number], x.shape());
    let len = x.len();
    run(WithNumber { out: x.as_mut_slice(), number, by: PhantomData::<O> }, len);
}

#[track_caller]
fn number_right<O: Operation, T: Numeric, S: Shape>(mut x: Tensor<T, S>, number: T) -> Tensor<T, S> {
    assign_number::<O, T, S>(&mut x, number);
    x
}

#[track_caller]
fn number_left<O: Operation, T: Numeric, S: Shape>(number: T, mut x: Tensor<T, S>) -> Tensor<T, S> {
    check_divisors::<O, T>(x.as_slice(), x.shape());
    assign_number::<Exchanged<O>, T, S>(&mut x, number);
    x
}

fn negated<T: Numeric, S: Shape>(mut x: Tensor<T, S>) -> Tensor<T, S> {
    x.iter_mut().for_each(|x| *x = x.negated());
    x
}

/// The shape of the result: a dynamic extent of 1 broadcasts to the other operand's extent.
#[track_caller]
fn broadcast<O: Operation, T: Numeric, S: Shape>(x: &TensorRef<T, S>, y: &TensorRef<T, S>) -> S {
    if x.shape() == y.shape() {
        return x.shape();
    }
    let (x, y) = (x.shape().dims(), y.shape().dims());
    let mut extents = [1; MAX_RANK];
    for (axis, out) in extents[..S::RANK].iter_mut().enumerate() {
        *out = match (x[axis], y[axis]) {
            (a, b) if a == b => a,
            (1, other) | (other, 1) => other,
            (a, b) => panic!(
                "E3001: `{}`: extents {a} and {b} do not broadcast in dimension {axis}: the left is {}, the right is {}",
                O::SYMBOL,
                describe(T::DTYPE, &x),
                describe(T::DTYPE, &y),
            ),
        };
    }
    S::from_extents(&extents[..S::RANK]).expect("each extent is one of an operand's of the same shape type")
}

/// The elements of `x`, broadcast to `shape`.
#[track_caller]
fn expanded<T: Numeric, S: Shape>(x: &TensorRef<T, S>, shape: S) -> Cow<'_, TensorRef<T, S>> {
    if x.shape() == shape {
        return Cow::Borrowed(x);
    }
    let (from, to) = (x.shape().dims(), shape.dims());
    let (mut strides, mut stride) = ([0; MAX_RANK], 1);
    for axis in (0..S::RANK).rev() {
        strides[axis] = if from[axis] == 1 { 0 } else { stride };
        stride *= from[axis];
    }
    let mut out = Tensor::try_stale_with(shape).unwrap_or_else(|error| panic!("{error}"));
    copy_strided(&to, &strides[..S::RANK], 0, x.as_slice(), out.as_mut_slice());
    Cow::Owned(out)
}

/// Panics if an element of the result would be an integer divided by 0. It is called before anything is written.
#[track_caller]
fn check_divisors<O: Operation, T: Numeric>(divisors: &[T], shape: impl Shape) {
    if !O::DIVIDES || T::DTYPE.is_float() || shape.is_empty() {
        return;
    }
    if let Some(position) = divisors.iter().position(|divisor| *divisor == T::ZERO) {
        panic!("{}", Error::DivisionByZero { what: O::SYMBOL, position });
    }
}

fn run(kernel: impl Split<Output = ()>, len: usize) {
    if len > 0 {
        parallel::run(kernel, len, 1, 1);
    }
}

/// `out = x ∘ y`.
struct Between<'a, T, O> {
    x: &'a [T],
    y: &'a [T],
    out: &'a mut [T],
    by: PhantomData<O>,
}

impl<T: Numeric, O: Operation> Kernel for Between<'_, T, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((out, x), y) in self.out.iter_mut().zip(self.x).zip(self.y) {
            *out = O::apply(*x, *y);
        }
    }
}

impl<T: Numeric, O: Operation> Split for Between<'_, T, O> {
    fn split(self, at: usize) -> (Self, Self) {
        let (x, y, out) = (self.x.split_at(at), self.y.split_at(at), self.out.split_at_mut(at));
        (
            Self { x: x.0, y: y.0, out: out.0, by: PhantomData },
            Self { x: x.1, y: y.1, out: out.1, by: PhantomData },
        )
    }
}

/// `out = out ∘ y`.
struct Onto<'a, T, O> {
    out: &'a mut [T],
    y: &'a [T],
    by: PhantomData<O>,
}

impl<T: Numeric, O: Operation> Kernel for Onto<'_, T, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, y) in self.out.iter_mut().zip(self.y) {
            *out = O::apply(*out, *y);
        }
    }
}

impl<T: Numeric, O: Operation> Split for Onto<'_, T, O> {
    fn split(self, at: usize) -> (Self, Self) {
        let (out, y) = (self.out.split_at_mut(at), self.y.split_at(at));
        (Self { out: out.0, y: y.0, by: PhantomData }, Self { out: out.1, y: y.1, by: PhantomData })
    }
}

/// `out = out ∘ number`.
struct WithNumber<'a, T, O> {
    out: &'a mut [T],
    number: T,
    by: PhantomData<O>,
}

impl<T: Numeric, O: Operation> Kernel for WithNumber<'_, T, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for out in self.out {
            *out = O::apply(*out, self.number);
        }
    }
}

impl<T: Numeric, O: Operation> Split for WithNumber<'_, T, O> {
    fn split(self, at: usize) -> (Self, Self) {
        let (first, later) = self.out.split_at_mut(at);
        (Self { out: first, ..self }, Self { out: later, ..self })
    }
}

/// Implements one operator for owned tensors and references, and with numbers.
macro_rules! operator {
    ($trait:ident $method:ident $assign:ident $assign_method:ident $operation:ident) => {
        operator!(pair $trait $method Tensor<T, S>, Tensor<T, R>, |x, y| onto_left::<$operation, T, S>(x, &S::same(y)));
        operator!(pair $trait $method Tensor<T, S>, &Tensor<T, R>, |x, y| onto_left::<$operation, T, S>(x, S::same_ref(y)));
        operator!(pair $trait $method Tensor<T, S>, &TensorRef<T, R>, |x, y| onto_left::<$operation, T, S>(x, S::same_ref(y)));
        operator!(pair $trait $method &Tensor<T, S>, Tensor<T, R>, |x, y| onto_right::<$operation, T, S>(x, S::same(y)));
        operator!(pair $trait $method &TensorRef<T, S>, Tensor<T, R>, |x, y| onto_right::<$operation, T, S>(x, S::same(y)));
        operator!(pair $trait $method &Tensor<T, S>, &Tensor<T, R>, |x, y| between::<$operation, T, S>(x, S::same_ref(y)));
        operator!(pair $trait $method &Tensor<T, S>, &TensorRef<T, R>, |x, y| between::<$operation, T, S>(x, S::same_ref(y)));
        operator!(pair $trait $method &TensorRef<T, S>, &Tensor<T, R>, |x, y| between::<$operation, T, S>(x, S::same_ref(y)));
        operator!(pair $trait $method &TensorRef<T, S>, &TensorRef<T, R>, |x, y| between::<$operation, T, S>(x, S::same_ref(y)));
        operator!(number $trait $method Tensor<T, S>, |x, y| number_right::<$operation, T, S>(x, y));
        operator!(number $trait $method &Tensor<T, S>, |x, y| number_right::<$operation, T, S>(Tensor::copy_of(x), y));
        operator!(number $trait $method &TensorRef<T, S>, |x, y| number_right::<$operation, T, S>(Tensor::copy_of(x), y));
        mind_shape::element_types!(numbers => operator! numbers $trait $method $operation:);
        operator!(assign $assign $assign_method Tensor<T, S>, $operation);
        operator!(assign $assign $assign_method TensorRef<T, S>, $operation);
    };
    (pair $trait:ident $method:ident $lhs:ty, $rhs:ty, |$x:ident, $y:ident| $result:expr) => {
        impl<T: Numeric, S: SameShape<R>, R: Shape> $trait<$rhs> for $lhs {
            type Output = Tensor<T, S>;

            #[track_caller]
            fn $method(self, $y: $rhs) -> Tensor<T, S> {
                let $x = self;
                $result
            }
        }
    };
    (number $trait:ident $method:ident $lhs:ty, |$x:ident, $y:ident| $result:expr) => {
        impl<T: Numeric, S: Shape> $trait<T> for $lhs {
            type Output = Tensor<T, S>;

            #[track_caller]
            fn $method(self, $y: T) -> Tensor<T, S> {
                let $x = self;
                $result
            }
        }
    };
    (numbers $trait:ident $method:ident $operation:ident: $($number:ident $variant:ident;)*) => {
        $(
            impl<S: Shape> $trait<Tensor<$number, S>> for $number {
                type Output = Tensor<$number, S>;

                #[track_caller]
                fn $method(self, x: Tensor<$number, S>) -> Tensor<$number, S> {
                    number_left::<$operation, $number, S>(self, x)
                }
            }

            impl<S: Shape> $trait<&Tensor<$number, S>> for $number {
                type Output = Tensor<$number, S>;

                #[track_caller]
                fn $method(self, x: &Tensor<$number, S>) -> Tensor<$number, S> {
                    number_left::<$operation, $number, S>(self, Tensor::copy_of(x))
                }
            }

            impl<S: Shape> $trait<&TensorRef<$number, S>> for $number {
                type Output = Tensor<$number, S>;

                #[track_caller]
                fn $method(self, x: &TensorRef<$number, S>) -> Tensor<$number, S> {
                    number_left::<$operation, $number, S>(self, Tensor::copy_of(x))
                }
            }
        )*
    };
    (assign $trait:ident $method:ident $lhs:ty, $operation:ident) => {
        operator!(assign $trait $method $lhs, Tensor<T, R>, |x, y| assign::<$operation, T, S>(x, &S::same(y)));
        operator!(assign $trait $method $lhs, &Tensor<T, R>, |x, y| assign::<$operation, T, S>(x, S::same_ref(y)));
        operator!(assign $trait $method $lhs, &TensorRef<T, R>, |x, y| assign::<$operation, T, S>(x, S::same_ref(y)));

        impl<T: Numeric, S: Shape> $trait<T> for $lhs {
            #[track_caller]
            fn $method(&mut self, number: T) {
                assign_number::<$operation, T, S>(self, number);
            }
        }
    };
    (assign $trait:ident $method:ident $lhs:ty, $rhs:ty, |$x:ident, $y:ident| $result:expr) => {
        impl<T: Numeric, S: SameShape<R>, R: Shape> $trait<$rhs> for $lhs {
            #[track_caller]
            fn $method(&mut self, $y: $rhs) {
                let $x = self;
                $result
            }
        }
    };
}

operator!(Add add AddAssign add_assign Sum);
operator!(Sub sub SubAssign sub_assign Difference);
operator!(Mul mul MulAssign mul_assign Product);
operator!(Div div DivAssign div_assign Quotient);

impl<T: Numeric, S: Shape> Neg for Tensor<T, S> {
    type Output = Self;

    fn neg(self) -> Self {
        negated(self)
    }
}

impl<T: Numeric, S: Shape> Neg for &Tensor<T, S> {
    type Output = Tensor<T, S>;

    #[track_caller]
    fn neg(self) -> Tensor<T, S> {
        negated(Tensor::copy_of(self))
    }
}

impl<T: Numeric, S: Shape> Neg for &TensorRef<T, S> {
    type Output = Tensor<T, S>;

    #[track_caller]
    fn neg(self) -> Tensor<T, S> {
        negated(Tensor::copy_of(self))
    }
}

#[cfg(test)]
mod tests;
