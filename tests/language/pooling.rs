//! `max_pool`, `sum_pool`, `avg_pool` and `unfold`.
//!
//! The constants are results of JAX 0.10 (`reduce_window`) and PyTorch 2.15 (`max_pool2d`, `avg_pool2d`) for [`image`].
//! The cotangents are the numbers from 1 up.

use mind::{Tensor, mind};

type Image = Tensor![f32; 1, 5, 6, 2];

/// Numbers from 0 to 4, so that many are equal.
fn image() -> Image {
    Tensor::from_fn(|[_, i, j, c]| {
        let at = (i * 6 + j) * 2 + c;
        (at * at % 5) as f32
    })
}

fn numbered<const H: usize, const W: usize>()
-> Tensor<f32, (mind::Const<1>, mind::Const<H>, mind::Const<W>, mind::Const<2>)> {
    Tensor::from_fn(|[_, i, j, c]| ((i * W + j) * 2 + c + 1) as f32)
}

fn assert_near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 4e-7 * expected.abs(), "{found}, expected {expected}");
    }
}

#[test]
fn the_first_of_equal_elements_receives_the_cotangent_as_in_jax_and_pytorch() {
    mind! {
        fn overlapping(x: f32[1, 5, 6, 2]) -> f32[1, 3, 3, 2] {
            max_pool(x, [3, 3], strides = [2, 2], padding = [[1, 1], [1, 1]])
        }
        fn of_overlapping(x: f32[1, 5, 6, 2], dy: f32[1, 3, 3, 2]) -> f32[1, 5, 6, 2] {
            vjp(overlapping, wrt = x)(x, dy)
        }
        fn uneven(x: f32[1, 5, 6, 2]) -> f32[1, 5, 4, 2] {
            max_pool(x, [2, 3], strides = [1, 2], padding = [[1, 0], [2, 1]])
        }
        fn of_uneven(x: f32[1, 5, 6, 2], dy: f32[1, 5, 4, 2]) -> f32[1, 5, 6, 2] {
            vjp(uneven, wrt = x)(x, dy)
        }
        fn dilated(x: f32[1, 5, 6, 2]) -> f32[1, 5, 5, 2] {
            max_pool(x, [2, 2], strides = [1, 1], padding = [[1, 1], [1, 1]], dilations = [2, 3])
        }
        fn of_dilated(x: f32[1, 5, 6, 2], dy: f32[1, 5, 5, 2]) -> f32[1, 5, 6, 2] {
            vjp(dilated, wrt = x)(x, dy)
        }
    }
    let x = image();
    assert_eq!(overlapping(&x).as_slice(), [4.0; 18]);
    assert_eq!(of_overlapping(&x, &numbered()).as_slice(), OVERLAPPING);
    assert_eq!(uneven(&x).as_slice(), UNEVEN_MAXIMA);
    assert_eq!(of_uneven(&x, &numbered()).as_slice(), UNEVEN);
    assert_eq!(dilated(&x).as_slice(), DILATED_MAXIMA);
    assert_eq!(of_dilated(&x, &numbered()).as_slice(), DILATED);
}

#[test]
fn pools_and_convolutions_take_both_floating_point_types() {
    mind! {
        fn means(x: f64[1, 2, 2, 1]) -> (f64[1, 1, 1, 1], f64[1, 2, 2, 1], f64[1, 2, 2, 1]) {
            (
                avg_pool(x, [2, 2], strides = [2, 2]),
                avg_pool(x, [2, 2], strides = [1, 1], padding = [[0, 1], [0, 1]]),
                avg_pool(x, [2, 2], strides = [1, 1], padding = [[0, 1], [0, 1]], counted = false),
            )
        }
        fn greatest(x: f64[1, 2, 2, 1]) -> f64[1, 1, 1, 1] { max_pool(x, [2, 2], strides = [1, 1]) }
        fn spread(x: f64[1, 2, 2, 1], f: f64[2, 2, 1, 1]) -> f64[1, 3, 3, 1] { conv_transpose2d(x, f) }
    }
    let x = Tensor::from([[[[1.0], [2.0]], [[3.0], [4.0]]]]);
    let (whole, counted, uncounted) = means(&x);
    assert_eq!(whole.as_slice(), [2.5]);
    assert_eq!(counted.as_slice(), [2.5, 1.5, 1.75, 1.0]);
    assert_eq!(uncounted.as_slice(), [2.5, 3.0, 3.5, 4.0]);
    assert_eq!(greatest(&x).as_slice(), [4.0]);
    let ones = Tensor::from([[[[1.0]], [[1.0]]], [[[1.0]], [[1.0]]]]);
    assert_eq!(spread(&x, &ones).as_slice(), [1.0, 3.0, 2.0, 4.0, 10.0, 6.0, 3.0, 7.0, 4.0]);
}

