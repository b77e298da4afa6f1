//! The chain of elementwise operations under a mean, and its gradient.

use peers::program::program;
use peers::{Case, Program};
use rayon::prelude::*;

use super::{exp, share, sum_of};

pub fn prepare(case: &Case, n: usize) -> Box<dyn Program> {
    let (x, y) = (case.input("x", n), case.input("y", n));
    if case.workload == "chain" {
        return program((x, y), |(x, y)| chain(x, y), |_, out| vec![("out", vec![out])]);
    }
    let gradients = (x.clone(), y.clone());
    program(
        (x, y, gradients),
        |(x, y, (gx, gy))| gradient(x, y, gx, gy),
        |(.., (gx, gy)), out| vec![("out", vec![out]), ("gx", gx.clone()), ("gy", gy.clone())],
    )
}

fn chain(x: &[f32], y: &[f32]) -> f32 {
    let sum = |(x, y)| sum_of(x, y, |x, y| exp(-(x * y + x)) * x - y * y);
    let share = share(x.len(), 1);
    let sum: f32 = if share == x.len() {
        sum((x, y))
    } else {
        x.par_chunks(share).zip(y.par_chunks(share)).map(sum).sum()
    };
    sum / x.len() as f32
}

fn gradient(x: &[f32], y: &[f32], gx: &mut [f32], gy: &mut [f32]) -> f32 {
    let (share, scale) = (share(x.len(), 1), 1.0 / x.len() as f32);
    if share == x.len() {
        return part(x, y, gx, gy, scale) * scale;
    }
    let inputs = x.par_chunks(share).zip(y.par_chunks(share));
    let outputs = gx.par_chunks_mut(share).zip(gy.par_chunks_mut(share));
    inputs.zip(outputs).map(|((x, y), (gx, gy))| part(x, y, gx, gy, scale)).sum::<f32>() * scale
}

/// Computes the gradients and the sum of a part, in blocks that stay in the first-level cache.
fn part(x: &[f32], y: &[f32], gx: &mut [f32], gy: &mut [f32], scale: f32) -> f32 {
    const BLOCK: usize = 1024;
    let (inputs, outputs) =
        (x.chunks(BLOCK).zip(y.chunks(BLOCK)), gx.chunks_mut(BLOCK).zip(gy.chunks_mut(BLOCK)));
    let mut sum = 0.0;
    for ((x, y), (gx, gy)) in inputs.zip(outputs) {
        for ((x, y), t) in x.iter().zip(y).zip(gx.iter_mut()) {
            *t = exp(-(x * y + x));
        }
        sum += sum_of(x, gx, |x, t| t * x) - sum_of(y, y, |y, _| y * y);
        for ((x, y), (gx, gy)) in x.iter().zip(y).zip(gx.iter_mut().zip(gy)) {
            let t = *gx;
            *gx = (t - t * x * (y + 1.0)) * scale;
            *gy = (-t * x * x - 2.0 * y) * scale;
        }
    }
    sum
}
