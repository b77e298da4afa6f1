//! Transposes a matrix in squares that fit into registers.

/// Defines a [`TransposeFn`](super::TransposeFn) that transposes squares of `$size` vectors. `$transposed` computes the
/// columns of a square.
macro_rules! transpose {
    (
        $name:ident: $vector:ident, $element:ident, $features:literal, $size:literal,
        |$square:ident| $transposed:expr
    ) => {
        /// # Safety
        /// As for [`TransposeFn`](super::TransposeFn).
        #[target_feature(enable = $features)]
        pub unsafe fn $name(
            from: *const $element,
            from_stride: usize,
            [rows, columns]: [usize; 2],
            to: *mut $element,
            to_stride: usize,
        ) {
            /// Transposes the square, or as many rows and columns of it as exist.
            ///
            /// # Safety
            /// As for [`TransposeFn`](super::TransposeFn).
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn square(
                from: *const $element,
                from_stride: usize,
                [rows, columns]: [usize; 2],
                to: *mut $element,
                to_stride: usize,
            ) {
                // SAFETY: the caller's contract covers every row and column.
                unsafe {
                    let mut $square = [<$vector as Vector>::zero(); $size];
                    for (r, row) in $square.iter_mut().enumerate() {
                        if r < rows {
                            let from = from.add(r * from_stride);
                            *row = if columns == $size {
                                Vector::load(from)
                            } else {
                                Vector::load_part(from, columns)
                            };
                        }
                    }
                    for (c, column) in $transposed.into_iter().enumerate() {
                        if c < columns {
                            let to = to.add(c * to_stride);
                            if rows == $size { column.store(to) } else { column.store_part(to, rows) }
                        }
                    }
                }
            }

            for c in (0..columns).step_by($size) {
                for r in (0..rows).step_by($size) {
                    // SAFETY: the square is inside the matrix that the caller vouches for.
                    unsafe {
                        let (from, to) = (from.add(r * from_stride + c), to.add(c * to_stride + r));
                        if r + $size <= rows && c + $size <= columns {
                            square(from, from_stride, [$size; 2], to, to_stride);
                        } else {
                            let part = [$size.min(rows - r), $size.min(columns - c)];
                            square(from, from_stride, part, to, to_stride);
                        }
                    }
                }
            }
        }
    };
}
pub(super) use transpose;