#[test]
fn padding_counts_in_means_as_asked() {
    mind! {
        fn counted(x: f32[1, 5, 6, 2]) -> f32[1, 3, 3, 2] {
            avg_pool(x, [3, 3], strides = [2, 2], padding = [[1, 1], [1, 1]])
        }
        fn of_counted(x: f32[1, 5, 6, 2], dy: f32[1, 3, 3, 2]) -> f32[1, 5, 6, 2] {
            vjp(counted, wrt = x)(x, dy)
        }
        fn uncounted(x: f32[1, 5, 6, 2]) -> f32[1, 3, 3, 2] {
            avg_pool(x, [3, 3], strides = [2, 2], padding = [[1, 1], [1, 1]], counted = false)
        }
        fn of_uncounted(x: f32[1, 5, 6, 2], dy: f32[1, 3, 3, 2]) -> f32[1, 5, 6, 2] {
            vjp(uncounted, wrt = x)(x, dy)
        }
        fn any_uncounted<N, H, W, C>(x: f32[N, H, W, C]) -> f32[N, (H - 1) / 2 + 1, (W - 1) / 2 + 1, C] {
            avg_pool(x, [3, 3], strides = [2, 2], padding = [[1, 1], [1, 1]], counted = false)
        }
        fn of_any_uncounted<N, H, W, C>(
            x: f32[N, H, W, C], dy: f32[N, (H - 1) / 2 + 1, (W - 1) / 2 + 1, C],
        ) -> f32[N, H, W, C] {
            vjp(any_uncounted, wrt = x)(x, dy)
        }
    }
    let x = image();
    assert_near(counted(&x).as_slice(), &COUNTED_MEANS);
    assert_near(of_counted(&x, &numbered()).as_slice(), &COUNTED);
    assert_near(uncounted(&x).as_slice(), &UNCOUNTED_MEANS);
    assert_near(of_uncounted(&x, &numbered()).as_slice(), &UNCOUNTED);
    let any: Tensor![f32; ?, ?, ?, ?] = Tensor::from_fn_with((1, 5, 6, 2), |at| x[at]);
    let dy: Tensor![f32; ?, ?, ?, ?] = Tensor::from_fn_with((1, 3, 3, 2), |at| numbered::<3, 3>()[at]);
    assert_near(any_uncounted(&any).as_slice(), &UNCOUNTED_MEANS);
    assert_near(of_any_uncounted(&any, &dy).as_slice(), &UNCOUNTED);
    let expression =
        mind!(avg_pool(any, [3, 3], strides = [2, 2], padding = [[1, 1], [1, 1]], counted = false));
    assert_near(expression.as_slice(), &UNCOUNTED_MEANS);
}

#[test]
fn padding_is_never_the_maximum() {
    mind! {
        fn f(x: f32[1, 2, 2, 1]) -> f32[1, 3, 3, 1] {
            max_pool(x, [2, 2], strides = [1, 1], padding = [[1, 1], [1, 1]])
        }
        fn g<N>(x: i32[N, 3]) -> i32[(N + 1) / 2, 3] { max_pool(x, [3], strides = [2], padding = same) }
    }
    let x = Tensor::from([[[[-1.0], [-2.0]], [[-3.0], [f32::NEG_INFINITY]]]]);
    let y = f(&x);
    assert_eq!(y.as_slice(), [-1.0, -1.0, -2.0, -1.0, -1.0, -2.0, -3.0, -3.0, f32::NEG_INFINITY]);
    let x = Tensor::from([[-5, 1, -7], [-6, 2, -8], [-4, 3, -9], [-3, 4, -1]]);
    assert_eq!(g(&x).as_slice(), [-4, 3, -7, -3, 4, -1]);
}

