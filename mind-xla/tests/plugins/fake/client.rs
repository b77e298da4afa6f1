//! Clients of the fake plugin, and their devices.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use crate::abi::{self, Opaque};
use crate::objects::{
    BUFFERS, CLIENTS, Client, ERRORS, EVENTS, EXECUTABLES, LOG, MISUSES, MOST, RUNNING, arguments, destroyed, error, made,
    misused_if, text,
};
use crate::schedule::{self, Completion};

pub unsafe extern "C" fn client_create(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::ClientCreate);
    let (mut fail, mut schedule, mut copies) = (String::new(), String::new(), String::new());
    let (mut version, mut count) = (None, 1);
    for option in unsafe { std::slice::from_raw_parts(arguments.options, arguments.option_count) } {
        let name = unsafe { std::slice::from_raw_parts(option.name.bytes.cast::<u8>(), option.name.len) };
        let text = || {
            let at = usize::from_ne_bytes(option.value) as *const u8;
            let value = unsafe { std::slice::from_raw_parts(at, option.value_size) };
            String::from_utf8_lossy(value).into_owned()
        };
        match (name, option.kind) {
            (b"fail", abi::STRING) => fail = text(),
            (b"schedule", abi::STRING) => schedule = text(),
            (b"copies", abi::STRING) => copies = text(),
            (b"version", abi::STRING) => version = Some(text()),
            (b"cpu_device_count", abi::INT64) => count = i64::from_ne_bytes(option.value),
            _ => return error(3, "no such option"),
        }
    }
    let devices = (0..count).map(|id| Box::into_raw(Box::new(id as c_int)).cast()).collect();
    let [schedule, copies] = [schedule, copies].map(|text| schedule::entries(&text));
    let last = Completion::done(None);
    let counts = [0; 2];
    let client =
        Client { fail, version, puts: 0, devices, schedule, copies, counts, last, running: Arc::default() };
    arguments.client = made(client, &CLIENTS);
    null_mut()
}

pub unsafe extern "C" fn client_destroy(given: Opaque) -> Opaque {
    let client = unsafe { (*given.cast::<abi::Object>()).object };
    misused_if(unsafe { (*client.cast::<Client>()).running.load(SeqCst) } > 0);
    for device in unsafe { &(*client.cast::<Client>()).devices } {
        drop(unsafe { Box::from_raw(device.cast::<c_int>()) });
    }
    unsafe { destroyed::<Client>(client, &CLIENTS) }
}

pub unsafe extern "C" fn platform_name(given: Opaque) -> Opaque {
    arguments!(given as abi::Named).text = text("fake");
    null_mut()
}

pub unsafe extern "C" fn platform_version(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Named);
    if let Some(version) = unsafe { &(*arguments.object.cast::<Client>()).version } {
        arguments.text = text(version);
        return null_mut();
    }
    let [clients, executables, buffers, events, errors, running, misuses] =
        [&CLIENTS, &EXECUTABLES, &BUFFERS, &EVENTS, &ERRORS, &RUNNING, &MISUSES].map(|count| count.load(SeqCst));
    let said = format!(
        "clients {clients}, executables {executables}, buffers {buffers}, events {events}, errors {errors}, \
         running {running}, misuses {misuses}"
    );
    arguments.text = text(said.leak());
    null_mut()
}

pub unsafe extern "C" fn devices(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Parts);
    let client = unsafe { &*arguments.object.cast::<Client>() };
    arguments.parts = abi::List { items: client.devices.as_ptr(), len: client.devices.len() };
    null_mut()
}

pub unsafe extern "C" fn device_description(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Object);
    arguments.made = arguments.object;
    null_mut()
}

pub unsafe extern "C" fn device_id(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Numbered);
    let id = unsafe { *arguments.object.cast::<c_int>() };
    arguments.number[..4].copy_from_slice(&id.to_ne_bytes());
    null_mut()
}

pub unsafe extern "C" fn device_kind(given: Opaque) -> Opaque {
    arguments!(given as abi::Named).text = text("none");
    null_mut()
}

pub unsafe extern "C" fn device_text(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Named);
    let said = match unsafe { *arguments.object.cast::<c_int>() } {
        0 => format!("at most {} at a time", MOST.load(SeqCst)),
        _ => LOG.text(),
    };
    arguments.text = text(said.leak());
    null_mut()
}

pub unsafe extern "C" fn no_memories(given: Opaque) -> Opaque {
    arguments!(given as abi::Parts);
    error(12, "not implemented")
}

pub unsafe extern "C" fn no_stats(given: Opaque) -> Opaque {
    arguments!(given as abi::MemoryStats);
    error(12, "not implemented")
}
