//! Truth values in files: one byte each, 0 or 1.

use crate::error::Fault;
use crate::layout::Layout;

/// Checks some elements of an array in the order of the file. The array begins at byte `begin` of the file, and the
/// elements after `before` bytes of the array. For numbers all bytes are valid.
///
/// # Errors
/// The first element that is not a truth value, with its place.
pub(crate) fn check(
    layout: &Layout,
    is_fortran: bool,
    begin: u64,
    before: usize,
    elements: &[u8],
) -> Result<(), Fault> {
    if layout.dtype != "bool" {
        return Ok(());
    }
    let Some(wrong) = elements.iter().position(|byte| *byte > 1) else { return Ok(()) };
    let (found, position) = (elements[wrong], before + wrong);
    let (mut index, mut rest) = (vec![0; layout.dims.len()], position);
    let mut place = |(index, extent): (&mut usize, &usize)| {
        *index = rest % extent;
        rest /= extent;
    };
    let axes = index.iter_mut().zip(&layout.dims);
    if is_fortran {
        axes.for_each(&mut place)
    } else {
        axes.rev().for_each(&mut place)
    }
    let at = begin + position as u64;
    let message = format!("the bool at index {index:?} is {found} (byte {at}), needed 0 or 1");
    Err(Fault::Malformed(message))
}
