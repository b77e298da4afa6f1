//! Tensors from and to `.npy` files.

use std::{fs, io::Cursor, path::Path};

use mind_core::{
    diag::Code,
    interp::{Elements, Value},
    ty::DType,
};
use ndarray::ArrayD;
use ndarray_npy::{ReadNpyError, ReadNpyExt, ReadableElement, WriteNpyExt};

use crate::{
    output::unwritable,
    report::{Failure, Mistake, Outcome},
    source::reason,
};

/// The tensor of a file, whose elements have to be of this type; in either byte order, in C or Fortran order.
pub fn read(file: &Path, dtype: DType) -> Outcome<Value> {
    let bytes = fs::read(file).map_err(|error| {
        let directory = if file.is_dir() { "it is a directory".to_owned() } else { reason(&error) };
        Failure::usage(format!("cannot read {}: {directory}", file.display()))
    })?;
    check(&bytes).map_err(|why| broken(file, &why))?;
    match dtype {
        DType::I32 => elements::<i32>(file, &bytes, dtype),
        DType::I64 => elements::<i64>(file, &bytes, dtype),
        DType::F32 => elements::<f32>(file, &bytes, dtype),
        DType::F64 => elements::<f64>(file, &bytes, dtype),
        DType::Bool => Err(Failure::mistake(Mistake::new(Code::E2005, "no program takes truth values"))),
    }
}

fn elements<T>(file: &Path, bytes: &[u8], dtype: DType) -> Outcome<Value>
where
    T: ReadableElement + Clone,
    Elements: From<Vec<T>>,
{
    match ArrayD::<T>::read_npy(Cursor::new(bytes)) {
        Ok(array) => {
            let shape = array.shape().to_vec();
            // In row-major order, whatever order the file has.
            let elements: Vec<T> = array.iter().cloned().collect();
            Ok(Value::new(shape, elements))
        }
        Err(ReadNpyError::WrongDescriptor(found)) => Err(wrong_dtype(file, &found.to_string(), dtype)),
        Err(error) => Err(broken(file, &error.to_string())),
    }
}

fn wrong_dtype(file: &Path, found: &str, dtype: DType) -> Failure {
    let message = format!("{} holds {}, needed {dtype}", file.display(), described(found.trim_matches('\'')));
    let kind = if dtype.is_float() { "float" } else { "int" };
    let help = format!("in Python: np.save(…, x.astype(np.{kind}{}))", dtype.bytes() * 8);
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

/// What the reader of the format does not check before it takes memory or recurses: that the header is within the file
/// and nests no deeper than headers do, and that there is as much data as it says.
fn check(bytes: &[u8]) -> Result<(), String> {
    let is_npy = bytes.starts_with(b"\x93NUMPY");
    let lengths = match bytes.get(6..12) {
        Some(rest) if is_npy => rest,
        Some(_) => return Err("it is no .npy file".into()),
        None if is_npy => return Err("it is cut off in its header".into()),
        None => return Err("it is no .npy file".into()),
    };
    let (start, length): (usize, usize) = match lengths {
        [1, _, a, b, ..] => (10, usize::from(u16::from_le_bytes([*a, *b]))),
        [2 | 3, _, a, b, c, d] => (12, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        _ => return Err(format!("version {} of the format is not known", lengths[0])),
    };
    let header = start.checked_add(length).and_then(|end| bytes.get(start..end));
    let header = header.ok_or("it is cut off in its header")?;
    let mut depth = 0usize;
    for byte in header {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 8 {
            return Err("its header nests too deep".into());
        }
    }
    let data = bytes.len() - start - length;
    let header = String::from_utf8_lossy(header);
    // Each list of integers could be the shape; an element has a byte at least.
    for list in header.split('(').skip(1).filter_map(|rest| rest.split_once(')')) {
        let extents = list.0.split(',').map(str::trim).filter(|extent| !extent.is_empty());
        let count = extents
            .map(|extent| extent.parse::<usize>().ok())
            .try_fold(1usize, |count, extent| extent.map(|extent| count.saturating_mul(extent)));
        if let Some(count) = count.filter(|count| *count > data) {
            return Err(format!("it is cut off: {count} elements in its header, {data} bytes after it"));
        }
    }
    Ok(())
}

/// Writes a tensor in C order.
pub fn write(file: &Path, value: &Value) -> Outcome {
    let mut bytes = Vec::new();
    let written = match &value.elements {
        Elements::I32(elements) => array(value, elements).write_npy(&mut bytes),
        Elements::I64(elements) => array(value, elements).write_npy(&mut bytes),
        Elements::F32(elements) => array(value, elements).write_npy(&mut bytes),
        Elements::F64(elements) => array(value, elements).write_npy(&mut bytes),
    };
    written.map_err(|error| Failure::usage(format!("cannot write {}: {error}", file.display())))?;
    fs::write(file, bytes).map_err(|error| unwritable(file, &error))
}

/// The elements in their shape.
pub fn array<T: Clone>(value: &Value, elements: &[T]) -> ArrayD<T> {
    ArrayD::from_shape_vec(value.shape.clone(), elements.to_vec())
        .expect("a value has as many elements as its shape")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_header_claims_is_checked_before_it_is_believed() {
        assert_eq!(check(b"PK").unwrap_err(), "it is no .npy file");
        assert_eq!(check(b"\x93NUMPY\x01").unwrap_err(), "it is cut off in its header");
        assert_eq!(check(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{").unwrap_err(), "it is cut off in its header");
        assert_eq!(
            check(b"\x93NUMPY\x09\x00\x01\x00\x00\x00").unwrap_err(),
            "version 9 of the format is not known"
        );
        let deep = [b"\x93NUMPY\x01\x00\x40\x00".as_slice(), &[b'('; 64]].concat();
        assert_eq!(check(&deep).unwrap_err(), "its header nests too deep");
        let header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 3), }\n";
        let huge = [b"\x93NUMPY\x01\x00".as_slice(), &(header.len() as u16).to_le_bytes(), header].concat();
        assert_eq!(
            check(&huge).unwrap_err(),
            "it is cut off: 12000000000 elements in its header, 0 bytes after it"
        );
    }
}
