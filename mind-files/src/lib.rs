//! Loads and saves the tensors of the mind language in files. Programs use this crate as `mind::files`, with the
//! features `safetensors` and `npy` of [`mind-dsl`](https://docs.rs/mind-dsl).
//!
//! | format | contents | feature of this crate |
//! | --- | --- | --- |
//! | safetensors | structs of parameters, and the state of optimisers | `safetensors` |
//! | `.npy` of NumPy | one tensor | `npy` |
//! | `.npz` of NumPy | structs of parameters, and the state of optimisers | `npz` |
//!
//! - **Names** of parameters are the names in the file, or are mapped to them by [`Names`].
//! - **All differences** between a file and the parameters are reported in one [`Fault`], and then nothing is loaded.
//! - **Writes are atomic**: a killed process leaves the old file or the new one ([`replace`]).
//! - **Memory** is allocated once, and only after checking that the file really has the elements that its headers
//!   declare, and that the parameters fit. A compressed array is therefore inflated twice, first only to count its
//!   bytes.
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

/// Opens a file and returns it with its length. Anything else than a regular file is an error, since it may have no
/// end.
fn open(path: &Path) -> Result<(fs::File, u64), Fault> {
    let metadata = fs::metadata(path).map_err(Fault::Read)?;
    if !metadata.is_file() {
        let kind = if metadata.is_dir() { io::ErrorKind::IsADirectory } else { io::ErrorKind::InvalidInput };
        return Err(Fault::Read(io::Error::new(kind, "it is not a regular file")));
    }
    let file = fs::File::open(path).map_err(Fault::Read)?;
    let length = file.metadata().map_err(Fault::Read)?.len();
    Ok((file, length))
}
