//! Copies to devices that were started.

use std::any::Any;
use std::mem;
use std::ptr;
use std::rc::Rc;

use super::abi::{FunctionIndex, Opaque};
use super::buffer::Buffer;
use super::client::Client;
use crate::error::Failure;

/// A copy of elements to a device that was started. Dropping it waits until the plugin no longer reads the elements.
pub struct Transfer {
    // This is dropped before the buffer.
    source: Source,
    buffer: Buffer,
}

/// The elements of a copy in host memory.
struct Source {
    client: Rc<Client>,
    /// The event after which the plugin no longer reads the elements. Null once it was awaited.
    done: Opaque,
    /// Keeps the elements alive.
    _owner: Box<dyn Any>,
}

impl Transfer {
    /// A copy that was started.
    ///
    /// # Safety
    /// `done` must be an event of the client's plugin that nothing else owns, or null. The plugin must read only memory
    /// that `owner` keeps alive and unchanged, and only until the event.
    pub(super) unsafe fn new(client: &Rc<Client>, buffer: Buffer, done: Opaque, owner: Box<dyn Any>) -> Self {
        Self { source: Source { client: client.clone(), done, _owner: owner }, buffer }
    }

    /// Waits for the end of the copy, and returns the elements on the device.
    pub fn finish(self) -> Result<Buffer, Failure> {
        let Self { mut source, buffer } = self;
        source.wait()?;
        // SAFETY: the function takes a buffer and returns an event, which is awaited once.
        unsafe {
            let table = &source.client.table;
            table.wait(table.make(FunctionIndex::BufferReadyEvent, buffer.object())?)?;
        }
        Ok(buffer)
    }
}

impl Source {
    /// Waits until the plugin no longer reads the elements.
    fn wait(&mut self) -> Result<(), Failure> {
        // SAFETY: nothing else owns the event, and it is awaited once.
        unsafe { self.client.table.wait(mem::replace(&mut self.done, ptr::null_mut())) }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // There is nothing to do about an error.
        let _ = self.wait();
    }
}
