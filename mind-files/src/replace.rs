//! Files that are whole at any moment.

use std::ffi::OsString;
use std::fs::{self, File, FileType, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file beside, as `net.safetensors.part`, syncs it and renames it to `path`. Whoever is killed, and whenever, `path`
/// is what it was before or what it is to be, and what stays beside is used again by the next.
///
/// | `path` is | then |
/// | --- | --- |
/// | a file, or nothing yet | it is replaced |
/// | a symbolic link | it stays, and the file that it leads to is replaced, or made |
/// | a character device or a FIFO | it is written to and stays; a FIFO waits for its reader |
/// | a directory, a block device, a socket | an error |
///
/// A device or FIFO keeps whatever was written before an error, and cannot seek.
///
/// # Errors
/// What the system says, or `write`; an error of kind [`io::ErrorKind::WouldBlock`] if another is writing the same file.
pub fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> io::Result<()> {
    match target(path)? {
        Target::File(path) => replace_file(&path, write),
        Target::Stream => {
            // What is cut to nothing is a file that has lost its name; of streams it changes nothing.
            let stream = OpenOptions::new().write(true).truncate(true).open(path)?;
            fill(&stream, write)
        }
    }
}

/// What a path leads to.
enum Target {
    /// A file of this name, which is no link, or a name that is free.
    File(PathBuf),
    /// What is written where it is: a character device, a FIFO, a file without a name.
    Stream,
}

fn target(path: &Path) -> io::Result<Target> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        // There is nothing, or a link to nothing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Target::File(linked(path)?)),
        Err(error) => return Err(error),
    };
    if found.is_file() {
        let name = linked(path)?;
        // Links in /proc lead to open files, which may have lost their names.
        let is_named = fs::metadata(&name).is_ok_and(|named| is_same(&found, &named));
        return Ok(if is_named { Target::File(name) } else { Target::Stream });
    }
    if found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    if is_stream(found.file_type()) {
        return Ok(Target::Stream);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file, character device or FIFO"))
}

/// The path at the end of a chain of links.
fn linked(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const LONGEST_CHAIN: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..=LONGEST_CHAIN {
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("it is a link to more links than are followed"))
}

fn replace_file(path: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> io::Result<()> {
    let mut beside: OsString = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let file = locked(&beside)?;
    file.set_len(0)?;
    fill(&file, write)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    // The name is the folder's, and on the disk when that is. Other systems do not open folders.
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

fn fill(file: &File, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::new(file);
    write(&mut writer)?;
    writer.flush()
}

/// The file of this name, to be written by nobody else until it is dropped or renamed.
fn locked(path: &Path) -> io::Result<File> {
    loop {
        // A link would be renamed and not the file, and a FIFO would wait for a reader.
        if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
            let message = format!("{} is no file", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("another is writing {}", path.display());
                return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
            }
            // File systems without locks are none the worse for one writer.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Who had the lock before may have renamed the file since it was opened.
        match fs::metadata(path) {
            Ok(named) if is_same(&file.metadata()?, &named) => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether both are of one file.
#[cfg(unix)]
fn is_same(first: &Metadata, second: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (first.dev(), first.ino()) == (second.dev(), second.ino())
}

/// Elsewhere there is no telling.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn is_stream(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;

    kind.is_char_device() || kind.is_fifo()
}

/// Elsewhere what is neither a file nor a directory is a device.
#[cfg(not(unix))]
fn is_stream(_: FileType) -> bool {
    true
}
