//! Reads and writes tensors as `.npy` files.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Write},
    path::Path,
};

use bytemuck::Pod;
use mind_core::{
    diag::Code,
    interp::{Array, Elements},
    memory::Budget,
    ty::DType,
};
use mind_files::{Fault, Layout, npy::Header};
use mind_shape::{Kind, match_dtype, match_elements};

use crate::{
    commands::with_help,
    output::unwritable,
    report::{Failure, Mistake, Outcome},
    source::reason,
};

/// Reads the tensor in a file, in either byte order, and in C or Fortran order. Its element type must be `dtype`. Its
/// memory is taken from a budget before the elements are read.
pub fn read(file: &Path, dtype: DType, budget: &mut Budget) -> Outcome<Array> {
    let unreadable = |error: io::Error| {
        let directory = if file.is_dir() { "it is a directory".to_owned() } else { reason(&error) };
        Failure::usage(format!("cannot read {}: {directory}", file.display()))
    };
    let refused = |fault: Fault| match fault {
        Fault::Read(error) => unreadable(error),
        fault => Failure::usage(format!("cannot read {}: {fault}", file.display())),
    };
    let opened = File::open(file).map_err(unreadable)?;
    let meta = opened.metadata().map_err(unreadable)?;
    if meta.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    let mut reader = BufReader::new(opened);
    let header = Header::read(&mut reader).map_err(refused)?;
    if header.layout.dtype != dtype.to_string() {
        return Err(wrong_dtype(file, &header.layout.dtype, dtype));
    }
    // The length is unknown if this is not a regular file, such as a pipe.
    if meta.is_file() {
        header.check(meta.len().saturating_sub(header.length())).map_err(refused)?;
    }
    let bytes = header.bytes().ok_or_else(|| {
        let layout = &header.layout;
        Failure::usage(format!(
            "cannot read {}: the header declares {layout}, which is too large",
            file.display()
        ))
    })?;
    budget.take(bytes).map_err(|error| {
        let mistake = Mistake::new(Code::E6004, format!("{}: {error}", file.display()));
        Failure::mistake(with_help(mistake))
    })?;
    let elements: Result<Elements, _> = match_dtype!(dtype, T {
        truths => numbers::<u8>(&header, &mut reader)
            .map(|truths| truths.into_iter().map(|truth| truth != 0).collect::<Vec<_>>().into()),
        numbers => numbers::<T>(&header, &mut reader).map(Into::into),
    });
    let elements = elements.map_err(refused)?;
    Ok(Array::new(header.layout.dims, elements))
}

/// The elements after a header. The budget already contains their memory.
fn numbers<T: Pod>(header: &Header, reader: &mut BufReader<File>) -> Result<Vec<T>, Fault> {
    let mut elements = vec![T::zeroed(); header.layout.dims.iter().product()];
    let bytes = bytemuck::cast_slice_mut(&mut elements);
    header.elements(reader, bytes)?;
    swap::<T>(bytes);
    Ok(elements)
}

/// Converts elements from little-endian to the byte order of this machine, or back.
fn swap<T>(bytes: &mut [u8]) {
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
}

fn wrong_dtype(file: &Path, found: &str, dtype: DType) -> Failure {
    let mistake = Mistake::new(Code::E2001, format!("{} contains {found}, needed {dtype}", file.display()));
    Failure::mistake(match remedy(found, dtype) {
        Some(help) => mistake.help(help),
        None => mistake,
    })
}

/// A hint how to convert a NumPy array to one that can be read, if the conversion loses no part of it.
fn remedy(found: &str, dtype: DType) -> Option<String> {
    if found.starts_with('[') {
        return Some(
            "save the fields of a structured array separately; in Python: np.save(…, x[\"field\"])".into(),
        );
    }
    if matches!(found, "c64" | "c128" | "clongdouble") {
        let parts = "the language has no complex numbers; in Python: np.save(…, np.stack([x.real, x.imag]))";
        return Some(parts.into());
    }
    let is_number = found.strip_prefix(['f', 'i', 'u']).is_some_and(|bits| bits.parse::<u32>().is_ok());
    if !is_number && !matches!(found, "bool" | "longdouble") {
        return None;
    }
    let bits = dtype.bytes() * 8;
    let of_numpy = match dtype.kind() {
        Kind::Float => format!("np.float{bits}"),
        Kind::Signed => format!("np.int{bits}"),
        Kind::Unsigned => format!("np.uint{bits}"),
        Kind::Truth => "bool".to_owned(),
    };
    Some(format!("in Python: np.save(…, x.astype({of_numpy}))"))
}

/// Writes a tensor in C order.
pub fn write(file: &Path, value: &Array) -> Outcome {
    let written = || {
        let mut writer = BufWriter::new(File::create(file)?);
        let layout = Layout { dtype: value.dtype().to_string(), dims: value.shape.clone() };
        writer.write_all(&Header::write(&layout))?;
        match_elements!(&value.elements, Elements(elements) {
            truths => write_all(bytemuck::cast_slice::<bool, u8>(elements), &mut writer),
            numbers => write_all(elements, &mut writer),
        })?;
        writer.flush()
    };
    written().map_err(|error: io::Error| unwritable(file, &error))
}

/// Writes elements, block by block.
fn write_all<T: Pod>(elements: &[T], writer: &mut impl Write) -> io::Result<()> {
    elements.chunks(4096).try_for_each(|block| {
        let mut block = block.to_vec();
        let bytes = bytemuck::cast_slice_mut(&mut block);
        swap::<T>(bytes);
        writer.write_all(bytes)
    })
}
