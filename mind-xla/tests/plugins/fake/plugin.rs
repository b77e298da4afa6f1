//! A PJRT plugin that runs no programs and fails where a test requests it. The tests in `fake.rs` compile it.
//!
//! - The n-th result of a program is the n-th argument, or the argument that it updates with 1 added to each `f32`.
//! - The version of the platform lists how many objects of each kind are alive, how many executions have not ended, and
//!   how many misuses there were: an object was destroyed while it was used, or two executions had one launch id.
//! - The description of device 0 tells how many executions there were at most at a time, and that of device 1 is the log:
//!   the starts and ends of executions and of copies that go on after their calls.
//! - The option `fail` of a client names the operation that fails.
//! - The option `schedule` has an entry per execution of the client, separated by commas: `ok`, `late MS` for one that
//!   ends after so many milliseconds, `fail MS` for one that fails then, `until LINE` for one that ends after this line
//!   of the log, and `full` for one that finds no memory.
//!   Executions of a client run in order. The failure of one is not told of those that take its results.
//! - The option `copies` has such an entry for each copy to a device that goes on after its call.
//! - A client that is one of several processes exchanges its number of devices with the others by the callbacks, and
//!   each of its executions exchanges its launch id. The option `limit` is the time limit for a key in milliseconds. The option
//!   `keys` is a script of calls of the callbacks before that; the version of the platform then has their results. The
//!   variant `alone` ignores the callbacks.
//! - The option `version` of a client is the version of the platform.
//! - The variant `traces` has a profiler, whose data is the log. That of the variant `busy` cannot be made.
//! - [`VARIANT`] selects a variant of the plugin, most of which are faulty. The tests overwrite it in the compiled
//!   file.

#[path = "../../../src/ffi/abi.rs"]
#[allow(dead_code, reason = "the plugin answers a part of what there is to call")]
mod abi;
mod buffer;
mod client;
mod objects;
mod processes;
mod profiler;
mod program;
mod schedule;

use std::ffi::c_int;
use std::mem::size_of;
use std::ptr::null_mut;
use std::sync::OnceLock;

use abi::{Function, FunctionIndex, Head, Opaque, PLACES, Start};
use buffer::*;
use client::*;
use objects::*;
use profiler::STREAM;
use program::*;

#[unsafe(no_mangle)]
#[used]
pub static VARIANT: [u8; 16] = *b"variant:good....";

fn variant() -> &'static [u8] {
    let all: &'static [u8; 16] = &VARIANT;
    let bytes = std::hint::black_box(all);
    bytes[8..].split(|byte| *byte == b'.').next().unwrap_or_default()
}

#[repr(C)]
pub struct Table {
    head: Head,
    functions: [Option<Function>; PLACES],
}

unsafe impl Sync for Table {}
unsafe impl Send for Table {}

static TABLE: OnceLock<Table> = OnceLock::new();

#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const Table {
    if variant() == b"null" {
        return std::ptr::null();
    }
    TABLE.get_or_init(|| {
        let mut functions: [Option<Function>; PLACES] = [None; PLACES];
        let all: [(FunctionIndex, Function); 37] = [
            (FunctionIndex::ErrorDestroy, error_destroy),
            (FunctionIndex::ErrorMessage, error_message),
            (FunctionIndex::ErrorGetCode, error_code),
            (FunctionIndex::PluginInitialize, initialize),
            (FunctionIndex::EventDestroy, event_destroy),
            (FunctionIndex::EventAwait, event_await),
            (FunctionIndex::EventOnReady, event_on_ready),
            (FunctionIndex::ClientCreate, client_create),
            (FunctionIndex::ClientDestroy, client_destroy),
            (FunctionIndex::ClientPlatformName, platform_name),
            (FunctionIndex::ClientPlatformVersion, platform_version),
            (FunctionIndex::ClientAddressableDevices, devices),
            (FunctionIndex::ClientProcessIndex, process_index),
            (FunctionIndex::ClientDevices, all_devices),
            (FunctionIndex::DeviceDescriptionProcessIndex, device_process),
            (FunctionIndex::ClientCompile, compile),
            (FunctionIndex::ClientBufferFromHostBuffer, buffer_from_host),
            (FunctionIndex::DeviceDescriptionId, device_id),
            (FunctionIndex::DeviceDescriptionKind, device_kind),
            (FunctionIndex::DeviceDescriptionToString, device_text),
            (FunctionIndex::DeviceGetDescription, device_description),
            (FunctionIndex::DeviceAddressableMemories, no_memories),
            (FunctionIndex::DeviceMemoryStats, no_stats),
            (FunctionIndex::MemoryKind, device_kind),
            (FunctionIndex::MemoryToString, device_kind),
            (FunctionIndex::ExecutableDestroy, executable_destroy),
            (FunctionIndex::ExecutableNumOutputs, executable_outputs),
            (FunctionIndex::ExecutableSerialize, serialize),
            (FunctionIndex::ExecutableDeserializeAndLoad, deserialize),
            (FunctionIndex::LoadedExecutableDestroy, loaded_destroy),
            (FunctionIndex::LoadedExecutableGetExecutable, executable_inner),
            (FunctionIndex::LoadedExecutableExecute, execute),
            (FunctionIndex::BufferDestroy, buffer_destroy),
            (FunctionIndex::BufferIsDeleted, buffer_is_deleted),
            (FunctionIndex::BufferToHostBuffer, buffer_to_host),
            (FunctionIndex::BufferReadyEvent, buffer_ready),
            (FunctionIndex::ExecutableGetCompiledMemoryStats, program_memory),
        ];
        for (place, function) in all {
            functions[place as usize] = Some(function);
        }
        if variant() == b"missing" {
            functions[FunctionIndex::LoadedExecutableExecute as usize] = None;
        }
        if variant() == b"nofile" {
            functions[FunctionIndex::ExecutableSerialize as usize] = None;
            functions[FunctionIndex::ExecutableDeserializeAndLoad as usize] = None;
        }
        let places = match variant() {
            b"small" => 20,
            // A plugin from before there were figures of programs' memory.
            b"older" => 73,
            _ => PLACES,
        };
        let head = Head {
            struct_size: size_of::<Head>() + places * size_of::<Function>(),
            extension_start: match variant() {
                b"traces" | b"busy" => (&raw const STREAM.0).cast_mut().cast(),
                _ => null_mut(),
            },
            version_size: 24,
            version_extension_start: null_mut(),
            major: c_int::from(variant() == b"major"),
            minor: 7,
        };
        Table { head, functions }
    })
}

unsafe extern "C" fn initialize(given: Opaque) -> Opaque {
    arguments!(given as Start);
    if variant() == b"broken" { error(13, "there is no such hardware") } else { null_mut() }
}
