//! A small convolution network, forward and backward: it learns whether a picture shows a bar that lies or one that
//! stands, wherever it is. The gradient is checked against finite differences first.
//!
//! ```text
//! cargo run --release --example conv
//! ```

use mind::{Tensor, mind};

mind! {
    /// The scores of two classes for `N` pictures: convolution, relu, convolution with stride 2, relu, and the mean over
    /// what is left of the picture. Pictures are `[N, height, width, channels]`, filters `[height, width, in, out]`.
    fn scores<N>(x: f32[N, 12, 12, 1], f1: f32[3, 3, 1, 4], b1: f32[4], f2: f32[3, 3, 4, 8], b2: f32[8],
                 w: f32[8, 2]) -> f32[N, 2] {
        let h = relu(conv2d(x, f1, padding = same) + b1);            // f32[N, 12, 12, 4]
        let h = relu(conv2d(h, f2, strides = [2, 2]) + b2);          // f32[N, 5, 5, 8]
        mean(h, axes = [1, 2]) @ w
    }

    /// Mean cross-entropy against one-hot labels.
    #[grad(f1)]
    fn loss<N>(x: f32[N, 12, 12, 1], y: f32[N, 2], f1: f32[3, 3, 1, 4], b1: f32[4], f2: f32[3, 3, 4, 8], b2: f32[8],
               w: f32[8, 2]) -> f32 {
        let z = scores(x, f1, b1, f2, b2, w);
        let log_p = z - log(sum(exp(z), axis = 1, keepdims = true));
        -mean(sum(y * log_p, axis = 1))
    }

    /// One step of gradient descent, in place.
    fn step<N>(x: f32[N, 12, 12, 1], y: f32[N, 2], f1: &mut f32[3, 3, 1, 4], b1: &mut f32[4],
               f2: &mut f32[3, 3, 4, 8], b2: &mut f32[8], w: &mut f32[8, 2], rate: f32) -> f32 {
        let (l, (df1, db1, df2, db2, dw)) =
            value_and_grad(loss, wrt = (f1, b1, f2, b2, w))(x, y, f1, b1, f2, b2, w);
        f1 -= rate * df1;
        b1 -= rate * db1;
        f2 -= rate * df2;
        b2 -= rate * db2;
        w -= rate * dw;
        l
    }
}

/// Pictures and labels: odd rows show a standing bar, even ones a lying bar, on noise.
type Batch = (Tensor![f32; 32, 12, 12, 1], Tensor![f32; 32, 2]);

fn main() {
    let mut noise = noise();
    let mut f1 = Tensor::from_fn(|[_, _, _, _]| 0.5 * noise());
    let mut f2 = Tensor::from_fn(|[_, _, _, _]| 0.3 * noise());
    let mut w = Tensor::from_fn(|[_, _]| 0.5 * noise());
    let (mut b1, mut b2) = (Tensor::zeros(), Tensor::zeros());

    // The derivative by one weight of the first filter, and how much the loss really changes with it.
    let (x, y) = bars(&mut noise);
    let (_, gradient) = loss_grad(&x, &y, &f1, &b1, &f2, &b2, &w);
    let loss_with = |nudge: f32| {
        let mut f1 = f1.clone();
        f1[[1, 2, 0, 0]] += nudge;
        loss(&x, &y, &f1, &b1, &f2, &b2, &w)
    };
    let difference = (loss_with(1e-2) - loss_with(-1e-2)) / 2e-2;
    println!("gradient {:.5}, finite difference {difference:.5}", gradient[[1, 2, 0, 0]]);
    assert!((gradient[[1, 2, 0, 0]] - difference).abs() < 1e-3);

    for at in 0..=300 {
        let (x, y) = bars(&mut noise);
        let loss = step(&x, &y, &mut f1, &mut b1, &mut f2, &mut b2, &mut w, 0.3);
        if at % 50 == 0 {
            println!("step {at:>3}: loss {loss:.4}");
        }
    }

    let (x, y) = bars(&mut noise);
    let scores = scores(&x, &f1, &b1, &f2, &b2, &w);
    let right = (0..32).filter(|i| (scores[[*i, 1]] > scores[[*i, 0]]) == (y[[*i, 1]] == 1.0)).count();
    println!("{right} of 32 new pictures named right");
    assert!(right >= 31);
}

fn bars(noise: &mut impl FnMut() -> f32) -> Batch {
    let places: [usize; 32] = std::array::from_fn(|_| ((noise() + 1.0) * 6.0) as usize);
    let x = Tensor::from_fn(|[i, row, column, _]| {
        let across = if i % 2 == 1 { column } else { row };
        f32::from(u8::from(across == places[i])) + 0.3 * noise()
    });
    let y = Tensor::from_fn(|[i, class]| f32::from(u8::from(i % 2 == class)));
    (x, y)
}

/// Evenly from -1 to 1, the same on every machine.
fn noise() -> impl FnMut() -> f32 {
    let mut state = 7_u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}
