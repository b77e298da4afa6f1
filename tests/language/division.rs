//! Integers divided by integers: without fractions, and never by 0.

use mind::{Tensor, mind};

mind! {
    fn quotients<N>(x: i32[N], y: i32[N]) -> (i32[N], i32[N], i32[N], i32[N]) {
        (x / y, x % y, rem(x, 7), x / -3)
    }

    fn rounded_down<N>(x: i32[N], y: i32[N]) -> (i32[N], i32[N]) {
        (floor_divide(x, y), remainder(x, y))
    }

    fn wide<N, M>(x: i64[N, M], y: i64[M]) -> (i64[N, M], i64) {
        (x % y, sum(x / y))
    }

    fn numbers(x: i64, y: i64) -> (i64, i64) {
        (x / y, x % (y + 1))
    }

    /// The divisor is computed from the result of another division.
    fn chained<N>(x: i32[N], y: i32[N]) -> i32[N] {
        x / (y / 2 - 1)
    }

    /// For the smallest integer this differs from `x / y`.
    fn negative(x: i32, y: i32) -> i32 {
        -x / -y
    }

    /// The quotients replace the dividends.
    fn in_place<N>(x: &mut i32[N], y: i32[N]) {
        x /= y;
        x %= 5;
    }

    fn picked<N>(table: f32[4], x: i64[N], y: i64[N]) -> f32[N] {
        gather(table, x / y)
    }
}

#[test]
fn quotients_and_remainders_are_those_of_rust() {
    let edges = [i32::MIN, i32::MIN + 1, -8, -7, -3, -1, 0, 1, 2, 7, 8, i32::MAX - 1, i32::MAX];
    let pairs: Vec<(i32, i32)> =
        edges.iter().flat_map(|x| edges.map(|y| (*x, y))).filter(|(_, y)| *y != 0).collect();
    let [x, y] = [0, 1].map(|side| {
        let side = pairs.iter().map(|pair| if side == 0 { pair.0 } else { pair.1 });
        Tensor::from_vec((pairs.len(),), side.collect()).expect("as many")
    });
    let (quotient, rest, by_seven, by_constant) = quotients(&x, &y);
    let (down, left_of) = rounded_down(&x, &y);
    for (i, (x, y)) in pairs.into_iter().enumerate() {
        let found = [quotient[[i]], rest[[i]], by_seven[[i]], by_constant[[i]]];
        assert_eq!(found, [x.wrapping_div(y), x.wrapping_rem(y), x % 7, x / -3], "{x} {y}");
        let left = (i64::from(x) % i64::from(y) + i64::from(y)) % i64::from(y);
        let found = [down[[i]], left_of[[i]]];
        assert_eq!(found, [((i64::from(x) - left) / i64::from(y)) as i32, left as i32], "{x} {y}");
    }
    let x = Tensor::from([[i64::MIN, 7], [-9, 5]]);
    let (rest, sum) = wide(&x, &Tensor::from([-1, 2]));
    assert_eq!((rest, sum), (Tensor::from([[0, 1], [0, 1]]), i64::MIN + 3 + 9 + 2));
    assert_eq!(numbers(7, 2), (3, 1));
    assert_eq!((negative(i32::MIN, 2), negative(9, 2)), (1 << 30, 4));
}

#[test]
fn a_division_by_zero_is_an_error_before_anything_is_written() {
    let (x, y) = (Tensor::from([1, 2, 3]), Tensor::from([1, 0, 0]));
    let mut target = x.clone();
    let error = try_in_place(&mut target, &y).expect_err("0 divides");
    assert_eq!(
        error.to_string(),
        "E6010: `in_place`: an integer is divided by 0: the divisor at position 1 is 0"
    );
    assert_eq!(target, x);
    let error = try_chained(&x, &Tensor::from([8, 2, 5])).expect_err("2 / 2 - 1 is 0");
    assert_eq!(
        error.to_string(),
        "E6010: `chained`: an integer is divided by 0: the divisor at position 1 is 0"
    );
    assert_eq!(chained(&x, &Tensor::from([8, 5, 6])), Tensor::from([0, 2, 1]));
    let error = try_rounded_down(&x, &y).expect_err("0 divides");
    assert_eq!(
        error.to_string(),
        "E6010: `rounded_down`: an integer is divided by 0: the divisor at position 1 is 0"
    );
    assert_eq!(try_numbers(1, 0).expect_err("0 divides").code(), "E6010");
    assert_eq!(try_numbers(1, -1).expect_err("-1 + 1 divides").code(), "E6010");
    let table = Tensor::from([1.0, 2.0, 3.0, 4.0]);
    assert_eq!(
        try_picked(&table, &Tensor::from([6_i64]), &Tensor::from([0])).expect_err("0 divides").code(),
        "E6010"
    );
    assert_eq!(
        try_picked(&table, &Tensor::from([9_i64]), &Tensor::from([2])).expect_err("4 is no row").code(),
        "E6001"
    );
    assert_eq!(picked(&table, &Tensor::from([7_i64]), &Tensor::from([2])), Tensor::from([4.0]));
}
