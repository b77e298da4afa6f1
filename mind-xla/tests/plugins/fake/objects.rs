//! The objects of the fake plugin, their counts, its errors and its events.

use std::ffi::c_int;
use std::mem::size_of;
use std::ptr::null_mut;
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use crate::abi::{self, Opaque, Start, Text};
use crate::processes::Processes;
use crate::schedule::{Completion, Data, Entry, Log};
use crate::variant;

pub static CLIENTS: AtomicI64 = AtomicI64::new(0);
pub static EXECUTABLES: AtomicI64 = AtomicI64::new(0);
pub static BUFFERS: AtomicI64 = AtomicI64::new(0);
pub static EVENTS: AtomicI64 = AtomicI64::new(0);
pub static ERRORS: AtomicI64 = AtomicI64::new(0);
pub static RUNNING: AtomicI64 = AtomicI64::new(0);
pub static MOST: AtomicI64 = AtomicI64::new(0);
pub static MISUSES: AtomicI64 = AtomicI64::new(0);
/// The launch ids of all executions.
pub static LAUNCHES: Mutex<BTreeSet<c_int>> = Mutex::new(BTreeSet::new());
pub static LOG: Log = Log::new();

pub struct Error {
    pub code: c_int,
    pub text: String,
}

pub struct Client {
    pub fail: String,
    pub version: Option<String>,
    pub puts: i64,
    /// The devices of this process, and those of all processes.
    pub devices: [Vec<Opaque>; 2],
    pub processes: Option<Processes>,
    /// What the callbacks gave for the script.
    pub said: String,
    pub schedule: VecDeque<Entry>,
    pub copies: VecDeque<Entry>,
    /// The numbers of executions, and of copies that go on after their calls.
    pub counts: [usize; 2],
    /// The end of the last execution.
    pub last: Arc<Completion>,
    pub running: Arc<AtomicI64>,
}

pub struct Device {
    pub id: c_int,
    pub process: c_int,
}

pub struct Executable {
    pub client: Opaque,
    /// For each result, the argument that it copies, and whether the result updates this argument.
    pub results: Vec<(usize, bool)>,
    pub running: Arc<AtomicI64>,
}

pub struct Buffer {
    pub client: Opaque,
    pub data: Arc<Data>,
    pub is_gone: bool,
}

pub struct Event {
    pub completion: Arc<Completion>,
    /// The number of callbacks that were not called yet.
    pub waiting: Arc<AtomicI64>,
}

pub fn event(completion: Arc<Completion>) -> Opaque {
    made(Event { completion, waiting: Arc::default() }, &EVENTS)
}

pub fn misused_if(condition: bool) {
    MISUSES.fetch_add(i64::from(condition), SeqCst);
}

pub fn made<T>(value: T, count: &AtomicI64) -> Opaque {
    count.fetch_add(1, SeqCst);
    Box::into_raw(Box::new(value)).cast()
}

pub unsafe fn destroyed<T>(object: Opaque, count: &AtomicI64) -> Opaque {
    count.fetch_sub(1, SeqCst);
    drop(unsafe { Box::from_raw(object.cast::<T>()) });
    null_mut()
}

pub fn error(code: c_int, text: &str) -> Opaque {
    made(Error { code, text: text.into() }, &ERRORS)
}

/// The arguments of a call. Fails if they are smaller than this plugin needs, or not zero after the known arguments.
pub unsafe fn checked_arguments<A>(given: Opaque) -> Result<&'static mut A, Opaque> {
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

/// The arguments of a call, or returns their error.
macro_rules! arguments {
    ($given:ident as $ty:ty) => {
        match unsafe { $crate::objects::checked_arguments::<$ty>($given) } {
            Ok(arguments) => arguments,
            Err(error) => return error,
        }
    };
}

pub(crate) use arguments;

pub unsafe extern "C" fn error_destroy(given: Opaque) -> Opaque {
    unsafe { destroyed::<Error>((*given.cast::<abi::Object>()).object, &ERRORS) }
}

pub unsafe extern "C" fn error_message(given: Opaque) -> Opaque {
    let arguments = unsafe { &mut *given.cast::<abi::Named>() };
    arguments.text = text(unsafe { &(*arguments.object.cast::<Error>()).text });
    null_mut()
}

pub unsafe extern "C" fn error_code(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Numbered);
    let code = unsafe { (*arguments.object.cast::<Error>()).code };
    arguments.number[..4].copy_from_slice(&code.to_ne_bytes());
    null_mut()
}

pub fn text(text: &str) -> Text {
    Text { bytes: text.as_ptr().cast(), len: text.len() }
}

pub unsafe extern "C" fn event_destroy(given: Opaque) -> Opaque {
    let event = unsafe { (*given.cast::<abi::Object>()).object };
    misused_if(unsafe { (*event.cast::<Event>()).waiting.load(SeqCst) } > 0);
    unsafe { destroyed::<Event>(event, &EVENTS) }
}

pub fn failed(failure: Option<&'static str>) -> Opaque {
    failure.map_or(null_mut(), |text| error(13, text))
}

pub unsafe extern "C" fn event_await(given: Opaque) -> Opaque {
    let arguments = arguments!(given as abi::Object);
    failed(unsafe { &*arguments.object.cast::<Event>() }.completion.wait())
}

pub unsafe extern "C" fn event_on_ready(given: Opaque) -> Opaque {
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

pub unsafe fn fails(client: Opaque, at: &str) -> bool {
    unsafe { (*client.cast::<Client>()).fail == at }
}
