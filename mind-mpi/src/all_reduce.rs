//! What a transport does.

use crate::Error;

/// How ranks meet: MPI, threads of one process, or another network.
///
/// Every method but the first two is called by all ranks, in the same order, with slices of the same length. The results
/// of a sum are **the same bits on every rank**, and the same from run to run; the order in which ranks are added is the
/// transport's. An error is told on every rank that it keeps from going on.
///
/// ```
/// use mind_mpi::{AllReduce, DataParallel, Error};
/// use mind_rt::Tensor;
///
/// /// A job of one rank, which has nobody to meet.
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
    /// This one's number, from 0.
    fn rank(&self) -> usize;

    /// How many there are, at least 1.
    fn ranks(&self) -> usize;

    /// Replaces `values` by their sum over the ranks, element by element.
    ///
    /// # Errors
    /// [`Error::Transport`] where ranks cannot be reached.
    fn sum_f32(&mut self, values: &mut [f32]) -> Result<(), Error>;

    /// Replaces `values` by their sum over the ranks, element by element.
    ///
    /// # Errors
    /// [`Error::Transport`] where ranks cannot be reached.
    fn sum_f64(&mut self, values: &mut [f64]) -> Result<(), Error>;

    /// Replaces `bytes` by those of the rank `root`, which all name alike.
    ///
    /// # Errors
    /// [`Error::Transport`] where ranks cannot be reached.
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
