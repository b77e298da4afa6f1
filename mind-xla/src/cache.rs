//! Compiled programs in files, so that a later process loads them in place of compiling them again.

use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::error::{Error, Failure};
use crate::ffi;

/// A folder of compiled programs, for [`Client::cache`](crate::Client::cache).
///
/// A program is found again if all of these are the same: its StableHLO text, its options and devices, the plugin's
/// file and versions, the kinds of the devices, the processor, and XLA's environment variables. The name of a file is
/// the hash of all of them.
///
/// - **Trust**: the files hold native code, which a plugin runs. So the folder must belong to the user alone. Every
///   file has a checksum, and a damaged file is not loaded: its program is compiled again and replaces it.
/// - **Size**: when a program is stored, the programs that were not used for the longest time are removed until the
///   folder is within its [limit](Self::limit). Files of other names are left alone.
/// - **Several processes** may use one folder. A file is written under another name and then renamed.
///
/// ```
/// use mind_xla::Cache;
///
/// let folder = tempfile::tempdir()?;
/// let cache = Cache::open(folder.path().join("xla"))?.limit(64 << 20);
/// # let _ = cache;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// What the cache of a client did for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cached {
    /// The client has no cache.
    Off,
    /// The program was in the cache and was not compiled.
    Found,
    /// The program was compiled and stored.
    Stored,
    /// The program was compiled and could not be stored, for this reason.
    NotStored(String),
}

/// The start of every file.
const MAGIC: &[u8; 24] = b"mind-xla executable 0001";
/// The magic, the key, the checksum and the size.
const HEADER: usize = MAGIC.len() + 32 + 32 + 8;
/// The extension of a program, and of a file that is being written.
const EXTENSIONS: [&str; 2] = ["xla", "part"];
/// A file that is being written for longer than this was left by a process that was killed.
const LONGEST_WRITE: Duration = Duration::from_secs(3600);

/// The hash of all that a compiled program depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of a program with this text and these options, on the first devices of a client.
    ///
    /// # Errors
    /// If the plugin does not describe itself.
    pub fn new(client: &ffi::Client, devices: usize, text: &str, options: &[u8]) -> Result<Self, Failure> {
        let (major, minor) = client.version();
        let [platform, platform_version] = client.platform()?;
        let mut parts: Vec<Vec<u8>> = vec![
            concat!("mind-xla ", env!("CARGO_PKG_VERSION")).into(),
            format!("{} {}", std::env::consts::ARCH, std::env::consts::OS).into_bytes(),
            processor().into_bytes(),
            xla_flags(),
            std::env::var_os("LIBTPU_INIT_ARGS").unwrap_or_default().into_encoded_bytes(),
            format!("PJRT {major}.{minor}").into_bytes(),
            client.plugin_file().into(),
            platform.into_bytes(),
            platform_version.into_bytes(),
        ];
        for device in 0..devices {
            let (_, [kind, _]) = client.device(device)?;
            parts.push(kind.into_bytes());
        }
        parts.extend([options.to_vec(), text.as_bytes().to_vec()]);
        let mut all = Vec::new();
        for part in parts {
            all.extend_from_slice(&(part.len() as u64).to_le_bytes());
            all.extend_from_slice(&part);
        }
        Ok(Self(Sha256::digest(&all).into()))
    }

    fn name(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The lines of Linux that tell what a processor can run. Empty on other systems, where XLA checks the code that it
/// loads.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    let names = ["vendor_id", "model name", "flags", "CPU implementer", "CPU part", "Features"];
    first.lines().filter(|line| names.iter().any(|name| line.starts_with(name))).collect()
}

/// XLA's flags: the text of the variable `XLA_FLAGS`, with that of the file if it names one.
fn xla_flags() -> Vec<u8> {
    let flags = std::env::var_os("XLA_FLAGS").unwrap_or_default();
    let mut file = if flags.as_encoded_bytes().starts_with(b"-") {
        Vec::new()
    } else {
        fs::read(&flags).unwrap_or_default()
    };
    let mut all = flags.into_encoded_bytes();
    all.push(0);
    all.append(&mut file);
    all
}

impl Cache {
    /// The limit of a cache's size unless another is set: 1 GiB.
    pub const DEFAULT_LIMIT: u64 = 1 << 30;

