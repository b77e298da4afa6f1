//! Views of tensors for reading and for adding, over any memory.

use std::fmt::Debug;

use super::{Grow, array::Nest, fault::At, fault::Fault};
use crate::kernels::check;

/// The extents of a tensor as an array, outermost first.
pub trait Extents: Copy + Eq + Debug + Send + Sync {
    /// The type of an index: one integer per extent.
    type Index: Copy;

    /// The extents.
    fn as_slice(&self) -> &[usize];

    /// The position of an element in row-major order; `None` if the index is out of range.
    fn position(&self, index: Self::Index) -> Option<usize>;

    /// The members of an index.
    fn members(index: &Self::Index) -> &[i64];
}

impl<const N: usize> Extents for [usize; N] {
    type Index = [i64; N];

    #[inline(always)]
    fn as_slice(&self) -> &[usize] {
        self
    }

    #[inline(always)]
    fn position(&self, index: [i64; N]) -> Option<usize> {
        let mut position = 0;
        for (index, extent) in index.into_iter().zip(*self) {
            let index = index as usize;
            if index >= extent {
                return None;
            }
            position = position * extent + index;
        }
        Some(position)
    }

    #[inline(always)]
    fn members(index: &[i64; N]) -> &[i64] {
        index
    }
}

/// A tensor borrowed for reading. The number of elements in `data` is the product of the extents.
#[derive(Debug, PartialEq)]
pub struct View<'a, T, S> {
    /// The extents.
    pub size: S,
    /// The elements in row-major order.
    pub data: &'a [T],
}

impl<T, S: Copy> Clone for View<'_, T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S: Copy> Copy for View<'_, T, S> {}

impl<'a, T, S: Extents> View<'a, T, S> {
    /// The element at an index.
    ///
    /// # Errors
    /// E6001 if the index is out of range.
    #[inline(always)]
    pub fn get(self, index: S::Index, at: At) -> Result<&'a T, Fault> {
        match self.size.position(index).and_then(|position| self.data.get(position)) {
            Some(element) => Ok(element),
            None => Err(outside(self.size, index, at)),
        }
    }

    /// The element at an index that each of `count` turns reads; an arbitrary element if there are no turns.
    ///
    /// # Errors
    /// E6001 if the index is out of range.
    #[inline(always)]
    pub fn still(self, index: S::Index, count: usize, at: At) -> Result<T, Fault>
    where
        T: Copy + Default,
    {
        if count == 0 { Ok(T::default()) } else { self.get(index, at).copied() }
    }

    /// The `count` elements of a row from an index on.
    ///
    /// # Errors
    /// E6001 at the first index that is out of range. A row of no elements does not fail.
    #[inline(always)]
    pub fn row(self, index: S::Index, count: usize, at: At) -> Result<&'a [T], Fault> {
        row_range(self.size, index, count, at).map(|(first, count)| &self.data[first..first + count])
    }

    /// As [`View::row`], where `known` contains some of the elements from this index on.
    ///
    /// # Errors
    /// As [`View::row`].
    #[inline(always)]
    pub fn row_of(self, known: &'a [T], index: S::Index, count: usize, at: At) -> Result<&'a [T], Fault> {
        match known.get(..count) {
            Some(row) => Ok(row),
            None => self.row(index, count, at),
        }
    }
}

/// Checks that an index is in range for a tensor of this size.
///
/// # Errors
/// E6001 if the index is out of range.
#[inline(always)]
pub fn within<S: Extents>(index: S::Index, size: S, at: At) -> Result<(), Fault> {
    match size.position(index) {
        Some(_) => Ok(()),
        None => Err(outside(size, index, at)),
    }
}

/// The position of the first of `count` elements of a row from an index on, and their number: 0 or `count`.
#[inline(always)]
fn row_range<S: Extents>(size: S, index: S::Index, count: usize, at: At) -> Result<(usize, usize), Fault> {
    if count == 0 {
        return Ok((0, 0));
    }
    let extent = size.as_slice().last().copied().unwrap_or_default();
    let start = S::members(&index).last().copied().unwrap_or_default() as usize;
    match size.position(index) {
        Some(first) if count <= extent - start => Ok((first, count)),
        found => Err(first_outside(size, index, found.is_some(), at)),
    }
}

