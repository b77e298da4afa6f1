//! `concat`, `stack`, `pad`.

use mind::{Const, Tensor, mind};

use crate::support::small_integers;

#[test]
fn tensors_stand_one_after_the_other_along_an_axis() {
    mind! {
        fn f<N, M>(x: f32[N, 3], y: f32[M, 3]) -> (f32[N + M, 3], f32[N, 7]) {
            (concat([x, y]), concat((x, ones([N, 1]), x), axis = -1))
        }

        fn of_others(a: bool[2], b: i32[1], c: i64[2, 1]) -> (bool[3], i32[4], i64[2, 2]) {
            (concat([a, [true]]), concat([b, [1, 2], b], 0), concat([c, 2 * c], axis = 1))
        }

        fn of_one(x: f32[2]) -> f32[2] { concat([x]) }
    }
    let (x, y) = (small_integers((2, Const::<3>), 1), small_integers((4, Const::<3>), 2));
    let (rows, columns) = f(&x, &y);
    assert_eq!(rows.as_slice(), [x.as_slice(), y.as_slice()].concat());
    for row in 0..2 {
        let own = &x.as_slice()[3 * row..][..3];
        assert_eq!(columns.as_slice()[7 * row..][..7], [own, &[1.0], own].concat());
    }
    let (a, b, c) = of_others(&Tensor::from([true, false]), &Tensor::from([7]), &Tensor::from([[1], [2]]));
    assert_eq!(a, Tensor::from([true, false, true]));
    assert_eq!(b, Tensor::from([7, 1, 2, 7]));
    assert_eq!(c, Tensor::from([[1, 2], [2, 4]]));
    assert_eq!(of_one(&Tensor::from([1.0, 2.0])), Tensor::from([1.0, 2.0]));
}

#[test]
fn what_is_put_together_may_be_a_view_or_what_a_loop_makes() {
    mind! {
        fn f<N>(x: f32[N, 2], s: f32) -> f32[2, 2 * N + 2] {
            concat([x.T, exp(0.0 * x).T, broadcast_to(s, [2, 1]), x[0][.., _]], axis = 1)
        }
    }
    let x = Tensor::from_fn_with((2, Const::<2>), |[i, j]| (2 * i + j + 1) as f32);
    let found = f(&x, 9.0);
    assert_eq!(found.as_slice(), [1.0, 3.0, 1.0, 1.0, 9.0, 1.0, 2.0, 4.0, 1.0, 1.0, 9.0, 2.0]);
}

#[test]
fn tensors_stand_along_a_new_axis() {
    mind! {
        fn f<N>(x: f32[N, 2], y: f32[N, 2]) -> (f32[2, N, 2], f32[N, 3, 2], f32[N, 2, 2]) {
            (stack([x, y]), stack((x, y, x), axis = 1), stack([x, y], axis = -1))
        }

        fn of_numbers(a: i64, b: i64, c: bool[1]) -> (i64[3], bool[1, 2]) {
            (stack([a, 5, b]), stack([c, !c], -1))
        }

        fn slopes<N>(x: f64[N], y: f64[N], c: f64[N, 2]) -> (f64[N], f64[N]) {
            vjp(last, wrt = (x, y))(x, y, c)
        }

        fn last<N>(x: f64[N], y: f64[N]) -> f64[N, 2] { stack([x, y], axis = -1) }
    }
    let x = small_integers((3, Const::<2>), 1);
    let y = small_integers((3, Const::<2>), 2);
    let (first, middle, last) = f(&x, &y);
    assert_eq!(first.as_slice(), [x.as_slice(), y.as_slice()].concat());
    let of = |part: usize| if part == 1 { &y } else { &x };
    assert_eq!(middle, Tensor::from_fn_with((3, Const::<3>, Const::<2>), |[i, part, j]| of(part)[[i, j]]));
    assert_eq!(last, Tensor::from_fn_with((3, Const::<2>, Const::<2>), |[i, j, part]| of(part)[[i, j]]));
    let (numbers, truths) = of_numbers(1, 2, &Tensor::from([true]));
    assert_eq!((numbers, truths), (Tensor::from([1, 5, 2]), Tensor::from([[true, false]])));
    let (x, c) = (Tensor::from([0.0; 2]), Tensor::from([[1.0, 2.0], [3.0, 4.0]]));
    assert_eq!(slopes(&x, &x, &c), (Tensor::from([1.0, 3.0]), Tensor::from([2.0, 4.0])));
}

