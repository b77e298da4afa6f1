//! Tensors from and to `.npy` files.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Cursor, Read, Write},
    path::Path,
};

use mind_core::{
    diag::Code,
    interp::{Elements, Value},
    memory::Budget,
    ty::DType,
};
use ndarray::{ArrayD, ArrayViewD};
use ndarray_npy::{ReadNpyError, ReadNpyExt, ReadableElement, WriteNpyExt};

use crate::{
    commands::with_help,
    output::unwritable,
    report::{Failure, Mistake, Outcome},
    source::reason,
};

/// The longest header that is read; of NumPy's none has a tenth of it.
const LONGEST_HEADER: usize = 1 << 16;

/// The tensor of a file, whose elements have to be of this type; in either byte order, in C or Fortran order. Its memory
/// is taken from a budget before any of it is read.
pub fn read(file: &Path, dtype: DType, budget: &mut Budget) -> Outcome<Value> {
    let unreadable = |error: io::Error| {
        let directory = if file.is_dir() { "it is a directory".to_owned() } else { reason(&error) };
        Failure::usage(format!("cannot read {}: {directory}", file.display()))
    };
    let opened = File::open(file).map_err(unreadable)?;
    let meta = opened.metadata().map_err(unreadable)?;
    if meta.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    let mut reader = BufReader::new(opened);
    let head = header(&mut reader).map_err(unreadable)?.map_err(|why| broken(file, &why))?;
    // Of what is no file, as a pipe, the length is not known.
    let data = if meta.is_file() { meta.len().saturating_sub(head.len() as u64) } else { u64::MAX };
    let claims = check(&head, data).map_err(|why| broken(file, &why))?;
    // In Fortran order the elements are there twice while they are arranged.
    let copies = if claims.is_fortran { 2 } else { 1 };
    let bytes = claims.elements.saturating_mul(dtype.bytes() as u64);
    budget.take(bytes.saturating_mul(copies)).map_err(|error| {
        let mistake = Mistake::new(Code::E6004, format!("{}: {error}", file.display()));
        Failure::mistake(with_help(mistake))
    })?;
    budget.give_back(bytes.saturating_mul(copies - 1));
    let reader = Cursor::new(head).chain(reader);
    let claimed = format!("{} elements of {dtype} in its header are {bytes} bytes", claims.elements);
    let read = match dtype {
        DType::I32 => elements::<i32>(reader),
        DType::I64 => elements::<i64>(reader),
        DType::F32 => elements::<f32>(reader),
        DType::F64 => elements::<f64>(reader),
        DType::Bool => elements::<bool>(reader),
    };
    read.map_err(|error| match error {
        ReadNpyError::WrongDescriptor(found) => wrong_dtype(file, &found.to_string(), dtype),
        ReadNpyError::MissingData if meta.is_file() => {
            broken(file, &format!("it is cut off: {claimed}, {data} after it"))
        }
        ReadNpyError::MissingData => broken(file, &format!("it is cut off: {claimed}")),
        ReadNpyError::ExtraBytes(more) => broken(file, &format!("{claimed}, {more} more follow")),
        ReadNpyError::ParseHeader(error) => broken(file, &format!("its header is wrong: {error}")),
        ReadNpyError::Io(error) => unreadable(error),
        other @ (ReadNpyError::LengthOverflow | ReadNpyError::WrongNdim(..) | ReadNpyError::ParseData(_)) => {
            broken(file, &other.to_string())
        }
    })
}

fn elements<T>(reader: impl Read) -> Result<Value, ReadNpyError>
where
    T: ReadableElement + Clone,
    Elements: From<Vec<T>>,
{
    let array = ArrayD::<T>::read_npy(reader)?;
    let shape = array.shape().to_vec();
    // In row-major order, whatever order the file has.
    let elements: Vec<T> = if array.is_standard_layout() {
        array.into_raw_vec_and_offset().0
    } else {
        array.iter().cloned().collect()
    };
    Ok(Value::new(shape, elements))
}

fn wrong_dtype(file: &Path, found: &str, dtype: DType) -> Failure {
    let message = format!("{} holds {}, needed {dtype}", file.display(), described(found.trim_matches('\'')));
    let bits = dtype.bytes() * 8;
    let of_numpy = match dtype {
        DType::F32 | DType::F64 => format!("np.float{bits}"),
        DType::I32 | DType::I64 => format!("np.int{bits}"),
        DType::Bool => "bool".to_owned(),
    };
    let help = format!("in Python: np.save(…, x.astype({of_numpy}))");
    Failure::mistake(Mistake::new(Code::E2001, message).help(help))
}

fn broken(file: &Path, why: &str) -> Failure {
    Failure::usage(format!("cannot read {}: {why}", file.display()))
}

/// A descriptor of NumPy's in words.
fn described(descriptor: &str) -> String {
    let name = match descriptor.trim_start_matches(['<', '>', '=', '|']) {
        "f2" => "f16",
        "f4" => "f32",
        "f8" => "f64",
        "i1" => "i8",
        "i2" => "i16",
        "i4" => "i32",
        "i8" => "i64",
        "u1" => "u8",
        "u2" => "u16",
        "u4" => "u32",
        "u8" => "u64",
        "b1" => "bool",
        "c8" | "c16" => "complex numbers",
        _ => return format!("elements of type {descriptor}"),
    };
    name.to_owned()
}

