//! Failures of running programs, and the places in the program where they occur.

use crate::Error;

/// A place in a program: the name of the function in the program, the line, and the column in characters, both from 1.
/// It has the size of a pointer, since it is passed to every operation that can fail.
#[derive(Clone, Copy, Debug)]
pub struct At(pub &'static (&'static str, u32, u32));

/// A failure. It has the size of a pointer, so that the results of functions stay small.
#[derive(Debug)]
pub struct Fault(Box<(At, &'static str, String)>);

impl Fault {
    /// The error that users see, for a program in this file.
    #[cold]
    pub fn in_file(self, file: &'static str) -> Error {
        let (At((function, line, column)), code, message) = *self.0;
        Error::Knossos { code, message, file, line: *line, column: *column, function }
    }
}

impl At {
    #[cold]
    #[inline(never)]
    pub(super) fn fault(self, code: &'static str, message: String) -> Fault {
        Fault(Box::new((self, code, message)))
    }

    /// A failure without a more specific code.
    #[cold]
    #[inline(never)]
    pub fn failure(self, message: &str) -> Fault {
        self.fault("E6010", message.to_owned())
    }

    /// The failure for an error of a Rust function, which the program calls by this name.
    #[cold]
    #[inline(never)]
    pub fn refused(self, function: &str, error: &str) -> Fault {
        self.fault("E6010", format!("`{function}`: {error}"))
    }

    #[cold]
    #[inline(never)]
    pub(super) fn out_of_range(self, index: &[i64], size: &[usize]) -> Fault {
        let (index, size) = (shown(index), shown(size));
        self.fault("E6001", format!("index {index} is out of range of a tensor of size {size}"))
    }

    #[cold]
    #[inline(never)]
    pub(super) fn sizes_differ(self, left: &[usize], right: &[usize]) -> Fault {
        self.failure(&format!("cannot add tensors of sizes {} and {}", shown(left), shown(right)))
    }

    /// The failure for memory that cannot be allocated.
    #[cold]
    #[inline(never)]
    pub(super) fn no_memory(self, size: &[usize]) -> Fault {
        self.fault("E6004", format!("cannot allocate a tensor of size {}", shown(size)))
    }
}

/// An index or a size in the notation of programs.
pub(super) fn shown<T: ToString>(extents: &[T]) -> String {
    match extents {
        [one] => one.to_string(),
        several => format!("(tuple {})", several.iter().map(T::to_string).collect::<Vec<_>>().join(" ")),
    }
}
