//! The implementations of matrix products that are compared.
//!
//! The other crates take pointers and strides, and have no safe function that multiplies slices, so this uses `unsafe`.
//! All extents and strides come from [`Layout`], from which [`Case::new`] also allocates the operands.

use std::fmt;
use std::hint::black_box;

use gemm::Parallelism;
use mind_rt::private::Arithmetic;
use mind_rt::private::{MatRef, matmul_into, matmul_scratch};

use crate::clock::Clock;

/// The extents of a product and the layout of its operands. The result is row-major.
#[derive(Clone, Copy)]
pub struct Layout {
    pub m: usize,
    pub k: usize,
    pub n: usize,
    pub lhs_transposed: bool,
    pub rhs_transposed: bool,
}

impl Layout {
    pub fn flops(&self) -> f64 {
        2.0 * self.m as f64 * self.k as f64 * self.n as f64
    }

    /// Whether the product is compared with the processor's peak.
    pub fn is_large(&self) -> bool {
        self.m.min(self.k).min(self.n) >= 255
    }

    fn lhs_strides(&self) -> [usize; 2] {
        if self.lhs_transposed { [1, self.m] } else { [self.k, 1] }
    }

    fn rhs_strides(&self) -> [usize; 2] {
        if self.rhs_transposed { [1, self.k] } else { [self.n, 1] }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |transposed| if transposed { 't' } else { 'n' };
        let (lhs, rhs) = (letter(self.lhs_transposed), letter(self.rhs_transposed));
        write!(f, "{}x{}x{} {lhs}{rhs}", self.m, self.k, self.n)
    }
}

#[derive(Clone, Copy)]
pub enum Contender {
    Ours,
    Gemm,
    MatrixMultiply,
}

impl Contender {
    pub const ALL: [Self; 3] = [Self::Ours, Self::Gemm, Self::MatrixMultiply];
}

pub trait Scalar: Arithmetic + 'static {
    const NAME: &'static str;

    fn from_f64(x: f64) -> Self;

    fn to_f64(self) -> f64;

    /// # Safety
    /// The slices have as many elements as the layout requires.
    unsafe fn matrixmultiply(layout: &Layout, lhs: &[Self], rhs: &[Self], out: &mut [Self]);
}

macro_rules! scalar {
    ($ty:ident, $function:path) => {
        impl Scalar for $ty {
            const NAME: &'static str = stringify!($ty);

            fn from_f64(x: f64) -> Self {
                x as Self
            }

            fn to_f64(self) -> f64 {
                self.into()
            }

            unsafe fn matrixmultiply(layout: &Layout, lhs: &[Self], rhs: &[Self], out: &mut [Self]) {
                let ([lhs_row, lhs_col], [rhs_row, rhs_col]) = (layout.lhs_strides(), layout.rhs_strides());
                // SAFETY: the caller ensures the lengths. The result is row-major, and it overlaps neither operand.
                unsafe {
                    $function(
                        layout.m,
                        layout.k,
                        layout.n,
                        1.0,
                        lhs.as_ptr(),
                        lhs_row as isize,
                        lhs_col as isize,
                        rhs.as_ptr(),
                        rhs_row as isize,
                        rhs_col as isize,
                        0.0,
                        out.as_mut_ptr(),
                        layout.n as isize,
                        1,
                    )
                }
            }
        }
    };
}

scalar!(f32, matrixmultiply::sgemm);
scalar!(f64, matrixmultiply::dgemm);

/// The operands, and one result per contender.
pub struct Case<T> {
    layout: Layout,
    threads: usize,
    lhs: Vec<T>,
    rhs: Vec<T>,
    scratch: Vec<T>,
    out: [Vec<T>; 3],
}

impl<T: Scalar> Case<T> {
    pub fn new(layout: Layout, threads: usize) -> Self {
        let Layout { m, k, n, .. } = layout;
        let fill = |len: usize, seed: u64| {
            let mut state = seed;
            let element = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                T::from_f64((state >> 40) as f64 / (1u64 << 24) as f64 - 0.5)
            };
            (0..len).map(element).collect::<Vec<T>>()
        };
        Self {
            layout,
            threads,
            lhs: fill(m * k, 1),
            rhs: fill(k * n, 2),
            scratch: vec![T::from_f64(f64::NAN); matmul_scratch::<T>(m, k, n, layout.lhs_strides()[1])],
            out: std::array::from_fn(|_| vec![T::from_f64(f64::NAN); m * n]),
        }
    }

    /// The number of products in one measurement. It is long enough for the clock.
    pub fn rounds(&mut self, contender: Contender) -> u32 {
        self.multiply(contender);
        let mut rounds = 1;
        while self.time(contender, rounds) * f64::from(rounds) < 20e-6 {
            rounds *= 2;
        }
        rounds
    }

    /// The time of one product in seconds.
    pub fn time(&mut self, contender: Contender, rounds: u32) -> f64 {
        let clock = Clock::of_rounds(self.threads, rounds);
        let start = clock.now();
        for _ in 0..rounds {
            self.multiply(contender);
        }
        clock.seconds_since(start) / f64::from(rounds)
    }

    fn multiply(&mut self, contender: Contender) {
        let layout = black_box(self.layout);
        let Layout { m, k, n, .. } = layout;
        let ([lhs_row, lhs_col], [rhs_row, rhs_col]) = (layout.lhs_strides(), layout.rhs_strides());
        let (lhs, rhs) = (black_box(&self.lhs[..]), black_box(&self.rhs[..]));
        let out = &mut self.out[contender as usize][..];
        match contender {
            Contender::Ours => {
                let lhs = MatRef { data: lhs, offset: 0, row_stride: lhs_row, col_stride: lhs_col };
                let rhs = MatRef { data: rhs, offset: 0, row_stride: rhs_row, col_stride: rhs_col };
                matmul_into(&[], [m, k, n], lhs, rhs, &mut self.scratch, out);
            }
            // SAFETY: `new` allocated the operands and the result for these extents, and the strides stay within them.
            Contender::Gemm => unsafe {
                let one = T::from_f64(1.0);
                gemm::gemm(
                    m,
                    n,
                    k,
                    out.as_mut_ptr(),
                    1,
                    n as isize,
                    false,
                    lhs.as_ptr(),
                    lhs_col as isize,
                    lhs_row as isize,
                    rhs.as_ptr(),
                    rhs_col as isize,
                    rhs_row as isize,
                    one,
                    one,
                    false,
                    false,
                    false,
                    if self.threads == 1 { Parallelism::None } else { Parallelism::Rayon(self.threads) },
                );
            },
            // SAFETY: as for `gemm`.
            Contender::MatrixMultiply => unsafe { T::matrixmultiply(&layout, lhs, rhs, out) },
        }
        black_box(&mut self.out[contender as usize]);
    }

    /// Checks that all contenders computed the same product.
    pub fn check(&self) {
        let [ours, others @ ..] = &self.out;
        let bound = 1e-6 * (self.layout.k as f64) + 1e-6;
        for (ours, other) in others.iter().flat_map(|other| ours.iter().zip(other)) {
            let apart = (ours.to_f64() - other.to_f64()).abs();
            assert!(apart <= bound, "{}: {ours} and {other}", self.layout);
        }
    }
}
