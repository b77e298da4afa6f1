//! The part of a matrix in which a product is stored.

use std::marker::PhantomData;

/// Rows and columns of a matrix that nothing else reads or writes meanwhile.
pub struct Region<'a, T> {
    first: *mut T,
    rows: usize,
    columns: usize,
    /// The distance from one row to the next.
    stride: usize,
    matrix: PhantomData<&'a mut [T]>,
}

// SAFETY: the region owns its elements exclusively, like the slice that it was made from.
unsafe impl<T: Send> Send for Region<'_, T> {}

impl<'a, T> Region<'a, T> {
    /// A whole matrix with `columns` columns, its rows one below the other.
    pub fn new(matrix: &'a mut [T], columns: usize) -> Self {
        assert!(columns > 0 && matrix.len().is_multiple_of(columns), "rows are whole");
        let rows = matrix.len() / columns;
        Self { first: matrix.as_mut_ptr(), rows, columns, stride: columns, matrix: PhantomData }
    }

    /// The numbers of rows and columns.
    pub fn extents(&self) -> [usize; 2] {
        [self.rows, self.columns]
    }

    /// The distance from one row to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The address of the first element, which does not exist if the region has no rows or columns.
    pub fn first(&mut self) -> *mut T {
        self.first
    }

    /// Removes the first `count` columns from the region and returns them.
    pub fn take_columns(&mut self, count: usize) -> Self {
        assert!(count <= self.columns, "the region has these columns");
        let taken = Self { columns: count, ..*self };
        // After the last column of a matrix, this is the start of its next row, or its end.
        self.first = self.first.wrapping_add(count);
        self.columns -= count;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_of_their_columns() {
        let mut matrix = [0; 12];
        let places = matrix.as_ptr_range().start;
        let mut rest = Region::new(&mut matrix, 4);
        for (columns, at) in [(1, 0), (0, 1), (2, 1), (1, 3)] {
            let mut part = rest.take_columns(columns);
            assert_eq!((part.extents(), part.stride()), ([3, columns], 4));
            assert_eq!(part.first().cast_const(), places.wrapping_add(at));
        }
        assert_eq!(rest.extents(), [3, 0]);
    }

    #[test]
    #[should_panic = "the region has these columns"]
    fn no_more_columns_are_taken_than_there_are() {
        let mut matrix = [0; 6];
        let mut region = Region::new(&mut matrix, 2);
        region.take_columns(1);
        region.take_columns(2);
    }

    #[test]
    #[should_panic = "rows are whole"]
    fn a_matrix_has_whole_rows() {
        Region::new(&mut [0; 7], 2);
    }
}
