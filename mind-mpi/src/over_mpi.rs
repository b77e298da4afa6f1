//! The transport between processes that `mpirun` starts.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Equivalence, Root};

use crate::{AllReduce, Error};

/// The maximum number of elements in one call of MPI, which counts in 32 bits.
const PIECE: usize = 1 << 30;

/// Starts MPI, runs `body` as one of its ranks and ends MPI. Without `mpirun`, the job has one rank.
///
/// An error or a panic is printed with the number of the rank, and ends the job on all ranks at once, so that no rank
/// waits for this one. `mpirun` then fails. MPI can be started once per process: a second call fails.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use mind_mpi::{AllReduce, Error};
///
/// fn main() -> ExitCode {
///     mind_mpi::run(|world| {
///         println!("rank {} of {}", world.rank(), world.ranks());
///         Ok::<(), Error>(())
///     })
/// }
/// ```
pub fn run<E: Display>(body: impl FnOnce(&mut World) -> Result<(), E>) -> ExitCode {
    // Kernels run on several threads, but only this thread calls MPI.
    let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Funneled) else {
        eprintln!("error: {}", Error::Start("it was started before in this process"));
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    if threading < Threading::Funneled {
        end(&world, 1, &format!("error: {}", Error::Start("it allows no threads beside the main one")));
    }
    let mut ranks =
        World { world: universe.world(), received: Received::default(), of_this_thread: PhantomData };
    // Unwinding would drop `universe`, which waits for the other ranks, while they wait for this one.
    match catch_unwind(AssertUnwindSafe(|| body(&mut ranks))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => end(&world, 1, &format!("error: {error}")),
        Err(_) => end(&world, 101, "the program panicked, which ends the job"),
    }
}

/// Ends the job on all ranks.
fn end(world: &SimpleCommunicator, code: i32, message: &str) -> ! {
    // One write per message, since other ranks write to the same stream.
    let line = format!("rank {}: {message}\n", world.rank());
    eprint!("{line}");
    world.abort(code)
}

/// The transport of a job under MPI. [`fn@run`] passes it to its body. If a rank cannot be reached, MPI ends the job
/// with a message of MPI: no method returns an error.
pub struct World {
    world: SimpleCommunicator,
    received: Received,
    /// Makes the type neither `Send` nor `Sync`: only the thread that started MPI may call it.
    of_this_thread: PhantomData<*const ()>,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("rank", &self.rank())
            .field("ranks", &self.ranks())
            .finish_non_exhaustive()
    }
}

/// The receive buffers of sums, kept to reuse their memory.
#[derive(Default)]
struct Received {
    f32: Vec<f32>,
    f64: Vec<f64>,
}

impl AllReduce for World {
    fn rank(&self) -> usize {
        usize::try_from(self.world.rank()).expect("ranks count from 0")
    }

    fn ranks(&self) -> usize {
        usize::try_from(self.world.size()).expect("there is a rank")
    }

    fn sum_f32(&mut self, values: &mut [f32]) -> Result<(), Error> {
        sum(&self.world, values, &mut self.received.f32, 0.0);
        Ok(())
    }

    fn sum_f64(&mut self, values: &mut [f64]) -> Result<(), Error> {
        sum(&self.world, values, &mut self.received.f64, 0.0);
        Ok(())
    }

    fn broadcast(&mut self, root: usize, bytes: &mut [u8]) -> Result<(), Error> {
        let root = i32::try_from(root).expect("MPI counts ranks in 32 bits");
        for piece in bytes.chunks_mut(PIECE) {
            self.world.process_at_rank(root).broadcast_into(piece);
        }
        Ok(())
    }
}

fn sum<T: Copy + Equivalence>(world: &SimpleCommunicator, values: &mut [T], received: &mut Vec<T>, zero: T) {
    received.resize(values.len(), zero);
    for (piece, received) in values.chunks_mut(PIECE).zip(received.chunks_mut(PIECE)) {
        world.all_reduce_into(&*piece, received, SystemOperation::sum());
        piece.copy_from_slice(received);
    }
}
