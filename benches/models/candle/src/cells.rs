//! Training steps of candle's recurrent layers, by gradient descent.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::rnn::{GRUConfig, LSTMConfig, RNN, gru, lstm};
use candle_nn::{Optimizer, SGD, VarBuilder, VarMap, loss};

use crate::inputs::numbers;
use crate::serve::Model;
use crate::{norm, parameter};

/// The states after all steps, `[batch, steps, features]`.
type Layer = Box<dyn Fn(&Tensor) -> Result<Tensor>>;

pub struct Training {
    xs: Tensor,
    ys: Tensor,
    variables: VarMap,
    layer: Layer,
    optimiser: SGD,
}

impl Training {
    pub fn lstm() -> Result<Self> {
        let variables = variables(512, &["weight_ih_l0", "weight_hh_l0", "bias_ih_l0"])?;
        let config = LSTMConfig { b_hh_init: None, ..LSTMConfig::default() };
        let layer = lstm(64, 128, config, builder(&variables))?;
        Self::new(variables, Box::new(move |xs| states(layer.seq(xs)?.iter().map(|state| state.h()))))
    }

    pub fn gru() -> Result<Self> {
        let variables = variables(384, &["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"])?;
        let layer = gru(64, 128, GRUConfig::default(), builder(&variables))?;
        Self::new(variables, Box::new(move |xs| states(layer.seq(xs)?.iter().map(|state| state.h()))))
    }

    fn new(variables: VarMap, layer: Layer) -> Result<Self> {
        let batch_first = |elements, features| {
            Tensor::from_vec(elements, (128, 32, features), &Device::Cpu)?.transpose(0, 1)?.contiguous()
        };
        Ok(Self {
            xs: batch_first(numbers(2000, 128 * 32 * 64, 1.0), 64)?,
            ys: batch_first(numbers(2001, 128 * 32 * 128, 0.5), 128)?,
            optimiser: SGD::new(variables.all_vars(), 30.0)?,
            variables,
            layer,
        })
    }

    fn step(&mut self) -> Result<f32> {
        let loss = loss::mse(&(self.layer)(&self.xs)?, &self.ys)?;
        self.optimiser.backward_step(&loss)?;
        loss.to_scalar()
    }
}

/// The parameters of a layer. Candle transposes weights, so they are made and then transposed.
fn variables(gates: usize, names: &[&str]) -> Result<VarMap> {
    let variables = VarMap::new();
    for (index, (name, dims)) in
        (0..).zip(names.iter().zip([&[64, gates][..], &[128, gates], &[gates], &[gates]]))
    {
        let made = parameter(name, index, dims)?;
        let made = if dims.len() == 2 { made.t()?.contiguous()? } else { made.as_tensor().clone() };
        let mut all = variables.data().lock().expect("nothing else holds the lock");
        all.insert((*name).to_owned(), candle_core::Var::from_tensor(&made)?);
    }
    Ok(variables)
}

fn builder(variables: &VarMap) -> VarBuilder<'_> {
    VarBuilder::from_varmap(variables, DType::F32, &Device::Cpu)
}

fn states<'a>(states: impl Iterator<Item = &'a Tensor>) -> Result<Tensor> {
    Tensor::stack(&states.collect::<Vec<_>>(), 1)
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        self.step().expect("shapes agree")
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.variables.all_vars()).expect("parameters are f32")]
    }
}
