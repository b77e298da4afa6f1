//! Convolutions and their gradients: the fraction of the processor's peak, against the product of an unfolded image.
//!
//! `cargo bench --bench conv`; what it prints is explained in benches/README.md.

use std::hint::black_box;
use std::time::Instant;

use mind::__private::{
    Block, Conv2d, Epilogue, Kernel, conv2d, conv2d_grad_filter, conv2d_grad_filter_scratch,
    conv2d_grad_filter_with, conv2d_grad_input, conv2d_grad_input_scratch, conv2d_grad_input_with,
    conv2d_scratch, conv2d_with, dispatch,
};

/// Images, height, width, channels in, channels out, height and width of the filter, stride, padding.
const CASES: &[(&str, [usize; 8])] = &[
    ("8 of 28x28, 1 to 16, 3x3", [8, 28, 28, 1, 16, 3, 1, 0]),
    ("8 of 28x28, 16 to 32, 3x3", [8, 28, 28, 16, 32, 3, 1, 0]),
    ("8 of 28x28, 16 to 32, 3x3, padded", [8, 28, 28, 16, 32, 3, 1, 1]),
    ("8 of 28x28, 16 to 32, 3x3, stride 2", [8, 28, 28, 16, 32, 3, 2, 1]),
    ("1 of 112x112, 64 to 64, 3x3, padded", [1, 112, 112, 64, 64, 3, 1, 1]),
    ("1 of 14x14, 512 to 512, 3x3, padded", [1, 14, 14, 512, 512, 3, 1, 1]),
    ("4 of 56x56, 64 to 10, 1x1", [4, 56, 56, 64, 10, 1, 1, 0]),
    ("1 of 224x224, 3 to 64, 3x3, padded", [1, 224, 224, 3, 64, 3, 1, 1]),
];

/// Multiply-adds in each chain of what measures the peak.
const STEPS: usize = 1000;

