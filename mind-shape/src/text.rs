//! Text that a `const fn` can write.

use crate::ty::{Type, UNKNOWN};

/// The largest number of bytes in a text.
const CAPACITY: usize = 2048;

/// The longest list that a message quotes in full, in characters.
const SHORT: usize = 40;

/// The replacement for text that is left out.
const MORE: &str = "…";

/// A text stored inline, of at most 2048 bytes. A longer text is cut and ends in `…`.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; CAPACITY],
    length: usize,
    full: bool,
}

impl Text {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; CAPACITY], length: 0, full: false }
    }

    /// The text.
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => panic!("a text consists of whole characters"),
        }
    }

    /// Appends a text, or as much of it as fits.
    pub(crate) const fn push(&mut self, text: &str) {
        if self.full {
            return;
        }
        let bytes = text.as_bytes();
        let room = CAPACITY - MORE.len() - self.length;
        if bytes.len() <= room {
            return self.append(bytes);
        }
        let mut end = room;
        while bytes[end] & 0b1100_0000 == 0b1000_0000 {
            end -= 1;
        }
        self.append(bytes.split_at(end).0);
        self.append(MORE.as_bytes());
        self.full = true;
    }

    const fn append(&mut self, bytes: &[u8]) {
        let mut i = 0;
        while i < bytes.len() {
            self.bytes[self.length] = bytes[i];
            self.length += 1;
            i += 1;
        }
    }

    /// Appends an integer in decimal.
    pub(crate) const fn push_integer(&mut self, value: i64) {
        if value < 0 {
            self.push("-");
        }
        let mut digits = [0; 20];
        let (mut rest, mut start) = (value.unsigned_abs(), digits.len());
        loop {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if let Ok(digits) = core::str::from_utf8(digits.split_at(start).1) {
            self.push(digits);
        }
    }

    /// Appends an extent or a bound: `?` if it is unknown.
    pub(crate) const fn push_extent(&mut self, extent: i64) {
        if extent == UNKNOWN { self.push("?") } else { self.push_integer(extent) }
    }

    /// Appends a list as it is written: `[0, -1]`.
    pub(crate) const fn push_list(&mut self, list: &[i64]) {
        self.push("[");
        let mut i = 0;
        while i < list.len() {
            if i > 0 {
                self.push(", ");
            }
            self.push_integer(list[i]);
            i += 1;
        }
        self.push("]");
    }

    /// Appends pairs as they are written: `[[0, 1], [1, 0]]`.
    pub(crate) const fn push_pairs(&mut self, pairs: &[[i64; 2]]) {
        self.push("[");
        let mut i = 0;
        while i < pairs.len() {
            if i > 0 {
                self.push(", ");
            }
            self.push_list(&pairs[i]);
            i += 1;
        }
        self.push("]");
    }

    /// Appends a list in backquotes, as a message quotes an expression. A long list is shortened.
    pub(crate) const fn push_quoted(&mut self, list: &[i64]) {
        let mut written = Self::new();
        written.push_list(list);
        self.push("`");
        if written.length <= SHORT {
            self.push(written.as_str());
        } else {
            let mut end = SHORT - 1;
            while written.bytes[end - 1] == b' ' {
                end -= 1;
            }
            written.length = end;
            self.push(written.as_str());
            self.push(MORE);
        }
        self.push("`");
    }

    /// Appends a shape: `[?, 784]`.
    pub(crate) const fn push_shape(&mut self, dims: &[i64]) {
        self.push("[");
        let mut axis = 0;
        while axis < dims.len() {
            if axis > 0 {
                self.push(", ");
            }
            self.push_extent(dims[axis]);
            axis += 1;
        }
        self.push("]");
    }

    /// Appends a type: `f32[?, 784]`, and `f32` for a single number.
    pub(crate) const fn push_type(&mut self, ty: &Type) {
        self.push(ty.dtype().name());
        if ty.rank() > 0 {
            self.push_shape(ty.dims());
        }
    }
}

impl core::fmt::Display for Text {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::fmt::Debug for Text {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, MORE, Text};

    #[test]
    fn integers_of_any_size_are_written() {
        const LEAST: Text = {
            let mut text = Text::new();
            text.push_list(&[i64::MIN, 0, i64::MAX]);
            text
        };
        assert_eq!(LEAST.as_str(), "[-9223372036854775808, 0, 9223372036854775807]");
    }

    #[test]
    fn a_text_too_long_ends_at_a_character() {
        for start in 0..4 {
            let mut text = Text::new();
            for _ in 0..start {
                text.push("x");
            }
            for _ in 0..CAPACITY {
                text.push("é…");
            }
            text.push("never");
            assert!(text.as_str().ends_with(MORE) && text.length > CAPACITY - 8, "{}", text.length);
            assert!(!text.as_str().contains("never"));
        }
    }
}
