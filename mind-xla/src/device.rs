//! What is known of devices, and the options of their clients.

/// What is known of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Its number, which no other device of the client has.
    pub id: i32,
    /// What it is: `cpu`, the name of a GPU.
    pub kind: String,
    /// What the plugin says of it.
    pub description: String,
    /// The memories that it reaches; none where the plugin does not tell.
    pub memories: Vec<Memory>,
    /// How its memory is used, where the plugin tells.
    pub stats: Option<MemoryStats>,
}

/// A memory that a device reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What it is: `device`, `pinned_host`.
    pub kind: String,
    /// What the plugin says of it.
    pub description: String,
}

/// How the memory of a device is used, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryStats {
    /// What is in use.
    pub in_use: i64,
    /// The most that was in use at a time, where the plugin counts it.
    pub peak: Option<i64>,
    /// The most that may be in use, where there is a limit.
    pub limit: Option<i64>,
}

/// What a plugin is told as it makes a client.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientOption {
    /// A text.
    Text(String),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f32),
    /// A truth value.
    Bool(bool),
}
