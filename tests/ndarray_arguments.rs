//! ndarray's arrays as arguments of generated functions, with the feature `ndarray`.

use std::sync::Arc;

use mind::{Const, Tensor, TensorRef, Workspace, mind};
use ndarray::{Array1, Array2, ArrayView2, arr1, arr2, s};

mind! {
    fn layer<N>(x: f32[N, 3], w: f32[3, 2], b: f32[2]) -> f32[N, 2] {
        relu(x @ w + b)
    }

    #[grad(w, b)]
    fn loss<N>(x: f32[N, 3], y: f32[N], w: f32[3], b: f32) -> f32 {
        let miss = x @ w + b - y;
        mean(miss * miss)
    }

    fn step<N>(x: f32[N, 3], y: f32[N], w: &mut f32[3], b: &mut f32, rate: f32) -> f32 {
        let (l, (dw, db)) = value_and_grad(loss, wrt = (w, b))(x, y, w, b);
        w -= rate * dw;
        b -= rate * db;
        l
    }

    fn halves<N>(x: f64[2 * N], y: f64[N]) -> f64[N] {
        x[..;2] + y
    }

    fn fixed(x: i64[2, 2]) -> i64[2] { sum(x, axes = [0]) }
}

fn counting(rows: usize, columns: usize) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(i, j)| (columns * i + j) as f32)
}

#[test]
fn functions_take_arrays_and_views_of_any_layout() {
    let (x, w, b) = (counting(4, 3), counting(3, 2), arr1(&[-9.0_f32, 1.0]));
    let expected = (x.dot(&w) + &b).mapv(|x| x.max(0.0));
    let y = layer(&x, &w, &b);
    assert_eq!(Array2::from(y), expected);
    let (columns, wide) = (x.t().as_standard_layout().into_owned(), counting(3, 5));
    let view: ArrayView2<'_, f32> = columns.t();
    assert_eq!(Array2::from(layer(&view, &w.view(), &b.clone().into_shared())), expected);
    let window = wide.slice(s![.., 1..;3]);
    assert_eq!(Array2::from(layer(&x, &window, &b)), (x.dot(&window) + &b).mapv(|x| x.max(0.0)));
    assert_eq!(fixed(&arr2(&[[1, 2], [3, 4]])).as_slice(), [4, 6]);
    assert_eq!(halves(&arr1(&[1.0, 2.0, 3.0, 4.0]), &arr1(&[10.0, 20.0])).as_slice(), [11.0, 23.0]);
}

#[test]
fn functions_still_take_tensors_however_they_are_borrowed() {
    let x: Tensor![f32; 4, 3] = Tensor::from_fn(|[i, j]| (3 * i + j) as f32);
    let (w, shared) = (Tensor::from([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), Arc::new(x.clone()));
    let reference: &TensorRef<f32, _> = &x;
    let expected: Tensor![f32; 4, 2] = layer(&x, &w, &Tensor::zeros());
    assert_eq!(expected, layer(reference, &w, &Tensor::full(0.0)));
    assert_eq!(expected, layer(&shared, &w.view(), &Tensor::from([0.0, 0.0])));
    assert_eq!(expected, layer(&&x.view(), &w, &Tensor::from_fn(|[_]| 0.0)));
    type OnTensors = fn(&TensorRef<i64, (Const<2>, Const<2>)>) -> Tensor![i64; 2];
    let pass: OnTensors = fixed;
    assert_eq!(pass(&Tensor::full(1)).as_slice(), [2, 2]);
}

#[test]
fn arrays_beside_tensors_of_dynamic_dims() {
    let (x, w) = (counting(4, 3), Tensor::from([1.0, -1.0, 0.5]));
    let y = Tensor::zeros_with((4,));
    assert_eq!(loss(&x, &y, &w, 0.0), loss(&x, &Array1::zeros(4), &arr1(&[1.0, -1.0, 0.5]), 0.0));
}

#[test]
fn arrays_are_updated_in_place() {
    let (x, y) = (counting(4, 3), arr1(&[1.0_f32, 2.0, 3.0, 4.0]));
    let (mut w, mut b) = (Array1::<f32>::zeros(3), 0.0);
    let first = step(&x, &y, &mut w, &mut b, 0.005);
    assert!(w.iter().all(|w| *w > 0.0) && step(&x, &y, &mut w, &mut b, 0.005) < first);
    let (_, (dw, db)) = loss_grad(&x, &y, &w, b);
    let dw: Array1<f32> = dw.into();
    assert!(dw.len() == 3 && db.is_finite());
    // A view of contiguous elements.
    let mut rows = Array2::<f32>::zeros((2, 3));
    step(&x, &y, &mut rows.row_mut(1), &mut b, 0.005);
    assert!(rows.row(0).iter().all(|w| *w == 0.0) && rows.row(1).iter().all(|w| *w != 0.0));
}

#[test]
fn what_does_not_fit_is_an_error_on_entry() {
    let (x, w, b) = (counting(4, 3), counting(3, 2), Array1::<f32>::zeros(2));
    let error = try_layer(&counting(4, 4), &w, &b).expect_err("4 is not 3");
    assert_eq!(error.to_string(), "E6009: `layer`: parameter `x`: dimension 1 is 4, needed 3 (as declared)");
    let error = try_loss(&x, &Array1::zeros(5), &Array1::zeros(3), 0.0).expect_err("5 is not 4");
    assert_eq!(error.to_string(), "E6009: `loss`: parameter `y`: dimension 0 is 5, needed 4 (N, from `x`)");
    let mut out = Tensor::zeros_with((4, Const));
    let mut workspace = Workspace::with_bytes(layer::peak_bytes(4));
    assert_eq!(layer_into(&x, &w, &b, &mut out, &mut workspace), Ok(()));
    let mut columns = Array2::<f32>::zeros((3, 2));
    let (error, before) = (&mut 0.0, columns.clone());
    let error = try_step(&x, &Array1::zeros(4), &mut columns.column_mut(0), error, 0.1).expect_err("gaps");
    assert_eq!((error.code(), columns), ("E6003", before));
}

#[test]
#[should_panic(expected = "E6009: `fixed`: parameter `x`: dimension 0 is 3, needed 2 (as declared)")]
fn a_function_without_symbols_panics_with_the_same_words() {
    fixed(&Array2::zeros((3, 2)));
}
