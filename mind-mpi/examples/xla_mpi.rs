//! Trains a network in several processes, each of which computes on devices of its own through XLA. An all-reduce over
//! MPI averages the gradients.
//!
//! This is for plugins that cannot join the devices of several processes, such as the plugin for CPUs.
//!
//! ```text
//! cargo build --release --example xla_mpi
//! MIND_PJRT_PLUGIN=xla_cpu_pjrt.so mpirun -n 2 target/release/examples/xla_mpi --losses FILE
//! ```
//!
//! The program writes the loss of each step to the file, one per line. The losses do not depend on the number of ranks,
//! except for rounding.

use std::error::Error;
use std::fs;
use std::process::ExitCode;

use mind::{Const, ElementsMut, Parameters, Tensor, Xoshiro256, mind};
use mind_mpi::{DataParallel, World};
use mind_xla::{DeviceTensor, Plugin, Program};

mind! {
    struct Network { w1: f32[16, 32], b1: f32[32], w2: f32[32, 4], b2: f32[4] }

    fn loss<N>(x: f32[N, 16], y: i64[N], net: Network) -> f32 {
        nn::cross_entropy(nn::dense(tanh(nn::dense(x, net.w1, net.b1)), net.w2, net.b2), y)
    }

    /// The loss of a share of the batch and its gradient.
    fn gradient<N>(x: f32[N, 16], y: i64[N], net: Network) -> (f32, Network) {
        value_and_grad(loss, wrt = net)(x, y, net)
    }

    fn descend(net: &mut Network, gradient: Network, rate: f32) {
        net = optim::sgd(net, gradient, rate);
    }
}

const ROWS: usize = 32;
const STEPS: usize = 50;

fn main() -> ExitCode {
    mind_mpi::run(run)
}

fn run(world: &mut World) -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [option, file] = &arguments[..] else { return Err("needed: --losses FILE".into()) };
    if option != "--losses" {
        return Err(format!("unknown option `{option}`").into());
    }
    let mut net = Network::he_uniform(&mut Xoshiro256::new(1));
    let mut team = DataParallel::new(world, "xla_mpi", &mut net)?;
    let share = team.share(ROWS)?;
    let rows = share.rows();
    let x: Tensor![f32; ?, 16] = Tensor::from_fn_with((rows.len(), Const), |[row, column]| {
        (((rows.start + row) * 7 + column * 3) % 11) as f32 / 11.0 - 0.4
    });
    let y: Tensor![i64; ?] = Tensor::from_fn_with((rows.len(),), |[row]| ((rows.start + row) % 4) as i64);

    let client = Plugin::from_env()?.client(&[])?;
    let program = Program::from_mic(gradient::MIC, gradient::UPDATES)?.extent("N", rows.len());
    let gradients = client.compile(&program)?;
    let updates = client.compile(&Program::from_mic(descend::MIC, descend::UPDATES)?)?;
    let mut on_devices = updates.load("net", &net)?;
    let mut slope = net;
    let mut losses = String::new();
    for _ in 0..STEPS {
        let results = gradients.call().pass("x", &x).pass("y", &y).lend("net", &on_devices).run()?;
        let (loss, gradient) = results.split_first().ok_or("the program has results")?;
        read(gradient, &mut slope)?;
        let mean = team.mean(&mut slope, loss.number::<f32>()?, &share)?;
        let call = updates.call().update("net", &mut on_devices).pass("gradient", &slope);
        call.number("rate", 0.3_f32).run()?;
        losses.push_str(&format!("{mean:.9e}\n"));
    }
    on_devices.read_into(&mut slope)?;
    team.agree(&slope)?;
    if team.rank() == 0 {
        fs::write(file, losses)?;
    }
    team.finish()?;
    Ok(())
}

/// Copies the fields of a result to a struct.
fn read(results: &[DeviceTensor], to: &mut impl Parameters) -> Result<(), mind_xla::Error> {
    for (part, result) in to.parameters_mut().into_iter().zip(results) {
        if let ElementsMut::F32(elements) = part.elements {
            elements.copy_from_slice(&result.to_vec::<f32>()?);
        }
    }
    Ok(())
}
