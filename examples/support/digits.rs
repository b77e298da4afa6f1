//! Reads the file of handwritten digits.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// The file that is shipped with the examples.
pub const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/digits.csv.gz");
/// The number of pixels along a side.
pub const SIDE: usize = 8;
/// The number of pixels in a picture.
pub const PIXELS: usize = SIDE * SIDE;
/// The number of different digits.
pub const CLASSES: usize = 10;
/// The value of a black pixel in the file.
const BLACK: u8 = 16;

/// A picture and its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Digit {
    /// The ink of each pixel from 0 to 1, in row-major order.
    pub pixels: [f32; PIXELS],
    /// The digit, 0 to 9.
    pub label: usize,
}

/// A data file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub struct DataError {
    path: PathBuf,
    fault: Fault,
}

/// An error in a data file. Offsets and lines refer to the unpacked table. Lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The file cannot be read at all.
    #[error("cannot read the file: {0}")]
    Read(io::Error),
    /// The packed data ends too early.
    #[error("the file is truncated: its data ends at byte offset {offset}, in line {line}")]
    Truncated {
        /// The number of bytes that could be unpacked.
        offset: usize,
        /// The line in which they end.
        line: usize,
    },
    /// The packed data is corrupt.
    #[error("the file is damaged at byte offset {offset}, in line {line}: {source}")]
    Damaged {
        /// The number of bytes that could be unpacked.
        offset: usize,
        /// The line in which they end.
        line: usize,
        /// The decoder's error.
        source: io::Error,
    },
    /// The table is not UTF-8.
    #[error("E1001: invalid UTF-8 at byte offset {offset}, in line {line}: first bytes {}", hex(bytes))]
    NotUtf8 {
        /// The offset of the first invalid byte.
        offset: usize,
        /// The line of that byte.
        line: usize,
        /// The first invalid bytes.
        bytes: Vec<u8>,
    },
    /// A line has too few or too many fields.
    #[error(
        "line {line}, at byte offset {offset}: found {found} numbers, needed {PIXELS} pixels and a label"
    )]
    Fields {
        /// The offset of the line's beginning.
        offset: usize,
        /// The number of the line.
        line: usize,
        /// The number of fields in the line.
        found: usize,
    },
    /// A field is not an integer in its range.
    #[error(
        "E1005: line {line}, at byte offset {offset}: found `{found}`, needed an integer from 0 to {max}"
    )]
    Number {
        /// The offset of the field's beginning.
        offset: usize,
        /// Its line.
        line: usize,
        /// The text of the field.
        found: String,
        /// The greatest number allowed.
        max: u8,
    },
    /// The table has fewer than 10 digits.
    #[error("the table has {0} digits, needed at least 10")]
    TooFew(usize),
}

/// Reads a gzip file of lines with 64 pixels from 0 to 16 and a label from 0 to 9, separated by commas.
pub fn load(path: &Path) -> Result<Vec<Digit>, DataError> {
    let digits = fs::read(path).map_err(Fault::Read).and_then(|packed| parse(&unpack(&packed)?));
    digits.map_err(|fault| DataError { path: path.to_owned(), fault })
}

/// Unpacks the content of a file.
pub fn unpack(packed: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut table = Vec::new();
    match GzDecoder::new(packed).read_to_end(&mut table) {
        Ok(_) => Ok(table),
        Err(source) => {
            let (offset, line) = (table.len(), line_at(&table, table.len()));
            Err(match source.kind() {
                io::ErrorKind::UnexpectedEof => Fault::Truncated { offset, line },
                _ => Fault::Damaged { offset, line, source },
            })
        }
    }
}

/// Reads an unpacked table.
pub fn parse(table: &[u8]) -> Result<Vec<Digit>, Fault> {
    let text = str::from_utf8(table).map_err(|error| {
        let offset = error.valid_up_to();
        let bytes = table[offset..].iter().copied().take(4).collect();
        Fault::NotUtf8 { offset, line: line_at(table, offset), bytes }
    })?;
    let (mut digits, mut offset) = (Vec::new(), 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        digits.push(parse_line(line.trim_end_matches(['\n', '\r']), index + 1, offset)?);
        offset += line.len();
    }
    if digits.len() < 10 { Err(Fault::TooFew(digits.len())) } else { Ok(digits) }
}

/// Reads the line that begins at `start`.
fn parse_line(text: &str, line: usize, start: usize) -> Result<Digit, Fault> {
    let found = if text.is_empty() { 0 } else { text.split(',').count() };
    if found != PIXELS + 1 {
        return Err(Fault::Fields { offset: start, line, found });
    }
    let mut digit = Digit { pixels: [0.0; PIXELS], label: 0 };
    let mut offset = start;
    for (position, field) in text.split(',').enumerate() {
        let max = if position < PIXELS { BLACK } else { 9 };
        let number = field.parse().ok().filter(|number: &u8| *number <= max);
        let number = number.ok_or_else(|| Fault::Number { offset, line, found: field.into(), max })?;
        match digit.pixels.get_mut(position) {
            Some(pixel) => *pixel = f32::from(number) / f32::from(BLACK),
            None => digit.label = usize::from(number),
        }
        offset += field.len() + 1;
    }
    Ok(digit)
}

fn line_at(table: &[u8], offset: usize) -> usize {
    1 + table[..offset].iter().filter(|byte| **byte == b'\n').count()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
