//! The format `.npz` of NumPy: a zip archive of named arrays in the format [`npy`].
//!
//! ```
//! use mind_files::{Archive, npz};
//! use mind_rt::{Const, Tensor};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("layers.npz");
//! let layers: Vec<Tensor![f32; 2, 3]> = vec![Tensor::full(1.0), Tensor::full(2.0)];
//! npz::save(&path, &layers)?; // numpy.load(path)["0"]
//!
//! let mut loaded: Vec<Tensor![f32; 2, 3]> = vec![Tensor::zeros(), Tensor::zeros()];
//! npz::load(&path, &mut loaded)?;
//! assert_eq!(loaded, layers);
//! let second = npz::File::open(&path)?.tensor::<f32, (usize, Const<3>)>("1")?;
//! assert_eq!(second.dims(), [2, 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reads archives of `numpy.savez` and `numpy.savez_compressed`. Writes archives like those of `numpy.savez`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::Path;

use zip::read::ZipFile;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::archive::Archive;
use crate::blocks::Sink;
use crate::error::{Error, Fault};
use crate::layout::{Arrays, Layout};
use crate::npy;

/// The extension that the name of an entry has after the name of its array.
const EXTENSION: &str = ".npy";

/// An archive whose headers have been read and checked.
#[derive(Debug)]
pub struct File<R> {
    archive: ZipArchive<R>,
    arrays: Arrays,
    /// The position of the entry of each array.
    entries: BTreeMap<String, usize>,
}

impl File<BufReader<fs::File>> {
    /// Opens a file and reads the headers of its arrays.
    ///
    /// # Errors
    /// A description of what is wrong with the file. No memory is allocated for lengths that it declares.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let open = || Self::read(BufReader::new(crate::open(path)?.0));
        open().map_err(|fault| fault.of(path))
    }
}

impl<'a> File<Cursor<&'a [u8]>> {
    /// Reads the headers of an archive in memory.
    ///
    /// # Errors
    /// A description of what is wrong with the archive.
    pub fn of_bytes(bytes: &'a [u8]) -> Result<Self, Fault> {
        Self::read(Cursor::new(bytes))
    }
}

impl<R: Read + Seek> File<R> {
    fn read(reader: R) -> Result<Self, Fault> {
        let mut archive = ZipArchive::new(reader).map_err(|error| refused(&error))?;
        if archive.has_duplicate_names() {
            return Err(Fault::Malformed("two entries have the same name".into()));
        }
        // With entries that share bytes, a small file could contain many large arrays.
        if archive.has_overlapping_entries().map_err(|error| refused(&error))? {
            return Err(Fault::Malformed("the entries overlap".into()));
        }
        let (mut arrays, mut entries) = (Arrays::new(), BTreeMap::new());
        for position in 0..archive.len() {
            let mut entry = archive.by_index(position).map_err(|error| refused(&error))?;
            let name = entry.name().map_err(|error| refused(&error))?.into_owned();
            let (name, layout) = match name.strip_suffix(EXTENSION) {
                Some(name) => {
                    let header = header(&mut entry, name)?;
                    (name.to_owned(), header.layout)
                }
                None => {
                    let dims = usize::try_from(entry.size()).into_iter().collect();
                    (name, Layout { dtype: "bytes".into(), dims })
                }
            };
            if arrays.insert(name.clone(), layout).is_some() {
                return Err(Fault::Malformed(format!("two entries are called `{}`", name.escape_debug())));
            }
            entries.insert(name, position);
        }
        Ok(Self { archive, arrays, entries })
    }

    /// The entry of an array.
    fn entry(&mut self, name: &str) -> Result<ZipFile<'_, R>, Fault> {
        let position = *self.entries.get(name).expect("the array is one of the file");
        self.archive.by_index(position).map_err(|error| refused(&error))
    }
}

/// Reads the header of an entry. It must match the length that the archive declares for the entry.
fn header<R: Read>(entry: &mut ZipFile<'_, R>, name: &str) -> Result<npy::Header, Fault> {
    let header = npy::Header::read(entry).map_err(|fault| fault.within(name))?;
    let data = entry.size().saturating_sub(header.length());
    header.check(data).map_err(|fault| fault.within(name))?;
    Ok(header)
}

fn refused(error: &ZipError) -> Fault {
    Fault::Malformed(format!("not a readable .npz file: {error}"))
}

impl<R: Read + Seek> Archive for File<R> {
    fn arrays(&self) -> &Arrays {
        &self.arrays
    }

    /// The length of a stored entry is known from the archive. The length of a compressed entry is known only after
    /// inflating it, so this function inflates it and discards the bytes.
    fn verify(&mut self, name: &str) -> Result<(), Fault> {
        let mut entry = self.entry(name)?;
        let header = header(&mut entry, name)?;
        let found = match entry.compression() {
            CompressionMethod::Stored => entry.compressed_size().saturating_sub(header.length()),
            _ => io::copy(&mut entry, &mut io::sink()).map_err(|error| Fault::Read(error).within(name))?,
        };
        header.check(found).map_err(|fault| fault.within(name))
    }

    fn read(&mut self, name: &str, to: Sink<'_>) -> Result<(), Fault> {
        let mut entry = self.entry(name)?;
        let header = header(&mut entry, name)?;
        // Reading checks that nothing follows the last element. At the end of the entry, the checksum is compared.
        header.read_to(&mut entry, to).map_err(|fault| fault.within(name))
    }
}

#[cfg(feature = "parameters")]
pub use of_parameters::*;

#[cfg(feature = "parameters")]
mod of_parameters {
    use std::io::{BufWriter, Write};

    use mind_rt::Parameters;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::names::Names;
    use crate::parameters::{Written, whole_files, write_elements, written};
    use crate::replace::replace;

    whole_files!();

    fn save_to(path: &Path, parameters: &impl Parameters, names: &Names<'_>) -> Result<(), Fault> {
        let parts = written(parameters, names)?;
        replace(path, |file| write_to(file, &parts)).map_err(Fault::Write)
    }

    /// Writes an archive to a file, or to a FIFO or device, which cannot seek and receives the bytes that a file would
    /// have.
    fn write_to(to: &mut BufWriter<&fs::File>, parts: &[Written<'_>]) -> io::Result<()> {
        if to.get_ref().metadata()?.is_file() {
            return write(to, parts);
        }
        let mut archive = Cursor::new(Vec::new());
        archive.get_mut().try_reserve_exact(parts.iter().map(longest).sum())?;
        write(&mut archive, parts)?;
        to.write_all(archive.get_ref())
    }

    /// An upper bound on the bytes of a part in an archive: its elements, two headers of zip and one of the format.
    fn longest(part: &Written<'_>) -> usize {
        const HEADERS: usize = 1024;
        part.elements.len() * 8 + 2 * part.name.len() + 32 * part.layout.dims.len() + HEADERS
    }

    /// Writes an archive without compression. It contains no times, so equal parameters give equal files.
    pub(crate) fn write(to: &mut (impl Write + Seek), parts: &[Written<'_>]) -> io::Result<()> {
        let mut archive = ZipWriter::new(to);
        for part in parts {
            let header = npy::Header::write(&part.layout);
            let bytes = header.len() as u64 + part.elements.len() as u64 * 8;
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Stored)
                .large_file(bytes > u64::from(u32::MAX));
            archive.start_file(format!("{}{EXTENSION}", part.name), options)?;
            archive.write_all(&header)?;
            write_elements(part.elements, &mut archive)?;
        }
        archive.finish()?;
        Ok(())
    }
}
