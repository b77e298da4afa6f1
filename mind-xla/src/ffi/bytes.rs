//! Views of elements as bytes.

use mind_rt::Elements;
use mind_shape::{element_types, match_elements};

/// The bytes of elements, in native byte order.
pub fn bytes_of(elements: Elements<'_>) -> &[u8] {
    match_elements!(elements, Elements(elements) => raw(elements))
}

/// A number type for which every pattern of bytes is a valid value.
pub trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($number:ident $variant:ident;)*) => { $(impl Plain for $number {})* };
}

element_types!(numbers => plain!);

/// The bytes of numbers, as a mutable slice.
pub fn bytes_of_mut<T: Plain>(elements: &mut [T]) -> &mut [u8] {
    let len = size_of_val(elements);
    // SAFETY: a `Plain` type has no padding, and every pattern of bytes is valid for it. The result borrows the
    // elements.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), len) }
}

fn raw<T: Copy>(elements: &[T]) -> &[u8] {
    // SAFETY: no element type has padding, so all bytes are initialised.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}
