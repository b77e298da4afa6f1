//! The lines of a tensor along an axis.

use crate::kernels::check;

/// The lines along an axis.
pub(in crate::kernels) struct Lines {
    outer: usize,
    pub(super) extent: usize,
    pub(super) inner: usize,
}

impl Lines {
    /// `extents` are the product of the extents before the axis, the extent of the axis, and the product of the extents
    /// after it.
    pub(in crate::kernels) fn new(extents: [usize; 3], count: usize, wrong: &'static str) -> Self {
        let [outer, extent, inner] = extents;
        let places = outer.checked_mul(extent).and_then(|places| places.checked_mul(inner));
        check(places == Some(count), wrong);
        Self { outer, extent, inner }
    }

    /// The number of lines with elements.
    pub(super) fn count(&self) -> usize {
        if self.extent == 0 { 0 } else { self.outer * self.inner }
    }

    /// The position of the first element of a line.
    #[inline(always)]
    pub(super) fn first(&self, line: usize) -> usize {
        line / self.inner * (self.extent * self.inner) + line % self.inner
    }

    /// The elements of a line.
    #[inline(always)]
    pub(super) fn elements<'x, T>(&self, line: usize, x: &'x [T]) -> impl Iterator<Item = &'x T> {
        x[self.first(line)..].iter().step_by(self.inner).take(self.extent)
    }

    /// Writes the words of the elements of a line from a position on. If they are contiguous, the loop becomes vector
    /// code.
    #[inline(always)]
    pub(super) fn read<'w, T: Copy, W: 'w>(
        &self,
        (line, from): (usize, usize),
        x: &[T],
        words: impl Iterator<Item = &'w mut W>,
        word: impl Fn(T, usize) -> W,
    ) {
        let x = &x[self.first(line) + from * self.inner..];
        if self.inner == 1 {
            words.zip(x).enumerate().for_each(|(at, (to, element))| *to = word(*element, from + at));
        } else {
            let elements = x.iter().step_by(self.inner);
            words.zip(elements).enumerate().for_each(|(at, (to, element))| *to = word(*element, from + at));
        }
    }

    /// Replaces as many elements of a line as there are values, from a position on.
    #[inline(always)]
    pub(super) fn replace<T>(
        &self,
        (line, from): (usize, usize),
        x: &mut [T],
        values: impl ExactSizeIterator<Item = T>,
    ) {
        let x = &mut x[self.first(line) + from * self.inner..];
        if self.inner == 1 {
            x[..values.len()].iter_mut().zip(values).for_each(|(to, value)| *to = value);
        } else {
            x.iter_mut().step_by(self.inner).zip(values).for_each(|(to, value)| *to = value);
        }
    }

    /// The elements of a line.
    #[inline(always)]
    pub(super) fn elements_mut<'x, T>(&self, line: usize, x: &'x mut [T]) -> impl Iterator<Item = &'x mut T> {
        let first = self.first(line);
        x[first..].iter_mut().step_by(self.inner).take(self.extent)
    }
}
