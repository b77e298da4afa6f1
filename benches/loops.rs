//! Compares elementwise loops and reductions with the limit of the memory: `cargo bench -p mind-benches --bench loops`.
//!
//! The loops are functions of `mind!`, run on one and on two threads. All rows of a table are measured in turn, many
//! times, and the shortest time of each is kept, so that the rows are comparable. The limit of a row is the time for
//! the same bytes in a loop that does nothing else: a read for reductions, a copy for loops that write.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mind::__private::{Combine, Kernel, MultiplyAdd, Separate, Split, copy_strided, join, run};

mod timing;

use mind::{Const, Tensor, TensorView, Workspace, mind, set_threads};
use timing::calls_in;

mind! {
    fn total<N>(x: f32[N]) -> f32 { sum(x) }
    fn distance<N>(x: f32[N], y: f32[N]) -> f32 { sum((x - y) * (x - y)) }
    fn add<N>(x: f32[N], y: f32[N]) -> f32[N] { x + y }
    fn rectify<N>(x: f32[N]) -> f32[N] { relu(x * 2.0 + 1.0) }
    fn exponential<N>(x: f32[N]) -> f32[N] { exp(x) }
    #[grad(x, y)]
    fn chain<N>(x: f32[N], y: f32[N]) -> f32 { mean(exp(-(x * y + x)) * x - y * y) }

    fn rows<N, C>(x: f32[N, C]) -> f32[N] { sum(x, axes = [1]) }
    fn columns<N, C>(x: f32[N, C]) -> f32[C] { sum(x, axes = [0]) }
    fn shifted<N, C>(x: f32[N, C], b: f32[C]) -> f32[N, C] { relu(x + b) }
    fn columns_4<N>(x: f32[N, 4]) -> f32[4] { sum(x, axes = [0]) }
    fn columns_10<N>(x: f32[N, 10]) -> f32[10] { sum(x, axes = [0]) }
    fn columns_16<N>(x: f32[N, 16]) -> f32[16] { sum(x, axes = [0]) }
    fn rows_4<N>(x: f32[N, 4]) -> f32[N] { sum(x, axes = [1]) }
    fn rows_10<N>(x: f32[N, 10]) -> f32[N] { sum(x, axes = [1]) }
    fn rows_16<N>(x: f32[N, 16]) -> f32[N] { sum(x, axes = [1]) }
    fn rows_20<N>(x: f32[N, 20]) -> f32[N] { sum(x, axes = [1]) }
    fn squares_10<N>(x: f32[N, 10]) -> f32[N] { sum(x * x, axes = [1]) }
    #[grad(x)]
    fn bell<N>(x: f32[N]) -> f32 { sum(exp(-x * x) * 0.5 + x) }
    fn bells<N>(x: f32[N]) -> f32[N] { exp(-x * x) * 0.5 + x }
    /// The vector of running sums is in the workspace.
    fn energy<N>(x: f32[N]) -> f32 { let c = cumsum(x, axis = 0); sum(c * c) }
    fn softmax_10<N>(x: f32[N, 10]) -> f32[N, 10] { exp(x) / sum(exp(x), axes = [1], keepdims = true) }
}

fn main() {
    // Cargo's own arguments begin with dashes.
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let is_wanted = |table: &str| wanted.as_deref().is_none_or(|wanted| table == wanted);
    if is_wanted("loops") {
        for len in [1 << 10, 1 << 14, 1 << 17, 1_000_000, 1 << 22] {
            loops(len);
        }
    }
    if is_wanted("matrices") {
        matrices();
    }
    if is_wanted("results") {
        for len in [1_000_000, 4_000_000, 10_000_000, 50_000_000] {
            results(len);
        }
    }
    if is_wanted("threads") {
        worth();
    }
    if is_wanted("transpose") {
        transposes();
    }
}

/// Prints a table of loops over vectors of length `len`.
fn loops(len: usize) {
    let data =
        |seed: usize| Tensor::from_fn_with((len,), |[i]| ((i * 7919 + seed) % 1013) as f32 * 0.001 - 0.5);
    let (x, y) = (data(1), data(500));
    let (mut copied, mut value) = (x.clone(), 0.0);
    let [mut a, mut b, mut c, mut d, mut e] = [(); 5].map(|()| x.clone());
    let mut table = vec![
        Row::new("read one", len, 0, read(x.as_slice())),
        Row::new("copy", len, len, || copied.as_mut_slice().copy_from_slice(black_box(x.as_slice()))),
        Row::new("sum(x)", len, 0, || _ = black_box(total(black_box(&x)))),
        Row::new("sum((x - y)²)", 2 * len, 0, || _ = black_box(distance(black_box(&x), &y))),
        Row::new("x + y", 2 * len, len, into(|workspace| add_into(black_box(&x), &y, &mut a, workspace))),
        Row::new("relu(2 x + 1)", len, len, into(|workspace| rectify_into(black_box(&x), &mut b, workspace))),
        Row::new("exp(x)", len, len, into(|workspace| exponential_into(black_box(&x), &mut c, workspace))),
        Row::new("chain", 2 * len, 0, || _ = black_box(chain(black_box(&x), &y))),
        Row::new("chain and gradient", 2 * len, 2 * len, {
            into(|workspace| chain_grad_into(black_box(&x), &y, (&mut value, (&mut d, &mut e)), workspace))
        }),
    ];
    print(&format!("{len} elements"), &mut table);
}

