//! Inferred result types for known and symbolic extents.

use mind_core::{
    dim::Dim,
    ir::{Arrange, Convolution, Op, Padding, Part, Product, Reduction, Rows, Slice, Window},
    map::Map,
    ops::Requirement,
    reduce::Reduce,
};

use super::support::{dim, infer_types, inferred, shape, ty};

#[test]
fn operands_broadcast_from_their_last_dimensions() {
    assert_eq!(inferred(&Op::Map(Map::Add), &["f32[2, 3]", "f32[3]"]), "f32[2, 3]");
    assert_eq!(inferred(&Op::Map(Map::Sub), &["i64", "i64[2]"]), "i64[2]");
    assert_eq!(inferred(&Op::Map(Map::Mul), &["f64[4, 1, 3]", "f64[2, 1]"]), "f64[4, 2, 3]");
    assert_eq!(inferred(&Op::Map(Map::Div), &["f32[N, 1]", "f32[1, M]"]), "f32[N, M]");
    assert_eq!(inferred(&Op::Map(Map::Add), &["f32[2*N + 1]", "f32[N + 1 + N]"]), "f32[2 * N + 1]");
}

#[test]
fn reductions_remove_axes_or_keep_them_as_1() {
    let reduce =
        |axes: &[i64], keepdims| Op::Reduce(Reduce::Sum, Reduction { axes: axes.to_vec(), keepdims });
    assert_eq!(inferred(&reduce(&[1], false), &["f32[3, 4, 5]"]), "f32[3, 5]");
    assert_eq!(inferred(&reduce(&[1], true), &["f32[3, 4, 5]"]), "f32[3, 1, 5]");
    assert_eq!(inferred(&reduce(&[2, 0], false), &["i32[N, 4, M]"]), "i32[4]");
    assert_eq!(inferred(&reduce(&[], false), &["f32[3, 4]"]), "f32");
    assert_eq!(inferred(&reduce(&[], true), &["f32[3, 4]"]), "f32");
    assert_eq!(inferred(&reduce(&[0, 1], true), &["f32[3, 4]"]), "f32[1, 1]");
}

#[test]
fn reshapes_preserve_the_count_whatever_the_symbols_are() {
    let to = |text| Op::Arrange(Arrange::Reshape { shape: shape(text) });
    assert_eq!(inferred(&to("6"), &["f32[2, 3]"]), "f32[6]");
    assert_eq!(inferred(&to("2*N, 3"), &["f32[N, 6]"]), "f32[2 * N, 3]");
    assert_eq!(inferred(&to("N*N + N"), &["f32[N, N + 1]"]), "f32[N * N + N]");
    assert_eq!(inferred(&to(""), &["f32[1, 1]"]), "f32");
}

#[test]
fn axes_move_come_and_go() {
    assert_eq!(
        inferred(&Op::Arrange(Arrange::Transpose { permutation: vec![2, 0, 1] }), &["f32[2, 3, 4]"]),
        "f32[4, 2, 3]"
    );
    assert_eq!(
        inferred(&Op::Arrange(Arrange::ExpandDims { axes: vec![0, 2] }), &["f32[3, 4]"]),
        "f32[1, 3, 1, 4]"
    );
    assert_eq!(inferred(&Op::Arrange(Arrange::ExpandDims { axes: vec![2, 1] }), &["f32[N]"]), "f32[N, 1, 1]");
    assert_eq!(
        inferred(&Op::Arrange(Arrange::Squeeze { axes: vec![0, 2] }), &["f32[1, 3, 1, 4]"]),
        "f32[3, 4]"
    );
    assert_eq!(inferred(&Op::Arrange(Arrange::Squeeze { axes: vec![] }), &["f32[1, 3]"]), "f32[1, 3]");
    assert_eq!(
        inferred(&Op::Arrange(Arrange::BroadcastTo { shape: shape("M, N, 3") }), &["f32[N, 1]"]),
        "f32[M, N, 3]"
    );
}

fn slice(starts: &str, ends: &str, steps: &[i64]) -> Op {
    Op::Part(Part::Slice(
        Slice { starts: shape(starts).to_vec(), ends: shape(ends).to_vec(), steps: steps.to_vec() }.into(),
    ))
}

#[test]
fn slices_round_up_and_follow_symbols() {
    assert_eq!(inferred(&slice("1, 0", "8, 4", &[3, 1]), &["f32[10, 4]"]), "f32[3, 4]");
    assert_eq!(inferred(&slice("0", "N", &[1]), &["f32[N]"]), "f32[N]");
    assert_eq!(inferred(&slice("1", "N", &[1]), &["f32[N]"]), "f32[N - 1]");
    assert_eq!(inferred(&slice("0", "2*N", &[2]), &["f32[2*N]"]), "f32[N]");
    assert_eq!(inferred(&slice("0", "3", &[1]), &["f32[N]"]), "f32[3]");
}

fn requirements(op: &Op, operand: &str) -> Vec<Requirement> {
    (op.info().requirements)(op, &[&ty(operand)])
}

