//! A safe interface to the PJRT C API. All unsafe code of the crate is in this module.
//!
//! The code relies on these promises of the interface:
//!
//! - A library that exports `GetPjrtApi`, with a table of this version, is a plugin.
//! - The functions of a plugin behave as the header says.
//! - The objects of a plugin live until they are destroyed.
//!
//! One Rust value owns each object, and destroys it on drop. It keeps the object's parent alive by a shared pointer.

#![allow(unsafe_code, reason = "the functions of a plugin are those of C")]

pub mod abi;
mod bytes;
mod step;

pub use bytes::{Plain, bytes_of, bytes_of_mut};
pub use step::{Step, StepFailure};

use std::cell::RefCell;
use std::ffi::{c_char, c_int};
use std::mem::size_of;
use std::path::Path;
use std::ptr;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use libloading::Library;

use crate::device::{ClientOption, Memory, MemoryStats, ProgramMemory};
use crate::error::{Error, Failure, UNIMPLEMENTED};
use step::Queue;

use abi::{Function, FunctionIndex, MAJOR, Opaque, PLACES, Start, Text};

/// The number of words after the known arguments. Newer plugins have more arguments, and take 0 for an argument that is
/// not given.
const TAIL: usize = 16;

/// Arguments, followed by zeros.
#[repr(C)]
struct Padded<A> {
    arguments: A,
    tail: [usize; TAIL],
}

impl<A> Padded<A> {
    fn new(arguments: A) -> Self {
        Self { arguments, tail: [0; TAIL] }
    }
}

/// The first fields of arguments that [`Padded`] holds.
const fn start<A>() -> Start {
    Start { struct_size: size_of::<Padded<A>>(), extension_start: ptr::null_mut() }
}

/// The functions of a plugin.
pub struct Table {
    functions: [Option<Function>; PLACES],
    version: (c_int, c_int),
    /// The size and the time of the plugin's file, as text. Empty if the system found the file in another folder.
    file: String,
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
        let table = Arc::new(Self { functions, version, file: described(path) });
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

    fn function(&self, place: FunctionIndex) -> Function {
        self.functions[place as usize].expect("loading a table checks that it has every function in use")
    }

