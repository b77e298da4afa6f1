//! A PJRT plugin that runs no programs and fails where a test requests it. The tests in `fake.rs` compile it.
//!
//! - The n-th result of a program is the n-th argument, or the argument that it updates with 1 added to each `f32`.
//! - The version of the platform lists how many objects of each kind are alive.
//! - The option `fail` of a client names the operation that fails.
//! - [`VARIANT`] selects a variant of the plugin, most of which are faulty. The tests overwrite it in the compiled
//!   file.

#[path = "../../../src/ffi/abi.rs"]
#[allow(dead_code, reason = "the plugin answers a part of what there is to call")]
mod abi;

use std::ffi::c_int;
use std::mem::size_of;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use abi::{Function, Head, Opaque, PLACES, FunctionIndex, Start, Text};

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
        let all: [(FunctionIndex, Function); 29] = [
            (FunctionIndex::ErrorDestroy, error_destroy),
            (FunctionIndex::ErrorMessage, error_message),
            (FunctionIndex::ErrorGetCode, error_code),
            (FunctionIndex::PluginInitialize, initialize),
            (FunctionIndex::EventDestroy, event_destroy),
            (FunctionIndex::EventAwait, event_await),
            (FunctionIndex::ClientCreate, client_create),
            (FunctionIndex::ClientDestroy, client_destroy),
            (FunctionIndex::ClientPlatformName, platform_name),
            (FunctionIndex::ClientPlatformVersion, platform_version),
            (FunctionIndex::ClientAddressableDevices, devices),
            (FunctionIndex::ClientCompile, compile),
            (FunctionIndex::ClientBufferFromHostBuffer, buffer_from_host),
            (FunctionIndex::DeviceDescriptionId, device_id),
            (FunctionIndex::DeviceDescriptionKind, device_kind),
            (FunctionIndex::DeviceDescriptionToString, device_kind),
            (FunctionIndex::DeviceGetDescription, device_description),
            (FunctionIndex::DeviceAddressableMemories, no_memories),
            (FunctionIndex::DeviceMemoryStats, no_stats),
            (FunctionIndex::MemoryKind, device_kind),
            (FunctionIndex::MemoryToString, device_kind),
            (FunctionIndex::ExecutableDestroy, executable_destroy),
            (FunctionIndex::ExecutableNumOutputs, executable_outputs),
            (FunctionIndex::LoadedExecutableDestroy, executable_destroy),
            (FunctionIndex::LoadedExecutableGetExecutable, executable_inner),
            (FunctionIndex::LoadedExecutableExecute, execute),
            (FunctionIndex::BufferDestroy, buffer_destroy),
            (FunctionIndex::BufferIsDeleted, buffer_is_deleted),
            (FunctionIndex::BufferToHostBuffer, buffer_to_host),
        ];
        for (place, function) in all {
            functions[place as usize] = Some(function);
        }
        if variant() == b"missing" {
            functions[FunctionIndex::LoadedExecutableExecute as usize] = None;
        }
        let places = if variant() == b"small" { 20 } else { PLACES };
        let head = Head {
            struct_size: size_of::<Head>() + places * size_of::<Function>(),
            extension_start: null_mut(),
            version_size: 24,
            version_extension_start: null_mut(),
            major: c_int::from(variant() == b"major"),
            minor: 7,
        };
        Table { head, functions }
    })
}

static CLIENTS: AtomicI64 = AtomicI64::new(0);
static EXECUTABLES: AtomicI64 = AtomicI64::new(0);
static BUFFERS: AtomicI64 = AtomicI64::new(0);
static EVENTS: AtomicI64 = AtomicI64::new(0);
static ERRORS: AtomicI64 = AtomicI64::new(0);

struct Error {
    code: c_int,
    text: String,
}

struct Client {
    fail: String,
    puts: i64,
    devices: Vec<Opaque>,
}

struct Executable {
    client: Opaque,
    /// For each result, the argument that it copies, and whether the result updates this argument.
    results: Vec<(usize, bool)>,
}

struct Buffer {
    client: Opaque,
    bytes: Vec<u8>,
    is_gone: bool,
}

struct Event {
    fails: bool,
}

fn made<T>(value: T, count: &AtomicI64) -> Opaque {
    count.fetch_add(1, SeqCst);
    Box::into_raw(Box::new(value)).cast()
}

unsafe fn destroyed<T>(object: Opaque, count: &AtomicI64) -> Opaque {
    count.fetch_sub(1, SeqCst);
    drop(unsafe { Box::from_raw(object.cast::<T>()) });
    null_mut()
}

fn error(code: c_int, text: &str) -> Opaque {
    made(Error { code, text: text.into() }, &ERRORS)
}

