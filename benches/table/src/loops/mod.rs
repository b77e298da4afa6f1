//! The cases by the gemm crate with loops by hand around it. Buffers are kept between calls, the exponential
//! vectorises, and long loops use rayon. The programs leave out the allocations and checks of the others, so they are a
//! lower bound rather than code that users write.

mod convolution;
mod elements;
mod network;
mod rows;

use gemm::Parallelism;
use peers::program::program;
use peers::{Case, Program};

/// The program of a case, if the table has one.
pub fn prepare(case: &Case) -> Option<Box<dyn Program>> {
    let prepared = match (case.workload.as_str(), case.extents.as_slice()) {
        ("null", _) => program(
            (case.input("x", 1), vec![0.0]),
            |(x, out)| out[0] = x[0] + 1.0,
            |(_, out), ()| vec![("out", out.clone())],
        ),
        ("layer", &[b, i, o]) => network::layer(case, [b, i, o]),
        ("mlp_fwd" | "mlp_grad" | "mlp_step", &[b, i, h, o]) => network::prepare(case, [b, i, h, o]),
        ("chain" | "chain_grad", &[n]) => elements::prepare(case, n),
        ("softmax_xent", &[b, c]) => rows::entropy(case, b, c),
        ("layernorm", &[n, m]) => rows::normalise(case, n, m),
        ("layernorm_grad", &[n, m]) => rows::normalise_pullback(case, n, m),
        ("conv_fwd", &[b, h, w, i, o, k]) => convolution::forward(case, [b, h, w, i, o, k]),
        ("conv_grad", &[b, h, w, i, o, k]) => convolution::pullback(case, [b, h, w, i, o, k]),
        _ => return None,
    };
    Some(prepared)
}

/// A matrix in row-major order, used as it is or transposed.
#[derive(Clone, Copy)]
enum Operand<'a> {
    Plain(&'a [f32]),
    Transposed(&'a [f32]),
}

use Operand::{Plain, Transposed};

impl<'a> Operand<'a> {
    fn elements(self) -> &'a [f32] {
        match self {
            Plain(elements) | Transposed(elements) => elements,
        }
    }

    /// The row and column strides of the operand, which has these extents after the transpose.
    fn strides(self, rows: usize, columns: usize) -> (isize, isize) {
        match self {
            Plain(_) => (columns as isize, 1),
            Transposed(_) => (1, rows as isize),
        }
    }
}

/// Whether a product replaces its destination or adds to it.
#[derive(Clone, Copy, PartialEq)]
enum Store {
    Overwrite,
    Add,
}

/// `to = a @ b`, or `to += a @ b`, where `a` is `m` by `k` and `b` is `k` by `n`.
fn product(to: &mut [f32], store: Store, a: Operand<'_>, b: Operand<'_>, [m, k, n]: [usize; 3]) {
    assert!(to.len() == m * n && a.elements().len() == m * k && b.elements().len() == k * n);
    let ((a_row, a_column), (b_row, b_column)) = (a.strides(m, k), b.strides(k, n));
    let parallelism = match rayon::current_num_threads() {
        1 => Parallelism::None,
        threads => Parallelism::Rayon(threads),
    };
    // SAFETY: the assertion checks the lengths against the extents, so indices with these strides stay below them.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            to.as_mut_ptr(),
            1,
            n as isize,
            store == Store::Add,
            a.elements().as_ptr(),
            a_column,
            a_row,
            b.elements().as_ptr(),
            b_column,
            b_row,
            1.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}

/// The number of elements that each thread gets of a loop of `len`, in whole rows. Short loops are not split.
fn share(len: usize, row: usize) -> usize {
    match len {
        0..50_000 => len,
        _ => (len / row).div_ceil(rayon::current_num_threads()) * row,
    }
}

/// Cephes' `expf` without branches: `2^n * p(r)`.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Adding this to a small number rounds it to an integer in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 0.166_666_65;
    let p = p * r + 0.5;
    (p * r * r + r + 1.0) * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

/// The sum of `f` over pairs of elements, in enough partial sums to hide the latency of an addition.
#[inline(always)]
fn sum_of(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    const LANES: usize = 32;
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += f(a[lane], b[lane]);
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(&a, &b)| f(a, b)).sum::<f32>()
}
