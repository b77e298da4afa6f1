//! The errors of distributed training.

use std::io;
use std::path::PathBuf;

/// An error of distributed training.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The other ranks cannot be reached.
    #[error("cannot reach the other ranks: {0}")]
    Transport(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A rank trains another program than rank 0, or its parameters have other names, extents or element types.
    #[error("rank {rank} trains something else than rank 0: found {found}, needed {needed}")]
    Layout {
        /// The first rank that differs.
        rank: usize,
        /// The first part that differs, as that rank has it.
        found: String,
        /// The same part, as rank 0 has it.
        needed: String,
    },
    /// Ranks call different methods. For example, one rank has finished, and another takes a step.
    #[error("the ranks call different methods: {calls}")]
    Calls {
        /// The methods that were called, each with the number of ranks that called it.
        calls: String,
    },
    /// The parameters were equal on all ranks, and no longer are.
    #[error("the ranks no longer agree: the parameters of rank {rank} differ from those of rank 0")]
    Disagree {
        /// The first rank that differs.
        rank: usize,
    },
    /// A gradient does not have the layout of the parameters.
    #[error("the gradient does not fit the parameters: found {found}, needed {needed}")]
    Gradient {
        /// The first part of the gradient that differs.
        found: String,
        /// The same part of the parameters.
        needed: String,
    },
    /// A rank would have no rows. The mean over no rows is undefined, and no program runs on none.
    #[error("the batch has {rows} rows, needed at least 1 for each of the {ranks} ranks")]
    TooFewRows {
        /// The number of rows of the batch.
        rows: usize,
        /// The number of ranks.
        ranks: usize,
    },
    /// The batch of a step has more rows than can be counted exactly.
    #[error("the batch has {rows} rows, needed at most {}", crate::MAX_ROWS)]
    TooManyRows {
        /// The number of rows of the batch.
        rows: usize,
    },
    /// All ranks must have the same number of rows, and the number of ranks does not divide the batch.
    #[error("the batch has {rows} rows, needed a multiple of the {ranks} ranks")]
    Uneven {
        /// The number of rows of the batch.
        rows: usize,
        /// The number of ranks.
        ranks: usize,
    },
    /// The shares of the ranks do not add up to one batch.
    #[error("the ranks have {found} rows together, but rank {rank} expects {needed}")]
    Rows {
        /// The number of rows of all ranks together.
        found: usize,
        /// The number of rows of the batch, as given on the rank `rank`.
        needed: usize,
        /// The rank that reports the error.
        rank: usize,
    },
    /// Some ranks weigh their means by a count, and others by their number of rows.
    #[error("{weighted} of {ranks} ranks weight their loss by a count, needed all or none")]
    Weighted {
        /// The number of ranks that weigh by a count.
        weighted: usize,
        /// The number of all ranks.
        ranks: usize,
    },
    /// A checkpoint cannot be read or written.
    #[error("{}: cannot {doing} the checkpoint: {source}", path.display())]
    File {
        /// The path of the checkpoint.
        path: PathBuf,
        /// The operation that failed: `read` or `write`.
        doing: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not a checkpoint, or is a checkpoint of another program or of other parameters.
    #[error("{}: {fault}", path.display())]
    Checkpoint {
        /// The path of the file.
        path: PathBuf,
        /// A description of the fault.
        fault: String,
    },
    /// An operation failed that another rank performed for all ranks.
    #[error("rank {rank}: {message}")]
    Elsewhere {
        /// The rank that performed the operation.
        rank: usize,
        /// The error of that rank.
        message: String,
    },
    /// MPI cannot be started.
    #[error("cannot start MPI: {0}")]
    Start(&'static str),
}
