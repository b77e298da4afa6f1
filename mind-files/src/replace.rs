//! Atomic replacement of files.

use std::ffi::OsString;
use std::fs::{self, File, FileType, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file beside `path`, such as `net.safetensors.part`, syncs it and renames it to `path`. If the process is
/// killed at any moment, `path` is either the old or the new file. The next call reuses a file that was left beside it.
///
/// | `path` is | effect |
/// | --- | --- |
/// | a file, or does not exist | the file is replaced or created |
/// | a symbolic link | the link stays, and the file that it leads to is replaced or created |
/// | a character device or a FIFO | `write` writes to it; a FIFO waits for its reader |
/// | a directory, a block device, a socket | an error |
///
/// A device or FIFO cannot seek, and keeps the bytes that were written before an error.
///
/// # Errors
/// Errors of the system and of `write`; an error of kind [`io::ErrorKind::WouldBlock`] if another process or thread is
/// writing the same file.
pub fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> io::Result<()> {
    match target(path)? {
        Target::File(path) => replace_file(&path, write),
        Target::Stream => {
            // Truncation affects only an unlinked file. It has no effect on devices and FIFOs.
            let stream = OpenOptions::new().write(true).truncate(true).open(path)?;
            fill(&stream, write)
        }
    }
}

/// The target of a path.
enum Target {
    /// A file of this name, which is not a link, or a name that does not exist.
    File(PathBuf),
    /// A target that is written in place: a character device, a FIFO, or an unlinked file, which no longer has a name.
    Stream,
}

fn target(path: &Path) -> io::Result<Target> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        // The path does not exist, or is a link to a path that does not exist.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Target::File(linked(path)?)),
        Err(error) => return Err(error),
    };
    if found.is_file() {
        let name = linked(path)?;
        // Links in /proc lead to open files, which may no longer have a name.
        let is_named = fs::metadata(&name).is_ok_and(|named| is_same(&found, &named));
        return Ok(if is_named { Target::File(name) } else { Target::Stream });
    }
    if found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    if is_stream(found.file_type()) {
        return Ok(Target::Stream);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file, character device or FIFO"))
}

/// The path at the end of a chain of links.
fn linked(path: &Path) -> io::Result<PathBuf> {
    /// The number of links that Linux follows.
    const LONGEST_CHAIN: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..=LONGEST_CHAIN {
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("too many levels of symbolic links"))
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
    // The folder contains the name, so the rename is on disk only after the folder is synced. Other systems cannot open
    // folders.
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

/// Opens the file of this name with an exclusive lock, which is held until the file is dropped.
fn locked(path: &Path) -> io::Result<File> {
    loop {
        // For a link, the rename would move the link and not the file. A FIFO would wait for a reader.
        if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
            let message = format!("{} is not a regular file", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("another writer holds {}", path.display());
                return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
            }
            // On a file system without locks, a single writer works without one.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The previous owner of the lock may have renamed the file after it was opened here.
        match fs::metadata(path) {
            Ok(named) if is_same(&file.metadata()?, &named) => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether both describe the same file.
#[cfg(unix)]
fn is_same(first: &Metadata, second: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (first.dev(), first.ino()) == (second.dev(), second.ino())
}

/// Other systems cannot tell, so files are assumed to be the same.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn is_stream(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;

    kind.is_char_device() || kind.is_fifo()
}

/// On other systems, a path that is neither a file nor a directory is treated as a device.
#[cfg(not(unix))]
fn is_stream(_: FileType) -> bool {
    true
}