/// The arguments of a call. Fails if they are smaller than this plugin needs, or not zero after the known arguments.
unsafe fn arguments<A>(given: Opaque) -> Result<&'static mut A, Opaque> {
    let more = if variant() == b"younger" { 4 } else { 0 };
    let size = unsafe { (*given.cast::<Start>()).struct_size };
    if size < size_of::<A>() + more * size_of::<usize>() {
        return Err(error(3, "unexpected size of the arguments"));
    }
    let behind = unsafe { std::slice::from_raw_parts(given.cast::<A>().add(1).cast::<usize>(), more) };
    if behind.iter().any(|word| *word != 0) {
        return Err(error(3, "there is something behind the arguments"));
    }
    Ok(unsafe { &mut *given.cast() })
}

macro_rules! arguments {
    ($given:ident as $ty:ty) => {
        match unsafe { arguments::<$ty>($given) } {
            Ok(arguments) => arguments,
            Err(error) => return error,
        }
    };
}

unsafe extern "C" fn error_destroy(given: Opaque) -> Opaque {
    unsafe { destroyed::<Error>((*given.cast::<abi::Object>()).object, &ERRORS) }
}

unsafe extern "C" fn error_message(given: Opaque) -> Opaque {
    let arguments = unsafe { &mut *given.cast::<abi::Named>() };
    arguments.text = text(unsafe { &(*arguments.object.cast::<Error>()).text });
    null_mut()
}

unsafe extern "C" fn error_code(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Numbered);
    let code = unsafe { (*arguments.object.cast::<Error>()).code };
    arguments.number[..4].copy_from_slice(&code.to_ne_bytes());
    null_mut()
}

fn text(text: &str) -> Text {
    Text { bytes: text.as_ptr().cast(), len: text.len() }
}

unsafe extern "C" fn initialize(given: Opaque) -> Opaque {
    arguments!(given as Start);
    if variant() == b"broken" { error(13, "there is no such hardware") } else { null_mut() }
}

unsafe extern "C" fn event_destroy(given: Opaque) -> Opaque {
    unsafe { destroyed::<Event>((*given.cast::<abi::Object>()).object, &EVENTS) }
}

unsafe extern "C" fn event_await(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Object);
    let fails = unsafe { (*arguments.object.cast::<Event>()).fails };
    if fails { error(13, "the device is lost") } else { null_mut() }
}

unsafe extern "C" fn client_create(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::ClientCreate);
    let (mut fail, mut count) = (String::new(), 1);
    for option in unsafe { std::slice::from_raw_parts(arguments.options, arguments.option_count) } {
        let name = unsafe { std::slice::from_raw_parts(option.name.bytes.cast::<u8>(), option.name.len) };
        match (name, option.kind) {
            (b"fail", abi::STRING) => {
                let at = usize::from_ne_bytes(option.value) as *const u8;
                let value = unsafe { std::slice::from_raw_parts(at, option.value_size) };
                fail = String::from_utf8_lossy(value).into_owned();
            }
            (b"cpu_device_count", abi::INT64) => count = i64::from_ne_bytes(option.value),
            _ => return error(3, "no such option"),
        }
    }
    let devices = (0..count).map(|id| Box::into_raw(Box::new(id as c_int)).cast()).collect();
    arguments.client = made(Client { fail, puts: 0, devices }, &CLIENTS);
    null_mut()
}

unsafe extern "C" fn client_destroy(given: Opaque) -> Opaque {
    let client = unsafe { (*given.cast::<abi::Object>()).object };
    for device in unsafe { &(*client.cast::<Client>()).devices } {
        drop(unsafe { Box::from_raw(device.cast::<c_int>()) });
    }
    unsafe { destroyed::<Client>(client, &CLIENTS) }
}

unsafe extern "C" fn platform_name(given: Opaque) -> Opaque {
    arguments!(given as abi::Named).text = text("fake");
    null_mut()
}

unsafe extern "C" fn platform_version(given: Opaque) -> Opaque {
    let [clients, executables, buffers, events, errors] =
        [&CLIENTS, &EXECUTABLES, &BUFFERS, &EVENTS, &ERRORS].map(|count| count.load(SeqCst));
    let said = format!(
        "clients {clients}, executables {executables}, buffers {buffers}, events {events}, errors {errors}"
    );
    arguments!(given as abi::Named).text = text(said.leak());
    null_mut()
}

unsafe extern "C" fn devices(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Parts);
    let client = unsafe { &*arguments.object.cast::<Client>() };
    arguments.parts = abi::List { items: client.devices.as_ptr(), len: client.devices.len() };
    null_mut()
}

unsafe extern "C" fn device_description(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Object);
    arguments.made = arguments.object;
    null_mut()
}

unsafe extern "C" fn device_id(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Numbered);
    let id = unsafe { *arguments.object.cast::<c_int>() };
    arguments.number[..4].copy_from_slice(&id.to_ne_bytes());
    null_mut()
}

unsafe extern "C" fn device_kind(given: Opaque) -> Opaque {
    arguments!(given as abi::Named).text = text("none");
    null_mut()
}

unsafe extern "C" fn no_memories(given: Opaque) -> Opaque {
    arguments!(given as abi::Parts);
    error(12, "not implemented")
}

unsafe extern "C" fn no_stats(given: Opaque) -> Opaque {
    arguments!(given as abi::MemoryStats);
    error(12, "not implemented")
}

