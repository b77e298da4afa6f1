//! Converts parameters and their elements from and to bytes.

use std::io::{self, Write};

use mind_rt::{Element, Elements, ElementsMut, Parameter, ParameterMut, Parameters, Shape, Tensor};
use mind_shape::{element_types, match_elements};

use crate::archive::Archive;
use crate::blocks::Sink;
use crate::error::Fault;
use crate::fit::{fit, named};
use crate::layout::{Layout, Part};
use crate::names::Names;

/// Defines `save`, `save_as`, `load` and `load_as` for a format. The module that calls the macro must define the
/// format's [`Archive`](crate::archive::Archive) `File`, and `save_to`, which writes a file.
#[cfg(any(feature = "npz", feature = "safetensors"))]
macro_rules! whole_files {
    () => {
        /// Writes parameters to a file atomically: [`replace`].
        ///
        /// # Errors
        /// Errors of the system; two parameters with the same name.
        pub fn save(path: impl AsRef<Path>, parameters: &impl Parameters) -> Result<(), Error> {
            save_as(path, parameters, &Names::same())
        }

        /// Writes parameters to a file atomically, with these names in the file.
        ///
        /// # Errors
        /// The errors of [`save`]; names that belong to no parameter.
        pub fn save_as(
            path: impl AsRef<Path>,
            parameters: &impl Parameters,
            names: &Names<'_>,
        ) -> Result<(), Error> {
            let path = path.as_ref();
            save_to(path, parameters, names).map_err(|fault| fault.of(path))
        }

        /// Sets parameters to the values in a file.
        ///
        /// # Errors
        /// Everything that is wrong with the file, as a [`Fault`]. Nothing is loaded then.
        pub fn load(path: impl AsRef<Path>, parameters: &mut impl Parameters) -> Result<(), Error> {
            load_as(path, parameters, &Names::same())
        }

        /// Sets parameters to the values in a file, in which they have these names.
        ///
        /// # Errors
        /// The errors of [`load`].
        pub fn load_as(
            path: impl AsRef<Path>,
            parameters: &mut impl Parameters,
            names: &Names<'_>,
        ) -> Result<(), Error> {
            let path = path.as_ref();
            File::open(path)?.load(parameters, names).map_err(|fault| fault.of(path))
        }
    };
}
#[cfg(any(feature = "npz", feature = "safetensors"))]
pub(crate) use whole_files;

/// The name, element type and extents of every part, in order.
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

/// All elements in order, little-endian, with one byte per truth value.
pub fn bytes(parameters: &impl Parameters) -> Vec<u8> {
    let mut bytes = Vec::new();
    parameters.visit(&mut |part| {
        write_elements(part.elements, &mut bytes).expect("a vector takes all that is written");
    });
    bytes
}

/// Sets all elements from the bytes that the function [`bytes`] returned for parameters of the same layout.
///
/// # Panics
/// If there are fewer bytes than elements need.
pub fn set_bytes(parameters: &mut impl Parameters, mut bytes: &[u8]) {
    parameters.visit_mut(&mut |part| take_elements(part.elements, &mut bytes));
}

/// Sets elements from the first bytes, and removes these from `bytes`.
fn take_elements(mut elements: ElementsMut<'_>, bytes: &mut &[u8]) {
    let own = bytes.split_off(..length_of(&elements)).expect("there are bytes for each element");
    put(&mut elements, 0, own);
}

/// Sets the elements that begin at byte `start`.
fn put(elements: &mut ElementsMut<'_>, start: usize, bytes: &[u8]) {
    fn put<T, const N: usize>(to: &mut [T], start: usize, bytes: &[u8], element: impl Fn([u8; N]) -> T) {
        let (bytes, rest) = bytes.as_chunks();
        debug_assert!(start.is_multiple_of(N) && rest.is_empty(), "bytes are of whole elements");
        let to = &mut to[start / N..][..bytes.len()];
        to.iter_mut().zip(bytes).for_each(|(to, bytes)| *to = element(*bytes));
    }
    match_elements!(elements, ElementsMut(elements) => put(elements, start, bytes, Stored::read));
}

/// An element type as it is stored in files: little-endian, with one byte per truth value.
trait Stored<const N: usize>: Copy {
    /// The element with these bytes.
    fn read(bytes: [u8; N]) -> Self;

    /// The bytes of the element.
    fn written(self) -> [u8; N];
}

impl Stored<1> for bool {
    fn read([truth]: [u8; 1]) -> Self {
        truth != 0
    }

    fn written(self) -> [u8; 1] {
        [self.into()]
    }
}

