//! Convolutions, and their derivatives by the input, which are convolutions of the cotangent.
//!
//! ```text
//! for panels of columns, a tile wide        the panel of the filter is packed, stays in L1 or L2
//!   for strips of pixels                    their sums stay in L1 until the epilogue takes them
//!     for phases of the result
//!       for pixels that use the same filter positions
//!         for tiles of pixels, or lines of them if sums are short
//! ```
//!
//! Near the padding a pixel uses fewer filter positions. Pixels that use the same ones are summed in tiles, wherever
//! they lie. Without padding these are all pixels of a strip. Otherwise they are the inner pixels, the pixels of each
//! row near the top or bottom, and the pixels of each column near the left or right. The pixels that one filter row
//! reads are contiguous in an image, so a sum is two nested loops.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::axis::{ConvAxis, Direction, Group, Phase};
use super::geometry::Conv2d;
use super::pack::{PanelLayout, pack};
use super::parts::{OutputRows, SplitRows};
use super::pixels::{Pixels, Walk};
use super::tile::{ConvMicro, ConvTiles, MAX_DOTS, PixelLine, Steps};
use crate::kernels::epilogue::Block;
use crate::kernels::limit::limit;
use crate::kernels::matmul::Room;
use crate::kernels::number::Number;
use crate::kernels::tile::{Loop, Scattered, TALLEST, Tile};

/// Bytes of the sums that an epilogue takes at once.
const STRIP_BYTES: usize = limit(16 << 10, 1 << 10);

/// Sums of at most this many factors, or vectors of factors, are short: setting up a tile for them takes about as long
/// as summing it.
const FEW_FACTORS: usize = limit(32, 6);

/// Images that are correlated with a filter.
pub struct Correlation<'a, T> {
    pub direction: Direction,
    axes: [ConvAxis; 2],
    /// The images, each with `from` rows and columns of `depth` channels.
    operand: &'a [T],
    from: [usize; 2],
    pub depth: usize,
    /// The rows and columns of an image of the result, with `columns` channels.
    to: [usize; 2],
    pub columns: usize,
    pub filter: &'a [T],
    pub kw: usize,
}

impl<'a, T: Number + ConvTiles> Correlation<'a, T> {
    /// Computes the output from `input`.
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

    /// Computes the cotangent of the input from the cotangent of the output.
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

    /// Passes the result to the parts, which must begin at the start of an image row.
    pub fn run(&self, micro: &ConvMicro<T>, scratch: &mut [T], mut parts: SplitRows<'_, '_, T>) {
        let layout = self.layout(micro.lanes());
        let size = match layout {
            PanelLayout::Rows => micro.columns(),
            PanelLayout::Columns => MAX_DOTS,
        };
        for column in (0..self.columns).step_by(size) {
            let columns = column..self.columns.min(column + size);
            let width = match layout {
                PanelLayout::Rows => columns.len().next_multiple_of(micro.lanes()),
                PanelLayout::Columns => columns.len().next_power_of_two(),
            };
            let len = pack(self, &columns, width, layout, scratch);
            let panel = Panel { of: self, micro, columns, width, layout, filter: &scratch[..len] };
            parts.for_each(&|part| panel.run(part));
        }
    }

    /// Whether lanes are columns or, if there are only a few columns, factors.
    fn layout(&self, lanes: usize) -> PanelLayout {
        /// The cost of adding up the lanes of a sum, in multiply-adds.
        const REDUCE: usize = 6;

        let [lines, taps] = self.axes.map(|axis| match self.direction {
            Direction::Forward => axis.kernel,
            Direction::GradInput => axis.kernel.div_ceil(axis.stride),
        });
        let factors = taps * self.depth;
        let dots = self.columns.next_power_of_two() * (lines * factors.div_ceil(lanes) + REDUCE);
        if self.columns <= MAX_DOTS && dots < lines * factors {
            PanelLayout::Columns
        } else {
            PanelLayout::Rows
        }
    }
}

/// Some columns of a result.
struct Panel<'a, T: 'static> {
    of: &'a Correlation<'a, T>,
    micro: &'a ConvMicro<T>,
    columns: Range<usize>,
    /// The number of columns that are summed.
    width: usize,
    layout: PanelLayout,
    filter: &'a [T],
}

/// Neighbouring pixels of a result: whole images, whole rows of one image, or a part of a row.
struct Strip {
    images: Range<usize>,
    rows: Range<usize>,
    columns: Range<usize>,
}

#[repr(align(64))]
struct OutputSums([MaybeUninit<u8>; STRIP_BYTES]);

