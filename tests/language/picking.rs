//! Indices that are tensors: `x[i, j]`, and elements replaced, added and compared at indices.

use mind::{Tensor, mind};

/// A tensor whose element at `i, j, k` is `100 i + 10 j + k`.
fn numbered() -> Tensor<f32, (mind::Const<4>, mind::Const<5>, mind::Const<6>)> {
    Tensor::from(std::array::from_fn::<_, 4, _>(|i| {
        std::array::from_fn::<_, 5, _>(|j| std::array::from_fn::<_, 6, _>(|k| (100 * i + 10 * j + k) as f32))
    }))
}

#[test]
fn one_index_tensor_replaces_its_axis() {
    mind! {
        fn first(x: f32[4, 5, 6], i: u8[2, 1]) -> f32[2, 1, 5, 6] { x[i] }
        fn middle(x: f32[4, 5, 6], i: i64[2]) -> f32[4, 2, 6] { x[0.., i] }
        fn last<K>(x: f32[4, 5, 6], i: i32[K]) -> f32[4, 5, K] { x[.., i] }
        fn of_a_part(x: f32[4, 5, 6], i: i32[2]) -> f32[2, 2, 6] { x[1..3, i] }
        fn with_new_axes(x: f32[4, 5, 6], i: i32[2]) -> f32[4, 1, 2, 6] { x[0.., _, i] }
        fn of_a_list(x: f32[4, 5, 6]) -> f32[2, 5, 6] { x[[3, 1]] }
    }
    let x = numbered();
    let found = first(&x, &Tensor::from([[3], [0]]));
    assert_eq!((found.as_slice()[0], found.as_slice()[30], found.as_slice()[59]), (300.0, 0.0, 45.0));
    assert_eq!(of_a_list(&x).as_slice()[..30], first(&x, &Tensor::from([[3], [0]])).as_slice()[..30]);
    let i = Tensor::from([4_i64, 0]);
    assert_eq!(
        middle(&x, &i).as_slice()[..13],
        [40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 140.0]
    );
    let i = Tensor::from([4_i32, 0]);
    assert_eq!(with_new_axes(&x, &i).as_slice(), middle(&x, &Tensor::from([4_i64, 0])).as_slice());
    assert_eq!(last(&x, &Tensor::from(vec![5, 2, 5])).as_slice()[..4], [5.0, 2.0, 5.0, 15.0]);
    assert_eq!(of_a_part(&x, &i).as_slice()[..7], [140.0, 141.0, 142.0, 143.0, 144.0, 145.0, 100.0]);
}

#[test]
fn several_index_tensors_are_broadcast_as_in_numpy() {
    mind! {
        fn together(x: f32[4, 5, 6], i: i32[2, 1], j: i64[3]) -> f32[2, 3, 6] { x[i, j] }
        fn apart(x: f32[4, 5, 6], i: i32[2, 1], j: i64[3]) -> f32[2, 3, 5] { x[i, .., j] }
        fn behind(x: f32[4, 5, 6], i: i32[2, 1], j: i64[3]) -> f32[4, 2, 3] { x[.., i, j] }
        fn with_a_number(x: f32[4, 5, 6], i: i32[2, 1]) -> f32[2, 1, 5] { x[1, .., i] }
        fn beside_a_number(x: f32[4, 5, 6], i: i32[2, 1], n: i32) -> f32[4, 2, 1] { x[.., n, i] }
        fn sums<N, M>(x: f32[N, M], i: i32[3], j: i32[3]) -> f32 { sum(x[i, j] * [1.0, 2.0, 3.0]) }
        fn slope<N, M>(x: f32[N, M], i: i32[3], j: i32[3]) -> f32[N, M] { grad(sums, wrt = x)(x, i, j) }
        fn picked<N>(x: f32[N], i: i32[2]) -> f32[2] { x[i] }
        fn of_rows<B, N>(x: f32[B, N], i: i32[B, 2]) -> f32[B, 2] { vmap(picked, over = (x, i))(x, i) }
    }
    let x = numbered();
    let (i, j) = (Tensor::from([[3], [1]]), Tensor::from([0_i64, 4, 2]));
    let at = |i: usize, j: usize, k: usize| (100 * i + 10 * j + k) as f32;
    let of_pairs = |of: &dyn Fn(usize, usize) -> Vec<f32>| -> Vec<f32> {
        [3, 1].iter().flat_map(|i| [0, 4, 2].iter().flat_map(move |j| of(*i, *j))).collect()
    };
    assert_eq!(together(&x, &i, &j).as_slice(), of_pairs(&|i, j| (0..6).map(|k| at(i, j, k)).collect()));
    assert_eq!(apart(&x, &i, &j).as_slice(), of_pairs(&|i, k| (0..5).map(|j| at(i, j, k)).collect()));
    let found = behind(&x, &i, &j);
    let wanted: Vec<f32> = (0..4).flat_map(|first| of_pairs(&|i, j| vec![at(first, i, j)])).collect();
    assert_eq!(found.as_slice(), wanted);
    // A number is an index too: a range between it and the tensor puts the picked axes first.
    let wanted: Vec<f32> = [3, 1].iter().flat_map(|k| (0..5).map(|j| at(1, j, *k))).collect();
    assert_eq!(with_a_number(&x, &i).as_slice(), wanted);
    let wanted: Vec<f32> = (0..4).flat_map(|first| [at(first, 2, 3), at(first, 2, 1)]).collect();
    assert_eq!(beside_a_number(&x, &i, 2).as_slice(), wanted);
    let small = Tensor::from([[0.0; 2]; 3]);
    let (i, j) = (Tensor::from([2, 0, 2]), Tensor::from([1, 0, 1]));
    assert_eq!(slope(&small, &i, &j).as_slice(), [2.0, 0.0, 0.0, 0.0, 0.0, 4.0]);
    let rows = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(of_rows(&rows, &Tensor::from([[2, 0], [1, 1]])).as_slice(), [3.0, 1.0, 5.0, 5.0]);
}

