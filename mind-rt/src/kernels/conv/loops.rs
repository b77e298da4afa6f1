//! Convolutions that store their results as they are.

use std::ops::Range;

use super::super::blocks::{for_each_block, multiply_add};
use super::Conv2d;
use crate::element::Element;
use crate::simd::{Kernel, dispatch};

/// `out[n, i, j, f] = Σ_{a, b, c} input[n, i · stride + a - pad, j · stride + b - pad, c] · filter[a, b, c, f]`, input
/// outside the image being 0. Integers wrap.
pub fn conv2d<T: Element>(g: &Conv2d, input: &[T], filter: &[T], out: &mut [T]) {
    g.check(Some(input.len()), Some(filter.len()), Some(out.len()));
    dispatch(Forward { g, input, filter, out });
}

/// The derivative by the input: `dx` from the cotangent `dy` of the output.
pub fn conv2d_grad_input<T: Element>(g: &Conv2d, dy: &[T], filter: &[T], dx: &mut [T]) {
    g.check(Some(dx.len()), Some(filter.len()), Some(dy.len()));
    dispatch(GradInput { g, dy, filter, dx });
}

/// The derivative by the filter: `dfilter` from the cotangent `dy` of the output.
pub fn conv2d_grad_filter<T: Element>(g: &Conv2d, input: &[T], dy: &[T], dfilter: &mut [T]) {
    g.check(Some(input.len()), Some(dfilter.len()), Some(dy.len()));
    dispatch(GradFilter { g, input, dy, dfilter });
}

/// Output channels at a time, at most: they stay in registers.
const BLOCK: usize = 16;
/// Output columns at a time: each filter element read serves all of them.
const TILE: usize = 4;

struct Forward<'a, T> {
    g: &'a Conv2d,
    input: &'a [T],
    filter: &'a [T],
    out: &'a mut [T],
}

impl<T: Element> Kernel for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let g = *self.g;
        for image in 0..g.n {
            for i in 0..g.h_out {
                for j in (0..g.w_out).step_by(TILE) {
                    for_each_block!(g.c_out, |start, W| self.block::<W>(image, i, j, start));
                }
            }
        }
    }
}

impl<T: Element> Forward<'_, T> {
    /// `W` channels from `start` on of `TILE` output columns from `j` on.
    #[inline(always)]
    fn block<const W: usize>(&mut self, image: usize, i: usize, j: usize, start: usize) {
        let g = self.g;
        let tile = TILE.min(g.w_out - j);
        let mut sums = [[T::ZERO; W]; TILE];
        for a in 0..g.kh {
            let Some(y) = source(i, a, g.stride[0], g.pad[0][0], g.h) else { continue };
            for b in 0..g.kw {
                let inside = inside(g.w_out, b, g.stride[1], g.pad[1][0], g.w);
                let first = inside.start.max(j);
                let last = inside.end.min(j + tile);
                let taps = &self.filter[(a * g.kw + b) * g.c_in * g.c_out + start..];
                let pixel = |j: usize| {
                    let x = j * g.stride[1] + b - g.pad[1][0];
                    &self.input[((image * g.h + y) * g.w + x) * g.c_in..][..g.c_in]
                };
                if last.saturating_sub(first) == TILE {
                    let pixels: [&[T]; TILE] = std::array::from_fn(|at| pixel(j + at));
                    for c in 0..g.c_in {
                        let tap: &[T; W] =
                            taps[c * g.c_out..].first_chunk().expect("a filter row has W channels left");
                        for at in 0..TILE {
                            multiply_add(&mut sums[at], pixels[at][c], tap);
                        }
                    }
                } else {
                    for (at, sum) in sums.iter_mut().enumerate() {
                        if !(first..last).contains(&(j + at)) {
                            continue;
                        }
                        for (c, x) in pixel(j + at).iter().enumerate() {
                            let tap =
                                taps[c * g.c_out..].first_chunk().expect("a filter row has W channels left");
                            multiply_add(sum, *x, tap);
                        }
                    }
                }
            }
        }
        let row = ((image * g.h_out + i) * g.w_out + j) * g.c_out + start;
        for (at, sum) in sums.iter().enumerate() {
            if at < tile {
                self.out[row + at * g.c_out..][..W].copy_from_slice(sum);
            }
        }
    }
}

