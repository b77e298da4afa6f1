//! Descriptions of devices and their memory, and the options of clients.

/// The description of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// The number of the device, unique within the client.
    pub id: i32,
    /// The kind of device, such as `cpu` or the name of a GPU.
    pub kind: String,
    /// The plugin's description of the device.
    pub description: String,
    /// The memories that the device can access. Empty if the plugin does not list them.
    pub memories: Vec<Memory>,
    /// The use of the device's memory, if the plugin reports it.
    pub stats: Option<MemoryStats>,
}

/// A memory that a device can access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The kind of memory, such as `device` or `pinned_host`.
    pub kind: String,
    /// The plugin's description of the memory.
    pub description: String,
}

/// The use of a device's memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryStats {
    /// The number of bytes in use.
    pub in_use: i64,
    /// The highest number of bytes in use so far, if the plugin reports it.
    pub peak: Option<i64>,
    /// The limit of bytes in use, if the plugin reports one.
    pub limit: Option<i64>,
}

/// The memory that a program needs on each of its devices, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramMemory {
    /// The size of the code.
    pub code: i64,
    /// The size of the arguments.
    pub arguments: i64,
    /// The size of the results, including those in the memory of arguments.
    pub results: i64,
    /// The size of the results in the memory of arguments, which the program updates.
    pub reused: i64,
    /// The size of the temporaries.
    pub temporaries: i64,
    /// The highest number of bytes in use, if the plugin reports it.
    pub peak: Option<i64>,
}

/// The value of an option of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientOption {
    /// A text.
    Text(String),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f32),
    /// A boolean.
    Bool(bool),
}
