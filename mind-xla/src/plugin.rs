//! Plugins, and the clients that they make.

use std::path::Path;
use std::sync::Arc;

use crate::client::Client;
use crate::device::ClientOption;
use crate::error::{Error, VARIABLE};
use crate::ffi::Table;

/// A PJRT plugin: a library by which programs run on devices of a kind.
///
/// A plugin is code that runs in this process with all of its rights. It stays loaded until the process ends.
#[derive(Clone)]
pub struct Plugin(Arc<Table>);

impl Plugin {
    /// Loads the plugin in a file, `pjrt_c_api_cpu_plugin.so` or the like, and initialises it if nobody has.
    ///
    /// # Errors
    /// If there is no library, it is no plugin, it has another major version of the interface or lacks functions of it, or it
    /// fails.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Table::load(path.as_ref()).map(Self)
    }

    /// Loads the plugin that the variable `MIND_PJRT_PLUGIN` of the environment names.
    ///
    /// # Errors
    /// If it names none, and as [`load`](Self::load).
    pub fn from_env() -> Result<Self, Error> {
        let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).ok_or(Error::Unnamed)?;
        Self::load(path)
    }

    /// The version of the PJRT interface that the plugin has: major and minor.
    #[must_use]
    pub fn version(&self) -> (i32, i32) {
        self.0.version()
    }

    /// A client of the plugin, with options by name. Which there are is the plugin's choice: that for CPUs takes
    /// `cpu_device_count`.
    ///
    /// # Errors
    /// What the plugin says.
    pub fn client(&self, options: &[(&str, ClientOption)]) -> Result<Client, Error> {
        Client::new(&self.0, options)
    }
}
