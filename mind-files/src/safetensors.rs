//! The format safetensors: a header in JSON, followed by the elements of all arrays.
//!
//! ```
//! use mind_files::{Names, safetensors};
//! use mind_rt::{Tensor, optim::Adam};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("state.safetensors");
//! let weights: Tensor![f32; 2, 3] = Tensor::full(1.0);
//! let state = Adam::zeros_like(&weights);
//! safetensors::save(&path, &state)?;
//!
//! let mut loaded = Adam::zeros_like(&weights);
//! safetensors::load(&path, &mut loaded)?;
//! assert_eq!(loaded, state);
//!
//! let mut other: Tensor![f32; 2, 4] = Tensor::zeros();
//! let names = Names::by(|_| "mean".into()).allow_unexpected();
//! let error = safetensors::load_as(&path, &mut other, &names).unwrap_err();
//! let expected = "`mean` is f32[2, 3], needed f32[2, 4], for the tensor without a name";
//! assert!(error.to_string().ends_with(expected));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};

use crate::archive::Archive;
use crate::blocks::{Sink, Stopped, blocks};
use crate::error::{Error, Fault};
use crate::layout::{Arrays, Layout};
use crate::truth;

/// The maximum length of a header in bytes, which is that of the crate `safetensors`.
const MAX_HEADER: u64 = 100_000_000;

/// The only key of a header that is not the name of an array.
const METADATA: &str = "__metadata__";

/// A file in the format safetensors, whose header has been read and checked.
#[derive(Debug)]
pub struct File<R> {
    reader: R,
    /// The position in the file where the elements begin.
    start: u64,
    header: Header,
}

/// The contents of a header.
#[derive(Debug)]
struct Header {
    arrays: Arrays,
    /// The byte range of the elements of each array, relative to the first element of all.
    spans: BTreeMap<String, Range<u64>>,
    metadata: BTreeMap<String, String>,
}

impl File<BufReader<fs::File>> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// A description of what is wrong with the file. The only memory allocated for a declared length is that of the
    /// header, of at most 100 MB, after checking that the file is as long.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let (file, length) = crate::open(path).map_err(|fault| fault.of(path))?;
        Self::read(BufReader::new(file), length).map_err(|fault| fault.of(path))
    }
}

impl<'a> File<Cursor<&'a [u8]>> {
    /// Reads the header of a file in memory.
    ///
    /// # Errors
    /// A description of what is wrong with the file.
    pub fn of_bytes(bytes: &'a [u8]) -> Result<Self, Fault> {
        Self::read(Cursor::new(bytes), bytes.len() as u64)
    }
}

impl<R: Read + Seek> File<R> {
    /// Reads the header of a file of `length` bytes.
    fn read(mut reader: R, length: u64) -> Result<Self, Fault> {
        let mut start = [0; 8];
        if length < 8 {
            return Err(Fault::CutOff { found: length, needed: 8 });
        }
        reader.read_exact(&mut start).map_err(Fault::Read)?;
        let header = u64::from_le_bytes(start);
        if header > MAX_HEADER {
            let message = format!("the header has {header} bytes, more than the limit of {MAX_HEADER}");
            return Err(Fault::Malformed(message));
        }
        let start = header + 8;
        if length < start {
            return Err(Fault::CutOff { found: length, needed: start });
        }
        let mut text = Vec::new();
        reader.by_ref().take(header).read_to_end(&mut text).map_err(Fault::Read)?;
        let (header, data) = Header::parse(&text)
            .map_err(|error| Fault::Malformed(format!("the header is not valid, {error}")))?;
        let needed = start.saturating_add(data);
        if length < needed {
            return Err(Fault::CutOff { found: length, needed });
        }
        if length > needed {
            return Err(Fault::Malformed(format!(
                "unexpected data after the tensors: got {length} bytes, needed {needed}"
            )));
        }
        Ok(Self { reader, start, header })
    }

    /// The metadata in the header: texts by name.
    pub const fn metadata(&self) -> &BTreeMap<String, String> {
        &self.header.metadata
    }
}

impl<R: Read + Seek> Archive for File<R> {
    fn arrays(&self) -> &Arrays {
        &self.header.arrays
    }

    /// Does nothing: opening the file has compared the header with the length of the file.
    fn verify(&mut self, _: &str) -> Result<(), Fault> {
        Ok(())
    }

