//! Tests of malicious files: each gives one clear error, loads nothing, and causes no allocation for lengths that it
//! declares.

use std::cell::RefCell;
use std::io::{Cursor, Write};

use mind_files::{Archive, Fault, Names, npy, npz, safetensors};
use mind_rt::{Parameters, Rng, Tensor, Xoshiro256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

type Square = Tensor![f32; 2, 2];

/// The maximum number of bytes allocated for a file of a few hundred bytes.
const MEMORY: u64 = 1 << 20;

/// The error of loading a file. Checks that nothing is loaded and no memory is allocated for it.
fn refused(load: impl Fn(&mut Square) -> Result<(), Fault>) -> String {
    let (mut kept, mut message) = (Tensor::full(9.0), String::new());
    let taken = allocation_counter::measure(|| {
        message = load(&mut kept).expect_err("it is refused").to_string();
    });
    assert!(taken.bytes_max < MEMORY, "{} bytes: {message}", taken.bytes_max);
    assert_eq!(kept, Tensor::full(9.0));
    message
}

fn of_safetensors(bytes: &[u8]) -> String {
    refused(|square| safetensors::from_bytes(bytes, square, &Names::same()))
}

fn of_npz(bytes: &[u8]) -> String {
    refused(|square| npz::File::of_bytes(bytes)?.load(square, &Names::by(|_| "w".into())))
}

/// A safetensors header, followed by `data` bytes.
fn with_header(header: &str, data: usize) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; data]].concat()
}

