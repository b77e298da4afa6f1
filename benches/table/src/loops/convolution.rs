//! A convolution of NHWC pictures followed by `relu`, by a matrix of windows.

use peers::program::program;
use peers::{Case, Program};

use super::{Plain, Store, Transposed, product};

pub fn forward(case: &Case, extents: [usize; 6]) -> Box<dyn Program> {
    let state = Convolution::new(case, extents);
    program(
        state,
        |state| {
            state.forward();
            for out in &mut state.out {
                *out = out.max(0.0);
            }
        },
        |state, ()| vec![("out", state.out.clone())],
    )
}

pub fn pullback(case: &Case, extents: [usize; 6]) -> Box<dyn Program> {
    let state = Convolution::new(case, extents);
    let (gx, gk) = (state.x.clone(), state.k.clone());
    let g = case.input("g", state.out.len());
    program(
        (state, g, gx, gk),
        |(state, g, gx, gk)| {
            state.forward();
            let Convolution { windows, out, k, products: [pixels, window, channels], .. } = state;
            for (out, g) in out.iter_mut().zip(g) {
                *out = if *out > 0.0 { *g } else { 0.0 };
            }
            product(gk, Store::Overwrite, Transposed(windows), Plain(out), [*window, *pixels, *channels]);
            product(windows, Store::Overwrite, Plain(out), Transposed(k), [*pixels, *channels, *window]);
            state.add_windows(gx);
        },
        |(.., gx, gk), ()| vec![("gx", gx.clone()), ("gk", gk.clone())],
    )
}

struct Convolution {
    x: Vec<f32>,
    k: Vec<f32>,
    /// The window of each pixel of the result, one per row.
    windows: Vec<f32>,
    out: Vec<f32>,
    /// Height, width and channels of a picture, and the extent of the kernel.
    picture: [usize; 4],
    /// The number of pixels in the result, of elements in a window, and of channels in the result.
    products: [usize; 3],
}

impl Convolution {
    fn new(case: &Case, [b, h, w, i, o, k]: [usize; 6]) -> Self {
        let (pixels, window) = (b * (h - k + 1) * (w - k + 1), k * k * i);
        Self {
            x: case.input("x", b * h * w * i),
            k: case.input("k", window * o),
            windows: vec![0.0; pixels * window],
            out: vec![0.0; pixels * o],
            picture: [h, w, i, k],
            products: [pixels, window, o],
        }
    }

    /// Computes the convolution without `relu`.
    fn forward(&mut self) {
        let row = self.row();
        for (pixel, window) in self.windows.chunks_exact_mut(self.products[1]).enumerate() {
            for (line, part) in window.chunks_exact_mut(row).enumerate() {
                let at = start(self.picture, pixel, line);
                part.copy_from_slice(&self.x[at..at + row]);
            }
        }
        product(&mut self.out, Store::Overwrite, Plain(&self.windows), Plain(&self.k), self.products);
    }

    /// Adds each window to the elements that it was copied from.
    fn add_windows(&self, to: &mut [f32]) {
        let row = self.row();
        to.fill(0.0);
        for (pixel, window) in self.windows.chunks_exact(self.products[1]).enumerate() {
            for (line, part) in window.chunks_exact(row).enumerate() {
                let at = start(self.picture, pixel, line);
                for (to, part) in to[at..at + row].iter_mut().zip(part) {
                    *to += part;
                }
            }
        }
    }

    /// The number of contiguous elements in a window.
    fn row(&self) -> usize {
        let [_, _, channels, k] = self.picture;
        k * channels
    }
}

/// The index at which a line of a pixel's window begins in the pictures.
fn start([h, w, channels, k]: [usize; 4], pixel: usize, line: usize) -> usize {
    let (rows, columns) = (h - k + 1, w - k + 1);
    let (picture, row, column) = (pixel / (rows * columns), pixel / columns % rows, pixel % columns);
    ((picture * h + row + line) * w + column) * channels
}
