//! Named arrays, whatever the format of the file that holds them.

#[cfg(feature = "parameters")]
use mind_rt::{Element, Parameters, Shape, Tensor};

use crate::blocks::Sink;
use crate::error::Fault;
use crate::layout::Arrays;
#[cfg(feature = "parameters")]
use crate::{Names, Staged, parameters};

/// A file of named arrays, of which the headers are read and checked: a `safetensors::File` or an `npz::File`.
pub trait Archive {
    /// All that it holds.
    fn arrays(&self) -> &Arrays;

    /// Finds out that the file has the elements of one of its arrays, which its headers only say, so that memory may be taken
    /// for them.
    ///
    /// # Errors
    /// It has fewer or more, or they cannot be read.
    ///
    /// # Panics
    /// If there is no such array.
    fn verify(&mut self, name: &str) -> Result<(), Fault>;

    /// Reads the elements of one of its arrays, and gives them to a sink.
    ///
    /// # Errors
    /// They cannot be read, or are not as the headers say. The sink may have some of them then.
    ///
    /// # Panics
    /// If there is no such array.
    fn read(&mut self, name: &str, to: Sink<'_>) -> Result<(), Fault>;

    /// Sets parameters to what the file holds of them.
    ///
    /// # Errors
    /// All that is wrong with the file, of which nothing is then loaded: [`Fault`].
    #[cfg(feature = "parameters")]
    fn load(&mut self, parameters: &mut impl Parameters, names: &Names<'_>) -> Result<(), Fault>
    where
        Self: Sized,
    {
        self.stage(parameters, names).map(|staged| staged.set(parameters))
    }

    /// Reads what the file holds of parameters and leaves these as they are, for checks in between.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    #[cfg(feature = "parameters")]
    fn stage(&mut self, parameters: &impl Parameters, names: &Names<'_>) -> Result<Staged, Fault>
    where
        Self: Sized,
    {
        Staged::read(self, parameters, names)
    }

    /// The tensor that one of its arrays is, of which the file may decide dynamic extents.
    ///
    /// # Errors
    /// There is no such array, or it has another element type, rank or static extent.
    #[cfg(feature = "parameters")]
    fn tensor<T: Element, S: Shape>(&mut self, name: &str) -> Result<Tensor<T, S>, Fault>
    where
        Self: Sized,
    {
        parameters::tensor(self, name)
    }
}
