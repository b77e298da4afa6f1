//! Parts at positions that a program computes: `x[i ..+ n]`, `x[i]`, `x[i] = u`, `replace(x[i], u)`. Rows at indices
//! that a tensor holds are replaced too.

use mind::{Const, Tensor, mind};

use crate::support::small_integers;

mind! {
    fn window(x: f32[6, 3], i: i64) -> f32[2, 3] { x[i ..+ 2] }
    fn column(x: f32[4, 3], j: i32) -> f32[4] { x[.., j] }
    fn element(x: f32[4, 3], i: i64, j: u8) -> f32 { x[i, j] }
    fn known(x: f32[6]) -> (f32[2], f32[2]) { (x[1 ..+ 2], x[-2 ..+ 2]) }
    fn of_any_length<N>(x: f32[N], i: i64) -> (f32[2], f32[N]) { (x[i ..+ 2], replace(x[N - 1], 9.0)) }

    fn put(x: &mut f32[6, 3], i: i64, u: f32[2, 3]) { x[i ..+ 2] = u; }
    fn add(x: &mut f32[4, 3], i: i64, j: i64) { x[i, j] += 1.0; }
    fn clear(x: &mut f32[4, 3], j: i64) { x[1..3, j] = 0.0; }
    /// Updates a parameter and has a result.
    fn shift(x: &mut f32[3]) -> f32 { x += 1.0; 5.0 }
    fn shifted(x: &mut f32[3], y: &mut f32[3]) { x[0] = shift(x); y[1] += shift(y); }
    fn replaced(x: f32[5], i: i64, u: f32) -> f32[5] { replace(x[i], u) }

    /// Running sums, each from the one before it.
    fn sums<N>(x: f32[N]) -> f32[N] {
        fold s = x for t in 1..N { replace(s[t], s[t - 1] + s[t]) }
    }
    fn sums_of_many(x: f32[1000]) -> f32[1000] {
        fold s = x for t in 1..1000 { replace(s[t], s[t - 1] + s[t]) }
    }
    /// The second carry is the first one before the last step.
    fn before_the_last(x: f32[4]) -> (f32[4], f32[4]) {
        fold (a, _) = (x, x) for t in 0..4 { (replace(a[t], f32(t)), a) }
    }
    fn reversed<N>(xs: f32[N, 2]) -> f32[N, 2] {
        for t in 0..N { xs[N - 1 - t] }
    }
    fn loss(x: f64[6], i: i64) -> f64 {
        let part = x[i ..+ 3];
        let other = replace(x[i], 2.0 * part[1]);
        sum(part * part) + sum(other * other * other)
    }
    fn slope(x: f64[6], i: i64) -> f64[6] { grad(loss, wrt = x)(x, i) }
}

