//! The results of each operation, on values computed by hand.

use mind_core::{
    data::TensorData,
    dim::Dim,
    interp::{Array, Elements},
    ir::{Arrange, Const, Convolution, Op, Padding, Part, Product, Reduction, Rows, Slice, Window},
    map::Map,
    reduce::Reduce,
};

use super::support::{evaluate, f32s, i64s, shape, single, ty, verified};

#[test]
fn arithmetic_broadcasts() {
    let (a, b) = (f32s(&[2, 3], &[1., 2., 3., 4., 5., 6.]), f32s(&[2, 1], &[10., 20.]));
    assert_eq!(
        evaluate(Op::Map(Map::Add), &[a.clone(), b.clone()]),
        f32s(&[2, 3], &[11., 12., 13., 24., 25., 26.])
    );
    assert_eq!(evaluate(Op::Map(Map::Sub), &[f32s(&[], &[1.]), b.clone()]), f32s(&[2, 1], &[-9., -19.]));
    assert_eq!(
        evaluate(Op::Map(Map::Mul), &[a.clone(), f32s(&[3], &[1., 0., -1.])]),
        f32s(&[2, 3], &[1., 0., -3., 4., 0., -6.])
    );
    assert_eq!(evaluate(Op::Map(Map::Div), &[a, b]), f32s(&[2, 3], &[0.1, 0.2, 0.3, 0.2, 0.25, 0.3]));
}

#[test]
fn integers_wrap() {
    let (max, one) = (i64s(&[], &[i64::MAX]), i64s(&[], &[1]));
    assert_eq!(evaluate(Op::Map(Map::Add), &[max.clone(), one]), i64s(&[], &[i64::MIN]));
    assert_eq!(evaluate(Op::Map(Map::Mul), &[max.clone(), i64s(&[], &[2])]), i64s(&[], &[-2]));
    assert_eq!(evaluate(Op::Map(Map::Neg), &[i64s(&[], &[i64::MIN])]), i64s(&[], &[i64::MIN]));
    let sum = Op::Reduce(Reduce::Sum, Reduction { axes: vec![], keepdims: false });
    assert_eq!(evaluate(sum, &[Array::new([2], vec![i32::MAX, 1])]), Array::new([], vec![i32::MIN]));
    assert_eq!(
        evaluate(Op::Product(Product::Dot), &[i64s(&[2], &[i64::MAX, 1]), i64s(&[2], &[1, 1])]),
        i64s(&[], &[i64::MIN])
    );
}

#[test]
fn bytes_wrap_and_have_no_sign() {
    let bytes = |elements: &[u8]| Array::new([elements.len()], elements.to_vec());
    let truths = |elements: &[bool]| Array::new([elements.len()], elements.to_vec());
    let operands = [bytes(&[250, 3, 200]), bytes(&[10, 5, 100])];
    let of = |map: Map| evaluate(Op::Map(map), &operands);
    assert_eq!(of(Map::Add), bytes(&[4, 8, 44]));
    assert_eq!(of(Map::Sub), bytes(&[240, 254, 100]));
    assert_eq!(of(Map::Mul), bytes(&[196, 15, 32]));
    assert_eq!(of(Map::Div), bytes(&[25, 0, 2]));
    assert_eq!(of(Map::Maximum), bytes(&[250, 5, 200]));
    assert_eq!(of(Map::Gt), truths(&[true, false, true]));
    let first = |map: Map| evaluate(Op::Map(map), &operands[..1]);
    assert_eq!(first(Map::Neg), bytes(&[6, 253, 56]));
    assert_eq!((first(Map::Abs), first(Map::Sign)), (bytes(&[250, 3, 200]), bytes(&[1; 3])));
    assert_eq!(first(Map::ToF32), f32s(&[3], &[250., 3., 200.]));
    let floats = f32s(&[4], &[300.7, -1., f32::NAN, 41.9]);
    assert_eq!(evaluate(Op::Map(Map::ToU8), &[floats]), bytes(&[255, 0, 0, 41]));
    assert_eq!(evaluate(Op::Map(Map::ToU8), &[i64s(&[2], &[-1, 258])]), bytes(&[255, 2]));
    let over = |op| evaluate(Op::Reduce(op, Reduction { axes: vec![0], keepdims: false }), &operands[..1]);
    assert_eq!(over(Reduce::Sum), Array::new([], vec![197_u8]));
    assert_eq!(over(Reduce::Max), Array::new([], vec![250_u8]));
    let table = f32s(&[3, 1], &[1., 2., 3.]);
    let gathered = evaluate(Op::Rows(Rows::Gather), &[table, bytes(&[2, 0])]);
    assert_eq!(gathered, f32s(&[2, 1], &[3., 1.]));
}