#[test]
fn windows_slide_over_one_two_or_three_axes() {
    mind! {
        fn one<N>(x: f32[N, 6, 3]) -> f32[N, 3, 3] { max_pool(x, [2], strides = [2]) }
        fn by_slices<N>(x: f32[N, 6, 3]) -> f32[N, 3, 3] { maximum(x[0.., 0..;2], x[0.., 1..;2]) }
        fn three(x: f32[2, 3, 4, 5, 2]) -> f32[2, 2, 3, 2, 2] {
            sum_pool(x, [2, 2, 3], strides = [1, 1, 2])
        }
        fn by_windows(x: f32[2, 3, 4, 5, 2]) -> f32[2, 2, 3, 2, 2] {
            sum(unfold(x, [2, 2, 3], axes = [1, 2, 3], strides = [1, 1, 2]), axes = [2, 4, 6])
        }
    }
    let x: Tensor![f32; 2, 6, 3] = Tensor::from_fn(|[a, b, c]| ((a * 31 + b * 17 + c * 5) % 11) as f32);
    assert_eq!(one(&x), by_slices(&x));
    let x: Tensor![f32; 2, 3, 4, 5, 2] =
        Tensor::from_fn(|[a, b, c, d, e]| ((a * 31 + b * 17 + c * 5 + d * 7 + e) % 11) as f32);
    assert_eq!(three(&x), by_windows(&x));
}

#[test]
fn windows_are_the_slices_at_their_positions() {
    mind! {
        fn f<N>(x: f32[N, 9]) -> f32[N, 3, 3] { unfold(x, 3, axes = 1, strides = 2, dilations = 2) }
        fn by_slices<N>(x: f32[N, 9]) -> f32[N, 3, 3] {
            stack([x[0.., 0..5;2], x[0.., 2..7;2], x[0.., 4..9;2]], axis = 1)
        }
        fn of_windows<N>(x: f32[N, 9], dy: f32[N, 3, 3]) -> f32[N, 9] { vjp(f, wrt = x)(x, dy) }
        fn of_slices<N>(x: f32[N, 9], dy: f32[N, 3, 3]) -> f32[N, 9] { vjp(by_slices, wrt = x)(x, dy) }
        /// The axes may be written in any order, and count from the end.
        fn in_order(x: f32[2, 5, 6]) -> f32[2, 3, 3, 3, 2] { unfold(x, [2, 3], axes = [-1, 1], strides = [2, 1]) }
        fn ascending(x: f32[2, 5, 6]) -> f32[2, 3, 3, 3, 2] { unfold(x, [3, 2], axes = [1, 2], strides = [1, 2]) }
    }
    let x: Tensor<f32, (usize, mind::Const<9>)> =
        Tensor::from_vec((2, mind::Const), (0..18).map(|i| (i * i % 13) as f32).collect()).expect("18");
    assert_eq!(f(&x), by_slices(&x));
    let dy = f(&x);
    assert_eq!(of_windows(&x, &dy), of_slices(&x, &dy));
    let x: Tensor![f32; 2, 5, 6] = Tensor::from_fn(|[a, b, c]| (a * 30 + b * 6 + c) as f32);
    assert_eq!(in_order(&x), ascending(&x));
}

