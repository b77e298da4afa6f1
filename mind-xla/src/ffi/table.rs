//! The functions of a plugin, and how they are called.

use std::ffi::{c_char, c_int};
use std::mem::size_of;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use libloading::Library;

use super::abi::{self, Function, FunctionIndex, MAJOR, Opaque, PLACES, ProfilerFunctions, Start, Text};
use crate::error::{Error, Failure, UNIMPLEMENTED};

/// The functions of a plugin.
pub struct Table {
    functions: [Option<Function>; PLACES],
    /// The functions of the plugin's profiler, if it has one.
    pub(super) profiler: Option<ProfilerFunctions>,
    version: (c_int, c_int),
    /// The size and the time of the plugin's file, as text. Empty if the system found the file in another folder.
    pub(super) file: String,
}

/// The addresses of the tables of all initialised plugins. A plugin must be initialised only once.
static INITIALISED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

impl Table {
    /// Opens a library and initialises the plugin in it.
    ///
    /// # Errors
    /// If the library cannot be loaded, is not a plugin, has another version, lacks a function, or fails to initialise.
    pub fn load(path: &Path) -> Result<Arc<Self>, Error> {
        let named = || path.to_owned();
        // SAFETY: a library can run any code when it is loaded. The user names it as a plugin, and so trusts it.
        let library =
            unsafe { Library::new(path) }.map_err(|source| Error::Load { path: named(), source })?;
        // SAFETY: a library that exports this name is a plugin, and the function has this type in the header.
        let found = unsafe { library.get::<unsafe extern "C" fn() -> *const abi::Head>("GetPjrtApi") };
        let get = *found.map_err(|_| Error::NoPlugin { path: named() })?;
        // Never unloads the plugin, since its threads and values may outlive all objects of this crate.
        std::mem::forget(library);
        // SAFETY: the function takes no arguments, and the library stays loaded.
        let head = unsafe { get() };
        if head.is_null() || !head.is_aligned() {
            return Err(Error::NoPlugin { path: named() });
        }
        // SAFETY: the table starts with these fields in every version. The plugin keeps it until the process ends.
        let (size, version) = unsafe { ((*head).struct_size, ((*head).major, (*head).minor)) };
        if version.0 != MAJOR {
            return Err(Error::Version { path: named(), found: version });
        }
        let mut functions = [None; PLACES];
        let held = size.saturating_sub(size_of::<abi::Head>()) / size_of::<Function>();
        // SAFETY: after the head, the table has `held` pointers to functions, each of which may be null.
        let table =
            unsafe { std::slice::from_raw_parts(head.add(1).cast::<Option<Function>>(), held.min(PLACES)) };
        functions[..table.len()].copy_from_slice(table);
        if let Some(place) =
            FunctionIndex::NEEDED.into_iter().find(|place| functions[*place as usize].is_none())
        {
            return Err(Error::Lacks { path: named(), version, function: format!("{place:?}") });
        }
        // SAFETY: the head has the list of extensions in every version.
        let profiler = unsafe { profiler((*head).extension_start) };
        let table = Arc::new(Self { functions, profiler, version, file: described(path) });
        let mut initialised = INITIALISED.lock().unwrap_or_else(PoisonError::into_inner);
        if !initialised.contains(&head.addr()) {
            // SAFETY: the function takes arguments of this type.
            unsafe { table.call(FunctionIndex::PluginInitialize, start::<Start>()) }
                .map_err(Failure::during("initialise itself"))?;
            initialised.push(head.addr());
        }
        Ok(table)
    }

    /// The version of the plugin's interface.
    pub const fn version(&self) -> (i32, i32) {
        self.version
    }

    pub const fn has_profiler(&self) -> bool {
        self.profiler.is_some()
    }

    fn function(&self, place: FunctionIndex) -> Function {
        self.functions[place as usize].expect("loading a table checks that it has every function in use")
    }

    /// Fails if the plugin does not have a function that not every plugin needs.
    pub(super) fn has(&self, place: FunctionIndex) -> Result<(), Failure> {
        let found = self.functions[place as usize].map(|_| ());
        let missing = || Failure { code: UNIMPLEMENTED, text: format!("it lacks the function `{place:?}`") };
        found.ok_or_else(missing)
    }

