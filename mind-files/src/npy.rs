//! The format `.npy` of NumPy: a header, which is a Python dictionary, followed by one array.
//!
//! ```
//! use mind_files::npy;
//! use mind_rt::{Const, Tensor};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("x.npy");
//! let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
//! npy::write(&path, &x)?;
//!
//! let rows = npy::read::<f32, (usize, Const<3>)>(&path)?;
//! assert_eq!(rows.dims(), [2, 3]);
//! assert_eq!(rows.as_slice(), x.as_slice());
//! let error = npy::read::<f64, (usize, Const<3>)>(&path).unwrap_err();
//! assert!(error.to_string().ends_with("the array is f32[2, 3], needed f64[?, 3]"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reads files in either byte order, and in C or Fortran order. Writes files in the format 1.0, little-endian and in C
//! order.

use std::io::Read;

use mind_shape::{DType, Kind};

use crate::blocks::{Sink, Stopped, blocks};
use crate::error::Fault;
use crate::layout::Layout;
use crate::truth;

/// The maximum length of a header in bytes. The headers that NumPy writes have less than a tenth of it.
const LONGEST_HEADER: usize = 1 << 16;

/// The maximum nesting depth of brackets in a header.
const DEEPEST: usize = 8;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The header of a file, before the elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The element type and the extents. A type that the language does not have is named in its style, such as `f16`.
    /// The extended types of NumPy are `longdouble` and `clongdouble`. Others have the name in the file.
    pub layout: Layout,
    is_big_endian: bool,
    is_fortran: bool,
    /// The number of bytes before the elements.
    length: u64,
}

impl Header {
    /// Reads the header of a file, and nothing after it.
    ///
    /// # Errors
    /// If the input is not such a file, or is cut off.
    pub fn read(reader: &mut impl Read) -> Result<Self, Fault> {
        let mut head = Vec::new();
        reader.by_ref().take(10).read_to_end(&mut head).map_err(Fault::Read)?;
        if !head.starts_with(MAGIC) {
            return Err(malformed("not a .npy file"));
        }
        let cut_off = || malformed("the header is truncated");
        let length = match head[MAGIC.len()..] {
            [1, _, a, b] => usize::from(u16::from_le_bytes([a, b])),
            [2 | 3, _, a, b] => {
                reader.by_ref().take(2).read_to_end(&mut head).map_err(Fault::Read)?;
                let [c, d] = head[10..] else { return Err(cut_off()) };
                u32::from_le_bytes([a, b, c, d]) as usize
            }
            [version, _, _, _] => {
                return Err(malformed(&format!("version {version} of the format is not supported")));
            }
            _ => return Err(cut_off()),
        };
        if length > LONGEST_HEADER {
            let message = format!("the header has {length} bytes, more than the limit of {LONGEST_HEADER}");
            return Err(malformed(&message));
        }
        let start = head.len();
        reader.by_ref().take(length as u64).read_to_end(&mut head).map_err(Fault::Read)?;
        if head.len() - start < length {
            return Err(cut_off());
        }
        let text = str::from_utf8(&head[start..]).map_err(|error| {
            malformed(&format!("the header is not valid UTF-8 at byte {}", start + error.valid_up_to()))
        })?;
        Literal::new(text, start).header(head.len() as u64).map_err(|why| malformed(&why))
    }

