//! What the header of the PJRT C API declares, as far as it is used here: version 0, from `pjrt_c_api.h` of OpenXLA.
//!
//! No structure has implicit padding, so that each is written as a whole: plugins that are younger read what was padding.

use std::ffi::{c_char, c_int, c_void};

/// The major version of the interface.
pub const MAJOR: c_int = 0;

/// What only the plugin looks into.
pub type Opaque = *mut c_void;

/// How the table of a plugin begins.
#[repr(C)]
pub struct Head {
    pub struct_size: usize,
    pub extension_start: Opaque,
    pub version_size: usize,
    pub version_extension_start: Opaque,
    pub major: c_int,
    pub minor: c_int,
}

/// All but two of the functions of the table.
pub type Function = unsafe extern "C" fn(Opaque) -> Opaque;

/// The functions in use, by their places behind the head of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum FunctionIndex {
    ErrorDestroy = 0,
    ErrorMessage = 1,
    ErrorGetCode = 2,
    PluginInitialize = 3,
    EventDestroy = 5,
    EventAwait = 8,
    ClientCreate = 10,
    ClientDestroy = 11,
    ClientPlatformName = 12,
    ClientPlatformVersion = 14,
    ClientAddressableDevices = 16,
    ClientCompile = 20,
    ClientBufferFromHostBuffer = 22,
    DeviceDescriptionId = 23,
    DeviceDescriptionKind = 26,
    DeviceDescriptionToString = 28,
    DeviceGetDescription = 29,
    DeviceAddressableMemories = 32,
    DeviceMemoryStats = 34,
    MemoryKind = 36,
    MemoryToString = 38,
    ExecutableDestroy = 40,
    ExecutableNumOutputs = 44,
    LoadedExecutableDestroy = 50,
    LoadedExecutableGetExecutable = 51,
    LoadedExecutableExecute = 55,
    BufferDestroy = 58,
    BufferIsDeleted = 68,
    BufferToHostBuffer = 70,
}

/// One more than the last place.
pub const PLACES: usize = 71;

impl FunctionIndex {
    /// All of them.
    pub const ALL: [Self; 29] = [
        Self::ErrorDestroy,
        Self::ErrorMessage,
        Self::ErrorGetCode,
        Self::PluginInitialize,
        Self::EventDestroy,
        Self::EventAwait,
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
    ];
}

/// What the arguments of a function begin with.
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

/// An object, and room for another that is made of it or of nothing.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Object {
    pub start: Start,
    pub object: Opaque,
    pub made: Opaque,
}

/// An object, and text of it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Named {
    pub start: Start,
    pub object: Opaque,
    pub text: Text,
}

/// An object, and what it consists of.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Parts {
    pub start: Start,
    pub object: Opaque,
    pub parts: List,
}

/// An object, and a number of it: an `int`, a `bool` or a `size_t`, of which the others fill the lower bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Numbered {
    pub start: Start,
    pub object: Opaque,
    pub number: [u8; 8],
}

/// An option with which a client is made.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct NamedValue {
    pub start: Start,
    pub name: Text,
    pub kind: c_int,
    pub padding: c_int,
    /// A pointer to text, or the bytes of a number.
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
    /// Between processes.
    pub key_value: [Opaque; 4],
    pub client: Opaque,
    pub key_value_try: [Opaque; 2],
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

/// The data is read before the call returns.
pub const ONLY_DURING_CALL: c_int = 0;

/// How elements lie in memory, by the order of dimensions.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Layout {
    pub start: Start,
    pub start_of_tiled: Start,
    pub minor_to_major: *const i64,
    pub rank: usize,
    /// Their extents, how many each has, and how many there are.
    pub tiles: [usize; 3],
    pub kind: c_int,
    pub padding: c_int,
}

/// A [`Layout`] in tiles, of which there may be none.
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

/// A number, and whether there is one.
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
    /// The peak of bytes in use, allocations, the largest of them, the limit, and others.
    pub more: [Optional; 10],
}

/// Where the limit is among [`MemoryStats::more`]; the peak is the first.
pub const LIMIT: usize = 3;

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

    // The sizes that the header has on 64-bit systems.
    #[test]
    fn structures_are_as_large_as_in_the_header() {
        assert_eq!(size_of::<Head>(), 40);
        assert_eq!(size_of::<NamedValue>(), 56);
        assert_eq!(size_of::<ClientCreate>(), 88);
        assert_eq!(size_of::<Program>(), 48);
        assert_eq!(size_of::<ClientCompile>(), 56);
        assert_eq!(size_of::<BufferFromHost>(), 120);
        assert_eq!(size_of::<BufferToHost>(), 56);
        assert_eq!(size_of::<Layout>(), 80);
        assert_eq!(size_of::<MemoryStats>(), 192);
        assert_eq!(size_of::<ExecuteOptions>(), 112);
        assert_eq!(size_of::<Execute>(), 80);
    }

    #[test]
    fn every_place_is_in_the_table() {
        assert!(FunctionIndex::ALL.iter().all(|place| (*place as usize) < PLACES));
    }
}