/// Prints a table of loops over matrices of about a million elements.
fn matrices() {
    let square =
        Tensor::from_fn_with((1000, 1000), |[i, j]| ((i * 31 + j * 7919) % 1013) as f32 * 0.001 - 0.5);
    // All these are views of one matrix, so that the cache holds it.
    let all = square.as_slice();
    let wide = TensorView::from_slice((100, 10_000), all).expect("there are as many");
    let any = TensorView::from_slice((100_000, 10), all).expect("there are as many");
    let (four, ten) = (matrix::<250_000, 4>(all), matrix::<100_000, 10>(all));
    let (sixteen, twenty) = (matrix::<62_500, 16>(all), matrix::<50_000, 20>(all));
    let bias = Tensor::from_fn_with((1000,), |[i]| i as f32 * 0.001);
    let (mut copied, mut shifts, mut shares) = (square.clone(), square.clone(), ten.to_owned());
    let len = 1_000_000;
    let mut table = vec![
        Row::new("read one", len, 0, read(square.as_slice())),
        Row::new("copy", len, len, || {
            copied.as_mut_slice().copy_from_slice(black_box(square.as_slice()));
        }),
        Row::new("relu(x + b)", len, len, {
            into(|workspace| shifted_into(black_box(&square), &bias, &mut shifts, workspace))
        }),
        Row::new("rows of 1000", len, 0, || _ = black_box(rows(black_box(&square)))),
        Row::new("rows of 10,000", len, 0, || _ = black_box(rows(black_box(&wide)))),
        Row::new("rows of 4", len, 0, || _ = black_box(rows_4(black_box(&four)))),
        Row::new("rows of 10", len, 0, || _ = black_box(rows_10(black_box(&ten)))),
        Row::new("rows of 10, not known", len, 0, || _ = black_box(rows(black_box(&any)))),
        Row::new("rows of 16", len, 0, || _ = black_box(rows_16(black_box(&sixteen)))),
        Row::new("rows of 20", len, 0, || _ = black_box(rows_20(black_box(&twenty)))),
        Row::new("squares in rows of 10", len, 0, || _ = black_box(squares_10(black_box(&ten)))),
        Row::new("softmax of rows of 10", len, len, {
            into(|workspace| softmax_10_into(black_box(&ten), &mut shares, workspace))
        }),
        Row::new("1000 columns", len, 0, || _ = black_box(columns(black_box(&square)))),
        Row::new("10,000 columns", len, 0, || _ = black_box(columns(black_box(&wide)))),
        Row::new("4 columns", len, 0, || _ = black_box(columns_4(black_box(&four)))),
        Row::new("10 columns", len, 0, || _ = black_box(columns_10(black_box(&ten)))),
        Row::new("16 columns", len, 0, || _ = black_box(columns_16(black_box(&sixteen)))),
    ];
    print("matrices of a million elements, and sums of their", &mut table);
}

/// Prints a table of functions that return a vector of length `len`, beside their forms that write to a given vector.
fn results(len: usize) {
    let x = Tensor::from_fn_with((len,), |[i]| ((i * 7919) % 1013) as f32 * 0.001 - 0.5);
    let (mut copied, mut value, mut total) = (x.clone(), 0.0, 0.0);
    let [mut y, mut dx] = [(); 2].map(|()| x.clone());
    let mut table = vec![
        Row::new("read one", len, 0, read(x.as_slice())),
        Row::new("copy", len, len, || copied.as_mut_slice().copy_from_slice(black_box(x.as_slice()))),
        Row::new("f_into", len, len, into(|workspace| bells_into(black_box(&x), &mut y, workspace))),
        Row::new("f", len, len, || _ = black_box(bells(black_box(&x)))),
        Row::new("gradient, f_into", len, len, {
            into(|workspace| bell_grad_into(black_box(&x), (&mut value, &mut dx), workspace))
        }),
        Row::new("gradient, f", len, len, || _ = black_box(bell_grad(black_box(&x)))),
        Row::new("scratch, f_into", len, len, {
            into(|workspace| energy_into(black_box(&x), &mut total, workspace))
        }),
        Row::new("scratch, f", len, len, || _ = black_box(energy(black_box(&x)))),
    ];
    print(&format!("results of {len} elements"), &mut table);
}

fn matrix<const N: usize, const C: usize>(elements: &[f32]) -> TensorView<'_, f32, (Const<N>, Const<C>)> {
    TensorView::from_slice((Const, Const), elements).expect("there are as many")
}

