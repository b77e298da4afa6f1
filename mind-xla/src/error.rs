//! The errors of this crate, which include the messages of plugins.

use std::path::PathBuf;

use mind_core::{diag::Code, stablehlo};

/// The environment variable with the path of a plugin.
pub const VARIABLE: &str = "MIND_PJRT_PLUGIN";

/// An error of this crate.
///
/// An operation that fails changes nothing, with one exception: a program that fails may lose the tensors that it
/// updates.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The environment variable names no plugin.
    #[error("no PJRT plugin is given: set `{VARIABLE}` to the path of one")]
    Unnamed,
    /// The path has no library, or the system cannot load it.
    #[error("cannot load the PJRT plugin {}: {}", path.display(), reason(source))]
    Load {
        /// The path that was given.
        path: PathBuf,
        /// The error of the operating system.
        source: libloading::Error,
    },
    /// The library is not a PJRT plugin.
    #[error("{} is not a PJRT plugin: it does not export `GetPjrtApi`", path.display())]
    NoPlugin {
        /// The path that was given.
        path: PathBuf,
    },
    /// The plugin has another major version of the interface.
    #[error("{} has version {}.{} of the PJRT interface, needed 0", path.display(), found.0, found.1)]
    Version {
        /// The path that was given.
        path: PathBuf,
        /// The major and minor version of the plugin.
        found: (i32, i32),
    },
    /// The plugin is too old: it lacks a function.
    #[error(
        "{}, with version {}.{} of the PJRT interface, lacks the function `{function}`: a newer plugin is needed",
        path.display(), version.0, version.1
    )]
    Lacks {
        /// The path that was given.
        path: PathBuf,
        /// The major and minor version of the plugin.
        version: (i32, i32),
        /// The function that the plugin lacks.
        function: String,
    },
    /// A folder cannot hold compiled programs.
    #[error("{} cannot hold compiled programs: {reason}", folder.display())]
    Cache {
        /// The folder that was given.
        folder: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Processes do not meet, or the plugin does not join their devices to one mesh.
    #[error("the processes do not meet at {address}: {reason}")]
    Processes {
        /// The address of process 0.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The plugin reported an error.
    #[error("the plugin failed to {doing}{}: {text}", named(*code))]
    Plugin {
        /// The operation that failed.
        doing: String,
        /// The gRPC code of the error, or 0 if it has none.
        code: i32,
        /// The message.
        text: String,
    },
    /// The text of a module is invalid.
    #[error("the module cannot be read: {0}")]
    Module(String),
    /// The module cannot be lowered for these extents and devices.
    #[error(transparent)]
    Text(#[from] stablehlo::Error),
    /// A program needs more devices than the client has.
    #[error("the program is for {needed} devices, and the client has {found}")]
    Devices {
        /// The number of devices of the program's mesh.
        needed: i64,
        /// The number of devices of the client.
        found: usize,
    },
    /// No device of a program's mesh belongs to this process.
    #[error("the program is for the first {needed} devices, and process {process} has none of them")]
    NoLocalDevice {
        /// The number of devices of the program's mesh.
        needed: usize,
        /// The number of this process.
        process: usize,
    },
    /// The client has no device at the position.
    #[error("there is no device {device}: the client has {found}")]
    NoDevice {
        /// The position that was given.
        device: usize,
        /// The number of devices of the client.
        found: usize,
    },
    /// Arguments do not fit the program. Has one text per fault.
    #[error("the arguments do not fit: {}", .0.join("; "))]
    Arguments(Vec<String>),
    /// A tensor was read as another type, or its elements are lost.
    #[error("cannot read {found} as {needed}")]
    Read {
        /// The type of the tensor, or a note that its elements are lost.
        found: String,
        /// The type as which it was read.
        needed: String,
    },
}

impl Error {
    /// The stable error code, for errors of lowering a program. Other errors have none.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Text(error) => Some(error.code()),
            Self::Unnamed
            | Self::Load { .. }
            | Self::NoPlugin { .. }
            | Self::Version { .. }
            | Self::Lacks { .. }
            | Self::Cache { .. }
            | Self::Processes { .. }
            | Self::Plugin { .. }
            | Self::Module(_)
            | Self::Devices { .. }
            | Self::NoLocalDevice { .. }
            | Self::NoDevice { .. }
            | Self::Arguments(_)
            | Self::Read { .. } => None,
        }
    }
}

/// An error that a plugin reported.
#[derive(Clone, Debug)]
pub struct Failure {
    pub code: i32,
    pub text: String,
}

impl Failure {
    /// Converts to an [`Error`] of the operation `doing`.
    pub fn during(doing: impl Into<String>) -> impl FnOnce(Self) -> Error {
        |Self { code, text }| Error::Plugin { doing: doing.into(), code, text }
    }
}

/// Codes of gRPC, which plugins use.
pub const INVALID_ARGUMENT: i32 = 3;
pub const DEADLINE_EXCEEDED: i32 = 4;
pub const NOT_FOUND: i32 = 5;
pub const ALREADY_EXISTS: i32 = 6;
/// The code of a plugin for a function that it does not implement.
pub const UNIMPLEMENTED: i32 = 12;
pub const UNAVAILABLE: i32 = 14;

/// The name of a gRPC code in parentheses, such as ` (INVALID_ARGUMENT)`. Empty for the code 0.
fn named(code: i32) -> String {
    const NAMES: [&str; 17] = [
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    ];
    match usize::try_from(code) {
        Ok(0) => String::new(),
        Ok(code) if code < NAMES.len() => format!(" ({})", NAMES[code]),
        Ok(_) | Err(_) => format!(" (code {code})"),
    }
}

/// The message of the operating system, which `libloading` stores as the source of its error.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
