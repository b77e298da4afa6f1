//! Fits a plane to points on XLA, without waiting for each step.

use mind::{Const, Tensor, mind};
use mind_xla::{Plugin, Program};

mind! {
    fn step<N>(x: f32[N, 3], y: f32[N], w: &mut f32[3], rate: f32) -> f32 {
        let e = x @ w - y;
        w = w - rate * (e @ x);
        mean(e * e)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Plugin::from_env()?.client(&[])?.in_flight(4);
    let executable = client.compile(&Program::from_mic(step::MIC, step::UPDATES)?.extent("N", 8))?;
    let x: Tensor![f32; ?, 3] =
        Tensor::from_fn_with((8, Const), |[row, column]| ((row + 1) * (column + 2) % 5) as f32);
    let y = Tensor::from_fn_with((8,), |[row]| x[[row, 0]] - 2.0 * x[[row, 1]] + 0.5 * x[[row, 2]]);
    let mut w: Tensor![f32; 3] = Tensor::zeros();
    let mut on_devices = executable.load("w", &w)?;
    let mut losses = Vec::new();
    for _ in 0..=200 {
        let call = executable.call().pass("x", &x).pass("y", &y).number("rate", 0.01_f32);
        losses.extend(call.update("w", &mut on_devices).start()?);
    }
    // Reading waits for the steps.
    println!("turn 200: loss {:.6}", losses[200].number::<f32>()?);
    on_devices.read_into(&mut w)?;
    println!("w = {w}");
    Ok(())
}