impl<T: Number + ConvTiles> Panel<'_, T> {
    fn run(&self, part: &mut OutputRows<'_, T>) {
        let mut sums = OutputSums([MaybeUninit::uninit(); STRIP_BYTES]);
        let sums: *mut T = sums.0.as_mut_ptr().cast();
        let pixels = STRIP_BYTES / size_of::<T>() / self.width;
        let mut pixel = part.rows.start;
        while pixel < part.rows.end {
            let strip = self.of.strip(pixel..part.rows.end, pixels);
            let rows = strip.images.len() * strip.rows.len() * strip.columns.len();
            assert!(0 < rows && rows <= pixels);
            Room { data: sums, len: rows * self.width }.poison();
            let summed = self.sum(&strip, sums);
            assert!(summed == rows, "the phases of the result have all pixels of the strip");
            // SAFETY: all pixels were summed, as just asserted.
            let sums = unsafe { std::slice::from_raw_parts(sums, rows * self.width) };
            let (column, columns) = (self.columns.start, self.columns.len());
            part.epilogue.block(Block { row: pixel, column, rows, columns, sums, stride: self.width });
            pixel += rows;
        }
    }

    /// Sums the pixels of a strip to `sums`, one after the other. Returns the number of pixels.
    fn sum(&self, strip: &Strip, sums: *mut T) -> usize {
        let (mut filter, mut summed) = (self.filter, 0);
        self.of.for_each_phase(|[y, x]| {
            let (panel, rest) = filter.split_at(y.taps * x.taps * self.of.depth * self.width);
            filter = rest;
            for rows in y.groups(y.positions(strip.rows.clone())) {
                for columns in x.groups(x.positions(strip.columns.clone())) {
                    self.pixels(strip, [y, x], [&rows, &columns], panel, sums);
                    summed += rows.positions.len() * columns.positions.len() * strip.images.len();
                }
            }
        });
        summed
    }

    /// Sums the pixels of a strip that are in one group of rows and in one group of columns.
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
        // The distances from a pixel of the group to the next one across, down, and in the next image.
        let read = [x.advance() * depth, y.advance() * w * depth, h * w * depth];
        let line = strip.columns.len() * width;
        let write = [x.step * width, y.step * line, strip.rows.len() * line];
        let extents = [columns.positions.len(), rows.positions.len(), strip.images.len()];

        let first = ((strip.images.start * h + rows.origin) * w + columns.origin) * depth;
        let place = |phase: &Phase, group: &Group, start: usize| {
            phase.first + group.positions.start * phase.step - start
        };
        let to = place(y, rows, strip.rows.start) * line + place(x, columns, strip.columns.start) * width;
        let steps = |axis: usize| Steps { count: extents[axis], read: read[axis], write: write[axis] };
        let pixels = Pixels::new(
            self.of.operand.as_ptr().wrapping_add(first),
            sums.wrapping_add(to),
            [steps(0), steps(1), steps(2)],
        );

        let [factor, column] = self.layout.strides(y.taps * x.taps * depth, width);
        let line = x.taps * depth * factor;
        let rhs = filter.as_ptr().wrapping_add(taps[0].start * line + taps[1].start * depth * factor);
        let loops = [
            Loop { count: taps[0].len(), lhs: w * depth, rhs: line },
            Loop { count: taps[1].len() * depth, lhs: 1, rhs: factor },
        ];
        // SAFETY: all taps of a group are inside the operand for each of its pixels, and in the packed filter. The
        // pixels are in the strip, whose sums have a row of `width` elements for each pixel.
        unsafe {
            if !self.lines(&pixels, loops, rhs) {
                self.tiles(pixels, loops, rhs, column);
            }
        }
    }

    /// Sums pixels line by line, if their sums are short. Returns whether it did.
    ///
    /// # Safety
    /// For each pixel, all elements that the loops reach must be readable, and as many sums writable as there are
    /// columns.
    unsafe fn lines(&self, pixels: &Pixels<T>, [outer, inner]: [Loop; 2], rhs: *const T) -> bool {
        let lanes = self.micro.lanes();
        let (sum, step) = match self.layout {
            PanelLayout::Rows => (self.micro.line(self.width), 1),
            PanelLayout::Columns if self.width == 1 && inner.count.is_multiple_of(lanes) => {
                (self.micro.line_of_dots, lanes)
            }
            PanelLayout::Columns => return false,
        };
        let count = outer.count * (inner.count / step);
        let mut factors = [[0; 2]; FEW_FACTORS];
        let Some(factors) = factors.get_mut(..count) else { return false };
        let steps = (0..outer.count).flat_map(|i| (0..inner.count).step_by(step).map(move |j| (i, j)));
        for (factor, (i, j)) in factors.iter_mut().zip(steps) {
            *factor = [i * outer.lhs + j * inner.lhs, i * outer.rhs + j * inner.rhs];
        }
        pixels.for_each_line(|lhs, to, pixels| {
            // SAFETY: the caller vouches for the pixels of the line.
            unsafe { sum(&PixelLine { lhs, to, pixels, factors, rhs }) };
        });
        true
    }

    /// Sums pixels tile by tile.
    ///
    /// # Safety
    /// As for [`lines`](Self::lines).
    unsafe fn tiles(&self, pixels: Pixels<T>, [outer, inner]: [Loop; 2], rhs: *const T, column: usize) {
        let tiles = match self.layout {
            PanelLayout::Rows => self.micro.tiles(self.width),
            PanelLayout::Columns => self.micro.dots(self.width),
        };
        let rows = Scattered {
            lhs: [pixels.lhs; TALLEST],
            to: [pixels.to; TALLEST],
            column,
            loops: [Loop::ONCE, outer, inner],
        };
        let mut tile = Tile { walk: rows, rhs, columns: self.width, adds: false };
        let mut walk = Walk::new(pixels, tiles.len());
        while !walk.has_ended() {
            let rows = walk.next(&mut tile.walk);
            // SAFETY: the caller vouches for these pixels.
            unsafe { tile.sum(tiles, rows) };
        }
    }
}

impl<T> Correlation<'_, T> {
    /// Calls `f` with each pair of a phase of rows and a phase of columns.
    pub fn for_each_phase(&self, mut f: impl FnMut([&Phase; 2])) {
        for y in self.axes[0].phases(self.direction) {
            for x in self.axes[1].phases(self.direction) {
                f([&y, &x]);
            }
        }
    }

    /// At most `pixels` pixels from the first one of `left` on: whole images, whole rows, or a part of a row.
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
