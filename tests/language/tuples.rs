//! Tuples: as values, patterns, results, arguments of patterns.

use mind::{Tensor, mind};

#[test]
fn results_nest() {
    mind! {
        fn f(x: f32[2], n: i64) -> (f32, (f32[2], (i64, f64)), (f32[2],)) {
            (sum(x), (x * 2.0, (n + 1, 0.5)), (x,))
        }
    }
    let x = Tensor::from([1.0, 2.0]);
    let (a, (b, (c, d)), (e,)) = f(&x, 41);
    assert_eq!((a, c, d), (3.0, 42, 0.5));
    assert_eq!((b, e), (Tensor::from([2.0, 4.0]), x));
}

#[test]
fn patterns_take_tuples_apart() {
    mind! {
        fn parts(x: f32[2]) -> (f32, (f32[2], f32)) {
            (sum(x), (x + 1.0, x[0]))
        }

        fn f(x: f32[2]) -> f32 {
            let (a, (b, _)) = parts(x);
            let whole = parts(b);
            let (c, rest) = whole;
            let ((d, e), _) = ((c, rest), a);
            let (_, f) = e;
            a + d + f + whole.0
        }
    }
    // parts([1, 2]) is (3, ([2, 3], 1)), parts([2, 3]) is (5, ([3, 4], 2)).
    assert_eq!(f(&Tensor::from([1.0, 2.0])), 3.0 + 5.0 + 2.0 + 5.0);
}

#[test]
fn elements_are_taken_by_number() {
    mind! {
        fn f(x: f32[2]) -> (f32, f32[2], f32) {
            let t = (x[0], (x * 2.0, (x[1], x)));
            (t.0, t.1.0, t.1.1.0 + (x, x[1]).1)
        }
    }
    assert_eq!(f(&Tensor::from([1.0, 5.0])), (1.0, Tensor::from([2.0, 10.0]), 10.0));
}

#[test]
fn a_tuple_of_one_is_not_its_element() {
    mind! {
        fn one(x: f32) -> (f32,) {
            (x,)
        }

        fn grouped(x: f32) -> (f32) {
            (x)
        }

        fn f(x: f32) -> f32 {
            let (y,) = one(x);
            y + one(x).0 + grouped(x)
        }
    }
    assert_eq!((one(2.0), grouped(2.0), f(2.0)), ((2.0,), 2.0, 6.0));
}

#[test]
fn a_block_may_give_a_tuple() {
    mind! {
        fn f(x: f32) -> (f32, f32) {
            let (a, b) = {
                let y = x * x;
                (y, y * x)
            };
            (b, a)
        }
    }
    assert_eq!(f(3.0), (27.0, 9.0));
}
