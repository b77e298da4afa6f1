//! Tests of saving to targets that are not regular files, in every format: links stay links, devices and FIFOs are
//! written to, and other targets are errors.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use mind_files::{Error, Names, npy, npz, safetensors};
use mind_rt::Tensor;
use tempfile::TempDir;

/// More bytes than the buffer of a pipe.
type Weights = Tensor![f64; 300, 100];

type Save = fn(&Path, &Weights) -> Result<(), Error>;

const FORMATS: [(&str, Save); 3] = [
    ("npy", |path, weights| npy::write(path, weights)),
    ("npz", |path, weights| npz::save_as(path, weights, &Names::by(|_| "w".into()))),
    ("safetensors", |path, weights| safetensors::save_as(path, weights, &Names::by(|_| "w".into()))),
];

fn weights() -> Weights {
    Tensor::from_fn(|[row, column]| (row * 100 + column) as f64)
}

/// An empty folder, and the bytes that the format writes for the weights.
fn setting(save: Save) -> (TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("file");
    save(&file, &weights()).expect("it is written");
    let bytes = fs::read(&file).expect("it is there");
    fs::remove_file(file).expect("it is there");
    (folder, bytes)
}

/// The sorted names in a folder, including those of unfinished files.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("it is there").file_name().into_string().expect("UTF-8")).collect();
    names.sort_unstable();
    names
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).expect("it is there").is_symlink()
}

/// Runs a system program on a path. Returns whether it succeeded.
fn made(program: &str, path: &Path, more: &[&str]) -> bool {
    let status = Command::new(program).arg(path).args(more).stderr(Stdio::null()).status();
    status.expect("the program is there").success()
}

/// A new device node if the system allows it, so that a bug does not replace the machine's device.
fn device(folder: &Path, name: &str, minor: &str) -> PathBuf {
    let own = folder.join(name);
    if made("mknod", &own, &["c", "1", minor]) && File::options().write(true).open(&own).is_ok() {
        return own;
    }
    Path::new("/dev").join(name)
}

#[test]
fn a_link_stays_and_its_target_is_replaced() {
    for (format, save) in FORMATS {
        let (folder, bytes) = setting(save);
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("inner")).expect("it is new");
        fs::write(at("inner/target"), "before").expect("it is written");
        let reader = File::open(at("inner/target")).expect("it is there");
        // Links with a relative path to another folder, in a chain, with an absolute path, and through a link to a
        // folder.
        symlink("inner", at("folder")).expect("it is new");
        symlink("../inner/target", at("inner/relative")).expect("it is new");
        symlink("folder/relative", at("chain")).expect("it is new");
        symlink(at("chain"), at("absolute")).expect("it is new");
        for link in ["inner/relative", "folder/relative", "chain", "absolute"] {
            fs::write(at("inner/target"), "before").expect("it is written");
            save(&at(link), &weights()).expect("it is written");
            assert!(is_link(&at(link)) && !is_link(&at("inner/target")), "{format} {link}");
            assert_eq!(fs::read(at("inner/target")).expect("it is there"), bytes, "{format} {link}");
        }
        assert_eq!(names(&at("inner")), ["relative", "target"]);
        assert_eq!(names(folder.path()), ["absolute", "chain", "folder", "inner"]);
        // The replacement is atomic: a reader that has the old file open reads all of it.
        let mut before = String::new();
        (&reader).read_to_string(&mut before).expect("it is open");
        assert_eq!(before, "before");
    }
}

#[test]
fn a_link_to_nothing_makes_its_target() {
    for (format, save) in FORMATS {
        let (folder, bytes) = setting(save);
        let at = |name: &str| folder.path().join(name);
        symlink("second", at("first")).expect("it is new");
        symlink("target", at("second")).expect("it is new");
        save(&at("first"), &weights()).expect("it is written");
        assert!(is_link(&at("first")) && is_link(&at("second")), "{format}");
        assert_eq!(fs::read(at("target")).expect("it is there"), bytes);
        symlink("nowhere/target", at("third")).expect("it is new");
        save(&at("third"), &weights()).expect_err("there is no such folder");
        symlink("loop", at("loop")).expect("it is new");
        save(&at("loop"), &weights()).expect_err("it leads nowhere");
        assert!(is_link(&at("third")) && is_link(&at("loop")));
        assert_eq!(names(folder.path()), ["first", "loop", "second", "target", "third"]);
    }
}