    /// The number of bytes of all elements. `None` if the language does not have their type, or the number overflows.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        let width = width(&self.layout.dtype)? as u64;
        self.layout.dims.iter().try_fold(width, |bytes, extent| bytes.checked_mul(*extent as u64))
    }

    /// The number of bytes before the elements: those of the header and of the magic string, version and length before
    /// it.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Checks that `found` is the number of bytes of the elements.
    ///
    /// # Errors
    /// If there are fewer or more bytes, or the number overflows.
    pub fn check(&self, found: u64) -> Result<(), Fault> {
        let elements =
            self.layout.dims.iter().try_fold(1_u64, |count, extent| count.checked_mul(*extent as u64));
        // An element of an unknown type has at least one byte.
        let needed = self.bytes().or(elements.filter(|_| width(&self.layout.dtype).is_none()));
        let exact = width(&self.layout.dtype).is_some();
        let layout = &self.layout;
        match needed {
            Some(needed) if needed == found || (!exact && needed < found) => Ok(()),
            Some(needed) if needed < found => Err(malformed(&format!(
                "the header declares {layout}, {needed} bytes, but {found} bytes follow"
            ))),
            Some(needed) if exact => Err(malformed(&format!(
                "the data is truncated: the header declares {layout}, {needed} bytes, but {found} bytes follow"
            ))),
            _ => Err(malformed(&format!(
                "the data is truncated: the header declares {layout}, but {found} bytes follow"
            ))),
        }
    }

    /// Reads all elements into `to`, little-endian and in row-major order. `to` has [`bytes`](Self::bytes) bytes.
    ///
    /// # Errors
    /// If there are fewer elements, or more bytes follow them; if a `bool` is neither 0 nor 1; if the language does not
    /// have the element type.
    ///
    /// # Panics
    /// If `to` has fewer bytes.
    pub fn elements(&self, reader: &mut impl Read, to: &mut [u8]) -> Result<(), Fault> {
        self.read_to(reader, &mut |start, bytes| to[start..start + bytes.len()].copy_from_slice(bytes))
    }

    /// Reads all elements and passes them to a sink.
    ///
    /// # Errors
    /// The errors of [`elements`](Self::elements).
    pub(crate) fn read_to(&self, reader: &mut impl Read, to: Sink<'_>) -> Result<(), Fault> {
        let length = self.bytes().and_then(|bytes| usize::try_from(bytes).ok());
        let (Some(width), Some(length)) = (width(&self.layout.dtype), length) else {
            return Err(malformed(&format!("elements of {} cannot be read", self.layout)));
        };
        let mut columns = self.is_fortran.then(|| ColumnMajor::new(&self.layout.dims));
        let read = blocks(reader, length, |start, block| {
            truth::check(&self.layout, self.is_fortran, self.length, start, block)?;
            if self.is_big_endian {
                block.chunks_exact_mut(width).for_each(<[u8]>::reverse);
            }
            match &mut columns {
                None => to(start, block),
                Some(columns) => {
                    let elements = block.chunks_exact(width).zip(columns);
                    elements.for_each(|(element, position)| to(position * width, element));
                }
            }
            Ok(())
        });
        read.or_else(|stopped| match stopped {
            Stopped::After(found) => self.check(found as u64),
            Stopped::By(fault) => Err(fault),
        })?;
        if reader.read(&mut [0]).map_err(Fault::Read)? != 0 {
            let message = format!("unexpected data after the {length} bytes of {}", self.layout);
            return Err(malformed(&message));
        }
        Ok(())
    }

    /// The bytes of a header for elements of this layout. The elements must follow, little-endian and in row-major
    /// order.
    ///
    /// # Panics
    /// If the language does not have the element type.
    #[must_use]
    pub fn write(layout: &Layout) -> Vec<u8> {
        let Some(dtype) = DType::from_name(&layout.dtype) else {
            panic!("the language has no {}", layout.dtype)
        };
        // Single bytes have no byte order.
        let order = if dtype.bytes() == 1 { '|' } else { '<' };
        let kind = match dtype.kind() {
            Kind::Truth => 'b',
            Kind::Unsigned => 'u',
            Kind::Signed => 'i',
            Kind::Float => 'f',
        };
        let descr = format!("{order}{kind}{}", dtype.bytes());
        let extents: Vec<String> = layout.dims.iter().map(ToString::to_string).collect();
        let comma = if extents.len() == 1 { "," } else { "" };
        let shape = format!("({}{comma})", extents.join(", "));
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        // Elements begin at a multiple of 64 bytes; ranks are too low for a header of more than 64 KiB.
        let length = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(64) - MAGIC.len() - 4;
        let text = format!("{text:<width$}\n", width = length - 1);
        let length = u16::try_from(length).expect("extents of tensors make a short header");
        [MAGIC, &[1, 0], &length.to_le_bytes(), text.as_bytes()].concat()
    }
}

