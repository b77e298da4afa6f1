//! Named arrays, whatever the format of the file that holds them.

use crate::error::Fault;
use crate::layout::Arrays;

/// A file of named arrays, of which the headers are read and checked.
pub(crate) trait Archive {
    /// All that it holds.
    fn arrays(&self) -> &Arrays;

    /// Reads the elements of one of its arrays, little-endian, in row-major order; `to` has as many bytes as these.
    fn read(&mut self, name: &str, to: &mut [u8]) -> Result<(), Fault>;
}
