//! Fits a plane to noisy points by gradient descent and recovers the weights that generated the points.
//!
//! ```text
//! cargo run --release --example linear_regression
//! ```

use mind::{Tensor, mind};

mind! {
    /// Mean squared error of the plane `x @ w + b` at `N` points.
    fn error<N>(x: f32[N, 3], y: f32[N], w: f32[3], b: f32) -> f32 {
        let miss = x @ w + b - y;
        mean(miss * miss)
    }

    /// One step of gradient descent on weights and bias, in place; returns the error before it.
    fn descend<N>(x: f32[N, 3], y: f32[N], w: &mut f32[3], b: &mut f32, rate: f32) -> f32 {
        let (e, (dw, db)) = value_and_grad(error, wrt = (w, b))(x, y, w, b);
        w -= rate * dw;
        b -= rate * db;
        e
    }
}

fn main() {
    let (true_w, true_b) = ([3.0, -2.0, 0.5], 1.0);
    let mut noise = noise();

    // There are 200 points. The extents are static, so rustc itself checks that N is 200 for both.
    let x: Tensor![f32; 200, 3] = Tensor::from_fn(|[_, _]| noise());
    let y: Tensor![f32; 200] = Tensor::from_fn(|[i]| {
        let plane: f32 = (0..3).map(|j| x[[i, j]] * true_w[j]).sum();
        plane + true_b + 0.1 * noise()
    });

    let (mut w, mut b) = (Tensor::zeros(), 0.0);
    for step in 0..=100 {
        let error = descend(&x, &y, &mut w, &mut b, 0.5);
        if step % 20 == 0 {
            println!("step {step:>3}: error {error:.5}");
        }
    }
    println!("weights found: {w:.2}, bias {b:.2}");
    println!("the true ones: {true_w:.2?}, bias {true_b:.2}");

    assert!((0..3).all(|j| (w[[j]] - true_w[j]).abs() < 0.05) && (b - true_b).abs() < 0.05);
}

/// Uniform pseudorandom numbers from -1 to 1, the same on every machine.
fn noise() -> impl FnMut() -> f32 {
    let mut state = 1_u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}
