//! Elementwise loops and reductions beside what memory allows: `cargo bench --bench loops`.
//!
//! Kernels as generated code has them, run on one and on two threads. All rows of a table are measured in turn, many times,
//! and the least time of each is kept, so that rows compare. The limit of a row is the time that the same bytes take a
//! loop that does nothing else: reads and nothing for reductions, a copy where something is written.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mind::__private::{
    Combine, Kernel, LANES_F32, MultiplyAdd, Separate, Split, copy_strided, join, reduce_lanes, run, sum,
};
use mind::set_threads;

fn main() {
    // Cargo's own arguments begin with dashes.
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let is_wanted = |table: &str| wanted.as_deref().is_none_or(|wanted| table == wanted);
    if is_wanted("loops") {
        for len in [1 << 10, 1 << 14, 1 << 17, 1_000_000, 1 << 22] {
            loops(len);
        }
    }
    if is_wanted("threads") {
        worth();
    }
    if is_wanted("transpose") {
        transposes();
    }
}

/// A table of loops over vectors of one length.
fn loops(len: usize) {
    let data = |seed: usize| -> Vec<f32> {
        (0..len).map(|i| ((i * 7919 + seed) % 1013) as f32 * 0.001 - 0.5).collect()
    };
    let (x, y) = (data(1), data(500));
    let [mut a, mut b, mut c, mut d, mut e] = [(); 5].map(|()| vec![0.0_f32; len]);
    let mut rows = vec![
        Row::new("read one", 1, 0, || _ = black_box(run(Read { x: &x }, len, 1, 1))),
        Row::new("copy", 1, 1, || run(Copy { x: &x, out: &mut a }, len, 1, 1)),
        Row::new("sum(x)", 1, 0, || _ = black_box(run(Sum { x: &x }, len, 1, 1))),
        Row::new("sum(x), in one leaf", 1, 0, || _ = black_box(sum(black_box(&x)))),
        Row::new("x + y", 2, 1, || run(Add { x: &x, y: &y, out: &mut b }, len, 1, 1)),
        Row::new("exp(x)", 1, 1, || run(Exp { x: &x, out: &mut c }, len, 1, 8)),
        Row::new("chain", 2, 0, || _ = black_box(run(Chain { x: &x, y: &y }, len, 1, 12))),
        Row::new("chain and gradient", 2, 2, || {
            let kernel = ChainGrad { x: &x, y: &y, dx: &mut d, dy: &mut e, scale: 1.0 / len as f32 };
            _ = black_box(run(kernel, len, 1, 18));
        }),
    ];
    measure(&mut rows);
    println!("\n{len} elements | 1 thread, µs | GB/s | of limit | 2 threads, µs | speed-up");
    let rate = |row: &Row, threads: usize| row.bytes(len) / row.best[threads].as_nanos() as f64;
    for row in &rows {
        let limit = rate(&rows[usize::from(row.writes > 0)], 0);
        println!(
            "{:20} | {:9.2} | {:6.1} | {:3.0} % | {:9.2} | {:.2}",
            row.name,
            micros(row.best[0]),
            rate(row, 0),
            100.0 * rate(row, 0) / limit,
            micros(row.best[1]),
            row.best[0].as_secs_f64() / row.best[1].as_secs_f64(),
        );
    }
}

/// From what size on two threads pay.
fn worth() {
    println!("\nelements | x + y: cost, speed-up | exp(x): cost, speed-up");
    for power in 12..=20 {
        let len = 1 << power;
        let (x, mut a, mut b) = (vec![0.5_f32; len], vec![0.0_f32; len], vec![0.0_f32; len]);
        // So expensive that they are cut whatever their size.
        let cost = 1 << 20;
        let mut rows = [
            Row::new("", 2, 1, || run(Add { x: &x, y: &x, out: &mut a }, len, 1, cost)),
            Row::new("", 1, 1, || run(Exp { x: &x, out: &mut b }, len, 1, cost)),
        ];
        measure(&mut rows);
        let texts = rows.map(|row| {
            let [one, two] = row.best;
            format!("{:8.2} µs, {:.2}", micros(one), one.as_secs_f64() / two.as_secs_f64())
        });
        println!("{len:8} | {} | {}", texts[0], texts[1]);
    }
}

fn transposes() {
    println!("\ntranspose | µs | of copy");
    for (rows, columns) in [(32, 32), (64, 256), (128, 784), (255, 257), (1000, 1000), (1024, 1024)] {
        let x = vec![0.5_f32; rows * columns];
        let (mut a, mut b) = (x.clone(), x.clone());
        let mut table = [
            Row::new("", 1, 1, || a.copy_from_slice(black_box(&x))),
            Row::new("", 1, 1, || copy_strided(&[rows, columns], &[1, rows], 0, black_box(&x), &mut b)),
        ];
        measure(&mut table);
        let [copy, transpose] = table.map(|row| row.best[0]);
        println!(
            "{rows}×{columns} | {:.2} | {:.0} %",
            micros(transpose),
            100.0 * copy.as_secs_f64() / transpose.as_secs_f64()
        );
    }
}

/// A line of a table.
struct Row<'a> {
    name: &'static str,
    /// Elements read and written for each position.
    reads: usize,
    writes: usize,
    call: Box<dyn FnMut() + 'a>,
    /// The least time on one and on two threads.
    best: [Duration; 2],
}

