//! A PJRT plugin that runs no programs and fails where a test requests it. The tests in `fake.rs` compile it.
//!
//! - The n-th result of a program is the n-th argument, or the argument that it updates with 1 added to each `f32`.
//! - The version of the platform lists how many objects of each kind are alive, how many executions have not ended, and
//!   how often an object was destroyed while it was used.
//! - The description of device 0 tells how many executions there were at most at a time, and that of device 1 is the log:
//!   the starts and ends of executions and of copies that go on after their calls.
//! - The option `fail` of a client names the operation that fails.
//! - The option `schedule` has an entry per execution of the client, separated by commas: `ok`, `late MS` for one that
//!   ends after so many milliseconds, `fail MS` for one that fails then, `until LINE` for one that ends after this line
//!   of the log, and `full` for one that finds no memory.
//!   Executions of a client run in order. The failure of one is not told of those that take its results.
//! - The option `copies` has such an entry for each copy to a device that goes on after its call.
//! - The option `version` of a client is the version of the platform.
//! - The variant `traces` has a profiler, whose data is the log. That of the variant `busy` cannot be made.
//! - [`VARIANT`] selects a variant of the plugin, most of which are faulty. The tests overwrite it in the compiled
//!   file.

#[path = "../../../src/ffi/abi.rs"]
#[allow(dead_code, reason = "the plugin answers a part of what there is to call")]
mod abi;
mod schedule;

use std::collections::VecDeque;
use std::ffi::c_int;
use std::mem::size_of;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use abi::{Function, Head, Opaque, PLACES, FunctionIndex, Start, Text};
use schedule::{Completion, Copy, Data, Entry, Log, Wait, Work};

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
        let all: [(FunctionIndex, Function); 34] = [
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

/// An extension that does not differ among plugins.
struct Fixed<T>(T);

unsafe impl<T> Sync for Fixed<T> {}

/// An extension that mind-xla does not know, before the one with the profiler.
static STREAM: Fixed<abi::Extension> = Fixed(abi::Extension {
    struct_size: size_of::<abi::Extension>(),
    kind: 3,
    padding: 0,
    next: (&raw const PROFILER.0).cast(),
});

static PROFILER: Fixed<abi::ProfilerExtension> = Fixed(abi::ProfilerExtension {
    extension: abi::Extension {
        struct_size: size_of::<abi::ProfilerExtension>(),
        kind: abi::PROFILER,
        padding: 0,
        next: std::ptr::null(),
    },
    table: &raw const PROFILER_TABLE.0,
});

static PROFILER_TABLE: Fixed<abi::ProfilerTable> = Fixed(abi::ProfilerTable {
    struct_size: size_of::<abi::ProfilerTable>(),
    private: null_mut(),
    functions: abi::ProfilerFunctions {
        error_destroy: profiler_error_destroy,
        error_message: profiler_error_message,
        error_code: profiler_error_code,
        create: profiler_create,
        destroy: profiler_destroy,
        start: profiler_start,
        stop: profiler_stop,
        collect: profiler_collect,
    },
});

/// A profiler. It counts as an event.
struct Profiler {
    is_running: bool,
    data: Vec<u8>,
}

unsafe extern "C" fn profiler_error_destroy(given: Opaque) {
    unsafe { destroyed::<Error>((*given.cast::<abi::ProfilerError>()).error, &ERRORS) };
}

unsafe extern "C" fn profiler_error_message(given: Opaque) {
    let arguments = unsafe { &mut *given.cast::<abi::ProfilerError>() };
    arguments.message = text(unsafe { &(*arguments.error.cast::<Error>()).text });
}

unsafe extern "C" fn profiler_error_code(given: Opaque) -> Opaque {
    let arguments = unsafe { &mut *given.cast::<abi::ProfilerError>() };
    let code = unsafe { (*arguments.error.cast::<Error>()).code };
    unsafe { (&raw mut arguments.message).cast::<c_int>().write(code) };
    null_mut()
}

unsafe extern "C" fn profiler_create(given: Opaque) -> Opaque {
    let arguments = unsafe { &mut *given.cast::<abi::ProfilerCreate>() };
    let options = unsafe { std::slice::from_raw_parts(arguments.options.bytes.cast::<u8>(), arguments.options.len) };
    if variant() == b"busy" {
        return error(9, "another profiler runs");
    }
    arguments.profiler = made(Profiler { is_running: false, data: options.to_vec() }, &EVENTS);
    null_mut()
}

unsafe fn profiler<'a>(given: Opaque) -> (&'a mut abi::ProfilerCall, &'a mut Profiler) {
    let arguments = unsafe { &mut *given.cast::<abi::ProfilerCall>() };
    let profiler = unsafe { &mut *arguments.profiler.cast::<Profiler>() };
    (arguments, profiler)
}

