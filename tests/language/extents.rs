//! Dimensions as numbers, and functions of numbers. They take the element type of the other operand.

use mind::{Tensor, mind};

mind! {
    fn averages<N, M>(x: f32[N, M]) -> (f32, f32[M], f64) {
        (sum(x) / (N * M), sum(x, axis = 0) / N, f64(N) / f64(M))
    }

    fn typed<N>(x: f64[N], i: i32[N], j: i64[N]) -> (f64[N], i32[N], i64[N], i64) {
        (x * N, i - N, j % N, N)
    }

    /// With a declared shape in which an extent is more than a name.
    fn derived<N>(x: f32[N], y: f32[2 * N + 1]) -> (f32, f32) {
        (sum(y) / (2.0 * N + 1.0), sum(x) - N)
    }

    fn scaled<T, D>(q: f64[T, D], k: f64[T, D]) -> f64[T, T] {
        q @ k.T / sqrt(D)
    }

    /// The unbiased variance.
    fn variance<N>(x: f32[N]) -> f32 {
        let centred = x - sum(x) / N;
        sum(centred * centred) / (N - 1.0)
    }

    fn slope<N>(x: f32[N]) -> f32[N] {
        grad(variance, wrt = x)(x)
    }

    fn full_of_it<N>(x: f32[N]) -> (f32[N, 2], i64[3]) {
        (x[0] + full([N, 2], N), full([3], N - 1))
    }

    fn of_numbers<N>(x: f64[N], y: f32[N]) -> (f64[N], f32[N], f64[N]) {
        let root = sqrt(2.0);
        (x * root, y * root, x + maximum(exp(1.0), 2.0) / pow(2.0, 0.5))
    }

    fn ratio<N, M>(x: f32[N], y: f32[M]) -> (f32, i64, bool) {
        (sum(x) * 0.0 + N / M + 0.0 * sum(y), N / M, N > M)
    }
}

#[test]
fn a_dimension_has_the_element_type_of_what_it_meets() {
    let x = Tensor::from([[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(averages(&x), (3.5, Tensor::from([2.5, 3.5, 4.5]), 2.0 / 3.0));
    let found = typed(&Tensor::from([0.5, 1.5]), &Tensor::from([1, 5]), &Tensor::from([4_i64, 7]));
    assert_eq!(found, (Tensor::from([1.0, 3.0]), Tensor::from([-1, 3]), Tensor::from([0_i64, 1]), 2));
    let y = Tensor::from([1.0_f32, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(derived(&Tensor::from([3.0_f32, 4.0]), &y), (3.0, 5.0));
    let (wide, integers) = full_of_it(&Tensor::from([10.0_f32, 0.0, 0.0]));
    assert_eq!((wide, integers), (Tensor::from([[13.0_f32; 2]; 3]), Tensor::from([2_i64; 3])));
    // As floats they divide as floats, alone they divide as integers.
    assert_eq!(ratio(&Tensor::from([1.0_f32; 3]), &Tensor::from([1.0_f32; 2])), (1.5, 1, true));
}

#[test]
fn functions_of_dimensions_and_numbers_are_computed_in_the_type_they_meet() {
    let q = Tensor::from([[1.0, 2.0, 2.0], [0.0, 1.0, 0.5]]);
    let scores = scaled(&q, &q);
    assert_eq!(scores[[0, 0]], 9.0 / 3.0_f64.sqrt());
    let (x, y, z) = of_numbers(&Tensor::from([1.0, 3.0]), &Tensor::from([1.0_f32, 3.0]));
    // In `f64` it is not a widened `f32`.
    assert_eq!((x[[0]], y[[0]]), (2.0_f64.sqrt(), 2.0_f32.sqrt()));
    assert!((z[[1]] - (3.0 + std::f64::consts::E / 2.0_f64.sqrt())).abs() < 1e-14, "{z:?}");
}

#[test]
fn gradients_pass_by_dimensions() {
    let x = Tensor::from([1.0_f32, 2.0, 4.0, 9.0]);
    assert!((variance(&x) - 38.0 / 3.0).abs() < 1e-5);
    for (i, slope) in slope(&x).as_slice().iter().enumerate() {
        assert!((slope - 2.0 * (x[[i]] - 4.0) / 3.0).abs() < 1e-5, "{i}: {slope}");
    }
}

/// Beyond 2^24 a sum of ones in `f32` would not grow.
#[test]
fn many_elements_are_counted_exactly() {
    mind! {
        fn count<N>(x: bool[N]) -> (f32, i64) { (N + 0.0 * f32(any(x)), N) }
    }
    let many = (1 << 24) + 3;
    let found = count(&Tensor::from_vec((many,), vec![false; many]).expect("as many"));
    assert_eq!(found, (16_777_220.0, 16_777_219));
}

#[test]
fn an_extent_of_what_has_no_name_is_a_number_and_stands_in_shapes() {
    mind! {
        fn mean_of<N, M>(x: f32[N, M], w: f32[M, 4]) -> (f32, f32[8]) {
            let y = x @ w;
            (sum(y) / (extent(y, 0) * extent(y, -1)), ones([2 * extent(y, 1)]))
        }
    }
    let (x, w) = (Tensor::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]), Tensor::full(1.0));
    let (mean, ones) = mean_of(&x, &w);
    assert_eq!((mean, ones), (7.0, Tensor::full(1.0)));
    let bare: f32 = mind!(sum(x @ w) / (extent(x, 0) * extent(w, -1)));
    assert_eq!(bare, mean);
    let open = Tensor::from_vec((3, 2), x.as_slice().to_vec()).unwrap();
    let bare: f32 = mind!(sum(open @ w) / (extent(open, 0) * extent(w, -1)));
    assert_eq!(bare, mean);
    assert_eq!(mind!(zeros([extent(open, 1), 2])).dims(), [2, 2]);
}