#[test]
fn batches_pool_each_element_alone() {
    mind! {
        fn f(x: f32[5, 6, 2]) -> f32[3, 3, 2] {
            max_pool(x, [3, 3], strides = [2, 2], padding = [[1, 1], [1, 1]])
        }
        fn all<N>(x: f32[N, 5, 6, 2]) -> f32[N, 3, 3, 2] { vmap(f, over = x)(x) }
        fn windows(x: f32[6]) -> f32[3, 2] { unfold(x, 2, axes = 0, strides = 2) }
        fn all_windows<N>(x: f32[N, 6]) -> f32[N, 3, 2] { vmap(windows, over = x)(x) }
    }
    let x: Tensor![f32; 3, 5, 6, 2] =
        Tensor::from_fn(|[a, b, c, d]| ((a * 31 + b * 17 + c * 5 + d) % 11) as f32);
    let y = all(&x);
    for at in 0..3 {
        let one: Tensor![f32; 5, 6, 2] = Tensor::from_fn(|[b, c, d]| x[[at, b, c, d]]);
        assert_eq!(f(&one).as_slice(), &y.as_slice()[at * 18..][..18]);
    }
    let x: Tensor![f32; 2, 6] = Tensor::from_fn(|[a, b]| (a * 6 + b) as f32);
    assert_eq!(all_windows(&x).as_slice(), x.as_slice());
}

#[test]
fn expressions_pool_as_functions_do() {
    mind! {
        fn max(x: f32[1, 5, 6, 2]) -> f32[1, 5, 4, 2] {
            max_pool(x, [2, 3], strides = [1, 2], padding = [[1, 0], [2, 1]])
        }
        fn average(x: f32[1, 5, 6, 2]) -> f32[1, 3, 3, 2] {
            avg_pool(x, [3, 3], strides = [2, 2], padding = same, counted = false)
        }
    }
    let x = image();
    let pooled = mind!(max_pool(x, [2, 3], strides = [1, 2], padding = [[1, 0], [2, 1]]));
    assert_eq!(pooled.as_slice(), max(&x).as_slice());
    let pooled = mind!(avg_pool(x, [3, 3], strides = [2, 2], padding = same, counted = false));
    assert_eq!(pooled.as_slice(), average(&x).as_slice());
    let windows: Tensor![f32; 1, 4, 2, 6, 2] = mind!(unfold(x, 2, axes = 1)).into();
    assert_eq!(windows[[0, 3, 1, 5, 0]], x[[0, 4, 5, 0]]);
}