unsafe extern "C" fn profiler_destroy(given: Opaque) -> Opaque {
    let (arguments, profiler) = unsafe { profiler(given) };
    misused_if(profiler.is_running);
    unsafe { destroyed::<Profiler>(arguments.profiler, &EVENTS) }
}

unsafe extern "C" fn profiler_start(given: Opaque) -> Opaque {
    unsafe { profiler(given) }.1.is_running = true;
    null_mut()
}

unsafe extern "C" fn profiler_stop(given: Opaque) -> Opaque {
    let (_, profiler) = unsafe { profiler(given) };
    misused_if(!profiler.is_running);
    profiler.is_running = false;
    null_mut()
}

/// The data has the log, and counts a zero byte after it, as real plugins do.
unsafe extern "C" fn profiler_collect(given: Opaque) -> Opaque {
    let (arguments, profiler) = unsafe { profiler(given) };
    misused_if(profiler.is_running);
    let log = LOG.text();
    profiler.data = [&[0x0a, log.len() as u8][..], log.as_bytes(), &[0]].concat();
    arguments.data = Text { bytes: profiler.data.as_ptr().cast(), len: profiler.data.len() };
    null_mut()
}

static CLIENTS: AtomicI64 = AtomicI64::new(0);
static EXECUTABLES: AtomicI64 = AtomicI64::new(0);
static BUFFERS: AtomicI64 = AtomicI64::new(0);
static EVENTS: AtomicI64 = AtomicI64::new(0);
static ERRORS: AtomicI64 = AtomicI64::new(0);
static RUNNING: AtomicI64 = AtomicI64::new(0);
static MOST: AtomicI64 = AtomicI64::new(0);
static MISUSES: AtomicI64 = AtomicI64::new(0);
static LOG: Log = Log::new();

struct Error {
    code: c_int,
    text: String,
}

struct Client {
    fail: String,
    version: Option<String>,
    puts: i64,
    devices: Vec<Opaque>,
    schedule: VecDeque<Entry>,
    copies: VecDeque<Entry>,
    /// The numbers of executions, and of copies that go on after their calls.
    counts: [usize; 2],
    /// The end of the last execution.
    last: Arc<Completion>,
    running: Arc<AtomicI64>,
}

struct Executable {
    client: Opaque,
    /// For each result, the argument that it copies, and whether the result updates this argument.
    results: Vec<(usize, bool)>,
    running: Arc<AtomicI64>,
}

struct Buffer {
    client: Opaque,
    data: Arc<Data>,
    is_gone: bool,
}

struct Event {
    completion: Arc<Completion>,
    /// The number of callbacks that were not called yet.
    waiting: Arc<AtomicI64>,
}

fn event(completion: Arc<Completion>) -> Opaque {
    made(Event { completion, waiting: Arc::default() }, &EVENTS)
}

fn misused_if(condition: bool) {
    MISUSES.fetch_add(i64::from(condition), SeqCst);
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
    let event = unsafe { (*given.cast::<abi::Object>()).object };
    misused_if(unsafe { (*event.cast::<Event>()).waiting.load(SeqCst) } > 0);
    unsafe { destroyed::<Event>(event, &EVENTS) }
}

fn failed(failure: Option<&'static str>) -> Opaque {
    failure.map_or(null_mut(), |text| error(13, text))
}

unsafe extern "C" fn event_await(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Object);
    failed(unsafe { &*arguments.object.cast::<Event>() }.completion.wait())
}

