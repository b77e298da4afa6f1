//! ndarray's arrays in expressions, and the types of the results.

use mind::{Tensor, mind};
use ndarray::{
    ArcArray2, Array, Array0, Array1, Array2, Array3, Array4, Array5, ArrayD, ArrayView2, CowArray, Ix6,
    arr1, arr2, array, s,
};

fn counting(rows: usize, columns: usize) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(i, j)| (columns * i + j) as f32)
}

#[test]
fn a_layer_of_arrays_is_an_array() {
    let (x, w, b) = (counting(2, 3), counting(3, 2), array![-20.0_f32, 1.0]);
    let y = mind!(relu(x @ w + b));
    let same: Array2<f32> = y;
    assert_eq!(same, arr2(&[[0.0, 14.0], [8.0, 41.0]]));
    assert_eq!(same, (x.dot(&w) + &b).mapv(|x| x.max(0.0)));
}

#[test]
fn gradients_by_arrays_are_arrays_and_updates_subtract_them() {
    let (x, y) = (counting(4, 2), array![1.0_f32, -1.0, 0.5, 2.0]);
    let (mut w, mut b) = (Array1::<f32>::zeros(2), 0.0_f32);
    let mut errors = Vec::new();
    for _ in 0..100 {
        let (error, (dw, db)) = mind!(value_and_grad(
            {
                let miss = x @ w + b - y;
                mean(miss * miss)
            },
            wrt = (w, b)
        ));
        let dw: Array1<f32> = dw;
        w -= &mind!(0.02 * dw);
        b -= 0.02 * db;
        errors.push(error);
    }
    assert!(errors[99] < 0.8 * errors[0] && errors.windows(2).all(|pair| pair[1] <= pair[0]), "{errors:?}");
}

#[test]
fn owned_shared_and_borrowed_arrays_of_any_layout_stand_alike() {
    let mut x = counting(2, 2);
    let shared: ArcArray2<f32> = x.clone().into_shared();
    let wide = counting(4, 4);
    let (transposed, part) = (x.t().to_owned(), wide.slice(s![0..;2, 1..3]).to_owned());
    let expected = &x + &shared + &transposed + &transposed + &part + &part;
    let cow = CowArray::from(&part);
    {
        let view: ArrayView2<'_, f32> = x.view();
        let (reversed, window) = (x.t(), wide.slice(s![0..;2, 1..3]));
        let sum = mind!(view + shared + reversed + transposed + window + cow);
        assert_eq!(sum, expected);
        let y = mind!(x @ reversed);
        assert_eq!(y, x.dot(&x.t()));
    }
    let x_before = x.clone();
    let unique = x.view_mut();
    assert_eq!(mind!(unique - 1.0), &x_before - 1.0);
    let reference = &x;
    assert_eq!(mind!(reference * 2.0), &x_before * 2.0);
}

#[test]
fn upside_down_arrays_are_read_right() {
    let x = counting(3, 4);
    let flipped = x.slice(s![..;-1, ..;-2]);
    assert_eq!(mind!(flipped * 1.0), flipped.to_owned());
    assert_eq!(mind!(sum(flipped, axes = [0])), flipped.sum_axis(ndarray::Axis(0)));
}

#[test]
fn every_rank_and_element_type_is_read() {
    let (zero, one) = (Array0::from_elem((), 2.0_f64), arr1(&[1.0_f64, 2.0]));
    let scaled: Array1<f64> = mind!(zero * one);
    assert_eq!(scaled, arr1(&[2.0, 4.0]));
    let whole: Array3<i32> = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 12 + j * 4 + k) as i32);
    let doubled: Array3<i32> = mind!(whole + whole);
    assert_eq!(doubled, &whole + &whole);
    let four = Array4::<i64>::from_elem((1, 2, 1, 3), 5);
    let four: Array4<i64> = mind!(four * 2);
    let five: Array5<i64> = mind!(expand_dims(four, axes = [0]));
    assert_eq!(five, Array5::from_elem((1, 1, 2, 1, 3), 10));
    let six = Array::<f32, Ix6>::from_elem((1, 2, 1, 2, 1, 2), 0.5);
    let sum: Array5<f32> = mind!(sum(six, axes = [1]));
    assert_eq!(sum, Array5::from_elem((1, 1, 2, 1, 2), 1.0));
    let seven: ArrayD<f32> = mind!(expand_dims(six, axes = [0]));
    assert_eq!(seven.shape(), [1, 1, 2, 1, 2, 1, 2]);
}

