//! Cuts an axis into parts.

/// A part of an axis.
#[derive(Clone, Copy)]
pub struct Span {
    pub start: usize,
    pub len: usize,
}

impl Span {
    /// The end of the span.
    #[inline(always)]
    pub fn end(self) -> usize {
        self.start + self.len
    }
}

/// Cuts `0..len` into parts of at most `most`. The last two are about equal, and all except the last are multiples of
/// `multiple`, a power of two. Together they cover the range.
///
/// # Panics
/// If `most` is less than `len`, and is 0 or not a multiple of `multiple`: the parts would not have these properties,
/// and a rest of the axis would not be computed.
#[inline(always)]
pub fn spans(len: usize, most: usize, multiple: usize) -> impl Iterator<Item = Span> + Clone {
    assert!(most >= len || most > 0 && most.is_multiple_of(multiple), "parts cover an axis");
    let mut start = 0;
    std::iter::from_fn(move || {
        let left = len - start;
        let part = next_part(left, most, multiple);
        let span = Span { start, len: part };
        start += part;
        (part > 0).then_some(span)
    })
}

/// Cuts `0..len` into parts of `most`; the last one is the rest.
#[inline(always)]
pub fn chunks(len: usize, most: usize) -> impl Iterator<Item = Span> + Clone {
    (0..len).step_by(most).map(move |start| Span { start, len: most.min(len - start) })
}

/// The length of the first part that [`spans`] cuts from an axis of length `left`.
#[inline(always)]
pub fn next_part(left: usize, most: usize, multiple: usize) -> usize {
    if left <= most {
        left
    } else if left / 2 < most {
        (left.div_ceil(2) + multiple - 1) & !(multiple - 1)
    } else {
        most
    }
}
