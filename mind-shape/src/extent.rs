//! Rules for single extents and for lists of axes. The rules for whole shapes and the compiler use them.

/// The extent to which two extents broadcast: equal extents stay, and 1 becomes the other extent. `None` if they do not
/// broadcast.
///
/// ```
/// assert_eq!(mind_shape::broadcast_extent(3, 1), Some(3));
/// assert_eq!(mind_shape::broadcast_extent(3, 4), None);
/// ```
pub const fn broadcast_extent(lhs: i64, rhs: i64) -> Option<i64> {
    if lhs == rhs || rhs == 1 {
        Some(lhs)
    } else if lhs == 1 {
        Some(rhs)
    } else {
        None
    }
}

/// A fault in a list of axes or a permutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisFault {
    /// The list does not have one entry per axis.
    Length,
    /// This axis is negative or not below the rank.
    OutOfRange(i64),
    /// This axis occurs twice.
    Duplicate(i64),
}

/// Checks that every axis is in `0..rank` and occurs once. Returns the first fault from the left, out of range before
/// duplicate.
///
/// ```
/// use mind_shape::{AxisFault, check_axes};
/// assert_eq!(check_axes(&[0, 2], 3), Ok(()));
/// assert_eq!(check_axes(&[0, 3], 3), Err(AxisFault::OutOfRange(3)));
/// assert_eq!(check_axes(&[1, 1], 3), Err(AxisFault::Duplicate(1)));
/// ```
pub const fn check_axes(axes: &[i64], rank: usize) -> Result<(), AxisFault> {
    let mut i = 0;
    while i < axes.len() {
        if axes[i] < 0 || axes[i] as u64 >= rank as u64 {
            return Err(AxisFault::OutOfRange(axes[i]));
        }
        let mut j = 0;
        while j < i {
            if axes[j] == axes[i] {
                return Err(AxisFault::Duplicate(axes[i]));
            }
            j += 1;
        }
        i += 1;
    }
    Ok(())
}

/// Checks that the list has every axis of `0..rank` exactly once.
///
/// ```
/// use mind_shape::{AxisFault, check_permutation};
/// assert_eq!(check_permutation(&[2, 0, 1], 3), Ok(()));
/// assert_eq!(check_permutation(&[1, 0], 3), Err(AxisFault::Length));
/// ```
pub const fn check_permutation(permutation: &[i64], rank: usize) -> Result<(), AxisFault> {
    if permutation.len() != rank {
        return Err(AxisFault::Length);
    }
    check_axes(permutation, rank)
}

/// A fault in the bounds of a slice along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceFault {
    /// The step is below 1.
    Step,
    /// The start is below 0 or above the extent.
    Start,
    /// The end is below 0 or above the extent.
    End,
    /// The start is not below the end.
    Empty,
}

/// The extent of `start..end` in steps of `step`: `ceil((end - start) / step)`.
///
/// ```
/// use mind_shape::{SliceFault, slice_extent};
/// assert_eq!(slice_extent(10, 1, 8, 3), Ok(3));
/// assert_eq!(slice_extent(10, 1, 11, 3), Err(SliceFault::End));
/// ```
pub const fn slice_extent(extent: i64, start: i64, end: i64, step: i64) -> Result<i64, SliceFault> {
    if step < 1 {
        Err(SliceFault::Step)
    } else if start < 0 || start > extent {
        Err(SliceFault::Start)
    } else if end < 0 || end > extent {
        Err(SliceFault::End)
    } else if start >= end {
        Err(SliceFault::Empty)
    } else {
        // Rounds up without `+ step - 1`, which could overflow.
        Ok((end - start - 1) / step + 1)
    }
}

/// The extent from the first to the last element of a window of `size` elements at a distance of `dilation`:
/// `(size - 1) * dilation + 1`. `None` on overflow.
///
/// ```
/// assert_eq!(mind_shape::window_span(3, 2), Some(5));
/// ```
pub const fn window_span(size: i64, dilation: i64) -> Option<i64> {
    match size.saturating_sub(1).checked_mul(dilation) {
        Some(last) => last.checked_add(1),
        None => None,
    }
}

/// The number of positions of a window of `kernel` elements that moves by `stride` over `extent` elements, with
/// `before` and `after` zeros around them: `floor((extent + before + after - kernel) / stride) + 1`. The number is
/// below 1 if the window does not fit. `None` on overflow or for a stride below 1.
///
/// ```
/// assert_eq!(mind_shape::window_extent(28, 3, 2, 0, 0), Some(13));
/// assert_eq!(mind_shape::window_extent(2, 5, 1, 0, 0), Some(-2));
/// ```
pub const fn window_extent(extent: i64, kernel: i64, stride: i64, before: i64, after: i64) -> Option<i64> {
    if stride < 1 {
        return None;
    }
    let Some(padded) = extent.checked_add(before) else { return None };
    let Some(padded) = padded.checked_add(after) else { return None };
    let Some(room) = padded.checked_sub(kernel) else { return None };
    room.div_euclid(stride).checked_add(1)
}

/// The zeros before and after an axis with which the number of window positions is `ceil(extent / stride)`. An odd zero
/// goes after the axis. `None` on overflow or for an extent or stride below 1.
///
/// ```
/// assert_eq!(mind_shape::same_padding(28, 3, 1), Some((1, 1)));
/// assert_eq!(mind_shape::same_padding(28, 3, 2), Some((0, 1)));
/// ```
pub const fn same_padding(extent: i64, kernel: i64, stride: i64) -> Option<(i64, i64)> {
    let Some(positions) = same_extent(extent, stride) else { return None };
    let Some(reach) = (positions - 1).checked_mul(stride) else { return None };
    let Some(needed) = reach.checked_add(kernel) else { return None };
    let total = if needed > extent { needed - extent } else { 0 };
    Some((total / 2, total - total / 2))
}

/// The number of window positions under `same` padding: `ceil(extent / stride)`. `None` if a number is below 1.
pub const fn same_extent(extent: i64, stride: i64) -> Option<i64> {
    if extent < 1 || stride < 1 { None } else { Some((extent - 1) / stride + 1) }
}

/// The number of elements of a shape; `None` if it exceeds 64 bits.
///
/// ```
/// assert_eq!(mind_shape::element_count(&[2, 3, 4]), Some(24));
/// assert_eq!(mind_shape::element_count(&[i64::MAX, 2]), None);
/// ```
pub const fn element_count(extents: &[i64]) -> Option<i64> {
    let (mut count, mut i) = (1i64, 0);
    while i < extents.len() {
        match count.checked_mul(extents[i]) {
            Some(product) => count = product,
            None => return None,
        }
        i += 1;
    }
    Some(count)
}
