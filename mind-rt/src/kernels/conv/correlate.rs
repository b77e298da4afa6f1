//! Convolutions, and their derivatives by the input, which are convolutions of the cotangent.
//!
//! ```text
//! for panels of columns, a tile wide        the panel of the filter is packed, stays in L1 or L2
//!   for strips of pixels                    their sums stay in L1 until the epilogue takes them
//!     for phases of the result
//!       for pixels that meet the same places of the filter
//!         for tiles of pixels
//! ```
//!
//! In the padding a pixel meets fewer places of the filter. Pixels that meet the same ones are summed in tiles, wherever
//! they lie: in an image without padding all pixels of a strip, else the inner ones, those of each row near the top or
//! bottom, and those of each column near the left or right. What is met of a row of the filter lies in one piece in an
//! image, so a sum is two nested loops.

use std::array;
use std::cmp::Reverse;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::Conv2d;
use super::axis::{Axis, Direction, Group, Phase};
use super::pack::{Layout, pack};
use super::parts::{Part, Parts};
use super::tile::{Loop, MAX_DOTS, Micro, ROWS, Tile, Tiles};
use crate::element::Element;
use crate::kernels::epilogue::Block;

/// Bytes of the sums that an epilogue takes at once.
const STRIP_BYTES: usize = 32 << 10;

/// Images to be correlated with a filter.
pub struct Correlation<'a, T> {
    pub direction: Direction,
    axes: [Axis; 2],
    /// The images, `from` rows and columns of `depth` channels each.
    operand: &'a [T],
    from: [usize; 2],
    pub depth: usize,
    /// Rows and columns of an image of the result, of `columns` channels each.
    to: [usize; 2],
    pub columns: usize,
    pub filter: &'a [T],
    pub kw: usize,
}

impl<'a, T: Element + Tiles> Correlation<'a, T> {
    /// The output of `input`.
    pub fn forward(g: &Conv2d, input: &'a [T], filter: &'a [T]) -> Self {
        Self {
            direction: Direction::Forward,
            axes: g.axes(),
            operand: input,
            from: [g.h, g.w],
            depth: g.c_in,
            to: [g.h_out, g.w_out],
            columns: g.c_out,
            filter,
            kw: g.kw,
        }
    }

    /// The cotangent of the input of the output's.
    pub fn grad_input(g: &Conv2d, cotangent: &'a [T], filter: &'a [T]) -> Self {
        Self {
            direction: Direction::GradInput,
            axes: g.axes(),
            operand: cotangent,
            from: [g.h_out, g.w_out],
            depth: g.c_out,
            to: [g.h, g.w],
            columns: g.c_in,
            filter,
            kw: g.kw,
        }
    }

    /// Hands the result to the parts, which begin where a row of an image does.
    pub fn run(&self, micro: &Micro<T>, scratch: &mut [T], mut parts: Parts<'_, '_, T>) {
        let layout = self.layout(micro.lanes);
        let size = match layout {
            Layout::Rows => micro.columns(),
            Layout::Columns => MAX_DOTS,
        };
        for column in (0..self.columns).step_by(size) {
            let columns = column..self.columns.min(column + size);
            let width = match layout {
                Layout::Rows => columns.len().next_multiple_of(micro.lanes),
                Layout::Columns => columns.len().next_power_of_two(),
            };
            let len = pack(self, &columns, width, layout, scratch);
            let panel = Panel { of: self, micro, columns, width, layout, filter: &scratch[..len] };
            parts.for_each(&|part| panel.run(part));
        }
    }

    /// Whether lanes are columns or, if there are but a few, factors.
    fn layout(&self, lanes: usize) -> Layout {
        /// What it takes to add up the lanes of a sum, in multiply-adds.
        const REDUCE: usize = 6;

        let [lines, taps] = self.axes.map(|axis| match self.direction {
            Direction::Forward => axis.kernel,
            Direction::GradInput => axis.kernel.div_ceil(axis.stride),
        });
        let factors = taps * self.depth;
        let dots = self.columns.next_power_of_two() * (lines * factors.div_ceil(lanes) + REDUCE);
        if self.columns <= MAX_DOTS && dots < lines * factors { Layout::Columns } else { Layout::Rows }
    }
}

/// Some columns of a result.
struct Panel<'a, T: 'static> {
    of: &'a Correlation<'a, T>,
    micro: &'a Micro<T>,
    columns: Range<usize>,
    /// How many columns are summed.
    width: usize,
    layout: Layout,
    filter: &'a [T],
}

