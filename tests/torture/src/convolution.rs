//! Convolutions and their derivatives.

use mind_core::testing::Random;
use mind_rt::private as rt;

use crate::case::{Case, SMALL, smaller_extents};
use crate::number::{DType, Number, numbers, operand, with_type};
use crate::product::{Taken, judge};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Forward,
    GradInput,
    GradFilter,
}

/// One of the three functions of a convolution, and how it is called.
#[derive(Clone, Debug)]
pub struct Convolution {
    dtype: DType,
    of: Of,
    /// The number of images, their height, width and channels.
    input: [usize; 4],
    /// The height and width of the filter, and the channels of the result.
    filter: [usize; 3],
    stride: [usize; 2],
    pad: [[usize; 2]; 2],
    /// Whether the result goes to an epilogue.
    epilogue: bool,
}

impl Convolution {
    pub fn random(random: &mut Random) -> Self {
        let most = match (SMALL, random.below(8)) {
            (true, 0) => 1 << 16,
            (true, _) => 1 << 13,
            (false, 0) => 1 << 23,
            (false, _) => 1 << 20,
        };
        loop {
            let channels = |random: &mut Random| match random.below(4) {
                0 => 1 + random.below(4),
                1 => [7, 8, 9, 15, 16, 17, 31, 32, 33][random.below(9)],
                2 => 1 + random.below(if SMALL { 24 } else { 70 }),
                _ => 1 + random.below(9),
            };
            let side = if SMALL { 20 } else { 60 };
            let [h, w] = [1 + random.below(side), 1 + random.below(side)];
            let input = [1 + random.below(4), h, w, channels(random)];
            let filter = [1 + random.below(5), 1 + random.below(5), channels(random)];
            let stride = [0; 2].map(|_| if random.below(3) == 0 { 2 + random.below(3) } else { 1 });
            let pad = [0; 2]
                .map(|_| if random.below(2) == 0 { [0; 2] } else { [random.below(6), random.below(6)] });
            let dtypes = if random.below(6) == 0 { DType::ALL.len() } else { 2 };
            let case = Self {
                dtype: DType::ALL[random.below(dtypes)],
                of: [Of::Forward, Of::GradInput, Of::GradFilter][random.below(3)],
                input,
                filter,
                stride,
                pad,
                epilogue: random.below(2) == 0,
            };
            if case
                .geometry()
                .is_some_and(|g| g.n * g.h_out * g.w_out * g.c_out * g.kh * g.kw * g.c_in <= most)
            {
                return case;
            }
        }
    }

    /// `None` if the filter is larger than the padded image.
    fn geometry(&self) -> Option<rt::Conv2d> {
        let ([n, h, w, c_in], [kh, kw, c_out], stride, pad) =
            (self.input, self.filter, self.stride, self.pad);
        let out = |axis: usize, extent: usize, kernel: usize| {
            let padded: usize = extent + pad[axis].iter().sum::<usize>();
            Some(padded.checked_sub(kernel)? / stride[axis] + 1)
        };
        let (h_out, w_out) = (out(0, h, kh)?, out(1, w, kw)?);
        Some(rt::Conv2d { n, h, w, c_in, kh, kw, c_out, stride, pad, h_out, w_out })
    }

