//! The handwritten digits, read from a file.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// The file that is shipped with the examples.
pub const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/digits.csv.gz");
/// Pixels along a side.
pub const SIDE: usize = 8;
/// Pixels in a picture.
pub const PIXELS: usize = SIDE * SIDE;
/// Digits there are.
pub const CLASSES: usize = 10;
/// The ink of a black pixel in the file.
const BLACK: u8 = 16;

/// A picture and what it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Digit {
    /// Ink from 0 to 1, row by row.
    pub pixels: [f32; PIXELS],
    /// 0 to 9.
    pub label: usize,
}

/// A data file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub struct DataError {
    path: PathBuf,
    fault: Fault,
}

/// What is wrong with a data file. Offsets and lines are those of the table inside, unpacked; lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The file cannot be read at all.
    #[error("cannot read the file: {0}")]
    Read(io::Error),
    /// The packed data stops too soon.
    #[error("the file is truncated: its data ends at byte offset {offset}, in line {line}")]
    Truncated {
        /// Bytes that could be unpacked.
        offset: usize,
        /// The line they end in.
        line: usize,
    },
    /// The packed data is not what was packed.
    #[error("the file is damaged at byte offset {offset}, in line {line}: {source}")]
    Damaged {
        /// Bytes that could be unpacked.
        offset: usize,
        /// The line they end in.
        line: usize,
        /// What the decoder says.
        source: io::Error,
    },
    /// The table is not text.
    #[error("E1001: invalid UTF-8 at byte offset {offset}, in line {line}: first bytes {}", hex(bytes))]
    NotUtf8 {
        /// Where the text ends.
        offset: usize,
        /// The line it ends in.
        line: usize,
        /// A few bytes from there on.
        bytes: Vec<u8>,
    },
    /// A line is too short or too long.
    #[error(
        "line {line}, at byte offset {offset}: found {found} numbers, needed {PIXELS} pixels and a label"
    )]
    Fields {
        /// Where the line begins.
        offset: usize,
        /// Which it is.
        line: usize,
        /// The numbers in it.
        found: usize,
    },
    /// A field holds something else than it should.
    #[error(
        "E1005: line {line}, at byte offset {offset}: found `{found}`, needed an integer from 0 to {max}"
    )]
    Number {
        /// Where the field begins.
        offset: usize,
        /// Its line.
        line: usize,
        /// What it holds.
        found: String,
        /// The greatest number allowed.
        max: u8,
    },
    /// There is nothing to learn from.
    #[error("the table has {0} digits, needed at least 10")]
    TooFew(usize),
}

/// Reads a gzip file of lines of 64 pixels from 0 to 16 and a label from 0 to 9, separated by commas.
pub fn load(path: &Path) -> Result<Vec<Digit>, DataError> {
    let digits = fs::read(path).map_err(Fault::Read).and_then(|packed| parse(&unpack(&packed)?));
    digits.map_err(|fault| DataError { path: path.to_owned(), fault })
}

/// Unpacks what a file holds.
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

/// Reads the table that is packed in a file.
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
