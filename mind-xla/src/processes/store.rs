//! The store of keys, as a client of a plugin uses it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Membership;
use super::protocol::{self, Answer, GRACE, LARGEST, Request};

/// The keys of one client. Each call makes its own connection, so threads of the plugin do not wait for each other.
pub struct Store {
    membership: Arc<Membership>,
    /// The start of all keys of the client.
    prefix: String,
}

impl Store {
    pub const fn new(membership: Arc<Membership>, prefix: String) -> Self {
        Self { membership, prefix }
    }

    /// The number of this process.
    pub fn process(&self) -> usize {
        self.membership.process
    }

    /// The number of processes.
    pub fn count(&self) -> usize {
        self.membership.count
    }

    /// Waits for the value of a key.
    pub fn get(&self, key: &[u8], limit: Duration) -> Answer {
        self.ask(Request::Get { key: self.whole(key), limit }, limit)
    }

    /// Returns the value of a key, and fails at once if no process has put it.
    pub fn try_get(&self, key: &[u8]) -> Answer {
        self.ask(Request::TryGet { key: self.whole(key) }, Duration::ZERO)
    }

    /// Sets the value of a key, which must be new.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Answer {
        if value.len() as u64 > LARGEST[1] {
            return Err(protocol::too_large());
        }
        self.ask(Request::Put { key: self.whole(key), value: value.to_vec() }, Duration::ZERO)
    }

    fn whole(&self, key: &[u8]) -> Vec<u8> {
        [self.prefix.as_bytes(), key].concat()
    }

    fn ask(&self, request: Request, limit: Duration) -> Answer {
        let until = Instant::now() + limit + GRACE;
        let mut stream =
            protocol::connect(&self.membership.address, until).map_err(|error| protocol::lost(&error))?;
        protocol::ask(&mut stream, &request, until)
    }
}
