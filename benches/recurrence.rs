//! Times recurrences as loops, forward and with their gradient: `cargo bench -p mind-benches --bench recurrence`.
//! `peers/recurrence.py` has the same rows in PyTorch and JAX.
//!
//! The rows are an LSTM and a GRU of 128 states over 128 steps of 64 features, each also written by hand for one thread
//! (`by_hand/cells.rs`), 12 transformer blocks as a loop and as 12 calls, and a loop with a tiny body compared with the
//! loop by hand. All rows are measured in turn, many times, and the shortest time of each is kept, so that the rows are
//! comparable. Words after `--` select rows.

use std::hint::black_box;
use std::time::Duration;

use mind::{Const, Tensor, Xoshiro256, mind};

#[path = "by_hand/cells.rs"]
mod cells;
#[path = "timing/rows.rs"]
mod rows;
mod timing;

use rows::{Row, measure};

mind! {
    fn gru<T, B>(
        h: f32[B, 128], xs: f32[T, B, 64], w: f32[64, 384], u: f32[128, 384], b: f32[384]
    ) -> f32[T, B, 128] {
        let (_, hs) = scan h = h for x in xs {
            let (x, y) = (x @ w + b, h @ u);
            let r = nn::sigmoid(x[.., 0..128] + y[.., 0..128]);
            let z = nn::sigmoid(x[.., 128..256] + y[.., 128..256]);
            let n = tanh(x[.., 256..384] + r * y[.., 256..384]);
            let h = (1.0 - z) * n + z * h;
            (h, h)
        };
        hs
    }

    #[grad(w, u, b)]
    fn loss<T, B>(h: f32[B, 128], xs: f32[T, B, 64], w: f32[64, 384], u: f32[128, 384], b: f32[384]) -> f32 {
        let hs = gru(h, xs, w, u, b);
        sum(hs * hs)
    }

    fn lstm<T, B>(
        h: f32[B, 128], c: f32[B, 128], xs: f32[T, B, 64], w: f32[64, 512], u: f32[128, 512], b: f32[512]
    ) -> f32[T, B, 128] {
        let (_, hs) = scan (h, c) = (h, c) for x in xs {
            let (h, c) = nn::lstm_cell(x, h, c, w, u, b);
            ((h, c), h)
        };
        hs
    }

    #[grad(w, u, b)]
    fn lstm_loss<T, B>(
        h: f32[B, 128], c: f32[B, 128], xs: f32[T, B, 64], w: f32[64, 512], u: f32[128, 512], b: f32[512]
    ) -> f32 {
        let hs = lstm(h, c, xs, w, u, b);
        sum(hs * hs)
    }

    /// A transformer block.
    #[derive(Clone)]
    struct Block {
        scale1: f32[64], bias1: f32[64], wq: f32[64, 64], wk: f32[64, 64], wv: f32[64, 64], wo: f32[64, 64],
        scale2: f32[64], bias2: f32[64], w1: f32[64, 256], b1: f32[256], w2: f32[256, 64], b2: f32[64],
    }

    /// Twelve transformer blocks as a loop.
    #[grad(blocks)]
    fn looped(x: f32[8, 64, 64], blocks: Block[12]) -> f32 {
        let y = fold x = x for block in blocks { nn::transformer_block_causal(x, block, heads = 4) };
        mean(y * y)
    }

    /// The same blocks as twelve calls.
    #[grad(blocks)]
    fn unrolled(x: f32[8, 64, 64], blocks: Block[12]) -> f32 {
        let x = nn::transformer_block_causal(x, blocks[0], heads = 4);
        let x = nn::transformer_block_causal(x, blocks[1], heads = 4);
        let x = nn::transformer_block_causal(x, blocks[2], heads = 4);
        let x = nn::transformer_block_causal(x, blocks[3], heads = 4);
        let x = nn::transformer_block_causal(x, blocks[4], heads = 4);
        let x = nn::transformer_block_causal(x, blocks[5], heads = 4);
        let x = nn::transformer_block_causal(x, blocks[6], heads = 4);
        let x = nn::transformer_block_causal(x, blocks[7], heads = 4);
        let x = nn::transformer_block_causal(x, blocks[8], heads = 4);
        let x = nn::transformer_block_causal(x, blocks[9], heads = 4);
        let x = nn::transformer_block_causal(x, blocks[10], heads = 4);
        let y = nn::transformer_block_causal(x, blocks[11], heads = 4);
        mean(y * y)
    }

    fn decay<T>(h: f64[4], xs: f64[T, 4], w: f64[4]) -> f64[4] { fold h = h for x in xs { h * w + x } }

    #[grad(w)]
    fn decay_loss<T>(h: f64[4], xs: f64[T, 4], w: f64[4]) -> f64 { sum(decay(h, xs, w)) }
}

