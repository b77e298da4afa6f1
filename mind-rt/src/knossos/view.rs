//! Tensors that are read, and tensors that are added to, wherever their elements lie.

use std::fmt::Debug;

use super::{Grow, array::Nest, fault::At, fault::Fault};

/// The extents of a tensor, outermost first: an array.
pub trait Extents: Copy + Eq + Debug + Send + Sync {
    /// As many integers.
    type Index: Copy;

    /// The extents.
    fn as_slice(&self) -> &[usize];

    /// The position of an element in row-major order; nothing outside.
    fn position(&self, index: Self::Index) -> Option<usize>;

    /// The position of the first element of a row of the last dimension; nothing outside. Of the index the last member
    /// is not read.
    fn row(&self, index: Self::Index) -> Option<usize>;

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
    fn row(&self, mut index: [i64; N]) -> Option<usize> {
        index[N - 1] = 0;
        let mut position = 0;
        for (axis, (index, extent)) in index.into_iter().zip(*self).enumerate() {
            let index = index as usize;
            if index >= extent && axis + 1 < N {
                return None;
            }
            position = position * extent + index;
        }
        Some(position)
    }

    fn members(index: &[i64; N]) -> &[i64] {
        index
    }
}

/// A tensor that is read. `data` has as many elements as the extents say.
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
    /// E6001 outside.
    #[inline(always)]
    pub fn get(self, index: S::Index, at: At) -> Result<&'a T, Fault> {
        match self.size.position(index).and_then(|position| self.data.get(position)) {
            Some(element) => Ok(element),
            None => Err(at.out_of_range(S::members(&index), self.size.as_slice())),
        }
    }

    /// The first `count` elements of the row with this index, whose last member is not read.
    ///
    /// # Errors
    /// E6001 where the row is outside or shorter, at the first index that is; nothing fails of no elements.
    #[inline(always)]
    pub fn row(self, index: S::Index, count: usize, at: At) -> Result<&'a [T], Fault> {
        row_range(self.size, index, count, at).map(|(first, count)| &self.data[first..first + count])
    }
}

/// Where the first `count` elements of a row begin, and how many they are: none, or `count`.
#[inline(always)]
fn row_range<S: Extents>(size: S, index: S::Index, count: usize, at: At) -> Result<(usize, usize), Fault> {
    if count == 0 {
        return Ok((0, 0));
    }
    let last = size.as_slice().last().copied().unwrap_or_default();
    match size.row(index) {
        Some(first) if count <= last => Ok((first, count)),
        row => {
            let mut members = S::members(&index).to_vec();
            if let (Some(_), Some(member)) = (row, members.last_mut()) {
                *member = last as i64;
            }
            Err(at.out_of_range(&members, size.as_slice()))
        }
    }
}

/// A tensor that is added to. `data` has as many elements as the extents say.
#[derive(Debug)]
pub struct ViewMut<'a, T, S> {
    /// The extents.
    pub size: S,
    /// The elements in row-major order.
    pub data: &'a mut [T],
}

impl<T, S: Extents> ViewMut<'_, T, S> {
    /// The same for less long.
    #[inline(always)]
    pub fn reborrow(&mut self) -> ViewMut<'_, T, S> {
        ViewMut { size: self.size, data: self.data }
    }

    /// The element at an index.
    ///
    /// # Errors
    /// E6001 outside.
    #[inline(always)]
    pub fn get_mut(&mut self, index: S::Index, at: At) -> Result<&mut T, Fault> {
        match self.size.position(index).and_then(|position| self.data.get_mut(position)) {
            Some(element) => Ok(element),
            None => Err(at.out_of_range(S::members(&index), self.size.as_slice())),
        }
    }

    /// As [`View::row`].
    ///
    /// # Errors
    /// As there.
    #[inline(always)]
    pub fn row_mut(&mut self, index: S::Index, count: usize, at: At) -> Result<&mut [T], Fault> {
        row_range(self.size, index, count, at).map(|(first, count)| &mut self.data[first..first + count])
    }

    /// Adds a tensor of the same size.
    ///
    /// # Errors
    /// E6010 where a size differs.
    #[inline]
    pub fn grow<B: Nest<Size = S>>(&mut self, by: &B, at: At) -> Result<(), Fault>
    where
        T: Grow<B::Element>,
    {
        if self.size != by.size() {
            return Err(at.sizes_differ(self.size.as_slice(), by.size().as_slice()));
        }
        for (to, by) in self.data.iter_mut().zip(by.data()) {
            to.grow(by, at)?;
        }
        Ok(())
    }
}
