//! Times composites of the library, as functions and as expressions over Rust variables.
//!
//! Run `cargo bench -p mind-benches --bench composites`. Words after `--` select rows. `peers/composites.py` has the
//! same rows in PyTorch and JAX.
//!
//! All rows are measured in turn, many times, and the shortest time of each is kept, so that the rows are comparable.
//! Results are new tensors, except for Adam, which updates its operands in place. With `MIND_NUM_THREADS=1`, further
//! rows compare the functions with loops fused by hand, both writing to memory that is already allocated.

use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

use mind::{Const, Tensor, Workspace, mind};

mod by_hand;
mod timing;

use by_hand::Rows;
use timing::calls_in;

type Matrix = Tensor<f32, (Const<1024>, Const<1024>)>;
type Vector = Tensor<f32, (Const<1024>,)>;

mind! {
    fn softmax(x: f32[1024, 1024]) -> f32[1024, 1024] { nn::softmax(x) }
    fn log_softmax(x: f32[1024, 1024]) -> f32[1024, 1024] { nn::log_softmax(x) }
    fn layer_norm(x: f32[1024, 1024], scale: f32[1024], bias: f32[1024]) -> f32[1024, 1024] {
        nn::layer_norm(x, scale, bias)
    }
    fn rms_norm(x: f32[1024, 1024], scale: f32[1024]) -> f32[1024, 1024] { nn::rms_norm(x, scale) }
    fn gelu(x: f32[1024, 1024]) -> f32[1024, 1024] { nn::gelu(x) }
    fn cross_entropy(x: f32[1024, 1024], y: i64[1024]) -> f32 { nn::cross_entropy(x, y) }
    fn adam(w: &mut f32[1024, 1024], g: f32[1024, 1024], m: &mut f32[1024, 1024], v: &mut f32[1024, 1024], t: f32) {
        let (new, mean, square) = optim::adam(w, g, m, v, t, 0.001);
        w = new;
        m = mean;
        v = square;
    }
}

/// Attention with eight heads of 64 features, and its gradient by queries, keys and values.
macro_rules! attention {
    ($($module:ident: $places:literal),+) => {$(
        mod $module {
            use super::*;

            pub type Heads = Tensor<f32, (Const<8>, Const<$places>, Const<64>)>;

            mind! {
                pub fn forward(q: f32[8, $places, 64], k: f32[8, $places, 64], v: f32[8, $places, 64]) -> f32[8, $places, 64] {
                    nn::attention(q, k, v)
                }
                pub fn causal(q: f32[8, $places, 64], k: f32[8, $places, 64], v: f32[8, $places, 64]) -> f32[8, $places, 64] {
                    nn::attention_causal(q, k, v)
                }
                #[grad(q, k, v)]
                pub fn loss(
                    q: f32[8, $places, 64], k: f32[8, $places, 64], v: f32[8, $places, 64], dy: f32[8, $places, 64]
                ) -> f32 {
                    sum(tanh(nn::attention(q, k, v)) * dy)
                }
            }

            pub fn rows<'a>() -> Vec<Row<'a>> {
                let [q, k, v, dy] = [1, 2, 3, 4].map(|seed| Heads::from_fn(|[h, i, f]| number(h * 100_000 + i * 64 + f, seed)));
                let name = |what: &str| format!("{what}, {}", $places);
                let bytes = |bytes: usize| format!(" ({:.1} MB)", bytes as f64 / 1e6);
                let operands = (q.clone(), k.clone(), v.clone());
                let again = operands.clone();
                vec![
                    Row::new(name("attention") + &bytes(forward::PEAK_BYTES), move || {
                        black_box(forward(&q, &k, &v));
                    })
                    .beside(move || {
                        let (q, k, v) = &operands;
                        black_box(mind!(nn::attention(q, k, v)));
                    }),
                    {
                        let (q, k, v) = again.clone();
                        Row::new(name("causal attention") + &bytes(causal::PEAK_BYTES), move || {
                            black_box(causal(&q, &k, &v));
                        })
                    },
                    Row::new(name("attention and gradient") + &bytes(loss_grad::PEAK_BYTES), move || {
                        let (q, k, v) = &again;
                        black_box(loss_grad(q, k, v, &dy));
                    }),
                ]
            }
        }
    )+};
}

attention! { of_64: 64, of_256: 256, of_512: 512, of_1024: 1024 }

fn rows<'a>() -> Vec<Row<'a>> {
    let matrix = |seed| Matrix::from_fn(|[i, j]| 4.0 * number(i * 1024 + j, seed));
    let [scale, bias] = [5, 6].map(|seed| Vector::from_fn(|[i]| number(i, seed)));
    let targets = Tensor::<i64, (Const<1024>,)>::from_fn(|[i]| (i * 37 % 1024) as i64);
    let x = &*Box::leak(Box::new(matrix(1)));
    let (scale, bias) = (&*Box::leak(Box::new(scale)), &*Box::leak(Box::new(bias)));
    let targets = &*Box::leak(Box::new(targets));
    let (mut w, g, mut m, mut v) = (matrix(2), matrix(3), matrix(4), matrix(5).map(|v| v * v));
    let mut rows = vec![
        Row::new("softmax".into(), move || _ = black_box(softmax(x))).beside(move || {
            black_box(mind!(nn::softmax(x)));
        }),
        Row::new("log_softmax".into(), move || _ = black_box(log_softmax(x))).beside(move || {
            black_box(mind!(nn::log_softmax(x)));
        }),
        Row::new("layer_norm".into(), move || _ = black_box(layer_norm(x, scale, bias))).beside(move || {
            black_box(mind!(nn::layer_norm(x, scale, bias)));
        }),
        Row::new("rms_norm".into(), move || _ = black_box(rms_norm(x, scale))).beside(move || {
            black_box(mind!(nn::rms_norm(x, scale)));
        }),
        Row::new("gelu".into(), move || _ = black_box(gelu(x))).beside(move || {
            black_box(mind!(nn::gelu(x)));
        }),
        Row::new("cross_entropy".into(), move || _ = black_box(cross_entropy(x, targets))).beside(
            move || {
                black_box(mind!(nn::cross_entropy(x, targets)));
            },
        ),
        Row::new("adam".into(), move || adam(&mut w, &g, &mut m, &mut v, 3.0)),
    ];
    if mind::threads() == 1 {
        rows.extend(rows_by_hand(x, scale, bias, targets));
    }
    rows.extend(of_64::rows().into_iter().chain(of_256::rows()).chain(of_512::rows()).chain(of_1024::rows()));
    rows
}

