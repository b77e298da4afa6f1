//! Tests of everything around programs: files, Knossos, names, lints. `language` and `bare` test the meaning of
//! programs.

mod angle;
mod configured;
mod extern_ks;
mod gradcheck;
mod include;
mod include_ks;
mod include_mic;
mod knossos_bind;
// It is public because some lints are about items that other crates can name.
pub mod lints;
mod modules;
mod names;
mod names_around;
mod ndarrays;
mod saved;
