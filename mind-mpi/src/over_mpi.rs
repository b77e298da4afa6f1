//! Ranks that are processes under `mpirun`.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Equivalence, Root};

use crate::{AllReduce, Error};

/// The most elements of one call of MPI, which counts in 32 bits.
const PIECE: usize = 1 << 30;

/// Starts MPI, runs `body` as one of its ranks and ends MPI. Without `mpirun` there is one rank.
///
/// An error or a panic is printed with the rank and ends the job on all ranks at once, so that none waits for this one.
/// `mpirun` then fails. MPI starts once in a process: a second call fails.
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
    // Kernels have threads of their own, which do not know MPI.
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
    // A rank that unwinds would wait in the end of MPI for the others, and they for it.
    match catch_unwind(AssertUnwindSafe(|| body(&mut ranks))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => end(&world, 1, &format!("error: {error}")),
        Err(_) => end(&world, 101, "the program panicked, which ends the job"),
    }
}

/// Ends the job on all ranks.
fn end(world: &SimpleCommunicator, code: i32, message: &str) -> ! {
    // At once, as other ranks write too.
    let line = format!("rank {}: {message}\n", world.rank());
    eprint!("{line}");
    world.abort(code)
}

/// All ranks of a job under MPI, which [`fn@run`] lends. MPI ends the job, with its own message, where a rank cannot be
/// reached: no method returns an error.
pub struct World {
    world: SimpleCommunicator,
    received: Received,
    /// Only the thread that started MPI speaks to it.
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

/// What sums are received in, kept for its memory.
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