    fn read(&mut self, name: &str, to: Sink<'_>) -> Result<(), Fault> {
        let span = self.header.spans.get(name).expect("the array is one of the file");
        let begin = self.start + span.start;
        self.reader.seek(SeekFrom::Start(begin)).map_err(Fault::Read)?;
        let length = usize::try_from(span.end - span.start).expect("memory was taken for as much");
        let layout = &self.header.arrays[name];
        let read = blocks(&mut self.reader, length, |start, block| {
            truth::check(layout, false, begin, start, block).map_err(|fault| fault.within(name))?;
            to(start, block);
            Ok(())
        });
        read.map_err(|stopped| match stopped {
            // The file was truncated after it was opened.
            Stopped::After(found) => {
                Fault::CutOff { found: begin + found as u64, needed: self.start + span.end }
            }
            Stopped::By(fault) => fault,
        })
    }
}

impl Header {
    /// Parses the text of a header. Also returns the number of bytes of all elements.
    fn parse(text: &[u8]) -> Result<(Self, u64), Box<dyn std::error::Error>> {
        let Entries { mut arrays, metadata } = serde_json::from_slice(text)?;
        arrays.sort_by_key(|(_, info)| info.data_offsets);
        // The check of the crate `safetensors`: extents must not overflow, and offsets must not overlap, leave gaps or
        // have the wrong length.
        let data = Metadata::new(None, arrays.clone())?.data_len() as u64;
        let span = |(start, end): (usize, usize)| start as u64..end as u64;
        let spans = arrays.iter().map(|(name, info)| (name.clone(), span(info.data_offsets))).collect();
        let layout = |info: TensorInfo| Layout { dtype: name_of(info.dtype), dims: info.shape };
        let arrays = arrays.into_iter().map(|(name, info)| (name, layout(info))).collect();
        Ok((Self { arrays, spans, metadata }, data))
    }
}

/// The entries of a header. A duplicate name is an error, while the reader of the crate `safetensors` takes the last
/// one.
struct Entries {
    arrays: Vec<(String, TensorInfo)>,
    metadata: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with one entry per array")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let (mut arrays, mut metadata) = (BTreeMap::new(), None);
                while let Some(name) = map.next_key::<String>()? {
                    let twice = || A::Error::custom(format!("two arrays are called {name:?}"));
                    if name == METADATA {
                        // `null` stands for no metadata, as in the reader of the crate `safetensors`.
                        let texts = map.next_value::<Option<BTreeMap<_, _>>>()?.unwrap_or_default();
                        if metadata.replace(texts).is_some() {
                            return Err(twice());
                        }
                    } else if arrays.insert(name.clone(), map.next_value()?).is_some() {
                        return Err(twice());
                    }
                }
                let metadata = metadata.unwrap_or_default();
                Ok(Entries { arrays: arrays.into_iter().collect(), metadata })
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// The name of an element type in the style of the language: `f32`, `bf16`.
fn name_of(dtype: Dtype) -> String {
    dtype.to_string().to_lowercase()
}

#[cfg(feature = "parameters")]
pub use of_parameters::*;

#[cfg(feature = "parameters")]
mod of_parameters {
    use std::cmp::Reverse;
    use std::io::{self, Write};

    use mind_rt::{Elements, Parameters};

    use super::*;
    use crate::names::Names;
    use crate::parameters::{Written, whole_files, write_elements, written};
    use crate::replace::replace;

    whole_files!();

    fn save_to(path: &Path, parameters: &impl Parameters, names: &Names<'_>) -> Result<(), Fault> {
        save_with_texts(path, parameters, names, &BTreeMap::new())
    }

    /// Does the same as [`save_as`], with texts in the metadata of the file.
    ///
    /// # Errors
    /// The errors of [`save_as`].
    pub fn save_with(
        path: impl AsRef<Path>,
        parameters: &impl Parameters,
        names: &Names<'_>,
        metadata: &BTreeMap<String, String>,
    ) -> Result<(), Error> {
        let path = path.as_ref();
        save_with_texts(path, parameters, names, metadata).map_err(|fault| fault.of(path))
    }

