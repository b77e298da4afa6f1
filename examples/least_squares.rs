//! A least-squares fit with ndarray in which three lines use `mind!`. They compute the gradient and fuse the
//! arithmetic. The comments above them show the code that they replace.
//!
//! ```text
//! cargo run --release --features ndarray --example least_squares
//! ```

use mind::mind;
use ndarray::{Array1, Array2};

fn main() {
    let (x, y) = measurements(200);
    let (mut w, mut b) = (Array1::<f64>::zeros(3), 0.0_f64);
    let rate = 0.2;
    for at in 0..=100 {
        // let miss = x.dot(&w) + b - &y;
        // let error = (&miss * &miss).mean().unwrap();
        // let (dw, db) = (x.t().dot(&miss) * 2.0 / miss.len() as f64, 2.0 * miss.mean().unwrap());
        let (error, (dw, db)) = mind!(value_and_grad(mean((x @ w + b - y) * (x @ w + b - y)), wrt = (w, b)));
        // w -= &(rate * &dw);
        w -= &mind!(rate * dw);
        b -= rate * db;
        if at % 25 == 0 {
            println!("step {at:>3}: error {error:.6}");
        }
    }
    // let miss = x.dot(&w) + b - &y;
    let miss = mind!(x @ w + b - y);
    println!(
        "weights {w:.3}, bias {b:.3}, largest miss {:.3}",
        miss.fold(0.0, |most: f64, m| most.max(m.abs()))
    );
    assert!((0..3).all(|j| (w[j] - [3.0, -2.0, 0.5][j]).abs() < 0.02) && (b - 1.0).abs() < 0.02);
}

/// Points with a little noise on the plane with these weights.
fn measurements(count: usize) -> (Array2<f64>, Array1<f64>) {
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 23) - 1.0
    };
    let x = Array2::from_shape_simple_fn((count, 3), &mut noise);
    let y = x.dot(&Array1::from_vec(vec![3.0, -2.0, 0.5])) + 1.0;
    let y = y.mapv(|y| y + 0.05 * noise());
    (x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_above_give_what_the_expressions_give() {
        let (x, y) = measurements(50);
        let (w, b) = (Array1::from_vec(vec![0.5, -0.25, 1.0]), 0.125);
        let miss = x.dot(&w) + b - &y;
        let error = (&miss * &miss).mean().expect("there are points");
        let dw = x.t().dot(&miss) * 2.0 / miss.len() as f64;
        let db = 2.0 * miss.mean().expect("there are points");
        let (found, (found_dw, found_db)) =
            mind!(value_and_grad(mean((x @ w + b - y) * (x @ w + b - y)), wrt = (w, b)));
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(close(found, error) && close(found_db, db));
        assert!(found_dw.iter().zip(&dw).all(|(found, dw)| close(*found, *dw)), "{found_dw}, {dw}");
    }
}
