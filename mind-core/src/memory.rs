//! How much memory a run may hold.
//!
//! The limit is a number that whoever runs a program gives: the crate does not ask the machine.

use std::hint::black_box;

/// The most bytes that a run holds where nobody says how many: 4 GiB.
pub const DEFAULT: u64 = 4 << 30;

/// The bytes that a run holds, and the most that it may.
///
/// ```
/// use mind_core::memory::Budget;
/// let mut budget = Budget::new(100);
/// budget.take(60)?;
/// let error = budget.take(50).unwrap_err();
/// assert_eq!(error.to_string(), "110 bytes are needed in all, more than the limit of 100");
/// budget.give_back(60);
/// budget.take(50)?;
/// # Ok::<(), mind_core::memory::TooLarge>(())
/// ```
#[derive(Clone, Debug)]
pub struct Budget {
    limit: u64,
    held: u64,
}

/// More than a run may hold, or than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    /// More than the limit.
    #[error("{total} bytes are needed in all, more than the limit of {limit}")]
    Limit {
        /// What would be held.
        total: u128,
        /// The most that may be.
        limit: u64,
    },
    /// More than the system gives.
    #[error("{total} bytes are needed in all, of which the system refuses {bytes}")]
    Refused {
        /// What would be held.
        total: u128,
        /// What was asked for.
        bytes: u128,
    },
}

impl Budget {
    /// Nothing is held, and this much may be.
    pub const fn new(limit: u64) -> Self {
        Self { limit, held: 0 }
    }

    /// What is held.
    pub const fn held(&self) -> u64 {
        self.held
    }

    /// Holds so many bytes more.
    ///
    /// # Errors
    /// If that is over the limit, or more than the system gives; then what is held is as it was.
    pub fn take(&mut self, bytes: u64) -> Result<(), TooLarge> {
        let total = u128::from(self.held) + u128::from(bytes);
        match u64::try_from(total) {
            Ok(held) if held <= self.limit => {
                available(bytes).map_err(|bytes| TooLarge::Refused { total, bytes })?;
                self.held = held;
                Ok(())
            }
            Ok(_) | Err(_) => Err(TooLarge::Limit { total, limit: self.limit }),
        }
    }

    /// Holds so many bytes no longer.
    pub fn give_back(&mut self, bytes: u64) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// Holds this much and nothing else.
    #[cfg(feature = "knossos")]
    pub(crate) fn set(&mut self, held: u64) {
        self.held = held;
    }
}

/// Whether the allocator has so many bytes: where it has not, asking it in any other way would stop the process.
fn available(bytes: u64) -> Result<(), u128> {
    /// What no system refuses.
    const LITTLE: u64 = 1 << 20;
    if bytes < LITTLE {
        return Ok(());
    }
    let mut room: Vec<u8> = Vec::new();
    let reserved = usize::try_from(bytes).is_ok_and(|bytes| {
        // Hidden from the optimiser, which leaves out what is never used.
        black_box(&mut room).try_reserve_exact(bytes).is_ok()
    });
    if reserved { Ok(()) } else { Err(bytes.into()) }
}
