use crate::parallel::tests::Threads;
use crate::tensor::tests::message;
use crate::{Const, Tensor};

type Matrix<T> = Tensor<T, (usize, usize)>;

/// Computes element by element. An operand is read at index 0 along each axis where its extent is 1.
fn naive(x: &Matrix<i64>, y: &Matrix<i64>, f: impl Fn(i64, i64) -> i64) -> Matrix<i64> {
    let extent = |a: usize, b: usize| if a == 1 { b } else { a };
    let ([a, b], [c, d]) = (x.dims(), y.dims());
    let at = |x: &Matrix<i64>, i: usize, j: usize| {
        let [rows, columns] = x.dims();
        x[[if rows == 1 { 0 } else { i }, if columns == 1 { 0 } else { j }]]
    };
    Tensor::from_fn_with((extent(a, c), extent(b, d)), |[i, j]| f(at(x, i, j), at(y, i, j)))
}

fn sample(rows: usize, columns: usize) -> Matrix<i64> {
    Tensor::from_fn_with((rows, columns), |[i, j]| (i * 31 + j * 17) as i64 % 23 * 2 - 21)
}

#[test]
fn dynamic_extents_of_one_broadcast_whoever_owns_the_operands() {
    let shapes = [(3, 5), (1, 5), (3, 1), (1, 1)];
    let empty = [(0, 5), (1, 5), (0, 1), (1, 1)];
    for (of_x, of_y) in
        [shapes, empty].iter().flat_map(|all| all.iter().flat_map(|x| all.iter().map(move |y| (*x, *y))))
    {
        let (x, y) = (&sample(of_x.0, of_x.1), &(sample(of_y.0, of_y.1) * 3));
        macro_rules! check {
            ($op:tt, $naive:expr) => {
                let expected = naive(x, y, $naive);
                assert_eq!(x $op y, expected, "{of_x:?} {of_y:?}");
                assert_eq!(x.clone() $op y, expected, "{of_x:?} {of_y:?}");
                assert_eq!(x $op y.clone(), expected, "{of_x:?} {of_y:?}");
                assert_eq!(x.clone() $op y.clone(), expected, "{of_x:?} {of_y:?}");
                assert_eq!(&*x.view() $op &*y.view(), expected, "{of_x:?} {of_y:?}");
            };
        }
        check!(+, i64::wrapping_add);
        check!(-, i64::wrapping_sub);
        check!(*, i64::wrapping_mul);
        check!(/, i64::wrapping_div);
    }
}

#[test]
fn numbers_stand_on_either_side() {
    let x: Tensor![f64; 3] = Tensor::from([1.0, -2.0, 0.0]);
    assert_eq!((&x + 1.0).as_slice(), [2.0, -1.0, 1.0]);
    assert_eq!((1.0 - &x).as_slice(), [0.0, 3.0, 1.0]);
    assert_eq!((2.0 * x.clone() / 4.0).as_slice(), [0.5, -1.0, 0.0]);
    assert_eq!((1.0 / &x).as_slice(), [1.0, -0.5, f64::INFINITY]);
    assert_eq!((-&x).as_slice()[2].to_bits(), (-0.0_f64).to_bits());
    let n: Tensor![i32; 2] = Tensor::from([7, -7]);
    assert_eq!((&n / 2).as_slice(), [3, -3]);
    assert_eq!((100 - n).as_slice(), [93, 107]);
    assert_eq!((Tensor::from(2.5_f32) * 2.0).scalar(), 5.0);
}

#[test]
fn the_other_operand_infers_its_type() {
    let x: Tensor![f32; 2] = Tensor::from([1.0, 2.0]);
    assert_eq!(&x + Tensor::zeros(), x);
    assert_eq!(Tensor::zeros() + &x, x);
    assert_eq!(&x * &Tensor::full(2.0), Tensor::from([2.0, 4.0]));
    let mut y = x.clone() - Tensor::from([1.0, 1.0]);
    y += Tensor::full(1.0);
    assert_eq!(y, x);
}

#[test]
fn integers_wrap() {
    let least: Tensor![i32; 1] = Tensor::from([i32::MIN]);
    assert_eq!(-&least, least);
    assert_eq!(&least / -1, least);
    assert_eq!((&least - 1).as_slice(), [i32::MAX]);
    assert_eq!((&least * 2).as_slice(), [0]);
}

#[test]
fn assignments_change_the_left_operand() {
    let mut x = sample(3, 4);
    let row = sample(1, 4);
    let expected = (&x + &row) * 2 - &row;
    x += &row;
    x *= 2;
    x -= row;
    assert_eq!(x, expected);
    x /= Tensor::full_with((1, 1), 3);
    assert_eq!(x, expected.map(|x| x / 3));
    *x.view_mut() += 1;
    assert_eq!(x, expected.map(|x| x / 3 + 1));
}

#[test]
fn threads_compute_every_element_once() {
    let len = 270_001;
    let (x, y) =
        (Tensor::from_fn_with((len,), |[i]| i as i64), Tensor::from_fn_with((len,), |[i]| i as i64 % 7));
    for threads in [1, 5] {
        let _held = Threads::set(threads);
        let mut z = &x * &y;
        z -= &y;
        let z = z + 1;
        assert!(z.iter().enumerate().all(|(i, z)| *z == (i as i64 - 1) * (i as i64 % 7) + 1));
    }
}

#[test]
fn shapes_that_do_not_broadcast_are_named() {
    let expected = "E3001: `-`: extents 3 and 4 do not broadcast in dimension 1: the left is i64[2, 3], the right is i64[2, 4]";
    assert_eq!(message(|| &sample(2, 3) - &sample(2, 4)), expected);
    assert_eq!(message(|| sample(2, 3) - sample(2, 4)), expected);
    assert_eq!(message(|| &sample(2, 3) - sample(2, 4)), expected);
    let mut row = sample(1, 3);
    let expected = "E3001: `*=`: i64[2, 3] does not broadcast to i64[1, 3], which it is to change";
    assert_eq!(message(|| row *= sample(2, 3)), expected);
    assert_eq!(row, sample(1, 3));
}

#[test]
fn an_integer_divided_by_0_panics_before_anything_is_written() {
    let expected = "E6010: `/`: an integer is divided by 0: the divisor at position 1 is 0";
    let mut x: Tensor![i64; 3] = Tensor::from([1, 2, 3]);
    let zeros: Tensor![i64; 3] = Tensor::from([5, 0, 0]);
    assert_eq!(message(|| &x / &zeros), expected);
    assert_eq!(message(|| x.clone() / &zeros), expected);
    assert_eq!(message(|| &x / zeros.clone()), expected);
    assert_eq!(message(|| 1 / &zeros), expected);
    assert_eq!(message(|| x /= &zeros), expected);
    assert_eq!(message(|| x /= 0), "E6010: `/`: an integer is divided by 0: the divisor at position 0 is 0");
    assert_eq!(x.as_slice(), [1, 2, 3]);
    assert!((Tensor::<i64, _>::zeros_with((0, 2)) / 0).is_empty());
    assert_eq!((Tensor::<f32, (Const<1>,)>::zeros() + 1.0) / 0.0, Tensor::full(f32::INFINITY));
}
