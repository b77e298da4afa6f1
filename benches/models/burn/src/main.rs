//! The models in burn, on its CPU backend Flex: `models-burn MODEL`. `../../shared/serve.rs` describes the protocol.

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

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor, TensorData};

use serve::serve;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("gpt") => serve(transformer::Training::gpt())?,
        Some("gpt_generate") => serve(transformer::Generation::new())?,
        Some("lstm") => serve(cells::Training::lstm())?,
        Some("gru") => serve(cells::Training::gru())?,
        Some("adam") => serve(descent::Adam::new())?,
        Some("logistic") => serve(descent::Logistic::new())?,
        Some("addition") => serve(transformer::Training::addition())?,
        Some("vae") => serve(vae::Training::new())?,
        Some("lenet") => serve(convolutions::LeNet::new())?,
        Some("resnet") => serve(convolutions::Resnet::new())?,
        Some("resnet_one") => serve(convolutions::ResnetOne::new())?,
        other => return Err(format!("there is no model {other:?}").into()),
    }
    Ok(())
}

/// The device on which gradients are recorded.
fn recorded() -> Device {
    Device::flex().autodiff()
}

/// A tensor with elements in row-major order.
fn tensor<const D: usize>(elements: Vec<f32>, dims: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(elements, dims), device)
}

/// A parameter with the elements that it has in every library.
fn parameter<const D: usize>(name: &str, index: u32, dims: [usize; D], device: &Device) -> Param<Tensor<D>> {
    Param::from_tensor(tensor(inputs::parameter(name, index, dims.iter().product()), dims, device))
}

fn elements<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().expect("elements are f32")
}

/// The norm of all parameters. The averages of batch norm have no gradients and are none.
fn norm(module: &impl Module) -> f32 {
    struct Collected(Vec<Vec<f32>>);

    impl ModuleVisitor for Collected {
        fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
            if parameter.is_require_grad() {
                self.0.push(elements(parameter.val()));
            }
        }
    }

    let mut all = Collected(Vec::new());
    module.visit(&mut all);
    inputs::norm(all.0.iter().map(Vec::as_slice))
}
