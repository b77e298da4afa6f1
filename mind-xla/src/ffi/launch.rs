//! The launch ids of runs.
//!
//! A plugin tells runs of programs apart by their launch ids. XLA's collectives within a process find their participants
//! by the launch id, the numbers of the devices and the operation, and the devices of all clients have the same numbers.
//! Two runs of different clients with the same launch id would therefore exchange elements if they ran at the same time.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use sha2::{Digest, Sha256};

/// The number of runs of this process, by clients that have no other processes.
static RUNS: AtomicU32 = AtomicU32::new(0);

/// The launch ids of an executable's runs.
pub enum LaunchIds {
    /// No other run of this process has the same id.
    OfProcess,
    /// All processes of a mesh give a run the same id, which plugins may check. It is the hash of the program, plus the
    /// number of its earlier runs.
    OfProgram(Cell<u32>),
}

impl LaunchIds {
    /// The ids of a program that several processes compile from the same text, with the same options.
    pub fn of_program(text: &str, options: &[u8]) -> Self {
        let hash = Sha256::new().chain_update(text).chain_update(options).finalize();
        Self::OfProgram(Cell::new(u32::from_ne_bytes([hash[0], hash[1], hash[2], hash[3]])))
    }

    /// The id of the next run. It is positive, because 0 stands for no id.
    pub fn next(&self) -> i32 {
        let number = match self {
            Self::OfProcess => RUNS.fetch_add(1, Relaxed),
            Self::OfProgram(number) => number.replace(number.get().wrapping_add(1)),
        };
        (number % i32::MAX.unsigned_abs()).cast_signed() + 1
    }
}
