//! Clients of the fake plugin, and their devices.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use crate::abi::{self, Opaque};
use crate::objects::{
    BUFFERS, CLIENTS, Client, Device, ERRORS, EVENTS, EXECUTABLES, LOG, MISUSES, MOST, RUNNING, arguments, destroyed, error, made,
    misused_if, text,
};
use crate::processes::{Processes, Refusal};
use crate::schedule::{self, Completion};
use crate::variant;

pub unsafe extern "C" fn client_create(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::ClientCreate);
    let (mut fail, mut schedule, mut copies) = (String::new(), String::new(), String::new());
    let (mut version, mut count) = (None, 1);
    let (mut process, mut process_count, mut limit, mut script) = (0, 1, 20_000, String::new());
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
            (b"node_id", abi::INT64) => process = i64::from_ne_bytes(option.value),
            (b"num_nodes", abi::INT64) => process_count = i64::from_ne_bytes(option.value),
            (b"limit", abi::INT64) => limit = i64::from_ne_bytes(option.value),
            (b"keys", abi::STRING) => script = text(),
            (b"cpu_device_count", abi::INT64) => count = i64::from_ne_bytes(option.value),
            _ => return error(3, "no such option"),
        }
    }
    let processes = match variant() {
        b"alone" => None,
        _ => Processes::new(arguments, process, process_count, limit),
    };
    let said = processes.as_ref().filter(|_| !script.is_empty()).map(|processes| processes.run(&script));
    let counts = processes.as_ref().map(|processes| processes.exchange("devices", &count.to_string()));
    let counts = match counts.transpose() {
        Ok(counts) => counts.unwrap_or_else(|| vec![count.to_string()]),
        Err(Refusal(code, text)) => return error(code, &text),
    };
    let own = if processes.is_some() { process as usize } else { 0 };
    let (mut all, mut local): (Vec<Opaque>, Vec<Opaque>) = (Vec::new(), Vec::new());
    for (process, count) in counts.iter().enumerate() {
        for _ in 0..count.parse::<usize>().expect("it was put as a number") {
            let device = Device { id: all.len() as c_int, process: process as c_int };
            all.push(Box::into_raw(Box::new(device)).cast());
            local.extend(all.last().filter(|_| process == own));
        }
    }
    let devices = [local, all];
    let [schedule, copies] = [schedule, copies].map(|text| schedule::entries(&text));
    let last = Completion::done(None);
    let (counts, running, said) = ([0; 2], Arc::default(), said.unwrap_or_default());
    let client =
        Client { fail, version, puts: 0, devices, processes, said, schedule, copies, counts, last, running };
    arguments.client = made(client, &CLIENTS);
    null_mut()
}

pub unsafe extern "C" fn client_destroy(given: Opaque) -> Opaque {
    let client = unsafe { (*given.cast::<abi::Object>()).object };
    misused_if(unsafe { (*client.cast::<Client>()).running.load(SeqCst) } > 0);
    for device in unsafe { &(*client.cast::<Client>()).devices[1] } {
        drop(unsafe { Box::from_raw(device.cast::<Device>()) });
    }
    unsafe { destroyed::<Client>(client, &CLIENTS) }
}

pub unsafe extern "C" fn platform_name(given: Opaque) -> Opaque {
    arguments!(given as abi::Named).text = text("fake");
    null_mut()
}

pub unsafe extern "C" fn platform_version(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Named);
    let client = unsafe { &*arguments.object.cast::<Client>() };
    if !client.said.is_empty() {
        arguments.text = text(&client.said);
        return null_mut();
    }
    if let Some(version) = &client.version {
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
    listed(given, 0)
}

pub unsafe extern "C" fn all_devices(given: Opaque) -> Opaque {
    listed(given, 1)
}

fn listed(given: Opaque, which: usize) -> Opaque {
    let arguments = arguments!(given as abi::Parts);
    let devices = unsafe { &(*arguments.object.cast::<Client>()).devices[which] };
    arguments.parts = abi::List { items: devices.as_ptr(), len: devices.len() };
    null_mut()
}

pub unsafe extern "C" fn process_index(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Numbered);
    let processes = unsafe { &(*arguments.object.cast::<Client>()).processes };
    let process = processes.as_ref().map_or(0, |processes| processes.process as c_int);
    arguments.number[..4].copy_from_slice(&process.to_ne_bytes());
    null_mut()
}

pub unsafe extern "C" fn device_process(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Numbered);
    let process = unsafe { (*arguments.object.cast::<Device>()).process };
    arguments.number[..4].copy_from_slice(&process.to_ne_bytes());
    null_mut()
}

pub unsafe extern "C" fn device_description(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Object);
    arguments.made = arguments.object;
    null_mut()
}

pub unsafe extern "C" fn device_id(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Numbered);
    let id = unsafe { (*arguments.object.cast::<Device>()).id };
    arguments.number[..4].copy_from_slice(&id.to_ne_bytes());
    null_mut()
}

pub unsafe extern "C" fn device_kind(given: Opaque) -> Opaque {
    arguments!(given as abi::Named).text = text("none");
    null_mut()
}

pub unsafe extern "C" fn device_text(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Named);
    let said = match unsafe { (*arguments.object.cast::<Device>()).id } {
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
