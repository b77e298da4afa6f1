//! Writing to files and standard output.

use std::{
    fmt, fs,
    io::{self, BufWriter, Write},
    path::Path,
};

use crate::{
    report::{Failure, Outcome},
    source::reason,
};

/// Writes to standard output. If the reader has closed the pipe, the command ends without a message.
pub fn print(text: &str) -> Outcome {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(unprintable)
}

/// Like [`print()`], for a text that may be too large for memory.
pub fn print_args(text: fmt::Arguments<'_>) -> Outcome {
    let mut out = BufWriter::new(io::stdout().lock());
    out.write_fmt(text).and_then(|()| out.flush()).map_err(unprintable)
}

fn unprintable(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ReaderGone,
        _ => Failure::usage(format!("cannot write to standard output: {}", reason(&error))),
    }
}

/// Writes a file, or to standard output if the file is `-`.
pub fn write(file: &Path, text: &str) -> Outcome {
    if file.as_os_str() == "-" {
        return print(text);
    }
    write_bytes(file, text.as_bytes())
}

/// Writes bytes to a file.
pub fn write_bytes(file: &Path, bytes: &[u8]) -> Outcome {
    fs::write(file, bytes).map_err(|error| unwritable(file, &error))
}

/// The failure that a file cannot be written.
pub fn unwritable(file: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write {}: {}", file.display(), reason(error));
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists());
    match parent {
        Some(parent) => Failure::with_help(message, format!("there is no folder {}", parent.display())),
        None => Failure::usage(message),
    }
}
