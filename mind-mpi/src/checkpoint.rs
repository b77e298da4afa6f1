//! Checkpoints: safetensors files that also hold the program, the number of steps and a checksum.
//!
//! The metadata of a file has the entry [`ENTRY`], with a text such as `steps 7, crc32 1c291ca3, program digits`. The
//! checksum covers the steps, the program, the layout and the elements, in the order of the parameters.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use mind_files::{Archive, Fault, Names, Part, bytes, layout, safetensors};
use mind_rt::Parameters;

use crate::Error;

/// The key of the entry in the metadata.
const ENTRY: &str = "mind-mpi";

/// Writes a temporary file next to `path`, syncs it and renames it to `path`.
pub fn save(path: &Path, program: &str, steps: u64, parameters: &impl Parameters) -> Result<(), Error> {
    let checksum = checksum(program, steps, &layout(parameters), &bytes(parameters));
    let entry = format!("steps {steps}, crc32 {checksum:08x}, program {program}");
    let metadata = BTreeMap::from([(ENTRY.into(), entry)]);
    safetensors::save_with(path, parameters, &Names::same(), &metadata).map_err(|error| {
        let source = match error.fault {
            Fault::Write(source) => source,
            fault => io::Error::other(fault),
        };
        Error::File { path: path.into(), doing: "write", source }
    })
}

