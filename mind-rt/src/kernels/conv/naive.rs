//! Convolutions that compute one element at a time, for element types without tiles.

use super::geometry::Conv2d;
use super::parts::OutputRows;
use crate::kernels::epilogue::Block;
use crate::kernels::number::Number;

/// The most columns that an epilogue takes at a time.
const COLUMNS: usize = 32;

pub fn forward<T: Number>(g: &Conv2d, x: &[T], filter: &[T], part: &mut OutputRows<'_, T>) {
    hand_over(part, g.c_out, |row, f| {
        let (n, [i, j]) = (row / (g.h_out * g.w_out), [row / g.w_out % g.h_out, row % g.w_out]);
        let mut sum = T::ZERO;
        for a in 0..g.kh {
            let Some(y) = source(i, a, g.stride[0], g.pad[0][0], g.h) else { continue };
            for b in 0..g.kw {
                let Some(z) = source(j, b, g.stride[1], g.pad[1][0], g.w) else { continue };
                let pixel = &x[((n * g.h + y) * g.w + z) * g.c_in..][..g.c_in];
                for (c, x) in pixel.iter().enumerate() {
                    sum = sum.plus(x.times(filter[((a * g.kw + b) * g.c_in + c) * g.c_out + f]));
                }
            }
        }
        sum
    });
}

pub fn grad_input<T: Number>(g: &Conv2d, dy: &[T], filter: &[T], part: &mut OutputRows<'_, T>) {
    hand_over(part, g.c_in, |row, c| {
        let (n, [y, z]) = (row / (g.h * g.w), [row / g.w % g.h, row % g.w]);
        let mut sum = T::ZERO;
        for a in 0..g.kh {
            let Some(i) = target(y, a, g.stride[0], g.pad[0][0], g.h_out) else { continue };
            for b in 0..g.kw {
                let Some(j) = target(z, b, g.stride[1], g.pad[1][0], g.w_out) else { continue };
                let pixel = &dy[((n * g.h_out + i) * g.w_out + j) * g.c_out..][..g.c_out];
                let taps = &filter[((a * g.kw + b) * g.c_in + c) * g.c_out..][..g.c_out];
                sum = pixel.iter().zip(taps).fold(sum, |sum, (dy, tap)| sum.plus(dy.times(*tap)));
            }
        }
        sum
    });
}

pub fn grad_filter<T: Number>(g: &Conv2d, x: &[T], dy: &[T], part: &mut OutputRows<'_, T>) {
    hand_over(part, g.c_out, |row, f| {
        let (c, [a, b]) = (row % g.c_in, [row / g.c_in / g.kw, row / g.c_in % g.kw]);
        let mut sum = T::ZERO;
        for image in 0..g.n {
            for i in 0..g.h_out {
                let Some(y) = source(i, a, g.stride[0], g.pad[0][0], g.h) else { continue };
                for j in 0..g.w_out {
                    let Some(z) = source(j, b, g.stride[1], g.pad[1][0], g.w) else { continue };
                    let x = x[((image * g.h + y) * g.w + z) * g.c_in + c];
                    sum = sum.plus(x.times(dy[((image * g.h_out + i) * g.w_out + j) * g.c_out + f]));
                }
            }
        }
        sum
    });
}

/// Computes the rows of a part element by element, and passes them to its epilogue.
fn hand_over<T: Number>(part: &mut OutputRows<'_, T>, columns: usize, element: impl Fn(usize, usize) -> T) {
    let mut sums = [T::ZERO; COLUMNS];
    for row in part.rows.clone() {
        for column in (0..columns).step_by(COLUMNS) {
            let width = COLUMNS.min(columns - column);
            let sums = &mut sums[..width];
            sums.iter_mut().enumerate().for_each(|(at, sum)| *sum = element(row, column + at));
            part.epilogue.block(Block { row, column, rows: 1, columns: width, sums, stride: width });
        }
    }
}

/// The input row or column that output `i` reads by filter position `k`, if it is inside the image.
fn source(i: usize, k: usize, stride: usize, pad: usize, extent: usize) -> Option<usize> {
    (i * stride + k).checked_sub(pad).filter(|at| *at < extent)
}

/// The output that reads input row or column `at` by filter position `k`, if one does.
fn target(at: usize, k: usize, stride: usize, pad: usize, outputs: usize) -> Option<usize> {
    (at + pad).checked_sub(k).filter(|at| at % stride == 0).map(|at| at / stride).filter(|i| *i < outputs)
}