/// The header with what stands before it; why there is none.
fn header(reader: &mut impl Read) -> io::Result<Result<Vec<u8>, String>> {
    let mut head = Vec::new();
    reader.by_ref().take(10).read_to_end(&mut head)?;
    if !head.starts_with(b"\x93NUMPY") {
        return Ok(Err("it is no .npy file".into()));
    }
    let length = match head[6..] {
        [1, _, a, b] => usize::from(u16::from_le_bytes([a, b])),
        [2 | 3, _, a, b] => {
            reader.by_ref().take(2).read_to_end(&mut head)?;
            let [c, d] = head[10..] else { return Ok(Err("it is cut off in its header".into())) };
            u32::from_le_bytes([a, b, c, d]) as usize
        }
        [version, _, _, _] => return Ok(Err(format!("version {version} of the format is not known"))),
        _ => return Ok(Err("it is cut off in its header".into())),
    };
    if length > LONGEST_HEADER {
        return Ok(Err(format!("its header has {length} bytes, more than the limit of {LONGEST_HEADER}")));
    }
    let start = head.len();
    reader.by_ref().take(length as u64).read_to_end(&mut head)?;
    if head.len() - start < length { Ok(Err("it is cut off in its header".into())) } else { Ok(Ok(head)) }
}

/// What a header says.
struct Claims {
    elements: u64,
    is_fortran: bool,
}

/// What the reader of the format does not check before it takes memory or recurses: that the header nests no deeper than
/// headers do, and that there is as much data as it says.
fn check(head: &[u8], data: u64) -> Result<Claims, String> {
    let mut depth = 0usize;
    for byte in head {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 8 {
            return Err("its header nests too deep".into());
        }
    }
    let head = String::from_utf8_lossy(head);
    let mut elements = 1;
    // Each list of integers could be the shape; an element has a byte at least.
    for list in head.split(['(', '[']).skip(1).filter_map(|rest| rest.split_once([')', ']'])) {
        let extents = list.0.split(',').map(str::trim).filter(|extent| !extent.is_empty());
        let count = extents
            .map(|extent| extent.trim_end_matches(['l', 'L']).parse::<u64>().ok())
            .try_fold(1u64, |count, extent| extent.map(|extent| count.saturating_mul(extent)));
        match count {
            Some(count) if count > data => {
                return Err(format!("it is cut off: {count} elements in its header, {data} bytes after it"));
            }
            Some(count) => elements = elements.max(count),
            None => {}
        }
    }
    Ok(Claims { elements, is_fortran: head.contains("True") })
}

/// Writes a tensor in C order.
pub fn write(file: &Path, value: &Value) -> Outcome {
    let opened = File::create(file).map_err(|error| unwritable(file, &error))?;
    let mut writer = BufWriter::new(opened);
    let written = match &value.elements {
        Elements::I32(elements) => array(value, elements).write_npy(&mut writer),
        Elements::I64(elements) => array(value, elements).write_npy(&mut writer),
        Elements::F32(elements) => array(value, elements).write_npy(&mut writer),
        Elements::F64(elements) => array(value, elements).write_npy(&mut writer),
        Elements::Bool(elements) => array(value, elements).write_npy(&mut writer),
    };
    written.map_err(|error| Failure::usage(format!("cannot write {}: {error}", file.display())))?;
    writer.flush().map_err(|error| unwritable(file, &error))
}

/// The elements in their shape.
pub fn array<'a, T>(value: &Value, elements: &'a [T]) -> ArrayViewD<'a, T> {
    ArrayViewD::from_shape(value.shape.clone(), elements).expect("a value has as many elements as its shape")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(file: &[u8]) -> String {
        let mut rest = file;
        let head = match header(&mut rest).expect("slices can be read") {
            Ok(head) => head,
            Err(why) => return why,
        };
        check(&head, rest.len() as u64).err().expect("it is refused")
    }

    #[test]
    fn what_the_header_claims_is_checked_before_it_is_believed() {
        assert_eq!(why(b"PK"), "it is no .npy file");
        assert_eq!(why(b"\x93NUMPY\x01"), "it is cut off in its header");
        assert_eq!(why(b"\x93NUMPY\x02\x00\xff\xff\x00\x00{"), "it is cut off in its header");
        assert_eq!(
            why(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{"),
            "its header has 4294967295 bytes, more than the limit of 65536"
        );
        assert_eq!(why(b"\x93NUMPY\x09\x00\x01\x00\x00\x00"), "version 9 of the format is not known");
        let deep = [b"\x93NUMPY\x01\x00\x40\x00".as_slice(), &[b'('; 64]].concat();
        assert_eq!(why(&deep), "its header nests too deep");
        for shape in ["(4000000000, 3)", "[4000000000, 3]", "(4000000000L, 3L)"] {
            let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
            let length = (header.len() as u16).to_le_bytes();
            let huge = [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes()].concat();
            assert_eq!(why(&huge), "it is cut off: 12000000000 elements in its header, 0 bytes after it");
        }
    }
}