fn malformed(why: &str) -> Fault {
    Fault::Malformed(why.to_owned())
}

/// The number of bytes of an element, if the language has the type.
fn width(dtype: &str) -> Option<usize> {
    DType::from_name(dtype).map(DType::bytes)
}

/// An iterator over the row-major positions of elements in column-major order. It does not end.
struct ColumnMajor<'a> {
    dims: &'a [usize],
    /// The row-major stride of each axis.
    strides: Vec<usize>,
    index: Vec<usize>,
    position: usize,
}

impl<'a> ColumnMajor<'a> {
    fn new(dims: &'a [usize]) -> Self {
        let mut strides = vec![1_usize; dims.len()];
        for axis in (1..dims.len()).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(dims[axis]);
        }
        Self { dims, strides, index: vec![0; dims.len()], position: 0 }
    }
}

impl Iterator for ColumnMajor<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let position = self.position;
        for ((index, extent), stride) in self.index.iter_mut().zip(self.dims).zip(&self.strides) {
            *index += 1;
            self.position += stride;
            if *index < *extent {
                break;
            }
            self.position -= stride * *index;
            *index = 0;
        }
        Some(position)
    }
}

/// The name of the type of a NumPy descriptor.
fn name_of(descriptor: &str) -> String {
    let name = match descriptor.trim_start_matches(['<', '>', '=', '|']) {
        "f2" => "f16",
        "f4" => "f32",
        "f8" => "f64",
        "i1" => "i8",
        "i2" => "i16",
        "i4" => "i32",
        "i8" => "i64",
        "u1" => "u8",
        "u2" => "u16",
        "u4" => "u32",
        "u8" => "u64",
        "b1" | "?" => "bool",
        "c8" => "c64",
        "c16" => "c128",
        // `np.longdouble`, whose size depends on the machine. NumPy's `f16` has 16 bytes, while `f16` in the style of
        // the language has 16 bits.
        "f12" | "f16" => "longdouble",
        "c24" | "c32" => "clongdouble",
        other => return printable(other),
    };
    name.to_owned()
}

/// A text from a file with control characters escaped. Quotes are not escaped.
fn printable(text: &str) -> String {
    let shown = |character: char| match character {
        '\'' | '"' => character.to_string(),
        _ => character.escape_debug().to_string(),
    };
    text.chars().map(shown).collect()
}

/// A parser of a Python literal, with the text that is left to read.
struct Literal<'a> {
    rest: &'a str,
    /// The position in the file where the literal ends.
    end: usize,
}

impl<'a> Literal<'a> {
    /// A parser of a text that begins at byte `start` of the file.
    const fn new(text: &'a str, start: usize) -> Self {
        Self { rest: text, end: start + text.len() }
    }

    /// The position in the file where the rest begins.
    const fn at(&self) -> usize {
        self.end - self.rest.len()
    }

