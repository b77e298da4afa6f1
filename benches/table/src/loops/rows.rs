//! The cross-entropy of a softmax, and normalisation. Each row is finished while it is in the cache.

use peers::program::program;
use peers::{Case, Program};
use rayon::prelude::*;

use super::{exp, share, sum_of};

const EPSILON: f32 = 1e-5;

pub fn entropy(case: &Case, b: usize, c: usize) -> Box<dyn Program> {
    let (scale, share) = (1.0 / b as f32, share(b * c, c));
    let rows = move |((z, t), g): ((&[f32], &[f32]), &mut [f32])| -> f32 {
        let rows = z.chunks_exact(c).zip(t.chunks_exact(c)).zip(g.chunks_exact_mut(c));
        rows.map(|((z, t), g)| entropy_row(z, t, g, scale)).sum()
    };
    program(
        (case.input("z", b * c), case.input("t", b * c), vec![0.0; b * c]),
        move |(z, t, g)| {
            if share == z.len() {
                return rows(((z, t), g)) * scale;
            }
            let shares = z.par_chunks(share).zip(t.par_chunks(share)).zip(g.par_chunks_mut(share));
            shares.map(rows).sum::<f32>() * scale
        },
        |(.., g), loss| vec![("loss", vec![loss]), ("gz", g.clone())],
    )
}

/// Returns the loss of a row and writes its gradient to `g`.
fn entropy_row(z: &[f32], t: &[f32], g: &mut [f32], scale: f32) -> f32 {
    let top = largest(z);
    for (g, z) in g.iter_mut().zip(z) {
        *g = exp(z - top);
    }
    let sum = sum_of(g, g, |g, _| g);
    let hit = sum_of(z, t, |z, t| t * (z - top));
    let inverse = 1.0 / sum;
    for (g, t) in g.iter_mut().zip(t) {
        *g = (*g * inverse - t) * scale;
    }
    sum.ln() - hit
}

fn largest(elements: &[f32]) -> f32 {
    const LANES: usize = 32;
    let (chunks, rest) = elements.as_chunks::<LANES>();
    let mut largest = [f32::MIN; LANES];
    for chunk in chunks {
        for (largest, &element) in largest.iter_mut().zip(chunk) {
            *largest = if element > *largest { element } else { *largest };
        }
    }
    largest.iter().chain(rest).fold(f32::MIN, |largest, &element| largest.max(element))
}

pub fn normalise(case: &Case, n: usize, m: usize) -> Box<dyn Program> {
    let share = share(n * m, m);
    let rows = move |(x, out): (&[f32], &mut [f32])| {
        for (x, out) in x.chunks_exact(m).zip(out.chunks_exact_mut(m)) {
            normalise_row(x, out);
        }
    };
    program(
        (case.input("x", n * m), vec![0.0; n * m]),
        move |(x, out)| {
            if share == x.len() {
                return rows((x, out));
            }
            x.par_chunks(share).zip(out.par_chunks_mut(share)).for_each(rows);
        },
        |(_, out), ()| vec![("out", out.clone())],
    )
}

pub fn normalise_pullback(case: &Case, n: usize, m: usize) -> Box<dyn Program> {
    let share = share(n * m, m);
    let rows = move |((x, g), gx): ((&[f32], &[f32]), &mut [f32])| {
        for ((x, g), gx) in x.chunks_exact(m).zip(g.chunks_exact(m)).zip(gx.chunks_exact_mut(m)) {
            let inverse = normalise_row(x, gx);
            let mean = sum_of(g, g, |g, _| g) / m as f32;
            let along = sum_of(g, gx, |g, y| g * y) / m as f32;
            for (gx, g) in gx.iter_mut().zip(g) {
                *gx = inverse * (g - mean - *gx * along);
            }
        }
    };
    program(
        (case.input("x", n * m), case.input("g", n * m), vec![0.0; n * m]),
        move |(x, g, gx)| {
            if share == x.len() {
                return rows(((x, g), gx));
            }
            x.par_chunks(share).zip(g.par_chunks(share)).zip(gx.par_chunks_mut(share)).for_each(rows);
        },
        |(.., gx), ()| vec![("gx", gx.clone())],
    )
}

/// Writes the normalised row to `out` and returns the inverse of its standard deviation.
fn normalise_row(x: &[f32], out: &mut [f32]) -> f32 {
    let n = x.len() as f32;
    let mean = sum_of(x, x, |x, _| x) / n;
    let variance = sum_of(x, x, |x, _| (x - mean) * (x - mean)) / n;
    let inverse = 1.0 / (variance + EPSILON).sqrt();
    for (out, x) in out.iter_mut().zip(x) {
        *out = (x - mean) * inverse;
    }
    inverse
}
