//! `flip`.

use mind::{Tensor, mind};

#[test]
fn elements_along_an_axis_from_the_last_to_the_first() {
    mind! {
        fn f<N, M>(x: f32[N, M]) -> (f32[N, M], f32[N, M], f32[M, N]) {
            (flip(x, axis = 0), x.flip(axis = -1) * 2.0, flip(x.T, 0))
        }

        fn of_others(x: i64[3], y: bool[3]) -> (i64[3], bool[3]) { (flip(x, axis = 0), flip(y, axis = 0)) }

        fn loss<N>(x: f32[N]) -> f32 { sum(flip(x, axis = 0) * x * x) }

        fn slope<N>(x: f32[N]) -> f32[N] { grad(loss, wrt = x)(x) }
    }
    let (down, across, turned) = f(&Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]));
    assert_eq!(down.as_slice(), [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
    assert_eq!(across.as_slice(), [6.0, 4.0, 2.0, 12.0, 10.0, 8.0]);
    assert_eq!(turned.as_slice(), [3.0, 6.0, 2.0, 5.0, 1.0, 4.0]);
    let (ints, truths) = of_others(&Tensor::from([1, 2, 3]), &Tensor::from([true, false, false]));
    assert_eq!((ints.as_slice(), truths.as_slice()), (&[3, 2, 1][..], &[false, false, true][..]));
    // Of c a² + b b² + a c²: 2 a c + c², 3 b², a² + 2 a c.
    assert_eq!(slope(&Tensor::from([1.0, 2.0, 3.0])).as_slice(), [15.0, 12.0, 7.0]);
}