#[test]
fn what_symbols_must_keep_is_required() {
    let at_most = |a: &str, b: &str| Requirement::AtMost(dim(a), dim(b));
    assert_eq!(requirements(&slice("0", "3", &[1]), "f32[N]"), [at_most("3", "N")]);
    assert_eq!(requirements(&slice("N - 2", "N", &[1]), "f32[N]"), [at_most("0", "N - 2")]);
    assert_eq!(requirements(&slice("1", "N", &[1]), "f32[N]"), []);
    assert_eq!(
        requirements(&Op::Part(Part::Index { indices: vec![Dim::literal(4)] }), "f32[N]"),
        [at_most("5", "N")]
    );
    assert_eq!(requirements(&Op::Part(Part::Index { indices: vec![dim("N - 1")] }), "f32[N]"), []);
}

#[test]
fn rows_are_gathered_in_the_shape_of_the_indices() {
    assert_eq!(inferred(&Op::Rows(Rows::Gather), &["f32[10, 3]", "i64[2, N]"]), "f32[2, N, 3]");
    assert_eq!(inferred(&Op::Rows(Rows::Gather), &["i32[10]", "i32"]), "i32");
    assert_eq!(
        inferred(&Op::Rows(Rows::ScatterAdd { shape: shape("10, 3") }), &["i64[2, N]", "f32[2, N, 3]"]),
        "f32[10, 3]"
    );
}

#[test]
fn products_contract_the_inner_dimension() {
    assert_eq!(inferred(&Op::Product(Product::Dot), &["f32[N]", "f32[N]"]), "f32");
    assert_eq!(inferred(&Op::Product(Product::Dot), &["f32[M, N]", "f32[N]"]), "f32[M]");
    assert_eq!(inferred(&Op::Product(Product::Dot), &["f32[3]", "f32[3, 4]"]), "f32[4]");
    assert_eq!(inferred(&Op::Product(Product::Dot), &["f32[2, 3]", "f32[3, 4]"]), "f32[2, 4]");
    assert_eq!(inferred(&Op::Product(Product::MatMul), &["f32[N, 784]", "f32[784, 10]"]), "f32[N, 10]");
    assert_eq!(
        inferred(&Op::Product(Product::MatMul), &["f64[B, 1, 2, 3]", "f64[5, 3, 4]"]),
        "f64[B, 5, 2, 4]"
    );
}

#[test]
fn convolutions_follow_their_padding() {
    let conv = |strides: [i64; 2], padding| {
        Op::Window(Window::Conv2d(Convolution { strides: strides.to_vec(), padding }))
    };
    let operands = ["f32[N, 28, 27, 3]", "f32[5, 4, 3, 8]"];
    assert_eq!(inferred(&conv([1, 1], Padding::Valid), &operands), "f32[N, 24, 24, 8]");
    assert_eq!(inferred(&conv([2, 3], Padding::Valid), &operands), "f32[N, 12, 8, 8]");
    assert_eq!(inferred(&conv([2, 3], Padding::Same), &operands), "f32[N, 14, 9, 8]");
    let custom = Padding::Custom(vec![[1, 0], [2, 2]]);
    assert_eq!(inferred(&conv([2, 1], custom.clone()), &operands), "f32[N, 13, 28, 8]");
    let symbolic = ["f32[N, H, W, 3]", "f32[3, 3, 3, 8]"];
    assert_eq!(inferred(&conv([1, 1], Padding::Same), &symbolic), "f32[N, H, W, 8]");
    assert_eq!(inferred(&conv([1, 1], Padding::Valid), &symbolic), "f32[N, H - 2, W - 2, 8]");
    assert_eq!(
        inferred(&conv([1, 1], custom), &["f32[N, H, W, 3]", "f32[K, K, 3, 8]"]),
        "f32[N, H - K + 2, -K + W + 5, 8]"
    );
}

#[test]
fn derivatives_have_the_shape_they_are_of() {
    let convolution = Convolution { strides: vec![2, 1], padding: Padding::Same };
    let of_input = Op::Window(Window::Conv2dGradInput {
        shape: shape("N, H, 5, 2"),
        convolution: convolution.clone().into(),
    });
    assert!(infer_types(&of_input, &["f32[N, H, 5, 4]", "f32[3, 3, 2, 4]"]).is_err());
    let of_input = Op::Window(Window::Conv2dGradInput {
        shape: shape("N, 2*H, 5, 2"),
        convolution: convolution.clone().into(),
    });
    assert_eq!(inferred(&of_input, &["f32[N, H, 5, 4]", "f32[3, 3, 2, 4]"]), "f32[N, 2 * H, 5, 2]");
    let of_filter =
        Op::Window(Window::Conv2dGradFilter { shape: shape("3, 3, 2, 4"), convolution: convolution.into() });
    assert_eq!(inferred(&of_filter, &["f32[N, 2*H, 5, 2]", "f32[N, H, 5, 4]"]), "f32[3, 3, 2, 4]");
    assert_eq!(inferred(&Op::Map(Map::ReluGrad), &["f32[N, 2]", "f32[N, 2]"]), "f32[N, 2]");
    let slice = Slice { starts: vec![Dim::ONE], ends: vec![dim("N")], steps: vec![1] };
    let of_slice = Op::Part(Part::SliceGrad { shape: shape("N"), slice: slice.into() });
    assert_eq!(inferred(&of_slice, &["f32[N - 1]"]), "f32[N]");
}
