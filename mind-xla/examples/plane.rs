//! Fits a plane to points, data-parallel over 4 devices of XLA.

use mind::{Const, Tensor, mind};
use mind_xla::{ClientOption, Plugin, Program};

mind! {
    fn step<N>(x: f32[N, 3], y: f32[N], w: &mut f32[3], rate: f32) -> f32 {
        let e = x @ w - y;
        w = w - rate * (e @ x);
        mean(e * e)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Data-parallel over 4 devices of the plugin that `MIND_PJRT_PLUGIN` names.
    let client = Plugin::from_env()?.client(&[("cpu_device_count", ClientOption::Int(4))])?;
    for device in client.devices()? {
        println!("{}: {}", device.id, device.description);
    }
    let program = Program::from_mic(step::MIC, step::UPDATES)?.extent("N", 8);
    let program = program.axis("d", 4).split("x", &["d", "_"]).split("y", &["d"]);
    let executable = client.compile(&program)?;

    let x: Tensor![f32; ?, 3] =
        Tensor::from_fn_with((8, Const), |[row, column]| ((row + 1) * (column + 2) % 5) as f32);
    let y = Tensor::from_fn_with((8,), |[row]| x[[row, 0]] - 2.0 * x[[row, 1]] + 0.5 * x[[row, 2]]);
    let mut w: Tensor![f32; 3] = Tensor::zeros();
    let mut on_devices = executable.load("w", &w)?;
    for turn in 0..=200 {
        let call = executable.call().pass("x", &x).pass("y", &y).number("rate", 0.01_f32);
        let loss: f32 = call.update("w", &mut on_devices).run()?[0].number()?;
        if turn % 50 == 0 {
            println!("turn {turn}: loss {loss:.6}");
        }
    }
    on_devices.read_into(&mut w)?;
    println!("w = {w}");
    Ok(())
}
