//! Tests of what stands around programs: files, Knossos, names, lints. `language` and `bare` test what programs mean.

mod angle;
mod configured;
mod extern_ks;
mod gradcheck;
mod include;
mod include_ks;
mod include_mic;
mod knossos_bind;
// Some of its lints are about what other crates can name.
pub mod lints;
mod modules;
mod names;
mod names_around;
mod ndarrays;
mod saved;