fn main() {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    mind::set_threads(std::env::var("MIND_NUM_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(1));
    println!("{:45} {:>10} {:>10} {:>8} {:>8}", "", "µs", "GFLOP/s", "of peak", "before");
    for (name, case) in CASES {
        if only.as_ref().is_none_or(|only| name.contains(only.as_str())) {
            run(name, case);
        }
    }
}

fn run(name: &str, &[n, h, w, c_in, c_out, k, stride, pad]: &[usize; 8]) {
    let out = |extent: usize| (extent + 2 * pad - k) / stride + 1;
    let g = Conv2d {
        n,
        h,
        w,
        c_in,
        kh: k,
        kw: k,
        c_out,
        stride: [stride; 2],
        pad: [[pad; 2]; 2],
        h_out: out(h),
        w_out: out(w),
    };
    let numbers = |len: usize| -> Vec<f32> { (0..len).map(number).collect() };
    let (x, f, dy) =
        (numbers(n * h * w * c_in), numbers(k * k * c_in * c_out), numbers(n * g.h_out * g.w_out * c_out));
    let scratch = conv2d_scratch(&g).max(conv2d_grad_input_scratch(&g)).max(conv2d_grad_filter_scratch(&g));
    let mut scratch = vec![0.0_f32; scratch + 16];
    let at = scratch.as_ptr().align_offset(64);
    let scratch = &mut scratch[at..];
    let (mut y, mut dx, mut df) = (dy.clone(), x.clone(), f.clone());
    let flop = (2 * dy.len() * k * k * c_in) as f64;
    let peak = (2 * 16 * 8 * STEPS) as f64;

    let [
        mut t_peak,
        mut forward,
        mut forward_before,
        mut input,
        mut input_before,
        mut filter,
        mut filter_before,
    ] = [f64::INFINITY; 7];
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < 5 || start.elapsed().as_secs_f64() < 2.0 {
        rounds += 1;
        let mut sums = [[1.0; 16]; 8];
        time(&mut t_peak, || dispatch(Peak(&mut sums)));
        black_box(sums);
        for _ in 0..3 {
            time(&mut forward, || {
                conv2d_with(&g, &x, &f, scratch, Relu { out: &mut y, first: 0, columns: c_out })
            });
            time(&mut input, || {
                conv2d_grad_input_with(&g, &dy, &f, scratch, Store { out: &mut dx, first: 0, columns: c_in })
            });
            time(&mut filter, || {
                conv2d_grad_filter_with(
                    &g,
                    &x,
                    &dy,
                    scratch,
                    Store { out: &mut df, first: 0, columns: c_out },
                )
            });
        }
        time(&mut forward_before, || conv2d(&g, &x, &f, &mut y));
        time(&mut input_before, || conv2d_grad_input(&g, &dy, &f, &mut dx));
        time(&mut filter_before, || conv2d_grad_filter(&g, &x, &dy, &mut df));
    }
    let peak = peak / t_peak;
    println!("{name}   (peak {:.0} GFLOP/s)", peak / 1e9);
    for (what, time, before) in [
        ("forward", forward, forward_before),
        ("by the input", input, input_before),
        ("by the filter", filter, filter_before),
    ] {
        let rate = flop / time;
        println!(
            "  {what:43} {:10.1} {:10.1} {:8.2} {:8.2}",
            time * 1e6,
            rate / 1e9,
            rate / peak,
            before / time
        );
    }
}

fn time(least: &mut f64, f: impl FnOnce()) {
    let start = Instant::now();
    f();
    *least = least.min(start.elapsed().as_secs_f64());
}

/// Numbers between -0.5 and 0.5 that do not depend on the run.
fn number(index: usize) -> f32 {
    (index.wrapping_mul(2_654_435_761) >> 7 & 0xffff) as f32 / 65536.0 - 0.5
}

/// Nothing but fused multiply-adds, in eight chains of 16 lanes.
struct Peak<'a>(&'a mut [[f32; 16]; 8]);

impl Kernel for Peak<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let x = black_box([0.5_f32; 16]);
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *self.0;
        for _ in 0..STEPS {
            step(&mut a, &x);
            step(&mut b, &x);
            step(&mut c, &x);
            step(&mut d, &x);
            step(&mut e, &x);
            step(&mut f, &x);
            step(&mut g, &x);
            step(&mut h, &x);
        }
        *self.0 = [a, b, c, d, e, f, g, h];
    }
}

#[inline(always)]
fn step(sum: &mut [f32; 16], x: &[f32; 16]) {
    for lane in 0..16 {
        sum[lane] = sum[lane].mul_add(x[lane], x[lane]);
    }
}

macro_rules! store {
    ($name:ident, $f:expr) => {
        struct $name<'a> {
            out: &'a mut [f32],
            first: usize,
            columns: usize,
        }

        impl Epilogue<f32> for $name<'_> {
            fn split(self, row: usize) -> (Self, Self) {
                let (first, later) = self.out.split_at_mut((row - self.first) * self.columns);
                (Self { out: first, ..self }, Self { out: later, first: row, ..self })
            }

            fn block(&mut self, block: Block<'_, f32>) {
                struct Rows<'a, 'b>(&'a mut [f32], Block<'b, f32>, usize);
                impl Kernel for Rows<'_, '_> {
                    type Output = ();
                    #[inline(always)]
                    fn run(self) {
                        let Rows(out, block, columns) = self;
                        for row in 0..block.rows {
                            let to = &mut out[row * columns..][..block.columns];
                            for (to, sum) in to.iter_mut().zip(&block.sums[row * block.stride..]) {
                                *to = $f(*sum);
                            }
                        }
                    }
                }
                let at = (block.row - self.first) * self.columns + block.column;
                dispatch(Rows(&mut self.out[at..], block, self.columns));
            }
        }
    };
}

store!(Relu, |x: f32| x.max(0.0));
store!(Store, |x: f32| x);