struct GradInput<'a, T> {
    g: &'a Conv2d,
    dy: &'a [T],
    filter: &'a [T],
    dx: &'a mut [T],
}

impl<T: Element> Kernel for GradInput<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let g = *self.g;
        self.dx.fill(T::ZERO);
        for a in 0..g.kh {
            for b in 0..g.kw {
                for outputs in (0..g.c_out).step_by(BLOCK) {
                    let outputs = outputs..g.c_out.min(outputs + BLOCK);
                    for_each_block!(g.c_in, |start, W| self.block::<W>(a, b, outputs.clone(), start));
                }
            }
        }
    }
}

impl<T: Element> GradInput<'_, T> {
    /// What the output channels `outputs` at one place of the filter give to `W` input channels from `start` on.
    #[inline(always)]
    fn block<const W: usize>(&mut self, a: usize, b: usize, outputs: Range<usize>, start: usize) {
        let g = self.g;
        // The part of the filter in question, transposed.
        let mut taps = [[T::ZERO; W]; BLOCK];
        for c in 0..W {
            let row = ((a * g.kw + b) * g.c_in + start + c) * g.c_out;
            for (tap, x) in taps.iter_mut().zip(&self.filter[row..][outputs.clone()]) {
                tap[c] = *x;
            }
        }
        for image in 0..g.n {
            for i in inside(g.h_out, a, g.stride[0], g.pad[0][0], g.h) {
                let y = i * g.stride[0] + a - g.pad[0][0];
                for j in inside(g.w_out, b, g.stride[1], g.pad[1][0], g.w) {
                    let x = j * g.stride[1] + b - g.pad[1][0];
                    let dx = &mut self.dx[((image * g.h + y) * g.w + x) * g.c_in + start..];
                    let dx: &mut [T; W] = dx.first_chunk_mut().expect("a pixel has W channels left");
                    let dy = &self.dy[((image * g.h_out + i) * g.w_out + j) * g.c_out..][outputs.clone()];
                    let mut sum = *dx;
                    for (dy, tap) in dy.iter().zip(&taps) {
                        multiply_add(&mut sum, *dy, tap);
                    }
                    *dx = sum;
                }
            }
        }
    }
}

struct GradFilter<'a, T> {
    g: &'a Conv2d,
    input: &'a [T],
    dy: &'a [T],
    dfilter: &'a mut [T],
}

impl<T: Element> Kernel for GradFilter<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let g = *self.g;
        for a in 0..g.kh {
            for b in 0..g.kw {
                let whole = g.c_in - g.c_in % TILE;
                for c in (0..whole).step_by(TILE) {
                    for_each_block!(g.c_out, |start, W| self.block::<TILE, W>(a, b, c, start));
                }
                for c in whole..g.c_in {
                    for_each_block!(g.c_out, |start, W| self.block::<1, W>(a, b, c, start));
                }
            }
        }
    }
}

impl<T: Element> GradFilter<'_, T> {
    /// `W` output channels from `start` on of `C` input channels from `c` on, at one place of the filter.
    #[inline(always)]
    fn block<const C: usize, const W: usize>(&mut self, a: usize, b: usize, c: usize, start: usize) {
        let g = self.g;
        let mut sums = [[T::ZERO; W]; C];
        for image in 0..g.n {
            for i in inside(g.h_out, a, g.stride[0], g.pad[0][0], g.h) {
                let y = i * g.stride[0] + a - g.pad[0][0];
                for j in inside(g.w_out, b, g.stride[1], g.pad[1][0], g.w) {
                    let x = j * g.stride[1] + b - g.pad[1][0];
                    let pixel = &self.input[((image * g.h + y) * g.w + x) * g.c_in + c..];
                    let pixel: &[T; C] = pixel.first_chunk().expect("a pixel has C channels left");
                    let dy = &self.dy[((image * g.h_out + i) * g.w_out + j) * g.c_out + start..];
                    let dy: &[T; W] = dy.first_chunk().expect("a pixel has W channels left");
                    for at in 0..C {
                        multiply_add(&mut sums[at], pixel[at], dy);
                    }
                }
            }
        }
        for (at, sum) in sums.iter().enumerate() {
            let row = ((a * g.kw + b) * g.c_in + c + at) * g.c_out + start;
            self.dfilter[row..][..W].copy_from_slice(sum);
        }
    }
}

