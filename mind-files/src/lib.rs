//! Tensors in files, for the mind language: structs of parameters and what optimisers remember of them, to and from
//! safetensors, with the feature `safetensors`; tensors to and from NumPy's format `.npy`, with the feature `npy`; such structs
//! to and from its archives `.npz`, with the feature `npz`.
//!
//! - **Names** of parameters are those in the file, or are mapped: [`Names`].
//! - **All differences** between a file and parameters are told at once, and then nothing is loaded: [`Fault`].
//! - **A file is whole at any moment** that its writer is killed at: [`replace`].
//! - **No memory is taken for a length that a file tells of** before the file is known to have as much, and the parameters too;
//!   then it is taken once. Arrays that are compressed are inflated twice for that, first to be counted.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(any(feature = "safetensors", feature = "npz")),
    allow(dead_code, reason = "without a format of many arrays no names are fitted")
)]

mod archive;
mod blocks;
mod error;
mod fit;
mod layout;
mod names;
#[cfg(feature = "npy")]
pub mod npy;
#[cfg(feature = "npz")]
pub mod npz;
#[cfg(feature = "parameters")]
mod parameters;
mod replace;
#[cfg(feature = "safetensors")]
pub mod safetensors;
mod truth;

use std::fs;
use std::io;
use std::path::Path;

pub use archive::Archive;
pub use blocks::Sink;
pub use error::{Difference, Error, Fault};
pub use fit::{fit, named};
pub use layout::{Arrays, Layout, Part};
pub use names::Names;
#[cfg(feature = "parameters")]
pub use parameters::{Staged, bytes, layout, set_bytes};
pub use replace::replace;

/// A file and its length. What is no file has none and may have no end.
fn open(path: &Path) -> Result<(fs::File, u64), Fault> {
    let told = fs::metadata(path).map_err(Fault::Read)?;
    if !told.is_file() {
        let kind = if told.is_dir() { io::ErrorKind::IsADirectory } else { io::ErrorKind::InvalidInput };
        return Err(Fault::Read(io::Error::new(kind, "it is no file")));
    }
    let file = fs::File::open(path).map_err(Fault::Read)?;
    let length = file.metadata().map_err(Fault::Read)?.len();
    Ok((file, length))
}