/// Measures and prints the rows of a table. The first two rows are the limits: a read and a copy.
fn print(title: &str, rows: &mut [Row<'_>]) {
    measure(rows);
    println!("\n{title} | 1 thread, µs | GB/s | of limit | 2 threads, µs | speed-up");
    let rate = |row: &Row| row.bytes() / row.best[0].as_nanos() as f64;
    for row in &*rows {
        let limit = rate(&rows[usize::from(row.writes > 0)]);
        println!(
            "{:20} | {:9.2} | {:6.1} | {:3.0} % | {:9.2} | {:.2}",
            row.name,
            micros(row.best[0]),
            rate(row),
            100.0 * rate(row) / limit,
            micros(row.best[1]),
            row.best[0].as_secs_f64() / row.best[1].as_secs_f64(),
        );
    }
}

/// Calls a function with a workspace.
fn into<'a>(mut function: impl FnMut(&mut Workspace) -> Result<(), mind::Error> + 'a) -> impl FnMut() + 'a {
    let mut workspace = Workspace::new();
    move || function(&mut workspace).expect("the shapes agree, and no memory is needed")
}

/// Reads `x` and does almost nothing with it.
fn read(x: &[f32]) -> impl FnMut() {
    move || _ = black_box(run(Read { x: black_box(x) }, x.len(), 1, 1))
}

/// Prints from which size on two threads are faster than one.
fn worth() {
    println!("\nelements | x + y: cost, speed-up | exp(x): cost, speed-up");
    for power in 12..=20 {
        let len = 1 << power;
        let (x, mut a, mut b) = (vec![0.5_f32; len], vec![0.0_f32; len], vec![0.0_f32; len]);
        // Loops of this cost are split at any size.
        let cost = 1 << 20;
        let mut rows = [
            Row::new("", 2 * len, len, || run(Add { x: &x, y: &x, out: &mut a }, len, 1, cost)),
            Row::new("", len, len, || run(Exp { x: &x, out: &mut b }, len, 1, cost)),
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
        let len = rows * columns;
        let mut table = [
            Row::new("", len, len, || a.copy_from_slice(black_box(&x))),
            Row::new("", len, len, || copy_strided(&[rows, columns], &[1, rows], 0, black_box(&x), &mut b)),
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

/// A row of a table.
struct Row<'a> {
    name: &'static str,
    /// The number of elements that are read and written.
    reads: usize,
    writes: usize,
    call: Box<dyn FnMut() + 'a>,
    /// The shortest time on one and on two threads.
    best: [Duration; 2],
}

impl<'a> Row<'a> {
    fn new(name: &'static str, reads: usize, writes: usize, call: impl FnMut() + 'a) -> Self {
        Self { name, reads, writes, call: Box::new(call), best: [Duration::MAX; 2] }
    }

    fn bytes(&self) -> f64 {
        ((self.reads + self.writes) * 4) as f64
    }
}

fn measure(rows: &mut [Row<'_>]) {
    const ROUNDS: u32 = 60;
    /// The shortest measurement.
    const SAMPLE: Duration = Duration::from_micros(30);

    let calls: Vec<u32> = rows.iter_mut().map(|row| calls_in(SAMPLE, &mut *row.call)).collect();
    for _ in 0..ROUNDS {
        for threads in [1, 2] {
            set_threads(threads);
            // This gives the second thread time to start and to reach the place where it waits for work.
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

/// Declares a kernel over slices of the same length, which are split at the same index.
macro_rules! kernel {
    ($name:ident { $($read:ident),*; $($written:ident),* }, $output:ty, $by:ident, |$kernel:ident| $body:expr) => {
        struct $name<'a> {
            $($read: &'a [f32],)*
            $($written: &'a mut [f32],)*
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
                let Self { $($read,)* $($written,)* } = self;
                $(let $read = $read.split_at(at);)*
                $(let $written = $written.split_at_mut(at);)*
                (
                    Self { $($read: $read.0,)* $($written: $written.0,)* },
                    Self { $($read: $read.1,)* $($written: $written.1,)* },
                )
            }
        }
    };
}

kernel!(Read { x; }, Bits, A, |k| {
    let mut lanes = [0_u32; 128];
    for block in k.x.as_chunks::<128>().0 {
        for lane in 0..128 {
            lanes[lane] |= block[lane].to_bits();
        }
    }
    Bits(lanes.iter().fold(0, |all, lane| all | lane))
});

kernel!(Add { x, y; out }, (), A, |k| {
    let len = k.out.len();
    let (x, y) = (&k.x[..len], &k.y[..len]);
    for j in 0..len {
        k.out[j] = x[j] + y[j];
    }
});

kernel!(Exp { x; out }, (), A, |k| {
    let len = k.out.len();
    let x = &k.x[..len];
    for (out, x) in k.out.iter_mut().zip(x) {
        *out = A::exp(*x);
    }
});

/// The bitwise or of all elements.
struct Bits(u32);

impl Combine for Bits {
    fn combine(self, later: Self) -> Self {
        Self(self.0 | later.0)
    }
}