#[test]
fn a_fifo_is_written_to_and_stays() {
    for (format, save) in FORMATS {
        let (folder, bytes) = setting(save);
        let at = |name: &str| folder.path().join(name);
        assert!(made("mkfifo", &at("fifo"), &[]));
        symlink("fifo", at("link")).expect("it is new");
        for name in ["fifo", "link"] {
            let fifo = at(name);
            let reader = thread::spawn(move || fs::read(fifo).expect("it is written to"));
            save(&at(name), &weights()).expect("it is written");
            // This check comes before waiting for the reader, which would wait forever if the FIFO was replaced.
            let kind = fs::symlink_metadata(at("fifo")).expect("it is there").file_type();
            assert!(kind.is_fifo() && is_link(&at("link")), "{format} {name}");
            assert_eq!(reader.join().expect("it reads"), bytes, "{format} {name}");
        }
        // A FIFO whose reader closes it early.
        let fifo = at("fifo");
        let reader = thread::spawn(move || File::open(fifo).expect("it is there").read_exact(&mut [0]));
        let error = save(&at("fifo"), &weights()).expect_err("nobody reads").to_string();
        assert!(error.contains("fifo: cannot write the file: "), "{error}");
        reader.join().expect("it reads").expect("there is a byte");
        assert_eq!(names(folder.path()), ["fifo", "link"]);
    }
}

#[test]
fn a_character_device_is_written_to_and_stays() {
    for (format, save) in FORMATS {
        let (folder, _) = setting(save);
        let [null, full] =
            [("null", "3"), ("full", "7")].map(|(name, minor)| device(folder.path(), name, minor));
        symlink(&null, folder.path().join("link")).expect("it is new");
        let before = names(folder.path());
        save(&null, &weights()).expect("it is written");
        save(&folder.path().join("link"), &weights()).expect("it is written");
        let error = save(&full, &weights()).expect_err("it takes nothing").to_string();
        assert!(error.contains("full: cannot write the file: "), "{error}");
        for device in [null, full] {
            let kind = fs::symlink_metadata(device).expect("it is there").file_type();
            assert!(kind.is_char_device(), "{format}");
        }
        assert_eq!(names(folder.path()), before);
    }
}

#[test]
fn what_cannot_be_written_to_is_refused_and_stays() {
    for (format, save) in FORMATS {
        let (folder, bytes) = setting(save);
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("inner")).expect("it is new");
        symlink("inner", at("link")).expect("it is new");
        let _socket = UnixListener::bind(at("socket")).expect("it is new");
        for (name, why) in [
            ("inner", "it is a directory"),
            ("link", "it is a directory"),
            ("socket", "it is not a regular file, character device or FIFO"),
        ] {
            let error = save(&at(name), &weights()).expect_err("it is refused").to_string();
            assert_eq!(error, format!("{}: cannot write the file: {why}", at(name).display()), "{format}");
        }
        assert_eq!(names(folder.path()), ["inner", "link", "socket"]);
        // The file beside the target must be a regular file too.
        for beside in ["net.part", "run.part"] {
            assert!(made("mkfifo", &at(beside), &[]));
        }
        fs::write(at("other"), "before").expect("it is written");
        fs::remove_file(at("run.part")).expect("it is there");
        symlink("other", at("run.part")).expect("it is new");
        for name in ["net", "run"] {
            let error = save(&at(name), &weights()).expect_err("it is refused").to_string();
            assert!(error.ends_with(&format!("{name}.part is not a regular file")), "{error}");
        }
        assert_eq!(fs::read(at("other")).expect("it is there"), b"before");
        save(&at("other"), &weights()).expect("it is written");
        assert_eq!(fs::read(at("other")).expect("it is there"), bytes);
    }
}

const FORMAT: &str = "MIND_FILES_TARGETS_FORMAT";

/// `/dev/stderr` is a link to a link in `/proc`, which leads to an open file that has no name in any folder. The test
/// creates such a link, so that a bug does not replace the machine's link.
#[test]
#[cfg(target_os = "linux")]
fn an_open_file_is_written_to() {
    const TEST: &str = "targets::an_open_file_is_written_to";
    if let Ok(format) = std::env::var(FORMAT) {
        let (_, save) = FORMATS.into_iter().find(|(name, _)| *name == format).expect("it is one");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let link = folder.path().join("stderr");
        symlink("/proc/self/fd/2", &link).expect("it is new");
        save(&link, &weights()).expect("it is written");
        return assert!(is_link(&link) && names(folder.path()) == ["stderr"]);
    }
    for (format, save) in FORMATS {
        let (folder, bytes) = setting(save);
        let child = || {
            let mut command = Command::new(std::env::current_exe().expect("the test is a program"));
            command.args([TEST, "--exact", "--nocapture"]).env(FORMAT, format).stdout(Stdio::null());
            command
        };
        let output = child().stderr(Stdio::piped()).output().expect("it starts");
        assert!(output.status.success());
        assert_eq!(output.stderr, bytes, "{format} to a pipe");
        let path = folder.path().join("lost");
        let mut lost =
            File::options().read(true).write(true).create_new(true).open(&path).expect("it is new");
        fs::remove_file(&path).expect("it is there");
        let status = child().stderr(lost.try_clone().expect("it is open")).status().expect("it starts");
        assert!(status.success());
        let mut found = Vec::new();
        lost.read_to_end(&mut found).expect("it is open");
        assert_eq!(found, bytes, "{format} to a file without a name");
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