/// Numbers between -`scale` and `scale`.
fn numbers(count: usize, scale: f32) -> Vec<f32> {
    (0..count)
        .map(|at| ((at as u32).wrapping_mul(2_654_435_761) as f32 / u32::MAX as f32 * 2.0 - 1.0) * scale)
        .collect()
}

/// The inputs of a cell by hand.
fn inputs<'a>(batch: usize, [h, xs, w, u, b]: [&'a [f32]; 5]) -> cells::Inputs<'a> {
    cells::Inputs { batch, h, xs, w, u, b }
}

/// Panics unless all elements agree within the rounding of sums over all steps.
fn assert_near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0, |largest: f32, element| largest.max(element.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-4 * largest, "{found}, expected {expected}");
    }
}

fn main() -> Result<(), mind::Error> {
    let steps = 1_000_000;
    let elements: Vec<f64> = numbers(4 * steps, 0.5).into_iter().map(f64::from).collect();
    let xs = Tensor::from_vec((steps, Const::<4>), elements.clone())?;
    let (h, w) = (Tensor::from([0.1, 0.2, 0.3, 0.4]), Tensor::from([0.5, 0.6, 0.7, 0.8]));
    let blocks = BlockStack::<Const<12>>::glorot_normal(&mut Xoshiro256::new(1));
    let x = Tensor::randn(&mut Xoshiro256::new(2));
    // Both compute the same.
    let (in_loop, apart) = (looped_grad(&x, &blocks), unrolled_grad(&x, &blocks));
    assert!((in_loop.0 - apart.0).abs() <= 1e-5 * apart.0.abs());
    let mut rows = Vec::new();
    for batch in [1, 32] {
        let (h, c) = (numbers(batch * 128, 0.5), numbers(batch * 128, 0.25));
        let h = Tensor::from_vec((batch, Const::<128>), h)?;
        let c = Tensor::from_vec((batch, Const::<128>), c)?;
        let xs = Tensor::from_vec((128, batch, Const::<64>), numbers(128 * batch * 64, 0.5))?;
        let w = Tensor::from_vec((Const::<64>, Const::<512>), numbers(64 * 512, 0.1))?;
        let u = Tensor::from_vec((Const::<128>, Const::<512>), numbers(128 * 512, 0.1))?;
        let b = Tensor::from_vec((Const::<512>,), numbers(512, 0.1))?;
        let [again, of_value, of_gradient] =
            [(); 3].map(|()| (h.clone(), c.clone(), xs.clone(), w.clone(), u.clone(), b.clone()));
        {
            let (h, c, xs, w, u, b) = &again;
            let inputs =
                inputs(batch, [h.as_slice(), xs.as_slice(), w.as_slice(), u.as_slice(), b.as_slice()]);
            let states = cells::lstm(&inputs, c.as_slice()).states;
            assert_near(lstm(h, c, xs, w, u, b).as_slice(), &states);
            let cells::Gradients { w: dw, u: du, b: db } = cells::lstm_gradients(&inputs, c.as_slice());
            let (_, found) = lstm_loss_grad(h, c, xs, w, u, b);
            assert_near(found.0.as_slice(), &dw);
            assert_near(found.1.as_slice(), &du);
            assert_near(found.2.as_slice(), &db);
        }
        rows.push(Row::new(format!("LSTM, batch {batch}"), move || {
            black_box(lstm(&h, &c, &xs, &w, &u, &b));
        }));
        rows.push(Row::new(format!("LSTM, batch {batch}, by hand"), move || {
            let (h, c, xs, w, u, b) = &of_value;
            let inputs =
                inputs(batch, [h.as_slice(), xs.as_slice(), w.as_slice(), u.as_slice(), b.as_slice()]);
            black_box(cells::lstm(&inputs, c.as_slice()));
        }));
        rows.push(Row::new(format!("LSTM, batch {batch}, gradient"), move || {
            let (h, c, xs, w, u, b) = &again;
            black_box(lstm_loss_grad(h, c, xs, w, u, b));
        }));
        rows.push(Row::new(format!("LSTM, batch {batch}, gradient by hand"), move || {
            let (h, c, xs, w, u, b) = &of_gradient;
            let inputs =
                inputs(batch, [h.as_slice(), xs.as_slice(), w.as_slice(), u.as_slice(), b.as_slice()]);
            black_box(cells::lstm_gradients(&inputs, c.as_slice()));
        }));
    }
    for batch in [1, 32] {
        let h = Tensor::from_vec((batch, Const::<128>), numbers(batch * 128, 0.5))?;
        let xs = Tensor::from_vec((128, batch, Const::<64>), numbers(128 * batch * 64, 0.5))?;
        let w = Tensor::from_vec((Const::<64>, Const::<384>), numbers(64 * 384, 0.1))?;
        let u = Tensor::from_vec((Const::<128>, Const::<384>), numbers(128 * 384, 0.1))?;
        let b = Tensor::from_vec((Const::<384>,), numbers(384, 0.1))?;
        let [again, of_value, of_gradient] =
            [(); 3].map(|()| (h.clone(), xs.clone(), w.clone(), u.clone(), b.clone()));
        {
            let (h, xs, w, u, b) = &again;
            let inputs =
                inputs(batch, [h.as_slice(), xs.as_slice(), w.as_slice(), u.as_slice(), b.as_slice()]);
            assert_near(gru(h, xs, w, u, b).as_slice(), &cells::gru(&inputs).states);
            let cells::Gradients { w: dw, u: du, b: db } = cells::gru_gradients(&inputs);
            let (_, found) = loss_grad(h, xs, w, u, b);
            assert_near(found.0.as_slice(), &dw);
            assert_near(found.1.as_slice(), &du);
            assert_near(found.2.as_slice(), &db);
        }
        rows.push(Row::new(format!("GRU, batch {batch}"), move || {
            black_box(gru(&h, &xs, &w, &u, &b));
        }));
        rows.push(Row::new(format!("GRU, batch {batch}, by hand"), move || {
            let (h, xs, w, u, b) = &of_value;
            let inputs =
                inputs(batch, [h.as_slice(), xs.as_slice(), w.as_slice(), u.as_slice(), b.as_slice()]);
            black_box(cells::gru(&inputs));
        }));
        rows.push(Row::new(format!("GRU, batch {batch}, gradient"), move || {
            let (h, xs, w, u, b) = &again;
            black_box(loss_grad(h, xs, w, u, b));
        }));
        rows.push(Row::new(format!("GRU, batch {batch}, gradient by hand"), move || {
            let (h, xs, w, u, b) = &of_gradient;
            let inputs =
                inputs(batch, [h.as_slice(), xs.as_slice(), w.as_slice(), u.as_slice(), b.as_slice()]);
            black_box(cells::gru_gradients(&inputs));
        }));
    }
    rows.push(Row::new("12 transformer blocks, loop", || {
        black_box(looped(&x, &blocks));
    }));
    rows.push(Row::new("12 transformer blocks, calls", || {
        black_box(unrolled(&x, &blocks));
    }));
    rows.push(Row::new("12 transformer blocks, loop, gradient", || {
        black_box(looped_grad(&x, &blocks));
    }));
    rows.push(Row::new("12 transformer blocks, calls, gradient", || {
        black_box(unrolled_grad(&x, &blocks));
    }));
    rows.push(Row::new("a million steps of 4 numbers, by hand", || {
        let (mut h, w) = ([0.1, 0.2, 0.3, 0.4], black_box([0.5, 0.6, 0.7, 0.8]));
        for x in elements.chunks_exact(4) {
            for at in 0..4 {
                h[at] = h[at] * w[at] + x[at];
            }
        }
        black_box(h);
    }));
    rows.push(Row::new("a million steps of 4 numbers", || {
        black_box(decay(&h, &xs, &w));
    }));
    rows.push(Row::new("a million steps of 4 numbers, gradient", || {
        black_box(decay_loss_grad(&h, &xs, &w));
    }));
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    rows.retain(|row| words.is_empty() || words.iter().any(|word| row.name.contains(word.as_str())));
    measure(&mut rows, 15, Duration::from_millis(20));
    println!("| recurrence | µs |\n| --- | --- |");
    for Row { name, best, .. } in rows {
        println!("| {name} | {:.0} |", best.as_secs_f64() * 1e6);
    }
    Ok(())
}