#[test]
fn parts_are_read() {
    let x = small_integers((Const::<6>, Const::<3>), 1);
    assert_eq!(window(&x, 4), Tensor::from_fn(|[i, j]| x[[i + 4, j]]));
    let x = small_integers((Const::<4>, Const::<3>), 1);
    assert_eq!(column(&x, 2), Tensor::from_fn(|[i]| x[[i, 2]]));
    assert_eq!(element(&x, 3, 1), x[[3, 1]]);
    let x = Tensor::from([0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(known(&x), (Tensor::from([1.0, 2.0]), Tensor::from([4.0, 5.0])));
    let x = Tensor::from_vec((4,), vec![0.0_f32, 1.0, 2.0, 3.0]).unwrap();
    let (part, last) = of_any_length(&x, 2);
    assert_eq!(part, Tensor::from([2.0, 3.0]));
    assert_eq!(last.as_slice(), [0.0, 1.0, 2.0, 9.0]);
}

#[test]
fn parts_are_replaced() {
    let mut x = small_integers((Const::<6>, Const::<3>), 1);
    let (before, u) = (x.clone(), small_integers((Const::<2>, Const::<3>), 2));
    put(&mut x, 3, &u);
    let is_new = |i: usize| (3..5).contains(&i);
    assert_eq!(x, Tensor::from_fn(|[i, j]| if is_new(i) { u[[i - 3, j]] } else { before[[i, j]] }));

    let mut x = small_integers((Const::<4>, Const::<3>), 1);
    let before = x.clone();
    add(&mut x, 2, 1);
    assert_eq!(x, Tensor::from_fn(|at| before[at] + if at == [2, 1] { 1.0 } else { 0.0 }));
    clear(&mut x, 1);
    let is_cleared = |[i, j]: [usize; 2]| j == 1 && (1..3).contains(&i);
    assert_eq!(x, Tensor::from_fn(|at| if is_cleared(at) { 0.0 } else { before[at] }));
    assert_eq!(
        replaced(&Tensor::from([1.0, 2.0, 3.0, 4.0, 5.0]), 0, 7.0).as_slice(),
        [7.0, 2.0, 3.0, 4.0, 5.0]
    );
}

#[test]
fn a_part_is_assigned_after_its_value_has_updated_the_tensor() {
    let (mut x, mut y) = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([1.0, 2.0, 3.0]));
    shifted(&mut x, &mut y);
    assert_eq!(x, Tensor::from([5.0, 3.0, 4.0]));
    assert_eq!(y, Tensor::from([2.0, 8.0, 4.0]));
}

#[test]
fn a_loop_replaces_parts_of_its_carry() {
    let x = Tensor::from_vec((5,), vec![1.0_f32, 2.0, 3.0, 4.0, 5.0]).unwrap();
    assert_eq!(sums(&x).as_slice(), [1.0, 3.0, 6.0, 10.0, 15.0]);
    let (a, b) = before_the_last(&Tensor::from([7.0, 7.0, 7.0, 7.0]));
    assert_eq!((a, b), (Tensor::from([0.0, 1.0, 2.0, 3.0]), Tensor::from([0.0, 1.0, 2.0, 7.0])));
    let xs = small_integers((3, Const::<2>), 1);
    let expected: Vec<f32> = (0..3).rev().flat_map(|i| [xs[[i, 0]], xs[[i, 1]]]).collect();
    assert_eq!(reversed(&xs).as_slice(), expected);
}

#[test]
fn memory_is_updated_in_place() {
    const { assert!(put::PEAK_BYTES == 0) };
    // The indices take 7,992 bytes, and the carry 4,000. A second buffer of the carry would take another 4,000.
    const { assert!(sums_of_many::PEAK_BYTES < 12_100) };
    let sums = sums_of_many(&Tensor::from_fn(|[_]| 1.0));
    assert_eq!(sums, Tensor::from_fn(|[k]| k as f32 + 1.0));
}

#[test]
fn parts_have_gradients() {
    let x = Tensor::from([1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0]);
    // With `i = 1`, `part` is `x[1..4]`, and `other` has `2 x[2]` in place of `x[1]`.
    let d = |k: usize| {
        let of_part = if (1..4).contains(&k) { 2.0 * x[[k]] } else { 0.0 };
        let of_other = if k == 1 { 0.0 } else { 3.0 * x[[k]] * x[[k]] };
        let of_new = if k == 2 { 3.0 * (2.0 * x[[2]]).powi(2) * 2.0 } else { 0.0 };
        of_part + of_other + of_new
    };
    assert_eq!(slope(&x, 1), Tensor::from_fn(|[k]| d(k)));
}

#[test]
fn a_position_out_of_range_is_an_error_before_anything_is_written() {
    let mut x = small_integers((Const::<6>, Const::<3>), 1);
    let (before, u) = (x.clone(), small_integers((Const::<2>, Const::<3>), 2));
    for i in [5, -1, i64::MIN, i64::MAX] {
        let error = try_put(&mut x, i, &u).unwrap_err().to_string();
        let expected = format!("E6001: `put`: index {i} at position 0 is out of range, needed 0 to 4");
        assert_eq!(error, expected);
        assert_eq!(x, before);
    }
}

mind! {
    fn put_rows<N, K>(x: &mut f32[N, 2], i: i32[K], u: f32[K, 2]) { x[i] = u; }
    fn put_elements(x: &mut i64[7], i: u8[2, 3], u: i64[2, 3]) { x[i] = u; }
    fn mark<N>(x: &mut bool[4, 2], i: i64[N]) { x[i, ..] = true; }
    fn listed(x: i32[4]) -> i32[4] { replace(x[[3, 1, 3]], [7, 8, 9]) }
    /// Reads the rows that another assignment replaces.
    fn exchange(x: &mut f32[4, 2], i: i64[2], j: i64[2]) { let old = x[i]; x[i] = x[j]; x[j] = old; }
    fn add_rows<K>(x: &mut f32[4, 2], i: i32[K], u: f32[2]) { x[i] += u; }
    fn subtract_rows<K>(x: &mut f32[4, 2], i: i32[K], u: f32[K, 2]) { x[i] -= u; }
    fn add_many<N, K>(x: &mut f32[N, 2], i: i32[K], u: f32[K, 2]) { x[i] += u; }
    fn count(x: &mut u8[7], i: i64[2, 3]) { x[i] -= 1; }
    fn add_own(x: &mut f32[4, 2], i: i64[4]) { x[i] += x; }
    fn both(x: f32[4], i: i64[2]) -> (f32[4], f32[4]) { (x, replace(x[i], 0.0)) }

    /// The rows are visited in the order of the steps.
    fn in_steps(x: f32[5], i: i64[3, 2], u: f32[3]) -> f32[5] {
        fold y = x for (i, u) in (i, u) { replace(y[i], u) }
    }

    fn add_one(x: f32[4, 2], i: i64[3], u: f32[3, 2]) -> f32[4, 2] { scatter_add(x, i, u) }
    fn add_each<B>(x: f32[4, 2], i: i64[B, 3], u: f32[3, 2]) -> f32[B, 4, 2] { vmap(add_one, over = i)(x, i, u) }
    fn add_all<B>(x: f32[4, 2], i: i64[3], u: f32[B, 3, 2]) -> f32[B, 4, 2] { vmap(add_one, over = u)(x, i, u) }

    fn put_one(x: f32[4, 2], i: i64[3], u: f32[3, 2]) -> f32[4, 2] { replace(x[i], u) }
    fn put_each<B>(x: f32[B, 4, 2], i: i64[B, 3], u: f32[3, 2]) -> f32[B, 4, 2] {
        vmap(put_one, over = (x, i))(x, i, u)
    }
    fn put_all<B>(x: f32[4, 2], i: i64[3], u: f32[B, 3, 2]) -> f32[B, 4, 2] { vmap(put_one, over = u)(x, i, u) }

    fn loss_of_rows(x: f64[4, 2], i: u8[5], u: f64[5, 2], w: f64[4, 2]) -> f64 {
        let y = replace(x[i], u);
        sum(y * y * y * w)
    }
    fn slopes_of_rows(x: f64[4, 2], i: u8[5], u: f64[5, 2], w: f64[4, 2]) -> (f64[4, 2], f64[5, 2]) {
        grad(loss_of_rows, wrt = (x, u))(x, i, u, w)
    }
}

/// The rows as `put_rows` leaves them.
fn expected_rows(x: &Tensor![f32; ?, 2], i: &[i32], u: &Tensor![f32; ?, 2]) -> Tensor![f32; ?, 2] {
    let mut y = x.clone();
    for (from, to) in i.iter().enumerate() {
        for column in 0..2 {
            y[[*to as usize, column]] = u[[from, column]];
        }
    }
    y
}

#[test]
fn rows_at_indices_are_replaced_and_the_last_of_equal_indices_counts() {
    for (n, i) in [(4, vec![2, 0, 2]), (1, vec![0, 0, 0, 0]), (300, (0..900).map(|k| k * k % 300).collect())]
    {
        let count = i.len();
        let (mut x, u) = (small_integers((n, Const::<2>), 1), small_integers((count, Const::<2>), 2));
        let expected = expected_rows(&x, &i, &u);
        put_rows(&mut x, &Tensor::from_vec((count,), i).unwrap(), &u);
        assert_eq!(x, expected);
    }
    let mut x = Tensor::from([0, 1, 2, 3, 4, 5, 6]);
    put_elements(&mut x, &Tensor::from([[6, 0, 6], [1, 2, 0]]), &Tensor::from([[10, 20, 30], [40, 50, 60]]));
    assert_eq!(x, Tensor::from([60, 40, 50, 3, 4, 5, 30]));
    let mut marks = Tensor::from([[false, false], [true, false], [false, false], [false, true]]);
    mark(&mut marks, &Tensor::from_vec((2,), vec![2, 3]).unwrap());
    assert_eq!(marks, Tensor::from([[false, false], [true, false], [true, true], [true, true]]));
    assert_eq!(listed(&Tensor::from([1, 2, 3, 4])), Tensor::from([1, 8, 3, 9]));
}

#[test]
fn replaced_rows_may_be_read_before_and_after() {
    let mut x = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]);
    exchange(&mut x, &Tensor::from([0, 1]), &Tensor::from([3, 0]));
    assert_eq!(x, Tensor::from([[3.0, 4.0], [1.0, 2.0], [5.0, 6.0], [1.0, 2.0]]));
    let x = Tensor::from([1.0, 2.0, 3.0, 4.0]);
    assert_eq!(both(&x, &Tensor::from([3, 1])), (x, Tensor::from([1.0, 0.0, 3.0, 0.0])));
    let (i, u) = (Tensor::from([[0, 1], [1, 2], [4, 4]]), Tensor::from([10.0, 20.0, 30.0]));
    assert_eq!(
        in_steps(&Tensor::from([1.0, 2.0, 3.0, 4.0, 5.0]), &i, &u).as_slice(),
        [10., 20., 20., 4., 30.]
    );
}