#[test]
fn metadata_of_safetensors_may_be_null() {
    let array = r#""w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}"#;
    let file = with_header(&format!(r#"{{"__metadata__":null,{array}}}"#), 8);
    assert!(safetensors::File::of_bytes(&file).expect("it is read").metadata().is_empty());
    let mut w: Tensor![f32; 2] = Tensor::full(1.0);
    safetensors::from_bytes(&file, &mut w, &Names::by(|_| "w".into())).expect("it fits");
    assert_eq!(w, Tensor::zeros());
}

#[test]
fn headers_of_safetensors_are_checked_before_they_are_believed() {
    let ten_gigabytes = 10_000_000_000_u64.to_le_bytes();
    assert_eq!(
        of_safetensors(&[&ten_gigabytes[..], &[b' '; 1000]].concat()),
        "the header has 10000000000 bytes, more than the limit of 100000000"
    );
    assert_eq!(
        of_safetensors(&100_000_000_u64.to_le_bytes()),
        "the data is truncated: got 8 bytes, needed 100000008"
    );
    assert_eq!(of_safetensors(b"1234"), "the data is truncated: got 4 bytes, needed 8");
    let largest = u64::MAX;
    for (header, why) in [
        // Offsets that overlap, leave a gap, or run backwards.
        (
            r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}"#,
            "b",
        ),
        (r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#, "a"),
        (r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}"#, "a"),
        // Lengths that overflow, or do not match the extents.
        (&format!(r#"{{"a":{{"dtype":"F32","shape":[{largest},2],"data_offsets":[0,8]}}}}"#), "overflow"),
        (&format!(r#"{{"a":{{"dtype":"F32","shape":[{largest}],"data_offsets":[0,8]}}}}"#), "overflow"),
        (
            &format!(r#"{{"a":{{"dtype":"U8","shape":[{largest}],"data_offsets":[0,{largest}]}}}}"#),
            "overflow",
        ),
        (r#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#, "invalid shape"),
        (r#"{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}}"#, "-1"),
        // Duplicate names, with and without elements.
        (
            r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#,
            "two arrays are called \"a\"",
        ),
        (
            r#"{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#,
            "two arrays are called \"a\"",
        ),
        (r#"{"__metadata__":{},"__metadata__":{}}"#, "two arrays are called"),
        (r#"{"__metadata__":null,"__metadata__":null}"#, "two arrays are called"),
        (r#"{"__metadata__":[]}"#, "invalid type"),
        (r#"{"a":{"dtype":"X9","shape":[1],"data_offsets":[0,4]}}"#, "X9"),
        (&"[".repeat(100_000), "invalid type"),
        (&format!("{{\"a\":{}", "[".repeat(100_000)), "expected value"),
        (&format!("{{\"a\":{{\"more\":{}", "[".repeat(100_000)), "EOF"),
        ("", "EOF"),
        ("{", "EOF"),
    ] {
        let message = of_safetensors(&with_header(header, 16));
        assert!(
            message.starts_with("the header is not valid, ") && message.contains(why),
            "{why}: {message}"
        );
    }
    let one =
        |length: u64| format!(r#"{{"a":{{"dtype":"U8","shape":[{length}],"data_offsets":[0,{length}]}}}}"#);
    let huge = 1 << 60;
    let found = 8 + one(huge).len();
    let message = of_safetensors(&with_header(&one(huge), 0));
    assert_eq!(message, format!("the data is truncated: got {found} bytes, needed {}", found as u64 + huge));
    assert_eq!(
        of_safetensors(&with_header("{}", 3)),
        "unexpected data after the tensors: got 13 bytes, needed 10"
    );
    assert_eq!(
        of_safetensors(&with_header("{}", 0)),
        "the arrays do not match the parameters: the tensor without a name f32[2, 2] is missing"
    );
}

/// NumPy and other readers would treat any byte other than 0 as true.
#[test]
fn truth_values_are_0_or_1() {
    let mut mask: Tensor![bool; 2, 2] = Tensor::full(false);
    let header = r#"{"mask":{"dtype":"BOOL","shape":[2,2],"data_offsets":[0,4]}}"#;
    let mut bytes = with_header(header, 4);
    let begin = bytes.len() - 4;
    bytes[begin..].copy_from_slice(&[1, 0, 2, 1]);
    let names = Names::by(|_| "mask".into());
    let refused = safetensors::from_bytes(&bytes, &mut mask, &names).expect_err("it is refused").to_string();
    let at = begin + 2;
    let element = format!("the bool at index [1, 0] is 2 (byte {at}), needed 0 or 1");
    assert_eq!(refused, format!("array `mask`: {element}"));
    bytes[at] = 1;
    safetensors::from_bytes(&bytes, &mut mask, &names).expect("it is right");
    assert_eq!(mask.as_slice(), [true, false, true, true]);
}

/// An archive of entries, each deflated.
fn archive(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    archive_by(CompressionMethod::Deflated, entries)
}

fn archive_by(method: CompressionMethod, entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let level = (method == CompressionMethod::Deflated).then_some(1);
        let options = SimpleFileOptions::default().compression_method(method).compression_level(level);
        archive.start_file(*name, options).expect("names differ");
        archive.write_all(bytes).expect("there is memory");
    }
    archive.finish().expect("there is memory").into_inner()
}

fn npy_of(shape: &str, data: usize) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &vec![0; data]].concat()
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}

/// The positions of the entries of the central directory.
fn central(bytes: &[u8]) -> Vec<usize> {
    (0..bytes.len() - 4).filter(|at| bytes[*at..].starts_with(b"PK\x01\x02")).collect()
}

#[test]
fn archives_are_checked_before_they_are_believed() {
    let two = archive(&[("w.npy", npy_of("(2, 2)", 16)), ("v.npy", npy_of("(2, 2)", 16))]);
    assert_eq!(of_npz(&replaced(&two, b"v.npy", b"w.npy")), "two entries have the same name");
    let mut overlapping = two.clone();
    let [first, second] = central(&two)[..] else { panic!("there are two") };
    overlapping.copy_within(first + 42..first + 46, second + 42);
    assert_eq!(of_npz(&overlapping), "the entries overlap");
    let stem = archive(&[("w.npy", npy_of("(2, 2)", 16)), ("w", vec![0; 16])]);
    assert_eq!(of_npz(&stem), "two entries are called `w`");
    assert!(of_npz(b"PK").starts_with("not a readable .npz file: "));
    assert!(of_npz(&two[..two.len() - 30]).starts_with("not a readable .npz file: "));
    let one = |bytes| archive(&[("w.npy", bytes)]);
    let cut_off = "array `w`: the data is truncated: the header declares f32[4000000000, 4000000000], but 16 bytes follow";
    assert_eq!(of_npz(&one(npy_of("(4000000000, 4000000000)", 16))), cut_off);
    assert_eq!(
        of_npz(&one(npy_of("(2, 2)", 12))),
        "array `w`: the data is truncated: the header declares f32[2, 2], 16 bytes, but 12 bytes follow"
    );
    assert_eq!(of_npz(&one(b"text".to_vec())), "array `w`: not a .npy file");
}

#[test]
fn archives_that_inflate_to_more_than_they_are_stay_small() {
    // 16 MiB in 16 KiB: as an array, after a small array, and with a declared length that is small.
    let bomb = vec![0; 16 << 20];
    let all = archive(&[("w.npy", npy_of("(2048, 2048)", bomb.len()))]);
    assert!(all.len() < 100_000);
    assert_eq!(
        of_npz(&all),
        "the arrays do not match the parameters: `w` is f32[2048, 2048], needed f32[2, 2], for the tensor without a name"
    );
    let behind = archive(&[("w.npy", npy_of("(2, 2)", bomb.len()))]);
    let follow =
        format!("array `w`: the header declares f32[2, 2], 16 bytes, but {} bytes follow", bomb.len());
    assert_eq!(of_npz(&behind), follow);
    let (told, real) = ((npy_of("(2, 2)", 16).len() as u32), npy_of("(2, 2)", bomb.len()).len() as u32);
    let small = replaced(&behind, &real.to_le_bytes(), &told.to_le_bytes());
    let message = of_npz(&small);
    assert!(message.starts_with("array `w`: ") && message.contains("larger than its declared"), "{message}");
    let header = archive(&[("w.npy", [&b"\x93NUMPY\x02\x00\xff\xff\xff\x03"[..], &bomb].concat())]);
    assert_eq!(of_npz(&header), "array `w`: the header has 67108863 bytes, more than the limit of 65536");
}

/// An archive of one deflated entry that declares `elements` elements and contains none.
fn claiming(elements: usize) -> Vec<u8> {
    let header = npy_of(&format!("({elements},)"), 0);
    let bytes = archive(&[("w.npy", header.clone())]);
    let told = (header.len() + elements * 4) as u32;
    replaced(&bytes, &(header.len() as u32).to_le_bytes(), &told.to_le_bytes())
}

#[test]
fn no_memory_is_taken_for_elements_that_an_archive_only_claims() {
    let (small, claimed) = (claiming(250_000_000), 1_000_000_000_u32);
    assert!(small.len() < 300, "{} bytes", small.len());
    let cut_off = format!(
        "array `w`: the data is truncated: the header declares f32[250000000], {claimed} bytes, but 0 bytes follow"
    );
    let one = |_: &mut Square| npz::File::of_bytes(&small)?.tensor::<f32, (usize,)>("w").map(drop);
    assert_eq!(refused(one), cut_off);
    // No memory is allocated for parameters of the declared length either.
    let small = claiming(1 << 24);
    let parameters = RefCell::new(Tensor::<f32, (usize,)>::zeros_with((1 << 24,)));
    let all = |_: &mut Square| {
        npz::File::of_bytes(&small)?.load(&mut *parameters.borrow_mut(), &Names::by(|_| "w".into()))
    };
    let message = refused(all);
    assert!(
        message.ends_with("the header declares f32[16777216], 67108864 bytes, but 0 bytes follow"),
        "{message}"
    );
    // The length of a stored entry is that of its bytes in the file, whatever length it declares.
    let mut stored = archive_by(CompressionMethod::Stored, &[("w.npy", npy_of("(250000000,)", 0))]);
    let (length, at) = (npy_of("(250000000,)", 0).len() as u32, central(&stored)[0]);
    stored[at + 24..at + 28].copy_from_slice(&(length + claimed).to_le_bytes());
    let one = |_: &mut Square| npz::File::of_bytes(&stored)?.tensor::<f32, (usize,)>("w").map(drop);
    assert_eq!(refused(one), cut_off);
}

#[test]
fn memory_is_taken_once() {
    const LENGTH: u64 = 2 << 20;
    type Rows = Tensor![f32; 512, 1024];
    let rows: Rows = Tensor::from_fn(|[row, column]| (row * 1024 + column) as f32);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let names = || Names::by(|_| "w".into());
    safetensors::save_as(at("w.safetensors"), &rows, &names()).expect("it is written");
    npz::save_as(at("stored.npz"), &rows, &names()).expect("it is written");
    npy::write(at("rows.npy"), &rows).expect("it is written");
    let plain = std::fs::read(at("rows.npy")).expect("it is there");
    std::fs::write(at("deflated.npz"), archive(&[("w.npy", plain.clone())])).expect("it is written");
    let columns = replaced(&plain, b"'fortran_order': False", b"'fortran_order': True ");
    std::fs::write(at("columns.npy"), &columns).expect("it is written");
    std::fs::write(at("columns.npz"), archive(&[("w.npy", columns)])).expect("it is written");
    let transposed: Rows = Tensor::from_fn(|[row, column]| (column * 512 + row) as f32);

    // Memory of dropped tensors is reused and then not counted, so all tensors are kept.
    let (mut kept, mut loaded) = (Vec::new(), Rows::zeros());
    let mut measured = |what: &str, right: &Rows, load: &dyn Fn() -> Rows| {
        let mut found = None;
        let taken = allocation_counter::measure(|| found = Some(load()));
        assert!((LENGTH..LENGTH + MEMORY).contains(&taken.bytes_max), "{what}: {} bytes", taken.bytes_max);
        assert!(found.as_ref() == Some(right), "{what}");
        kept.extend(found);
    };
    measured("npy", &rows, &|| npy::read(at("rows.npy")).expect("it is whole"));
    measured("npy, by columns", &transposed, &|| npy::read(at("columns.npy")).expect("it is whole"));
    measured("safetensors", &rows, &|| {
        safetensors::File::open(at("w.safetensors")).expect("it is whole").tensor("w").expect("it is there")
    });
    for (file, right) in [("stored", &rows), ("deflated", &rows), ("columns", &transposed)] {
        let file = at(&format!("{file}.npz"));
        let open = || npz::File::open(&file).expect("it is whole");
        measured(&file.display().to_string(), right, &|| open().tensor("w").expect("it is there"));
        // The elements are read into separate memory, so the parameters are unchanged until all elements are read.
        let taken =
            allocation_counter::measure(|| npz::load_as(&file, &mut loaded, &names()).expect("it fits"));
        assert!((LENGTH..LENGTH + MEMORY).contains(&taken.bytes_max), "{} bytes", taken.bytes_max);
        assert!(&loaded == right);
    }
}

#[test]
fn a_damaged_element_is_found_by_the_checksum() {
    let mut bytes = Vec::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("w.npz");
    let square: Square = Tensor::full(0.15625);
    npz::save_as(&path, &square, &Names::by(|_| "w".into())).expect("it is written");
    bytes.extend(std::fs::read(&path).expect("it is there"));
    let damaged = replaced(&bytes, &0.15625_f32.to_le_bytes(), &0.25_f32.to_le_bytes());
    let message = of_npz(&damaged);
    assert!(message.starts_with("array `w`: ") && message.contains("checksum"), "{message}");
}

/// A file with random changes, as a fuzzer makes them.
fn mutated(seed: &[u8], random: &mut Xoshiro256) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.next_u64() % 4 {
        let below = |random: &mut Xoshiro256, end: usize| (random.next_u64() % end.max(1) as u64) as usize;
        let at = below(random, bytes.len());
        match random.next_u64() % 6 {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] ^= 1 << (random.next_u64() % 8),
            2 if !bytes.is_empty() => bytes[at] = random.next_u64() as u8,
            3 => {
                let extreme = [0, u64::MAX, 1 << 63, 0xffff_ffff, 10_000_000_000];
                let extreme = extreme[below(random, extreme.len())].to_le_bytes();
                for (byte, new) in bytes[at..].iter_mut().zip(&extreme[..[2, 4, 8][below(random, 3)]]) {
                    *byte = *new;
                }
            }
            4 => {
                let end = at + below(random, bytes.len() - at);
                let copy = bytes[at..end].to_vec();
                let to = below(random, bytes.len());
                bytes.splice(to..to, copy);
            }
            _ => bytes.insert(at, b"0123456789[]{}(),'\""[below(random, 19)]),
        }
    }
    bytes
}

#[test]
fn changed_files_are_read_or_refused_whole() {
    let data = |name: &str| {
        let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read(path).expect("it is there")
    };
    let mut random = Xoshiro256::new(21);
    let mut parameters: Vec<Tensor![f32; 2, 3]> = vec![Tensor::full(9.0), Tensor::full(9.0)];
    let names = || Names::pairs([("w", "0"), ("columns", "1")]).allow_unexpected();
    let mut outcomes = [0; 2];
    for file in ["arrays.safetensors", "stored.npz", "deflated.npz", "columns.npy"] {
        let seed = data(file);
        for _ in 0..1000 {
            let bytes = mutated(&seed, &mut random);
            let before = mind_files::bytes(&parameters);
            let mut loaded = Ok(());
            let taken = allocation_counter::measure(|| {
                loaded = match file {
                    "columns.npy" => npy::Header::read(&mut &bytes[..]).and_then(|header| {
                        let data = &mut &bytes[header.length() as usize..];
                        header.check(data.len() as u64)?;
                        header.elements(data, &mut vec![0; header.bytes().unwrap_or_default() as usize])
                    }),
                    "arrays.safetensors" => safetensors::from_bytes(&bytes, &mut parameters, &names()),
                    _ => {
                        npz::File::of_bytes(&bytes).and_then(|mut file| file.load(&mut parameters, &names()))
                    }
                };
            });
            assert!(taken.bytes_max < MEMORY, "{} bytes: {loaded:?}", taken.bytes_max);
            outcomes[usize::from(loaded.is_ok())] += 1;
            if loaded.is_err() {
                assert_eq!(mind_files::bytes(&parameters), before);
            }
        }
    }
    assert!(outcomes.iter().all(|count| *count > 50), "{outcomes:?}");
    assert_eq!(parameters.element_count(), 12);
}
