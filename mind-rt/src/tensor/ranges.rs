//! The ranges by which tensors are sliced.

use std::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::element::Element;
use crate::error::describe;
use crate::shape::Shape;
use crate::tensor::storage::TensorRef;

/// Ranges for `R` axes: a tuple of Rust ranges, or a single range. Sealed.
pub trait Ranges<const R: usize>: sealed::Ranges {
    #[doc(hidden)]
    fn bounds(self) -> [(Bound<usize>, Bound<usize>); R];
}

mod sealed {
    /// Marks the types that may be [`Ranges`](super::Ranges).
    pub trait Ranges {}
}

fn owned(range: impl RangeBounds<usize>) -> (Bound<usize>, Bound<usize>) {
    (range.start_bound().cloned(), range.end_bound().cloned())
}

macro_rules! single {
    ($($range:ty),*) => {
        $(
            impl sealed::Ranges for $range {}

            impl Ranges<1> for $range {
                fn bounds(self) -> [(Bound<usize>, Bound<usize>); 1] {
                    [owned(self)]
                }
            }
        )*
    };
}

single!(
    Range<usize>,
    RangeFrom<usize>,
    RangeFull,
    RangeInclusive<usize>,
    RangeTo<usize>,
    RangeToInclusive<usize>
);

macro_rules! several {
    ($($rank:literal: $($range:ident)*;)*) => {
        $(
            impl<$($range: RangeBounds<usize>),*> sealed::Ranges for ($($range,)*) {}

            #[allow(non_snake_case, reason = "the names bind values as well as types")]
            impl<$($range: RangeBounds<usize>),*> Ranges<$rank> for ($($range,)*) {
                fn bounds(self) -> [(Bound<usize>, Bound<usize>); $rank] {
                    let ($($range,)*) = self;
                    [$(owned($range)),*]
                }
            }
        )*
    };
}

several! {
    1: A;
    2: A B;
    3: A B C;
    4: A B C D;
    5: A B C D E;
    6: A B C D E F;
    7: A B C D E F G;
    8: A B C D E F G H;
}

/// The range within an axis of this extent. Panics if a bound is outside the axis or the range ends before it begins.
#[track_caller]
pub(super) fn within<T: Element, S: Shape>(
    start: Bound<usize>,
    end: Bound<usize>,
    axis: usize,
    extent: usize,
    x: &TensorRef<T, S>,
) -> Range<usize> {
    let start = match start {
        Bound::Included(start) => start,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match end {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => end,
        Bound::Unbounded => extent,
    };
    let x = || describe(T::DTYPE, &x.shape().dims());
    if start.max(end) > extent {
        let bound = if end > extent { end } else { start };
        panic!("E3011: `slice`: bound {bound} is outside dimension {axis} of extent {extent}: x is {}", x());
    }
    if start > end {
        panic!("E3011: `slice`: {start}..{end} of dimension {axis} ends before it starts: x is {}", x());
    }
    start..end
}
