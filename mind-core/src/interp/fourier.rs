//! Evaluates Fourier transforms in `f64`, one row after the other.

use std::f64::consts::TAU;

use super::{Array, Element, Elements, evaluate::Concrete, with_float};
use crate::ir::Fourier;

/// The real and the imaginary part of a number.
type Pair = [f64; 2];

/// Evaluates a transform. Each element is rounded once to the element type of the result.
pub(super) fn evaluate(fourier: &Fourier, x: &Array, to: &Concrete<'_>) -> Array {
    let last = |shape: &[usize]| *shape.last().expect("it has rows");
    let numbers: Vec<f64> =
        (0..x.shape.iter().product()).map(|at| Elements::float(&x.elements, at)).collect();
    let pairs = numbers.as_chunks::<2>().0;
    let results: Vec<f64> = match fourier {
        Fourier::Fft { inverse } => {
            let n = x.shape[x.shape.len() - 2];
            let sign = if *inverse { 1.0 } else { -1.0 };
            pairs.chunks_exact(n).flat_map(|row| transform(row, sign)).flatten().collect()
        }
        Fourier::RealFft => {
            let rows = numbers.chunks_exact(last(&x.shape));
            let half = |row: &[f64]| {
                let row: Vec<Pair> = row.iter().map(|x| [*x, 0.0]).collect();
                transform(&row, -1.0).into_iter().take(row.len() / 2 + 1)
            };
            rows.flat_map(half).flatten().collect()
        }
        Fourier::RealFftGrad { .. } => {
            let n = last(to.shape);
            let rows = pairs.chunks_exact(n / 2 + 1);
            let real = |row: &[Pair]| {
                let zeros = std::iter::repeat([0.0; 2]);
                let whole: Vec<Pair> = row.iter().copied().chain(zeros).take(n).collect();
                transform(&whole, 1.0).into_iter().map(|[re, _]| re)
            };
            rows.flat_map(real).collect()
        }
    };
    with_float!(to.dtype, T => Array::new(to.shape, T::wrap(results.into_iter().map(|x| x as T).collect())))
}

/// The sum of `x[j] * exp(sign * i * 2π * j * k / n)` for each `k`. The sums over each residue of `j` by the least factor
/// of the length are transforms themselves, whose results repeat.
fn transform(x: &[Pair], sign: f64) -> Vec<Pair> {
    let n = x.len();
    let factor = (2..=n).find(|factor| n.is_multiple_of(*factor)).unwrap_or(1);
    let parts: Vec<Vec<Pair>> = if factor == n {
        x.iter().map(|x| vec![*x]).collect()
    } else {
        let part = |residue| x.iter().copied().skip(residue).step_by(factor).collect::<Vec<_>>();
        (0..factor).map(|residue| transform(&part(residue), sign)).collect()
    };
    let roots: Vec<(f64, f64)> = (0..n).map(|at| (sign * TAU * at as f64 / n as f64).sin_cos()).collect();
    let sum = |k| {
        parts.iter().enumerate().fold([0.0; 2], |[re, im], (residue, part)| {
            let ((sin, cos), [a, b]) = (roots[residue * k % n], part[k % part.len()]);
            [re + a * cos - b * sin, im + a * sin + b * cos]
        })
    };
    (0..n).map(sum).collect()
}