    /// Opens a folder for compiled programs, and creates it if it does not exist. Only the user may have rights on the
    /// folder: on Unix its mode is 700. Other systems have no such mode, and the folder's rights are not checked there.
    ///
    /// # Errors
    /// If the folder cannot be created or written, or other users have rights on it.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = folder.as_ref();
        let refused = |reason| Error::Cache { folder: folder.to_owned(), reason };
        create(folder).map_err(|error| refused(error.to_string()))?;
        let cache = Self { folder: folder.to_owned(), limit: Self::DEFAULT_LIMIT };
        let (file, path) = cache.part("probe").map_err(|error| refused(error.to_string()))?;
        let checked = check_rights(folder, &file);
        drop(file);
        fs::remove_file(path).map_err(|error| refused(error.to_string()))?;
        checked.map_err(refused)?;
        Ok(cache)
    }

    /// Sets the number of bytes that all programs together may have.
    #[must_use]
    pub const fn limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// The serialised program of a key. `None` if there is none, or its file is damaged.
    pub(crate) fn find(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        let metadata = fs::symlink_metadata(&path).ok()?;
        if !metadata.is_file() || metadata.len() > self.limit.saturating_add(HEADER as u64) {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(&path).ok()?.take(metadata.len()).read_to_end(&mut bytes).ok()?;
        let (header, program) = bytes.split_at_checked(HEADER)?;
        if header != self::header(key, program) {
            return None;
        }
        // The time of the last use decides which program is removed first. Without it the program may go too early.
        let _ =
            File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        bytes.drain(..HEADER);
        Some(bytes)
    }

    /// Stores the serialised program of a key, and removes others until the folder is within its limit.
    ///
    /// # Errors
    /// The reason why the program cannot be stored. Nothing is stored then.
    pub(crate) fn store(&self, key: Key, program: &[u8]) -> Result<(), String> {
        let size = (HEADER + program.len()) as u64;
        if size > self.limit {
            return Err(format!(
                "the program has {size} bytes, and the limit of the cache is {}",
                self.limit
            ));
        }
        self.write(key, program)
            .and_then(|()| self.trim(key))
            .map_err(|error| format!("cannot write to {}: {error}", self.folder.display()))
    }

    fn write(&self, key: Key, program: &[u8]) -> io::Result<()> {
        let (mut file, part) = self.part(&key.name())?;
        let written = file.write_all(&header(key, program)).and_then(|()| file.write_all(program));
        drop(file);
        let stored = written.and_then(|()| fs::rename(&part, self.path(key)));
        if stored.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(part);
        }
        stored
    }

    /// Removes files that a killed process left, and the programs that were not used for the longest time, except the
    /// one of `newest`.
    fn trim(&self, newest: Key) -> io::Result<()> {
        let mut programs = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let (Some(extension), Ok(metadata)) = (extension(&entry), entry.metadata()) else { continue };
            let age = metadata.modified().ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
            if extension == EXTENSIONS[0] && metadata.is_file() {
                programs.push((age, metadata.len(), entry.path()));
            } else if extension == EXTENSIONS[1] && metadata.is_file() && age > LONGEST_WRITE {
                remove(&entry.path())?;
            }
        }
        let mut size: u64 = programs.iter().map(|(_, size, _)| size).sum();
        let newest = self.path(newest);
        programs.retain(|(_, _, path)| *path != newest);
        programs.sort();
        while size > self.limit
            && let Some((_, bytes, path)) = programs.pop()
        {
            remove(&path)?;
            size -= bytes;
        }
        Ok(())
    }

    fn path(&self, key: Key) -> PathBuf {
        self.folder.join(key.name()).with_extension(EXTENSIONS[0])
    }

    /// A new file of a name that no other process uses.
    fn part(&self, name: &str) -> io::Result<(File, PathBuf)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let file = format!("{name}.{}-{count}.{}", std::process::id(), EXTENSIONS[1]);
            let path = self.folder.join(file);
            match options.open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => return Ok((file?, path)),
            }
        }
    }
}

/// The bytes before a program in its file.
fn header(key: Key, program: &[u8]) -> Vec<u8> {
    let size = (program.len() as u64).to_le_bytes();
    [&MAGIC[..], &key.0, &Sha256::digest(program)[..], &size].concat()
}

/// The extension of a file that a cache wrote. Other files have none.
fn extension(entry: &DirEntry) -> Option<&'static str> {
    let name = entry.file_name();
    let (stem, extension) = name.to_str()?.rsplit_once('.')?;
    let key = stem.split('.').next()?;
    let is_key = key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    let known = EXTENSIONS.into_iter().find(|known| *known == extension)?;
    (is_key || known == EXTENSIONS[1] && key == "probe").then_some(known)
}

/// Removes a file, which another process may have removed already.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(unix)]
fn create(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Refuses a folder on which others than the user have rights. `file` is a new file of this process in the folder, which
/// tells who the user is.
#[cfg(unix)]
fn check_rights(folder: &Path, file: &File) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(folder).map_err(|error| error.to_string())?;
    if metadata.uid() != file.metadata().map_err(|error| error.to_string())?.uid() {
        return Err("it belongs to another user, whose native code would run".into());
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(format!(
            "other users have rights on it (mode {mode:o}), and it holds native code: run `chmod 700 {}`",
            folder.display()
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_rights(_: &Path, _: &File) -> Result<(), String> {
    Ok(())
}
