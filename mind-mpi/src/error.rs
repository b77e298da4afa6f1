//! What can go wrong.

use std::io;
use std::path::PathBuf;

/// Why ranks cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Ranks cannot be reached.
    #[error("the other ranks cannot be reached: {0}")]
    Transport(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A rank trains another program than rank 0, or parameters of other names, extents or element types.
    #[error("rank {rank} does not train what rank 0 does: found {found}, needed {needed}")]
    Layout {
        /// The first that differs.
        rank: usize,
        /// The first part of it that is another.
        found: String,
        /// What rank 0 has in its place.
        needed: String,
    },
    /// Ranks call different methods: one is through, for example, and another takes a step.
    #[error("the ranks are not at the same place of the program: {calls}")]
    Calls {
        /// How many ranks call which method.
        calls: String,
    },
    /// Parameters were equal on all ranks once and are no longer.
    #[error("the ranks no longer agree: the parameters of rank {rank} are not those of rank 0 to the bit")]
    Disagree {
        /// The first that differs.
        rank: usize,
    },
    /// A gradient is not one of the parameters.
    #[error("the gradient does not fit the parameters: found {found}, needed {needed}")]
    Gradient {
        /// The first part of it that is another.
        found: String,
        /// What the parameters have in its place.
        needed: String,
    },
    /// A rank would have no rows, of which there is no mean, and for which no program runs.
    #[error("the batch has {rows} rows, needed at least 1 for each of the {ranks} ranks")]
    TooFewRows {
        /// The rows of the batch.
        rows: usize,
        /// The ranks.
        ranks: usize,
    },
    /// A step has more rows than are counted exactly.
    #[error("the batch has {rows} rows, needed at most {}", crate::MAX_ROWS)]
    TooManyRows {
        /// As many.
        rows: usize,
    },
    /// The ranks do not divide a batch of which each must have as many rows.
    #[error("the batch has {rows} rows, needed a multiple of the {ranks} ranks")]
    Uneven {
        /// The rows of the batch.
        rows: usize,
        /// The ranks.
        ranks: usize,
    },
    /// The shares of the ranks are not one batch.
    #[error("the ranks have {found} rows together, needed the {needed} that rank {rank} was told of")]
    Rows {
        /// The sum over the ranks.
        found: usize,
        /// The length of the batch.
        needed: usize,
        /// Who was told so.
        rank: usize,
    },
    /// Some ranks weigh their means by a count, and others by their rows.
    #[error("{weighted} of {ranks} ranks count what their loss is the mean of, needed all or none")]
    Weighted {
        /// The ranks that do.
        weighted: usize,
        /// All of them.
        ranks: usize,
    },
    /// A checkpoint cannot be read or written.
    #[error("{}: cannot {doing} the checkpoint: {source}", path.display())]
    File {
        /// Where it is.
        path: PathBuf,
        /// `read`, `write`.
        doing: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A checkpoint is none, or not of these parameters.
    #[error("{}: {fault}", path.display())]
    Checkpoint {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        fault: String,
    },
    /// What another rank did for all of them failed.
    #[error("rank {rank}: {message}")]
    Elsewhere {
        /// The rank.
        rank: usize,
        /// Its error.
        message: String,
    },
    /// MPI cannot be used.
    #[error("MPI does not start: {0}")]
    Start(&'static str),
}
