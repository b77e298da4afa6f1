//! Logistic regression of 1,000 examples with 64 features by gradient descent, 100 steps per call.

use std::io;

use mind::{Error, Tensor, mind};
use models::inputs::{integers, numbers};
use models::serve::{Model, serve};
use models::{fill, norm};

mind! {
    const RATE: float = 0.1;

    #[derive(Clone)]
    struct Line { w: f32[64], b: f32 }

    fn loss<N>(x: f32[N, 64], y: f32[N], line: Line) -> f32 { nn::bce_with_logits(x @ line.w + line.b, y) }

    /// A hundred steps of gradient descent, in place; returns the loss before the last.
    fn descend<N>(x: f32[N, 64], y: f32[N], line: &mut Line) -> f32 {
        let (new, last) = fold (line, _l) = (line, 0.0) for _i in 0..100 {
            let (l, g) = value_and_grad(loss, wrt = line)(x, y, line);
            (line - RATE * g, l)
        };
        line = new;
        last
    }
}

struct Training {
    x: Tensor![f32; ?, 64],
    y: Tensor![f32; ?],
    line: Line,
}

impl Training {
    fn new() -> Result<Self, Error> {
        let labels = integers(2001, 1000, 2);
        Ok(Self {
            x: Tensor::from_vec((1000, mind::Const), numbers(2000, 64_000, 1.0))?,
            y: Tensor::from_fn_with((1000,), |[at]| labels[at] as f32),
            line: fill(Line::zeros()),
        })
    }
}

impl Model for Training {
    const STEPS: u32 = 100;

    fn call(&mut self) -> f32 {
        descend(&self.x, &self.y, &mut self.line)
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.line)]
    }
}

fn main() -> io::Result<()> {
    serve(Training::new().map_err(io::Error::other)?)
}