/// The input row or column that output `i` reads through place `k` of the filter, if inside the image.
#[inline(always)]
fn source(i: usize, k: usize, stride: usize, pad: usize, extent: usize) -> Option<usize> {
    (i * stride + k).checked_sub(pad).filter(|at| *at < extent)
}

/// The outputs that read inside the image through place `k` of the filter.
#[inline(always)]
fn inside(outputs: usize, k: usize, stride: usize, pad: usize, extent: usize) -> Range<usize> {
    let start = pad.saturating_sub(k).div_ceil(stride);
    let end = (extent + pad).saturating_sub(k).div_ceil(stride);
    start.min(outputs)..end.min(outputs)
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;
    use crate::kernels::epilogue::{Block, Epilogue};

    struct Case<T> {
        g: Conv2d,
        input: Vec<T>,
        filter: Vec<T>,
        dy: Vec<T>,
    }

    /// Small whole numbers, so that every order of summing gives the same float.
    fn case<T: Element>(
        size: [usize; 4],
        kernel: [usize; 3],
        stride: [usize; 2],
        pad: [[usize; 2]; 2],
    ) -> Option<Case<T>> {
        let ([n, h, w, c_in], [kh, kw, c_out]) = (size, kernel);
        let out = |extent: usize, k: usize, stride: usize, pad: [usize; 2]| {
            Some((extent + pad[0] + pad[1]).checked_sub(k)? / stride + 1)
        };
        let (h_out, w_out) = (out(h, kh, stride[0], pad[0])?, out(w, kw, stride[1], pad[1])?);
        let g = Conv2d { n, h, w, c_in, kh, kw, c_out, stride, pad, h_out, w_out };
        let small = |len: usize, seed: usize| {
            (0..len).map(|i| (0..(i * 7 + i / 5 + seed) % 6).fold(T::ZERO, |x, _| x.plus(T::ONE))).collect()
        };
        let (input, filter) = (small(n * h * w * c_in, 1), small(kh * kw * c_in * c_out, 2));
        Some(Case { g, input, filter, dy: small(n * h_out * w_out * c_out, 3) })
    }

    /// Calls `f` with the positions in input, filter and output of every product.
    fn for_each_product(g: &Conv2d, mut f: impl FnMut(usize, usize, usize)) {
        for n in 0..g.n {
            for i in 0..g.h_out {
                for j in 0..g.w_out {
                    for a in 0..g.kh {
                        for b in 0..g.kw {
                            let y = (i * g.stride[0] + a) as isize - g.pad[0][0] as isize;
                            let x = (j * g.stride[1] + b) as isize - g.pad[1][0] as isize;
                            if y < 0 || y >= g.h as isize || x < 0 || x >= g.w as isize {
                                continue;
                            }
                            for c in 0..g.c_in {
                                for k in 0..g.c_out {
                                    f(
                                        ((n * g.h + y as usize) * g.w + x as usize) * g.c_in + c,
                                        ((a * g.kw + b) * g.c_in + c) * g.c_out + k,
                                        ((n * g.h_out + i) * g.w_out + j) * g.c_out + k,
                                    );
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn agrees<T: Element>(Case { g, input, filter, dy }: &Case<T>) {
        let mut expected = (vec![T::ZERO; dy.len()], vec![T::ZERO; input.len()], vec![T::ZERO; filter.len()]);
        for_each_product(g, |x, k, y| {
            expected.0[y] = expected.0[y].plus(input[x].times(filter[k]));
            expected.1[x] = expected.1[x].plus(dy[y].times(filter[k]));
            expected.2[k] = expected.2[k].plus(dy[y].times(input[x]));
        });
        let mut out = (vec![T::ONE; dy.len()], vec![T::ONE; input.len()], vec![T::ONE; filter.len()]);
        conv2d(g, input, filter, &mut out.0);
        conv2d_grad_input(g, dy, filter, &mut out.1);
        conv2d_grad_filter(g, input, dy, &mut out.2);
        assert!(out.0 == expected.0, "forward: {g:?}");
        assert!(out.1 == expected.1, "by the input: {g:?}");
        assert!(out.2 == expected.2, "by the filter: {g:?}");
        let (mut y, mut dx, mut dfilter) =
            (store(&out.0, g.c_out), store(&out.1, g.c_in), store(&out.2, g.c_out));
        conv2d_with(g, input, filter, &mut vec![T::ONE; conv2d_scratch(g)], &mut y);
        conv2d_grad_input_with(g, dy, filter, &mut vec![T::ONE; conv2d_grad_input_scratch(g)], &mut dx);
        conv2d_grad_filter_with(g, input, dy, &mut vec![T::ONE; conv2d_grad_filter_scratch(g)], &mut dfilter);
        assert!((y.elements, dx.elements, dfilter.elements) == expected, "handed over: {g:?}");
    }

    /// Takes the place of a matrix, none of whose elements has been there yet.
    fn store<T: Element>(like: &[T], columns: usize) -> Store<T> {
        Store { elements: vec![T::ZERO; like.len()], seen: vec![false; like.len()], columns }
    }

    struct Store<T> {
        elements: Vec<T>,
        seen: Vec<bool>,
        columns: usize,
    }

    impl<T: Element> Epilogue<T> for &mut Store<T> {
        fn split(self, _: usize) -> (Self, Self) {
            unreachable!("nothing here is large enough for two threads")
        }

        fn block(&mut self, block: Block<'_, T>) {
            for row in 0..block.rows {
                for column in 0..block.columns {
                    let at = (block.row + row) * self.columns + block.column + column;
                    assert!(block.column + column < self.columns && !self.seen[at]);
                    self.seen[at] = true;
                    self.elements[at] = block.sums[row * block.stride + column];
                }
            }
        }
    }

    #[test]
    fn every_geometry_of_small_sizes() {
        let mut cases = 0;
        for [h, w] in [[1, 1], [1, 6], [5, 4], [7, 9]] {
            for [kh, kw] in [[1, 1], [2, 3], [3, 3], [5, 1]] {
                for stride in [[1, 1], [2, 1], [3, 2]] {
                    for pad in [[[0, 0], [0, 0]], [[1, 1], [1, 1]], [[0, 2], [3, 0]], [[4, 4], [5, 5]]] {
                        for [c_in, c_out] in [[1, 1], [3, 2], [2, 5], [5, 21]] {
                            if let Some(case) = case::<f32>([2, h, w, c_in], [kh, kw, c_out], stride, pad) {
                                agrees(&case);
                                cases += 1;
                            }
                        }
                    }
                }
            }
        }
        assert!(cases > 500, "{cases}");
    }

    #[test]
    fn every_number_of_channels_up_to_17() {
        for c_in in 1..=17 {
            for c_out in 1..=17 {
                agrees(
                    &case::<f64>([1, 3, 5, c_in], [2, 2, c_out], [1, 1], [[1, 0], [0, 1]]).expect("valid"),
                );
            }
        }
    }

    #[test]
    fn integers_and_larger_images() {
        agrees(&case::<i32>([2, 6, 7, 3], [3, 3, 18], [1, 2], [[1, 1], [1, 1]]).expect("valid"));
        agrees(&case::<i64>([1, 6, 7, 20], [3, 2, 4], [1, 1], [[0, 0], [0, 0]]).expect("valid"));
        agrees(&case::<f32>([1, 28, 28, 8], [5, 5, 36], [1, 1], [[2, 2], [2, 2]]).expect("valid"));
    }

    #[test]
    fn padding_is_left_out_rather_than_multiplied() {
        let g = case::<f32>([1, 1, 1, 1], [3, 3, 1], [1, 1], [[1, 1], [1, 1]]).expect("valid").g;
        let mut filter = [f32::INFINITY; 9];
        filter[4] = 2.0;
        let mut out = [0.0];
        conv2d(&g, &[3.0], &filter, &mut out);
        assert_eq!(out, [6.0]);
    }

    #[test]
    #[should_panic(expected = "internal error in mind: conv2d: wrong filter length")]
    fn a_wrong_length_panics() {
        let case = case::<f32>([1, 3, 3, 1], [3, 3, 1], [1, 1], [[1, 1], [1, 1]]).expect("valid");
        conv2d(&case.g, &case.input, &case.filter[1..], &mut case.dy.clone());
    }
}
