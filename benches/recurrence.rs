//! Times recurrences as loops, forward and with their gradient: `cargo bench -p mind-benches --bench recurrence`.
//! `peers/recurrence.py` has the same rows in PyTorch and JAX.
//!
//! The rows are a GRU of 128 states over 128 steps of 64 features, and a loop with a tiny body compared with the loop
//! by hand. All rows are measured in turn, many times, and the shortest time of each is kept, so that the rows are
//! comparable.

use std::hint::black_box;
use std::time::Duration;

use mind::{Const, Tensor, mind};

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

fn main() -> Result<(), mind::Error> {
    let steps = 1_000_000;
    let elements: Vec<f64> = numbers(4 * steps, 0.5).into_iter().map(f64::from).collect();
    let xs = Tensor::from_vec((steps, Const::<4>), elements.clone())?;
    let (h, w) = (Tensor::from([0.1, 0.2, 0.3, 0.4]), Tensor::from([0.5, 0.6, 0.7, 0.8]));
    let mut rows = Vec::new();
    for batch in [1, 32] {
        let h = Tensor::from_vec((batch, Const::<128>), numbers(batch * 128, 0.5))?;
        let xs = Tensor::from_vec((128, batch, Const::<64>), numbers(128 * batch * 64, 0.5))?;
        let w = Tensor::from_vec((Const::<64>, Const::<384>), numbers(64 * 384, 0.1))?;
        let u = Tensor::from_vec((Const::<128>, Const::<384>), numbers(128 * 384, 0.1))?;
        let b = Tensor::from_vec((Const::<384>,), numbers(384, 0.1))?;
        let again = (h.clone(), xs.clone(), w.clone(), u.clone(), b.clone());
        rows.push(Row::new(format!("GRU, batch {batch}"), move || {
            black_box(gru(&h, &xs, &w, &u, &b));
        }));
        rows.push(Row::new(format!("GRU, batch {batch}, gradient"), move || {
            let (h, xs, w, u, b) = &again;
            black_box(loss_grad(h, xs, w, u, b));
        }));
    }
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
    measure(&mut rows, 15, Duration::from_millis(20));
    println!("| recurrence | µs |\n| --- | --- |");
    for Row { name, best, .. } in rows {
        println!("| {name} | {:.0} |", best.as_secs_f64() * 1e6);
    }
    Ok(())
}
