//! Measures training steps on XLA: a GPT by AdamW, and a network of three layers by gradient descent. `ci/gpu` runs this
//! program beside `benches/peers/gpu.py`, which has the same programs in JAX and PyTorch.
//!
//! ```text
//! gpu_step small|large SECONDS
//! gpu_step small|large text
//! ```
//!
//! With `text`, it prints the StableHLO of the GPT. Else each program runs with products in `f32` and in TF32. A line has the fields of a row of the table of `ci/gpu`: times
//! are seconds of a step, and each is measured for about `SECONDS`. The first `LOSSES` losses are compared among libraries.

use std::error::Error;
use std::rc::Rc;
use std::time::Instant;

use mind::optim::Adam;
use mind::{Const, ElementsMut, Parameters, Tensor, Xoshiro256, mind};
use mind_xla::{Client, DeviceTensor, Executable, OnDevices, Plugin, Precision, Program};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The number of first losses that are compared.
const LOSSES: usize = 3;

macro_rules! gpt {
    ($name:ident, $layers:tt blocks of $width:tt, inner $inner:tt, heads $heads:tt, context $context:tt) => {
        mod $name {
            use super::*;

            mind! {
                #[derive(Clone)]
                struct Block {
                    scale1: f32[$width], bias1: f32[$width],
                    wq: f32[$width, $width], wk: f32[$width, $width], wv: f32[$width, $width], wo: f32[$width, $width],
                    scale2: f32[$width], bias2: f32[$width],
                    w1: f32[$width, $inner], b1: f32[$inner], w2: f32[$inner, $width], b2: f32[$width],
                }

                #[derive(Clone)]
                pub struct Gpt {
                    tokens: f32[256, $width], places: f32[$context, $width], blocks: Block[$layers],
                    scale: f32[$width], bias: f32[$width], head: f32[$width, 256],
                }

                fn loss<N>(x: i64[N, $context], y: i64[N, $context], net: Gpt) -> f32 {
                    let h = fold h = nn::embedding(x, net.tokens) + net.places for block in net.blocks {
                        nn::transformer_block_causal(h, block, heads = $heads)
                    };
                    nn::cross_entropy(nn::layer_norm(h, net.scale, net.bias) @ net.head, y)
                }

                pub fn step<N>(
                    x: i64[N, $context], y: i64[N, $context], net: &mut Gpt, state: &mut optim::Adam<Gpt>
                ) -> f32 {
                    let (l, g) = value_and_grad(loss, wrt = net)(x, y, net);
                    let (new, next) = optim::adamw_step(net, g, state, 3e-4);
                    net = new;
                    state = next;
                    l
                }
            }

            /// The batch of a number: texts without their last token, and without their first.
            pub fn batch(number: usize, rows: usize) -> Data {
                [0, 1].map(|first| -> Rc<dyn Parameters> {
                    let tokens: Tensor![i64; ?, $context] = Tensor::from_fn_with((rows, Const), |[row, place]| {
                        let index = (number * rows + row) * ($context + 1) + place + first;
                        i64::from(mixed(index as u32) % 256)
                    });
                    Rc::new(tokens)
                })
            }
        }
    };
}

gpt!(small, 2 blocks of 64, inner 256, heads 4, context 32);
gpt!(large, 4 blocks of 512, inner 2048, heads 8, context 256);

macro_rules! mlp {
    ($name:ident, $width:tt) => {
        mod $name {
            use super::*;

            mind! {
                pub struct Mlp {
                    w1: f32[784, $width], b1: f32[$width], w2: f32[$width, $width], b2: f32[$width],
                    w3: f32[$width, 10], b3: f32[10],
                }

                fn loss<N>(x: f32[N, 784], y: i64[N], net: Mlp) -> f32 {
                    let h = relu(nn::dense(x, net.w1, net.b1));
                    nn::cross_entropy(nn::dense(relu(nn::dense(h, net.w2, net.b2)), net.w3, net.b3), y)
                }

                pub fn step<N>(x: f32[N, 784], y: i64[N], net: &mut Mlp) -> f32 {
                    let (l, g) = value_and_grad(loss, wrt = net)(x, y, net);
                    net = optim::sgd(net, g, 0.1);
                    l
                }
            }
        }
    };
}

