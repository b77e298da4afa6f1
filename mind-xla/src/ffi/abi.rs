//! The declarations of the PJRT C API that this crate uses: version 0, from `pjrt_c_api.h` of OpenXLA.
//!
//! No structure has implicit padding, so all bytes are initialised. Newer plugins may read fields where older headers
//! have padding.

use std::ffi::{c_char, c_int, c_void};

/// The major version of the interface.
pub const MAJOR: c_int = 0;

/// A pointer to a value that only the plugin accesses.
pub type Opaque = *mut c_void;

/// The start of a plugin's table of functions.
#[repr(C)]
pub struct Head {
    pub struct_size: usize,
    pub extension_start: Opaque,
    pub version_size: usize,
    pub version_extension_start: Opaque,
    pub major: c_int,
    pub minor: c_int,
}

/// The type of the functions in the table, except for two that return nothing.
pub type Function = unsafe extern "C" fn(Opaque) -> Opaque;

/// The functions that this crate calls, with their indices in the table after its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum FunctionIndex {
    ErrorDestroy = 0,
    ErrorMessage = 1,
    ErrorGetCode = 2,
    PluginInitialize = 3,
    EventDestroy = 5,
    EventAwait = 8,
    EventOnReady = 9,
    ClientCreate = 10,
    ClientDestroy = 11,
    ClientPlatformName = 12,
    ClientProcessIndex = 13,
    ClientPlatformVersion = 14,
    ClientDevices = 15,
    ClientAddressableDevices = 16,
    ClientCompile = 20,
    ClientBufferFromHostBuffer = 22,
    DeviceDescriptionId = 23,
    DeviceDescriptionProcessIndex = 24,
    DeviceDescriptionKind = 26,
    DeviceDescriptionToString = 28,
    DeviceGetDescription = 29,
    DeviceAddressableMemories = 32,
    DeviceMemoryStats = 34,
    MemoryKind = 36,
    MemoryToString = 38,
    ExecutableDestroy = 40,
    ExecutableNumOutputs = 44,
    ExecutableSerialize = 49,
    LoadedExecutableDestroy = 50,
    LoadedExecutableGetExecutable = 51,
    LoadedExecutableExecute = 55,
    ExecutableDeserializeAndLoad = 56,
    BufferDestroy = 58,
    BufferIsDeleted = 68,
    BufferToHostBuffer = 70,
    BufferReadyEvent = 72,
    ExecutableGetCompiledMemoryStats = 96,
}

/// One more than the largest index.
pub const PLACES: usize = 97;

impl FunctionIndex {
    /// The functions that every plugin needs. The others are for programs in files, for their memory, and for several
    /// processes.
    pub const NEEDED: [Self; 31] = [
        Self::ErrorDestroy,
        Self::ErrorMessage,
        Self::ErrorGetCode,
        Self::PluginInitialize,
        Self::EventDestroy,
        Self::EventAwait,
        Self::EventOnReady,
        Self::ClientCreate,
        Self::ClientDestroy,
        Self::ClientPlatformName,
        Self::ClientPlatformVersion,
        Self::ClientAddressableDevices,
        Self::ClientCompile,
        Self::ClientBufferFromHostBuffer,
        Self::DeviceDescriptionId,
        Self::DeviceDescriptionKind,
        Self::DeviceDescriptionToString,
        Self::DeviceGetDescription,
        Self::DeviceAddressableMemories,
        Self::DeviceMemoryStats,
        Self::MemoryKind,
        Self::MemoryToString,
        Self::ExecutableDestroy,
        Self::ExecutableNumOutputs,
        Self::LoadedExecutableDestroy,
        Self::LoadedExecutableGetExecutable,
        Self::LoadedExecutableExecute,
        Self::BufferDestroy,
        Self::BufferIsDeleted,
        Self::BufferToHostBuffer,
        Self::BufferReadyEvent,
    ];
}

/// The start of an extension of the interface. Extensions form a list.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Extension {
    pub struct_size: usize,
    pub kind: c_int,
    pub padding: c_int,
    pub next: *const Self,
}

/// The kind of the extension [`ProfilerExtension`].
pub const PROFILER: c_int = 1;

/// The extension with the functions of `profiler_c_api.h`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ProfilerExtension {
    pub extension: Extension,
    pub table: *const ProfilerTable,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct ProfilerTable {
    pub struct_size: usize,
    pub private: Opaque,
    pub functions: ProfilerFunctions,
}

/// The functions of a profiler, in the order of the header. The first two return nothing.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ProfilerFunctions {
    pub error_destroy: unsafe extern "C" fn(Opaque),
    pub error_message: unsafe extern "C" fn(Opaque),
    pub error_code: Function,
    pub create: Function,
    pub destroy: Function,
    pub start: Function,
    pub stop: Function,
    pub collect: Function,
}

