//! Files that are whole at any moment.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file beside, as `net.safetensors.part`, syncs it and renames it to `path`. Whoever is killed, and whenever, `path`
/// is what it was before or what it is to be, and what stays beside is used again by the next.
///
/// # Errors
/// What the system says, or `write`; an error of kind [`io::ErrorKind::WouldBlock`] if another is writing the same file.
pub fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> io::Result<()> {
    let mut beside: OsString = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let file = locked(&beside)?;
    file.set_len(0)?;
    let mut writer = BufWriter::new(&file);
    write(&mut writer)?;
    writer.flush()?;
    drop(writer);
    file.sync_all()?;
    fs::rename(&beside, path)?;
    // The name is the folder's, and on the disk when that is. Other systems do not open folders.
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

/// The file of this name, to be written by nobody else until it is dropped or renamed.
fn locked(path: &Path) -> io::Result<File> {
    loop {
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
        if has_name(&file, path)? {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn has_name(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((own.dev(), own.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere there is no telling.
#[cfg(not(unix))]
fn has_name(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
