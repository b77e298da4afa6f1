//! Named arrays, whatever the format of the file that holds them.

#[cfg(feature = "parameters")]
use mind_rt::{Element, Parameters, Shape, Tensor};

use crate::error::Fault;
use crate::layout::Arrays;
#[cfg(feature = "parameters")]
use crate::{Names, Staged, parameters};

/// A file of named arrays, of which the headers are read and checked: a `safetensors::File` or an `npz::File`.
pub trait Archive {
    /// All that it holds.
    fn arrays(&self) -> &Arrays;

    /// Reads the elements of one of its arrays, little-endian, in row-major order; `to` has as many bytes as these.
    ///
    /// # Errors
    /// They cannot be read, or are not as the headers say.
    ///
    /// # Panics
    /// If there is no such array.
    fn read(&mut self, name: &str, to: &mut [u8]) -> Result<(), Fault>;

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
