//! Buffers of the fake plugin, and copies from and to the host.

use std::ptr::null_mut;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::abi::{self, Opaque};
use crate::objects::{BUFFERS, Buffer, Client, LOG, arguments, destroyed, error, event, fails, made, misused_if};
use crate::schedule::{Completion, Copy, Data, Entry, Wait};

pub unsafe extern "C" fn buffer_from_host(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::BufferFromHost);
    let client = unsafe { &mut *arguments.client.cast::<Client>() };
    client.puts += 1;
    if client.fail.strip_prefix("put ").is_some_and(|at| at.parse() == Ok(client.puts)) {
        return error(8, "out of memory");
    }
    let dims = unsafe { std::slice::from_raw_parts(arguments.dims, arguments.rank) };
    let item = match arguments.element {
        1 => 1,
        4 | 11 => 4,
        _ => 8,
    };
    let size = dims.iter().product::<i64>() as usize * item;
    if arguments.semantics == abi::UNTIL_TRANSFER_COMPLETES {
        let (after, fails) = match client.copies.pop_front() {
            Some(Entry::Full) => return error(8, "out of memory"),
            Some(Entry::Ends { after, fails }) => (after, fails),
            None => (Wait::For(Duration::ZERO), false),
        };
        client.counts[1] += 1;
        let name = format!("copy {}", client.counts[1]);
        LOG.write(format!("{name} starts"));
        let data = Data::new(vec![0; size], Arc::default());
        let done = Arc::new(Completion::default());
        arguments.buffer =
            made(Buffer { client: arguments.client, data: data.clone(), is_gone: false }, &BUFFERS);
        arguments.done = event(done.clone());
        let (from, failure) =
            ((arguments.data.expose_provenance(), size), fails.then_some("the bus is broken"));
        let first = unsafe { std::slice::from_raw_parts(arguments.data.cast::<u8>(), size) }.to_vec();
        let copy = Copy { name, log: &LOG, after, from, first, to: data, done, failure, misused_if };
        thread::spawn(move || unsafe { copy.run() });
        return null_mut();
    }
    let bytes = unsafe { std::slice::from_raw_parts(arguments.data.cast::<u8>(), size) }.to_vec();
    let data = Data::new(bytes, Completion::done(None));
    arguments.buffer = made(Buffer { client: arguments.client, data, is_gone: false }, &BUFFERS);
    arguments.done = event(Completion::done(None));
    null_mut()
}

pub unsafe extern "C" fn buffer_destroy(given: Opaque) -> Opaque {
    unsafe { destroyed::<Buffer>((*given.cast::<abi::Object>()).object, &BUFFERS) }
}

pub unsafe extern "C" fn buffer_is_deleted(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Numbered);
    arguments.number[0] = u8::from(unsafe { (*arguments.object.cast::<Buffer>()).is_gone });
    null_mut()
}

pub unsafe extern "C" fn buffer_ready(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Object);
    arguments.made = event(unsafe { &*arguments.object.cast::<Buffer>() }.data.ready.clone());
    null_mut()
}

pub unsafe extern "C" fn buffer_to_host(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::BufferToHost);
    let buffer = unsafe { &*arguments.buffer.cast::<Buffer>() };
    if unsafe { fails(buffer.client, "read") } {
        return error(14, "the device does not answer");
    }
    let data = buffer.data.clone();
    if arguments.data.is_null() {
        arguments.size = data.bytes.lock().expect("no thread panics").len();
        return null_mut();
    }
    let failure = unsafe { fails(buffer.client, "read event") }.then_some("the device is lost");
    let (done, to) = (Arc::new(Completion::default()), arguments.data.expose_provenance());
    arguments.event = event(done.clone());
    // As in a real plugin, the elements are written after the call.
    thread::spawn(move || {
        data.ready.wait();
        let bytes = data.bytes.lock().expect("no thread panics");
        let to = std::ptr::with_exposed_provenance_mut::<u8>(to);
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        done.end(failure);
    });
    null_mut()
}
