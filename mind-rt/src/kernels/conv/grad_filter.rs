//! The derivative of a convolution by its filter.
//!
//! ```text
//! for panels of columns, a tile wide        the sums of all rows stay in the scratch memory
//!   for chunks of pixels                    both images of a chunk stay in L2
//!     for filter positions that use the same pixels
//!       for tiles of rows
//! ```
//!
//! A row of the result belongs to a filter position and an input channel. Its factors are the pixels that use this
//! position, in three nested loops over images, rows and columns. So rows whose positions use the same pixels form
//! tiles.

use std::ops::Range;

use super::axis::Phase;
use super::geometry::Conv2d;
use super::parts::{OutputRows, SplitRows};
use super::tile::{ConvMicro, ConvTiles};
use crate::kernels::epilogue::Block;
use crate::kernels::limit::limit;
use crate::kernels::number::Number;
use crate::kernels::tile::{Loop, Scattered, TALLEST, Tile};

/// Bytes of the pixels in a chunk.
const CHUNK_BYTES: usize = limit(128 << 10, 512);

/// With this many channels or more, the rows of a single filter position form their own tiles.
const MANY_CHANNELS: usize = limit(8, 3);

pub struct GradFilter<'a, T> {
    pub g: &'a Conv2d,
    pub input: &'a [T],
    pub cotangent: &'a [T],
}

/// The sums of all rows. Parts have different rows.
struct FilterSums<T>(*mut T);

// SAFETY: threads share a pointer to numbers, and each part uses it only for its own rows.
unsafe impl<T: Send> Sync for FilterSums<T> {}

impl<T: Number + ConvTiles> GradFilter<'_, T> {
    /// Passes the result to the parts.
    pub fn run(&self, micro: &ConvMicro<T>, scratch: &mut [T], mut parts: SplitRows<'_, '_, T>) {
        let g = self.g;
        for column in (0..g.c_out).step_by(micro.columns()) {
            let columns = column..g.c_out.min(column + micro.columns());
            let width = columns.len().next_multiple_of(micro.lanes());
            let sums = &mut scratch[..g.kh * g.kw * g.c_in * width];
            sums.fill(T::ZERO);
            let sums = FilterSums(sums.as_mut_ptr());
            let [down, across] = g.axes().map(|axis| axis.forward());
            let panel = FilterPanel { of: self, micro, columns, width, sums, phases: [down, across] };
            parts.for_each(&|part| panel.run(part));
        }
    }
}

/// Some columns of the result.
struct FilterPanel<'a, T: 'static> {
    of: &'a GradFilter<'a, T>,
    micro: &'a ConvMicro<T>,
    columns: Range<usize>,
    /// The number of columns that are summed: whole vectors.
    width: usize,
    sums: FilterSums<T>,
    phases: [Phase; 2],
}

/// Pixels of the output that use the same filter positions.
struct SharedTaps {
    images: Range<usize>,
    rows: Range<usize>,
    columns: Range<usize>,
    /// The filter positions down and across.
    places: [Range<usize>; 2],
}