unsafe extern "C" fn event_on_ready(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::OnReady);
    let event = unsafe { &*arguments.event.cast::<Event>() };
    if variant() == b"deaf" {
        return error(12, "nobody is told");
    }
    event.waiting.fetch_add(1, SeqCst);
    let (waiting, callback, argument) =
        (event.waiting.clone(), arguments.callback, arguments.argument.expose_provenance());
    event.completion.then(Box::new(move |failure| {
        waiting.fetch_sub(1, SeqCst);
        unsafe { callback(failed(failure), std::ptr::with_exposed_provenance_mut(argument)) };
    }));
    null_mut()
}

unsafe extern "C" fn client_create(given: Opaque) -> Opaque {
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

unsafe extern "C" fn client_destroy(given: Opaque) -> Opaque {
    let client = unsafe { (*given.cast::<abi::Object>()).object };
    misused_if(unsafe { (*client.cast::<Client>()).running.load(SeqCst) } > 0);
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

unsafe extern "C" fn device_text(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Named);
    let said = match unsafe { *arguments.object.cast::<c_int>() } {
        0 => format!("at most {} at a time", MOST.load(SeqCst)),
        _ => LOG.text(),
    };
    arguments.text = text(said.leak());
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
    let executable = Executable { client: arguments.client, results, running: Arc::default() };
    arguments.executable = made(executable, &EXECUTABLES);
    null_mut()
}

const SERIALIZED: &str = "a fake program of ";

unsafe extern "C" fn serialize(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Serialize);
    let executable = unsafe { &*arguments.executable.cast::<Executable>() };
    if unsafe { fails(executable.client, "serialize") } {
        return error(12, "programs of these devices stay here");
    }
    let program: String =
        executable.results.iter().map(|(from, updates)| format!("{from} {},", u8::from(*updates))).collect();
    arguments.owner = made(format!("{SERIALIZED}{program}"), &EXECUTABLES);
    arguments.bytes = text(unsafe { &*arguments.owner.cast::<String>() });
    unsafe extern "C" fn delete(owner: Opaque) {
        unsafe { destroyed::<String>(owner, &EXECUTABLES) };
    }
    arguments.delete = Some(delete);
    null_mut()
}

unsafe extern "C" fn deserialize(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Deserialize);
    if unsafe { fails(arguments.client, "load") } {
        return error(9, "it was compiled for another device");
    }
    let bytes = unsafe { std::slice::from_raw_parts(arguments.bytes.bytes.cast::<u8>(), arguments.bytes.len) };
    let results = str::from_utf8(bytes).ok().and_then(|text| {
        let results = text.strip_prefix(SERIALIZED)?.split_terminator(',').map(|result| {
            let (from, updates) = result.split_once(' ')?;
            Some((from.parse().ok()?, updates == "1"))
        });
        results.collect::<Option<Vec<_>>>()
    });
    // Real plugins run what they load, so damaged bytes must not come here.
    misused_if(results.is_none());
    let Some(results) = results else { return error(15, "it is damaged") };
    let executable = Executable { client: arguments.client, results, running: Arc::default() };
    arguments.executable = made(executable, &EXECUTABLES);
    null_mut()
}

unsafe extern "C" fn program_memory(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::CompiledMemoryStats);
    let executable = unsafe { &*arguments.executable.cast::<Executable>() };
    if unsafe { fails(executable.client, "memory") } {
        return error(13, "nobody counted");
    }
    arguments.on_device = [1, 2, 3, 4, 5];
    arguments.on_host = [6; 5];
    arguments.peak = 7;
    null_mut()
}

unsafe extern "C" fn loaded_destroy(given: Opaque) -> Opaque {
    let executable = unsafe { (*given.cast::<abi::Object>()).object };
    misused_if(unsafe { (*executable.cast::<Executable>()).running.load(SeqCst) } > 0);
    unsafe { destroyed::<Executable>(executable, &EXECUTABLES) }
}

unsafe extern "C" fn executable_destroy(given: Opaque) -> Opaque {
    unsafe { destroyed::<Executable>((*given.cast::<abi::Object>()).object, &EXECUTABLES) }
}

