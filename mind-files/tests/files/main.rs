//! Tests of arrays and structs of parameters in files, in every format. `memory` is a separate program, since its
//! process runs out of memory.

mod hostile;
mod killed;
mod others;
mod targets;