mlp!(narrow, 128);
mlp!(wide, 1024);

fn mlp_batch(number: usize, rows: usize) -> Data {
    let x: Tensor![f32; ?, 784] = Tensor::from_fn_with((rows, Const), |[row, column]| {
        uniform(((number * rows + row) * 784 + column) as u32)
    });
    let y: Tensor![i64; ?] =
        Tensor::from_fn_with((rows,), |[row]| i64::from(mixed((number * rows + row) as u32) % 10));
    [Rc::new(x), Rc::new(y)]
}

/// A hash of an index.
const fn mixed(index: u32) -> u32 {
    let x = index.wrapping_mul(2_654_435_761).wrapping_add(40_503);
    let x = (x ^ (x >> 16)).wrapping_mul(0x045d_9f3b);
    x ^ (x >> 16)
}

/// A number from -1 to 1, exact in `f32`.
fn uniform(index: u32) -> f32 {
    (mixed(index) >> 8) as f32 / (1 << 23) as f32 - 1.0
}

/// Sets parameters to the numbers that all libraries start from: scales to 1, biases to 0, and weights to 0.05 times
/// numbers that are spread evenly.
fn fill<P: Parameters>(mut parameters: P) -> P {
    let mut start = 0;
    parameters.visit_mut(&mut |part| {
        let name = part.name.rsplit('.').next().unwrap_or_default().to_owned();
        if let ElementsMut::F32(elements) = part.elements {
            for (index, element) in (start..).zip(elements.iter_mut()) {
                *element = match &name[..] {
                    "scale" | "scale1" | "scale2" => 1.0,
                    "bias" | "bias1" | "bias2" | "b1" | "b2" | "b3" => 0.0,
                    _ => 0.05 * uniform(index),
                };
            }
            start += elements.len() as u32;
        }
    });
    parameters
}

/// The data of a step in host memory.
type Data = [Rc<dyn Parameters>; 2];

