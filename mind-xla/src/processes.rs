//! Processes that share a mesh, and the store of keys by which their plugins find each other.

mod protocol;
mod server;
mod store;

use std::fmt;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;
use protocol::Request;
use server::Server;
pub(crate) use store::Store;

/// Several processes, on one machine or many, whose devices form one mesh.
///
/// Process 0 serves a store of keys and values over TCP. The plugins of the processes use it to find each other, for
/// example by the addresses of their GPUs. All processes call [`meet`](Self::meet) with the same address and count, and
/// then [`Plugin::client_among`](crate::Plugin::client_among) in the same order.
///
/// - **Results**: a tensor that is split over processes cannot be read, because a process reads its own parts only.
///   Results that update no argument are whole on every device.
/// - **Lost processes**: if a process ends without dropping its clients and this object, whatever waits for a key in
///   another process fails at once. A program in flight fails or waits as the plugin decides.
/// - **Drop**: clients keep the connection to the other processes. Dropping the last object in process 0 waits until the
///   others have left or are lost, at most for the time limit, since they may still need its store.
/// - **Trust**: the connections are not encrypted, and whoever reaches the port can read and write keys. Use it in a
///   network that only trusted machines reach.
///
/// ```no_run
/// use std::time::Duration;
///
/// use mind_xla::{Plugin, Processes};
///
/// let process = std::env::var("RANK")?.parse()?;
/// let processes = Processes::meet("10.0.0.1:8476", process, 2, Duration::from_secs(60))?;
/// let client = Plugin::from_env()?.client_among(&processes, &[])?;
/// println!("process {process} has {} devices", client.device_count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Processes {
    membership: Arc<Membership>,
    /// The number of clients that were made. Each has its own keys.
    clients: AtomicU32,
}

/// The connection of this process to the others. Clients keep it alive.
pub(crate) struct Membership {
    process: usize,
    count: usize,
    address: String,
    limit: Duration,
    /// The connection that tells process 0 that this process is alive.
    presence: Mutex<TcpStream>,
    server: Option<Server>,
}

/// The time between two attempts to reach process 0.
const RETRY: Duration = Duration::from_millis(20);

/// The longest time in which processes meet. A longer limit counts as this one.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

impl Processes {
    /// Meets the other processes: process 0 listens at `address`, such as `10.0.0.1:8476`, and the others connect to it.
    /// `process` counts from 0. Returns once all `count` processes are there.
    ///
    /// # Errors
    /// If `process` is not below `count`, process 0 cannot listen at the address, the processes disagree on their count
    /// or have the same number, or they do not meet within `limit`. The error names the absent processes.
    pub fn meet(address: &str, process: usize, count: usize, limit: Duration) -> Result<Self, Error> {
        let until = Instant::now() + limit.min(LONGEST);
        let refused = |reason: String| Error::Processes { address: address.into(), reason };
        if process >= count {
            return Err(refused(format!("process {process} is not one of {count}, which count from 0")));
        }
        let server = match process {
            0 => Some(Server::start(address, count, until).map_err(refused)?),
            _ => None,
        };
        let presence = arrive(address, process, count, until).map_err(|reason| {
            // The others hear the reason too.
            server.iter().for_each(|server| server.wait_for_others(protocol::GRACE));
            refused(reason)
        })?;
        let (address, presence) = (address.to_owned(), Mutex::new(presence));
        let membership = Membership { process, count, address, limit, presence, server };
        Ok(Self { membership: Arc::new(membership), clients: AtomicU32::new(0) })
    }

    /// The number of this process, which counts from 0.
    #[must_use]
    pub fn process(&self) -> usize {
        self.membership.process
    }

    /// The number of processes.
    #[must_use]
    pub fn count(&self) -> usize {
        self.membership.count
    }

    /// The store for a new client. Keys of different clients differ.
    pub(crate) fn store(&self) -> Store {
        let client = self.clients.fetch_add(1, Ordering::Relaxed);
        Store::new(self.membership.clone(), format!("{client}/"))
    }
}

/// Connects to process 0 until it answers that all processes are there.
fn arrive(address: &str, process: usize, count: usize, until: Instant) -> Result<TcpStream, String> {
    let mut stream = loop {
        match protocol::connect(address, until) {
            Ok(stream) => break stream,
            Err(error) if Instant::now() + RETRY >= until => {
                return Err(format!("process 0 is absent: {error}"));
            }
            Err(_) => thread::sleep(RETRY),
        }
    };
    // The server answers at the limit, and this process may have started its limit later.
    protocol::ask(&mut stream, &Request::Arrive { process, count }, until + protocol::GRACE)
        .map_err(|refusal| refusal.text)?;
    Ok(stream)
}

impl Drop for Membership {
    fn drop(&mut self) {
        // While a panic unwinds, the process leaves without a message, so it counts as lost.
        if !thread::panicking() {
            let presence = self.presence.get_mut().unwrap_or_else(PoisonError::into_inner);
            // There is nothing to do about an error.
            let _ = protocol::leave(presence);
            if let Some(server) = &self.server {
                server.wait_for_others(self.limit);
            }
        }
    }
}

impl fmt::Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Processes")
            .field("process", &self.process())
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}