macro_rules! stored {
    ($($number:ident $variant:ident;)*) => {$(
        impl Stored<{ size_of::<$number>() }> for $number {
            fn read(bytes: [u8; size_of::<$number>()]) -> Self {
                Self::from_le_bytes(bytes)
            }

            fn written(self) -> [u8; size_of::<$number>()] {
                self.to_le_bytes()
            }
        }
    )*};
}

element_types!(numbers => stored!);

/// Writes elements, little-endian, with one byte per truth value.
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
    match_elements!(elements, Elements(elements) => write(elements, to, Stored::written))
}

/// A part to write: its name in the file, its element type and extents, and its elements.
pub(crate) struct Written<'a> {
    pub(crate) name: String,
    pub(crate) layout: Layout,
    pub(crate) elements: Elements<'a>,
}

/// The parts of parameters, with their names in the file.
pub(crate) fn written<'a>(
    parameters: &'a impl Parameters,
    names: &Names<'_>,
) -> Result<Vec<Written<'a>>, Fault> {
    let in_file = named(&layout(parameters), names).map_err(Fault::Differences)?;
    let parts = parameters.parameters().into_iter().zip(in_file);
    let parts = parts.map(|(part, name)| Written { name, layout: layout_of(&part), elements: part.elements });
    Ok(parts.collect())
}

/// The elements of parameters from a file: read and checked, but not yet in the parameters.
#[derive(Debug)]
pub struct Staged {
    bytes: Vec<u8>,
}

impl Staged {
    /// Reads the elements of parameters. Allocates memory for them after checking that the file fits and has that many
    /// bytes.
    pub(crate) fn read(
        archive: &mut impl Archive,
        parameters: &impl Parameters,
        names: &Names<'_>,
    ) -> Result<Self, Fault> {
        let in_file = fit(&layout(parameters), archive.arrays(), names).map_err(Fault::Differences)?;
        in_file.iter().try_for_each(|name| archive.verify(name))?;
        let mut lengths = Vec::new();
        parameters.visit(&mut |part| lengths.push(size_of_val_in(part.elements)));
        let all: usize = lengths.iter().sum();
        let mut bytes = Vec::new();
        let no_memory = |_| Fault::Memory { needed: format!("the {all} bytes of the parameters") };
        bytes.try_reserve_exact(all).map_err(no_memory)?;
        bytes.resize(all, 0);
        let mut rest = &mut bytes[..];
        for (name, length) in in_file.iter().zip(lengths) {
            let (own, others) = rest.split_at_mut(length);
            archive.read(name, &mut |start, bytes| own[start..start + bytes.len()].copy_from_slice(bytes))?;
            rest = others;
        }
        Ok(Self { bytes })
    }

    /// All elements in the order of the parameters, in the format of the function [`bytes`].
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Sets parameters. They must have the same layout as the parameters for which the elements were read.
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
    archive.verify(name)?;
    read_tensor(shape, |elements| archive.read(name, elements))
}

/// Reads a tensor by passing a sink to `read`. The caller has checked that the file has the elements.
pub(crate) fn read_tensor<T: Element, S: Shape>(
    shape: S,
    read: impl FnOnce(Sink<'_>) -> Result<(), Fault>,
) -> Result<Tensor<T, S>, Fault> {
    let no_memory = |_| Fault::Memory { needed: format!("{}{:?}", T::DTYPE, shape.dims()) };
    let mut tensor = Tensor::try_zeros_with(shape).map_err(no_memory)?;
    let mut elements = ParameterMut::tensor("", &mut tensor).elements;
    read(&mut |start, bytes| put(&mut elements, start, bytes))?;
    Ok(tensor)
}

/// The shape of an array, if the array has the requested type.
pub(crate) fn shape_for<T: Element, S: Shape>(found: &Layout) -> Result<S, Fault> {
    let shape = S::from_extents(&found.dims).filter(|_| found.dtype == T::DTYPE.to_string());
    shape.ok_or_else(|| Fault::Other { found: found.clone(), needed: describe::<T, S>() })
}

/// The requested type as text: `f32[?, Batch, 3]`.
fn describe<T: Element, S: Shape>() -> String {
    let dims = (0..S::RANK).map(|axis| match (S::STATIC[axis], S::names()[axis]) {
        (Some(extent), _) => extent.to_string(),
        (None, name) => name.unwrap_or("?").to_owned(),
    });
    format!("{}[{}]", T::DTYPE, dims.collect::<Vec<_>>().join(", "))
}

/// The number of bytes of the elements in a file.
fn length_of(elements: &ElementsMut<'_>) -> usize {
    match_elements!(elements, ElementsMut(elements) => size_of_val(*elements))
}

/// The number of bytes of the elements in a file.
fn size_of_val_in(elements: Elements<'_>) -> usize {
    match_elements!(elements, Elements(elements) => size_of_val(elements))
}