    /// Parses the dictionary of a header: three keys, each once, in any order.
    fn header(mut self, length: u64) -> Result<Header, String> {
        let [mut descr, mut is_fortran, mut dims] = [None, None, None];
        self.expect('{')?;
        while !self.take('}') {
            let at = self.at();
            let key = self.string()?;
            self.expect(':')?;
            let slot = match key {
                "descr" => &mut descr,
                "fortran_order" => &mut is_fortran,
                "shape" => &mut dims,
                _ => {
                    return Err(format!(
                        "the header has an unknown key `{}` at byte {at}",
                        key.escape_debug()
                    ));
                }
            };
            if slot.replace(self.value()?).is_some() {
                return Err(format!("the header repeats the key `{key}` at byte {at}"));
            }
            if !self.take(',') {
                self.expect('}')?;
                break;
            }
        }
        self.rest = self.rest.trim_start();
        if !self.rest.is_empty() {
            return Err(format!("unexpected data after the dictionary of the header at byte {}", self.at()));
        }
        let of = |value: Option<&'a str>, key| value.ok_or_else(|| format!("the header has no `{key}`"));
        let is_fortran = match of(is_fortran, "fortran_order")? {
            "True" => true,
            "False" => false,
            other => {
                return Err(format!(
                    "the `fortran_order` in the header is {}, needed True or False",
                    other.escape_debug()
                ));
            }
        };
        let dims = extents(of(dims, "shape")?)?;
        let descr = of(descr, "descr")?.trim_matches(['\'', '"']);
        let is_big_endian = match descr.chars().next() {
            Some('>') => true,
            Some('=') => cfg!(target_endian = "big"),
            _ => false,
        };
        Ok(Header { layout: Layout { dtype: name_of(descr), dims }, is_big_endian, is_fortran, length })
    }

    fn take(&mut self, mark: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, mark: char) -> Result<(), String> {
        if self.take(mark) { Ok(()) } else { Err(self.needed(mark)) }
    }

    /// The message that another character was found than the needed one.
    fn needed(&self, mark: char) -> String {
        let at = self.at();
        match self.rest.chars().next() {
            Some(found) if found.is_control() => {
                format!("the header is not valid: byte {at} is {}, needed `{mark}`", u32::from(found))
            }
            Some(found) => format!("the header is not valid: byte {at} is `{found}`, needed `{mark}`"),
            None => format!("the header is not valid: it ends at byte {at}, needed `{mark}`"),
        }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = if self.take('"') { '"' } else { self.expect('\'').map(|()| '\'')? };
        let endless = || format!("the header is not valid: the string at byte {} is not closed", self.at());
        let (text, rest) = self.rest.split_once(quote).ok_or_else(endless)?;
        self.rest = rest;
        Ok(text)
    }

    /// The text of a value: everything before the next comma or brace outside of brackets and quotes.
    fn value(&mut self) -> Result<&'a str, String> {
        let text = self.rest.trim_start();
        let (mut depth, mut quote) = (0_usize, None);
        for (at, character) in text.char_indices() {
            match (character, quote) {
                (_, Some(open)) => {
                    if character == open {
                        quote = None;
                    }
                }
                ('\'' | '"', None) => quote = Some(character),
                (',' | '}', None) if depth == 0 => {
                    self.rest = &text[at..];
                    return Ok(text[..at].trim_end());
                }
                ('(' | '[' | '{', None) => {
                    depth += 1;
                    if depth > DEEPEST {
                        self.rest = &text[at..];
                        return Err(format!("the header nests too deep at byte {}", self.at()));
                    }
                }
                (')' | ']' | '}', None) => depth = depth.saturating_sub(1),
                (_, None) => {}
            }
        }
        self.rest = "";
        Err(self.needed('}'))
    }
}

