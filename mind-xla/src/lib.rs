//! Runs programs of `mind!` on GPUs, TPUs and CPUs through XLA, by PJRT plugins. Programs that run on the CPU of one
//! machine need only [`mind-dsl`](https://docs.rs/mind-dsl), which compiles them with Rust.
//!
//! - A function `step` of `mind!` provides its module as text, `step::MIC`, and the positions of the inputs that it
//!   updates, `step::UPDATES`.
//! - A [`Program`] is this module with the extents of its symbols and the split of its arguments over devices.
//! - A [`Plugin`] is a library from the vendor of the devices. The user names its file.
//! - A [`Client`] of the plugin compiles the program as StableHLO.
//! - An [`Executable`] is called with tensors in host memory, or with tensors that stay [on the devices](OnDevices).
//!
//! ```no_run
#![doc = include_str!("../examples/plane.rs")]
//! ```
//!
//! # Guarantees
//!
//! - **Errors**: an error of the plugin is an [`Error`] with the text of the plugin. Wrong arguments are all reported
//!   at once, before anything is copied or run. If [`Call::run`] fails, each tensor that it updates is either unchanged,
//!   or [lost](DeviceTensor::is_there) because the plugin had already taken its memory.
//! - **Memory**: a program reuses the memory of the tensors that it updates. They stay on the devices between calls.
//!   Tensors on devices keep their client alive.
//! - **Steps in flight**: [`Call::start`] does not wait for the end of a program. Further calls take its results before
//!   they are there. If the program fails, its results and the tensors that it updates tell the error.
//! - **Data from the host**: a [`Loader`] copies the next batch while a program runs on the one before.
//! - **Traces**: [`Plugin::trace`] records what the devices do, if the plugin has a profiler.
//! - **Compiling once**: a [`Cache`] keeps compiled programs in a folder that belongs to the user alone.
//! - **Splitting**: the program sets how its arguments are split over the devices. A result that updates an argument is
//!   split like this argument. Every device has a full copy of each other result. Each part of a tensor is copied to
//!   its device, and reading a tensor joins the parts.
//! - **Several processes**: [`Processes`] meet over TCP, and their devices form one mesh, if the plugin can.
//! - **Trust**: a plugin is code that runs in this process. Loading it reports a file that is not a library, a library
//!   that is not a plugin, another version, and a missing function. Nothing else is checked.
//! - **Versions**: the crate needs major version 0 of the interface. Newer minor versions add fields after the
//!   arguments that this crate knows. The crate passes zeros for these fields.
//!
//! [`mind_core::stablehlo`] lists how results of XLA differ from results of `mind-dsl`.
#![deny(unsafe_code)]

mod cache;
mod client;
mod device;
mod error;
mod executable;
mod ffi;
mod layout;
mod loader;
mod options;
mod parameters;
mod plugin;
mod processes;
mod program;
mod tensor;
mod trace;

pub use cache::{Cache, Cached};
pub use client::Client;
pub use device::{ClientOption, Device, Memory, MemoryStats, ProgramMemory};
pub use error::{Error, VARIABLE};
pub use executable::{Call, Executable};
pub use loader::{Batch, Loader};
pub use parameters::OnDevices;
pub use plugin::Plugin;
pub use processes::Processes;
pub use program::Program;
pub use tensor::{DeviceTensor, Values};
pub use trace::Trace;

pub use mind_core::stablehlo::{Compute, Precision, ProgramArgument, ShardedType};
