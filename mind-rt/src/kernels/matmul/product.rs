//! One product, and the destination of its result.

use std::ops::Deref;

use super::operands::MatRef;
use super::region::Region;
use crate::kernels::check;
use crate::kernels::epilogue::Epilogue;

/// The destination of sums.
pub enum Sink<'a, T> {
    /// The sums are stored, row below row without gaps.
    Store(&'a mut [T]),
    /// An epilogue receives the sums. The product's first row is the epilogue's row `row`.
    Epilogue { epilogue: &'a mut dyn Epilogue<T>, row: usize },
}

/// One product, or some rows of it.
///
/// The fields are references, because copying values that the caller has only just written costs more than a tiny
/// product.
pub struct Product<'a, T> {
    pub dims: &'a [usize; 3],
    /// The number of rows of the whole product.
    pub all_rows: usize,
    pub lhs: &'a MatRef<'a, T>,
    pub rhs: &'a MatRef<'a, T>,
}

/// A product in which no extent is 0 and whose operands hold all elements that are reached. This is checked when it is
/// made, and by no kernel, because repeated checks would slow down small products noticeably.
pub struct InBounds<'a, T>(Product<'a, T>);

impl<'a, T> InBounds<'a, T> {
    /// # Panics
    /// As an internal error, if an extent is 0 or an operand is too short.
    #[inline(always)]
    pub fn new(product: Product<'a, T>) -> Self {
        let Product { dims: &[m, k, n], lhs, rhs, .. } = product;
        check(m > 0 && k > 0 && n > 0, "matmul: nothing to multiply");
        check(lhs.reach(m, k) < lhs.data.len(), "matmul: left operand too short");
        check(rhs.reach(k, n) < rhs.data.len(), "matmul: right operand too short");
        Self(product)
    }
}

impl<'a, T> Deref for InBounds<'a, T> {
    type Target = Product<'a, T>;

    #[inline(always)]
    fn deref(&self) -> &Product<'a, T> {
        &self.0
    }
}

/// A function that computes a product; each element type has one.
pub type Multiply<T> = fn(&InBounds<'_, T>, &mut [T], Sink<'_, T>);

/// A function that computes some columns of a product of many rows and columns.
pub type MultiplyColumns<T> = fn(&InBounds<'_, T>, &mut [T], Region<'_, T>);
