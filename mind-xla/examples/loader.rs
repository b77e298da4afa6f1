//! Trains a classifier on XLA. Each batch is copied to the device while the step of the batch before runs.

use mind::{Const, Rng, Tensor, Xoshiro256, mind};
use mind_xla::{Plugin, Program};

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

type Rows = Tensor![f32; ?, 64];
type Classes = Tensor![i64; ?];

/// Rows of noise. In each, every tenth number is larger, from the one that has the number of the class.
fn batch(random: &mut Xoshiro256) -> (Rows, Classes) {
    let y = Tensor::from_fn_with((32,), |[_]| (random.next_u64() % 10) as i64);
    let x = Tensor::from_fn_with((32, Const), |[row, at]| {
        let noise = (random.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0;
        noise + if at as i64 % 10 == y[[row]] { 1.0 } else { 0.0 }
    });
    (x, y)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Plugin::from_env()?.client(&[])?;
    let executable = client.compile(&Program::from_mic(step::MIC, step::UPDATES)?.extent("N", 32))?;
    let mut random = Xoshiro256::new(1);
    let mut net = executable.load("net", &Network::he_uniform(&mut random))?;
    let batches = (0..=200).map(|_| batch(&mut random));
    for (turn, batch) in executable.loader(["x", "y"], batches).enumerate() {
        let [x, y] = batch?;
        let call = executable.call().lend("x", &x).lend("y", &y).number("rate", 0.1_f32);
        let loss = call.update("net", &mut net).start()?.remove(0);
        if turn % 50 == 0 {
            println!("turn {turn}: loss {:.4}", loss.number::<f32>()?);
        }
    }
    Ok(())
}
