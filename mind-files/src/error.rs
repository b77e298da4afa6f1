//! The errors of reading and writing files.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::layout::Layout;

/// An error of reading or writing a file: the file, and the reason.
///
/// ```text
/// net.safetensors: the arrays do not match the parameters, 2 differences:
///   `w1` is f32[64, 128], needed f32[64, 256]
///   `b2` f32[10] is missing
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", file.display())]
pub struct Error {
    /// The file.
    pub file: PathBuf,
    /// The reason.
    #[source]
    pub fault: Fault,
}

/// The reason why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The system reports an error while reading.
    #[error("cannot read the file: {0}")]
    Read(#[source] io::Error),
    /// The system reports an error while writing. A previous file is unchanged. A device or FIFO has received the bytes
    /// that were written before the error.
    #[error("cannot write the file: {0}")]
    Write(#[source] io::Error),
    /// The file has fewer bytes than it declares.
    #[error("the data is truncated: got {found} bytes, needed {needed}")]
    CutOff {
        /// The number of bytes in the file.
        found: u64,
        /// The number of bytes that it declares.
        needed: u64,
    },
    /// The file is not valid in its format.
    #[error("{0}")]
    Malformed(String),
    /// The file contains a tensor of another type than the requested one.
    #[error("the array is {found}, needed {needed}")]
    Other {
        /// The type in the file.
        found: Layout,
        /// The requested type, such as `f32[?, 3]`.
        needed: String,
    },
    /// The file contains no array of this name.
    #[error("there is no array `{}`", .0.escape_debug())]
    Absent(String),
    /// Memory for a tensor cannot be allocated.
    #[error("cannot allocate memory for {needed}")]
    Memory {
        /// A description of the tensor.
        needed: String,
    },
    /// The file does not fit the parameters. Contains all differences, in the order of the parameters.
    #[error("{}", all(.0))]
    Differences(Vec<Difference>),
}

impl Fault {
    /// The error of `file` with this reason.
    pub(crate) fn of(self, file: impl Into<PathBuf>) -> Error {
        Error { file: file.into(), fault: self }
    }

    /// The same reason, for one array of a file.
    #[cfg(any(feature = "safetensors", feature = "npz"))]
    pub(crate) fn within(self, name: &str) -> Self {
        Self::Malformed(format!("array `{}`: {self}", name.escape_debug()))
    }
}

fn all(differences: &[Difference]) -> String {
    match differences {
        [only] => format!("the arrays do not match the parameters: {only}"),
        differences => {
            let lines: String = differences.iter().map(|difference| format!("\n  {difference}")).collect();
            format!("the arrays do not match the parameters, {} differences:{lines}", differences.len())
        }
    }
}

/// A difference between a file and the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// A parameter is not in the file.
    Missing {
        /// The expected name in the file.
        name: String,
        /// The parameter.
        parameter: String,
        /// The type of the parameter.
        needed: Layout,
    },
    /// An array has another element type or other extents than its parameter.
    Layout {
        /// The array's name in the file.
        name: String,
        /// The parameter.
        parameter: String,
        /// The type in the file.
        found: Layout,
        /// The type of the parameter.
        needed: Layout,
    },
    /// An array in the file belongs to no parameter.
    Unexpected {
        /// The array's name in the file.
        name: String,
        /// The type of the array.
        found: Layout,
    },
    /// Two parameters have the same name in the file.
    Twice {
        /// The name in the file.
        name: String,
        /// The parameters.
        parameters: [String; 2],
    },
    /// A list of names contains a name that is no parameter.
    NoParameter {
        /// The name in the file, according to the list.
        name: String,
        /// The name that is no parameter.
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
                write!(
                    f,
                    "there is no parameter {}, which the names map to {}",
                    Quoted(parameter),
                    Quoted(name)
                )
            }
        }
    }
}

/// A name from a file in a message. Special characters are escaped, and long names are shortened.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The maximum number of characters of a name in a message.
        const LONGEST: usize = 100;
        if self.0.is_empty() {
            return f.write_str("the tensor without a name");
        }
        let end = self.0.char_indices().nth(LONGEST).map_or(self.0.len(), |(end, _)| end);
        let more = if end < self.0.len() { "…" } else { "" };
        write!(f, "`{}{more}`", self.0[..end].escape_debug())
    }
}

/// The parameter of an array, if its name differs from that of the array.
struct For<'a>(&'a str, &'a str);

impl fmt::Display for For<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == self.1 { Ok(()) } else { write!(f, ", for {}", Quoted(self.1)) }
    }
}
