//! Training steps of recurrent layers by gradient descent. burn's own layers have two biases per gate or none, and an
//! LSTM of the other libraries has one, so the cells are written here.

use burn::module::{Module, Param};
use burn::nn::loss::{MseLoss, Reduction};
use burn::optim::{GradientsParams, ModuleOptimizer, SgdConfig};
use burn::tensor::activation::{sigmoid, tanh};
use burn::tensor::{Device, Tensor};

use crate::inputs::numbers;
use crate::serve::Model;
use crate::{norm, parameter, recorded, tensor};

#[derive(Module, Debug)]
struct Cell {
    w: Param<Tensor<2>>,
    u: Param<Tensor<2>>,
    b: Param<Tensor<1>>,
    /// The bias of the product with the state, which only a GRU has.
    d: Option<Param<Tensor<1>>>,
}

impl Cell {
    fn new(gates: usize, device: &Device) -> Self {
        Self {
            w: parameter("w", 0, [64, gates], device),
            u: parameter("u", 1, [128, gates], device),
            b: parameter("b", 2, [gates], device),
            d: None,
        }
    }

    /// The states after all steps.
    fn lstm(&self, xs: Tensor<3>) -> Tensor<3> {
        let (steps, mut h, mut c) = self.start(xs);
        let mut states = Vec::new();
        for x in steps {
            let gates = x + h.matmul(self.u.val());
            let [i, f, g, o] = quarters(gates);
            c = sigmoid(f) * c + sigmoid(i) * tanh(g);
            h = sigmoid(o) * tanh(c.clone());
            states.push(h.clone());
        }
        Tensor::stack(states, 0)
    }

    fn gru(&self, xs: Tensor<3>) -> Tensor<3> {
        let (steps, mut h, _) = self.start(xs);
        let mut states = Vec::new();
        for x in steps {
            let y = h.clone().matmul(self.u.val());
            let y = self.d.iter().fold(y, |y, d| y + d.val().unsqueeze());
            let ([xr, xz, xn], [yr, yz, yn]) = (thirds(x), thirds(y));
            let (r, z) = (sigmoid(xr + yr), sigmoid(xz + yz));
            let n = tanh(xn + r * yn);
            h = (z.clone().neg() + 1.0) * n + z * h;
            states.push(h.clone());
        }
        Tensor::stack(states, 0)
    }

    /// The products of all inputs, and states of zeros.
    fn start(&self, xs: Tensor<3>) -> (Vec<Tensor<2>>, Tensor<2>, Tensor<2>) {
        let [steps, batch, _] = xs.dims();
        let zeros = Tensor::zeros([batch, 128], &xs.device());
        let xs = xs.matmul(self.w.val().unsqueeze()) + self.b.val().unsqueeze();
        let steps = (0..steps).map(|step| xs.clone().narrow(0, step, 1).squeeze_dim(0)).collect();
        (steps, zeros.clone(), zeros)
    }
}

fn quarters(x: Tensor<2>) -> [Tensor<2>; 4] {
    std::array::from_fn(|part| x.clone().narrow(1, part * 128, 128))
}

fn thirds(x: Tensor<2>) -> [Tensor<2>; 3] {
    std::array::from_fn(|part| x.clone().narrow(1, part * 128, 128))
}

pub struct Training {
    xs: Tensor<3>,
    ys: Tensor<3>,
    cell: Cell,
    states: fn(&Cell, Tensor<3>) -> Tensor<3>,
    optimiser: ModuleOptimizer,
}

impl Training {
    pub fn lstm() -> Self {
        Self::new(Cell::new(512, &recorded()), Cell::lstm)
    }

    pub fn gru() -> Self {
        let device = recorded();
        let cell = Cell { d: Some(parameter("d", 3, [384], &device)), ..Cell::new(384, &device) };
        Self::new(cell, Cell::gru)
    }

    fn new(cell: Cell, states: fn(&Cell, Tensor<3>) -> Tensor<3>) -> Self {
        let device = recorded();
        Self {
            xs: tensor(numbers(2000, 128 * 32 * 64, 1.0), [128, 32, 64], &device),
            ys: tensor(numbers(2001, 128 * 32 * 128, 0.5), [128, 32, 128], &device),
            cell,
            states,
            optimiser: SgdConfig::new().init(),
        }
    }
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let states = (self.states)(&self.cell, self.xs.clone());
        let loss = MseLoss::new().forward(states, self.ys.clone(), Reduction::Mean);
        let gradients = GradientsParams::from_grads(loss.backward(), &self.cell);
        self.cell = self.optimiser.step(30.0, self.cell.clone(), gradients);
        loss.into_scalar()
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.cell)]
    }
}