/// The extents in a Python tuple or list.
fn extents(shape: &str) -> Result<Vec<usize>, String> {
    let wrong =
        || format!("the `shape` in the header is {}, needed extents such as (2, 3)", shape.escape_debug());
    let inside = shape.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let inside = inside.or_else(|| shape.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')));
    let inside = inside.ok_or_else(wrong)?.trim();
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    if inside.is_empty() {
        return Ok(Vec::new());
    }
    // Python 2 wrote `3L`.
    let extent = |extent: &str| extent.trim().trim_end_matches(['l', 'L']).parse().map_err(|_| wrong());
    inside.split(',').map(extent).collect()
}

#[cfg(feature = "parameters")]
pub use of_tensors::{read, write};

#[cfg(feature = "parameters")]
mod of_tensors {
    use std::io::{BufReader, Write};
    use std::path::Path;

    use mind_rt::{Element, Parameter, Shape, Tensor, TensorRef};

    use super::*;
    use crate::error::Error;
    use crate::parameters::{layout_of, read_tensor, shape_for, write_elements};
    use crate::replace::replace;

    /// Writes a tensor to a file atomically: [`replace`].
    ///
    /// # Errors
    /// Errors of the system.
    pub fn write<T: Element, S: Shape>(
        path: impl AsRef<Path>,
        tensor: &TensorRef<T, S>,
    ) -> Result<(), Error> {
        let (path, part) = (path.as_ref(), Parameter::tensor("", tensor));
        replace(path, |file| {
            file.write_all(&Header::write(&layout_of(&part)))?;
            write_elements(part.elements, file)
        })
        .map_err(|error| Fault::Write(error).of(path))
    }

    /// Reads the tensor in a file.
    ///
    /// # Errors
    /// If the file is not valid, or its tensor has another element type, rank or static extent.
    pub fn read<T: Element, S: Shape>(path: impl AsRef<Path>) -> Result<Tensor<T, S>, Error> {
        let path = path.as_ref();
        let read = || {
            let (file, length) = crate::open(path)?;
            let mut reader = BufReader::new(file);
            let header = Header::read(&mut reader)?;
            header.check(length.saturating_sub(header.length()))?;
            let shape = shape_for::<T, S>(&header.layout)?;
            read_tensor(shape, |elements| header.read_to(&mut reader, elements))
        };
        read().map_err(|fault: Fault| fault.of(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str) -> Vec<u8> {
        let length = (header.len() as u16).to_le_bytes();
        [MAGIC, &[1, 0], &length, header.as_bytes()].concat()
    }

    fn why(file: &[u8]) -> String {
        let mut rest = file;
        let read = Header::read(&mut rest).and_then(|header| header.check(rest.len() as u64));
        read.expect_err("it is refused").to_string()
    }

    #[test]
    fn what_the_header_claims_is_checked_before_it_is_believed() {
        assert_eq!(why(b"PK"), "not a .npy file");
        assert_eq!(why(b"\x93NUMPY\x01"), "the header is truncated");
        assert_eq!(why(b"\x93NUMPY\x02\x00\xff\xff\x00\x00{"), "the header is truncated");
        assert_eq!(
            why(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{"),
            "the header has 4294967295 bytes, more than the limit of 65536"
        );
        assert_eq!(why(b"\x93NUMPY\x09\x00\x01\x00\x00\x00"), "version 9 of the format is not supported");
        let deep = format!("{{'descr': {}", "(".repeat(64));
        assert_eq!(why(&file(&deep)), "the header nests too deep at byte 28");
        for shape in ["(4000000000, 3)", "[4000000000, 3]", "(4000000000L, 3L)"] {
            let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
            let found = "the data is truncated: the header declares f32[4000000000, 3], 48000000000 bytes, but 0 bytes follow";
            assert_eq!(why(&file(&header)), found);
        }
        let huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387905, 4), }";
        let found =
            "the data is truncated: the header declares f32[4611686018427387905, 4], but 0 bytes follow";
        assert_eq!(why(&file(huge)), found);
        let latin = b"\x93NUMPY\x01\x00\x03\x00{'\xe4";
        assert_eq!(why(latin), "the header is not valid UTF-8 at byte 12");
    }

    #[test]
    fn a_header_has_each_key_once_and_nothing_else() {
        for (header, found) in [
            ("", "the header is not valid: it ends at byte 10, needed `{`"),
            ("{", "the header is not valid: it ends at byte 11, needed `'`"),
            ("{ descr: 1}", "the header is not valid: byte 12 is `d`, needed `'`"),
            ("{'descr", "the header is not valid: the string at byte 12 is not closed"),
            ("{'descr' '<f4'}", "the header is not valid: byte 19 is `'`, needed `:`"),
            ("{'descr': '<f4'", "the header is not valid: it ends at byte 25, needed `}`"),
            ("{'descr': '<f4'}", "the header has no `fortran_order`"),
            ("{'descr': '<f4', 'descr': '<f4'}", "the header repeats the key `descr` at byte 27"),
            ("{'more': 1}", "the header has an unknown key `more` at byte 11"),
            (
                "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
                "the `fortran_order` in the header is 0, needed True or False",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
                "the `shape` in the header is 3, needed extents such as (2, 3)",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                "the `shape` in the header is (-1,), needed extents such as (2, 3)",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
                "unexpected data after the dictionary of the header at byte 64",
            ),
        ] {
            assert_eq!(why(&file(header)), found, "{header}");
        }
    }

    #[test]
    fn either_order_of_bytes_and_axes_is_read() {
        let header = "{\"shape\": (2, 3), 'fortran_order': True, 'descr': '>i4'}";
        let bytes: Vec<u8> = [1_i32, 4, 2, 5, 3, 6].iter().flat_map(|x| x.to_be_bytes()).collect();
        let file = [file(header), bytes].concat();
        let mut reader = &file[..];
        let header = Header::read(&mut reader).expect("it is valid");
        assert_eq!(header.layout.to_string(), "i32[2, 3]");
        let mut elements = vec![0; 24];
        header.elements(&mut reader, &mut elements).expect("they are there");
        let expected: Vec<u8> = (1..=6_i32).flat_map(i32::to_le_bytes).collect();
        assert_eq!(elements, expected);
    }

    /// The error of reading the elements `data` after a header. The elements begin at byte 61.
    fn of_elements(dtype: &str, order: &str, data: &[u8], needed: usize) -> String {
        let header = format!("{{'descr':'{dtype}','fortran_order':{order:5},'shape':(2,3)}}");
        let file = [file(&header), data.to_vec()].concat();
        let mut reader = &file[..];
        let header = Header::read(&mut reader).expect("it is valid");
        header.elements(&mut reader, &mut vec![0; needed]).expect_err("they are refused").to_string()
    }

    #[test]
    fn what_is_no_truth_value_is_named_with_its_place() {
        let data = [0, 1, 0, 1, 7, 2];
        assert_eq!(
            of_elements("|b1", "False", &data, 6),
            "the bool at index [1, 1] is 7 (byte 65), needed 0 or 1"
        );
        assert_eq!(
            of_elements("|b1", "True", &data, 6),
            "the bool at index [0, 2] is 7 (byte 65), needed 0 or 1"
        );
    }

    /// Reads without knowing the length of the input, as from a pipe.
    #[test]
    fn elements_that_end_too_soon_or_too_late_are_refused() {
        assert_eq!(
            of_elements("<f4", "False", &[0; 23], 24),
            "the data is truncated: the header declares f32[2, 3], 24 bytes, but 23 bytes follow"
        );
        assert_eq!(
            of_elements("<f4", "False", &[0; 25], 24),
            "unexpected data after the 24 bytes of f32[2, 3]"
        );
    }

    #[test]
    fn types_of_others_are_named() {
        for (descr, name) in [
            ("'<f2'", "f16"),
            ("'<f16'", "longdouble"),
            ("'>f12'", "longdouble"),
            ("'<c8'", "c64"),
            ("'<c32'", "clongdouble"),
            ("'|u1'", "u8"),
            ("'<U3'", "U3"),
            ("[('a', '<f4')]", "[('a', '<f4')]"),
            ("[('\u{7}', '<f4')]", "[('\\u{7}', '<f4')]"),
        ] {
            let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ()}}");
            let found = Header::read(&mut &file(&header)[..]).expect("it is valid");
            assert_eq!(found.layout.dtype, name);
        }
    }
}