#[test]
fn indices_out_of_range_are_errors_before_anything_is_written() {
    mind! {
        fn pick(x: f32[2, 3], i: i32[2], j: i32[2]) -> f32[2] { x[i, j] }
        fn put(x: &mut f32[3], i: i64[2], u: f32[2]) { x = num::scatter(x, i, u); }
        fn add(x: &mut f32[3], i: u8[2], u: f32[2]) { x = scatter_add(x, i, u); }
        fn most(x: &mut f32[2, 3], i: i32[2, 1], u: f32[2, 1]) { x = num::max_along(x, i, u); }
    }
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    // The second pair would be within the six elements.
    let error = try_pick(&x, &Tensor::from([0, 0]), &Tensor::from([2, 4])).expect_err("4 is no column");
    assert!(error.to_string().contains("index 4") && error.to_string().contains("E6001"), "{error}");
    try_pick(&x, &Tensor::from([-1, 0]), &Tensor::from([2, 0])).expect_err("-1 is no row");
    let mut y = Tensor::from([1.0, 2.0, 3.0]);
    let u = Tensor::from([8.0, 9.0]);
    let error = try_put(&mut y, &Tensor::from([0, 3]), &u).expect_err("3 is no element");
    assert!(error.to_string().contains("index 3 at position 1"), "{error}");
    try_add(&mut y, &Tensor::from([200_u8, 0]), &u).expect_err("200 is no element");
    assert_eq!(y.as_slice(), [1.0, 2.0, 3.0]);
    let mut z = x.clone();
    try_most(&mut z, &Tensor::from([[0], [-2]]), &Tensor::from([[9.0], [9.0]]))
        .expect_err("-2 is no element");
    assert_eq!(z.as_slice(), x.as_slice());
}

