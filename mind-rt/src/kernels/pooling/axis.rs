//! Windows that slide over the axes of a tensor.

use std::ops::Range;

/// The extents of a tensor, and the windows that slide over three of its axes.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// The number of tensors.
    pub outer: usize,
    /// The axes over which the windows slide.
    pub axes: [PoolAxis; 3],
    /// The elements at each position.
    pub channels: usize,
}

/// An axis over which a window slides.
#[derive(Clone, Copy, Debug)]
pub struct PoolAxis {
    /// The extent of the tensor.
    pub extent: usize,
    /// The number of positions of the window.
    pub positions: usize,
    /// The number of elements of the window.
    pub size: usize,
    /// The distance between positions.
    pub stride: usize,
    /// The distance between the elements of the window.
    pub dilation: usize,
    /// The elements before the tensor that the first window covers.
    pub before: usize,
}

/// Where the sums of windows go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the tensor to the positions of the windows.
    Forward,
    /// From the positions to the tensor: the derivative.
    Backward,
}

/// Every `step`th element of a result, from `first` on, as sums of an operand: element `i` of the line is the sum over the
/// taps `t` of operand element `origin + i * advance + t * tap_step`, times the factor at `place + t * place_step`. Taps
/// outside of the operand are left out.
///
/// Sums of windows are one line. Their derivative has as many lines as the stride: elements a stride apart are reached by
/// the same places of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub first: usize,
    pub step: usize,
    /// The number of elements of the line.
    pub count: usize,
    pub taps: usize,
    pub place: usize,
    pub place_step: isize,
    origin: isize,
    pub advance: usize,
    pub tap_step: usize,
    extent: usize,
}

impl Pool {
    /// The same windows, with strides and dilations that are within the tensor.
    pub(super) fn bounded(&self) -> Self {
        Self { axes: self.axes.map(|axis| axis.bounded()), ..*self }
    }
}

impl PoolAxis {
    /// An axis of one element.
    pub const ONE: Self = Self { extent: 1, positions: 1, size: 1, stride: 1, dilation: 1, before: 0 };

    /// The same windows with a small stride and dilation. A stride has no effect with one position, nor a dilation with
    /// windows of one element, but products with large ones would overflow.
    fn bounded(self) -> Self {
        let padded = self.extent.saturating_add(self.before).max(1);
        Self {
            stride: if self.positions <= 1 { self.stride.min(padded) } else { self.stride },
            dilation: if self.size <= 1 { 1 } else { self.dilation },
            ..self
        }
    }

    /// The extents of the operand and of the result.
    #[inline]
    pub fn extents(&self, direction: Direction) -> [usize; 2] {
        match direction {
            Direction::Forward => [self.extent, self.positions],
            Direction::Backward => [self.positions, self.extent],
        }
    }

    /// The number of lines of a result.
    #[inline]
    pub fn lines(&self, direction: Direction) -> usize {
        match direction {
            Direction::Forward => 1,
            Direction::Backward => self.stride.min(self.extent),
        }
    }

    /// The line that begins at an element of the result below [`lines`](Self::lines).
    #[inline]
    pub fn line(&self, direction: Direction, first: usize) -> Line {
        match direction {
            Direction::Forward => Line {
                first,
                step: 1,
                count: self.positions,
                taps: self.size,
                place: 0,
                place_step: 1,
                origin: -(self.before as isize),
                advance: self.stride,
                tap_step: self.dilation,
                extent: self.extent,
            },
            Direction::Backward => self.backward(first),
        }
    }

    /// Element `x` is in the window at position `i` at the place `(x + before - i * stride) / dilation`, if that is a whole
    /// number. Taps run upwards through the positions, and so downwards through the places.
    #[inline]
    fn backward(&self, first: usize) -> Line {
        let Self { stride, dilation, .. } = *self;
        let at = first + self.before;
        let (common, inverse) = common_divisor(dilation, stride);
        let (apart, tap_step) = (stride / common, dilation / common);
        // The first place that a position reaches the element at, if there is one.
        let offset = |place: usize| at as isize - (place * dilation) as isize;
        let place = (at / common) as u128 * inverse as u128 % apart as u128;
        let place = Some(place as usize).filter(|place| at.is_multiple_of(common) && *place < self.size);
        let taps = place.map_or(0, |place| (self.size - place).div_ceil(apart));
        let (place, last) = (place.unwrap_or(0), taps.saturating_sub(1));
        Line {
            first,
            step: stride,
            count: (self.extent - first).div_ceil(stride),
            taps,
            place: place + last * apart,
            place_step: -(apart as isize),
            origin: offset(place).div_euclid(stride as isize) - (last * tap_step) as isize,
            advance: 1,
            tap_step,
            extent: self.positions,
        }
    }

    /// The first element of the tensor that the window at a position has, and the number of them.
    #[inline(always)]
    pub fn taps(&self, at: usize) -> (usize, usize) {
        let line = self.line(Direction::Forward, 0);
        let taps = line.taps(at);
        if taps.is_empty() {
            return (0, 0);
        }
        ((line.origin(at) + (taps.start * self.dilation) as isize).unsigned_abs(), taps.len())
    }

    /// The positions of the windows that may have elements among these.
    pub fn reaching(&self, elements: &Range<usize>) -> Range<usize> {
        let span = (self.size - 1) * self.dilation;
        let start = (elements.start + self.before).saturating_sub(span).div_ceil(self.stride);
        start..(elements.end + self.before).div_ceil(self.stride).min(self.positions)
    }
}

impl Line {
    /// The operand index that tap 0 reads for an element; below 0 in the padding. Beyond the last element it may wrap.
    #[inline(always)]
    pub fn origin(&self, at: usize) -> isize {
        self.origin.wrapping_add(at.wrapping_mul(self.advance) as isize)
    }

    /// The taps that are inside of the operand for an element.
    #[inline(always)]
    pub fn taps(&self, at: usize) -> Range<usize> {
        let origin = self.origin(at);
        // Most taps are inside, and need no division.
        let reach = self.taps.saturating_sub(1) * self.tap_step;
        if origin >= 0 && origin as usize + reach < self.extent {
            return 0..self.taps;
        }
        let below = |end: isize| end.max(0).unsigned_abs().div_ceil(self.tap_step).min(self.taps);
        let start = below(-origin);
        start..below(self.extent as isize - origin).max(start)
    }

    /// The elements for which all of the taps are inside of the operand.
    #[inline(always)]
    pub fn inside(&self, taps: Range<usize>) -> Range<usize> {
        let of = |tap: usize| self.origin + (tap * self.tap_step) as isize;
        let below = |end: isize| {
            let end = end.max(0).unsigned_abs();
            if self.advance == 1 { end.min(self.count) } else { end.div_ceil(self.advance).min(self.count) }
        };
        let start = below(-of(taps.start));
        start..below(self.extent as isize - of(taps.end.saturating_sub(1))).max(start)
    }
}

/// The greatest common divisor, and a multiple of `number` that differs from it by a multiple of `modulus`: the factor of
/// `number`, by Euclid's algorithm.
fn common_divisor(number: usize, modulus: usize) -> (usize, usize) {
    if number == 1 {
        return (1, 1);
    }
    let wide = modulus as u128;
    let (mut remainder, mut factor) = ([modulus, number % modulus], [0, 1]);
    while remainder[1] != 0 {
        let times = remainder[0] / remainder[1];
        let next = (factor[0] + wide - times as u128 * factor[1] % wide) % wide;
        (remainder, factor) = ([remainder[1], remainder[0] % remainder[1]], [factor[1], next]);
    }
    (remainder[0], factor[0] as usize)
}
