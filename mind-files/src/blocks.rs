//! Elements of files, a block at a time, so that no memory but their own is taken for them.

use std::io::{self, Read};

use crate::error::Fault;

/// What takes the elements of an array: some that lie side by side, little-endian, and at which byte they begin among all of
/// them in row-major order.
pub type Sink<'a> = &'a mut dyn FnMut(usize, &[u8]);

/// The bytes that are read at once: a whole number of elements of any type.
const BLOCK: usize = 1 << 16;

/// Reads so many bytes and gives each block of them to `each`, with the bytes before it.
///
/// # Errors
/// Those of `each` and of the system. If there are fewer bytes, how many there are.
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

/// Why not all bytes were read.
pub(crate) enum Stopped {
    /// There are no more than so many.
    After(usize),
    /// Something else is wrong.
    By(Fault),
}
