//! A training step of a GRU of 128 states over 128 steps of 64 features, batch 32: gradient descent.

use std::io;

use mind::{Const, Error, Tensor, mind};
use models::inputs::numbers;
use models::serve::{Model, serve};
use models::{fill, norm};

mind! {
    const RATE: float = 30.0;

    #[derive(Clone)]
    struct Cell { w: f32[64, 384], u: f32[128, 384], b: f32[384], d: f32[384] }

    /// The mean squared error of the states of all steps.
    fn loss<T, B>(xs: f32[T, B, 64], ys: f32[T, B, 128], cell: Cell) -> f32 {
        let rest: f32[B, 128] = zeros([B, 128]);
        let (_, hs) = scan h = rest for x in xs {
            let h = nn::gru_cell(x, h, cell.w, cell.u, cell.b, cell.d);
            (h, h)
        };
        nn::mse(hs, ys)
    }

    /// One step of gradient descent, in place; returns the loss before it.
    fn step<T, B>(xs: f32[T, B, 64], ys: f32[T, B, 128], cell: &mut Cell) -> f32 {
        let (l, g) = value_and_grad(loss, wrt = cell)(xs, ys, cell);
        cell -= RATE * g;
        l
    }
}

struct Training {
    xs: Tensor![f32; ?, ?, 64],
    ys: Tensor![f32; ?, ?, 128],
    cell: Cell,
}

impl Training {
    fn new() -> Result<Self, Error> {
        Ok(Self {
            xs: Tensor::from_vec((128, 32, Const), numbers(2000, 128 * 32 * 64, 1.0))?,
            ys: Tensor::from_vec((128, 32, Const), numbers(2001, 128 * 32 * 128, 0.5))?,
            cell: fill(Cell::zeros()),
        })
    }
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        step(&self.xs, &self.ys, &mut self.cell)
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.cell)]
    }
}

fn main() -> io::Result<()> {
    serve(Training::new().map_err(io::Error::other)?)
}
