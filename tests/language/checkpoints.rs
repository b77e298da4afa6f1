//! `checkpoint = K`: loops that keep every K-th carry for their gradients.

use mind::{Const, Tensor, mind};

type Vector = Tensor<f64, (Const<3>,)>;
type Vectors = Tensor<f64, (usize, Const<3>)>;

/// The same programs with other options of their loops.
macro_rules! programs {
    ($($(#[$when:meta])? $name:ident [$($option:tt)*] [$($backwards:tt)*] [$($limited:tt)*];)*) => {$(
        $(#[$when])?
        mod $name {
            use super::{Vector, Vectors};

            mind::mind! {
                fn folded<T>(h: f64[3], xs: f64[T, 3], a: f64[3], b: f64) -> f64 {
                    let h = fold h = h for x in xs $($option)* { tanh(h * a + x) * b + h * 0.5 };
                    sum(h * h)
                }
                fn folded_1<T>(h: f64[3], xs: f64[T, 3], a: f64[3], b: f64) -> (f64[3], f64[T, 3], f64[3], f64) {
                    grad(folded, wrt = (h, xs, a, b))(h, xs, a, b)
                }
                fn folded_slope<T>(h: f64[3], xs: f64[T, 3], a: f64[3], b: f64) -> f64 {
                    let (h, xs, a, b) = folded_1(h, xs, a, b);
                    sum(h * h) + sum(xs * xs * xs) + sum(a) * b
                }
                fn folded_2<T>(h: f64[3], xs: f64[T, 3], a: f64[3], b: f64) -> (f64[3], f64[T, 3], f64[3], f64) {
                    grad(folded_slope, wrt = (h, xs, a, b))(h, xs, a, b)
                }

                // A carry that is stacked, the other direction, and a branch in the body.
                fn scanned<T>(h: f64[3], xs: f64[T, 3], a: f64[3], b: f64) -> f64 {
                    let (h, ys) = scan h = h for x in xs $($backwards)* {
                        let y = if sum(x) > 0.1 { sin(h * x) * a } else { exp(h * b) };
                        (y, y * x)
                    };
                    sum(h) + sum(ys * ys)
                }
                fn scanned_1<T>(h: f64[3], xs: f64[T, 3], a: f64[3], b: f64) -> (f64[3], f64[T, 3], f64[3], f64) {
                    grad(scanned, wrt = (h, xs, a, b))(h, xs, a, b)
                }
                fn scanned_slope<T>(h: f64[3], xs: f64[T, 3], a: f64[3], b: f64) -> f64 {
                    let (h, xs, a, b) = scanned_1(h, xs, a, b);
                    sum(h * h) + sum(xs) * b + sum(a)
                }
                fn scanned_2<T>(h: f64[3], xs: f64[T, 3], a: f64[3], b: f64) -> (f64[3], f64[T, 3], f64[3], f64) {
                    grad(scanned_slope, wrt = (h, xs, a, b))(h, xs, a, b)
                }

                // A loop in a loop.
                fn nested<T>(h: f64[3], xs: f64[T, 3], a: f64[3], b: f64) -> f64 {
                    let h = fold h = h for x in xs $($option)* {
                        let g = fold g = 0.1 for y in x $($option)* { sin(g * b + y) * g + sum(a) };
                        tanh(h * a + x * g)
                    };
                    sum(h * h)
                }
                fn nested_1<T>(h: f64[3], xs: f64[T, 3], a: f64[3], b: f64) -> (f64[3], f64[T, 3], f64[3], f64) {
                    grad(nested, wrt = (h, xs, a, b))(h, xs, a, b)
                }

                // A condition ends the loop.
                fn ended<T>(h: f64[3], xs: f64[T, 3], a: f64[3], b: f64) -> f64 {
                    let h = while h = h if sum(h * h) < 40.0, at most = 11 $($limited)* { h * 1.3 + sin(h * a) * b };
                    sum(h * h) + sum(xs)
                }
                fn ended_1<T>(h: f64[3], xs: f64[T, 3], a: f64[3], b: f64) -> (f64[3], f64[T, 3], f64[3], f64) {
                    grad(ended, wrt = (h, xs, a, b))(h, xs, a, b)
                }

                fn known(h: f64[3], xs: f64[10, 3], a: f64[3], b: f64) -> (f64[3], f64[10, 3], f64[3], f64) {
                    folded_1(h, xs, a, b)
                }
            }

            /// The values and gradients, as bits.
            pub fn all(h: &Vector, xs: &Vectors, a: &Vector, b: f64) -> Vec<Vec<u64>> {
                let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
                let mut found = vec![bits(&[folded(h, xs, a, b), scanned(h, xs, a, b), nested(h, xs, a, b), ended(h, xs, a, b)])];
                for gradient in [folded_1, folded_2, scanned_1, scanned_2, nested_1, ended_1] {
                    let (h, xs, a, b) = gradient(h, xs, a, b);
                    found.extend([bits(h.as_slice()), bits(xs.as_slice()), bits(a.as_slice()), bits(&[b])]);
                }
                if let Ok(xs) = mind::Tensor::from_vec((mind::Const::<10>, mind::Const::<3>), xs.as_slice().to_vec()) {
                    let (h, xs, a, b) = known(h, &xs, a, b);
                    found.extend([bits(h.as_slice()), bits(xs.as_slice()), bits(a.as_slice()), bits(&[b])]);
                }
                found
            }
        }
    )*};
}

// Rustc takes several seconds for each. With `checkpoint = 3` some loops are shorter than a segment, some consist of
// whole segments, and some have a shorter segment at the end.
programs! {
    plain [] [, reverse = true] [];
    one [, checkpoint = 1] [, reverse = true, checkpoint = 1] [, checkpoint = 1];
    three [, checkpoint = 3] [, checkpoint = 3, reverse = true] [, checkpoint = 3];
    #[cfg(every_case)]
    five [, checkpoint = 5] [, checkpoint = 5, reverse = true] [, checkpoint = 5];
    #[cfg(every_case)]
    twenty [, checkpoint = 20] [, checkpoint = 20, reverse = true] [, checkpoint = 20];
}

type Program = fn(&Vector, &Vectors, &Vector, f64) -> Vec<Vec<u64>>;

/// The programs that are compiled, with the number of steps between the carries that they keep.
const CHECKPOINTED: &[(usize, Program)] = &[
    (1, one::all),
    (3, three::all),
    #[cfg(every_case)]
    (5, five::all),
    #[cfg(every_case)]
    (20, twenty::all),
];

fn sample(count: usize, scale: f64) -> Vec<f64> {
    (0..count).map(|i| ((i * 7919 % 1009) as f64 / 1009.0 - 0.4) * scale).collect()
}

#[test]
fn a_checkpoint_changes_no_bit_of_values_and_gradients() {
    let vector = |scale| Tensor::from_vec((Const::<3>,), sample(3, scale)).expect("three elements");
    for steps in [1, 2, 3, 4, 6, 9, 10, 15] {
        let xs = Tensor::from_vec((steps, Const::<3>), sample(steps * 3, 1.5))
            .expect("as many elements as places");
        let (h, a, b) = (vector(0.9), vector(-1.7), 0.75);
        let expected = plain::all(&h, &xs, &a, b);
        for (kept, all) in CHECKPOINTED {
            assert_eq!(all(&h, &xs, &a, b), expected, "{steps} steps, every {kept}th carry kept");
        }
    }
}

mind! {
    fn plain_flow(h: f64[64], w: f64[64]) -> f64 {
        let h = fold h = h for _i in 0..500 { tanh(h * w) + h };
        sum(h * h)
    }
    fn plain_slope(h: f64[64], w: f64[64]) -> f64[64] { grad(plain_flow, wrt = w)(h, w) }

    fn flow(h: f64[64], w: f64[64]) -> f64 {
        let h = fold h = h for _i in 0..500, checkpoint = 25 { tanh(h * w) + h };
        sum(h * h)
    }
    fn slope(h: f64[64], w: f64[64]) -> f64[64] { grad(flow, wrt = w)(h, w) }

    fn net(h: f32[8, 32], w: f32[32, 32], u: f32[32, 32]) -> f32 {
        let h = fold h = h for _i in 0..500, checkpoint = 25 { tanh(h @ w) @ u };
        sum(h * h)
    }
    fn net_slope(h: f32[8, 32], w: f32[32, 32], u: f32[32, 32]) -> (f32[32, 32], f32[32, 32]) {
        grad(net, wrt = (w, u))(h, w, u)
    }
    fn plain_net(h: f32[8, 32], w: f32[32, 32], u: f32[32, 32]) -> f32 {
        let h = fold h = h for _i in 0..500 { tanh(h @ w) @ u };
        sum(h * h)
    }
    fn plain_net_slope(h: f32[8, 32], w: f32[32, 32], u: f32[32, 32]) -> (f32[32, 32], f32[32, 32]) {
        grad(plain_net, wrt = (w, u))(h, w, u)
    }
}

#[test]
fn a_gradient_needs_memory_for_the_kept_carries_and_one_segment() {
    const { assert!(slope::PEAK_BYTES * 11 < plain_slope::PEAK_BYTES) };
    // Besides, it needs the transposes of the weights.
    const { assert!(net_slope::PEAK_BYTES * 18 < plain_net_slope::PEAK_BYTES) };
}

#[test]
fn gradients_of_weights_in_products_are_sums_in_another_order() {
    let small = |scale: f32| move |i: usize| ((i * 7919 % 1009) as f32 / 1009.0 - 0.5) * scale;
    let h = Tensor::from_vec((Const::<8>, Const::<32>), (0..256).map(small(1.0)).collect()).unwrap();
    let [w, u] = [0.3, 0.4].map(|scale| {
        Tensor::from_vec((Const::<32>, Const::<32>), (0..1024).map(small(scale)).collect()).unwrap()
    });
    assert_eq!(net(&h, &w, &u).to_bits(), plain_net(&h, &w, &u).to_bits());
    let (expected, found) = (plain_net_slope(&h, &w, &u), net_slope(&h, &w, &u));
    for (expected, found) in [(expected.0, found.0), (expected.1, found.1)] {
        let largest = expected.as_slice().iter().fold(0.0, |most: f32, value| most.max(value.abs()));
        for (expected, found) in expected.as_slice().iter().zip(found.as_slice()) {
            assert!((expected - found).abs() <= 1e-5 * largest, "{found} for {expected}");
        }
    }
}

mind! {
    fn doubled(x: f64) -> f64 { while x = x if x < 1e9, at most = 7, checkpoint = 3 { x * 2.0 } }
    fn doubled_slope(x: f64) -> f64 { grad(doubled, wrt = x)(x) }
}

#[test]
fn a_while_that_exceeds_its_limit_fails_with_a_checkpoint_too() {
    assert_eq!((doubled(1e8), doubled_slope(1e8)), (1.6e9, 16.0));
    for error in [try_doubled(1.0).unwrap_err(), try_doubled_slope(1.0).unwrap_err()] {
        assert!(error.to_string().contains("did not end within its limit of 7 steps"), "{error}");
    }
}
