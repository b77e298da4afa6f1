//! Data-parallel training of programs of `mind!` by several processes, on one machine or many, over MPI.
//!
//! Each rank holds the same parameters, computes the gradient of its share of the batch and meets the others in one message:
//! the gradients of all fields and the loss together. Then each takes the same step.
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
//! What holds:
//!
//! - **Ranks agree to the bit with each other.** All take the same sum; [`DataParallel::agree`] compares a hash of the
//!   parameters, and [`DataParallel::save`] does so before it writes.
//! - **A run gives the bits of the last one**, on the same number of ranks of the same machine and MPI.
//! - **Other numbers of ranks give other bits**, as sums are rounded in another order. Losses are the same to 6 digits for as
//!   long as the program is smooth; at a kink, as that of `relu`, the last bit decides on a derivative now and then.
//! - **No rank waits for one that is gone.** What fails in a rank, or a panic, ends the job with its message: [`fn@run`].
//!   Ranks that call different methods are told so.
//! - **A run that is killed goes on from its last checkpoint**, with the bits of one that was not:
//!   [`DataParallel::save`] and [`DataParallel::resume`].
//!
//! A loss that is a mean over rows is averaged by rows. One that counts something else, such as tokens whose class is not
//! ignored, has a number of its own on each rank: [`Share::counting`] weighs by it, and the mean is that over all tokens, as
//! in `examples/tokens.rs`.
//!
//! Kernels run on several threads. With a rank for each core, `MIND_NUM_THREADS=1` leaves the cores to the ranks.
//!
//! `examples/digits_mpi.rs` learns to read digits under `mpirun`.
//!
//! The crate is a workspace of its own, as its default feature `mpi` needs Open MPI and libclang to be built.

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