#[test]
fn rows_at_equal_indices_are_all_added() {
    let mut x = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]);
    let i = Tensor::from_vec((3,), vec![2, 0, 2]).unwrap();
    add_rows(&mut x, &i, &Tensor::from([10.0, 20.0]));
    assert_eq!(x, Tensor::from([[11.0, 22.0], [3.0, 4.0], [25.0, 46.0], [7.0, 8.0]]));
    subtract_rows(&mut x, &i, &Tensor::from_vec((3, Const), vec![1.0, 2.0, 4.0, 8.0, 16.0, 32.0]).unwrap());
    assert_eq!(x, Tensor::from([[7.0, 14.0], [3.0, 4.0], [8.0, 12.0], [7.0, 8.0]]));
    add_own(&mut x, &Tensor::from([1, 2, 3, 3]));
    assert_eq!(x, Tensor::from([[7.0, 14.0], [10.0, 18.0], [11.0, 16.0], [22.0, 28.0]]));
    let mut counts = Tensor::from([0, 1, 2, 3, 4, 5, 6]);
    count(&mut counts, &Tensor::from([[6, 0, 6], [1, 2, 0]]));
    assert_eq!(counts, Tensor::from([254, 0, 1, 3, 4, 5, 4]));
}

#[test]
fn sums_of_rows_do_not_depend_on_the_number_of_threads() {
    let (n, i) = (300, (0..3000).map(|k| k * k % 7).collect());
    let i = Tensor::from_vec((3000,), i).unwrap();
    let u = Tensor::from_fn_with((3000, Const::<2>), |[row, column]| 1.0 / (1 + row + column) as f32);
    let sums = [1, 4].map(|threads| {
        mind::set_threads(threads);
        let mut x: Tensor![f32; ?, 2] = Tensor::from_fn_with((n, Const::<2>), |[row, _]| row as f32 / 7.0);
        add_many(&mut x, &i, &u);
        x
    });
    mind::set_threads(0);
    let mut expected: Tensor![f32; ?, 2] = Tensor::from_fn_with((n, Const::<2>), |[row, _]| row as f32 / 7.0);
    for (from, to) in i.as_slice().iter().enumerate() {
        for column in 0..2 {
            expected[[*to as usize, column]] += u[[from, column]];
        }
    }
    assert_eq!(sums, [expected.clone(), expected]);
}

