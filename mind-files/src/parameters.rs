//! Parameters and their elements as bytes.

use std::io::{self, Write};

use mind_rt::{Element, Elements, ElementsMut, Parameter, Parameters, Shape, Tensor};

use crate::archive::Archive;
use crate::error::Fault;
use crate::fit::{fit, named};
use crate::layout::{Layout, Part};
use crate::names::Names;

/// What is known of every part beside its elements, in order.
pub fn layout(parameters: &impl Parameters) -> Vec<Part> {
    let mut parts = Vec::new();
    parameters.visit(&mut |part| parts.push(part_of(&part)));
    parts
}

fn part_of(part: &Parameter<'_>) -> Part {
    Part { name: part.name.to_string(), layout: layout_of(part) }
}

pub(crate) fn layout_of(part: &Parameter<'_>) -> Layout {
    Layout { dtype: part.dtype().to_string(), dims: part.dims.to_vec() }
}

/// All elements in order, little-endian, a byte for each truth value.
pub fn bytes(parameters: &impl Parameters) -> Vec<u8> {
    let mut bytes = Vec::new();
    parameters.visit(&mut |part| {
        write_elements(part.elements, &mut bytes).expect("a vector takes all that is written");
    });
    bytes
}

/// Sets all elements to what [`bytes`] gave of parameters of the same layout.
///
/// # Panics
/// If there are fewer bytes than elements need.
pub fn set_bytes(parameters: &mut impl Parameters, mut bytes: &[u8]) {
    parameters.visit_mut(&mut |part| take_elements(part.elements, &mut bytes));
}

/// Sets elements to the first of the bytes, and leaves the rest of these.
fn take_elements(elements: ElementsMut<'_>, bytes: &mut &[u8]) {
    fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
        let (first, rest) = bytes.split_first_chunk().expect("there are bytes for each element");
        *bytes = rest;
        *first
    }
    match elements {
        ElementsMut::F32(elements) => elements.fill_with(|| f32::from_le_bytes(take(bytes))),
        ElementsMut::F64(elements) => elements.fill_with(|| f64::from_le_bytes(take(bytes))),
        ElementsMut::I32(elements) => elements.fill_with(|| i32::from_le_bytes(take(bytes))),
        ElementsMut::I64(elements) => elements.fill_with(|| i64::from_le_bytes(take(bytes))),
        ElementsMut::Bool(elements) => elements.fill_with(|| take::<1>(bytes) != [0]),
    }
}

/// Writes elements, little-endian, a byte for each truth value.
pub(crate) fn write_elements(elements: Elements<'_>, to: &mut impl Write) -> io::Result<()> {
    fn write<T: Copy, const N: usize>(
        elements: &[T],
        to: &mut impl Write,
        bytes: impl Fn(T) -> [u8; N],
    ) -> io::Result<()> {
        let mut block = Vec::new();
        for elements in elements.chunks(4096) {
            block.clear();
            elements.iter().for_each(|element| block.extend(bytes(*element)));
            to.write_all(&block)?;
        }
        Ok(())
    }
    match elements {
        Elements::F32(elements) => write(elements, to, f32::to_le_bytes),
        Elements::F64(elements) => write(elements, to, f64::to_le_bytes),
        Elements::I32(elements) => write(elements, to, i32::to_le_bytes),
        Elements::I64(elements) => write(elements, to, i64::to_le_bytes),
        Elements::Bool(elements) => write(elements, to, |truth| [u8::from(truth)]),
    }
}

/// A part to be written: its name in the file, what it is, and its elements.
pub(crate) struct Written<'a> {
    pub(crate) name: String,
    pub(crate) layout: Layout,
    pub(crate) elements: Elements<'a>,
}

