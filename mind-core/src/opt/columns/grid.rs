//! Small arrays of values.

/// An array of known extents, whose cells are in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid<T> {
    pub(super) shape: Vec<usize>,
    pub(super) cells: Vec<T>,
}

impl<T: Copy> Grid<T> {
    /// The array of this shape with the cell that `cell` returns at each index.
    pub(super) fn tabulate<E>(
        shape: &[usize],
        mut cell: impl FnMut(&[usize]) -> Result<T, E>,
    ) -> Result<Self, E> {
        let count: usize = shape.iter().product();
        let mut index = vec![0; shape.len()];
        let mut cells = Vec::with_capacity(count);
        for _ in 0..count {
            cells.push(cell(&index)?);
            for (at, extent) in index.iter_mut().zip(shape).rev() {
                *at += 1;
                if *at < *extent {
                    break;
                }
                *at = 0;
            }
        }
        Ok(Self { shape: shape.to_vec(), cells })
    }

    /// The cell at an index.
    pub(super) fn at(&self, index: impl IntoIterator<Item = usize>) -> T {
        let offset = self.shape.iter().zip(index).fold(0, |offset, (extent, at)| offset * extent + at);
        self.cells[offset]
    }

    /// The cell at an index of an array to which this one is broadcast, aligned at the last axes.
    pub(super) fn at_broadcast(&self, index: &[usize]) -> T {
        let own = &index[index.len() - self.shape.len()..];
        self.at(self.shape.iter().zip(own).map(|(extent, at)| if *extent == 1 { 0 } else { *at }))
    }

    /// The same cells in another shape.
    pub(super) fn reshaped(self, shape: Vec<usize>) -> Self {
        Self { shape, cells: self.cells }
    }
}