#[test]
fn slices_have_indices_of_their_own() {
    let x = small_integers((2, Const::<4>, Const::<2>), 1);
    let i = Tensor::from_vec((2, Const::<3>), vec![2, 0, 2, 1, 1, 3]).unwrap();
    let u = Tensor::from([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]]);
    let from = [[Some(1), None, Some(2), None], [None, Some(1), None, Some(2)]];
    let expected = |[b, row, column]: [usize; 3]| {
        from[b][row].map_or_else(|| x[[b, row, column]], |from: usize| u[[from, column]])
    };
    assert_eq!(put_each(&x, &i, &u), Tensor::from_fn_with((2, Const, Const), expected));
    let (x, us) =
        (small_integers((Const::<4>, Const::<2>), 1), small_integers((2, Const::<3>, Const::<2>), 2));
    let expected = |[b, row, column]: [usize; 3]| {
        from[0][row].map_or_else(|| x[[row, column]], |from| us[[b, from, column]])
    };
    assert_eq!(put_all(&x, &Tensor::from([2, 0, 2]), &us), Tensor::from_fn_with((2, Const, Const), expected));
    let from: [[&[usize]; 4]; 2] = [[&[1], &[], &[0, 2], &[]], [&[], &[0, 1], &[], &[2]]];
    let expected = |[b, row, column]: [usize; 3]| {
        from[b][row].iter().fold(x[[row, column]], |sum, k| sum + u[[*k, column]])
    };
    assert_eq!(add_each(&x, &i, &u), Tensor::from_fn_with((2, Const, Const), expected));
    let expected = |[b, row, column]: [usize; 3]| {
        from[0][row].iter().fold(x[[row, column]], |sum, k| sum + us[[b, *k, column]])
    };
    assert_eq!(add_all(&x, &Tensor::from([2, 0, 2]), &us), Tensor::from_fn_with((2, Const, Const), expected));
}

