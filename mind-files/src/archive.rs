//! Files of named arrays, independent of their format.

#[cfg(feature = "parameters")]
use mind_rt::{Element, Parameters, Shape, Tensor};

use crate::blocks::Sink;
use crate::error::Fault;
use crate::layout::Arrays;
#[cfg(feature = "parameters")]
use crate::{Names, Staged, parameters};

/// A file of named arrays, whose headers have been read and checked: a `safetensors::File` or an `npz::File`.
pub trait Archive {
    /// The arrays in the file.
    fn arrays(&self) -> &Arrays;

    /// Checks that the file has as many elements of an array as its headers declare, so that memory can be allocated
    /// for them.
    ///
    /// # Errors
    /// If it has fewer or more elements, or they cannot be read.
    ///
    /// # Panics
    /// If the file has no such array.
    fn verify(&mut self, name: &str) -> Result<(), Fault>;

    /// Reads the elements of an array and passes them to a sink.
    ///
    /// # Errors
    /// If the elements cannot be read, or do not match the headers. The sink may have received some of them.
    ///
    /// # Panics
    /// If the file has no such array.
    fn read(&mut self, name: &str, to: Sink<'_>) -> Result<(), Fault>;

    /// Sets parameters to the values in the file.
    ///
    /// # Errors
    /// Everything that is wrong with the file, as a [`Fault`]. Nothing is loaded then.
    #[cfg(feature = "parameters")]
    fn load(&mut self, parameters: &mut impl Parameters, names: &Names<'_>) -> Result<(), Fault>
    where
        Self: Sized,
    {
        self.stage(parameters, names).map(|staged| staged.set(parameters))
    }

    /// Reads the values of parameters from the file without setting the parameters, so that the caller can check them
    /// first.
    ///
    /// # Errors
    /// The errors of [`load`](Self::load).
    #[cfg(feature = "parameters")]
    fn stage(&mut self, parameters: &impl Parameters, names: &Names<'_>) -> Result<Staged, Fault>
    where
        Self: Sized,
    {
        Staged::read(self, parameters, names)
    }

    /// Reads an array as a tensor. The file determines dynamic extents.
    ///
    /// # Errors
    /// If there is no such array, or it has another element type, rank or static extent.
    #[cfg(feature = "parameters")]
    fn tensor<T: Element, S: Shape>(&mut self, name: &str) -> Result<Tensor<T, S>, Fault>
    where
        Self: Sized,
    {
        parameters::tensor(self, name)
    }
}