#[test]
fn elements_at_indices_are_replaced_added_and_compared() {
    mind! {
        fn put<N, K>(x: f32[N, 2], i: i32[K], u: f32[K, 2]) -> f32[N, 2] { num::scatter(x, i, u) }
        fn add<N, K>(x: i32[N], i: u8[K], u: i32[K]) -> i32[N] { scatter_add(x, i, u) }
        fn most<N, K>(x: f32[N], i: i64[K], u: f32[K]) -> f32[N] { num::scatter_max(x, i, u) }
        fn least<N, K>(x: f32[N], i: i64[K], u: f32[K]) -> f32[N] { num::scatter_min(x, i, u) }
        fn counts<N>(i: u8[N]) -> i64[300] { num::bincount(i, count = 300) }
        fn loss<N, K>(x: f32[N, 2], i: i32[K], u: f32[K, 2], w: f32[N, 2]) -> f32 {
            let y = put(x, i, u);
            sum(y * y * w)
        }
        fn by_u<N, K>(x: f32[N, 2], i: i32[K], u: f32[K, 2], w: f32[N, 2]) -> f32[K, 2] {
            grad(loss, wrt = u)(x, i, u, w)
        }
        fn by_u_twice<N, K>(x: f32[N, 2], i: i32[K], u: f32[K, 2], w: f32[N, 2]) -> f32[K, 2] {
            grad(sum_by_u, wrt = u)(x, i, u, w)
        }
        fn sum_by_u<N, K>(x: f32[N, 2], i: i32[K], u: f32[K, 2], w: f32[N, 2]) -> f32 {
            sum(by_u(x, i, u, w) * u)
        }
    }
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let (i, u) = (Tensor::from([2, 0, 2]), Tensor::from([[10.0, 11.0], [12.0, 13.0], [14.0, 15.0]]));
    assert_eq!(put(&x, &i, &u).as_slice(), [12.0, 13.0, 3.0, 4.0, 14.0, 15.0]);
    let w = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    assert_eq!(by_u(&x, &i, &u, &w).as_slice(), [0.0, 0.0, 24.0, 52.0, 140.0, 180.0]);
    // The sum of `2 w u²` over the rows that count has the gradient `4 w u`.
    assert_eq!(by_u_twice(&x, &i, &u, &w).as_slice(), [0.0, 0.0, 48.0, 104.0, 280.0, 360.0]);
    let sums =
        add(&Tensor::from(vec![i32::MAX, 1]), &Tensor::from(vec![0_u8, 1, 0]), &Tensor::from(vec![1, 5, 2]));
    assert_eq!(sums.as_slice(), [i32::MIN + 2, 6]);
    let x = Tensor::from(vec![1.0, 2.0, 3.0, f32::NAN]);
    let (i, u) =
        (Tensor::from(vec![0, 0, 1, 3, 2]), Tensor::from(vec![0.5, 7.0, f32::NAN, 1.0, -f32::INFINITY]));
    let same = |found: &[f32], wanted: &[f32]| {
        assert!(found.iter().zip(wanted).all(|(a, b)| a == b || a.is_nan() && b.is_nan()), "{found:?}");
    };
    same(most(&x, &i, &u).as_slice(), &[7.0, f32::NAN, 3.0, f32::NAN]);
    same(least(&x, &i, &u).as_slice(), &[0.5, f32::NAN, -f32::INFINITY, f32::NAN]);
    let counts = counts(&Tensor::from(vec![255, 0, 255]));
    assert_eq!((counts.as_slice()[0], counts.as_slice()[255], counts.as_slice()[299]), (1, 2, 0));
}

#[test]
fn truth_values_at_indices_are_replaced() {
    mind! {
        fn put<N, K>(x: bool[N, 2], i: i32[K], u: bool[K, 2]) -> bool[N, 2] { num::scatter(x, i, u) }
        fn along<N, M, K>(x: bool[N, M], i: i64[N, K], u: bool[N, K]) -> bool[N, M] { num::put_along(x, i, u) }
    }
    let x = Tensor::from([[true, false], [false, false], [true, true]]);
    let (i, u) = (Tensor::from([2, 0, 2]), Tensor::from([[false, false], [true, true], [false, true]]));
    let wanted = [true, true, false, false, false, true];
    assert_eq!(put(&x, &i, &u).as_slice(), wanted);
    assert_eq!(mind!(num::scatter(x, i, u)).as_slice(), wanted);
    let (i, u) = (Tensor::from([[1_i64], [0], [0]]), Tensor::from([[true], [true], [false]]));
    assert_eq!(along(&x, &i, &u).as_slice(), [true, true, true, false, false, true]);
}

#[test]
fn sums_at_indices_in_expressions_are_those_of_functions() {
    let (x, i) = (Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]), Tensor::from([1_i32, 1, 0]));
    let u = Tensor::from([[5.0_f32, 6.0], [7.0, 8.0], [9.0, 10.0]]);
    assert_eq!(mind!(scatter_add(x, i, u)).as_slice(), [10.0, 12.0, 15.0, 18.0]);
    assert_eq!(mind!(num::scatter(x, i, u)).as_slice(), [9.0, 10.0, 7.0, 8.0]);
    assert_eq!(mind!(moveaxis(u, 0, 1)).as_slice(), [5.0, 7.0, 9.0, 6.0, 8.0, 10.0]);
}

#[test]
#[should_panic(expected = "E6001")]
fn an_index_out_of_range_in_an_expression_panics() {
    let (x, i, u) = (Tensor::from([1.0_f32, 2.0]), Tensor::from([0_i64, 2]), Tensor::from([5.0_f32, 6.0]));
    let _ = mind!(scatter_add(x, i, u));
}