#[test]
fn of_equal_indices_the_last_receives_the_gradient() {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]);
    let u = Tensor::from([[1.5, 2.5], [3.5, 4.5], [5.5, 6.5], [7.5, 8.5], [9.5, 10.5]]);
    let w = Tensor::from([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0], [13.0, 17.0]]);
    let i = [2, 0, 2, 0, 3];
    let (of_x, of_u) = slopes_of_rows(&x, &Tensor::from(i), &u, &w);
    let slope = |value: f64, at| 3.0 * value * value * w[at];
    assert_eq!(
        of_x,
        Tensor::from_fn(|[row, column]| if row == 1 { slope(x[[row, column]], [row, column]) } else { 0.0 })
    );
    let expected = |[k, column]: [usize; 2]| {
        let is_last = !i[k + 1..].contains(&i[k]);
        if is_last { slope(u[[k, column]], [usize::from(i[k]), column]) } else { 0.0 }
    };
    assert_eq!(of_u, Tensor::from_fn(expected));
}

#[test]
fn an_index_out_of_range_is_an_error_before_a_row_is_replaced() {
    assert_eq!(put_rows::peak_bytes(4, 3), 0);
    let (mut x, u) = (small_integers((4, Const::<2>), 1), small_integers((3, Const::<2>), 2));
    let before = x.clone();
    for bad in [4, -1, i32::MIN, i32::MAX] {
        let i = Tensor::from_vec((3,), vec![0, 1, bad]).unwrap();
        let error = try_put_rows(&mut x, &i, &u).unwrap_err().to_string();
        let expected = format!("E6001: `put_rows`: index {bad} at position 2 is out of range, needed 0 to 3");
        assert_eq!((error, &x), (expected, &before));
        let error = try_add_many(&mut x, &i, &u).unwrap_err().to_string();
        let expected = format!("E6001: `add_many`: index {bad} at position 2 is out of range, needed 0 to 3");
        assert_eq!((error, &x), (expected, &before));
    }
}
