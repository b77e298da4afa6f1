//! Files of parameters that survive a kill at any moment.
//!
//! A file is one of safetensors, so that other tools read its tensors. Its metadata has the entry [`ENTRY`], the text
//! `steps 7, crc32 1c291ca3, program digits`: one, as the crate writes several in an order that changes. The checksum is
//! of the steps, the program, the layout and the elements, in the order of the parameters.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use mind_rt::{DType, Parameters};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo, TensorView, serialize};

use crate::leaves::Part;
use crate::{Error, leaves};

/// The name of what the metadata says.
const ENTRY: &str = "mind-mpi";

/// The longest header that is read, as long as that of the crate.
const MAX_HEADER: u64 = 100_000_000;

/// Writes beside, syncs and renames.
pub fn save(path: &Path, program: &str, steps: u64, parameters: &impl Parameters) -> Result<(), Error> {
    file(program, steps, parameters).and_then(|bytes| replace(path, &bytes)).map_err(|source| Error::File {
        path: path.into(),
        doing: "write",
        source,
    })
}

fn file(program: &str, steps: u64, parameters: &impl Parameters) -> io::Result<Vec<u8>> {
    let (parts, elements) = (leaves::layout(parameters), leaves::bytes(parameters));
    let (mut views, mut names, mut rest) = (Vec::new(), BTreeSet::new(), &elements[..]);
    for part in &parts {
        if !names.insert(&part.name) {
            return Err(io::Error::other(format!("two parts of the parameters are called `{}`", part.name)));
        }
        let (own, others) = rest.split_at(length(part));
        views.push((
            &part.name,
            TensorView::new(dtype(part.dtype), part.dims.clone(), own).map_err(io::Error::other)?,
        ));
        rest = others;
    }
    let checksum = checksum(program, steps, &parts, &elements);
    let entry = format!("steps {steps}, crc32 {checksum:08x}, program {program}");
    serialize(views, Some(HashMap::from([(ENTRY.into(), entry)]))).map_err(io::Error::other)
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    // The name is the folder's, and on the disk when that is. Other systems do not open folders.
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

/// Sets `parameters` and gives the steps; `None` if there is no file. What is wrong leaves `parameters` as they were.
pub fn load(path: &Path, program: &str, parameters: &mut impl Parameters) -> Result<Option<u64>, Error> {
    let failed = |source| Error::File { path: path.into(), doing: "read", source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed(source)),
    };
    let length = file.metadata().map_err(failed)?.len();
    match read(file, length, program, parameters) {
        Ok(steps) => Ok(Some(steps)),
        Err(Fault::Read(source)) if source.kind() != io::ErrorKind::UnexpectedEof => Err(failed(source)),
        Err(fault) => Err(Error::Checkpoint { path: path.into(), fault: fault.to_string() }),
    }
}