/// The parts under the names that they have in a file.
pub(crate) fn written<'a>(
    parameters: &'a impl Parameters,
    names: &Names<'_>,
) -> Result<Vec<Written<'a>>, Fault> {
    let in_file = named(&layout(parameters), names).map_err(Fault::Differences)?;
    let parts = parameters.parameters().into_iter().zip(in_file);
    let parts = parts.map(|(part, name)| Written { name, layout: layout_of(&part), elements: part.elements });
    Ok(parts.collect())
}

/// The elements of parameters as a file has them: read and checked, and not yet in the parameters.
#[derive(Debug)]
pub struct Staged {
    bytes: Vec<u8>,
}

impl Staged {
    /// Reads the elements of parameters. As much memory is taken as they have, once the file is known to fit.
    pub(crate) fn read(
        archive: &mut impl Archive,
        parameters: &impl Parameters,
        names: &Names<'_>,
    ) -> Result<Self, Fault> {
        let in_file = fit(&layout(parameters), archive.arrays(), names).map_err(Fault::Differences)?;
        let mut lengths = Vec::new();
        parameters.visit(&mut |part| lengths.push(size_of_val_in(part.elements)));
        let mut bytes = vec![0; lengths.iter().sum()];
        let mut rest = &mut bytes[..];
        for (name, length) in in_file.iter().zip(lengths) {
            let (own, others) = rest.split_at_mut(length);
            archive.read(name, own)?;
            rest = others;
        }
        Ok(Self { bytes })
    }

    /// All elements in the order of the parameters, as [`bytes`] gives them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Sets parameters, of the layout of those that the elements were read for.
    ///
    /// # Panics
    /// If the parameters have more elements.
    pub fn set(&self, parameters: &mut impl Parameters) {
        set_bytes(parameters, &self.bytes);
    }
}

/// One array of a file as a tensor.
pub(crate) fn tensor<T: Element, S: Shape>(
    archive: &mut impl Archive,
    name: &str,
) -> Result<Tensor<T, S>, Fault> {
    let found = archive.arrays().get(name).ok_or_else(|| Fault::Absent(name.to_owned()))?;
    let shape = shape_for::<T, S>(found)?;
    read_tensor(shape, |bytes| archive.read(name, bytes))
}

/// A tensor whose bytes are read, little-endian and in row-major order. That the file has as many is known.
pub(crate) fn read_tensor<T: Element, S: Shape>(
    shape: S,
    read: impl FnOnce(&mut [u8]) -> Result<(), Fault>,
) -> Result<Tensor<T, S>, Fault> {
    let no_memory = |_| Fault::Memory { needed: format!("{}{:?}", T::DTYPE, shape.dims()) };
    let mut tensor = Tensor::try_zeros_with(shape).map_err(no_memory)?;
    let mut bytes = vec![0; size_of_val(tensor.as_slice())];
    read(&mut bytes)?;
    set_bytes(&mut tensor, &bytes);
    Ok(tensor)
}

/// The shape that an array has, if it is of the type asked for.
pub(crate) fn shape_for<T: Element, S: Shape>(found: &Layout) -> Result<S, Fault> {
    let shape = S::from_extents(&found.dims).filter(|_| found.dtype == T::DTYPE.to_string());
    shape.ok_or_else(|| Fault::Other { found: found.clone(), needed: describe::<T, S>() })
}

/// `f32[?, Batch, 3]`
fn describe<T: Element, S: Shape>() -> String {
    let dims = (0..S::RANK).map(|axis| match (S::STATIC[axis], S::names()[axis]) {
        (Some(extent), _) => extent.to_string(),
        (None, name) => name.unwrap_or("?").to_owned(),
    });
    format!("{}[{}]", T::DTYPE, dims.collect::<Vec<_>>().join(", "))
}

/// The bytes of elements in a file.
fn size_of_val_in(elements: Elements<'_>) -> usize {
    match elements {
        Elements::F32(elements) => size_of_val(elements),
        Elements::F64(elements) => size_of_val(elements),
        Elements::I32(elements) => size_of_val(elements),
        Elements::I64(elements) => size_of_val(elements),
        Elements::Bool(elements) => elements.len(),
    }
}