    /// Calls a function with these arguments, and returns them as the function left them.
    ///
    /// # Errors
    /// If the plugin reports an error.
    ///
    /// # Safety
    /// The function must take arguments of type `A`. `A` must start with [`Start`] and have no padding. The pointers in
    /// the arguments must be valid for what the function does.
    pub(super) unsafe fn call<A>(&self, place: FunctionIndex, arguments: A) -> Result<A, Failure> {
        let mut padded = Padded::new(arguments);
        // SAFETY: the caller promises that the function takes these arguments.
        let error = unsafe { self.function(place)((&raw mut padded).cast()) };
        if error.is_null() { Ok(padded.arguments) } else { Err(self.failure(error)) }
    }

    /// Calls a function on an object, for functions that return nothing.
    ///
    /// # Safety
    /// The function must take only an object, and `object` must be valid for it.
    pub(super) unsafe fn tell(&self, place: FunctionIndex, object: Opaque) -> Result<(), Failure> {
        // SAFETY: the caller promises it.
        unsafe { self.make(place, object) }.map(|_| ())
    }

    /// Calls a function on an object, and returns the object that it returns.
    ///
    /// # Safety
    /// The function must take an object and return at most one object, and `object` must be valid for it.
    pub(super) unsafe fn make(&self, place: FunctionIndex, object: Opaque) -> Result<Opaque, Failure> {
        let arguments = abi::Object { start: start::<abi::Object>(), object, made: ptr::null_mut() };
        // SAFETY: the caller promises it.
        unsafe { self.call(place, arguments) }.map(|arguments| arguments.made)
    }

    /// Calls a function that returns a text of an object.
    ///
    /// # Safety
    /// The function must take an object and return a text, and `object` must be valid for it.
    pub(super) unsafe fn named(&self, place: FunctionIndex, object: Opaque) -> Result<String, Failure> {
        let text = Text { bytes: ptr::null(), len: 0 };
        // SAFETY: the caller promises that the function takes these arguments. The plugin owns the text, which is
        // copied.
        unsafe {
            let arguments = self.call(place, abi::Named { start: start::<abi::Named>(), object, text })?;
            Ok(copied(arguments.text))
        }
    }

    /// Calls a function that returns a number of an object, and returns the bytes of the number.
    ///
    /// # Safety
    /// The function must take an object and return a number, and `object` must be valid for it.
    pub(super) unsafe fn number(&self, place: FunctionIndex, object: Opaque) -> Result<[u8; 8], Failure> {
        let arguments = abi::Numbered { start: start::<abi::Numbered>(), object, number: [0; 8] };
        // SAFETY: the caller promises that the function takes these arguments.
        unsafe { self.call(place, arguments) }.map(|arguments| arguments.number)
    }

    /// Calls a function that lists the objects that belong to an object.
    ///
    /// # Safety
    /// The function must take an object and return a list of objects, and `object` must be valid for it.
    pub(super) unsafe fn parts(&self, place: FunctionIndex, object: Opaque) -> Result<Vec<Opaque>, Failure> {
        let parts = abi::List { items: ptr::null(), len: 0 };
        // SAFETY: the caller promises that the function takes these arguments. The plugin owns the list, which is
        // copied.
        unsafe {
            let abi::List { items, len } =
                self.call(place, abi::Parts { start: start::<abi::Parts>(), object, parts })?.parts;
            Ok(if len == 0 { Vec::new() } else { std::slice::from_raw_parts(items, len).to_vec() })
        }
    }