impl<T: Number + ConvTiles> FilterPanel<'_, T> {
    fn run(&self, part: &mut OutputRows<'_, T>) {
        let Conv2d { n, h_out, w_out, .. } = *self.of.g;
        let lines = (CHUNK_BYTES / self.line_bytes()).max(1);
        for images in pieces(n, lines / h_out.max(1)) {
            for rows in pieces(h_out, lines) {
                self.chunk(&part.rows, images.clone(), rows, w_out);
            }
        }
        let rows = part.rows.len();
        // SAFETY: all rows are initialised, and nothing else uses the rows of this part any more.
        let sums = unsafe {
            std::slice::from_raw_parts(self.sums.0.add(part.rows.start * self.width), rows * self.width)
        };
        let (row, column, columns) = (part.rows.start, self.columns.start, self.columns.len());
        part.epilogue.block(Block { row, column, rows, columns, sums, stride: self.width });
    }

    /// The bytes that are read for one row of pixels of the output.
    fn line_bytes(&self) -> usize {
        let g = self.of.g;
        let elements = (g.w_out * self.width).saturating_add(g.stride[0].saturating_mul(g.w * g.c_in));
        elements.saturating_mul(size_of::<T>()).max(1)
    }

    /// Adds the contributions of the pixels in `rows` of `images`.
    fn chunk(&self, part: &Range<usize>, images: Range<usize>, rows: Range<usize>, w_out: usize) {
        let [down, across] = &self.phases;
        if self.of.g.c_in < MANY_CHANNELS || down.is_inside(rows.clone()) && across.is_inside(0..w_out) {
            for rows in down.groups(rows.clone()) {
                for columns in across.groups(0..w_out) {
                    self.region(
                        part,
                        &SharedTaps {
                            images: images.clone(),
                            rows: rows.positions.clone(),
                            columns: columns.positions,
                            places: [rows.taps.clone(), columns.taps],
                        },
                    );
                }
            }
            return;
        }
        for a in 0..down.taps {
            for b in 0..across.taps {
                self.region(
                    part,
                    &SharedTaps {
                        images: images.clone(),
                        rows: down.meeting(a, rows.clone()),
                        columns: across.meeting(b, 0..w_out),
                        places: [a..a + 1, b..b + 1],
                    },
                );
            }
        }
    }

    /// Adds the contributions of the pixels of a region to the rows of a part.
    fn region(&self, part: &Range<usize>, region: &SharedTaps) {
        let Conv2d { h, w, c_in, kw, c_out, stride, h_out, w_out, .. } = *self.of.g;
        let SharedTaps { images, rows, columns, places: [down, across] } = region;
        if [rows, columns, down, across].iter().any(|range| range.is_empty()) {
            return;
        }
        let pixel = (images.start * h_out + rows.start) * w_out + columns.start;
        let [y, x] = [(0, rows), (1, columns)].map(|(axis, at)| self.phases[axis].origin(at.start));
        let first = (((images.start * h) as isize + y) * w as isize + x) * c_in as isize;
        let input = self.of.input.as_ptr().wrapping_offset(first);
        // Positions in one filter row are contiguous, and so are the pixels that they read.
        let line = |a: usize| {
            let line = a * kw * c_in;
            part.start.max(line + across.start * c_in)..part.end.min(line + across.end * c_in)
        };
        let mut left: usize = down.clone().map(|a| line(a).len()).sum();
        let mut sums =
            down.clone().flat_map(|a| line(a).map(move |row| (row, a * w * c_in + row - a * kw * c_in)));
        let rows = Scattered {
            lhs: [input; TALLEST],
            to: [self.sums.0; TALLEST],
            column: 1,
            loops: [
                Loop { count: images.len(), lhs: h * w * c_in, rhs: h_out * w_out * c_out },
                Loop { count: rows.len(), lhs: stride[0] * w * c_in, rhs: w_out * c_out },
                Loop { count: columns.len(), lhs: stride[1] * c_in, rhs: c_out },
            ],
        };
        let mut tile = Tile {
            walk: rows,
            rhs: self.of.cotangent.as_ptr().wrapping_add(pixel * c_out + self.columns.start),
            columns: self.columns.len(),
            adds: true,
        };
        let tiles = self.micro.tiles(self.columns.len());
        while left > 0 {
            let rows = left.min(tiles.len());
            for (r, (row, offset)) in sums.by_ref().take(rows).enumerate() {
                (tile.walk.lhs[r], tile.walk.to[r]) =
                    (input.wrapping_add(offset), self.sums.0.wrapping_add(row * self.width));
            }
            // SAFETY: the filter positions of a region are inside the input for all of its pixels. The sums of the
            // part's rows are initialised, and nothing else uses them.
            unsafe { tile.sum(tiles, rows) };
            left -= rows;
        }
    }
}

/// Cuts `0..len` into pieces of about the same length, which is at most `size`, or 1 if `size` is 0.
fn pieces(len: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    let size = len.div_ceil(len.div_ceil(size.max(1)).max(1)).max(1);
    (0..len).step_by(size).map(move |start| start..len.min(start + size))
}