#[test]
fn results_have_the_rank_that_the_operations_give() {
    let (x, v) = (counting(2, 3), arr1(&[1.0_f32, 0.0, -1.0]));
    let batch = Array3::from_shape_fn((4, 2, 3), |(i, j, k)| (i + j * k) as f32);
    let _: Array1<f32> = mind!(x @ v);
    let _: Array1<f32> = mind!(v @ x.T);
    let _: Array2<f32> = mind!(x @ x.T);
    let number: f32 = mind!(v @ v : f32);
    assert_eq!(number, 2.0);
    let dot: Array0<f32> = mind!(v @ v);
    assert_eq!(dot[()], 2.0);
    let products: Array3<f32> = mind!(matmul(batch, transpose(batch, [0, 2, 1])));
    assert_eq!(products.shape(), [4, 2, 2]);
    let broadcast: Array3<f32> = mind!(matmul(batch, x.T));
    assert_eq!(broadcast.shape(), [4, 2, 2]);
    let rows: Array1<f32> = mind!(sum(x, axes = [1]));
    assert_eq!(rows, arr1(&[3.0, 12.0]));
    let kept: Array2<f32> = mind!(mean(x, axes = [1], keepdims = true));
    assert_eq!(kept.shape(), [2, 1]);
    let total: f32 = mind!(sum(batch));
    assert_eq!(total, batch.sum());
    let row: Array1<f32> = mind!(x[1]);
    assert_eq!(row, x.row(1));
    let part: Array2<f32> = mind!(batch[.., 0, 1..3]);
    assert_eq!(part, batch.slice(s![.., 0, 1..3]));
    let flat: Array1<f32> = mind!(reshape(x, [-1]));
    assert_eq!(flat.len(), 6);
    let rows: Array3<f32> = mind!(gather(x, { array![[1_i64, 0], [0, 0]] }));
    assert_eq!(rows.shape(), [2, 2, 3]);
    let squeezed: Array1<f32> = mind!(squeeze(kept, axes = [1]));
    assert_eq!(squeezed, arr1(&[1.0, 4.0]));
    let image = Array4::<f32>::ones((1, 4, 4, 1));
    let filter = Array4::<f32>::ones((3, 3, 1, 2));
    let features: Array4<f32> = mind!(conv2d(image, filter, strides = [1, 1], padding = same));
    assert_eq!(features.shape(), [1, 4, 4, 2]);
    let larger: Array3<f32> = mind!(broadcast_to(v, [4, 2, 3]));
    assert_eq!(larger.shape(), [4, 2, 3]);
    let written: Array2<f32> = mind!(x @ x.T : f32[2, 2]);
    assert_eq!(written, x.dot(&x.t()));
    let (outer, sums): (Array2<f32>, Array1<f32>) =
        mind!((expand_dims(v, axes = [1]) * v, sum(x, axes = [0])));
    assert_eq!((outer.shape(), sums.len()), (&[3, 3][..], 3));
    let seed = counting(2, 2);
    let back: Array2<f32> = mind!(vjp(x @ x.T, wrt = x)(seed));
    assert_eq!(back.shape(), [2, 3]);
}

#[test]
fn beside_tensors_results_are_tensors_which_convert() {
    let x = counting(2, 3);
    let w: Tensor![f32; 3, 2] = Tensor::from_fn(|[i, j]| (2 * i + j) as f32);
    let y = mind!(x @ w);
    assert_eq!(y.dims(), [2, 2]);
    let array: Array2<f32> = y.clone().into();
    assert_eq!(array, x.dot(&counting(3, 2)));
    let tensor: Tensor![f32; ?, 2] = y.into();
    assert_eq!(tensor.as_slice(), array.as_slice().expect("a result is in standard layout"));
    // A gradient has the type of its variable.
    let (dx, dw): (Array2<f32>, Tensor![f32; 3, 2]) = mind!(grad(sum(x @ w), wrt = (x, w)));
    assert_eq!((dx.shape(), dw.dims()), (&[2, 3][..], [3, 2]));
}

#[test]
fn numbers_and_data_of_rust_leave_a_result_an_array() {
    let x = counting(2, 3);
    let (rate, bias, scale) = (0.5_f32, [1.0_f32, 2.0, 3.0], vec![2.0_f32; 3]);
    let y: Array2<f32> = mind!(x * rate * scale + bias);
    assert_eq!(y, &x + &arr1(&bias));
}

#[test]
fn a_number_whose_type_is_open_does_not_hide_the_type_of_a_result() {
    let (x, rate) = (arr2(&[[1.0, 2.0]]), 0.5);
    let y = mind!(rate * x @ x.T);
    assert_eq!(y.shape(), [1, 1]);
    let t = Tensor::from([1.0, 2.0]);
    let z = mind!(rate + expand_dims(t, axes = [0]));
    assert_eq!(z.as_slice(), [1.5, 2.5]);
    for factor in [1.0, 2.0].iter() {
        let y = mind!(factor * x @ x.T);
        assert_eq!(y.len(), 1);
    }
}

#[test]
#[should_panic(expected = "[E3003] `@`: inner dimensions differ, 3 and 4: x is f32[2, 3], w is f32[4, 2]")]
fn extents_are_checked_on_entry_in_the_words_for_tensors() {
    let (x, w) = (counting(2, 3), counting(4, 2));
    let _ = mind!(relu(x @ w));
}

#[test]
#[should_panic(expected = "[E3006]")]
fn an_empty_array_is_refused_on_entry() {
    let x = Array2::<f32>::zeros((2, 0));
    let _ = mind!(x + 1.0);
}

/// A user's function that is generic over the ownership of an array.
fn normalised<A: ndarray::Data<Elem = f64>>(x: &ndarray::ArrayBase<A, ndarray::Ix2>) -> Array2<f64> {
    mind!(x / sum(x, axes = [1], keepdims = true))
}

#[test]
fn functions_generic_in_who_owns_an_array_have_expressions() {
    let x = arr2(&[[1.0, 3.0], [2.0, 2.0]]);
    let expected = arr2(&[[0.25, 0.75], [0.5, 0.5]]);
    assert_eq!(normalised(&x), expected);
    assert_eq!(normalised(&x.t().as_standard_layout().t()), expected);
}

mod lines {
    mind::mind! {
        #[derive(Debug, PartialEq)]
        pub struct Line<N> { pub a: f64[N], pub b: f64 }
    }
}

#[test]
fn a_struct_that_is_made_of_arrays_holds_tensors() {
    let (a, b) = (arr1(&[1.0, 2.0]), 0.5);
    let line: lines::Line<mind::Const<2>> = mind! { use self::lines::Line; Line { a: a * 2.0, b } : Line<2> };
    assert_eq!(line, lines::Line { a: Tensor::from([2.0, 4.0]), b: 0.5 });
    let open: lines::Line<usize> = mind! { use self::lines::Line; Line { a: 3.0 * a, b: sum(a) } };
    assert_eq!((open.a.as_slice(), open.b), ([3.0, 6.0].as_slice(), 3.0));
}
