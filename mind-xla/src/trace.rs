//! Traces of what devices did.

use std::fmt;

use crate::error::{Error, Failure};
use crate::ffi;

/// A trace that was started by [`Plugin::trace`](crate::Plugin::trace). Dropping it stops it.
pub struct Trace(pub(crate) ffi::Trace);

impl Trace {
    /// Stops the trace, and returns its events as a message `XSpace`. Programs that are in flight may be cut.
    ///
    /// Tools such as TensorBoard with XProf read it from a file `plugins/profile/RUN/HOST.xplane.pb` below their folder.
    ///
    /// # Errors
    /// If the plugin reports an error.
    pub fn stop(self) -> Result<Vec<u8>, Error> {
        let mut bytes = self.0.stop().map_err(Failure::during("stop a trace"))?;
        bytes.truncate(message_size(&bytes));
        Ok(bytes)
    }
}

/// The size of a message `XSpace`. Plugins may count a zero byte after it, which readers of the format refuse. All fields
/// of the message have a length.
fn message_size(bytes: &[u8]) -> usize {
    let mut at = 0;
    while bytes.get(at).is_some_and(|tag| *tag != 0) {
        at += 1;
        let (mut size, mut shift) = (0_usize, 0);
        while let Some(byte) = bytes.get(at) {
            at += 1;
            size |= usize::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if *byte < 0x80 {
                break;
            }
        }
        at = at.saturating_add(size);
    }
    at.min(bytes.len())
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_byte_after_a_message_does_not_count() {
        // The message that the plugin for CUDA of jax 0.10.2 gives without a GPU.
        let message = b"\n\x10\x12\x0e/host:metadata\0";
        assert_eq!(message_size(message), message.len() - 1);
        assert_eq!(message_size(&message[..18]), 18);
        let long = [&[0x0a, 0xac, 2][..], &[0; 300], &[0x12, 1, 0], &[0]].concat();
        assert_eq!(message_size(&long), long.len() - 1);
    }

    #[test]
    fn a_message_that_is_cut_is_left_as_it_is() {
        assert_eq!((message_size(&[]), message_size(&[0x0a]), message_size(&[0x0a, 9, 1])), (0, 1, 3));
        assert_eq!(message_size(&[0xff; 40]), 40);
    }
}