#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("the checkpoint ends too soon")]
    Read(#[from] io::Error),
    #[error("the checkpoint ends too soon: it has {found} bytes, needed {needed}")]
    Short { found: u64, needed: u64 },
    #[error("the file is no checkpoint of mind-mpi: {0}")]
    Foreign(String),
    #[error("the checkpoint is of another program: found `{found}`, needed `{needed}`")]
    Program { found: String, needed: String },
    #[error("the checkpoint is of other parameters: {0}")]
    Parts(String),
    #[error("the checkpoint is damaged: {0}")]
    Damaged(&'static str),
}

/// Memory is taken for as much as the file has and the parameters need, whatever lengths the file tells of.
fn read(
    mut file: impl Read,
    length: u64,
    program: &str,
    parameters: &mut impl Parameters,
) -> Result<u64, Fault> {
    let mut start = [0; 8];
    file.read_exact(&mut start)?;
    let header = u64::from_le_bytes(start);
    if header > MAX_HEADER {
        return Err(Fault::Foreign(format!(
            "its header would have {header} bytes, at most {MAX_HEADER} are read"
        )));
    }
    if header + 8 > length {
        return Err(Fault::Short { found: length, needed: header + 8 });
    }
    let mut text = Vec::new();
    file.by_ref().take(header).read_to_end(&mut text)?;
    // The crate's own reader adds offsets up without a check; this one is its check of each, which is whole.
    let metadata: Metadata = serde_json::from_slice(&text)
        .map_err(|error| Fault::Foreign(format!("its header is not valid, {error}")))?;
    let entry = metadata.metadata().as_ref().and_then(|entries| entries.get(ENTRY));
    let (steps, checked, found) = entry.and_then(|entry| parse(entry)).ok_or_else(|| {
        Fault::Foreign(format!("its metadata has no entry `{ENTRY}` of steps, checksum and program"))
    })?;
    if found != program {
        return Err(Fault::Program { found: found.into(), needed: program.into() });
    }
    let parts = leaves::layout(parameters);
    let faults = differences(&metadata, &parts);
    if !faults.is_empty() {
        return Err(Fault::Parts(faults.join("; ")));
    }

    // The parts are those needed, so the offsets are of as many bytes.
    let needed = metadata.data_len();
    let end = header + 8 + needed as u64;
    if length < end {
        return Err(Fault::Short { found: length, needed: end });
    }
    let mut data = vec![0; needed];
    file.read_exact(&mut data)?;
    if file.read(&mut [0])? != 0 {
        return Err(Fault::Damaged("something follows its end"));
    }
    let mut elements = Vec::with_capacity(needed);
    for part in &parts {
        let (from, to) = metadata.info(&part.name).expect("no part is missing").data_offsets;
        elements.extend_from_slice(&data[from..to]);
    }
    if checksum(program, steps, &parts, &elements) != checked {
        return Err(Fault::Damaged("its checksum is another"));
    }
    leaves::set_bytes(parameters, &elements);
    Ok(steps)
}

/// The steps, the checksum and the program of an entry.
fn parse(entry: &str) -> Option<(u64, u32, &str)> {
    let (steps, rest) = entry.strip_prefix("steps ")?.split_once(", crc32 ")?;
    let (checksum, program) = rest.split_once(", program ")?;
    Some((steps.parse().ok()?, u32::from_str_radix(checksum, 16).ok()?, program))
}

/// All that a file has and the parameters have not, or the other way round.
fn differences(metadata: &Metadata, parts: &[Part]) -> Vec<String> {
    let mut others = metadata.tensors();
    let mut faults = Vec::new();
    for part in parts {
        match others.remove(&part.name) {
            None => faults.push(format!("`{part}` is missing")),
            Some(TensorInfo { dtype: found, shape, .. }) => {
                if *found != dtype(part.dtype) || *shape != part.dims {
                    faults.push(format!("found {found}{shape:?} for `{part}`"));
                }
            }
        }
    }
    let mut unknown: Vec<_> = others.into_keys().map(|name| format!("{name:?} is unknown")).collect();
    unknown.sort_unstable();
    faults.extend(unknown);
    faults
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

const fn dtype(dtype: DType) -> Dtype {
    match dtype {
        DType::F32 => Dtype::F32,
        DType::F64 => Dtype::F64,
        DType::I32 => Dtype::I32,
        DType::I64 => Dtype::I64,
        DType::Bool => Dtype::BOOL,
    }
}

/// The bytes of a part in a file.
fn length(part: &Part) -> usize {
    part.dims.iter().product::<usize>() * dtype(part.dtype).bitsize() / 8
}

#[cfg(test)]
mod tests {
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

    /// What loading `bytes` says, of the file's fault alone; nothing of it is loaded.
    fn refused(path: &Path, bytes: &[u8]) -> String {
        fs::write(path, bytes).expect("it is written");
        let mut kept: Square = Tensor::full(9.0);
        let error = load(path, "squares, large", &mut kept).expect_err("it is not what was saved");
        assert_eq!(kept, Tensor::full(9.0));
        let message = error.to_string();
        message.strip_prefix(&format!("{}: ", path.display())).expect("the file is named first").to_owned()
    }

    /// A file with this header and so many bytes behind it.
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
        // The crate writes the wider ones first.
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
            assert!(message.starts_with("the checkpoint ends too soon"), "{length}: {message}");
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x80;
            refused(&path, &bytes);
        }
        assert_eq!(
            refused(&path, &[&bytes[..], b"x"].concat()),
            "the checkpoint is damaged: something follows its end"
        );
        let mut other = bytes;
        *other.last_mut().expect("it is not empty") ^= 1;
        assert_eq!(refused(&path, &other), "the checkpoint is damaged: its checksum is another");
    }

    #[test]
    fn a_step_count_that_was_changed_is_told() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, bytes) = saved(folder.path());
        let at = bytes.windows(8).position(|bytes| bytes == b"steps 7,").expect("it has the steps");
        let mut other = bytes;
        other[at + 6] = b'8';
        assert_eq!(refused(&path, &other), "the checkpoint is damaged: its checksum is another");
    }

    #[test]
    fn hostile_headers_are_told_before_memory_is_taken() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("net");
        let ten_gigabytes = 10_000_000_000_u64.to_le_bytes();
        assert_eq!(
            refused(&path, &ten_gigabytes),
            "the file is no checkpoint of mind-mpi: its header would have 10000000000 bytes, at most 100000000 are read"
        );
        assert_eq!(
            refused(&path, &100_000_000_u64.to_le_bytes()),
            "the checkpoint ends too soon: it has 8 bytes, needed 100000008"
        );
        let largest = u64::MAX;
        for header in [
            // Offsets that overlap, that overflow together with what is before them, extents that overflow, names twice.
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
                message.starts_with("the file is no checkpoint of mind-mpi: its header is not valid, "),
                "{message}"
            );
        }
        assert_eq!(
            refused(&path, &with_header("{}", 0)),
            "the file is no checkpoint of mind-mpi: its metadata has no entry `mind-mpi` of steps, checksum and program"
        );
        // Seven of 2^61 bytes, and one less: as many as `u64` has.
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
            format!("{file}: the checkpoint is of other parameters: found F32[2, 2] for `f64[3]`")
        );
        let mut layers: Vec<Square> = vec![Tensor::zeros(), Tensor::zeros()];
        assert_eq!(
            load(&path, "squares, large", &mut layers).expect_err("it has no layers").to_string(),
            format!(
                "{file}: the checkpoint is of other parameters: `0 f32[2, 2]` is missing; `1 f32[2, 2]` is missing; \
                 \"\" is unknown"
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