/// Arguments of the functions of a profiler that take an error. The message is an output, or the code in its first
/// bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ProfilerError {
    pub struct_size: usize,
    pub private: Opaque,
    pub error: Opaque,
    pub message: Text,
}

/// Arguments of the function that makes a profiler. The options are an encoded message `ProfileOptions`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ProfilerCreate {
    pub struct_size: usize,
    pub options: Text,
    pub profiler: Opaque,
}

/// Arguments of the other functions of a profiler. The function that collects data returns it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ProfilerCall {
    pub struct_size: usize,
    pub profiler: Opaque,
    pub data: Text,
}

/// The first fields of the arguments of every function.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Start {
    pub struct_size: usize,
    pub extension_start: Opaque,
}

/// Text that the plugin owns.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Text {
    pub bytes: *const c_char,
    pub len: usize,
}

/// A list that the plugin owns.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct List {
    pub items: *const Opaque,
    pub len: usize,
}

/// Arguments of functions that take an object, with space for an object that the function may return.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Object {
    pub start: Start,
    pub object: Opaque,
    pub made: Opaque,
}

/// A function that the plugin calls once an event has happened, with an error or null, which the function owns.
pub type Callback = unsafe extern "C" fn(error: Opaque, argument: Opaque);

#[derive(Clone, Copy)]
#[repr(C)]
pub struct OnReady {
    pub start: Start,
    pub event: Opaque,
    pub callback: Callback,
    pub argument: Opaque,
}

/// Arguments of functions that return a text of an object.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Named {
    pub start: Start,
    pub object: Opaque,
    pub text: Text,
}

/// Arguments of functions that return a list of objects that belong to an object.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Parts {
    pub start: Start,
    pub object: Opaque,
    pub parts: List,
}

/// Arguments of functions that return a number of an object: a `size_t`, or an `int` or a `bool` in the first bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Numbered {
    pub start: Start,
    pub object: Opaque,
    pub number: [u8; 8],
}

/// An option of a new client.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct NamedValue {
    pub start: Start,
    pub name: Text,
    pub kind: c_int,
    pub padding: c_int,
    /// The bytes of a pointer to text, or of a number.
    pub value: [u8; 8],
    pub value_size: usize,
}

pub const STRING: c_int = 0;
pub const INT64: c_int = 1;
pub const FLOAT: c_int = 3;
pub const BOOL: c_int = 4;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct ClientCreate {
    pub start: Start,
    pub options: *const NamedValue,
    pub option_count: usize,
    /// Callbacks for communication between processes, each with its user argument.
    pub get: Option<KeyValueGet>,
    pub get_user: Opaque,
    pub put: Option<KeyValuePut>,
    pub put_user: Opaque,
    pub client: Opaque,
    pub try_get: Option<KeyValueTryGet>,
    pub try_get_user: Opaque,
}

/// A function of the plugin that makes an error of a code and a message, which it copies.
pub type MakeError = unsafe extern "C" fn(code: c_int, message: *const c_char, len: usize) -> Opaque;

/// A function that deletes a value.
pub type DeleteValue = unsafe extern "C" fn(value: *mut c_char);