/// Neighbouring pixels of a result: whole images, or whole rows of one image, or a part of a row.
struct Strip {
    images: Range<usize>,
    rows: Range<usize>,
    columns: Range<usize>,
}

#[repr(align(64))]
struct Sums([MaybeUninit<u8>; STRIP_BYTES]);

impl<T: Element + Tiles> Panel<'_, T> {
    fn run(&self, part: &mut Part<'_, T>) {
        let mut sums = Sums([MaybeUninit::uninit(); STRIP_BYTES]);
        let sums: *mut T = sums.0.as_mut_ptr().cast();
        let pixels = STRIP_BYTES / size_of::<T>() / self.width;
        let mut pixel = part.rows.start;
        while pixel < part.rows.end {
            let strip = self.of.strip(pixel..part.rows.end, pixels);
            let rows = strip.images.len() * strip.rows.len() * strip.columns.len();
            assert!(0 < rows && rows <= pixels);
            self.sum(&strip, sums);
            // SAFETY: the phases of the result have all pixels of the strip, so all are initialised.
            let sums = unsafe { std::slice::from_raw_parts(sums, rows * self.width) };
            let (column, columns) = (self.columns.start, self.columns.len());
            part.epilogue.block(Block { row: pixel, column, rows, columns, sums, stride: self.width });
            pixel += rows;
        }
    }

    /// Sums the pixels of a strip, one after the other to `sums`.
    fn sum(&self, strip: &Strip, sums: *mut T) {
        let mut filter = self.filter;
        self.of.for_each_phase(|[y, x]| {
            let (panel, rest) = filter.split_at(y.taps * x.taps * self.of.depth * self.width);
            filter = rest;
            for rows in y.groups(y.positions(strip.rows.clone())) {
                for columns in x.groups(x.positions(strip.columns.clone())) {
                    self.pixels(strip, [y, x], [&rows, &columns], panel, sums);
                }
            }
        });
    }

    /// Sums the pixels of a strip that are in a group of rows and in one of columns.
    fn pixels(
        &self,
        strip: &Strip,
        [y, x]: [&Phase; 2],
        [rows, columns]: [&Group; 2],
        filter: &[T],
        sums: *mut T,
    ) {
        let Correlation { depth, from: [h, w], .. } = *self.of;
        let (taps, width) = ([rows.taps.clone(), columns.taps.clone()], self.width);
        // From a pixel of the group to the next one across, down and in the next image.
        let read = [x.advance() * depth, y.advance() * w * depth, h * w * depth];
        let line = strip.columns.len() * width;
        let write = [x.step * width, y.step * line, strip.rows.len() * line];
        let extents = [columns.positions.len(), rows.positions.len(), strip.images.len()];

        let first = ((strip.images.start * h + rows.origin) * w + columns.origin) * depth;
        let place = |phase: &Phase, group: &Group, start: usize| {
            phase.first + group.positions.start * phase.step - start
        };
        let to = place(y, rows, strip.rows.start) * line + place(x, columns, strip.columns.start) * width;
        let tiles = match self.layout {
            Layout::Rows => self.micro.tiles(width),
            Layout::Columns => self.micro.dots(width),
        };
        let axes = [0, 1, 2].map(|axis| Steps { count: extents[axis], read: read[axis], write: write[axis] });
        let lhs = self.of.operand.as_ptr().wrapping_add(first);
        let mut walk = Walk::new(lhs, sums.wrapping_add(to), axes, 2 * tiles.len());

        let [factor, column] = self.layout.strides(y.taps * x.taps * depth, width);
        let line = x.taps * depth * factor;
        let rhs = taps[0].start * line + taps[1].start * depth * factor;
        let mut tile = Tile {
            lhs: [walk.lhs; ROWS],
            to: [walk.to; ROWS],
            rhs: filter.as_ptr().wrapping_add(rhs),
            column,
            columns: width,
            loops: [
                Loop::ONCE,
                Loop { count: taps[0].len(), lhs: w * depth, rhs: line },
                Loop { count: taps[1].len() * depth, lhs: 1, rhs: factor },
            ],
            adds: false,
        };
        while walk.left > 0 {
            let sum = tiles[walk.next(&mut tile).div_ceil(2) - 1];
            // SAFETY: all taps of a group are inside the operand for each of its pixels, and in the packed filter; the
            // pixels are in the strip, whose sums have a row of `width` elements each.
            unsafe { sum(&tile) };
        }
    }
}