/// The gradient of windows that overlap.
#[rustfmt::skip]
const OVERLAPPING: [f32; 60] = [
    0.0, 0.0, 4.0, 6.0, 0.0, 0.0, 0.0, 6.0, 5.0, 0.0, 0.0, 0.0, 7.0, 8.0, 0.0, 0.0, 0.0, 10.0, 20.0, 0.0,
    0.0, 0.0, 0.0, 12.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 14.0, 28.0, 0.0,
    0.0, 0.0, 17.0, 34.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
];
/// Maxima and gradient with padding on one side.
#[rustfmt::skip]
const UNEVEN_MAXIMA: [f32; 40] = [
    0.0, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0,
    4.0, 4.0, 4.0, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0,
];
/// See above.
#[rustfmt::skip]
const UNEVEN: [f32; 60] = [
    1.0, 2.0, 14.0, 16.0, 0.0, 0.0, 0.0, 20.0, 40.0, 8.0, 0.0, 0.0, 45.0, 48.0, 0.0, 0.0, 0.0, 22.0, 21.0,
    0.0, 0.0, 0.0, 23.0, 40.0, 25.0, 0.0, 0.0, 28.0, 56.0, 0.0, 0.0, 0.0, 31.0, 62.0, 0.0, 0.0, 0.0, 96.0,
    35.0, 0.0, 0.0, 0.0, 37.0, 38.0, 0.0, 0.0, 0.0, 40.0, 33.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    39.0, 0.0,
];
/// Maxima and gradient of dilated windows.
#[rustfmt::skip]
const DILATED_MAXIMA: [f32; 50] = [
    1.0, 4.0, 4.0, 4.0, 1.0, 1.0, 4.0, 4.0, 4.0, 1.0, 4.0, 1.0, 1.0, 4.0, 4.0, 4.0, 4.0, 1.0, 1.0, 4.0, 1.0,
    4.0, 4.0, 4.0, 4.0, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 1.0, 4.0, 4.0, 4.0, 4.0, 1.0, 1.0, 0.0, 1.0,
    4.0, 4.0, 4.0, 1.0, 1.0, 4.0, 4.0, 4.0,
];
/// See above.
#[rustfmt::skip]
const DILATED: [f32; 60] = [
    0.0, 0.0, 15.0, 16.0, 0.0, 0.0, 32.0, 34.0, 0.0, 0.0, 0.0, 18.0, 26.0, 28.0, 5.0, 0.0, 22.0, 60.0, 38.0,
    10.0, 0.0, 32.0, 34.0, 0.0, 0.0, 0.0, 0.0, 36.0, 96.0, 12.0, 0.0, 74.0, 35.0, 0.0, 0.0, 0.0, 0.0, 44.0,
    70.0, 46.0, 41.0, 42.0, 92.0, 80.0, 0.0, 0.0, 47.0, 48.0, 33.0, 0.0, 0.0, 0.0, 0.0, 70.0, 39.0, 0.0,
    0.0, 0.0, 0.0, 0.0,
];
/// Means and gradient, with padding left out.
#[rustfmt::skip]
const UNCOUNTED_MEANS: [f32; 18] = [
    2.25, 2.25, 2.0, 2.1666667461395264, 2.1666667461395264, 2.0, 2.0, 2.1666667461395264,
    2.1111111640930176, 1.8888888359069824, 2.1111111640930176, 2.1111111640930176, 2.25, 1.75,
    2.1666667461395264, 1.8333333730697632, 2.0, 2.1666667461395264,
];
/// See above.
#[rustfmt::skip]
const UNCOUNTED: [f32; 60] = [
    0.25, 0.5, 0.75, 1.1666667461395264, 0.5, 0.6666666865348816, 1.3333332538604736, 1.6666667461395264,
    0.8333333134651184, 1.0, 0.8333333134651184, 1.0, 1.4166666269302368, 1.8333333730697632,
    2.9166665077209473, 3.6111111640930176, 1.5, 1.777777910232544, 3.5555553436279297, 4.111111164093018,
    2.055555582046509, 2.3333334922790527, 2.055555582046509, 2.3333334922790527, 1.1666666269302368,
    1.3333333730697632, 2.1666665077209473, 2.4444446563720703, 1.0, 1.1111111640930176, 2.222222328186035,
    2.4444446563720703, 1.2222222089767456, 1.3333333730697632, 1.2222222089767456, 1.3333333730697632,
    4.416666507720947, 4.833333492279053, 7.916666507720947, 8.611111640930176, 3.5, 3.777777910232544,
    7.55555534362793, 8.111111640930176, 4.05555534362793, 4.333333492279053, 4.05555534362793,
    4.333333492279053, 3.25, 3.5, 5.75, 6.1666669845581055, 2.5, 2.6666667461395264, 5.3333330154418945,
    5.6666669845581055, 2.8333332538604736, 3.0, 2.8333332538604736, 3.0,
];
/// Means and gradient, with padding counted as zeros.
#[rustfmt::skip]
const COUNTED_MEANS: [f32; 18] = [
    1.0, 1.0, 1.3333333730697632, 1.4444444179534912, 1.4444444179534912, 1.3333333730697632,
    1.3333333730697632, 1.4444444179534912, 2.1111111640930176, 1.8888888359069824, 2.1111111640930176,
    2.1111111640930176, 1.0, 0.7777777910232544, 1.4444444179534912, 1.2222222089767456, 1.3333333730697632,
    1.4444444179534912,
];
/// See above.
#[rustfmt::skip]
const COUNTED: [f32; 60] = [
    0.1111111119389534, 0.2222222238779068, 0.4444444477558136, 0.6666666865348816, 0.3333333432674408,
    0.4444444477558136, 0.888888955116272, 1.1111111640930176, 0.5555555820465088, 0.6666666865348816,
    0.5555555820465088, 0.6666666865348816, 0.8888888955116272, 1.1111111640930176, 2.222222328186035,
    2.6666667461395264, 1.3333333730697632, 1.5555555820465088, 3.1111111640930176, 3.555555820465088,
    1.7777777910232544, 2.0, 1.7777777910232544, 2.0, 0.7777777910232544, 0.8888888955116272,
    1.7777777910232544, 2.0, 1.0, 1.1111111640930176, 2.222222328186035, 2.4444446563720703,
    1.2222222089767456, 1.3333333730697632, 1.2222222089767456, 1.3333333730697632, 2.222222328186035,
    2.444444417953491, 4.888888835906982, 5.333333492279053, 2.6666665077209473, 2.8888888359069824,
    5.777777671813965, 6.222222328186035, 3.1111111640930176, 3.3333334922790527, 3.1111111640930176,
    3.3333334922790527, 1.4444444179534912, 1.5555555820465088, 3.1111111640930176, 3.3333334922790527,
    1.6666666269302368, 1.7777777910232544, 3.5555553436279297, 3.777777671813965, 1.8888888359069824, 2.0,
    1.8888888359069824, 2.0,
];

