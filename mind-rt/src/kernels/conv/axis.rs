//! The pairs of image and filter positions that a convolution multiplies, along one axis.

use std::ops::Range;

/// Every `step`th position of a result, from `first` on, as a correlation: the value at the phase's position `i` is the
/// sum over the taps `t` of operand element `origin + i · advance + t` times filter position `place + t · place_step`.
///
/// A convolution is one phase. Its derivative by the input has as many phases as the stride: neighbouring positions use
/// different filter positions, and positions a stride apart use the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The first position of the result.
    pub first: usize,
    /// The distance from one position of the result to the next.
    pub step: usize,
    /// The number of filter positions that are used.
    pub taps: usize,
    /// The filter position of tap 0.
    place: usize,
    /// The distance from the filter position of one tap to that of the next.
    place_step: isize,
    /// The operand index that tap 0 reads for position 0; below 0 in the padding.
    origin: isize,
    /// The distance between the operand indices of consecutive positions.
    advance: isize,
    /// The length of the operand.
    extent: isize,
}

/// An axis of a convolution.
#[derive(Clone, Copy, Debug)]
pub struct ConvAxis {
    pub input: usize,
    pub output: usize,
    pub kernel: usize,
    pub stride: usize,
    pub pad: usize,
}

/// The function that is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The output from the input.
    Forward,
    /// Computes the cotangent of the input from the cotangent of the output.
    GradInput,
}

impl ConvAxis {
    /// The phases of a result.
    pub fn phases(&self, direction: Direction) -> impl Iterator<Item = Phase> {
        let count = match direction {
            Direction::Forward => 1,
            Direction::GradInput => self.stride.min(self.input),
        };
        (0..count).map(move |first| match direction {
            Direction::Forward => self.forward(),
            Direction::GradInput => self.grad_input(first),
        })
    }

    /// The single phase of the output.
    pub fn forward(&self) -> Phase {
        Phase {
            first: 0,
            step: 1,
            taps: self.kernel,
            place: 0,
            place_step: 1,
            origin: -(self.pad as isize),
            advance: self.stride as isize,
            extent: self.input as isize,
        }
    }

    /// Input `x` contributes to output `i` by filter position `x + pad - i · stride`. Taps run upwards through the
    /// outputs, and so downwards through the filter positions.
    fn grad_input(&self, first: usize) -> Phase {
        let place = (first + self.pad) % self.stride;
        let taps = self.kernel.saturating_sub(place).div_ceil(self.stride);
        let newest = (first + self.pad - place) / self.stride;
        Phase {
            first,
            step: self.stride,
            taps,
            place: place + taps.saturating_sub(1) * self.stride,
            place_step: -(self.stride as isize),
            origin: newest as isize + 1 - taps as isize,
            advance: 1,
            extent: self.output as isize,
        }
    }
}

impl Phase {
    /// The filter position of a tap.
    pub fn place(&self, tap: usize) -> usize {
        self.place.wrapping_add_signed(tap as isize * self.place_step)
    }

    /// The phase's positions, counted by `i` from [`first`](Self::first) on, that are in the range `of` of the result.
    pub fn positions(&self, of: Range<usize>) -> Range<usize> {
        let number = |end: usize| end.saturating_sub(self.first).div_ceil(self.step);
        number(of.start)..number(of.end)
    }

    /// The operand index that tap 0 reads for a position.
    pub fn origin(&self, position: usize) -> isize {
        self.origin + position as isize * self.advance
    }

    /// The positions for which all taps are inside the operand.
    fn inside(&self) -> Range<usize> {
        let start = self.meeting(0, 0..usize::MAX).start;
        start..self.meeting(self.taps.saturating_sub(1), 0..usize::MAX).end.max(start)
    }

    /// Whether all taps are inside the operand for all of `positions`.
    pub fn is_inside(&self, positions: Range<usize>) -> bool {
        let inside = self.inside();
        inside.start <= positions.start && positions.end <= inside.end
    }

    /// The positions among `positions` for which a tap is inside the operand.
    pub fn meeting(&self, tap: usize, positions: Range<usize>) -> Range<usize> {
        let first = self.origin + tap as isize;
        let number = |end: isize| end.max(0).unsigned_abs().div_ceil(self.advance());
        let start = number(-first).clamp(positions.start, positions.end);
        start..number(self.extent - first).clamp(start, positions.end)
    }

    /// Cuts positions into groups, in order. The positions of a group have the same taps inside the operand.
    #[inline]
    pub fn groups(self, positions: Range<usize>) -> impl Iterator<Item = Group> {
        let inside = self.inside();
        let mut at = positions.start;
        std::iter::from_fn(move || {
            (at < positions.end).then(|| {
                let first = at;
                at = if inside.contains(&first) { inside.end.min(positions.end) } else { first + 1 };
                let origin = self.origin(first);
                let from = (-origin).clamp(0, self.taps as isize);
                let to = (self.extent - origin).clamp(from, self.taps as isize);
                let origin = if from < to { (origin + from).unsigned_abs() } else { 0 };
                Group { positions: first..at, taps: from as usize..to as usize, origin }
            })
        })
    }

    /// The distance between the operand indices of consecutive positions.
    pub fn advance(&self) -> usize {
        self.advance.unsigned_abs()
    }
}

/// Neighbouring positions that use the same taps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub positions: Range<usize>,
    /// The taps that are inside the operand. No other tap contributes.
    pub taps: Range<usize>,
    /// The operand index that the first tap inside reads for the first position; 0 if no tap is inside.
    pub origin: usize,
}
