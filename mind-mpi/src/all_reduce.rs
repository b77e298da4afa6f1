//! The interface of transports between ranks.

use crate::Error;

/// A transport between ranks: MPI, threads of one process, or another network.
///
/// All ranks call every method except [`rank`](Self::rank) and [`ranks`](Self::ranks) in the same order, with slices of
/// the same length.
///
/// - A sum gives **the same bits on every rank** and in every run. The transport chooses the order in which ranks are
///   added.
/// - If an error stops several ranks, each of them returns it.
///
/// ```
/// use mind_mpi::{AllReduce, DataParallel, Error};
/// use mind_rt::Tensor;
///
/// /// A job of one rank: all sums are the values themselves.
/// struct Alone;
///
/// impl AllReduce for Alone {
///     fn rank(&self) -> usize {
///         0
///     }
///     fn ranks(&self) -> usize {
///         1
///     }
///     fn sum_f32(&mut self, _: &mut [f32]) -> Result<(), Error> {
///         Ok(())
///     }
///     fn sum_f64(&mut self, _: &mut [f64]) -> Result<(), Error> {
///         Ok(())
///     }
///     fn broadcast(&mut self, _: usize, _: &mut [u8]) -> Result<(), Error> {
///         Ok(())
///     }
/// }
///
/// let mut weights: Tensor![f32; 2] = Tensor::zeros();
/// let mut team = DataParallel::new(Alone, "line", &mut weights)?;
/// let mut gradient: Tensor![f32; 2] = Tensor::full(3.0);
/// let share = team.share(8)?;
/// assert_eq!(team.mean(&mut gradient, 0.5_f32, &share)?, 0.5);
/// assert_eq!(gradient, Tensor::full(3.0));
/// # Ok::<(), Error>(())
/// ```
pub trait AllReduce {
    /// The number of this rank, counted from 0.
    fn rank(&self) -> usize;

    /// The number of ranks, at least 1.
    fn ranks(&self) -> usize;

    /// Replaces `values` by their element-wise sum over the ranks.
    ///
    /// # Errors
    /// Returns [`Error::Transport`] if ranks cannot be reached.
    fn sum_f32(&mut self, values: &mut [f32]) -> Result<(), Error>;

    /// Replaces `values` by their element-wise sum over the ranks.
    ///
    /// # Errors
    /// Returns [`Error::Transport`] if ranks cannot be reached.
    fn sum_f64(&mut self, values: &mut [f64]) -> Result<(), Error>;

    /// Replaces `bytes` by the bytes of the rank `root`, which is the same on all ranks.
    ///
    /// # Errors
    /// Returns [`Error::Transport`] if ranks cannot be reached.
    fn broadcast(&mut self, root: usize, bytes: &mut [u8]) -> Result<(), Error>;
}

impl<A: AllReduce + ?Sized> AllReduce for &mut A {
    fn rank(&self) -> usize {
        (**self).rank()
    }

    fn ranks(&self) -> usize {
        (**self).ranks()
    }

    fn sum_f32(&mut self, values: &mut [f32]) -> Result<(), Error> {
        (**self).sum_f32(values)
    }

    fn sum_f64(&mut self, values: &mut [f64]) -> Result<(), Error> {
        (**self).sum_f64(values)
    }

    fn broadcast(&mut self, root: usize, bytes: &mut [u8]) -> Result<(), Error> {
        (**self).broadcast(root, bytes)
    }
}
