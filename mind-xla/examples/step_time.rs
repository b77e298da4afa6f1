//! Measures a training step on XLA. `benches/peers/xla.py` runs this program and the same step in JAX by turns.
//!
//! `step_time DEVICES` prints the number of lines of the program's text, then the text. For each line `KIND COUNT` on
//! standard input it runs `COUNT` steps and prints a time of a step in nanoseconds.
//!
//! | kind | data of a step | its loss is read | time |
//! | --- | --- | --- | --- |
//! | `here` | copied from the host | after each step | the least |
//! | `there` | already on the devices | after each step | the least |
//! | `waited` | already on the devices | after each step | the mean |
//! | `queued` | already on the devices | after the last step | the mean |

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use mind::{Const, Tensor, Xoshiro256, mind};
use mind_xla::{ClientOption, DeviceTensor, Plugin, Program};

mind! {
    struct Network { w1: f32[64, 256], b1: f32[256], w2: f32[256, 10], b2: f32[10] }

    fn loss<N>(x: f32[N, 64], y: i64[N], net: Network) -> f32 {
        nn::cross_entropy(nn::dense(relu(nn::dense(x, net.w1, net.b1)), net.w2, net.b2), y)
    }

    fn step<N>(x: f32[N, 64], y: i64[N], net: &mut Network, rate: f32) -> f32 {
        let (l, gradient) = value_and_grad(loss, wrt = net)(x, y, net);
        net = optim::sgd(net, gradient, rate);
        l
    }
}

const BATCH: usize = 32;

fn main() -> Result<(), Box<dyn Error>> {
    let devices: usize = std::env::args().nth(1).ok_or("needed: DEVICES")?.parse()?;
    let count = ClientOption::Int(i64::try_from(devices)?);
    let client = Plugin::from_env()?.client(&[("cpu_device_count", count)])?;
    let program = Program::from_mic(step::MIC, step::UPDATES)?.extent("N", BATCH);
    let program = match devices {
        1 => program,
        _ => program.axis("d", devices).split("x", &["d", "_"]).split("y", &["d"]),
    };
    let executable = client.compile(&program)?;
    println!("{}\n{}", executable.text().lines().count(), executable.text().trim_end());

    let x: Tensor![f32; ?, 64] =
        Tensor::from_fn_with((BATCH, Const), |[row, column]| ((row * 31 + column * 7) % 17) as f32 / 17.0);
    let y: Tensor![i64; ?] = Tensor::from_fn_with((BATCH,), |[row]| (row % 10) as i64);
    let rate = Tensor::full_with((), 1e-3_f32);
    let mut net = executable.load("net", &Network::he_uniform(&mut Xoshiro256::new(1)))?;
    let on_devices = (executable.load("x", &x)?, executable.load("y", &y)?, executable.load("rate", &rate)?);
    for line in std::io::stdin().lines() {
        let line = line?;
        let (kind, count) = line.split_once(' ').ok_or("needed: KIND COUNT")?;
        let (mut least, count, begin) = (u128::MAX, count.parse::<u32>()?, Instant::now());
        let mut last = None;
        for _ in 0..count {
            let start = Instant::now();
            let call = executable.call();
            let call = match kind {
                "here" => call.pass("x", &x).pass("y", &y).pass("rate", &rate),
                "there" | "waited" | "queued" => {
                    let (x, y, rate) = &on_devices;
                    call.lend("x", x).lend("y", y).lend("rate", rate)
                }
                _ => return Err("a kind is `here`, `there`, `waited` or `queued`".into()),
            };
            let mut results = call.update("net", &mut net).start()?;
            if kind != "queued" {
                finite(&results[0])?;
            }
            last = results.pop();
            least = least.min(start.elapsed().as_nanos());
        }
        last.as_ref().map_or(Ok(()), finite)?;
        let mean = begin.elapsed().as_nanos() / u128::from(count.max(1));
        println!("{}", if matches!(kind, "waited" | "queued") { mean } else { least });
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Reads a loss.
fn finite(loss: &DeviceTensor) -> Result<(), Box<dyn Error>> {
    if loss.number::<f32>()?.is_finite() { Ok(()) } else { Err("the loss is not finite".into()) }
}