    /// Fails if the plugin does not have a function that not every plugin needs.
    fn has(&self, place: FunctionIndex) -> Result<(), Failure> {
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
    unsafe fn call<A>(&self, place: FunctionIndex, arguments: A) -> Result<A, Failure> {
        let mut padded = Padded::new(arguments);
        // SAFETY: the caller promises that the function takes these arguments.
        let error = unsafe { self.function(place)((&raw mut padded).cast()) };
        if error.is_null() { Ok(padded.arguments) } else { Err(self.failure(error)) }
    }

    /// Calls a function on an object, for functions that return nothing.
    ///
    /// # Safety
    /// The function must take only an object, and `object` must be valid for it.
    unsafe fn tell(&self, place: FunctionIndex, object: Opaque) -> Result<(), Failure> {
        // SAFETY: the caller promises it.
        unsafe { self.make(place, object) }.map(|_| ())
    }

    /// Calls a function on an object, and returns the object that it returns.
    ///
    /// # Safety
    /// The function must take an object and return at most one object, and `object` must be valid for it.
    unsafe fn make(&self, place: FunctionIndex, object: Opaque) -> Result<Opaque, Failure> {
        let arguments = abi::Object { start: start::<abi::Object>(), object, made: ptr::null_mut() };
        // SAFETY: the caller promises it.
        unsafe { self.call(place, arguments) }.map(|arguments| arguments.made)
    }

    /// Calls a function that returns a text of an object.
    ///
    /// # Safety
    /// The function must take an object and return a text, and `object` must be valid for it.
    unsafe fn named(&self, place: FunctionIndex, object: Opaque) -> Result<String, Failure> {
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
    unsafe fn number(&self, place: FunctionIndex, object: Opaque) -> Result<[u8; 8], Failure> {
        let arguments = abi::Numbered { start: start::<abi::Numbered>(), object, number: [0; 8] };
        // SAFETY: the caller promises that the function takes these arguments.
        unsafe { self.call(place, arguments) }.map(|arguments| arguments.number)
    }

    /// Calls a function that lists the objects that belong to an object.
    ///
    /// # Safety
    /// The function must take an object and return a list of objects, and `object` must be valid for it.
    unsafe fn parts(&self, place: FunctionIndex, object: Opaque) -> Result<Vec<Opaque>, Failure> {
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
    fn failure(&self, error: Opaque) -> Failure {
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
    unsafe fn wait(&self, event: Opaque) -> Result<(), Failure> {
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

/// A client of a plugin.
pub struct Client {
    table: Arc<Table>,
    client: Opaque,
    devices: Vec<Opaque>,
    queue: RefCell<Queue>,
}

/// The number of runs in flight unless another is set.
const STEPS_IN_FLIGHT: usize = 2;

impl Client {
    pub fn new(table: &Arc<Table>, options: &[(&str, ClientOption)]) -> Result<Self, Failure> {
        let values: Vec<_> = options.iter().map(|(name, value)| named_value(name, value)).collect();
        let arguments = abi::ClientCreate {
            start: start::<abi::ClientCreate>(),
            options: values.as_ptr(),
            option_count: values.len(),
            key_value: [ptr::null_mut(); 4],
            client: ptr::null_mut(),
            key_value_try: [ptr::null_mut(); 2],
        };
        // SAFETY: the function takes these arguments. The names and values of options live until it returns.
        let client = unsafe { table.call(FunctionIndex::ClientCreate, arguments) }?.client;
        let queue = RefCell::new(Queue::new(STEPS_IN_FLIGHT));
        let mut client = Self { table: table.clone(), client, devices: Vec::new(), queue };
        // SAFETY: the function lists the devices of a client, and `client.client` is a client.
        client.devices =
            unsafe { client.table.parts(FunctionIndex::ClientAddressableDevices, client.client) }?;
        Ok(client)
    }

    pub fn platform(&self) -> Result<[String; 2], Failure> {
        // SAFETY: the functions return texts of a client, and `self.client` is a client.
        unsafe {
            Ok([
                self.table.named(FunctionIndex::ClientPlatformName, self.client)?,
                self.table.named(FunctionIndex::ClientPlatformVersion, self.client)?,
            ])
        }
    }

    /// The version of the plugin's interface.
    pub fn version(&self) -> (i32, i32) {
        self.table.version
    }

    /// Sets the number of runs in flight, at least 1.
    pub fn set_steps_in_flight(&self, steps: usize) {
        self.queue.borrow_mut().set_limit(steps);
    }

    /// Waits until another run may start.
    pub fn make_room(&self) {
        self.queue.borrow_mut().make_room();
    }

    /// Takes note of the runs that have ended, without waiting.
    pub fn collect(&self) {
        self.queue.borrow_mut().collect();
    }

    /// Waits for the end of a run.
    pub fn wait_for(&self, step: &Step) -> Result<(), StepFailure> {
        self.queue.borrow_mut().wait_for(step);
        step.failure().cloned().map_or(Ok(()), Err)
    }

    /// A text that changes with the plugin's file.
    pub fn plugin_file(&self) -> &str {
        &self.table.file
    }

    pub fn device_count(&self) -> usize {
        self.devices.len()
    }

    /// The number, kind and description of a device.
    pub fn device(&self, device: usize) -> Result<(i32, [String; 2]), Failure> {
        let table = &self.table;
        // SAFETY: the client is alive, and it owns the device and its description. The functions take these objects.
        unsafe {
            let description = table.make(FunctionIndex::DeviceGetDescription, self.devices[device])?;
            let id = int(table.number(FunctionIndex::DeviceDescriptionId, description)?);
            let kind = table.named(FunctionIndex::DeviceDescriptionKind, description)?;
            Ok((id, [kind, table.named(FunctionIndex::DeviceDescriptionToString, description)?]))
        }
    }

    pub fn memories(&self, device: usize) -> Result<Vec<Memory>, Failure> {
        let table = &self.table;
        // SAFETY: the client is alive, and it owns the device and its memories. The functions take these objects.
        unsafe {
            let memories = table.parts(FunctionIndex::DeviceAddressableMemories, self.devices[device])?;
            let memories = memories.into_iter().map(|memory| {
                let kind = table.named(FunctionIndex::MemoryKind, memory)?;
                Ok(Memory { kind, description: table.named(FunctionIndex::MemoryToString, memory)? })
            });
            memories.collect()
        }
    }

    pub fn memory_stats(&self, device: usize) -> Result<MemoryStats, Failure> {
        let none = abi::Optional { number: 0, is_set: [0; 8] };
        let device = self.devices[device];
        let arguments =
            abi::MemoryStats { start: start::<abi::MemoryStats>(), device, in_use: 0, more: [none; 10] };
        // SAFETY: the function takes these arguments. The client is alive, and it owns the device.
        let stats = unsafe { self.table.call(FunctionIndex::DeviceMemoryStats, arguments) }?;
        let [peak, .., limit] = &stats.more[..=abi::LIMIT] else { unreachable!("four were taken of ten") };
        let known = |optional: &abi::Optional| (optional.is_set[0] != 0).then_some(optional.number);
        Ok(MemoryStats { in_use: stats.in_use, peak: known(peak), limit: known(limit) })
    }

    pub fn compile(self: &Rc<Self>, text: &str, options: &[u8]) -> Result<Executable, Failure> {
        let program = Padded::new(abi::Program {
            start: start::<abi::Program>(),
            code: borrowed(text.as_bytes()),
            format: borrowed(b"mlir"),
        });
        let arguments = abi::ClientCompile {
            start: start::<abi::ClientCompile>(),
            client: self.client,
            program: &raw const program.arguments,
            options: borrowed(options),
            executable: ptr::null_mut(),
        };
        // SAFETY: the function takes these arguments. It only reads the text and the options, which live until it
        // returns. Nothing else owns the executable.
        unsafe {
            let executable = self.table.call(FunctionIndex::ClientCompile, arguments)?.executable;
            Executable::new(self, executable)
        }
    }

    /// Loads a program that [`Executable::serialize`] wrote.
    pub fn load(self: &Rc<Self>, bytes: &[u8]) -> Result<Executable, Failure> {
        self.table.has(FunctionIndex::ExecutableDeserializeAndLoad)?;
        let arguments = abi::Deserialize {
            start: start::<abi::Deserialize>(),
            client: self.client,
            bytes: borrowed(bytes),
            executable: ptr::null_mut(),
            options: Text { bytes: ptr::null(), len: 0 },
        };
        // SAFETY: the function takes these arguments. It only reads the bytes, which live until it returns. Nothing
        // else owns the executable.
        unsafe {
            let arguments = self.table.call(FunctionIndex::ExecutableDeserializeAndLoad, arguments)?;
            Executable::new(self, arguments.executable)
        }
    }

    /// Copies elements to a device. `bytes` must have the size that `extents` and the element type give.
    pub fn buffer(
        self: &Rc<Self>,
        device: usize,
        element: i32,
        extents: &[i64],
        bytes: &[u8],
    ) -> Result<Buffer, Failure> {
        let arguments = abi::BufferFromHost {
            start: start::<abi::BufferFromHost>(),
            client: self.client,
            data: bytes.as_ptr().cast(),
            element,
            padding: 0,
            dims: extents.as_ptr(),
            rank: extents.len(),
            byte_strides: ptr::null(),
            byte_stride_count: 0,
            semantics: abi::ONLY_DURING_CALL,
            padding_of_semantics: 0,
            device: self.devices[device],
            memory: ptr::null_mut(),
            layout: ptr::null_mut(),
            done: ptr::null_mut(),
            buffer: ptr::null_mut(),
        };
        // SAFETY: the function takes these arguments. It reads the bytes only until it returns, and the caller passes
        // as many as it reads. The device belongs to the client. Nothing else owns the buffer and the event that it
        // returns.
        unsafe {
            let arguments = self.table.call(FunctionIndex::ClientBufferFromHostBuffer, arguments)?;
            let buffer = Buffer { client: self.clone(), buffer: arguments.buffer };
            self.table.wait(arguments.done)?;
            Ok(buffer)
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.queue.borrow_mut().wait_for_all();
        // SAFETY: the client is destroyed once, after its executables and buffers, which keep it alive, and after the
        // ends of all runs. A drop cannot return an error.
        let _ = unsafe { self.table.tell(FunctionIndex::ClientDestroy, self.client) };
    }
}

/// A program that a client compiled.
pub struct Executable {
    client: Rc<Client>,
    executable: Opaque,
    results: usize,
}

impl Executable {
    /// Takes ownership of an executable, and counts its results.
    ///
    /// # Safety
    /// The executable must be one of the client, which nothing else owns.
    unsafe fn new(client: &Rc<Client>, executable: Opaque) -> Result<Self, Failure> {
        let mut executable = Self { client: client.clone(), executable, results: 0 };
        // SAFETY: the function takes an executable of this kind.
        let results = executable
            .with_inner(|inner| unsafe { client.table.number(FunctionIndex::ExecutableNumOutputs, inner) })?;
        executable.results = usize::from_ne_bytes(results);
        Ok(executable)
    }

    /// Passes the part of the executable that is independent of devices to a function, and destroys it afterwards.
    fn with_inner<T>(&self, action: impl FnOnce(Opaque) -> Result<T, Failure>) -> Result<T, Failure> {
        let table = &self.client.table;
        // SAFETY: the function takes a loaded executable.
        let inner = unsafe { table.make(FunctionIndex::LoadedExecutableGetExecutable, self.executable) }?;
        let done = action(inner);
        // SAFETY: `inner` is destroyed once, after its use.
        unsafe { table.tell(FunctionIndex::ExecutableDestroy, inner) }?;
        done
    }

    /// The program as bytes, which [`Client::load`] reads.
    pub fn serialize(&self) -> Result<Vec<u8>, Failure> {
        let table = &self.client.table;
        table.has(FunctionIndex::ExecutableSerialize)?;
        self.with_inner(|executable| {
            let arguments = abi::Serialize {
                start: start::<abi::Serialize>(),
                executable,
                bytes: Text { bytes: ptr::null(), len: 0 },
                owner: ptr::null_mut(),
                delete: None,
            };
            // SAFETY: the function takes these arguments. The bytes live until their owner is deleted, which happens
            // once, after they are copied.
            unsafe {
                let abi::Serialize { bytes, owner, delete, .. } =
                    table.call(FunctionIndex::ExecutableSerialize, arguments)?;
                let copied = copied_bytes(bytes);
                if let Some(delete) = delete {
                    delete(owner);
                }
                Ok(copied)
            }
        })
    }

    /// The memory that the program needs on a device.
    pub fn memory(&self) -> Result<ProgramMemory, Failure> {
        let place = FunctionIndex::ExecutableGetCompiledMemoryStats;
        self.client.table.has(place)?;
        self.with_inner(|executable| {
            let arguments = abi::CompiledMemoryStats {
                start: start::<abi::CompiledMemoryStats>(),
                executable,
                on_device: [0; 5],
                on_host: [0; 5],
                peak: 0,
            };
            // SAFETY: the function takes these arguments.
            let stats = unsafe { self.client.table.call(place, arguments) }?;
            let [code, arguments, results, reused, temporaries] = stats.on_device;
            let peak = (stats.peak > 0).then_some(stats.peak);
            Ok(ProgramMemory { code, arguments, results, reused, temporaries, peak })
        })
    }

    /// The number of results.
    pub const fn results(&self) -> usize {
        self.results
    }

    /// Starts the program. Takes a list of arguments and returns a list of results per device. The results are there
    /// once the run has ended. `earlier` are the runs whose results are among the arguments.
    pub fn start(
        &self,
        arguments: &[Vec<&Buffer>],
        mut earlier: Vec<Rc<Step>>,
    ) -> Result<(Vec<Vec<Buffer>>, Rc<Step>), Failure> {
        let table = &self.client.table;
        let count = arguments.first().map_or(0, Vec::len);
        assert!(
            arguments.iter().all(|list| list.len() == count),
            "all devices have the same number of arguments"
        );
        let lists = arguments.iter().map(|list| list.iter().map(|buffer| buffer.buffer).collect());
        let lists: Vec<Vec<Opaque>> = lists.collect();
        let argument_lists: Vec<*const Opaque> = lists.iter().map(Vec::as_ptr).collect();
        let mut results = vec![vec![ptr::null_mut(); self.results]; arguments.len()];
        let result_lists: Vec<*mut Opaque> = results.iter_mut().map(Vec::as_mut_ptr).collect();
        let mut events = vec![ptr::null_mut(); arguments.len()];
        let mut options = Padded::new(abi::ExecuteOptions {
            start: start::<abi::ExecuteOptions>(),
            callbacks: [ptr::null_mut(); 2],
            callback_counts: [0; 2],
            launch: 0,
            padding: 0,
            kept: ptr::null(),
            kept_count: 0,
            context: ptr::null_mut(),
            call_location: ptr::null(),
            task_count: 0,
            tasks: [ptr::null_mut(); 2],
        });
        let execute = abi::Execute {
            start: start::<abi::Execute>(),
            executable: self.executable,
            options: (&raw mut options).cast(),
            arguments: argument_lists.as_ptr(),
            device_count: arguments.len(),
            argument_count: count,
            results: result_lists.as_ptr(),
            events: events.as_mut_ptr(),
            device: ptr::null_mut(),
        };
        // SAFETY: the function takes these arguments. For each device, it reads a list of live buffers, and writes
        // `self.results` results and one event. All lists live until it returns.
        let ran = unsafe { table.call(FunctionIndex::LoadedExecutableExecute, execute) };
        // Takes ownership of all results first, so that a later error does not leak them.
        let own = |buffer: &Opaque| Buffer { client: self.client.clone(), buffer: *buffer };
        let results =
            results.iter().map(|list| list.iter().filter(|buffer| !buffer.is_null()).map(own).collect());
        let results: Vec<Vec<Buffer>> = results.collect();
        ran?;
        earlier.retain(|step| !step.has_ended());
        // SAFETY: a successful call returned these events, and nothing else owns them.
        let step = Rc::new(unsafe { Step::new(table, self.executable, events, earlier) });
        self.client.queue.borrow_mut().push(step.clone());
        if results.iter().any(|list| list.len() != self.results) {
            return Err(Failure { code: 0, text: "it gave no buffer for a result".into() });
        }
        Ok((results, step))
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        self.client.queue.borrow_mut().wait_for_all_of(self.executable);
        // SAFETY: the executable is destroyed once, before its client and after its runs. A drop cannot return an error.
        let _ = unsafe { self.client.table.tell(FunctionIndex::LoadedExecutableDestroy, self.executable) };
    }
}

/// Elements on a device.
pub struct Buffer {
    client: Rc<Client>,
    buffer: Opaque,
}

impl Buffer {
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

fn named_value(name: &str, value: &ClientOption) -> abi::NamedValue {
    let mut bytes = [0; 8];
    let (kind, value_size) = match value {
        ClientOption::Text(text) => {
            bytes = text.as_ptr().expose_provenance().to_ne_bytes();
            (abi::STRING, text.len())
        }
        ClientOption::Int(number) => {
            bytes = number.to_ne_bytes();
            (abi::INT64, 1)
        }
        ClientOption::Float(number) => {
            bytes[..4].copy_from_slice(&number.to_ne_bytes());
            (abi::FLOAT, 1)
        }
        ClientOption::Bool(truth) => {
            bytes[0] = u8::from(*truth);
            (abi::BOOL, 1)
        }
    };
    // An option is an item of an array, so it has the exact size of the header, without zeros after it.
    let start = Start { struct_size: size_of::<abi::NamedValue>(), extension_start: ptr::null_mut() };
    abi::NamedValue { start, name: borrowed(name.as_bytes()), kind, padding: 0, value: bytes, value_size }
}

fn borrowed(bytes: &[u8]) -> Text {
    Text { bytes: bytes.as_ptr().cast::<c_char>(), len: bytes.len() }
}

/// Copies a text of the plugin.
///
/// # Safety
/// The text must have `len` readable bytes.
unsafe fn copied(text: Text) -> String {
    // SAFETY: the caller promises it.
    String::from_utf8_lossy(&unsafe { copied_bytes(text) }).into_owned()
}

/// Copies bytes of the plugin.
///
/// # Safety
/// The text must have `len` readable bytes.
unsafe fn copied_bytes(text: Text) -> Vec<u8> {
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
fn int(bytes: [u8; 8]) -> i32 {
    let [a, b, c, d, ..] = bytes;
    i32::from_ne_bytes([a, b, c, d])
}