unsafe extern "C" fn executable_inner(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Object);
    let executable = unsafe { &*arguments.object.cast::<Executable>() };
    let Executable { client, results, running } = executable;
    let inner = Executable { client: *client, results: results.clone(), running: running.clone() };
    arguments.made = made(inner, &EXECUTABLES);
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
        let copy = Copy { name, log: &LOG, after, from, to: data, done, failure };
        thread::spawn(move || unsafe { copy.run() });
        return null_mut();
    }
    let bytes = unsafe { std::slice::from_raw_parts(arguments.data.cast::<u8>(), size) }.to_vec();
    let data = Data::new(bytes, Completion::done(None));
    arguments.buffer = made(Buffer { client: arguments.client, data, is_gone: false }, &BUFFERS);
    arguments.done = event(Completion::done(None));
    null_mut()
}

unsafe extern "C" fn execute(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Execute);
    let executable = unsafe { &*arguments.executable.cast::<Executable>() };
    let fails = |at| unsafe { fails(executable.client, at) };
    if fails("execute") {
        return error(13, "the program cannot be started");
    }
    let client = unsafe { &mut *executable.client.cast::<Client>() };
    let (after, is_scheduled_to_fail) = match client.schedule.pop_front() {
        Some(Entry::Full) => return error(8, "out of memory"),
        Some(Entry::Ends { after, fails }) => (after, fails),
        None => (Wait::For(Duration::ZERO), false),
    };
    let count = arguments.device_count;
    let ends = (0..count).map(|device| {
        let lost = fails("event") && device == 1 || is_scheduled_to_fail && device + 1 == count;
        (Arc::new(Completion::default()), lost.then_some("the device is lost"))
    });
    let ends: Vec<_> = ends.collect();
    let (mut all_arguments, mut results) = (Vec::new(), Vec::new());
    for (device, (end, _)) in ends.iter().enumerate() {
        let list =
            unsafe { std::slice::from_raw_parts(*arguments.arguments.add(device), arguments.argument_count) };
        all_arguments.extend(list.iter().map(|argument| unsafe { (*argument.cast::<Buffer>()).data.clone() }));
        for (result, (argument, updates)) in executable.results.iter().enumerate() {
            let argument = unsafe { &mut *list[*argument].cast::<Buffer>() };
            if argument.is_gone {
                return error(3, "a buffer is given that is gone");
            }
            argument.is_gone |= *updates;
            if fails("taken") && device > 0 {
                return error(13, "the program was stopped");
            }
            if fails("taken") {
                continue;
            }
            let size = argument.data.bytes.lock().expect("no thread panics").len();
            let data = Data::new(vec![0; size], end.clone());
            results.push((argument.data.clone(), data.clone(), *updates));
            let made = made(Buffer { client: executable.client, data, is_gone: false }, &BUFFERS);
            unsafe { *(*arguments.results.add(device)).add(result) = made };
        }
    }
    for (device, (end, _)) in ends.iter().enumerate() {
        unsafe { *arguments.events.add(device) = event(end.clone()) };
    }
    let before = std::mem::replace(&mut client.last, Arc::new(Completion::default()));
    MOST.fetch_max(RUNNING.fetch_add(1, SeqCst) + 1, SeqCst);
    let running = [client.running.clone(), executable.running.clone()];
    for running in &running {
        running.fetch_add(1, SeqCst);
    }
    let is_ready = matches!(after, Wait::For(Duration::ZERO))
        && before.is_done()
        && all_arguments.iter().all(|argument| argument.ready.is_done());
    let uncount = Box::new(move || {
        RUNNING.fetch_sub(1, SeqCst);
        for running in &running {
            running.fetch_sub(1, SeqCst);
        }
    });
    client.counts[0] += 1;
    let name = format!("run {}", client.counts[0]);
    let (log, arguments, end) = (&LOG, all_arguments, client.last.clone());
    let work = Work { name, log, before, after, arguments, results, ends, end, uncount };
    if is_ready {
        work.run();
    } else {
        thread::spawn(move || work.run());
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

unsafe extern "C" fn buffer_ready(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Object);
    arguments.made = event(unsafe { &*arguments.object.cast::<Buffer>() }.data.ready.clone());
    null_mut()
}

unsafe extern "C" fn buffer_to_host(given: Opaque) -> Opaque {
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
