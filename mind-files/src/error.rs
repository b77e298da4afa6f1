//! What can be wrong with a file.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::layout::Layout;

/// Why a file was not read or written: which file, and what is wrong.
///
/// ```text
/// net.safetensors: it does not fit, 2 differences:
///   `w1` is f32[64, 128], needed f32[64, 256]
///   `b2` f32[10] is missing
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", file.display())]
pub struct Error {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    #[source]
    pub fault: Fault,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The system does not let it be read.
    #[error("it cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The system does not let it be written. A file that was there before is as it was; a device or FIFO has got what was
    /// written so far.
    #[error("it cannot be written: {0}")]
    Write(#[source] io::Error),
    /// It has fewer bytes than it says.
    #[error("it is cut off: it has {found} bytes, needed {needed}")]
    CutOff {
        /// The bytes that it has.
        found: u64,
        /// The bytes that it would have.
        needed: u64,
    },
    /// It is not of the format, or it contradicts itself.
    #[error("{0}")]
    Malformed(String),
    /// It holds another tensor than is asked for.
    #[error("it holds {found}, needed {needed}")]
    Other {
        /// What it holds.
        found: Layout,
        /// What is asked for, as `f32[?, 3]`.
        needed: String,
    },
    /// It holds no array of a name.
    #[error("it holds no `{}`", .0.escape_debug())]
    Absent(String),
    /// Memory for a tensor cannot be had.
    #[error("there is no memory for {needed}")]
    Memory {
        /// The tensor.
        needed: String,
    },
    /// It is a file of other parameters. All differences are here, in the order of the parameters.
    #[error("{}", all(.0))]
    Differences(Vec<Difference>),
}

impl Fault {
    /// The same, of a file.
    pub(crate) fn of(self, file: impl Into<PathBuf>) -> Error {
        Error { file: file.into(), fault: self }
    }

    /// The same, of an array in a file of several.
    #[cfg(any(feature = "safetensors", feature = "npz"))]
    pub(crate) fn within(self, name: &str) -> Self {
        Self::Malformed(format!("of `{}`: {self}", name.escape_debug()))
    }
}

fn all(differences: &[Difference]) -> String {
    match differences {
        [only] => format!("it does not fit: {only}"),
        differences => {
            let lines: String = differences.iter().map(|difference| format!("\n  {difference}")).collect();
            format!("it does not fit, {} differences:{lines}", differences.len())
        }
    }
}

/// One way in which a file is not of some parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// A parameter is not in the file.
    Missing {
        /// The name that was looked for in the file.
        name: String,
        /// The parameter.
        parameter: String,
        /// What it is.
        needed: Layout,
    },
    /// An array has another element type or other extents than its parameter.
    Layout {
        /// The array's name in the file.
        name: String,
        /// The parameter.
        parameter: String,
        /// What the file has.
        found: Layout,
        /// What the parameter is.
        needed: Layout,
    },
    /// An array is of no parameter.
    Unexpected {
        /// The array's name in the file.
        name: String,
        /// What it is.
        found: Layout,
    },
    /// Two parameters have one name in the file.
    Twice {
        /// The name in the file.
        name: String,
        /// The parameters.
        parameters: [String; 2],
    },
    /// A list of names has one of no parameter.
    NoParameter {
        /// The name in the file that it gives.
        name: String,
        /// What is no parameter.
        parameter: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { name, parameter, needed } => {
                write!(f, "{} {needed} is missing{}", Quoted(name), For(name, parameter))
            }
            Self::Layout { name, parameter, found, needed } => {
                write!(f, "{} is {found}, needed {needed}{}", Quoted(name), For(name, parameter))
            }
            Self::Unexpected { name, found } => write!(f, "{} {found} is unexpected", Quoted(name)),
            Self::Twice { name, parameters: [first, second] } => {
                write!(f, "{} is the name of both {} and {}", Quoted(name), Quoted(first), Quoted(second))
            }
            Self::NoParameter { name, parameter } => {
                write!(f, "there is no parameter {} to be {} in the file", Quoted(parameter), Quoted(name))
            }
        }
    }
}

/// A name in a message, whatever characters a file has in it.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As much as a message has room for.
        const LONGEST: usize = 100;
        if self.0.is_empty() {
            return f.write_str("the tensor without a name");
        }
        let end = self.0.char_indices().nth(LONGEST).map_or(self.0.len(), |(end, _)| end);
        let more = if end < self.0.len() { "…" } else { "" };
        write!(f, "`{}{more}`", self.0[..end].escape_debug())
    }
}

/// The parameter that an array is for, where it has another name.
struct For<'a>(&'a str, &'a str);

impl fmt::Display for For<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == self.1 { Ok(()) } else { write!(f, ", for {}", Quoted(self.1)) }
    }
}