/// The callbacks return an error that [`MakeError`] made, or null.
pub type KeyValueGet = unsafe extern "C" fn(*mut KeyValueGetArguments) -> Opaque;
pub type KeyValueTryGet = unsafe extern "C" fn(*mut KeyValueTryGetArguments) -> Opaque;
pub type KeyValuePut = unsafe extern "C" fn(*mut KeyValuePutArguments) -> Opaque;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct KeyValueGetArguments {
    pub start: Start,
    pub key: Text,
    pub timeout_ms: c_int,
    pub padding: c_int,
    pub make_error: *const MakeError,
    pub user: Opaque,
    pub value: OwnedValue,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct KeyValueTryGetArguments {
    pub start: Start,
    pub key: Text,
    pub make_error: *const MakeError,
    pub user: Opaque,
    pub value: OwnedValue,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct KeyValuePutArguments {
    pub start: Start,
    pub key: Text,
    pub value: Text,
    pub make_error: *const MakeError,
    pub user: Opaque,
}

/// A value that a callback returns. The plugin deletes it by the function.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct OwnedValue {
    pub bytes: *mut c_char,
    pub len: usize,
    pub delete: Option<DeleteValue>,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Program {
    pub start: Start,
    pub code: Text,
    pub format: Text,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct ClientCompile {
    pub start: Start,
    pub client: Opaque,
    pub program: *const Program,
    pub options: Text,
    pub executable: Opaque,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct BufferFromHost {
    pub start: Start,
    pub client: Opaque,
    pub data: *const c_void,
    pub element: c_int,
    pub padding: c_int,
    pub dims: *const i64,
    pub rank: usize,
    pub byte_strides: *const i64,
    pub byte_stride_count: usize,
    pub semantics: c_int,
    pub padding_of_semantics: c_int,
    pub device: Opaque,
    pub memory: Opaque,
    pub layout: Opaque,
    pub done: Opaque,
    pub buffer: Opaque,
}

/// Deletes the memory of a serialised program.
pub type Delete = unsafe extern "C" fn(owner: Opaque);

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Serialize {
    pub start: Start,
    pub executable: Opaque,
    pub bytes: Text,
    /// The owner of the bytes, and the function that deletes it.
    pub owner: Opaque,
    pub delete: Option<Delete>,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Deserialize {
    pub start: Start,
    pub client: Opaque,
    pub bytes: Text,
    pub executable: Opaque,
    /// Other options than those of the serialised program.
    pub options: Text,
}

/// The function reads the data before it returns.
pub const ONLY_DURING_CALL: c_int = 0;

/// The plugin reads the data until the event `done` happens.
pub const UNTIL_TRANSFER_COMPLETES: c_int = 1;

/// The order of elements in memory, given by an order of dimensions.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Layout {
    pub start: Start,
    pub start_of_tiled: Start,
    pub minor_to_major: *const i64,
    pub rank: usize,
    /// The extents of the tiles, the number of extents of each tile, and the number of tiles.
    pub tiles: [usize; 3],
    pub kind: c_int,
    pub padding: c_int,
}

/// The kind of a [`Layout`] with tiles, possibly none.
pub const TILED: c_int = 0;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct BufferToHost {
    pub start: Start,
    pub buffer: Opaque,
    pub layout: *const Layout,
    pub data: *mut c_void,
    pub size: usize,
    pub event: Opaque,
}

/// A number that may be missing.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Optional {
    pub number: i64,
    /// A `bool` in the first byte.
    pub is_set: [u8; 8],
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct MemoryStats {
    pub start: Start,
    pub device: Opaque,
    pub in_use: i64,
    /// The peak of bytes in use, the number of allocations, the size of the largest, the limit, and further numbers.
    pub more: [Optional; 10],
}

/// The index of the limit in [`MemoryStats::more`]. The peak has the index 0.
pub const LIMIT: usize = 3;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct CompiledMemoryStats {
    pub start: Start,
    pub executable: Opaque,
    /// Bytes on a device: of code, arguments, results, arguments that are reused for results, temporaries.
    pub on_device: [i64; 5],
    /// The same in the memory of the host.
    pub on_host: [i64; 5],
    pub peak: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct ExecuteOptions {
    pub start: Start,
    pub callbacks: [Opaque; 2],
    pub callback_counts: [usize; 2],
    pub launch: c_int,
    pub padding: c_int,
    pub kept: *const i64,
    pub kept_count: usize,
    pub context: Opaque,
    pub call_location: *const c_char,
    pub task_count: usize,
    pub tasks: [Opaque; 2],
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Execute {
    pub start: Start,
    pub executable: Opaque,
    pub options: *mut ExecuteOptions,
    pub arguments: *const *const Opaque,
    pub device_count: usize,
    pub argument_count: usize,
    pub results: *const *mut Opaque,
    pub events: *mut Opaque,
    pub device: Opaque,
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use super::*;

    // The expected sizes are those of the header on 64-bit systems.
    #[test]
    fn structures_are_as_large_as_in_the_header() {
        assert_eq!(size_of::<Head>(), 40);
        assert_eq!(size_of::<ProfilerExtension>(), 32);
        assert_eq!(size_of::<ProfilerTable>(), 80);
        assert_eq!(size_of::<ProfilerError>(), 40);
        assert_eq!(size_of::<ProfilerCreate>(), 32);
        assert_eq!(size_of::<ProfilerCall>(), 32);
        assert_eq!(size_of::<OnReady>(), 40);
        assert_eq!(size_of::<NamedValue>(), 56);
        assert_eq!(size_of::<ClientCreate>(), 88);
        assert_eq!(size_of::<KeyValueGetArguments>(), 80);
        assert_eq!(size_of::<KeyValueTryGetArguments>(), 72);
        assert_eq!(size_of::<KeyValuePutArguments>(), 64);
        assert_eq!(size_of::<Program>(), 48);
        assert_eq!(size_of::<ClientCompile>(), 56);
        assert_eq!(size_of::<Serialize>(), 56);
        assert_eq!(size_of::<Deserialize>(), 64);
        assert_eq!(size_of::<BufferFromHost>(), 120);
        assert_eq!(size_of::<BufferToHost>(), 56);
        assert_eq!(size_of::<Layout>(), 80);
        assert_eq!(size_of::<MemoryStats>(), 192);
        assert_eq!(size_of::<CompiledMemoryStats>(), 112);
        assert_eq!(size_of::<ExecuteOptions>(), 112);
        assert_eq!(size_of::<Execute>(), 80);
    }

    #[test]
    fn every_place_is_in_the_table() {
        assert!(FunctionIndex::NEEDED.iter().all(|place| (*place as usize) < PLACES));
    }
}
