//! Programs of the language `mind` on XLA: on processors, GPUs and TPUs, by PJRT plugins.
//!
//! A function of `mind!` says its module as text, `step::MIC`, and which inputs it updates, `step::UPDATES`. A [`Program`] is
//! that with the extents of its symbols, and with how arguments are split over devices. A [`Plugin`] is a library that whoever
//! makes the devices gives out; the user names its file. A [`Client`] of it compiles the program as StableHLO, and an
//! [`Executable`] is called with tensors that are here or stay [on the devices](OnDevices).
//!
//! ```no_run
#![doc = include_str!("../examples/plane.rs")]
//! ```
//!
//! # What is promised
//!
//! - **Errors** of the plugin are an [`Error`] with its text. What is wrong with arguments is told before anything happens, all
//!   of it. A run that fails leaves what it was to update as it was, or [gone](DeviceTensor::is_there) where the plugin had
//!   taken its memory, never in between.
//! - **Memory** of what a program updates is given to it, and it stays on the devices between calls. Whatever is on devices keeps
//!   its client alive.
//! - **Splitting** is what the program says of its arguments. A result that updates one is split as that is; others are whole on
//!   every device. Parts of tensors go to the devices that have them, and come back as one.
//! - **Trust**: a plugin is code that runs in this process. What it is not is found out where that can be: a file that is no
//!   library, a library that is no plugin, another version, a function that is missing.
//! - **Versions**: of the interface, major version 0. Minor versions differ in what is behind the arguments that are known here,
//!   which are zeros for younger plugins.
//!
//! What XLA does otherwise than this library is on the page of [`mind_core::stablehlo`].
#![deny(unsafe_code)]

mod client;
mod device;
mod error;
mod executable;
mod ffi;
mod layout;
mod options;
mod parameters;
mod plugin;
mod program;
mod tensor;

pub use client::Client;
pub use device::{ClientOption, Device, Memory, MemoryStats};
pub use error::{Error, VARIABLE};
pub use executable::{Call, Executable};
pub use parameters::OnDevices;
pub use plugin::Plugin;
pub use program::Program;
pub use tensor::{DeviceTensor, Values};

pub use mind_core::stablehlo::{Argument, Placed};
