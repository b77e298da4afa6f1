//! What goes wrong, with what the plugin says of it.

use std::path::PathBuf;

use mind_core::{diag::Code, stablehlo};

/// The variable of the environment that names a plugin.
pub const VARIABLE: &str = "MIND_PJRT_PLUGIN";

/// Why something is not done. What is said of a plugin's names it, and nothing is half done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No plugin is named.
    #[error("no PJRT plugin is named: set `{VARIABLE}` to the path of one")]
    Unnamed,
    /// There is no library at the path, or the system refuses it.
    #[error("cannot load the PJRT plugin {}: {}", path.display(), reason(source))]
    Load {
        /// The path that was given.
        path: PathBuf,
        /// What the system says.
        source: libloading::Error,
    },
    /// The library is something else.
    #[error("{} is no PJRT plugin: it gives no table by the name `GetPjrtApi`", path.display())]
    NoPlugin {
        /// The path that was given.
        path: PathBuf,
    },
    /// The plugin has another major version of the interface.
    #[error("{} has version {}.{} of the PJRT interface, needed 0", path.display(), found.0, found.1)]
    Version {
        /// The path that was given.
        path: PathBuf,
        /// Its major and minor version.
        found: (i32, i32),
    },
    /// The plugin is too old.
    #[error(
        "{}, with version {}.{} of the PJRT interface, lacks the function `{function}`: a younger plugin is needed",
        path.display(), version.0, version.1
    )]
    Lacks {
        /// The path that was given.
        path: PathBuf,
        /// Its major and minor version.
        version: (i32, i32),
        /// What it lacks.
        function: String,
    },
    /// The plugin fails.
    #[error("the plugin failed to {doing}{}: {text}", named(*code))]
    Plugin {
        /// What it was asked to do.
        doing: String,
        /// Its code, as in gRPC; 0 where it failed without one.
        code: i32,
        /// What it says.
        text: String,
    },
    /// The text of a module is wrong.
    #[error("the module cannot be read: {0}")]
    Module(String),
    /// The module has no text for these extents and devices.
    #[error(transparent)]
    Text(#[from] stablehlo::Error),
    /// A program is for more devices than there are.
    #[error("the program is for {needed} devices, and the client has {found}")]
    Devices {
        /// Those of its mesh.
        needed: i64,
        /// Those of the client.
        found: usize,
    },
    /// A device is asked for that is not there.
    #[error("there is no device {device}: the client has {found}")]
    NoDevice {
        /// Its position.
        device: usize,
        /// How many there are.
        found: usize,
    },
    /// Arguments do not fit the program: all that is wrong.
    #[error("the arguments do not fit: {}", .0.join("; "))]
    Arguments(Vec<String>),
    /// A tensor is read as something else.
    #[error("{found} was asked for as {needed}")]
    Read {
        /// What it is.
        found: String,
        /// As what it was to be read.
        needed: String,
    },
}

impl Error {
    /// The stable number of what is wrong with a program or its arguments; nothing for what plugins and devices say.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Text(error) => Some(error.code()),
            Self::Unnamed
            | Self::Load { .. }
            | Self::NoPlugin { .. }
            | Self::Version { .. }
            | Self::Lacks { .. }
            | Self::Plugin { .. }
            | Self::Module(_)
            | Self::Devices { .. }
            | Self::NoDevice { .. }
            | Self::Arguments(_)
            | Self::Read { .. } => None,
        }
    }
}

/// What a plugin says went wrong.
#[derive(Debug)]
pub struct Failure {
    pub code: i32,
    pub text: String,
}

impl Failure {
    /// The error that it is where the plugin was asked to do something.
    pub fn during(doing: impl Into<String>) -> impl FnOnce(Self) -> Error {
        |Self { code, text }| Error::Plugin { doing: doing.into(), code, text }
    }
}

/// Of a function that a plugin does not have.
pub const UNIMPLEMENTED: i32 = 12;

/// ` (INVALID_ARGUMENT)`
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

/// What the system says, which the crate's error holds as its source.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
