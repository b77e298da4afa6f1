//! Adam over a million parameters, and logistic regression by gradient descent.

use candle_core::backprop::GradStore;
use candle_core::{Device, Result, Tensor, Var};
use candle_nn::{AdamW, Optimizer, ParamsAdamW, SGD, loss};

use crate::inputs::{integers, numbers};
use crate::serve::Model;
use crate::{norm, parameter};

/// A step of Adam, given the gradient.
pub struct Adam {
    parameters: Vec<Var>,
    gradient: GradStore,
    optimiser: AdamW,
}

impl Adam {
    pub fn new() -> Result<Self> {
        let shapes: [(&str, &[usize]); 4] =
            [("w1", &[1499, 499]), ("b1", &[499]), ("w2", &[499, 503]), ("b2", &[503])];
        let parameters: Result<Vec<_>> =
            (0..).zip(shapes).map(|(index, (name, dims))| parameter(name, index, dims)).collect();
        let parameters = parameters?;
        // The gradient of half the squared norm is the parameters.
        let mut half = Tensor::zeros((), candle_core::DType::F32, &Device::Cpu)?;
        for part in &parameters {
            half = (half + (part.sqr()?.sum_all()? / 2.0)?)?;
        }
        let gradient = half.backward()?;
        let optimiser = AdamW::new(
            parameters.clone(),
            ParamsAdamW { lr: 1e-3, weight_decay: 0.0, ..ParamsAdamW::default() },
        )?;
        Ok(Self { parameters, gradient, optimiser })
    }

    fn element(&self, part: usize, at: usize) -> Result<f32> {
        self.parameters[part].flatten_all()?.get(at)?.to_scalar()
    }
}

impl Model for Adam {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        self.optimiser.step(&self.gradient).expect("shapes agree");
        self.element(0, 0).expect("there is such an element")
    }

    fn values(&self) -> Vec<f32> {
        let norm = norm(&self.parameters).expect("parameters are f32");
        vec![norm, self.element(3, 502).expect("there is such an element")]
    }
}

/// Logistic regression, 100 steps of gradient descent per call.
pub struct Logistic {
    x: Tensor,
    y: Tensor,
    w: Var,
    b: Var,
    optimiser: SGD,
}

impl Logistic {
    pub fn new() -> Result<Self> {
        let labels: Vec<_> = integers(2001, 1000, 2).into_iter().map(|label| label as f32).collect();
        let (w, b) = (parameter("w", 0, &[64, 1])?, parameter("b", 1, &[1])?);
        Ok(Self {
            x: Tensor::from_vec(numbers(2000, 64_000, 1.0), (1000, 64), &Device::Cpu)?,
            y: Tensor::from_vec(labels, (1000, 1), &Device::Cpu)?,
            optimiser: SGD::new(vec![w.clone(), b.clone()], 0.1)?,
            w,
            b,
        })
    }

    fn step(&mut self) -> Result<Tensor> {
        let scores = self.x.matmul(&self.w)?.broadcast_add(&self.b)?;
        let loss = loss::binary_cross_entropy_with_logit(&scores, &self.y)?;
        self.optimiser.backward_step(&loss)?;
        Ok(loss)
    }
}

impl Model for Logistic {
    const STEPS: u32 = 100;

    fn call(&mut self) -> f32 {
        let losses: Result<Vec<_>> = (0..Self::STEPS).map(|_| self.step()).collect();
        let last = losses.expect("shapes agree").pop().expect("there are steps");
        last.to_scalar().expect("a loss is one number")
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&[self.w.clone(), self.b.clone()]).expect("parameters are f32")]
    }
}
