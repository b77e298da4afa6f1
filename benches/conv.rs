//! Times convolutions and their gradients, in GFLOP/s and as fractions of the processor's peak.
//!
//! Run `cargo bench -p mind-benches --bench conv`, with `-- f64` for `f64`, and with `MIND_NUM_THREADS=2` for two
//! threads. benches/README.md has the results. Each time is the shortest of many. The peak of one thread is measured
//! between them.

use std::time::Instant;

use mind::__private::roofline::Chains;
use mind::__private::{
    Arithmetic, Block, Conv2d, Epilogue, Kernel, conv2d_grad_filter_scratch, conv2d_grad_filter_with,
    conv2d_grad_input_scratch, conv2d_grad_input_with, conv2d_scratch, conv2d_with, dispatch,
};
use mind::simd_level;

/// Number of images, their height and width, input channels, output channels, height and width of the filter, stride,
/// padding.
const CASES: &[[usize; 7]] = &[
    [8, 28, 1, 16, 3, 1, 0],
    [8, 28, 16, 32, 3, 1, 0],
    [8, 28, 16, 32, 3, 1, 1],
    [8, 28, 16, 32, 3, 2, 1],
    [4, 56, 64, 10, 1, 1, 0],
    [1, 224, 3, 64, 3, 1, 1],
    [1, 112, 64, 128, 3, 1, 1],
    [1, 56, 128, 256, 3, 1, 1],
    [1, 28, 256, 512, 3, 1, 1],
    [1, 14, 512, 512, 3, 1, 1],
];

/// The time in seconds for which each case is measured.
const PATIENCE: f64 = 2.0;

fn main() {
    mind::set_threads(std::env::var("MIND_NUM_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(1));
    println!("images, extent, channels in and out, filter, stride, padding: µs, GFLOP/s, of the peak");
    for case in CASES {
        if std::env::args().any(|argument| argument == "f64") {
            measure::<f64>(case, |x| x.into());
        } else {
            measure::<f32>(case, |x| x);
        }
    }
}

fn measure<T: Arithmetic + Number>(case: &[usize; 7], number: impl Fn(f32) -> T) {
    let [n, extent, c_in, c_out, k, stride, pad] = *case;
    let out = (extent + 2 * pad - k) / stride + 1;
    let g = Conv2d {
        n,
        h: extent,
        w: extent,
        c_in,
        kh: k,
        kw: k,
        c_out,
        stride: [stride; 2],
        pad: [[pad; 2]; 2],
        h_out: out,
        w_out: out,
    };
    let numbers = |len: usize| -> Vec<T> {
        (0..len)
            .map(|i| number((i.wrapping_mul(2_654_435_761) >> 7 & 0xffff) as f32 / 65536.0 - 0.5))
            .collect()
    };
    let [x, f, dy] = [n * extent * extent * c_in, k * k * c_in * c_out, n * out * out * c_out].map(numbers);
    let [mut y, mut dx, mut df] = [&dy, &x, &f].map(|like| like.clone());
    let len = conv2d_scratch::<T>(&g)
        .max(conv2d_grad_input_scratch::<T>(&g))
        .max(conv2d_grad_filter_scratch::<T>(&g));
    let mut scratch = vec![number(0.0); len + 64];
    let aligned = scratch.as_ptr().align_offset(64);
    let scratch = &mut scratch[aligned..];

    let mut peak = f64::INFINITY;
    let mut least = [f64::INFINITY; 3];
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < PATIENCE {
        peak = peak.min(seconds_per_flop::<T>());
        time(&mut least[0], || {
            conv2d_with(&g, &x, &f, scratch, Relu { out: &mut y, first: 0, columns: c_out })
        });
        time(&mut least[1], || {
            conv2d_grad_input_with(&g, &dy, &f, scratch, Relu { out: &mut dx, first: 0, columns: c_in });
        });
        time(&mut least[2], || {
            conv2d_grad_filter_with(&g, &x, &dy, scratch, Relu { out: &mut df, first: 0, columns: c_out });
        });
    }
    println!("{case:?}, peak {:.0} GFLOP/s", 1e-9 / peak);
    for (what, seconds) in ["forward", "by the input", "by the filter"].iter().zip(least) {
        let rate = (2 * dy.len() * k * k * c_in) as f64 / seconds;
        println!("  {what:14} {:9.1} {:6.1} {:5.2}", seconds * 1e6, rate * 1e-9, rate * peak);
    }
}

fn time(least: &mut f64, f: impl FnOnce()) {
    let start = Instant::now();
    f();
    *least = least.min(start.elapsed().as_secs_f64());
}

/// The time in seconds of a floating-point operation in code that does nothing but multiply-adds on registers.
fn seconds_per_flop<T: Chains>() -> f64 {
    const ROUNDS: u32 = 1000;

    let start = Instant::now();
    let flops = T::multiply_adds(simd_level(), ROUNDS);
    start.elapsed().as_secs_f64() / flops as f64
}

/// The element type of the cases.
trait Number: Chains + Copy + Send + Sync {
    fn relu(self) -> Self;
}

impl Number for f32 {
    fn relu(self) -> Self {
        self.max(0.0)
    }
}

impl Number for f64 {
    fn relu(self) -> Self {
        self.max(0.0)
    }
}

/// Stores the elements after `relu`. `out` begins at row `first` of the result.
struct Relu<'a, T> {
    out: &'a mut [T],
    first: usize,
    columns: usize,
}

impl<T: Number> Epilogue<T> for Relu<'_, T> {
    fn split(self, row: usize) -> (Self, Self) {
        let (first, later) = self.out.split_at_mut((row - self.first) * self.columns);
        (Self { out: first, ..self }, Self { out: later, first: row, ..self })
    }

    fn block(&mut self, block: Block<'_, T>) {
        let at = (block.row - self.first) * self.columns + block.column;
        let out = &mut self.out[at..];
        if block.columns == block.stride && block.columns == self.columns {
            let len = block.rows * block.columns;
            return dispatch(Row { from: &block.sums[..len], to: &mut out[..len] });
        }
        for row in 0..block.rows {
            let from = &block.sums[row * block.stride..][..block.columns];
            dispatch(Row { from, to: &mut out[row * self.columns..][..block.columns] });
        }
    }
}

struct Row<'a, T> {
    from: &'a [T],
    to: &'a mut [T],
}

impl<T: Number> Kernel for Row<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (to, from) in self.to.iter_mut().zip(self.from) {
            *to = from.relu();
        }
    }
}