/// Rows that compare a function that writes to allocated memory with loops fused by hand.
fn rows_by_hand<'a>(
    x: &'a Matrix,
    scale: &'a Vector,
    bias: &'a Vector,
    targets: &'a Tensor<i64, (Const<1024>,)>,
) -> Vec<Row<'a>> {
    macro_rules! rows {
        ($($name:literal: $into:ident($($x:ident),+), $rows:expr;)+) => {
            vec![$({
                let (mut ours, mut theirs) = (x.clone(), x.clone());
                let mut workspace = Workspace::new();
                let function = move || $into($($x),+, &mut ours, &mut workspace).expect("the shapes agree");
                let by_hand = $rows;
                Row::new(concat!("by hand: ", $name).into(), function)
                    .beside(move || by_hand(x.as_slice(), theirs.as_mut_slice()))
            }),+]
        };
    }
    let by_rows = |which: Rows<'a>| move |x: &[f32], out: &mut [f32]| by_hand::rows(which, x, out);
    let mut rows = rows! {
        "softmax": softmax_into(x), by_rows(Rows::Softmax);
        "log_softmax": log_softmax_into(x), by_rows(Rows::LogSoftmax);
        "layer_norm": layer_norm_into(x, scale, bias),
            by_rows(Rows::LayerNorm { scale: scale.as_slice(), bias: bias.as_slice() });
        "rms_norm": rms_norm_into(x, scale), by_rows(Rows::RmsNorm { scale: scale.as_slice() });
        "gelu": gelu_into(x), by_hand::gelu;
    };
    rows.push(
        Row::new("by hand: cross_entropy".into(), move || _ = black_box(cross_entropy(x, targets)))
            .beside(move || _ = black_box(by_hand::cross_entropy(x.as_slice(), targets.as_slice()))),
    );
    let state = || (x.clone(), x.clone(), x.clone(), x.clone().map(|v| v * v));
    let ((mut w, g, mut m, mut v), (mut w2, g2, mut m2, mut v2)) = (state(), state());
    rows.push(Row::new("by hand: adam".into(), move || adam(&mut w, &g, &mut m, &mut v, 3.0)).beside(
        move || {
            let (w, g, m, v) = (w2.as_mut_slice(), g2.as_slice(), m2.as_mut_slice(), v2.as_mut_slice());
            by_hand::adam(w, g, m, v, 3.0, 0.001);
        },
    ));
    rows
}

fn main() {
    // Cargo's own arguments begin with dashes.
    let wanted: Vec<_> = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let mut rows = rows();
    rows.retain(|row| wanted.is_empty() || wanted.iter().any(|name| row.name.contains(name.as_str())));
    measure(&mut rows);
    println!("microseconds a call; in brackets the workspace of a function");
    println!("| composite | function | expression, or loops by hand |");
    println!("| --- | --- | --- |");
    for row in &rows {
        let cells = row
            .best
            .map(|best| best.map_or(String::new(), |best| format!("{:.0}", best.as_secs_f64() * 1e6)));
        println!("| {} | {} |", row.name, cells.join(" | "));
    }
}

/// A number between -1 and 1, the same in every run.
fn number(index: usize, seed: usize) -> f32 {
    let mixed = (index + seed * 104_729).wrapping_mul(2_654_435_761) >> 7 & 0xf_ffff;
    mixed as f32 / 524_288.0 - 1.0
}

/// A row of the table: a function, and the same computation as an expression or as loops by hand.
struct Row<'a> {
    name: String,
    calls: [Option<Box<dyn FnMut() + 'a>>; 2],
    /// The shortest time of a call of each.
    best: [Option<Duration>; 2],
}

impl<'a> Row<'a> {
    fn new(name: String, call: impl FnMut() + 'a) -> Self {
        Self { name, calls: [Some(Box::new(call)), None], best: [None; 2] }
    }

    fn beside(mut self, call: impl FnMut() + 'a) -> Self {
        self.calls[1] = Some(Box::new(call));
        self
    }
}

fn measure(rows: &mut [Row<'_>]) {
    const ROUNDS: u32 = 40;
    /// The shortest measurement. It repeats the call so often that data left in the caches by other rows do not matter.
    /// The peers measure each row alone, so there they do not matter either.
    const SAMPLE: Duration = Duration::from_millis(5);

    let calls: Vec<Vec<u32>> = rows
        .iter_mut()
        .map(|row| row.calls.iter_mut().flatten().map(|call| calls_in(SAMPLE, call)).collect())
        .collect();
    for _ in 0..ROUNDS {
        for (row, calls) in rows.iter_mut().zip(&calls) {
            for ((call, best), calls) in row.calls.iter_mut().flatten().zip(&mut row.best).zip(calls) {
                let start = Instant::now();
                (0..*calls).for_each(|_| call());
                let time = start.elapsed() / *calls;
                *best = Some(best.map_or(time, |best| best.min(time)));
            }
        }
    }
}