/// Sets `parameters` and returns the steps, or `None` if no file exists. An error leaves `parameters` unchanged.
pub fn load(path: &Path, program: &str, parameters: &mut impl Parameters) -> Result<Option<u64>, Error> {
    let file = match safetensors::File::open(path) {
        Ok(file) => file,
        Err(error) => match error.fault {
            Fault::Read(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            fault => return Err(refused(path, fault)),
        },
    };
    read(file, program, parameters).map(Some).map_err(|fault| match fault {
        Wrong::File(fault) => refused(path, fault),
        wrong => Error::Checkpoint { path: path.into(), fault: wrong.to_string() },
    })
}

/// A fault of a checkpoint.
#[derive(Debug, thiserror::Error)]
enum Wrong {
    #[error(transparent)]
    File(#[from] Fault),
    #[error("the file is not a checkpoint of mind-mpi: {0}")]
    Foreign(String),
    #[error("the checkpoint is of another program: found `{found}`, needed `{needed}`")]
    Program { found: String, needed: String },
    #[error("the checkpoint is damaged: the checksum does not match")]
    Damaged,
}

/// Converts a fault of a safetensors file to an error of the checkpoint.
fn refused(path: &Path, fault: Fault) -> Error {
    let fault = match fault {
        Fault::Read(source) => return Error::File { path: path.into(), doing: "read", source },
        Fault::CutOff { found, needed } => {
            format!("the checkpoint is truncated: got {found} bytes, needed {needed}")
        }
        Fault::Differences(differences) => {
            let differences: Vec<_> = differences.iter().map(ToString::to_string).collect();
            format!("the checkpoint does not match the parameters: {}", differences.join("; "))
        }
        fault => Wrong::Foreign(fault.to_string()).to_string(),
    };
    Error::Checkpoint { path: path.into(), fault }
}

fn read(
    mut file: safetensors::File<impl io::Read + io::Seek>,
    program: &str,
    parameters: &mut impl Parameters,
) -> Result<u64, Wrong> {
    let entry = file.metadata().get(ENTRY).and_then(|entry| parse(entry));
    let (steps, checked, found) = entry.ok_or_else(|| {
        Wrong::Foreign(format!("the metadata has no entry `{ENTRY}` of steps, checksum and program"))
    })?;
    if found != program {
        return Err(Wrong::Program { found: found.into(), needed: program.into() });
    }
    let staged = file.stage(parameters, &Names::same())?;
    if checksum(program, steps, &layout(parameters), staged.bytes()) != checked {
        return Err(Wrong::Damaged);
    }
    staged.set(parameters);
    Ok(steps)
}

/// The steps, the checksum and the program of an entry.
fn parse(entry: &str) -> Option<(u64, u32, &str)> {
    let (steps, rest) = entry.strip_prefix("steps ")?.split_once(", crc32 ")?;
    let (checksum, program) = rest.split_once(", program ")?;
    Some((steps.parse().ok()?, u32::from_str_radix(checksum, 16).ok()?, program))
}

fn checksum(program: &str, steps: u64, parts: &[Part], elements: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&steps.to_le_bytes());
    hasher.update(program.as_bytes());
    for part in parts {
        hasher.update(part.to_string().as_bytes());
    }
    hasher.update(elements);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use mind_rt::Tensor;

    use super::*;

    mind::mind! {
        #[derive(Debug, PartialEq)]
        struct Parts { x: f32[2], flags: bool[3], n: i64 }
    }

    type Square = Tensor![f32; 2, 2];

    fn saved(folder: &Path) -> (PathBuf, Vec<u8>) {
        let path = folder.join("net");
        let square: Square = Tensor::from([[1.0_f32, -0.0], [f32::INFINITY, 4.0]]);
        save(&path, "squares, large", 7, &square).expect("it is written");
        let bytes = fs::read(&path).expect("it is there");
        (path, bytes)
    }

    /// Loads `bytes` as a checkpoint and returns the error message without the path. Checks that nothing was loaded.
    fn refused(path: &Path, bytes: &[u8]) -> String {
        fs::write(path, bytes).expect("it is written");
        let mut kept: Square = Tensor::full(9.0);
        let error = load(path, "squares, large", &mut kept).expect_err("it is not what was saved");
        assert_eq!(kept, Tensor::full(9.0));
        let message = error.to_string();
        message.strip_prefix(&format!("{}: ", path.display())).expect("the file is named first").to_owned()
    }

    /// The bytes of a file with this header, followed by `data` zero bytes.
    fn with_header(header: &str, data: usize) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; data]].concat()
    }

    #[test]
    fn what_was_saved_is_loaded_to_the_bit_and_nothing_stays_beside() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, bytes) = saved(folder.path());
        let mut loaded: Square = Tensor::full(9.0);
        assert_eq!(load(&path, "squares, large", &mut loaded).expect("it is whole"), Some(7));
        let bits: Vec<u32> = loaded.iter().map(|x| x.to_bits()).collect();
        assert_eq!(bits, [1.0, -0.0, f32::INFINITY, 4.0].map(f32::to_bits));
        assert_eq!(fs::read_dir(folder.path()).expect("it is a folder").count(), 1);
        assert_eq!(
            load(&folder.path().join("none"), "squares", &mut loaded).expect("no file is no error"),
            None
        );
        assert_eq!(saved(folder.path()).1, bytes);
    }

    #[test]
    fn parts_of_every_type_are_saved_in_their_own_order() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("parts");
        // The crate writes parts of wider element types first.
        let parts = |x: f32, flag: bool, n: i64| Parts {
            x: Tensor::from([x, 2.0 * x]),
            flags: Tensor::from([flag, !flag, flag]),
            n,
        };
        save(&path, "parts", 1, &parts(1.5, true, -3)).expect("it is written");
        let mut loaded = parts(0.0, false, 0);
        assert_eq!(load(&path, "parts", &mut loaded).expect("it is whole"), Some(1));
        assert_eq!(loaded, parts(1.5, true, -3));
    }

    #[test]
    fn any_byte_changed_missing_or_added_is_an_error_and_loads_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, bytes) = saved(folder.path());
        for length in 0..bytes.len() {
            let message = refused(&path, &bytes[..length]);
            assert!(message.starts_with("the checkpoint is truncated"), "{length}: {message}");
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x80;
            refused(&path, &bytes);
        }
        let message = refused(&path, &[&bytes[..], b"x"].concat());
        assert!(
            message
                .starts_with("the file is not a checkpoint of mind-mpi: unexpected data after the tensors: "),
            "{message}"
        );
        let mut other = bytes;
        *other.last_mut().expect("it is not empty") ^= 1;
        assert_eq!(refused(&path, &other), "the checkpoint is damaged: the checksum does not match");
    }

    #[test]
    fn a_step_count_that_was_changed_is_told() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, bytes) = saved(folder.path());
        let at = bytes.windows(8).position(|bytes| bytes == b"steps 7,").expect("it has the steps");
        let mut other = bytes;
        other[at + 6] = b'8';
        assert_eq!(refused(&path, &other), "the checkpoint is damaged: the checksum does not match");
    }

    #[test]
    fn hostile_headers_are_told_before_memory_is_taken() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("net");
        let ten_gigabytes = 10_000_000_000_u64.to_le_bytes();
        assert_eq!(
            refused(&path, &ten_gigabytes),
            "the file is not a checkpoint of mind-mpi: the header has 10000000000 bytes, more than the limit of 100000000"
        );
        assert_eq!(
            refused(&path, &100_000_000_u64.to_le_bytes()),
            "the checkpoint is truncated: got 8 bytes, needed 100000008"
        );
        let largest = u64::MAX;
        for header in [
            // In order: ranges that overlap, an end that overflows with the bytes before the data, extents whose
            // product overflows, a duplicate name, and text that is not valid JSON.
            r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}"#,
            &format!(r#"{{"a":{{"dtype":"U8","shape":[{largest}],"data_offsets":[0,{largest}]}}}}"#),
            &format!(r#"{{"a":{{"dtype":"F32","shape":[{largest},2],"data_offsets":[0,8]}}}}"#),
            r#"{"":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#,
            &"[".repeat(100_000),
            "",
            "{",
        ] {
            let message = refused(&path, &with_header(header, 16));
            assert!(
                message.starts_with("the file is not a checkpoint of mind-mpi: the header is not valid, "),
                "{message}"
            );
        }
        assert_eq!(
            refused(&path, &with_header("{}", 0)),
            "the file is not a checkpoint of mind-mpi: the metadata has no entry `mind-mpi` of steps, checksum and program"
        );
        // Seven parts of 2^61 bytes, and one with one byte less: the total is `u64::MAX`.
        let huge: Vec<_> = (0..8_u64)
            .map(|i| {
                let length = (1_u64 << 61) - u64::from(i == 7);
                let from = i << 61;
                format!(
                    r#""{i}":{{"dtype":"U8","shape":[{length}],"data_offsets":[{from},{}]}}"#,
                    from + length
                )
            })
            .collect();
        let entry = r#""__metadata__":{"mind-mpi":"steps 7, crc32 00000000, program squares, large"}"#;
        let message = refused(&path, &with_header(&format!("{{{entry},{}}}", huge.join(",")), 0));
        assert!(message.contains("of other parameters") || message.contains("is not valid"), "{message}");
    }

    #[test]
    fn another_program_and_all_other_parts_are_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, _) = saved(folder.path());
        let mut other: Tensor![f64; 3] = Tensor::full(9.0);
        let mut refused = |program| load(&path, program, &mut other).expect_err("it is another").to_string();
        let file = path.display();
        assert_eq!(
            refused("circles"),
            format!("{file}: the checkpoint is of another program: found `squares, large`, needed `circles`")
        );
        assert_eq!(
            refused("squares, large"),
            format!(
                "{file}: the checkpoint does not match the parameters: the tensor without a name is f32[2, 2], needed f64[3]"
            )
        );
        let mut layers: Vec<Square> = vec![Tensor::zeros(), Tensor::zeros()];
        assert_eq!(
            load(&path, "squares, large", &mut layers).expect_err("it has no layers").to_string(),
            format!(
                "{file}: the checkpoint does not match the parameters: `0` f32[2, 2] is missing; `1` f32[2, 2] is missing; \
                 the tensor without a name f32[2, 2] is unexpected"
            )
        );
    }

    #[test]
    fn a_place_that_cannot_be_written_or_read_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let square: Square = Tensor::zeros();
        let nowhere = folder.path().join("none").join("net");
        let message = save(&nowhere, "squares", 1, &square).expect_err("there is no such folder").to_string();
        assert!(
            message.starts_with(&format!("{}: cannot write the checkpoint: ", nowhere.display())),
            "{message}"
        );
        let mut kept: Square = Tensor::zeros();
        let message = load(folder.path(), "squares", &mut kept).expect_err("it is a folder").to_string();
        assert!(
            message.starts_with(&format!("{}: cannot read the checkpoint: ", folder.path().display())),
            "{message}"
        );
    }
}