#[test]
fn functions_of_one_element_keep_ieee_edges() {
    let x = f32s(&[5], &[-1., 0., 2., f32::NAN, f32::INFINITY]);
    assert_eq!(
        evaluate(Op::Map(Map::Relu), std::slice::from_ref(&x)),
        f32s(&[5], &[0., 0., 2., 0., f32::INFINITY])
    );
    let dy = f32s(&[5], &[7.; 5]);
    assert_eq!(evaluate(Op::Map(Map::ReluGrad), &[dy, x]), f32s(&[5], &[0., 0., 7., 0., 7.]));
    assert_eq!(evaluate(Op::Map(Map::Exp), &[f32s(&[2], &[0., 1.])]), f32s(&[2], &[1., std::f32::consts::E]));
    let Elements::F32(logs) = evaluate(Op::Map(Map::Log), &[f32s(&[3], &[1., 0., -1.])]).elements else {
        panic!("f32")
    };
    assert_eq!(logs[..2], [0., f32::NEG_INFINITY]);
    assert!(logs[2].is_nan());
    assert_eq!(evaluate(Op::Map(Map::StopGradient), &[f32s(&[1], &[3.])]), f32s(&[1], &[3.]));
}

#[test]
fn reductions_total_and_average() {
    let x = f32s(&[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let reduction = |axes: &[i64], keepdims| Reduction { axes: axes.to_vec(), keepdims };
    let sum = |axes: &[i64], keepdims| {
        evaluate(Op::Reduce(Reduce::Sum, reduction(axes, keepdims)), std::slice::from_ref(&x))
    };
    assert_eq!(sum(&[1], false), f32s(&[2], &[6., 15.]));
    assert_eq!(sum(&[0], true), f32s(&[1, 3], &[5., 7., 9.]));
    assert_eq!(sum(&[], true), f32s(&[], &[21.]));
    let mean = evaluate(Op::Reduce(Reduce::Mean, reduction(&[0, 1], false)), std::slice::from_ref(&x));
    assert_eq!(mean, f32s(&[], &[3.5]));
    assert_eq!(evaluate(Op::Reduce(Reduce::Mean, reduction(&[1], false)), &[x]), f32s(&[2], &[2., 5.]));
}

#[test]
fn sums_of_f32_round_once() {
    let x = f32s(&[3], &[1e8, 1., -1e8]);
    assert_eq!(
        evaluate(Op::Reduce(Reduce::Sum, Reduction { axes: vec![0], keepdims: false }), &[x]),
        f32s(&[], &[1.])
    );
}

#[test]
fn views_move_elements() {
    let x = i64s(&[2, 3], &[1, 2, 3, 4, 5, 6]);
    let on = |op| evaluate(op, std::slice::from_ref(&x));
    assert_eq!(
        on(Op::Arrange(Arrange::Reshape { shape: shape("3, 2") })),
        i64s(&[3, 2], &[1, 2, 3, 4, 5, 6])
    );
    assert_eq!(
        on(Op::Arrange(Arrange::Transpose { permutation: vec![1, 0] })),
        i64s(&[3, 2], &[1, 4, 2, 5, 3, 6])
    );
    assert_eq!(on(Op::Arrange(Arrange::ExpandDims { axes: vec![1] })), i64s(&[2, 1, 3], &[1, 2, 3, 4, 5, 6]));
    let broadcast = Op::Arrange(Arrange::BroadcastTo { shape: shape("2, 2, 3") });
    assert_eq!(on(broadcast), i64s(&[2, 2, 3], &[1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]));
    assert_eq!(
        evaluate(Op::Arrange(Arrange::Squeeze { axes: vec![0] }), &[i64s(&[1, 2], &[7, 8])]),
        i64s(&[2], &[7, 8])
    );
    let cube = i64s(&[2, 1, 3], &[1, 2, 3, 4, 5, 6]);
    let turned = evaluate(Op::Arrange(Arrange::Transpose { permutation: vec![2, 0, 1] }), &[cube]);
    assert_eq!(turned, i64s(&[3, 2, 1], &[1, 4, 2, 5, 3, 6]));
}

#[test]
fn elements_are_taken_and_put_back() {
    let x = i64s(&[2, 3], &[1, 2, 3, 4, 5, 6]);
    let index = Op::Part(Part::Index { indices: vec![Dim::ONE, Dim::ZERO] });
    assert_eq!(evaluate(index, std::slice::from_ref(&x)), i64s(&[], &[4]));
    let dims = |text| shape(text).to_vec();
    let slice = Slice { starts: dims("0, 0"), ends: dims("2, 3"), steps: vec![1, 2] };
    let taken = evaluate(Op::Part(Part::Slice(slice.clone().into())), std::slice::from_ref(&x));
    assert_eq!(taken, i64s(&[2, 2], &[1, 3, 4, 6]));
    let back = evaluate(Op::Part(Part::SliceGrad { shape: shape("2, 3"), slice: slice.into() }), &[taken]);
    assert_eq!(back, i64s(&[2, 3], &[1, 0, 3, 4, 0, 6]));
    let indices = i64s(&[3], &[1, 0, 1]);
    let rows = evaluate(Op::Rows(Rows::Gather), &[x, indices.clone()]);
    assert_eq!(rows, i64s(&[3, 3], &[4, 5, 6, 1, 2, 3, 4, 5, 6]));
    let added = evaluate(Op::Rows(Rows::ScatterAdd { shape: shape("3, 3") }), &[indices, rows]);
    assert_eq!(added, i64s(&[3, 3], &[1, 2, 3, 8, 10, 12, 0, 0, 0]));
}

#[test]
fn products_of_every_form() {
    let (a, b) = (i64s(&[2, 3], &[1, 2, 3, 4, 5, 6]), i64s(&[3, 2], &[1, 0, 0, 1, 1, 1]));
    assert_eq!(
        evaluate(Op::Product(Product::MatMul), &[a.clone(), b.clone()]),
        i64s(&[2, 2], &[4, 5, 10, 11])
    );
    assert_eq!(evaluate(Op::Product(Product::Dot), &[a.clone(), b.clone()]), i64s(&[2, 2], &[4, 5, 10, 11]));
    assert_eq!(
        evaluate(Op::Product(Product::Dot), &[a.clone(), i64s(&[3], &[1, 0, -1])]),
        i64s(&[2], &[-2, -2])
    );
    assert_eq!(
        evaluate(Op::Product(Product::Dot), &[i64s(&[2], &[1, -1]), a.clone()]),
        i64s(&[3], &[-3, -3, -3])
    );
    assert_eq!(
        evaluate(Op::Product(Product::Dot), &[i64s(&[2], &[1, 2]), i64s(&[2], &[3, 4])]),
        i64s(&[], &[11])
    );
    let batch = i64s(&[2, 1, 2], &[1, 2, 3, 4]);
    let each = i64s(&[2, 2, 1], &[1, 1, 2, 0]);
    assert_eq!(evaluate(Op::Product(Product::MatMul), &[batch.clone(), each]), i64s(&[2, 1, 1], &[3, 6]));
    assert_eq!(
        evaluate(Op::Product(Product::MatMul), &[batch, i64s(&[2, 1], &[1, -1])]),
        i64s(&[2, 1, 1], &[-1, -1])
    );
}

#[test]
fn convolution_by_hand() {
    let image = i64s(&[1, 3, 3, 1], &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let filter = i64s(&[2, 2, 1, 1], &[1, 0, 0, -1]);
    let conv = |strides: [i64; 2], padding| {
        let op = Op::Window(Window::Conv2d(Convolution { strides: strides.to_vec(), padding }));
        evaluate(op, &[image.clone(), filter.clone()])
    };
    assert_eq!(conv([1, 1], Padding::Valid), i64s(&[1, 2, 2, 1], &[-4, -4, -4, -4]));
    // A window of 2 with step 1 needs one zero of padding, which comes last.
    assert_eq!(conv([1, 1], Padding::Same), i64s(&[1, 3, 3, 1], &[-4, -4, 3, -4, -4, 6, 7, 8, 9]));
    assert_eq!(conv([2, 2], Padding::Custom(vec![[1, 0], [1, 0]])), i64s(&[1, 2, 2, 1], &[-1, -3, -7, -4]));
}

#[test]
fn convolution_gradients_are_its_transposes() {
    // <conv(x, f), dy> = <x, grad_input(dy, f)> = <f, grad_filter(x, dy)>, exactly on integers.
    for (strides, padding) in
        [([1, 1], Padding::Valid), ([2, 1], Padding::Same), ([2, 2], Padding::Custom(vec![[1, 2], [0, 1]]))]
    {
        let convolution = Convolution { strides: strides.to_vec(), padding };
        let numbers =
            |count: usize, step: i64| (0..count as i64).map(|n| (n * step) % 7 - 3).collect::<Vec<_>>();
        let x = i64s(&[2, 5, 4, 2], &numbers(80, 3));
        let f = i64s(&[3, 2, 2, 3], &numbers(36, 5));
        let y = evaluate(Op::Window(Window::Conv2d(convolution.clone())), &[x.clone(), f.clone()]);
        let dy = Array::new(y.shape.clone(), numbers(y.elements.len(), 4));
        let shape_of_x = shape("2, 5, 4, 2");
        let dx = Op::Window(Window::Conv2dGradInput {
            shape: shape_of_x,
            convolution: convolution.clone().into(),
        });
        let dx = evaluate(dx, &[dy.clone(), f.clone()]);
        let df = evaluate(
            Op::Window(Window::Conv2dGradFilter {
                shape: shape("3, 2, 2, 3"),
                convolution: convolution.into(),
            }),
            &[x.clone(), dy.clone()],
        );
        let inner = |a: &Array, b: &Array| -> f64 {
            a.elements.to_f64().iter().zip(b.elements.to_f64()).map(|(a, b)| a * b).sum()
        };
        assert_eq!(inner(&y, &dy), inner(&x, &dx));
        assert_eq!(inner(&y, &dy), inner(&f, &df));
    }
}

#[test]
fn constants_are_their_elements() {
    let run = |op: Op| mind_core::interp::run(&verified(single(&op, &[])), &[]).unwrap().remove(0);
    assert_eq!(run(Op::Const(Const::I64(-3))), i64s(&[], &[-3]));
    assert_eq!(run(Op::Const(Const::F32((0.5).into()))), f32s(&[], &[0.5]));
    assert_eq!(run(Op::Const(Const::F64((0.5).into()))), Array::new([], vec![0.5f64]));
    let data = TensorData::from(vec![1i32, 2]);
    assert_eq!(run(Op::Const(Const::Tensor { data, shape: shape("2") })), Array::new([2], vec![1i32, 2]));
    let splat = TensorData::from(vec![4.0f32, 4.0]);
    assert_eq!(splat.stored(), 1);
    assert_eq!(run(Op::Const(Const::Tensor { data: splat, shape: shape("2, 2") })), f32s(&[2, 2], &[4.; 4]));
    assert_eq!(ty("f32[2, N]").to_string(), "f32[2, N]");
}