#[test]
fn many_tensors_are_put_together_at_once() {
    mind! {
        fn table(a: f64, b: f64) -> f64[5, 4] {
            stack([a, b, a, b, a, a, a, a, b, b, b, b, a, b, a, b, a, a, a, a]).reshape([5, 4])
        }

        fn weighed(a: f64, b: f64, weights: f64[5, 4]) -> f64 { sum(table(a, b) * weights * a) }

        fn slopes(a: f64, b: f64, weights: f64[5, 4]) -> (f64, f64) { grad(weighed, wrt = (a, b))(a, b, weights) }

        fn twelve<N>(x: f64[N]) -> f64[12 * N] { concat([x, x, x, x, x, x, x, x, x, x, x, -x]) }
    }
    let is_a = [1, 0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1].map(|is_a| is_a == 1);
    let expected = is_a.map(|is_a| if is_a { 2.0 } else { 3.0 });
    assert_eq!(table(2.0, 3.0).as_slice(), expected);
    let weights = Tensor::from_fn(|[i, j]| (4 * i + j) as f64);
    let of = |wanted: bool| (0..20).filter(|at| is_a[*at] == wanted).sum::<usize>() as f64;
    assert_eq!(slopes(2.0, 3.0, &weights), (2.0 * 2.0 * of(true) + 3.0 * of(false), 2.0 * of(false)));
    let found = twelve(&Tensor::from([1.0, 2.0]));
    assert_eq!(found.as_slice(), [[1.0, 2.0].repeat(11), vec![-1.0, -2.0]].concat());
}

#[test]
fn zeros_stand_around_a_tensor() {
    mind! {
        fn f<N>(x: f32[N, 2]) -> (f32[N + 3, 3], f32[N, 2]) {
            (pad(x, low = [1, 0], high = [2, 1]), x.pad([0, 0], [0, 0]))
        }

        fn of_one(x: i64) -> i64 { pad(x, [], []) }

        fn slope<N>(x: f64[N]) -> f64[N] { grad(cubes, wrt = x)(x) }

        fn cubes<N>(x: f64[N]) -> f64 {
            let y = pad(x * x, [1], [0]);
            sum(y[1..] * x) + y[0]
        }
    }
    let x = small_integers((2, Const::<2>), 1);
    let (wide, same) = f(&x);
    assert_eq!(same, x);
    let element = |[i, j]: [usize; 2]| {
        if (1..3).contains(&i) && j < 2 { x[[i - 1, j]] } else { 0.0 }
    };
    assert_eq!(wide, Tensor::from_fn_with((5, Const::<3>), element));
    assert_eq!(of_one(3), 3);
    assert_eq!(slope(&Tensor::from([1.0, 2.0])), Tensor::from([3.0, 12.0]));
}

#[test]
fn each_part_gets_its_part_of_the_cotangent() {
    mind! {
        fn f<N, M>(x: f64[N], y: f64[M]) -> f64 {
            let z = concat([x, y, x]);
            sum(z * z * z)
        }

        fn first<N, M>(x: f64[N], y: f64[M]) -> (f64[N], f64[M]) { grad(f, wrt = (x, y))(x, y) }

        fn slope<N, M>(x: f64[N], y: f64[M]) -> f64 { let (dx, dy) = first(x, y); sum(dx) + sum(dy) }

        fn second<N, M>(x: f64[N], y: f64[M]) -> (f64[N], f64[M]) { grad(slope, wrt = (x, y))(x, y) }
    }
    let (x, y) = (Tensor::from([1.0, 2.0]), Tensor::from([3.0]));
    let (dx, dy) = first(&x, &y);
    assert_eq!((dx.as_slice(), dy.as_slice()), (&[6.0, 24.0][..], &[27.0][..]));
    let (dx, dy) = second(&x, &y);
    assert_eq!((dx.as_slice(), dy.as_slice()), (&[12.0, 24.0][..], &[18.0][..]));
}

#[test]
fn an_array_of_values_stacks_them() {
    mind! {
        fn rotation(t: f64) -> f64[2, 2] {
            let (s, c) = (sin(t), cos(t));
            [[c, -s], [s, c]]
        }

        #[grad(t)]
        fn turned(t: f64) -> f64 { sum(rotation(t) @ [t, 1.0]) }

        fn rows<N>(x: f32[N], y: f32[N]) -> f32[3, N] { [x, y, x * y] }

        fn flags(x: i64, b: bool) -> (i64[2], bool[2]) { ([7, x], [b, !b]) }
    }
    let (s, c) = 0.3_f64.sin_cos();
    assert_eq!(rotation(0.3), Tensor::from([[c, -s], [s, c]]));
    let (value, slope) = turned_grad(0.3);
    assert!((value - ((c + s) * 0.3 + c - s)).abs() < 1e-15, "{value}");
    assert!((slope - ((c - s) * 0.3 + (c + s) - s - c)).abs() < 1e-15, "{slope}");
    let found = rows(&Tensor::from([1.0, 2.0]), &Tensor::from([3.0, 4.0]));
    assert_eq!(found.as_slice(), [1.0, 2.0, 3.0, 4.0, 3.0, 8.0]);
    assert_eq!(flags(3, true), (Tensor::from([7, 3]), Tensor::from([true, false])));
    let (x, y) = (2.0_f32, 5.0_f32);
    assert_eq!(mind!([x, 1.0, x * y]).as_slice(), [2.0, 1.0, 10.0]);
}
