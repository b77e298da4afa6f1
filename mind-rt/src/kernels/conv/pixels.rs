//! The pixels of a result that use the same filter positions, in the order in which they are summed.

use std::cmp::Reverse;

use super::tile::Steps;
use crate::kernels::tile::Scattered;

/// Pixels along three axes: across, down, and from image to image.
pub struct Pixels<T> {
    /// The first element that the first pixel reads, and the destination of its sums.
    pub lhs: *const T,
    pub to: *mut T,
    /// The axes, the longest one first.
    axes: [Steps; 3],
}

impl<T> Pixels<T> {
    pub fn new(lhs: *const T, to: *mut T, mut axes: [Steps; 3]) -> Self {
        axes.sort_by_key(|axis| Reverse(axis.count));
        Self { lhs, to, axes }
    }

    /// Calls `f` for each line, with the operand and the destination of its first pixel, and with the line.
    pub fn for_each_line(&self, mut f: impl FnMut(*const T, *mut T, Steps)) {
        let [pixels, lines, planes] = self.axes;
        for plane in 0..planes.count {
            for line in 0..lines.count {
                let read = plane * planes.read + line * lines.read;
                let write = plane * planes.write + line * lines.write;
                f(self.lhs.wrapping_add(read), self.to.wrapping_add(write), pixels);
            }
        }
    }
}

/// A walk over pixels, tile by tile.
pub struct Walk<T> {
    /// The pixels that are left. Their pointers are those of the next pixel.
    pixels: Pixels<T>,
    /// The position along each axis.
    at: [usize; 3],
    /// The number of pixels that are left.
    left: usize,
    /// The most pixels of a tile, an even number. A line is cut into tiles of about the same height; pixels of several
    /// lines make tiles of the most pixels.
    rows: usize,
    /// Whether all pixels of a tile are in one line.
    in_line: bool,
}

impl<T> Walk<T> {
    /// A walk in tiles of up to `most` pixels, which must be even.
    pub fn new(pixels: Pixels<T>, most: usize) -> Self {
        let count = pixels.axes[0].count;
        let in_line = count >= most;
        let rows = if in_line { count.div_ceil(count.div_ceil(most)).next_multiple_of(2) } else { most };
        let left = pixels.axes.iter().map(|axis| axis.count).product();
        Self { pixels, at: [0; 3], left, rows, in_line }
    }

    pub fn has_ended(&self) -> bool {
        self.left == 0
    }

    /// Makes the next pixels the rows of a tile, and returns their number. Some pixels must be left.
    #[inline(always)]
    pub fn next(&mut self, tile: &mut Scattered<T>) -> usize {
        if !self.in_line {
            return self.next_of_lines(tile);
        }
        let Pixels { lhs, to, axes: [line, ..] } = self.pixels;
        let rows = self.rows.min(line.count - self.at[0]);
        for (r, (own_lhs, own_to)) in tile.lhs.iter_mut().zip(&mut tile.to).enumerate() {
            (*own_lhs, *own_to) = (lhs.wrapping_add(r * line.read), to.wrapping_add(r * line.write));
        }
        self.advance(rows);
        rows
    }

    /// As [`next`](Self::next), if lines are shorter than tiles: takes pixels of several lines.
    fn next_of_lines(&mut self, tile: &mut Scattered<T>) -> usize {
        let rows = self.rows.min(self.left);
        for r in 0..rows {
            (tile.lhs[r], tile.to[r]) = (self.pixels.lhs, self.pixels.to);
            self.advance(1);
        }
        rows
    }

    /// Advances by `pixels` pixels, to the next line at most.
    #[inline(always)]
    fn advance(&mut self, pixels: usize) {
        self.left -= pixels;
        let mut steps = pixels;
        let Pixels { lhs, to, axes } = &mut self.pixels;
        for (axis, at) in axes.iter().zip(&mut self.at) {
            *at += steps;
            *lhs = lhs.wrapping_add(steps * axis.read);
            *to = to.wrapping_add(steps * axis.write);
            if *at < axis.count {
                break;
            }
            *lhs = lhs.wrapping_sub(axis.count * axis.read);
            *to = to.wrapping_sub(axis.count * axis.write);
            (*at, steps) = (0, 1);
        }
    }
}
