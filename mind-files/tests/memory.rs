//! Tests that failing to allocate memory is an error, and that the process continues.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;
use std::process::Command;

use mind_files::{Archive, Error, Fault, Names, npy, npz, safetensors};
use mind_rt::Tensor;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const TEST: &str = "memory_that_cannot_be_had_is_an_error";
const FOLDER: &str = "MIND_FILES_MEMORY_FOLDER";

/// The number of elements: 128 MiB of `f32`. A process limited to `LIMIT` KiB has room for them once.
const ELEMENTS: usize = 32 << 20;
const LIMIT: usize = 230_000;

type Column = Tensor<f32, (usize,)>;

fn names() -> Names<'static> {
    Names::by(|_| "w".into())
}

/// Writes files of zeros in every format. Uncompressed files are sparse.
fn write_files(folder: &Path) {
    let with_hole = |name: &str, header: &[u8]| {
        let mut file = fs::File::create(folder.join(name)).expect("it is new");
        file.write_all(header).expect("it is written");
        file.set_len((header.len() + 4 * ELEMENTS) as u64).expect("it is written");
    };
    let info =
        format!(r#"{{"w":{{"dtype":"F32","shape":[{ELEMENTS}],"data_offsets":[0,{}]}}}}"#, 4 * ELEMENTS);
    let header = [&(info.len() as u64).to_le_bytes()[..], info.as_bytes()].concat();
    with_hole("w.safetensors", &header);
    let layout = mind_files::Layout { dtype: "f32".into(), dims: vec![ELEMENTS] };
    let header = npy::Header::write(&layout);
    with_hole("w.npy", &header);
    for (name, method) in
        [("stored.npz", CompressionMethod::Stored), ("deflated.npz", CompressionMethod::Deflated)]
    {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let level = (method == CompressionMethod::Deflated).then_some(1);
        let options = SimpleFileOptions::default().compression_method(method).compression_level(level);
        archive.start_file("w.npy", options).expect("it is the first");
        archive.write_all(&header).expect("there is memory");
        for _ in 0..128 {
            archive.write_all(&vec![0; 1 << 20]).expect("there is memory");
        }
        let archive = archive.finish().expect("there is memory").into_inner();
        fs::write(folder.join(name), archive).expect("it is written");
    }
}

/// The work of the process with limited memory. It allocates parameters, after which there is no room for the same
/// amount again.
fn load_all(folder: &Path) {
    let at = |name: &str| folder.join(name);
    let parameters = &mut Column::zeros_with((ELEMENTS,));
    let one = |fault: Fault| {
        let message = fault.to_string();
        assert!(matches!(fault, Fault::Memory { .. }), "{message}");
        assert_eq!(message, format!("cannot allocate memory for f32[{ELEMENTS}]"));
    };
    let all = |error: Error| {
        assert!(matches!(error.fault, Fault::Memory { .. }), "{error}");
        let needed = format!("cannot allocate memory for the {} bytes of the parameters", 4 * ELEMENTS);
        assert!(error.to_string().ends_with(&needed), "{error}");
    };
    one(npy::read::<f32, (usize,)>(at("w.npy")).expect_err("it is too large").fault);
    let mut file = safetensors::File::open(at("w.safetensors")).expect("it is whole");
    one(file.tensor::<f32, (usize,)>("w").expect_err("it is too large"));
    all(safetensors::load_as(at("w.safetensors"), parameters, &names()).expect_err("it is too large"));
    for name in ["stored.npz", "deflated.npz"] {
        let mut file = npz::File::open(at(name)).expect("it is whole");
        one(file.tensor::<f32, (usize,)>("w").expect_err("it is too large"));
        all(npz::load_as(at(name), parameters, &names()).expect_err("it is too large"));
    }
    // An archive for a FIFO or device is first written in memory.
    let error = npz::save(Path::new("/dev/null"), parameters).expect_err("it is too large");
    assert!(matches!(error.fault, Fault::Write(_)), "{error}");
}

#[test]
fn memory_that_cannot_be_had_is_an_error() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return load_all(Path::new(&folder));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_files(folder.path());
    let test = std::env::current_exe().expect("the test is a program");
    let mut limited = Command::new("sh");
    limited.arg("-c").arg(format!("ulimit -v {LIMIT} && exec \"$0\" \"$@\""));
    limited.arg(test).args([TEST, "--exact", "--test-threads=1"]).env(FOLDER, folder.path());
    let output = limited.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}