    fn save_with_texts(
        path: &Path,
        parameters: &impl Parameters,
        names: &Names<'_>,
        metadata: &BTreeMap<String, String>,
    ) -> Result<(), Fault> {
        let parts = ordered(parameters, names)?;
        let header = header(&parts, metadata)?;
        replace(path, |file| write(file, &header, &parts)).map_err(Fault::Write)
    }

    /// The bytes that [`save_as`] writes to a file.
    ///
    /// # Errors
    /// The errors of [`save_as`].
    pub fn to_bytes(parameters: &impl Parameters, names: &Names<'_>) -> Result<Vec<u8>, Fault> {
        let parts = ordered(parameters, names)?;
        let header = header(&parts, &BTreeMap::new())?;
        let mut bytes = Vec::new();
        write(&mut bytes, &header, &parts).map_err(Fault::Write)?;
        Ok(bytes)
    }

    /// Sets parameters to the values in a file in memory.
    ///
    /// # Errors
    /// The errors of [`load`].
    pub fn from_bytes(
        bytes: &[u8],
        parameters: &mut impl Parameters,
        names: &Names<'_>,
    ) -> Result<(), Fault> {
        File::of_bytes(bytes)?.load(parameters, names)
    }

    /// The function that `weights!` of the facade calls: `zeros` with the values from a file, which was checked when
    /// the program was compiled.
    #[doc(hidden)]
    pub fn embedded<P: Parameters>(
        zeros: P,
        bytes: &[u8],
        names: &[(&str, &str)],
        allow_unexpected: bool,
    ) -> P {
        let (mut parameters, names) = (zeros, Names::pairs(names.iter().copied()));
        let names = if allow_unexpected { names.allow_unexpected() } else { names };
        let loaded = from_bytes(bytes, &mut parameters, &names);
        loaded.expect("the file is the one that was checked when this was compiled");
        parameters
    }

    /// The parts in the order of the file: wide elements first, so that each array has the alignment of its elements.
    fn ordered<'a>(parameters: &'a impl Parameters, names: &Names<'_>) -> Result<Vec<Written<'a>>, Fault> {
        let mut parts = written(parameters, names)?;
        parts.sort_by_key(|part| Reverse(dtype(part.elements).bitsize()));
        Ok(parts)
    }

    const fn dtype(elements: Elements<'_>) -> Dtype {
        match elements {
            Elements::F32(_) => Dtype::F32,
            Elements::F64(_) => Dtype::F64,
            Elements::U8(_) => Dtype::U8,
            Elements::I32(_) => Dtype::I32,
            Elements::I64(_) => Dtype::I64,
            Elements::Bool(_) => Dtype::BOOL,
        }
    }

    /// The header, preceded by its length. The writer of the crate `safetensors` is not used, since it writes metadata
    /// in varying order.
    fn header(parts: &[Written<'_>], metadata: &BTreeMap<String, String>) -> Result<Vec<u8>, Fault> {
        let mut entries = serde_json::Map::new();
        let json = |value| serde_json::to_value(value).expect("a table of texts is JSON");
        if !metadata.is_empty() {
            entries.insert(METADATA.into(), json(metadata));
        }
        let mut start = 0;
        for part in parts {
            if part.name == METADATA {
                let message = format!("a parameter cannot be called `{METADATA}`");
                return Err(Fault::Malformed(message));
            }
            let (dtype, shape) = (dtype(part.elements), part.layout.dims.clone());
            let end = start + part.elements.len() * (dtype.bitsize() / 8);
            let info = TensorInfo { dtype, shape, data_offsets: (start, end) };
            let info =
                serde_json::to_value(info).expect("the dtype, shape and offsets of an array are valid JSON");
            entries.insert(part.name.clone(), info);
            start = end;
        }
        let mut text = serde_json::Value::Object(entries).to_string().into_bytes();
        text.resize(text.len().next_multiple_of(8), b' ');
        let length = text.len() as u64;
        if length > MAX_HEADER {
            let message =
                format!("the header would have {length} bytes, more than the limit of {MAX_HEADER}");
            return Err(Fault::Malformed(message));
        }
        Ok([&length.to_le_bytes()[..], &text].concat())
    }

    fn write(to: &mut impl Write, header: &[u8], parts: &[Written<'_>]) -> io::Result<()> {
        to.write_all(header)?;
        parts.iter().try_for_each(|part| write_elements(part.elements, to))
    }
}
