//! Trains programs of `mind!` in several processes, on one machine or many, over MPI. Use it if a batch takes
//! too long in one process; programs that run in one process need only [`mind-dsl`](https://docs.rs/mind-dsl).
//!
//! Training is data-parallel. Each rank holds the same parameters and computes the gradient of its share of the batch.
//! One message per step averages the gradients of all fields and the loss over the ranks. Then each rank takes the same
//! step.
//!
//! ```
//! use mind::{Tensor, mind};
//! use mind_mpi::{DataParallel, Error, threads};
//!
//! mind! {
//!     struct Line { slope: f32, height: f32 }
//!
//!     fn loss<N>(x: f32[N], y: f32[N], line: Line) -> f32 {
//!         let miss = line.slope * x + line.height - y;
//!         mean(miss * miss)
//!     }
//!     fn gradient<N>(x: f32[N], y: f32[N], line: Line) -> (f32, Line) {
//!         value_and_grad(loss, wrt = line)(x, y, line)
//!     }
//!     fn descend(line: &mut Line, gradient: Line, rate: f32) {
//!         line = optim::sgd(line, gradient, rate);
//!     }
//! }
//!
//! let x = [0.0_f32, 1.0, 2.0, 3.0];
//! // Under MPI: `mind_mpi::run(|world| …)`.
//! let losses = threads::run(2, |rank| -> Result<f64, Error> {
//!     let mut line = Line { slope: 0.0, height: 0.0 };
//!     let mut team = DataParallel::new(rank, "line", &mut line)?;
//!     let mut last = 0.0;
//!     for _ in 0..200 {
//!         let share = team.share(x.len())?;
//!         let x = &x[share.rows()];
//!         let y: Vec<f32> = x.iter().map(|x| 2.0 * x + 1.0).collect();
//!         let (x, y) = (Tensor::from_fn_with((x.len(),), |[i]| x[i]), Tensor::from_fn_with((y.len(),), |[i]| y[i]));
//!         let (loss, mut slope) = gradient(&x, &y, &line);
//!         last = team.mean(&mut slope, loss, &share)?;
//!         descend(&mut line, &slope, 0.1);
//!     }
//!     team.agree(&line)?;
//!     team.finish()?;
//!     Ok(last)
//! })?;
//! assert!(losses[0] < 1e-3);
//! assert_eq!(losses[0].to_bits(), losses[1].to_bits());
//! # Ok::<(), Error>(())
//! ```
//!
//! Guarantees:
//!
//! - **Ranks agree bit for bit.** All ranks use the same sum. [`DataParallel::agree`] compares a hash of the
//!   parameters, and [`DataParallel::save`] does so before it writes.
//! - **A repeated run gives the same bits**, on the same number of ranks, the same machines and the same MPI.
//! - **Another number of ranks gives other bits**, because sums are rounded in another order. Losses agree to 6 digits
//!   as long as the program is smooth. At a kink, such as that of `relu`, the last bit sometimes decides the
//!   derivative.
//! - **No rank waits for a rank that has ended.** An error or a panic in a rank ends the whole job ([`fn@run`]) with its
//!   message. If ranks call different methods, all of them return an error.
//! - **A killed run continues from its last checkpoint**, with the bits of a run that was not killed:
//!   [`DataParallel::save`] and [`DataParallel::resume`].
//!
//! By default, losses are averaged by the number of rows of each rank. A loss can be a mean over something else, such as
//! the tokens that are not ignored, whose number differs from rank to rank. [`Share::counting`] sets that number as the
//! weight of the rank. The result is then the mean over the tokens of all ranks, as in `examples/tokens.rs`.
//!
//! Kernels run on several threads. With one rank per core, set `MIND_NUM_THREADS=1`, so that each rank uses one core.
//!
//! `examples/digits_mpi.rs` learns to read digits under `mpirun`.
//!
//! The crate is not a member of the main workspace, because its default feature `mpi` needs Open MPI and libclang to
//! build.

mod all_reduce;
mod checkpoint;
mod error;
mod leaves;
#[cfg(feature = "mpi")]
mod over_mpi;
pub mod threads;
mod training;

pub use all_reduce::AllReduce;
pub use error::Error;
#[cfg(feature = "mpi")]
pub use over_mpi::{World, run};
pub use training::{DataParallel, MAX_ROWS, Share, Times};
