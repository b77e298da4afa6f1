//! The Rust types of results: the types of leaves where these decide it, otherwise inferred types, which can be used
//! directly.

use std::any::type_name_of_val;

use mind::{Dim, Shape, Tensor, TensorRef, mind};

#[test]
fn what_is_broadcast_from_leaves_of_one_type_is_assigned_to_one() {
    let mut w: Tensor![f32; 3] = Tensor::from([1.0, 2.0, 3.0]);
    let g: Tensor![f32; 3] = Tensor::from([50.0, 100.0, 0.0]);
    w = mind!(w - 0.02 * g);
    assert_eq!(w.as_slice(), [0.0, 0.0, 3.0]);
    w = mind!(relu(g - w) / (1.0 + exp(0.0 * w)) - mean(g * w));
    assert_eq!(w.as_slice(), [25.0, 50.0, 0.0]);
    let mut dynamic = w.as_dyn().to_owned();
    let (velocity, rate) = (dynamic.clone(), 0.5_f32);
    dynamic = mind!(dynamic + rate * velocity);
    assert_eq!(dynamic.as_slice(), [37.5, 75.0, 0.0]);
    // The types of both elements of a tuple, and a declared result type of a function.
    let (sum, difference): (Tensor![f32; 3], Tensor![f32; 3]) = mind!((w + g, w - g));
    fn halfway(a: &Tensor![f32; 3], b: &Tensor![f32; 3]) -> Tensor![f32; 3] {
        mind!((a + b) * 0.5)
    }
    assert_eq!(halfway(&sum, &difference), w);
}

#[test]
fn what_all_of_another_leaf_but_its_first_dims_broadcasts_to_is_of_its_type() {
    let mut x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]]);
    let mean: Tensor![f32; 3] = mind!(mean(x, axis = 0)).into();
    x = mind!(x - mean);
    assert_eq!(x, Tensor::from([[-2.0; 3], [2.0; 3]]));
    let (mut batch, row) = (Tensor::<f32, _>::full_with((2, 3), 1.0), Tensor::<f32, _>::full_with((3,), 2.0));
    batch = mind!(row * batch);
    assert_eq!(batch.as_slice(), [2.0; 6]);
    // A dynamic extent can broadcast to another one.
    let one = Tensor::<f32, _>::full_with((1,), 2.0);
    let three: Tensor![f32; ?] = mind!(one * row);
    assert_eq!(three.dims(), [3]);
    let many: Tensor![f32; ?, ?] = mind!(row + { Tensor::<f32, _>::full_with((4, 1), 1.0) });
    assert_eq!(many.dims(), [4, 3]);
}

#[test]
fn generic_functions_return_what_they_take() {
    fn step<S: Shape>(w: &TensorRef<f64, S>, g: &TensorRef<f64, S>) -> Tensor<f64, S> {
        mind!(late: w - 0.5 * g)
    }
    fn shifted<N: Dim, M: Dim>(
        x: &TensorRef<f32, (N, M)>,
        b: &TensorRef<f32, (M,)>,
        k: f32,
    ) -> Tensor<f32, (N, M)> {
        mind!(late: k * x + b)
    }
    let w: Tensor![f64; 2] = Tensor::from([1.0, 2.0]);
    assert_eq!(step(&w, &w), Tensor::from([0.5, 1.0]));
    let x: Tensor![f32; 2, 1] = Tensor::full(1.0);
    assert_eq!(shifted(&x, &Tensor::full(0.5), 3.0), Tensor::full(3.5));
}

#[test]
fn a_number_of_open_type_is_of_the_type_that_the_others_are() {
    let (rate, offset) = (0.5, &2.0);
    let mut w: Tensor![f32; 2] = Tensor::from([2.0, 4.0]);
    w = mind!(rate * w);
    assert_eq!(w, Tensor::from([1.0, 2.0]));
    w = mind!(w - rate * (w + offset));
    assert_eq!(w, Tensor::from([-0.5, 0.0]));
    let count = 3;
    let long: Tensor![i64; 2] = mind!(count * { Tensor::from([1_i64, 2]) });
    assert_eq!(long, Tensor::from([3, 6]));
    let scale = 0.5;
    let number: f32 = mind!(scale * sum(w));
    assert_eq!(number, -0.25);
    // Without other operands it has its Rust type.
    let alone = 0.25;
    assert_eq!(mind!(sum(alone)), 0.25_f64);
}

#[test]
fn an_inferred_shape_has_its_rank_in_its_type() {
    let x: Tensor![f32; 2, 3] = Tensor::full(1.0);
    assert_eq!(format!("{:?}", mind!(x @ x.T).dims()), "[2, 2]");
    assert_eq!(format!("{:?}", mind!(sum(x, axis = 1)).dims()), "[2]");
    assert_eq!(format!("{:?}", mind!(x[0, 0]).dims()), "[]");
    assert_eq!(format!("{:?}", mind!(expand_dims(x @ x.T, axes = [0])).dims()), "[1, 2, 2]");
    assert_eq!(format!("{:?}", mind!(squeeze(x[..1])).shape().dims()), "[3]");
    assert_eq!(format!("{:?}", mind!(x @ x.T).shape()), "[2, 2]");
    assert_eq!(mind!(x @ x.T)[[1, 0]], 3.0);
    let [rows, columns] = mind!(x.T @ x).dims();
    assert_eq!((rows, columns), (3, 3));
    // The type has the same name for any length of the chain of expressions that it comes from.
    let first = mind!(x @ x.T);
    let second = mind!(first @ x);
    let third = mind!(relu(second @ x.T) - first);
    let (rank, _) = type_name_of_val(&third).split_once("Inferred<").expect("the shape is inferred");
    assert!(rank.ends_with("Tensor<f32, mind_rt::bare::inferred::"), "{rank}");
    assert_eq!(third.as_slice(), [15.0; 4]);
}