/// An argument that steps update, with its name.
type Updated = (&'static str, OnDevices);

/// A program with its parameters on the devices.
struct Training {
    executable: Executable,
    updated: Vec<Updated>,
    /// Data for steps in turn.
    data: Vec<Data>,
}

/// Starts a step.
fn start(executable: &Executable, updated: &mut [Updated], [x, y]: &[OnDevices; 2]) -> Outcome<DeviceTensor> {
    let mut call = executable.call().lend("x", x).lend("y", y);
    for (name, tensors) in updated {
        call = call.update(name, tensors);
    }
    Ok(call.start()?.remove(0))
}

impl Training {
    /// Runs a number of steps with data on the device, and returns the last loss. Each loss is read after its step, or
    /// only the last one.
    fn run_repeated(&mut self, data: &[OnDevices; 2], count: usize, is_each_read: bool) -> Outcome<f32> {
        let mut last = start(&self.executable, &mut self.updated, data)?;
        for _ in 1..count {
            if is_each_read {
                last.number::<f32>()?;
            }
            last = start(&self.executable, &mut self.updated, data)?;
        }
        Ok(last.number()?)
    }

    /// Runs a number of steps with data from the host, and returns their losses.
    fn run_loaded(&mut self, count: usize) -> Outcome<Vec<DeviceTensor>> {
        let data = self.data.iter().cycle().take(count).cloned();
        let loader = self.executable.loader(["x", "y"], data);
        loader.map(|data| start(&self.executable, &mut self.updated, &data?)).collect()
    }

    /// Prints the line of the program.
    fn report(mut self, name: &str, precision: &str, compile: f64, seconds: f64) -> Outcome<()> {
        let losses = self.run_loaded(LOSSES)?;
        let losses = losses.iter().map(DeviceTensor::number::<f32>).collect::<Result<Vec<_>, _>>()?;
        let data = self.executable.loader(["x", "y"], self.data.first().cloned()).next();
        let data = data.ok_or("there is data")??;
        let each = measure(seconds, |count| self.run_repeated(&data, count, true))?;
        let queued = measure(seconds, |count| self.run_repeated(&data, count, false))?;
        let host = measure(seconds, |count| {
            let losses = self.run_loaded(count)?;
            Ok(losses[count - 1].number()?)
        })?;
        let memory = self
            .executable
            .memory()?
            .map_or(0, |memory| memory.arguments + memory.results - memory.reused + memory.temporaries);
        let losses: Vec<_> = losses.iter().map(ToString::to_string).collect();
        println!(
            "program={name} precision={precision} each={each} queued={queued} host={host} memory={memory} \
             compile={compile} losses={}",
            losses.join(",")
        );
        Ok(())
    }
}

/// The least of three mean times of a step, in seconds. `steps` runs a number of steps, and returns the last loss. Each
/// measurement takes at least a quarter of `seconds`.
fn measure(seconds: f64, mut steps: impl FnMut(usize) -> Outcome<f32>) -> Outcome<f64> {
    let (mut count, mut least, mut passes) = (1, f64::INFINITY, 0);
    while passes < 3 {
        let start = Instant::now();
        if !steps(count)?.is_finite() {
            return Err("a loss is not finite".into());
        }
        let time = start.elapsed().as_secs_f64();
        if 4.0 * time >= seconds {
            (least, passes) = (least.min(time / count as f64), passes + 1);
        } else {
            let wanted = seconds / 3.0 / time.max(1e-9) * count as f64;
            count = (wanted as usize).clamp(count + 1, 8 * count);
        }
    }
    Ok(least)
}

/// A program, its data, and how its parameters come to the devices.
struct Case {
    name: String,
    program: Program,
    data: Vec<Data>,
    load: fn(&Executable) -> Result<Vec<Updated>, mind_xla::Error>,
}

impl Case {
    /// Compiles the program for each precision and measures it.
    fn run(&self, client: &Client, seconds: f64) -> Outcome<()> {
        for (label, precision) in [("f32", Precision::Highest), ("tf32", Precision::Tf32)] {
            let program = self.program.clone().precision(precision);
            let begin = Instant::now();
            let executable = client.compile(&program)?;
            let compile = begin.elapsed().as_secs_f64();
            let updated = (self.load)(&executable)?;
            let training = Training { executable, updated, data: self.data.clone() };
            training.report(&self.name, label, compile, seconds)?;
        }
        Ok(())
    }
}

macro_rules! gpt_case {
    ($name:ident, $rows:literal) => {
        Case {
            name: "gpt".to_owned(),
            program: Program::from_mic($name::step::MIC, $name::step::UPDATES)?.extent("N", $rows),
            data: (0..4).map(|number| $name::batch(number, $rows)).collect(),
            load: |executable| {
                let net = fill($name::Gpt::glorot_uniform(&mut Xoshiro256::new(1)));
                let state = executable.load("state", &Adam::zeros_like(&net))?;
                Ok(vec![("net", executable.load("net", &net)?), ("state", state)])
            },
        }
    };
}

macro_rules! mlp_case {
    ($name:ident, $rows:expr) => {
        Case {
            name: format!("mlp{}", $rows),
            program: Program::from_mic($name::step::MIC, $name::step::UPDATES)?.extent("N", $rows),
            data: (0..4).map(|number| mlp_batch(number, $rows)).collect(),
            load: |executable| {
                let net = fill($name::Mlp::glorot_uniform(&mut Xoshiro256::new(1)));
                Ok(vec![("net", executable.load("net", &net)?)])
            },
        }
    };
}

fn main() -> Outcome<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let usage = "needed: small|large, then SECONDS or text";
    let [size, seconds] = &arguments[..] else { return Err(usage.into()) };
    if seconds == "text" {
        print!("{}", cases(size)?[0].program.stablehlo()?.text);
        return Ok(());
    }
    let seconds = seconds.parse()?;
    let client = Plugin::from_env()?.client(&[])?;
    println!("device={}", client.device(0)?.kind.replace(' ', "_"));
    cases(size)?.iter().try_for_each(|case| case.run(&client, seconds))
}

/// The programs of a size.
fn cases(size: &str) -> Outcome<Vec<Case>> {
    match size {
        "small" => Ok(vec![gpt_case!(small, 2), mlp_case!(narrow, 32), mlp_case!(narrow, 256)]),
        "large" => {
            Ok(vec![gpt_case!(large, 16), mlp_case!(wide, 32), mlp_case!(wide, 512), mlp_case!(wide, 8192)])
        }
        _ => Err(format!("{size} is no size: needed small or large").into()),
    }
}