/// The pixels of a group, tile after tile.
struct Walk<T> {
    /// What the next pixel reads first, and where its sums go.
    lhs: *const T,
    to: *mut T,
    /// From pixel to pixel: across, down and in the next image, the longest axis first.
    axes: [Steps; 3],
    /// How far along each the next pixel is.
    at: [usize; 3],
    /// How many pixels are left.
    left: usize,
    /// The pixels of a tile, an even number: as many as make up a line in tiles of about the same height, or the most there
    /// can be where lines are short.
    rows: usize,
    /// Whether a tile has pixels of one line only.
    in_line: bool,
}

#[derive(Clone, Copy)]
struct Steps {
    count: usize,
    read: usize,
    write: usize,
}

impl<T> Walk<T> {
    /// The pixels along `axes`, of which there are some, in tiles of up to `most`, which is even.
    fn new(lhs: *const T, to: *mut T, mut axes: [Steps; 3], most: usize) -> Self {
        axes.sort_by_key(|axis| Reverse(axis.count));
        let count = axes[0].count;
        let in_line = count >= most;
        let rows = if in_line { count.div_ceil(count.div_ceil(most)).next_multiple_of(2) } else { most };
        let left = axes.iter().map(|axis| axis.count).product();
        Self { lhs, to, axes, at: [0; 3], left, rows, in_line }
    }

    /// Makes the next pixels, of which there are some, the rows of a tile, and says how many they are. Of an odd number the
    /// last one comes twice.
    #[inline(always)]
    fn next(&mut self, tile: &mut Tile<T>) -> usize {
        if !self.in_line {
            return self.next_of_lines(tile);
        }
        let [Steps { count, read, write }, ..] = self.axes;
        let rows = self.rows.min(count - self.at[0]);
        tile.lhs = array::from_fn(|r| self.lhs.wrapping_add(r * read));
        tile.to = array::from_fn(|r| self.to.wrapping_add(r * write));
        if rows % 2 == 1 {
            (tile.lhs[rows], tile.to[rows]) = (tile.lhs[rows - 1], tile.to[rows - 1]);
        }
        self.advance(rows);
        rows
    }

    /// The same where lines are shorter than tiles: pixels of several.
    fn next_of_lines(&mut self, tile: &mut Tile<T>) -> usize {
        let rows = self.rows.min(self.left);
        for r in 0..rows {
            (tile.lhs[r], tile.to[r]) = (self.lhs, self.to);
            self.advance(1);
        }
        if rows % 2 == 1 {
            (tile.lhs[rows], tile.to[rows]) = (tile.lhs[rows - 1], tile.to[rows - 1]);
        }
        rows
    }

    /// Goes on by so many pixels, to the next line at most.
    #[inline(always)]
    fn advance(&mut self, pixels: usize) {
        self.left -= pixels;
        let mut steps = pixels;
        for (axis, at) in self.axes.iter().zip(&mut self.at) {
            *at += steps;
            self.lhs = self.lhs.wrapping_add(steps * axis.read);
            self.to = self.to.wrapping_add(steps * axis.write);
            if *at < axis.count {
                break;
            }
            self.lhs = self.lhs.wrapping_sub(axis.count * axis.read);
            self.to = self.to.wrapping_sub(axis.count * axis.write);
            (*at, steps) = (0, 1);
        }
    }
}

impl<T> Correlation<'_, T> {
    /// Calls `f` with the phases of rows and of columns, each with each.
    pub fn for_each_phase(&self, mut f: impl FnMut([&Phase; 2])) {
        for y in self.axes[0].phases(self.direction) {
            for x in self.axes[1].phases(self.direction) {
                f([&y, &x]);
            }
        }
    }

    /// At most so many pixels, from the first of `left` on, which end with a row of an image.
    fn strip(&self, left: Range<usize>, pixels: usize) -> Strip {
        let [h, w] = self.to;
        let (image, row, column) = (left.start / (h * w), left.start / w % h, left.start % w);
        if w > pixels {
            let pieces = w.div_ceil(pixels);
            let end = w.min(column + w.div_ceil(pieces));
            return Strip { images: image..image + 1, rows: row..row + 1, columns: column..end };
        }
        let rows = (left.len() / w).min(pixels / w);
        if row == 0 && rows >= h {
            return Strip { images: image..image + rows / h, rows: 0..h, columns: 0..w };
        }
        Strip { images: image..image + 1, rows: row..h.min(row + rows), columns: 0..w }
    }
}
