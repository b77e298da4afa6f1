//! A dense layer, and a network of two layers with its gradient and a training step.

use peers::program::program;
use peers::{Case, Outputs, Program};

use super::{Plain, Store, Transposed, product};

const RATE: f32 = 0.01;

pub fn layer(case: &Case, [b, i, o]: [usize; 3]) -> Box<dyn Program> {
    let inputs = (case.input("x", b * i), case.input("w", i * o), case.input("b", o), vec![0.0; b * o]);
    program(
        inputs,
        move |(x, w, bias, out)| {
            product(out, Store::Overwrite, Plain(x), Plain(w), [b, i, o]);
            add_bias_and_relu(out, bias);
        },
        |(.., out), ()| vec![("out", out.clone())],
    )
}

pub fn prepare(case: &Case, extents: [usize; 4]) -> Box<dyn Program> {
    let [b, i, _, o] = extents;
    let state = (case.input("x", b * i), Network::new(case, extents));
    if case.workload == "mlp_fwd" {
        return program(state, |(x, net)| net.forward(x), |(_, net), ()| vec![("out", net.out.clone())]);
    }
    let state = (state.0, case.input("y", b * o), state.1);
    if case.workload == "mlp_grad" {
        program(
            state,
            |(x, y, net)| net.gradient(x, y),
            |(_, _, net), loss| outputs(loss, ["gw1", "gb1", "gw2", "gb2"], &net.gradients),
        )
    } else {
        program(
            state,
            |(x, y, net)| net.step(x, y),
            |(_, _, net), loss| outputs(loss, ["new_w1", "new_b1", "new_w2", "new_b2"], &net.parameters),
        )
    }
}

fn outputs(loss: f32, names: [&'static str; 4], values: &[Vec<f32>; 4]) -> Outputs {
    std::iter::once(("loss", vec![loss])).chain(names.into_iter().zip(values.iter().cloned())).collect()
}

struct Network {
    extents: [usize; 4],
    /// Weights and bias of the hidden layer, then of the last layer.
    parameters: [Vec<f32>; 4],
    gradients: [Vec<f32>; 4],
    hidden: Vec<f32>,
    hidden_gradient: Vec<f32>,
    out: Vec<f32>,
}

impl Network {
    fn new(case: &Case, extents: [usize; 4]) -> Self {
        let [b, i, h, o] = extents;
        let parameters =
            [("w1", i * h), ("b1", h), ("w2", h * o), ("b2", o)].map(|(name, len)| case.input(name, len));
        let gradients = parameters.clone();
        let (hidden, out) = (vec![0.0; b * h], vec![0.0; b * o]);
        Self { extents, parameters, gradients, hidden_gradient: hidden.clone(), hidden, out }
    }

    fn forward(&mut self, x: &[f32]) {
        let [b, i, h, o] = self.extents;
        let [w1, b1, w2, b2] = &self.parameters;
        product(&mut self.hidden, Store::Overwrite, Plain(x), Plain(w1), [b, i, h]);
        add_bias_and_relu(&mut self.hidden, b1);
        for row in self.out.chunks_exact_mut(o) {
            row.copy_from_slice(b2);
        }
        product(&mut self.out, Store::Add, Plain(&self.hidden), Plain(w2), [b, h, o]);
    }

    fn gradient(&mut self, x: &[f32], y: &[f32]) -> f32 {
        self.forward(x);
        let [b, i, h, o] = self.extents;
        let (mut loss, n) = (0.0, (b * o) as f32);
        for (e, y) in self.out.iter_mut().zip(y) {
            let difference = *e - y;
            loss += difference * difference;
            *e = difference * (2.0 / n);
        }
        let [gw1, gb1, gw2, gb2] = &mut self.gradients;
        product(
            &mut self.hidden_gradient,
            Store::Overwrite,
            Plain(&self.out),
            Transposed(&self.parameters[2]),
            [b, o, h],
        );
        gb1.fill(0.0);
        for (g, z) in self.hidden_gradient.chunks_exact_mut(h).zip(self.hidden.chunks_exact(h)) {
            for ((g, z), sum) in g.iter_mut().zip(z).zip(gb1.iter_mut()) {
                *g = if *z > 0.0 { *g } else { 0.0 };
                *sum += *g;
            }
        }
        product(gw1, Store::Overwrite, Transposed(x), Plain(&self.hidden_gradient), [i, b, h]);
        product(gw2, Store::Overwrite, Transposed(&self.hidden), Plain(&self.out), [h, b, o]);
        gb2.fill(0.0);
        for row in self.out.chunks_exact(o) {
            for (sum, g) in gb2.iter_mut().zip(row) {
                *sum += g;
            }
        }
        loss / n
    }

    fn step(&mut self, x: &[f32], y: &[f32]) -> f32 {
        let loss = self.gradient(x, y);
        for (parameters, gradients) in self.parameters.iter_mut().zip(&self.gradients) {
            for (parameter, gradient) in parameters.iter_mut().zip(gradients) {
                *parameter -= RATE * gradient;
            }
        }
        loss
    }
}

fn add_bias_and_relu(z: &mut [f32], bias: &[f32]) {
    for row in z.chunks_exact_mut(bias.len()) {
        for (z, bias) in row.iter_mut().zip(bias) {
            *z = (*z + bias).max(0.0);
        }
    }
}
