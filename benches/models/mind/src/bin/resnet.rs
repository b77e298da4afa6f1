//! A training step of a residual network of three blocks with batch norm: 16 pictures of 32×32 pixels and 3 channels.

use std::io;

use mind::{Const, Error, Tensor, mind};
use models::fill;
use models::inputs::{integers, numbers};
use models::serve::{Model, serve};

mind! {
    const RATE: float = 0.02;

    /// A block that keeps the extents.
    #[derive(Clone)]
    struct Block<C> {
        f1: f32[3, 3, C, C], scale1: f32[C], bias1: f32[C],
        f2: f32[3, 3, C, C], scale2: f32[C], bias2: f32[C],
    }

    /// A block that halves the height and the width. `f3` is the filter beside its two convolutions.
    #[derive(Clone)]
    struct Wider<I, O> {
        f1: f32[3, 3, I, O], scale1: f32[O], bias1: f32[O],
        f2: f32[3, 3, O, O], scale2: f32[O], bias2: f32[O],
        f3: f32[1, 1, I, O], scale3: f32[O], bias3: f32[O],
    }

    #[derive(Clone)]
    struct Network {
        f: f32[3, 3, 3, 16], scale: f32[16], bias: f32[16],
        first: Block<16>, second: Wider<16, 32>, third: Wider<32, 64>,
        w: f32[64, 10], b: f32[10],
    }

    fn norm<C>(x: f32[.., C], scale: f32[C], bias: f32[C]) {
        let (y, _, _) = nn::batch_norm(x, scale, bias);
        y
    }

    fn conv<I, O>(x: f32[.., I], f: f32[3, 3, I, O], const stride: int) {
        conv2d(x, f, strides = [stride, stride], padding = [[1, 1], [1, 1]])
    }

    fn block<C>(x: f32[.., C], p) {
        let h = relu(norm(conv(x, p.f1, stride = 1), p.scale1, p.bias1));
        relu(x + norm(conv(h, p.f2, stride = 1), p.scale2, p.bias2))
    }

    fn wider<I>(x: f32[.., I], p) {
        let h = relu(norm(conv(x, p.f1, stride = 2), p.scale1, p.bias1));
        let beside = norm(conv2d(x, p.f3, strides = [2, 2]), p.scale3, p.bias3);
        relu(beside + norm(conv(h, p.f2, stride = 1), p.scale2, p.bias2))
    }

    fn loss<N>(x: f32[N, 32, 32, 3], y: i64[N], net: Network) -> f32 {
        let h = relu(norm(conv(x, net.f, stride = 1), net.scale, net.bias));
        let h = wider(wider(block(h, net.first), net.second), net.third);
        nn::cross_entropy(nn::dense(mean(h, axes = [1, 2]), net.w, net.b), y)
    }

    /// One step of gradient descent, in place; returns the loss before it.
    fn step<N>(x: f32[N, 32, 32, 3], y: i64[N], net: &mut Network) -> f32 {
        let (l, gradient) = value_and_grad(loss, wrt = net)(x, y, net);
        net = optim::sgd(net, gradient, RATE);
        l
    }
}

/// The number of batches, which are used in turn, and the number of pictures in each.
const BATCHES: u32 = 16;
const COUNT: usize = 16;

type Pictures = Tensor![f32; ?, 32, 32, 3];
type Labels = Tensor![i64; ?];

struct Training {
    batches: Vec<(Pictures, Labels)>,
    net: Network,
    number: usize,
}

impl Training {
    fn new() -> Result<Self, Error> {
        let batches: Result<_, _> = (0..BATCHES).map(batch).collect();
        Ok(Self { batches: batches?, net: fill(Network::zeros()), number: 0 })
    }
}

fn batch(number: u32) -> Result<(Pictures, Labels), Error> {
    let pixels = numbers(8000 + number, COUNT * 32 * 32 * 3, 1.0);
    let labels = integers(9000 + number, COUNT, 10);
    let y = Tensor::from_fn_with((COUNT,), |[at]| i64::from(labels[at]));
    Ok((Tensor::from_vec((COUNT, Const, Const, Const), pixels)?, y))
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let (x, y) = &self.batches[self.number % self.batches.len()];
        self.number += 1;
        step(x, y, &mut self.net)
    }

    fn values(&self) -> Vec<f32> {
        vec![models::norm(&self.net)]
    }
}

fn main() -> io::Result<()> {
    serve(Training::new().map_err(io::Error::other)?)
}