impl<'a> Row<'a> {
    fn new(name: &'static str, reads: usize, writes: usize, call: impl FnMut() + 'a) -> Self {
        Self { name, reads, writes, call: Box::new(call), best: [Duration::MAX; 2] }
    }

    fn bytes(&self, len: usize) -> f64 {
        ((self.reads + self.writes) * 4 * len) as f64
    }
}

fn measure(rows: &mut [Row<'_>]) {
    const ROUNDS: u32 = 60;
    /// What a measurement takes at least.
    const SAMPLE: Duration = Duration::from_micros(30);

    let calls: Vec<u32> = rows
        .iter_mut()
        .map(|row| {
            (row.call)();
            let start = Instant::now();
            (row.call)();
            (SAMPLE.as_nanos() / start.elapsed().as_nanos().max(1)) as u32 + 1
        })
        .collect();
    for _ in 0..ROUNDS {
        for threads in [1, 2] {
            set_threads(threads);
            // The second thread begins and comes to where it waits.
            let start = Instant::now();
            while start.elapsed() < 10 * SAMPLE {
                join(|| (), || ());
            }
            for (row, calls) in rows.iter_mut().zip(&calls) {
                let start = Instant::now();
                for _ in 0..*calls {
                    (row.call)();
                }
                let best = &mut row.best[threads - 1];
                *best = (*best).min(start.elapsed() / *calls);
            }
        }
    }
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1000.0
}

/// Declares a kernel over slices of one length, which are cut at the same place.
macro_rules! kernel {
    ($name:ident { $($read:ident),*; $($written:ident),*; $($value:ident),* }, $output:ty, $by:ident, |$kernel:ident| $body:expr) => {
        struct $name<'a> {
            $($read: &'a [f32],)*
            $($written: &'a mut [f32],)*
            $($value: f32,)*
        }

        impl Kernel for $name<'_> {
            type Output = $output;

            #[inline(always)]
            fn run(self) -> $output {
                self.run_by::<Separate>()
            }

            #[inline(always)]
            fn run_by<$by: MultiplyAdd>(self) -> $output {
                let $kernel = self;
                $body
            }
        }

        impl Split for $name<'_> {
            fn split(self, at: usize) -> (Self, Self) {
                let Self { $($read,)* $($written,)* $($value,)* } = self;
                $(let $read = $read.split_at(at);)*
                $(let $written = $written.split_at_mut(at);)*
                (
                    Self { $($read: $read.0,)* $($written: $written.0,)* $($value,)* },
                    Self { $($read: $read.1,)* $($written: $written.1,)* $($value,)* },
                )
            }
        }
    };
}

/// The sum over all positions of an expression in the elements there, in the order of lanes.
macro_rules! fold {
    ($len:expr; $($x:ident = $from:expr),*; $($out:ident = $to:expr),*; $value:expr) => {{
        let len: usize = $len;
        let mut lanes = [0.0_f32; LANES_F32];
        $(let $x = $from[..len].as_chunks::<LANES_F32>();)*
        $(let $out = $to[..len].as_chunks_mut::<LANES_F32>();)*
        for block in 0..len / LANES_F32 {
            $(let $x = &$x.0[block];)*
            $(let $out = &mut $out.0[block];)*
            for lane in 0..LANES_F32 {
                $(let $x = $x[lane];)*
                $(let $out = &mut $out[lane];)*
                lanes[lane] += $value;
            }
        }
        let mut rest = lanes;
        for lane in 0..len % LANES_F32 {
            $(let $x = $x.1[lane];)*
            $(let $out = &mut $out.1[lane];)*
            rest[lane] += $value;
        }
        reduce_lanes(rest)
    }};
}

kernel!(Copy { x; out; }, (), A, |k| k.out.copy_from_slice(k.x));

kernel!(Read { x; ; }, Bits, A, |k| {
    let mut lanes = [0_u32; 128];
    for block in k.x.as_chunks::<128>().0 {
        for lane in 0..128 {
            lanes[lane] |= block[lane].to_bits();
        }
    }
    Bits(lanes.iter().fold(0, |all, lane| all | lane))
});

kernel!(Sum { x; ; }, f32, A, |k| fold!(k.x.len(); x = k.x; ; x));

kernel!(Add { x, y; out; }, (), A, |k| {
    let len = k.out.len();
    let (x, y) = (&k.x[..len], &k.y[..len]);
    for j in 0..len {
        k.out[j] = x[j] + y[j];
    }
});

kernel!(Exp { x; out; }, (), A, |k| {
    let len = k.out.len();
    let x = &k.x[..len];
    for (out, x) in k.out.iter_mut().zip(x) {
        *out = A::exp(*x);
    }
});

kernel!(Chain { x, y; ; }, f32, A, |k| {
    fold!(k.x.len(); x = k.x, y = k.y; ; A::exp(-(x * y + x)) * x - y * y)
});

kernel!(ChainGrad { x, y; dx, dy; scale }, f32, A, |k| {
    fold!(k.x.len(); x = k.x, y = k.y; dx = k.dx, dy = k.dy; {
        let e = A::exp(-(x * y + x));
        let ex = e * x;
        *dx = (e - ex * (y + 1.0)) * k.scale;
        *dy = -(ex * x + (y + y)) * k.scale;
        ex - y * y
    })
});

/// The bits that any element has.
struct Bits(u32);

impl Combine for Bits {
    fn combine(self, later: Self) -> Self {
        Self(self.0 | later.0)
    }
}
