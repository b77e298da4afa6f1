//! The transport between threads of one process, for tests and for trying a program without MPI.

use std::any::Any;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::{AllReduce, Error};

/// Runs `body` on `ranks` threads, each one rank, and returns their results in order of rank. If `ranks` is 0, one rank
/// runs.
///
/// ```
/// use mind_mpi::{AllReduce, Error, threads};
///
/// let sums = threads::run(3, |mut rank| -> Result<f32, Error> {
///     let mut values = [rank.rank() as f32];
///     rank.sum_f32(&mut values)?;
///     Ok(values[0])
/// })?;
/// assert_eq!(sums, [3.0, 3.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// If the rank that ended first failed, returns its error, as it usually caused the errors of the others. Otherwise
/// returns the error of the lowest rank that failed.
///
/// # Panics
/// If `body` panics, with the same payload.
pub fn run<T, E>(ranks: usize, body: impl Fn(Thread) -> Result<T, E> + Sync) -> Result<Vec<T>, E>
where
    T: Send,
    E: Send,
{
    let ranks = ranks.max(1);
    let shared = Arc::new(Shared { ranks, room: Mutex::default(), changed: Condvar::new() });
    let mut outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..ranks)
            .map(|rank| {
                let (body, shared) = (&body, Arc::clone(&shared));
                scope.spawn(move || body(Thread { rank, shared }))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    // The error of the first rank that ended usually caused the errors of the others.
    let first = match shared.lock().ended {
        Some(Ended::Left(rank)) if outcomes[rank].is_err() => rank,
        Some(Ended::Left(_) | Ended::Unlike) | None => 0,
    };
    outcomes.swap(0, first);
    outcomes.into_iter().collect()
}

/// A rank of [`run`].
#[derive(Debug)]
pub struct Thread {
    rank: usize,
    shared: Arc<Shared>,
}

/// The reason why the ranks can no longer communicate. Ranks that wait for others return it as an error.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Ended {
    #[error("rank {0} has left")]
    Left(usize),
    #[error("the ranks call different methods, or pass different numbers of values")]
    Unlike,
}

#[derive(Debug)]
struct Shared {
    ranks: usize,
    room: Mutex<Room>,
    changed: Condvar,
}

/// The state of one collective call. Each rank adds its values. The last rank computes the result, which all ranks then
/// copy.
#[derive(Debug, Default)]
struct Room {
    brought: Vec<(usize, Box<dyn Any + Send>)>,
    result: Option<Arc<dyn Any + Send + Sync>>,
    taken: usize,
    /// The first reason, if there are several.
    ended: Option<Ended>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Room> {
        // A rank that panics also drops its `Thread`, which sets `ended`. A poisoned lock is therefore no further
        // error.
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, room: MutexGuard<'a, Room>) -> MutexGuard<'a, Room> {
        self.changed.wait(room).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Thread {
    /// Calls `join` with the values of all ranks, in order of rank, and replaces `values` by the result.
    fn meet<T: Copy + Send + Sync + 'static>(
        &mut self,
        values: &mut [T],
        join: impl FnOnce(Vec<Vec<T>>) -> Vec<T>,
    ) -> Result<(), Error> {
        let shared = &*self.shared;
        let mut room = shared.lock();
        // Some ranks have not yet copied the result of the previous call.
        while room.result.is_some() {
            room = shared.wait(room);
        }
        room.brought.push((self.rank, Box::new(values.to_vec())));
        if room.brought.len() == shared.ranks {
            let mut brought = std::mem::take(&mut room.brought);
            brought.sort_by_key(|(rank, _)| *rank);
            let brought: Option<Vec<Vec<T>>> =
                brought.into_iter().map(|(_, values)| values.downcast().ok().map(|values| *values)).collect();
            match brought.filter(|all| all.iter().all(|each| each.len() == values.len())) {
                Some(brought) => room.result = Some(Arc::new(join(brought))),
                None => room.ended = Some(Ended::Unlike),
            }
            shared.changed.notify_all();
        }
        let result = loop {
            if let Some(result) = &room.result {
                break Arc::clone(result);
            }
            if let Some(ended) = room.ended {
                return Err(Error::Transport(Box::new(ended)));
            }
            room = shared.wait(room);
        };
        room.taken += 1;
        if room.taken == shared.ranks {
            (room.taken, room.result) = (0, None);
            shared.changed.notify_all();
        }
        drop(room);
        values.copy_from_slice(result.downcast_ref::<Vec<T>>().expect("all brought this type"));
        Ok(())
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.shared.lock().ended.get_or_insert(Ended::Left(self.rank));
        self.shared.changed.notify_all();
    }
}

impl AllReduce for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.shared.ranks
    }

    fn sum_f32(&mut self, values: &mut [f32]) -> Result<(), Error> {
        self.meet(values, |all| sum(all, |a, b| *a += b))
    }

    fn sum_f64(&mut self, values: &mut [f64]) -> Result<(), Error> {
        self.meet(values, |all| sum(all, |a, b| *a += b))
    }

    fn broadcast(&mut self, root: usize, bytes: &mut [u8]) -> Result<(), Error> {
        self.meet(bytes, |mut all| all.swap_remove(root))
    }
}

/// The element-wise sum over at least one rank, in order of rank.
fn sum<T: Copy>(all: Vec<Vec<T>>, add: impl Fn(&mut T, T)) -> Vec<T> {
    let add_all = |mut total: Vec<T>, each: Vec<T>| {
        total.iter_mut().zip(each).for_each(|(a, b)| add(a, b));
        total
    };
    all.into_iter().reduce(add_all).expect("there is a rank")
}
