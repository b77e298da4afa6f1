//! NumPy's format `.npz`: arrays of the format [`npy`] by name, in a zip archive.
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
//! Archives of `numpy.savez` and of `numpy.savez_compressed` are read; what is written is as that of the first.

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

/// What an array's entry is called behind the array's name.
const EXTENSION: &str = ".npy";

/// An archive of which the headers are read and checked.
#[derive(Debug)]
pub struct File<R> {
    archive: ZipArchive<R>,
    arrays: Arrays,
    /// Of each array, which entry it is.
    entries: BTreeMap<String, usize>,
}

impl File<BufReader<fs::File>> {
    /// Opens a file and reads the headers of its arrays.
    ///
    /// # Errors
    /// What is wrong with it. No memory is taken for what it says of its lengths.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let open = || Self::read(BufReader::new(crate::open(path)?.0));
        open().map_err(|fault| fault.of(path))
    }
}

impl<'a> File<Cursor<&'a [u8]>> {
    /// Reads the headers of an archive that is in memory.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of_bytes(bytes: &'a [u8]) -> Result<Self, Fault> {
        Self::read(Cursor::new(bytes))
    }
}

impl<R: Read + Seek> File<R> {
    fn read(reader: R) -> Result<Self, Fault> {
        let mut archive = ZipArchive::new(reader).map_err(|error| refused(&error))?;
        if archive.has_duplicate_names() {
            return Err(Fault::Malformed("a name is there twice".into()));
        }
        // Entries that share bytes make a small file one of many large ones.
        if archive.has_overlapping_entries().map_err(|error| refused(&error))? {
            return Err(Fault::Malformed("its entries overlap".into()));
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
                return Err(Fault::Malformed(format!("`{}` is there twice", name.escape_debug())));
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

/// The header of an entry, which the length that the archive tells of it has to be that of.
fn header<R: Read>(entry: &mut ZipFile<'_, R>, name: &str) -> Result<npy::Header, Fault> {
    let header = npy::Header::read(entry).map_err(|fault| fault.within(name))?;
    let data = entry.size().saturating_sub(header.length());
    header.check(data).map_err(|fault| fault.within(name))?;
    Ok(header)
}

fn refused(error: &ZipError) -> Fault {
    Fault::Malformed(format!("it is no .npz file that can be read: {error}"))
}

impl<R: Read + Seek> Archive for File<R> {
    fn arrays(&self) -> &Arrays {
        &self.arrays
    }

    /// A stored entry is as long as the part of the file that it is. What an entry inflates to is known once it is inflated,
    /// which this does to nowhere.
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
        // What follows the last element is nothing, and to find that out the checksum is compared.
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

    /// Writes an archive to what may be unable to seek: a FIFO or a device gets the bytes that a file would have.
    fn write_to(to: &mut BufWriter<&fs::File>, parts: &[Written<'_>]) -> io::Result<()> {
        if to.get_ref().metadata()?.is_file() {
            return write(to, parts);
        }
        let mut archive = Cursor::new(Vec::new());
        archive.get_mut().try_reserve_exact(parts.iter().map(longest).sum())?;
        write(&mut archive, parts)?;
        to.write_all(archive.get_ref())
    }

    /// The bytes that a part takes in an archive, or some more: its elements, two headers of zip and one of the format.
    fn longest(part: &Written<'_>) -> usize {
        const HEADERS: usize = 1024;
        part.elements.len() * 8 + 2 * part.name.len() + 32 * part.layout.dims.len() + HEADERS
    }

    /// Writes an archive, not compressed. It has no times in it, so that equal parameters make equal files.
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
