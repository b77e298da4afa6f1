//! The models in candle: `models-candle MODEL`. `../../shared/serve.rs` describes the protocol.

mod cells;
mod convolutions;
mod descent;
#[path = "../../shared/inputs.rs"]
mod inputs;
#[path = "../../shared/serve.rs"]
mod serve;
#[path = "../../shared/sizes.rs"]
mod sizes;
mod transformer;
mod vae;

use std::error::Error;

use candle_core::{DType, Device, Result, Tensor, Var};

use serve::serve;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("gpt") => serve(transformer::Training::gpt()?)?,
        Some("gpt_generate") => serve(transformer::Generation::new()?)?,
        Some("lstm") => serve(cells::Training::lstm()?)?,
        Some("gru") => serve(cells::Training::gru()?)?,
        Some("adam") => serve(descent::Adam::new()?)?,
        Some("logistic") => serve(descent::Logistic::new()?)?,
        Some("addition") => serve(transformer::Training::addition()?)?,
        Some("vae") => serve(vae::Training::new()?)?,
        Some("lenet") => serve(convolutions::LeNet::new()?)?,
        Some("resnet") => serve(convolutions::Resnet::new()?)?,
        Some("resnet_one") => serve(convolutions::ResnetOne::new()?)?,
        other => return Err(format!("there is no model {other:?}").into()),
    }
    Ok(())
}

/// A parameter with the elements that it has in every library.
fn parameter(name: &str, index: u32, dims: &[usize]) -> Result<Var> {
    let elements = inputs::parameter(name, index, dims.iter().product());
    Var::from_tensor(&Tensor::from_vec(elements, dims, &Device::Cpu)?)
}

/// The norm of all parameters.
fn norm(parameters: &[Var]) -> Result<f32> {
    let elements: Result<Vec<Vec<f32>>> =
        parameters.iter().map(|part| part.to_dtype(DType::F32)?.flatten_all()?.to_vec1()).collect();
    Ok(inputs::norm(elements?.iter().map(Vec::as_slice)))
}