    /// Reads the message and the code of an error, and destroys the error.
    pub(super) fn failure(&self, error: Opaque) -> Failure {
        let text = Text { bytes: ptr::null(), len: 0 };
        let mut message = Padded::new(abi::Named { start: start::<abi::Named>(), object: error, text });
        // SAFETY: the error belongs to the plugin and is not yet destroyed. The two functions with another type return
        // nothing.
        unsafe {
            let [tell, destroy] = [FunctionIndex::ErrorMessage, FunctionIndex::ErrorDestroy].map(|place| {
                std::mem::transmute::<Function, unsafe extern "C" fn(Opaque)>(self.function(place))
            });
            tell((&raw mut message).cast());
            let text = copied(message.arguments.text);
            let mut code =
                Padded::new(abi::Numbered { start: start::<abi::Numbered>(), object: error, number: [0; 8] });
            let second = self.function(FunctionIndex::ErrorGetCode)((&raw mut code).cast());
            for error in [error, second].into_iter().filter(|error| !error.is_null()) {
                let made = ptr::null_mut();
                let mut gone =
                    Padded::new(abi::Object { start: start::<abi::Object>(), object: error, made });
                destroy((&raw mut gone).cast());
            }
            Failure { code: int(code.arguments.number), text }
        }
    }

    /// Waits for an event, and destroys it.
    ///
    /// # Safety
    /// The event must be an event of the plugin that is not yet destroyed, or null.
    pub(super) unsafe fn wait(&self, event: Opaque) -> Result<(), Failure> {
        if event.is_null() {
            return Ok(());
        }
        // SAFETY: the caller promises that the event is valid. Nothing uses it after the second call.
        unsafe {
            let waited = self.tell(FunctionIndex::EventAwait, event);
            self.tell(FunctionIndex::EventDestroy, event).and(waited)
        }
    }
}

/// The functions of the profiler in a list of extensions.
///
/// # Safety
/// The list must be that of a plugin, which is valid until the process ends.
unsafe fn profiler(list: Opaque) -> Option<ProfilerFunctions> {
    let mut extension = list.cast::<abi::Extension>().cast_const();
    // SAFETY: each item starts with these fields, and the item of this kind has a table. The table is null, or has these
    // functions if it is large enough.
    unsafe {
        while !extension.is_null() && (*extension).kind != abi::PROFILER {
            extension = (*extension).next;
        }
        if extension.is_null() || (*extension).struct_size < size_of::<abi::ProfilerExtension>() {
            return None;
        }
        let table = (*extension.cast::<abi::ProfilerExtension>()).table;
        let has_all = !table.is_null() && (*table).struct_size >= size_of::<abi::ProfilerTable>();
        has_all.then(|| (*table).functions)
    }
}

/// The number of words after the known arguments. Newer plugins have more arguments, and take 0 for an argument that is
/// not given.
const TAIL: usize = 16;

/// Arguments, followed by zeros.
#[repr(C)]
pub(super) struct Padded<A> {
    pub(super) arguments: A,
    tail: [usize; TAIL],
}

impl<A> Padded<A> {
    pub(super) fn new(arguments: A) -> Self {
        Self { arguments, tail: [0; TAIL] }
    }
}

/// The first fields of arguments that [`Padded`] holds.
pub(super) const fn start<A>() -> Start {
    Start { struct_size: size_of::<Padded<A>>(), extension_start: ptr::null_mut() }
}

pub(super) fn borrowed(bytes: &[u8]) -> Text {
    Text { bytes: bytes.as_ptr().cast::<c_char>(), len: bytes.len() }
}

/// Copies a text of the plugin.
///
/// # Safety
/// The text must have `len` readable bytes.
pub(super) unsafe fn copied(text: Text) -> String {
    // SAFETY: the caller promises it.
    String::from_utf8_lossy(&unsafe { copied_bytes(text) }).into_owned()
}

/// Copies bytes of the plugin.
///
/// # Safety
/// The text must have `len` readable bytes.
pub(super) unsafe fn copied_bytes(text: Text) -> Vec<u8> {
    if text.len == 0 {
        return Vec::new();
    }
    // SAFETY: the caller promises it.
    unsafe { std::slice::from_raw_parts(text.bytes.cast::<u8>(), text.len) }.to_vec()
}

/// The size and the time of a file, as text. Empty if it is not found.
fn described(path: &Path) -> String {
    let found = std::fs::metadata(path).ok().and_then(|file| Some((file.len(), file.modified().ok()?)));
    found.map_or_else(String::new, |(size, time)| format!("{size} bytes of {time:?}"))
}

/// The `int` in the first four bytes.
pub(super) fn int(bytes: [u8; 8]) -> i32 {
    let [a, b, c, d, ..] = bytes;
    i32::from_ne_bytes([a, b, c, d])
}