    fn compute<T: Number>(&self) -> Result<u64, String> {
        let g = self.geometry().ok_or("the filter is larger than the image")?;
        let input_len = g.n * g.h * g.w * g.c_in;
        let filter_len = g.kh * g.kw * g.c_in * g.c_out;
        let output_len = g.n * g.h_out * g.w_out * g.c_out;
        let starts = [0, 1 << 40, 1 << 41];
        let [lens, columns] = match self.of {
            Of::Forward => [[input_len, filter_len, output_len], [g.c_out; 3]],
            Of::GradInput => [[output_len, filter_len, input_len], [g.c_in; 3]],
            Of::GradFilter => [[input_len, output_len, filter_len], [g.c_out; 3]],
        };
        let operand_starts = match self.of {
            Of::Forward => [starts[0], starts[1]],
            Of::GradInput => [starts[2], starts[1]],
            Of::GradFilter => [starts[0], starts[2]],
        };
        let a: Vec<T> = operand(operand_starts[0], lens[0]);
        let b: Vec<T> = operand(operand_starts[1], lens[1]);
        let mut out = vec![T::POISON; lens[2]];
        if self.epilogue {
            let scratch = match self.of {
                Of::Forward => rt::conv2d_scratch::<T>(&g),
                Of::GradInput => rt::conv2d_grad_input_scratch::<T>(&g),
                Of::GradFilter => rt::conv2d_grad_filter_scratch::<T>(&g),
            };
            let mut scratch = vec![T::POISON; scratch];
            let taken = Taken::new(&mut out, columns[0]);
            match self.of {
                Of::Forward => rt::conv2d_with(&g, &a, &b, &mut scratch, taken),
                Of::GradInput => rt::conv2d_grad_input_with(&g, &a, &b, &mut scratch, taken),
                Of::GradFilter => rt::conv2d_grad_filter_with(&g, &a, &b, &mut scratch, taken),
            }
        } else {
            match self.of {
                Of::Forward => rt::conv2d(&g, &a, &b, &mut out),
                Of::GradInput => rt::conv2d_grad_input(&g, &a, &b, &mut out),
                Of::GradFilter => rt::conv2d_grad_filter(&g, &a, &b, &mut out),
            }
        }
        let expected = self.expected::<T>(&g, starts, lens[2]);
        judge(&out, 1, |at| expected[at])
    }

    /// The result by its definition.
    fn expected<T: Number>(&self, g: &rt::Conv2d, [x, f, y]: [usize; 3], len: usize) -> Vec<i64> {
        let input = numbers::<T>(x, g.n * g.h * g.w * g.c_in);
        let filter = numbers::<T>(f, g.kh * g.kw * g.c_in * g.c_out);
        let output = numbers::<T>(y, g.n * g.h_out * g.w_out * g.c_out);
        let mut sums = vec![0_i64; len];
        for pixel in 0..g.n * g.h_out * g.w_out {
            let (n, i, j) = (pixel / (g.h_out * g.w_out), pixel / g.w_out % g.h_out, pixel % g.w_out);
            for place in 0..g.kh * g.kw {
                let row = (i * g.stride[0] + place / g.kw).checked_sub(g.pad[0][0]).filter(|row| *row < g.h);
                let column = (j * g.stride[1] + place % g.kw).checked_sub(g.pad[1][0]).filter(|at| *at < g.w);
                let (Some(row), Some(column)) = (row, column) else { continue };
                for c in 0..g.c_in {
                    let at = ((n * g.h + row) * g.w + column) * g.c_in + c;
                    for out in 0..g.c_out {
                        let (f, y) = ((place * g.c_in + c) * g.c_out + out, pixel * g.c_out + out);
                        let (to, product) = match self.of {
                            Of::Forward => (y, input[at].wrapping_mul(filter[f])),
                            Of::GradInput => (at, output[y].wrapping_mul(filter[f])),
                            Of::GradFilter => (f, output[y].wrapping_mul(input[at])),
                        };
                        sums[to] = sums[to].wrapping_add(product);
                    }
                }
            }
        }
        sums
    }
}

impl Case for Convolution {
    fn run(&self) -> Result<u64, String> {
        with_type!(self.dtype, T => self.compute::<T>())
    }

    fn smaller(&self) -> Vec<Box<dyn Case>> {
        let mut smaller: Vec<Self> = Vec::new();
        for place in 0..4 {
            for extent in smaller_extents(self.input[place], 1) {
                let mut case = self.clone();
                case.input[place] = extent;
                smaller.push(case);
            }
        }
        for place in 0..3 {
            for extent in smaller_extents(self.filter[place], 1) {
                let mut case = self.clone();
                case.filter[place] = extent;
                smaller.push(case);
            }
        }
        for axis in 0..2 {
            if self.stride[axis] > 1 {
                let mut case = self.clone();
                case.stride[axis] = 1;
                smaller.push(case);
            }
            for side in 0..2 {
                if self.pad[axis][side] > 0 {
                    let mut case = self.clone();
                    case.pad[axis][side] = 0;
                    smaller.push(case);
                }
            }
        }
        if self.epilogue {
            smaller.push(Self { epilogue: false, ..self.clone() });
        }
        smaller.retain(|case| case.geometry().is_some());
        smaller.into_iter().map(|case| Box::new(case) as Box<dyn Case>).collect()
    }
}
