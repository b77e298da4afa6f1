//! `#[memory(max = …)]`: bounds on the memory for temporaries.

use mind::{Const, Tensor, Xoshiro256, mind};

mind! {
    // The first one needs 64 bytes for a number, or none.
    #[memory(max = "4 KiB")]
    fn known(x: f32[4, 8], w: f32[8, 8]) -> f32[4] { sum(tanh(x @ w) @ w, axis = 1) }

    #[memory(max = "2 KiB")]
    #[grad(w)]
    fn open<N>(x: f64[N, 8], w: f64[8, 8]) -> f64 {
        let y = tanh(x @ w);
        mean(y @ w)
    }

    #[memory(max = "1 B")]
    fn updated<N, M>(x: &mut f64[N, M], w: f64[M, M]) { x += (x @ w) @ w; }
}

#[test]
fn a_call_that_needs_no_more_than_the_bound_succeeds() {
    assert!(known::PEAK_BYTES <= 4096);
    assert_eq!(known(&Tensor::full(0.0), &Tensor::full(1.0)), Tensor::full(0.0));
    let (x, w) = (Tensor::from_vec((2, Const::<8>), vec![0.0; 16]).unwrap(), Tensor::full(1.0));
    assert!(open_grad::peak_bytes(2) <= 2048);
    assert_eq!(open_grad(&x, &w), (0.0, Tensor::full(0.0)));
}

#[test]
fn a_call_that_needs_more_fails_before_it_writes() {
    let (x, w) = (Tensor::from_vec((100, Const::<8>), vec![0.0; 800]).unwrap(), Tensor::full(1.0));
    let needed = open_grad::peak_bytes(100);
    let error = try_open_grad(&x, &w).unwrap_err();
    assert_eq!(error.code(), "E6011");
    assert_eq!(
        error.to_string(),
        format!(
            "E6011: `open_grad` needs {needed} bytes for temporaries, {} more than its bound of 2048 bytes (N = 100)",
            needed - 2048
        )
    );
    let (mut x, w) = (Tensor::from([[1.0, 2.0]; 3]), Tensor::from([[1.0, 0.0], [0.0, 1.0]]));
    let (mut x, w): (Tensor<f64, (usize, usize)>, Tensor<f64, (usize, usize)>) = {
        let dynamic = |of: &[f64], rows: usize| Tensor::from_vec((rows, 2), of.to_vec()).unwrap();
        (dynamic(x.as_mut_slice(), 3), dynamic(w.as_slice(), 2))
    };
    let before = x.clone();
    let error = try_updated(&mut x, &w).unwrap_err().to_string();
    assert!(error.ends_with("more than its bound of 1 bytes (N = 3, M = 2)"), "{error}");
    assert_eq!(x, before);
}

/// The same functions, without a bound and with one.
macro_rules! bounded {
    ($kept:ident, $again:ident, $max:literal, ($($parameters:tt)*) { $($body:tt)* }) => {
        mind! {
            struct Net {
                w0: f32[32, 32], w1: f32[32, 32], w2: f32[32, 32], w3: f32[32, 32],
                w4: f32[32, 32], w5: f32[32, 32], w6: f32[32, 32], w7: f32[32, 32],
            }

            fn layer(x: f32[64, 32], w: f32[32, 32]) -> f32[64, 32] { x + tanh(nn::gelu(x @ w)) }

            fn flow(h: f64[64], w: f64[64]) -> f64[64] { h + 0.01 * tanh(w * h) * h }

            #[grad(w)]
            fn $kept($($parameters)*) -> f64 { $($body)* }

            #[memory(max = $max)]
            #[grad(w)]
            fn $again($($parameters)*) -> f64 { $($body)* }
        }
    };
}

mod layers {
    use super::*;

    bounded!(kept, again, "96 KiB", (x: f32[64, 32], w: Net) {
        let y = layer(layer(layer(layer(x, w.w0), w.w1), w.w2), w.w3);
        let y = layer(layer(layer(layer(y, w.w4), w.w5), w.w6), w.w7);
        f64(mean(y))
    });

    #[test]
    fn values_of_layers_are_computed_again_to_meet_the_bound() {
        let mut random = Xoshiro256::new(1);
        let (x, w) = (Tensor::randn(&mut random), Net::glorot_normal(&mut random));
        let ((a, da), (b, db)) = (kept_grad(&x, &w), again_grad(&x, &w));
        assert_eq!((a, da.w0, da.w1, da.w4, da.w7), (b, db.w0, db.w1, db.w4, db.w7));
        assert!(kept_grad::PEAK_BYTES > 96 * 1024 * 3 / 2 && again_grad::PEAK_BYTES <= 96 * 1024);
    }
}

mod steps {
    use super::*;

    bounded!(kept, again, "64 KiB", (h: f64[64], w: f64[64]) {
        sum(fold h = h for _i in 0..500 { flow(h, w) })
    });

    #[test]
    fn steps_of_loops_are_computed_again_to_meet_the_bound() {
        let (h, w) = (Tensor::full(0.5), Tensor::full(0.1));
        assert_eq!(kept_grad(&h, &w), again_grad(&h, &w));
        assert!(kept_grad::PEAK_BYTES > 4 * 64 * 1024 && again_grad::PEAK_BYTES <= 64 * 1024);
    }
}
