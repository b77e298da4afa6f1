//! The memory limit of a run.
//!
//! The caller that runs a program sets the limit. The crate does not ask the machine.

use std::hint::black_box;

/// The default limit in bytes: 4 GiB.
pub const DEFAULT: u64 = 4 << 30;

/// The bytes that a run holds, and their limit.
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

/// A request for more memory than a run may hold, or than the system has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    /// The request exceeds the limit.
    #[error("{total} bytes are needed in all, more than the limit of {limit}")]
    Limit {
        /// The bytes that the run would hold.
        total: u128,
        /// The limit in bytes.
        limit: u64,
    },
    /// The system refuses the request.
    #[error("{total} bytes are needed in all, of which the system refuses {bytes}")]
    Refused {
        /// The bytes that the run would hold.
        total: u128,
        /// The bytes of the request.
        bytes: u128,
    },
}

impl Budget {
    /// A budget with this limit in bytes, of which none are held.
    pub const fn new(limit: u64) -> Self {
        Self { limit, held: 0 }
    }

    /// The number of bytes that are held.
    pub const fn held(&self) -> u64 {
        self.held
    }

    /// Adds `bytes` to the bytes that are held.
    ///
    /// # Errors
    /// If the sum exceeds the limit, or the system refuses the bytes. The budget is then unchanged.
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

    /// Subtracts `bytes` from the bytes that are held.
    pub fn give_back(&mut self, bytes: u64) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// Sets the number of bytes that are held.
    pub fn set(&mut self, held: u64) {
        self.held = held;
    }
}

/// Asks the allocator for `bytes` without using them. An ordinary allocation that fails would abort the process.
fn available(bytes: u64) -> Result<(), u128> {
    /// Requests below this size are never refused.
    const LITTLE: u64 = 1 << 20;
    if bytes < LITTLE {
        return Ok(());
    }
    let mut room: Vec<u8> = Vec::new();
    let reserved = usize::try_from(bytes).is_ok_and(|bytes| {
        // Hidden from the optimiser, which would remove an unused allocation.
        black_box(&mut room).try_reserve_exact(bytes).is_ok()
    });
    if reserved { Ok(()) } else { Err(bytes.into()) }
}