/// A stride has no effect with one position, nor a dilation with windows of one element.
#[test]
fn strides_beyond_the_tensor() {
    mind! {
        fn maxima(x: f32[1, 5, 6, 2]) -> f32[1, 1, 1, 2] {
            max_pool(
                x, [1, 1],
                strides = [4611686018427387904, 4611686018427387905],
                dilations = [4611686018427387904, 9223372036854775807],
            )
        }
        fn of_maxima(x: f32[1, 5, 6, 2], dy: f32[1, 1, 1, 2]) -> f32[1, 5, 6, 2] {
            vjp(maxima, wrt = x)(x, dy)
        }
        fn sums(x: f32[1, 5, 6, 2]) -> f32[1, 1, 1, 2] {
            sum_pool(x, [3, 3], strides = [4611686018427387904, 9223372036854775807], padding = same)
        }
        fn of_sums(x: f32[1, 5, 6, 2], dy: f32[1, 1, 1, 2]) -> f32[1, 5, 6, 2] { vjp(sums, wrt = x)(x, dy) }
        fn products(x: f32[1, 5, 6, 2], f: f32[2, 3, 2, 1]) -> f32[1, 1, 1, 1] {
            conv2d(x, f, strides = [4611686018427387904, 9223372036854775807], padding = same)
        }
        fn of_products(x: f32[1, 5, 6, 2], f: f32[2, 3, 2, 1], dy: f32[1, 1, 1, 1])
            -> (f32[1, 5, 6, 2], f32[2, 3, 2, 1]) {
            vjp(products, wrt = (x, f))(x, f, dy)
        }
        fn dilated(x: f32[1, 5, 6, 2], f: f32[2, 3, 2, 1]) -> f32[1, 1, 1, 1] {
            conv2d(x, f, strides = [4611686018427387904, 9223372036854775807], dilations = [1, 2])
        }
    }
    let x = image();
    let at = |i: usize, j: usize, c: usize| x[[0, i, j, c]];
    assert_eq!(maxima(&x).as_slice(), [at(0, 0, 0), at(0, 0, 1)]);
    let ones = |i: usize, j: usize, rows: usize, columns: usize| f32::from(u8::from(i < rows && j < columns));
    let dy = Tensor::full(1.0);
    assert!(of_maxima(&x, &dy) == Tensor::from_fn(|[_, i, j, _]| ones(i, j, 1, 1)));
    // The padding that `same` needs for one position is the window less the tensor, which is none.
    let window = |rows: usize, columns: usize, c: usize| -> f32 {
        (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| at(i, j, c)).sum()
    };
    assert_eq!(sums(&x).as_slice(), [window(3, 3, 0), window(3, 3, 1)]);
    assert!(of_sums(&x, &dy) == Tensor::from_fn(|[_, i, j, _]| ones(i, j, 3, 3)));
    let f = Tensor::full(1.0);
    assert_eq!(products(&x, &f).as_slice(), [window(2, 3, 0) + window(2, 3, 1)]);
    let (dx, df) = of_products(&x, &f, &Tensor::full(1.0));
    assert!(dx == Tensor::from_fn(|[_, i, j, _]| ones(i, j, 2, 3)));
    assert!(df == Tensor::from_fn(|[i, j, c, _]| at(i, j, c)));
    let every_second = (0..2).flat_map(|i| [0, 2, 4].map(|j| at(i, j, 0) + at(i, j, 1))).sum::<f32>();
    assert_eq!(dilated(&x, &f).as_slice(), [every_second]);
}
