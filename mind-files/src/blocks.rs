//! Reads the elements of files block by block, so that they need no memory besides their own.

use std::io::{self, Read};

use crate::error::Fault;

/// A function that receives the elements of an array in pieces. Its arguments are the position in bytes of the piece in
/// the row-major array, and the bytes of contiguous elements, little-endian.
pub type Sink<'a> = &'a mut dyn FnMut(usize, &[u8]);

/// The number of bytes that are read at once. It is a multiple of the size of every element type.
const BLOCK: usize = 1 << 16;

/// Reads `length` bytes and passes each block to `each`, with the number of bytes before it.
///
/// # Errors
/// Errors of `each` and of the system. If there are fewer bytes, the number of bytes that were read.
pub(crate) fn blocks(
    reader: &mut impl Read,
    length: usize,
    mut each: impl FnMut(usize, &mut [u8]) -> Result<(), Fault>,
) -> Result<(), Stopped> {
    let mut block = vec![0; length.min(BLOCK)];
    let mut before = 0;
    while before < length {
        let block = &mut block[..BLOCK.min(length - before)];
        let mut found = 0;
        while found < block.len() {
            match reader.read(&mut block[found..]) {
                Ok(0) => return Err(Stopped::After(before + found)),
                Ok(more) => found += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Stopped::By(Fault::Read(error))),
            }
        }
        each(before, block).map_err(Stopped::By)?;
        before += found;
    }
    Ok(())
}

/// The reason why not all bytes were read.
pub(crate) enum Stopped {
    /// The input ended after this number of bytes.
    After(usize),
    /// Another error.
    By(Fault),
}
