//! Elements on a device.

use std::ptr;
use std::rc::Rc;

use super::abi::{self, FunctionIndex, Opaque};
use super::client::Client;
use super::table::{Padded, start};
use crate::error::Failure;

/// Elements on a device.
pub struct Buffer {
    client: Rc<Client>,
    buffer: Opaque,
}

impl Buffer {
    /// Takes ownership of a buffer.
    ///
    /// # Safety
    /// The buffer must be one of the client, which nothing else owns.
    pub(super) unsafe fn new(client: &Rc<Client>, buffer: Opaque) -> Self {
        Self { client: client.clone(), buffer }
    }

    /// The buffer, as an argument of the plugin's functions.
    pub(super) const fn object(&self) -> Opaque {
        self.buffer
    }

    /// Whether a run took the memory of the buffer.
    pub fn is_gone(&self) -> Result<bool, Failure> {
        // SAFETY: the function takes a buffer, and `self.buffer` is a buffer.
        let number = unsafe { self.client.table.number(FunctionIndex::BufferIsDeleted, self.buffer) }?;
        Ok(number[0] != 0)
    }

    /// Copies the elements, with `rank` dimensions, to `bytes` in row-major order. Fails unless `bytes` has their size.
    pub fn read(&self, rank: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        let order: Vec<i64> = (0..rank).rev().map(|axis| axis as i64).collect();
        let tiled = start::<abi::Layout>();
        let layout = Padded::new(abi::Layout {
            start: tiled,
            start_of_tiled: tiled,
            minor_to_major: order.as_ptr(),
            rank,
            tiles: [0; 3],
            kind: abi::TILED,
            padding: 0,
        });
        let mut arguments = abi::BufferToHost {
            start: start::<abi::BufferToHost>(),
            buffer: self.buffer,
            layout: &raw const layout.arguments,
            data: ptr::null_mut(),
            size: 0,
            event: ptr::null_mut(),
        };
        let table = &self.client.table;
        // SAFETY: the function takes these arguments. The layout lives until it returns. As `data` is null, it only
        // returns the size of the elements.
        let size = unsafe { table.call(FunctionIndex::BufferToHostBuffer, arguments) }?.size;
        if size != bytes.len() {
            let text = format!("it has {size} bytes on a device, needed {}", bytes.len());
            return Err(Failure { code: 0, text });
        }
        (arguments.data, arguments.size) = (bytes.as_mut_ptr().cast(), bytes.len());
        // SAFETY: as above. It writes at most `size` bytes before the event, which is awaited here.
        unsafe { table.wait(table.call(FunctionIndex::BufferToHostBuffer, arguments)?.event) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the buffer is destroyed once, before its client. A drop cannot return an error.
        let _ = unsafe { self.client.table.tell(FunctionIndex::BufferDestroy, self.buffer) };
    }
}
