//! Clients and their devices.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use crate::device::{ClientOption, Device};
use crate::error::{Error, Failure, UNIMPLEMENTED};
use crate::executable::Executable;
use crate::ffi::{self, Table};
use crate::program::Program;

/// The devices of a plugin that this process has, and what compiles programs for them.
///
/// It stays on the thread that made it. It is alive for as long as what was made of it: executables and tensors.
pub struct Client(Rc<ffi::Client>);

impl Client {
    pub(crate) fn new(table: &Arc<Table>, options: &[(&str, ClientOption)]) -> Result<Self, Error> {
        let client = ffi::Client::new(table, options).map_err(Failure::during("make a client"))?;
        Ok(Self(Rc::new(client)))
    }

    /// What the plugin calls its kind of devices: `cpu`, `cuda`.
    ///
    /// # Errors
    /// What the plugin says.
    pub fn platform(&self) -> Result<String, Error> {
        self.platform_texts().map(|[name, _]| name)
    }

    /// The version of what the plugin runs programs with, in its words.
    ///
    /// # Errors
    /// What the plugin says.
    pub fn platform_version(&self) -> Result<String, Error> {
        self.platform_texts().map(|[_, version]| version)
    }

    fn platform_texts(&self) -> Result<[String; 2], Error> {
        self.0.platform().map_err(Failure::during("tell its platform"))
    }

    /// How many devices this process has.
    #[must_use]
    pub fn device_count(&self) -> usize {
        self.0.device_count()
    }

    /// The devices that this process has, in the order in which programs are split over them.
    ///
    /// # Errors
    /// What the plugin says.
    pub fn devices(&self) -> Result<Vec<Device>, Error> {
        (0..self.device_count()).map(|device| self.device(device)).collect()
    }

    /// The device at a position.
    ///
    /// # Errors
    /// If it is not there; what the plugin says.
    pub fn device(&self, device: usize) -> Result<Device, Error> {
        let found = self.device_count();
        if device >= found {
            return Err(Error::NoDevice { device, found });
        }
        let fault = || Failure::during(format!("describe device {device}"));
        let (id, [kind, description]) = self.0.device(device).map_err(fault())?;
        let memories = told(self.0.memories(device)).map_err(fault())?.unwrap_or_default();
        let stats = told(self.0.memory_stats(device)).map_err(fault())?;
        Ok(Device { id, kind, description, memories, stats })
    }

    /// Compiles a program for as many devices as its mesh has, the first ones; for the first device if it has no mesh.
    ///
    /// # Errors
    /// If the program has no text for its extents and mesh, the client has too few devices, or the plugin refuses the text.
    pub fn compile(&self, program: &Program) -> Result<Executable, Error> {
        Executable::new(&self.0, program)
    }
}

/// What a plugin tells, if it has such a function.
fn told<T>(answer: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(failure) if failure.code == UNIMPLEMENTED => Ok(None),
        Err(failure) => Err(failure),
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("devices", &self.device_count()).finish_non_exhaustive()
    }
}