/// The failure at an index that is out of range. The index is passed by value: if its address were taken, it would be
/// in memory in every turn.
#[cold]
#[inline(never)]
fn outside<S: Extents>(size: S, index: S::Index, at: At) -> Fault {
    at.out_of_range(S::members(&index), size.as_slice())
}

/// The failure for a row. `begins` says whether its first element is in range.
#[cold]
#[inline(never)]
fn first_outside<S: Extents>(size: S, index: S::Index, begins: bool, at: At) -> Fault {
    let mut members = S::members(&index).to_vec();
    if let (true, Some(member), Some(extent)) = (begins, members.last_mut(), size.as_slice().last()) {
        *member = *extent as i64;
    }
    at.out_of_range(&members, size.as_slice())
}

/// A tensor borrowed for adding. The number of elements in `data` is the product of the extents.
#[derive(Debug)]
pub struct ViewMut<'a, T, S> {
    /// The extents.
    pub size: S,
    /// The elements in row-major order.
    pub data: &'a mut [T],
}

impl<T, S: Extents> ViewMut<'_, T, S> {
    /// The same view for a shorter lifetime.
    #[inline(always)]
    pub fn reborrow(&mut self) -> ViewMut<'_, T, S> {
        ViewMut { size: self.size, data: self.data }
    }

    /// The element at an index.
    ///
    /// # Errors
    /// E6001 if the index is out of range.
    #[inline(always)]
    pub fn get_mut(&mut self, index: S::Index, at: At) -> Result<&mut T, Fault> {
        match self.size.position(index).and_then(|position| self.data.get_mut(position)) {
            Some(element) => Ok(element),
            None => Err(outside(self.size, index, at)),
        }
    }

    /// The mutable form of [`View::row`].
    ///
    /// # Errors
    /// As [`View::row`].
    #[inline(always)]
    pub fn row_mut(&mut self, index: S::Index, count: usize, at: At) -> Result<&mut [T], Fault> {
        row_range(self.size, index, count, at).map(|(first, count)| &mut self.data[first..first + count])
    }

    /// Adds a tensor of the same size.
    ///
    /// # Errors
    /// E6010 if the sizes differ.
    #[inline]
    pub fn grow<B: Nest<Size = S>>(&mut self, by: &B, at: At) -> Result<(), Fault>
    where
        T: Grow<B::Element>,
    {
        if self.size != by.size() {
            return Err(at.sizes_differ(self.size.as_slice(), by.size().as_slice()));
        }
        check(self.data.len() == by.data().len(), "a tensor has another number of elements than its size");
        for (to, by) in self.data.iter_mut().zip(by.data()) {
            to.grow(by, at)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: At = At(&("f", 1, 2));

    fn message(found: Result<&[i32], Fault>) -> String {
        found.expect_err("it is outside").in_file("f.ks").to_string()
    }

    #[test]
    fn rows_begin_where_they_are_told_and_end_within_the_tensor() {
        let view = View { size: [2, 3], data: &[0, 1, 2, 3, 4, 5] };
        assert_eq!(view.row([1, 0], 3, AT).expect("a whole row"), [3, 4, 5]);
        assert_eq!(view.row([0, 1], 2, AT).expect("the end of a row"), [1, 2]);
        assert_eq!(view.row_of(&[1], [0, 1], 2, AT).expect("more than is known"), [1, 2]);
        assert_eq!(view.row_of(&[1, 2], [0, 1], 1, AT).expect("less than is known"), [1]);
        assert_eq!(view.row([9, -9], 0, AT).expect("nothing"), [0; 0]);
        let outside = |[i, j]: [i64; 2]| {
            format!(
                "E6001: f.ks:1:2: index (tuple {i} {j}) is out of range of a tensor of size (tuple 2 3), in `f`"
            )
        };
        assert_eq!(message(view.row([1, 1], 3, AT)), outside([1, 3]));
        assert_eq!(message(view.row([0, -1], 2, AT)), outside([0, -1]));
        assert_eq!(message(view.row([2, 0], 1, AT)), outside([2, 0]));
        assert_eq!(message(view.row([0, i64::MAX], 2, AT)), outside([0, i64::MAX]));
    }
}
