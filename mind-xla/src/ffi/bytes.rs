//! Elements as their bytes.

use mind_rt::Elements;
use mind_shape::{element_types, match_elements};

/// The bytes of elements, in the order of this machine.
pub fn bytes_of(elements: Elements<'_>) -> &[u8] {
    match_elements!(elements, Elements(elements) => raw(elements))
}

/// A number whose bytes may be any.
pub trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($number:ident $variant:ident;)*) => { $(impl Plain for $number {})* };
}

element_types!(numbers => plain!);

/// The bytes of numbers, to be changed.
pub fn bytes_of_mut<T: Plain>(elements: &mut [T]) -> &mut [u8] {
    let len = size_of_val(elements);
    // SAFETY: these types have no padding, and every value of their bytes is one of theirs; the elements are borrowed as long.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), len) }
}

fn raw<T: Copy>(elements: &[T]) -> &[u8] {
    // SAFETY: the element types that there are have no padding, so that each byte of them is written.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}
