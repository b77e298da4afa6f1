//! Measures steps of data-parallel training, and the time of messages, for a number of ranks.
//!
//! ```text
//! cargo build --release --example scaling
//! MIND_NUM_THREADS=1 mpirun -n 2 target/release/examples/scaling
//! ```
//!
//! The network is 784-256-256-10, and the batch has 128 rows for all ranks together. Rank 0 prints the least and the
//! median time of:
//!
//! - all-reduces of several sizes;
//! - the gradient of a rank's share, without messages;
//! - a step with one message after the gradient, as `DataParallel` sends it;
//! - a step that sends the gradient of the last two layers while it computes that of the first.
//!
//! The times of a repetition are taken in turns. `scaling.py` measures PyTorch's `DistributedDataParallel` on the same
//! network.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use mind::{Const, Parameters, Tensor, Xoshiro256, mind};
use mind_mpi::{AllReduce, DataParallel, Error};
use mpi::collective::SystemOperation;
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::CommunicatorCollectives;

mind! {
    const IN: dim = 784;
    const HIDDEN: dim = 256;
    const OUT: dim = 10;

    struct First { w: f32[IN, HIDDEN], b: f32[HIDDEN] }
    struct Rest { w2: f32[HIDDEN, HIDDEN], b2: f32[HIDDEN], w3: f32[HIDDEN, OUT], b3: f32[OUT] }
    struct Network { first: First, rest: Rest }

    fn rest_loss<N>(h: f32[N, HIDDEN], y: i64[N], rest: Rest) -> f32 {
        nn::cross_entropy(nn::dense(relu(nn::dense(h, rest.w2, rest.b2)), rest.w3, rest.b3), y)
    }

    fn loss<N>(x: f32[N, IN], y: i64[N], net: Network) -> f32 {
        rest_loss(relu(nn::dense(x, net.first.w, net.first.b)), y, net.rest)
    }

    /// The loss and its gradient, in one function.
    fn gradient<N>(x: f32[N, IN], y: i64[N], net: Network) -> (f32, Network) {
        value_and_grad(loss, wrt = net)(x, y, net)
    }

    /// The loss, the gradient of the last layers, and that of the sums of the first layer.
    fn rest_gradient<N>(x: f32[N, IN], y: i64[N], net: Network) -> (f32, Rest, f32[N, HIDDEN]) {
        let z = nn::dense(x, net.first.w, net.first.b);
        let (l, (of_h, of_rest)) = value_and_grad(rest_loss, wrt = (h, rest))(relu(z), y, net.rest);
        (l, of_rest, where(z > 0.0, of_h, 0.0))
    }

    /// The gradient of the first layer.
    fn first_gradient<N>(x: f32[N, IN], of_z: f32[N, HIDDEN]) -> First {
        First { w: x.T @ of_z, b: sum(of_z, axis = 0) }
    }
}

const ROWS: usize = 128;
const REPETITIONS: usize = 200;
/// The numbers of elements of the messages that are timed alone.
const SIZES: [usize; 4] = [1, 1 << 12, 1 << 16, 1 << 18];

fn main() -> ExitCode {
    mind_mpi::run(|world| measure(&mut *world))
}

/// The least and the median of times, in milliseconds.
struct Summary {
    least: f64,
    median: f64,
}

impl Summary {
    fn new(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self { least: 1e3 * times[0], median: 1e3 * times[times.len() / 2] }
    }
}

fn timed(action: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
    let start = Instant::now();
    action()?;
    Ok(start.elapsed().as_secs_f64())
}

fn measure(world: &mut mind_mpi::World) -> Result<(), Error> {
    let speaks = world.rank() == 0;
    let ranks = world.ranks();
    let report = |name: &str, times: Vec<f64>| {
        let Summary { least, median } = Summary::new(times);
        if speaks {
            println!("{ranks} ranks: {name}: least {least:.3} ms, median {median:.3} ms");
        }
    };
    for size in SIZES {
        let mut values = vec![1.0_f32; size];
        let mut times = Vec::new();
        for _ in 0..REPETITIONS {
            world.sum_f64(&mut [0.0])?;
            times.push(timed(|| world.sum_f32(&mut values))?);
            values.fill(1.0);
        }
        report(&format!("all-reduce of {} bytes", 4 * size), times);
    }

    let mut net = Network::he_uniform(&mut Xoshiro256::new(1));
    let mut team = DataParallel::new(&mut *world, "scaling", &mut net)?;
    let share = team.share(ROWS)?;
    let rows = share.rows().len();
    let x: Tensor![f32; ?, 784] = Tensor::from_fn_with((rows, Const), |[row, column]| {
        ((row * 7 + column * 3) % 11) as f32 / 11.0 - 0.4
    });
    let y = Tensor::from_fn_with((rows,), |[row]| (row % 10) as i64);
    // A second communicator for messages beside those of the team, which MPI keeps apart.
    let beside = SimpleCommunicator::world().duplicate();
    let mut times: [Vec<f64>; 4] = Default::default();
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for _ in 0..REPETITIONS {
        times[0].push(timed(|| {
            black_box(gradient(&x, &y, &net));
            Ok(())
        })?);
        times[1].push(timed(|| {
            let (loss, mut slope) = gradient(&x, &y, &net);
            team.mean(&mut slope, loss, &share)?;
            black_box(slope);
            Ok(())
        })?);
        for (overlaps, times) in [false, true].into_iter().zip(&mut times[2..]) {
            times.push(timed(|| {
                let (_, rest, of_z) = rest_gradient(&x, &y, &net);
                flatten(&rest, &mut sent);
                received.resize(sent.len(), 0.0);
                let first = mpi::request::scope(|scope| {
                    if overlaps {
                        let sum = SystemOperation::sum();
                        let request =
                            beside.immediate_all_reduce_into(scope, &sent[..], &mut received[..], sum);
                        let first = first_gradient(&x, &of_z);
                        request.wait();
                        first
                    } else {
                        beside.all_reduce_into(&sent[..], &mut received[..], SystemOperation::sum());
                        first_gradient(&x, &of_z)
                    }
                });
                flatten(&first, &mut sent);
                received.resize(sent.len(), 0.0);
                beside.all_reduce_into(&sent[..], &mut received[..], SystemOperation::sum());
                black_box(&received);
                Ok(())
            })?);
        }
    }
    let [alone, step, in_two, overlapped] = times;
    report(&format!("gradient of {rows} rows"), alone);
    report(&format!("step with one message of {} bytes", 4 * net.element_count()), step);
    report("step with a message after each half", in_two);
    report("step that computes during the first message", overlapped);
    team.finish()
}

fn flatten(parameters: &impl Parameters, to: &mut Vec<f32>) {
    to.clear();
    parameters.visit(&mut |part| to.extend(part.as_slice::<f32>().into_iter().flatten()));
}
