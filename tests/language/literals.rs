//! Numbers, arrays of numbers, and the dtypes that they take.

use mind::{Tensor, mind};

#[test]
fn a_literal_takes_its_dtype_from_what_it_meets() {
    mind! {
        fn f(a: f32[2], b: f64[2], c: i32[2], d: i64[2]) -> (f32[2], f64[2], i32[2], i64[2]) {
            (a + 0.1, 0.1 - b, c * 3, -5 + d)
        }
    }
    let (a, b, c, d) =
        f(&Tensor::from([1.0, 2.0]), &Tensor::from([1.0, 2.0]), &Tensor::from([1, 2]), &Tensor::from([1, 2]));
    assert_eq!(a, Tensor::from([1.0 + 0.1_f32, 2.0 + 0.1]));
    assert_eq!(b, Tensor::from([0.1 - 1.0_f64, 0.1 - 2.0]));
    assert_eq!((c, d), (Tensor::from([3, 6]), Tensor::from([-4, -3])));
}

#[test]
fn a_literal_takes_its_dtype_from_the_result_or_an_argument() {
    mind! {
        fn half() -> f64 {
            0.1
        }

        fn scale(x: f64[2], by: f64) -> f64[2] {
            x * by
        }

        fn f(x: f64[2]) -> (f64[2], i32, f64[2]) {
            let tenth = 0.1;
            (scale(x, 0.1), 7, x * tenth)
        }
    }
    assert_eq!(half(), 0.1_f64);
    let (a, b, c) = f(&Tensor::from([1.0, 3.0]));
    assert_eq!(a, Tensor::from([0.1, 3.0 * 0.1]));
    assert_eq!((b, c), (7_i32, a));
}

#[test]
fn without_context_a_literal_is_f32_or_i64() {
    let f = mind!(|| (1.5, 7, [1.0, 2.0], [[1, 2], [3, 4]]));
    let (a, b, c, d): (f32, i64, Tensor![f32; 2], Tensor![i64; 2, 2]) = f();
    assert_eq!((a, b), (1.5, 7));
    assert_eq!((c, d), (Tensor::from([1.0, 2.0]), Tensor::from([[1, 2], [3, 4]])));
}

#[test]
fn a_suffix_gives_the_dtype() {
    let f = mind!(|| (1_f64, 2.5_f64, 7_i32, 0x10, 1_000, 1e3_f64, [1_i32, 2]));
    let (a, b, c, d, e, g, h): (f64, f64, i32, i64, i64, f64, Tensor![i32; 2]) = f();
    assert_eq!((a, b, c, d, e, g), (1.0, 2.5, 7, 16, 1000, 1000.0));
    assert_eq!(h, Tensor::from([1, 2]));
}

#[test]
#[allow(clippy::excessive_precision, reason = "the digits beyond are what is tested")]
fn a_float_literal_is_rounded_once_to_its_dtype() {
    mind! {
        fn f(x: f32) -> f32 {
            x + 1.00000017881393432617187499
        }
    }
    // The number is just below halfway between two f32s. If it were rounded to f64 first, it would be exactly halfway.
    assert_eq!(f(0.0).to_bits(), 1.00000017881393432617187499_f32.to_bits());
}

#[test]
fn the_ends_of_the_integer_range_can_be_written() {
    mind! {
        fn f(x: i64, y: i32) -> (i64, i64, i32, i32) {
            (x + 9223372036854775807, x + -9223372036854775808, y + 2147483647, y + -2147483648)
        }
    }
    assert_eq!(f(0, 0), (i64::MAX, i64::MIN, i32::MAX, i32::MIN));
}

#[test]
fn arrays_nest_and_broadcast() {
    mind! {
        fn f(x: f32[2, 3]) -> f32[2, 3] {
            x * [1.0, 10.0, 100.0] + [[1.0], [2.0]]
        }

        fn identity() -> f64[3, 3] {
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        }

        fn deep() -> i32[1, 2, 2] {
            [[[1, -2], [3, -4]]]
        }
    }
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(f(&x), Tensor::from([[2.0, 21.0, 301.0], [6.0, 52.0, 602.0]]));
    assert_eq!(identity(), Tensor::from_fn(|[i, j]| f64::from(u8::from(i == j))));
    assert_eq!(deep(), Tensor::from([[[1, -2], [3, -4]]]));
}

#[test]
fn an_array_may_be_bound_and_used_twice() {
    mind! {
        fn f(x: f32[2], y: f64[2]) -> (f32[2], f64[2]) {
            let weights = [0.1, 0.2];
            (x * weights, y * weights)
        }
    }
    let (a, b) = f(&Tensor::from([1.0, 1.0]), &Tensor::from([1.0, 1.0]));
    assert_eq!((a, b), (Tensor::from([0.1, 0.2]), Tensor::from([0.1, 0.2])));
}

#[test]
fn arithmetic_on_literals_is_done_in_their_dtype() {
    mind! {
        fn f(x: f32, n: i64) -> (f32, i64, f32) {
            (x + (1.0 / 3.0), n + (7 - 10) * 2, x * -(2.0 + 0.5))
        }
    }
    assert_eq!(f(0.0, 0), (1.0_f32 / 3.0, -6, -0.0));
    assert_eq!(f(2.0, 1), (2.0 + 1.0_f32 / 3.0, -5, -5.0));
}

#[test]
fn zeros_ones_and_full_take_shape_and_dtype() {
    mind! {
        fn f<N>(x: f64[N, 2]) -> (f64[N, 2], f64[2], i64[3], f64[N], f32[2, 2]) {
            let a = x + zeros([N, 2]);
            let b = ones([2]) * 2.0_f64;
            let c: i64[3] = full([3], 7);
            let d = sum(x, axes = [1]) * full([N], 3.0);
            (a, b, c, d, zeros([2, 2]) - 1.0)
        }

        fn like<N>(x: f32[N, 2], n: i32[3]) -> (f32[N, 2], f32[N, 2], i32[3]) {
            (zeros_like(x), ones_like(x), ones_like(n))
        }

        fn one() -> f32[] {
            ones([])
        }
    }
    let (a, b, c, d, e) = f(&Tensor::from([[1.0, 2.0], [3.0, 4.0]]));
    assert_eq!(a, Tensor::from([[1.0, 2.0], [3.0, 4.0]]));
    assert_eq!((b, c), (Tensor::from([2.0, 2.0]), Tensor::from([7, 7, 7])));
    assert_eq!((d, e), (Tensor::from([9.0, 21.0]), Tensor::from([[-1.0, -1.0], [-1.0, -1.0]])));
    let (a, b, c) = like(&Tensor::<f32, _>::full_with((5, mind::Const), f32::NAN), &Tensor::from([0, 0, 0]));
    assert_eq!((a.as_slice(), b.as_slice()), (&[0.0; 10][..], &[1.0; 10][..]));
    assert_eq!(c, Tensor::from([1, 1, 1]));
    assert_eq!(one(), 1.0);
}
