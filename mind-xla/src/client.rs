//! Clients and their devices.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use crate::cache::Cache;
use crate::device::{ClientOption, Device};
use crate::error::{Error, Failure, UNIMPLEMENTED};
use crate::executable::Executable;
use crate::ffi::{self, Table};
use crate::processes::Store;
use crate::program::Program;

/// The devices of a plugin that this process can use. A client compiles programs for them.
///
/// A client cannot be sent to another thread. Its executables and tensors keep it alive. Dropping the last of them waits
/// for the programs in flight.
pub struct Client {
    inner: Rc<ffi::Client>,
    cache: Option<Cache>,
}

impl Client {
    pub(crate) fn new(
        table: &Arc<Table>,
        options: &[(&str, ClientOption)],
        store: Option<Store>,
    ) -> Result<Self, Error> {
        let client = ffi::Client::new(table, options, store).map_err(Failure::during("make a client"))?;
        Ok(Self { inner: Rc::new(client), cache: None })
    }

    /// Keeps compiled programs in a folder, so that they are compiled only once. Without this, every
    /// [`compile`](Self::compile) compiles.
    #[must_use]
    pub fn cache(mut self, cache: Cache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets how many programs that [`Call::start`](crate::Call::start) started may be in flight, 2 by default. A call
    /// waits for the oldest of them if there are as many. 0 counts as 1, with which a program starts once the one before
    /// has ended.
    #[must_use]
    pub fn in_flight(self, programs: usize) -> Self {
        self.inner.set_steps_in_flight(programs);
        self
    }

    /// The plugin's name for its kind of devices, such as `cpu` or `cuda`.
    ///
    /// # Errors
    /// If the plugin reports an error.
    pub fn platform(&self) -> Result<String, Error> {
        self.platform_texts().map(|[name, _]| name)
    }

    /// The plugin's text for the version of its runtime.
    ///
    /// # Errors
    /// If the plugin reports an error.
    pub fn platform_version(&self) -> Result<String, Error> {
        self.platform_texts().map(|[_, version]| version)
    }

    fn platform_texts(&self) -> Result<[String; 2], Error> {
        self.inner.platform().map_err(Failure::during("tell its platform"))
    }

    /// The number of devices that this process can use.
    #[must_use]
    pub fn device_count(&self) -> usize {
        self.inner.device_count()
    }

    /// The number of devices of the largest mesh: those of this process, or those of all
    /// [processes](crate::Processes).
    #[must_use]
    pub fn mesh_size(&self) -> usize {
        self.inner.mesh().len()
    }

    /// The devices that this process can use, in the order in which programs are split over them.
    ///
    /// # Errors
    /// If the plugin reports an error.
    pub fn devices(&self) -> Result<Vec<Device>, Error> {
        (0..self.device_count()).map(|device| self.device(device)).collect()
    }

    /// The device at a position.
    ///
    /// # Errors
    /// If the client has no device at this position, or the plugin reports an error.
    pub fn device(&self, device: usize) -> Result<Device, Error> {
        let found = self.device_count();
        if device >= found {
            return Err(Error::NoDevice { device, found });
        }
        let fault = || Failure::during(format!("describe device {device}"));
        let (id, [kind, description]) = self.inner.device(device).map_err(fault())?;
        let memories = if_implemented(self.inner.memories(device)).map_err(fault())?.unwrap_or_default();
        let stats = if_implemented(self.inner.memory_stats(device)).map_err(fault())?;
        Ok(Device { id, kind, description, memories, stats })
    }

    /// Compiles a program for the first devices, as many as its mesh has. A program without a mesh is compiled for the
    /// first device. A client of several [processes](crate::Processes) counts the devices of all of them.
    ///
    /// # Errors
    /// If the program cannot be lowered for its extents and mesh, the client has too few devices, none of the mesh
    /// belongs to this process, or the plugin rejects the text.
    pub fn compile(&self, program: &Program) -> Result<Executable, Error> {
        Executable::new(&self.inner, self.cache.as_ref(), program)
    }
}

/// Converts the answer of an optional function of the plugin: `None` if the plugin does not implement the function.
pub fn if_implemented<T>(answer: Result<T, Failure>) -> Result<Option<T>, Failure> {
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
