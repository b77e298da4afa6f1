//! The handwritten digits: reading them, splitting them, and turning them a little.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use mind::Rng;

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

fn unpack(packed: &[u8]) -> Result<Vec<u8>, Fault> {
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

fn parse(table: &[u8]) -> Result<Vec<Digit>, Fault> {
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

impl Digit {
    /// The digit as if the hand had written it a little askew: turned by up to 0.2 radians and moved by up to 0.6
    /// pixels, so that the network learns the shape and not the pixels.
    pub fn askew(&self, random: &mut Random) -> [f32; PIXELS] {
        let (sin, cos) = (0.2 * random.symmetric()).sin_cos();
        let (down, right) = (0.6 * random.symmetric(), 0.6 * random.symmetric());
        let centre = (SIDE as f32 - 1.0) / 2.0;
        std::array::from_fn(|pixel| {
            let (y, x) = ((pixel / SIDE) as f32 - centre, (pixel % SIDE) as f32 - centre);
            self.ink_at(cos * y - sin * x + centre + down, sin * y + cos * x + centre + right)
        })
    }

    /// The ink between pixels, by bilinear interpolation; none outside the picture.
    fn ink_at(&self, y: f32, x: f32) -> f32 {
        let pixel = |row: f32, column: f32| {
            let inside = |at: f32| (0.0..SIDE as f32).contains(&at);
            if inside(row) && inside(column) {
                self.pixels[row as usize * SIDE + column as usize]
            } else {
                0.0
            }
        };
        let (top, left) = (y.floor(), x.floor());
        let (below, right) = (y - top, x - left);
        let upper = (1.0 - right) * pixel(top, left) + right * pixel(top, left + 1.0);
        let lower = (1.0 - right) * pixel(top + 1.0, left) + right * pixel(top + 1.0, left + 1.0);
        (1.0 - below) * upper + below * lower
    }
}

/// Shuffles and gives four fifths for training and one for the test.
pub fn split(mut digits: Vec<Digit>, random: &mut Random) -> (Vec<Digit>, Vec<Digit>) {
    random.shuffle(&mut digits);
    let test = digits.split_off(digits.len() * 4 / 5);
    (digits, test)
}

/// SplitMix64: the same numbers on every machine.
pub struct Random(pub u64);

impl Rng for Random {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

impl Random {
    /// Evenly from -1 to 1.
    pub fn symmetric(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    /// Every order is as likely, but for a bias below 2^-50.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, (self.next_u64() % (last as u64 + 1)) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const FILE: &[u8] = include_bytes!("../data/digits.csv.gz");

    /// Twelve lines of the digit 3, with `line` in place of the third.
    fn table_with(line: &[u8]) -> Vec<u8> {
        let good = row(3);
        let mut lines = [good.as_bytes(); 12];
        lines[2] = line;
        lines.join(&b'\n')
    }

    fn row(label: usize) -> String {
        format!("{}{label}", "7,".repeat(PIXELS))
    }

    fn fault(table: &[u8]) -> String {
        parse(table).expect_err("the table is bad").to_string()
    }

    #[test]
    fn the_shipped_file_holds_1797_digits_of_every_class() {
        let digits = parse(&unpack(FILE).expect("it unpacks")).expect("it parses");
        assert_eq!(digits.len(), 1797);
        for label in 0..CLASSES {
            let count = digits.iter().filter(|digit| digit.label == label).count();
            assert!((174..=183).contains(&count), "{count} digits are {label}");
        }
        assert!(digits.iter().flat_map(|digit| digit.pixels).all(|ink| (0.0..=1.0).contains(&ink)));
    }

    #[test]
    fn pixels_are_scaled_to_1_and_line_ends_may_be_of_either_kind() {
        let mut table = row(4).replacen('7', "16", 1).into_bytes();
        table.extend(b"\r\n");
        table = table.repeat(10);
        let digits = parse(&table).expect("it parses");
        assert_eq!((digits.len(), digits[9].label), (10, 4));
        assert_eq!(digits[9].pixels[..2], [1.0, 7.0 / 16.0]);
    }

    #[test]
    fn a_file_cut_short_is_an_error_that_says_where() {
        let whole = unpack(FILE).expect("it unpacks");
        for length in [0, 5, 11, 1000, FILE.len() / 2, FILE.len() - 9, FILE.len() - 1] {
            let Err(Fault::Truncated { offset, line }) = unpack(&FILE[..length]) else {
                panic!("{length} bytes are not reported as truncated");
            };
            assert!(offset <= whole.len());
            assert_eq!(line, 1 + whole[..offset].iter().filter(|byte| **byte == b'\n').count());
        }
        let message = unpack(&FILE[..FILE.len() / 2]).expect_err("half is missing").to_string();
        assert!(message.starts_with("the file is truncated: its data ends at byte offset "), "{message}");
    }

    #[test]
    fn a_damaged_file_is_an_error_and_no_file_at_all_another() {
        let mut damaged = FILE.to_vec();
        damaged[FILE.len() / 2] ^= 0x55;
        assert!(matches!(unpack(&damaged), Err(Fault::Damaged { .. })));
        let message = unpack(b"0,1,2,3,4,5,6,7,8,9").expect_err("not gzip").to_string();
        assert_eq!(message, "the file is damaged at byte offset 0, in line 1: invalid gzip header");
        let message = load(Path::new("no/such.gz")).expect_err("not there").to_string();
        assert!(message.starts_with("no/such.gz: cannot read the file: "), "{message}");
    }

    #[test]
    fn every_single_damaged_byte_is_an_answer_and_never_a_panic() {
        for position in (0..FILE.len()).step_by(97) {
            let mut damaged = FILE.to_vec();
            damaged[position] ^= 0x10;
            let _ = unpack(&damaged).and_then(|table| parse(&table));
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_named_with_offset_and_line() {
        let mut bad = row(3).into_bytes();
        bad[10] = 0xff;
        let message = fault(&table_with(&bad));
        let offset = 2 * (row(3).len() + 1) + 10;
        assert_eq!(
            message,
            format!("E1001: invalid UTF-8 at byte offset {offset}, in line 3: first bytes ff 2c 37 2c")
        );
        assert_eq!(fault(b"\xfe"), "E1001: invalid UTF-8 at byte offset 0, in line 1: first bytes fe");
    }

    #[test]
    fn lines_with_too_few_or_too_many_numbers_are_named() {
        let start = 2 * (row(3).len() + 1);
        for (line, found) in [("1,2,3".to_owned(), 3), (String::new(), 0), (row(3) + ",1", 66)] {
            assert_eq!(
                fault(&table_with(line.as_bytes())),
                format!(
                    "line 3, at byte offset {start}: found {found} numbers, needed 64 pixels and a label"
                )
            );
        }
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        let start = 2 * (row(3).len() + 1);
        for (field, max) in [("17", 16), ("-1", 16), ("", 16), ("x", 16), ("999", 16)] {
            let line = row(3).replacen('7', field, 1);
            assert_eq!(
                fault(&table_with(line.as_bytes())),
                format!(
                    "E1005: line 3, at byte offset {start}: found `{field}`, needed an integer from 0 to {max}"
                )
            );
        }
        let offset = start + 2 * PIXELS;
        assert_eq!(
            fault(&table_with(row(12).as_bytes())),
            format!("E1005: line 3, at byte offset {offset}: found `12`, needed an integer from 0 to 9")
        );
    }

    #[test]
    fn a_table_with_hardly_a_digit_is_an_error() {
        assert_eq!(fault(b""), "the table has 0 digits, needed at least 10");
        assert_eq!(fault(row(1).as_bytes()), "the table has 1 digits, needed at least 10");
    }

    #[test]
    fn a_file_is_loaded_and_errors_name_it() {
        let path = std::env::temp_dir().join(format!("mind-digits-{}.csv.gz", std::process::id()));
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(&table_with(b"1,2")).expect("memory takes it");
        fs::write(&path, packer.finish().expect("memory takes it")).expect("a temporary file");
        let message = load(&path).expect_err("a line is bad").to_string();
        fs::remove_file(&path).expect("it is there");
        assert!(message.starts_with(&path.display().to_string()), "{message}");
        assert!(message.contains(": line 3, at byte offset "), "{message}");
    }

    #[test]
    fn the_split_is_fixed_disjoint_and_complete() {
        let digits = || parse(&unpack(FILE).expect("it unpacks")).expect("it parses");
        let (train, test) = split(digits(), &mut Random(1));
        assert_eq!((train.len(), test.len()), (1437, 360));
        assert_eq!((train.clone(), test.clone()), split(digits(), &mut Random(1)));
        let key = |digit: &Digit| (digit.pixels.map(f32::to_bits), digit.label);
        let (mut all, mut parts): (Vec<_>, Vec<_>) =
            (digits().iter().map(key).collect(), train.iter().chain(&test).map(key).collect());
        all.sort_unstable();
        parts.sort_unstable();
        assert_eq!(all, parts);
    }

    #[test]
    fn a_digit_askew_keeps_most_of_its_ink() {
        let digit =
            Digit { pixels: std::array::from_fn(|i| f32::from(u8::from((27..=36).contains(&i)))), label: 0 };
        let mut random = Random(5);
        for _ in 0..100 {
            let ink: f32 = digit.askew(&mut random).iter().sum();
            assert!((7.0..=10.5).contains(&ink), "{ink}");
        }
    }
}
