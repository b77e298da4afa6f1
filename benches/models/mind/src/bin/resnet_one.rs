//! The network of `resnet` reads one picture of 32×32 pixels and 3 channels. Batch norm has given moments.

use std::io;

use mind::{Const, Error, Tensor, mind};
use models::fill;
use models::inputs::numbers;
use models::serve::{Model, serve};

mind! {
    const EPS: float = 1e-5;

    struct Norm<C> { scale: f32[C], bias: f32[C], center: f32[C], variance: f32[C] }

    /// A block that keeps the extents.
    struct Block<C> { f1: f32[3, 3, C, C], norm1: Norm<C>, f2: f32[3, 3, C, C], norm2: Norm<C> }

    /// A block that halves the height and the width. `f3` is the filter beside its two convolutions.
    struct Wider<I, O> {
        f1: f32[3, 3, I, O], norm1: Norm<O>,
        f2: f32[3, 3, O, O], norm2: Norm<O>,
        f3: f32[1, 1, I, O], norm3: Norm<O>,
    }

    struct Network {
        f: f32[3, 3, 3, 16], norm: Norm<16>,
        first: Block<16>, second: Wider<16, 32>, third: Wider<32, 64>,
        w: f32[64, 10], b: f32[10],
    }

    fn normal<C>(x: f32[.., C], p) {
        nn::batch_norm_by(x, p.center, p.variance, p.scale, p.bias, eps = EPS)
    }

    fn conv<I, O>(x: f32[.., I], f: f32[3, 3, I, O], const stride: int) {
        conv2d(x, f, strides = [stride, stride], padding = [[1, 1], [1, 1]])
    }

    fn block<C>(x: f32[.., C], p) {
        let h = relu(normal(conv(x, p.f1, stride = 1), p.norm1));
        relu(x + normal(conv(h, p.f2, stride = 1), p.norm2))
    }

    fn wider<I>(x: f32[.., I], p) {
        let h = relu(normal(conv(x, p.f1, stride = 2), p.norm1));
        let beside = normal(conv2d(x, p.f3, strides = [2, 2]), p.norm3);
        relu(beside + normal(conv(h, p.f2, stride = 1), p.norm2))
    }

    fn scores<N>(x: f32[N, 32, 32, 3], net: Network) -> f32[N, 10] {
        let h = relu(normal(conv(x, net.f, stride = 1), net.norm));
        let h = wider(wider(block(h, net.first), net.second), net.third);
        nn::dense(mean(h, axes = [1, 2]), net.w, net.b)
    }
}

struct Reading {
    picture: Tensor![f32; ?, 32, 32, 3],
    net: Network,
    scores: Vec<f32>,
}

impl Reading {
    fn new() -> Result<Self, Error> {
        let picture = Tensor::from_vec((1, Const, Const, Const), numbers(8000, 32 * 32 * 3, 1.0))?;
        Ok(Self { picture, net: fill(Network::zeros()), scores: Vec::new() })
    }
}

impl Model for Reading {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let found = scores(&self.picture, &self.net);
        self.scores.clear();
        self.scores.extend(found.as_slice());
        self.scores[0]
    }

    fn values(&self) -> Vec<f32> {
        self.scores.clone()
    }
}

fn main() -> io::Result<()> {
    serve(Reading::new().map_err(io::Error::other)?)
}
