//! Loads plugins and creates clients.

use std::path::Path;
use std::sync::Arc;

use crate::client::Client;
use crate::device::ClientOption;
use crate::error::{Error, Failure, VARIABLE};
use crate::ffi::{self, Table};
use crate::processes::Processes;
use crate::trace::Trace;

/// A PJRT plugin: a library that runs programs on one kind of devices.
///
/// A plugin is code that runs in this process with all of its rights. It stays loaded until the process ends.
#[derive(Clone)]
pub struct Plugin(Arc<Table>);

impl Plugin {
    /// Loads the plugin in a file such as `pjrt_c_api_cpu_plugin.so`, and initialises it if this process has not yet
    /// done so.
    ///
    /// # Errors
    /// If the file is not a library or not a plugin, the plugin has another major version of the interface or lacks
    /// functions of it, or its initialisation fails.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Table::load(path.as_ref()).map(Self)
    }

    /// Loads the plugin that the environment variable `MIND_PJRT_PLUGIN` names.
    ///
    /// # Errors
    /// If the variable is empty or not set, and the errors of [`load`](Self::load).
    pub fn from_env() -> Result<Self, Error> {
        let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).ok_or(Error::Unnamed)?;
        Self::load(path)
    }

    /// The major and minor version of the plugin's PJRT interface.
    #[must_use]
    pub fn version(&self) -> (i32, i32) {
        self.0.version()
    }

    /// Creates a client of the plugin, with options by name. Each plugin defines its options. The plugin for CPUs takes
    /// `cpu_device_count`.
    ///
    /// # Errors
    /// If the plugin reports an error.
    pub fn client(&self, options: &[(&str, ClientOption)]) -> Result<Client, Error> {
        Client::new(&self.0, options, None)
    }

    /// Creates a client whose mesh has the devices of all [processes](Processes). All processes create their clients in
    /// the same order. The options are those of [`client`](Self::client), and this method adds `node_id` and
    /// `num_nodes`.
    ///
    /// The plugin for CUDA takes part in this. The plugin for CPUs does not, which is an error.
    ///
    /// # Errors
    /// If the plugin reports an error, or does not join the devices of the processes.
    pub fn client_among(
        &self,
        processes: &Processes,
        options: &[(&str, ClientOption)],
    ) -> Result<Client, Error> {
        let number = |number: usize| ClientOption::Int(i64::try_from(number).unwrap_or(i64::MAX));
        let mut options = options.to_vec();
        options.push(("node_id", number(processes.process())));
        options.push(("num_nodes", number(processes.count())));
        Client::new(&self.0, &options, Some(processes.store()))
    }

    /// Whether the plugin has a profiler, which [`trace`](Self::trace) needs. The plugin for CPUs has none.
    #[must_use]
    pub fn has_profiler(&self) -> bool {
        self.0.has_profiler()
    }

    /// Starts a trace of what the devices of the plugin do. A plugin traces once at a time.
    ///
    /// ```no_run
    /// # fn example(plugin: &mind_xla::Plugin) -> Result<(), Box<dyn std::error::Error>> {
    /// let trace = plugin.trace()?;
    /// // Run programs here, and wait for their ends.
    /// std::fs::create_dir_all("log/plugins/profile/first")?;
    /// std::fs::write("log/plugins/profile/first/host.xplane.pb", trace.stop()?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the plugin has no profiler, such as the plugin for CPUs, or reports an error.
    pub fn trace(&self) -> Result<Trace, Error> {
        ffi::Trace::start(&self.0).map(Trace).map_err(Failure::during("start a trace"))
    }
}