unsafe fn fails(client: Opaque, at: &str) -> bool {
    unsafe { (*client.cast::<Client>()).fail == at }
}

unsafe extern "C" fn compile(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::ClientCompile);
    if unsafe { fails(arguments.client, "compile") } {
        return error(3, "the text is not understood");
    }
    let code = unsafe { (*arguments.program).code };
    let code = unsafe { std::slice::from_raw_parts(code.bytes.cast::<u8>(), code.len) };
    let code = String::from_utf8_lossy(code);
    let main = code.lines().find(|line| line.contains("@main")).unwrap_or_default();
    let (before, behind) = main.split_once(" -> ").unwrap_or_default();
    let mut results: Vec<_> = (0..behind.matches("tensor<").count()).map(|at| (at, false)).collect();
    for (argument, said) in before.split("%arg").skip(1).enumerate() {
        if let Some((_, result)) = said.split_once("tf.aliasing_output = ") {
            let result: usize = result.split(' ').next().and_then(|result| result.parse().ok()).unwrap_or(0);
            results[result] = (argument, true);
        }
    }
    arguments.executable = made(Executable { client: arguments.client, results }, &EXECUTABLES);
    null_mut()
}

unsafe extern "C" fn executable_destroy(given: Opaque) -> Opaque {
    unsafe { destroyed::<Executable>((*given.cast::<abi::Object>()).object, &EXECUTABLES) }
}

unsafe extern "C" fn executable_inner(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Object);
    let executable = unsafe { &*arguments.object.cast::<Executable>() };
    let results = executable.results.clone();
    arguments.made = made(Executable { client: executable.client, results }, &EXECUTABLES);
    null_mut()
}

unsafe extern "C" fn executable_outputs(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Numbered);
    let executable = unsafe { &*arguments.object.cast::<Executable>() };
    let wrong = usize::from(unsafe { fails(executable.client, "results") });
    arguments.number = (executable.results.len() + wrong).to_ne_bytes();
    null_mut()
}

unsafe extern "C" fn buffer_from_host(given: Opaque) -> Opaque {
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
    let bytes = unsafe { std::slice::from_raw_parts(arguments.data.cast::<u8>(), size) }.to_vec();
    arguments.buffer = made(Buffer { client: arguments.client, bytes, is_gone: false }, &BUFFERS);
    arguments.done = made(Event { fails: false }, &EVENTS);
    null_mut()
}

unsafe extern "C" fn execute(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Execute);
    let executable = unsafe { &*arguments.executable.cast::<Executable>() };
    let fails = |at| unsafe { fails(executable.client, at) };
    if fails("execute") {
        return error(13, "the program cannot be started");
    }
    for device in 0..arguments.device_count {
        let list =
            unsafe { std::slice::from_raw_parts(*arguments.arguments.add(device), arguments.argument_count) };
        for (result, (argument, updates)) in executable.results.iter().enumerate() {
            let argument = unsafe { &mut *list[*argument].cast::<Buffer>() };
            if argument.is_gone {
                return error(3, "a buffer is given that is gone");
            }
            argument.is_gone |= *updates;
            if fails("taken") && device > 0 {
                return error(13, "the program was stopped");
            }
            let mut bytes = argument.bytes.clone();
            if *updates {
                for number in bytes.chunks_exact_mut(4) {
                    let value = f32::from_ne_bytes([number[0], number[1], number[2], number[3]]) + 1.0;
                    number.copy_from_slice(&value.to_ne_bytes());
                }
            }
            if fails("taken") {
                continue;
            }
            let made = made(Buffer { client: executable.client, bytes, is_gone: false }, &BUFFERS);
            unsafe { *(*arguments.results.add(device)).add(result) = made };
        }
    }
    for device in 0..arguments.device_count {
        let event = made(Event { fails: fails("event") && device == 1 }, &EVENTS);
        unsafe { *arguments.events.add(device) = event };
    }
    null_mut()
}

unsafe extern "C" fn buffer_destroy(given: Opaque) -> Opaque {
    unsafe { destroyed::<Buffer>((*given.cast::<abi::Object>()).object, &BUFFERS) }
}

unsafe extern "C" fn buffer_is_deleted(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Numbered);
    arguments.number[0] = u8::from(unsafe { (*arguments.object.cast::<Buffer>()).is_gone });
    null_mut()
}

unsafe extern "C" fn buffer_to_host(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::BufferToHost);
    let buffer = unsafe { &*arguments.buffer.cast::<Buffer>() };
    if unsafe { fails(buffer.client, "read") } {
        return error(14, "the device does not answer");
    }
    if arguments.data.is_null() {
        arguments.size = buffer.bytes.len();
        return null_mut();
    }
    unsafe {
        std::ptr::copy_nonoverlapping(buffer.bytes.as_ptr(), arguments.data.cast(), buffer.bytes.len())
    };
    let fails = unsafe { fails(buffer.client, "read event") };
    arguments.event = made(Event { fails }, &EVENTS);
    null_mut()
}
