//! Arrays and structs of parameters in files, in every format. `memory` is a program of its own: its process runs out of memory.

mod hostile;
mod killed;
mod others;
mod targets;
