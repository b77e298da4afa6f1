//! One test per numbered constraint of a row, with an instruction that violates only this constraint.

use mind_core::{
    build::Builder,
    cumulate::Cumulate,
    data::TensorData,
    diag::Code::{self, *},
    dim::Dim,
    ir::{
        Arrange, Const, Convolution, Cumulation, External, Factorization, Fourier, Guard, Join, Made, Matrix,
        Nested, Nesting, NestingFault, Op, Operands, Own, Padding, Part, Pool, Pooling, Product, Reduction,
        Reorder, Rows, Scan, Slice, Triangular, Window, Windows,
    },
    map::Map,
    ops::{Focus, Profile},
    reduce::Reduce,
    text::{Limits, core_ir},
    ty::{Shape, Type},
    verify::verify,
};

use super::support::{code, dim, infer_types, refused, shape, ty};

fn sum(axes: &[i64]) -> Op {
    Op::Reduce(Reduce::Sum, Reduction { axes: axes.to_vec(), keepdims: false })
}

fn mean(axes: &[i64]) -> Op {
    Op::Reduce(Reduce::Mean, Reduction { axes: axes.to_vec(), keepdims: false })
}

fn slice(starts: &str, ends: &str, steps: &[i64]) -> Slice {
    Slice { starts: shape(starts).to_vec(), ends: shape(ends).to_vec(), steps: steps.to_vec() }
}

fn sliced(starts: &str, ends: &str, steps: &[i64]) -> Op {
    Op::Part(Part::Slice(slice(starts, ends, steps).into()))
}

fn slice_grad(of: &str, starts: &str, ends: &str, steps: &[i64]) -> Op {
    Op::Part(Part::SliceGrad { shape: shape(of), slice: slice(starts, ends, steps).into() })
}

fn index(indices: &str) -> Op {
    Op::Part(Part::Index { indices: shape(indices).to_vec() })
}

fn convolution(strides: &[i64], padding: Padding) -> Convolution {
    Convolution { strides: strides.to_vec(), padding }
}

fn conv2d(strides: &[i64], padding: Padding) -> Op {
    Op::Window(Window::Conv2d(convolution(strides, padding)))
}

fn valid() -> Convolution {
    convolution(&[1, 1], Padding::Valid)
}

fn input_code(inputs: &[(&str, Type)]) -> Code {
    let mut b = Builder::new();
    let results: Vec<_> = inputs.iter().map(|(name, ty)| b.input(*name, ty.clone())).collect();
    results.into_iter().find_map(Result::err).expect("an input is refused").code
}

#[test]
fn input_c1() {
    assert_eq!(input_code(&[("", ty("f32"))]), E4004);
    assert_eq!(input_code(&[("x", ty("f32")), ("x", ty("f32"))]), E4004);
    let mut b = Builder::new();
    b.push(Op::Const(Const::I64(1)), &[]).unwrap();
    assert_eq!(b.input("x", ty("f32")).unwrap_err().code, E4004);
}

#[test]
fn input_c2() {
    assert_eq!(input_code(&[("x", ty("f32[1,1,1,1,1,1,1,1,1]"))]), E1008);
    assert_eq!(input_code(&[("x", ty("f32[2, 0]"))]), E3006);
    assert_eq!(input_code(&[("x", ty("f32[-3]"))]), E3006);
    assert_eq!(input_code(&[("x", ty("f32[1 - N]"))]), E3006);
    assert_eq!(input_code(&[("x", ty("f32[4294967296, 4294967296]"))]), E1008);
}

#[test]
fn const_tensor_c1() {
    let constant = |shape: Shape| Op::Const(Const::Tensor { data: vec![1.0f32, 2.0].into(), shape });
    assert_eq!(code(&constant(shape("3")), &[]), E4005);
    assert_eq!(code(&constant(shape("N")), &[]), E4005);
    let none = TensorData::from(Vec::<i64>::new());
    assert_eq!(code(&Op::Const(Const::Tensor { data: none, shape: shape("1") }), &[]), E4005);
}

#[test]
fn const_tensor_c2() {
    assert_eq!(code(&Op::Const(Const::Tensor { data: vec![1i64].into(), shape: shape("0") }), &[]), E3006);
}

#[test]
fn add_c1() {
    let error = refused(&Op::Map(Map::Add), &["f32[2]", "i64[2]"]);
    assert_eq!(error.code, E2004);
    assert_eq!(error.to_string(), "`+`: element types differ, f32 and i64");
}

#[test]
fn add_c2() {
    let error = refused(&Op::Map(Map::Add), &["f32[2, 3]", "f32[5, 2, 4]"]);
    assert_eq!(error.code, E3001);
    assert_eq!(error.to_string(), "`+`: extents 3 and 4 do not broadcast in dimension 2");
    assert_eq!(error.dims, [(0, 1), (1, 2)]);
    let error = refused(&Op::Map(Map::Add), &["f32[N]", "f32[M]"]);
    assert_eq!(error.code, E3001);
    assert_eq!(error.help.unwrap(), "use one symbol for both if they are equal: `N` in place of `M`");
    let error = refused(&Op::Map(Map::Add), &["f32[N]", "f32[3]"]);
    assert_eq!(error.code, E3001);
    assert_eq!(error.help.unwrap(), "declare the dimension as 3 in place of `N` if it is always 3");
    assert_eq!(code(&Op::Map(Map::Add), &["f32[N]", "f32[N + 1]"]), E3001);
}

#[test]
fn sub_c1() {
    assert_eq!(code(&Op::Map(Map::Sub), &["f32", "f64"]), E2004);
}

#[test]
fn sub_c2() {
    assert_eq!(code(&Op::Map(Map::Sub), &["f32[2]", "f32[3]"]), E3001);
}

#[test]
fn mul_c1() {
    assert_eq!(code(&Op::Map(Map::Mul), &["i32", "i64"]), E2004);
}

#[test]
fn mul_c2() {
    assert_eq!(code(&Op::Map(Map::Mul), &["f32[2, 1]", "f32[3, 2]"]), E3001);
}

#[test]
fn div_c1() {
    assert_eq!(code(&Op::Map(Map::Div), &["f32", "f64"]), E2004);
}

#[test]
fn div_c2() {
    assert_eq!(code(&Op::Map(Map::Div), &["f32[2]", "f32[3]"]), E3001);
}

#[test]
fn no_operation_takes_truth_values() {
    assert_eq!(code(&Op::Map(Map::Neg), &["bool"]), E2005);
    assert_eq!(code(&Op::Map(Map::Add), &["bool[2]", "bool[2]"]), E2005);
}

#[test]
fn the_number_of_operands_is_checked() {
    let error = refused(&Op::Map(Map::Add), &["f32"]);
    assert_eq!(error.code, E2007);
    assert_eq!(error.to_string(), "`+`: 1 operand given, 2 needed");
}

#[test]
fn relu_c1() {
    assert_eq!(code(&Op::Map(Map::Relu), &["i32[2]"]), E2005);
}

#[test]
fn exp_c1() {
    assert_eq!(code(&Op::Map(Map::Exp), &["i64"]), E2005);
}

#[test]
fn log_c1() {
    assert_eq!(code(&Op::Map(Map::Log), &["i64"]), E2005);
}

#[test]
fn relu_grad_c1() {
    assert_eq!(code(&Op::Map(Map::ReluGrad), &["f32", "f64"]), E2004);
}

#[test]
fn relu_grad_c2() {
    assert_eq!(code(&Op::Map(Map::ReluGrad), &["f32[2]", "f32[1]"]), E3003);
}

#[test]
fn relu_grad_c3() {
    assert_eq!(code(&Op::Map(Map::ReluGrad), &["i64[2]", "i64[2]"]), E2005);
}

#[test]
fn sum_c1() {
    let error = refused(&sum(&[2]), &["f32[2, 3]"]);
    assert_eq!(error.code, E3004);
    assert_eq!(error.to_string(), "`sum`: axis 2 is out of range for rank 2");
    assert_eq!(error.focus, Focus::Attribute("axes"));
    assert_eq!(code(&sum(&[-1]), &["f32[2, 3]"]), E3004);
    assert_eq!(code(&sum(&[0]), &["f32"]), E3004);
}

#[test]
fn sum_c2() {
    let error = refused(&sum(&[1, 0, 1]), &["f32[2, 3]"]);
    assert_eq!(error.code, E3005);
    assert_eq!(error.to_string(), "`sum`: axis 1 occurs twice in axes [1, 0, 1]");
}

#[test]
fn mean_c1() {
    assert_eq!(code(&mean(&[2]), &["f32[2, 3]"]), E3004);
}

#[test]
fn mean_c2() {
    assert_eq!(code(&mean(&[0, 0]), &["f32[2, 3]"]), E3005);
}

#[test]
fn mean_c3() {
    assert_eq!(code(&mean(&[0]), &["i64[2, 3]"]), E2005);
}

#[test]
fn reshape_c1() {
    let error = refused(&Op::Arrange(Arrange::Reshape { shape: shape("0, 6") }), &["f32[2, 3]"]);
    assert_eq!(error.code, E3006);
    assert_eq!(error.to_string(), "`reshape`: dimension 0 of [0, 6] is 0, needed at least 1");
    assert_eq!(code(&Op::Arrange(Arrange::Reshape { shape: shape("-1, 6") }), &["f32[2, 3]"]), E3006);
}

#[test]
fn reshape_c2() {
    let error = refused(&Op::Arrange(Arrange::Reshape { shape: shape("5, N") }), &["f32[2, 3, N]"]);
    assert_eq!(error.code, E3007);
    assert_eq!(error.to_string(), "`reshape`: [2, 3, N] has 6 * N elements, [5, N] has 5 * N");
    assert_eq!(code(&Op::Arrange(Arrange::Reshape { shape: shape("M") }), &["f32[N]"]), E3007);
}

#[test]
fn transpose_c1() {
    let transpose =
        |permutation: &[i64]| Op::Arrange(Arrange::Transpose { permutation: permutation.to_vec() });
    let error = refused(&transpose(&[0, 0]), &["f32[2, 3]"]);
    assert_eq!(error.code, E3008);
    assert_eq!(
        error.to_string(),
        "`transpose`: [0, 0] is not a permutation of the axes of rank 2: axis 0 occurs twice"
    );
    assert_eq!(code(&transpose(&[0]), &["f32[2, 3]"]), E3008);
    assert_eq!(code(&transpose(&[0, 2]), &["f32[2, 3]"]), E3008);
    assert_eq!(code(&transpose(&[-1, 0]), &["f32[2, 3]"]), E3008);
}

#[test]
fn expand_dims_c1() {
    assert_eq!(code(&Op::Arrange(Arrange::ExpandDims { axes: vec![3] }), &["f32[2, 3]"]), E3004);
    assert_eq!(code(&Op::Arrange(Arrange::ExpandDims { axes: vec![-1] }), &["f32[2, 3]"]), E3004);
}

#[test]
fn expand_dims_c2() {
    assert_eq!(code(&Op::Arrange(Arrange::ExpandDims { axes: vec![1, 1] }), &["f32[2, 3]"]), E3005);
}

#[test]
fn results_keep_the_limit_on_rank() {
    assert_eq!(code(&Op::Arrange(Arrange::ExpandDims { axes: vec![0] }), &["f32[1,1,1,1,1,1,1,1]"]), E1008);
}

#[test]
fn squeeze_c1() {
    assert_eq!(code(&Op::Arrange(Arrange::Squeeze { axes: vec![1] }), &["f32[1]"]), E3004);
}

#[test]
fn squeeze_c2() {
    assert_eq!(code(&Op::Arrange(Arrange::Squeeze { axes: vec![0, 0] }), &["f32[1]"]), E3005);
}

#[test]
fn squeeze_c3() {
    let error = refused(&Op::Arrange(Arrange::Squeeze { axes: vec![1] }), &["f32[1, N]"]);
    assert_eq!(error.code, E3009);
    assert_eq!(error.to_string(), "`squeeze`: axis 1 of [1, N] has extent N, needed 1");
    assert_eq!(code(&Op::Arrange(Arrange::Squeeze { axes: vec![0] }), &["f32[2]"]), E3009);
}

#[test]
fn broadcast_to_c1() {
    assert_eq!(code(&Op::Arrange(Arrange::BroadcastTo { shape: shape("0") }), &["f32"]), E3006);
}

#[test]
fn broadcast_to_c2() {
    let to = |text| Op::Arrange(Arrange::BroadcastTo { shape: shape(text) });
    let error = refused(&to("2, 4"), &["f32[3]"]);
    assert_eq!(error.code, E3001);
    assert_eq!(error.to_string(), "`broadcast_to`: extent 3 does not broadcast to 4 in dimension 1");
    assert_eq!(code(&to("3"), &["f32[2, 3]"]), E3001);
    assert_eq!(code(&to("1"), &["f32[3]"]), E3001);
    assert_eq!(code(&to("1"), &["f32[N]"]), E3001);
}

#[test]
fn index_c1() {
    let error = refused(&index("0"), &["f32[2, 3]"]);
    assert_eq!(error.code, E4006);
    assert_eq!(error.to_string(), "`index`: 1 index given, 2 needed for rank 2");
    assert_eq!(code(&index("0, 0, 0"), &["f32[2, 3]"]), E4006);
}

#[test]
fn index_c2() {
    let error = refused(&index("0, 3"), &["f32[2, 3]"]);
    assert_eq!(error.code, E3011);
    assert_eq!(error.to_string(), "`index`: index 3 is outside dimension 1 of extent 3");
    assert_eq!(code(&index("-1"), &["f32[3]"]), E3011);
    assert_eq!(code(&index("N"), &["f32[N]"]), E3011);
    assert_eq!(code(&index("N + 2"), &["f32[N]"]), E3011);
}

#[test]
fn slice_c1() {
    let error = refused(&sliced("0", "1", &[1, 1]), &["f32[2, 3]"]);
    assert_eq!(error.code, E4007);
    assert_eq!(error.to_string(), "`slice`: 1 starts, 1 ends and 2 steps given, 2 of each needed");
    assert_eq!(code(&sliced("0, 0", "1, 1", &[1]), &["f32[2, 3]"]), E4007);
}

#[test]
fn slice_c2() {
    assert_eq!(code(&sliced("0", "1", &[0]), &["f32[2]"]), E4008);
    assert_eq!(code(&sliced("0", "1", &[-1]), &["f32[N]"]), E4008);
}

#[test]
fn slice_c3() {
    let error = refused(&sliced("0", "3", &[1]), &["f32[2]"]);
    assert_eq!(error.code, E3011);
    assert_eq!(error.to_string(), "`slice`: end 3 is outside dimension 0 of extent 2");
    assert_eq!(code(&sliced("-1", "1", &[1]), &["f32[2]"]), E3011);
    assert_eq!(code(&sliced("5", "1", &[1]), &["f32[2]"]), E3011);
    assert_eq!(code(&sliced("0", "N + 1", &[1]), &["f32[N]"]), E3011);
    assert_eq!(code(&sliced("-1", "N", &[1]), &["f32[N]"]), E3011);
}

#[test]
fn slice_c4() {
    assert_eq!(code(&sliced("1", "1", &[1]), &["f32[2]"]), E3006);
    assert_eq!(code(&sliced("2", "1", &[1]), &["f32[2]"]), E3006);
    assert_eq!(code(&sliced("N", "N", &[1]), &["f32[N]"]), E3006);
}

#[test]
fn gather_c1() {
    let error = refused(&Op::Rows(Rows::Gather), &["f32[3]", "f32[2]"]);
    assert_eq!(error.code, E4011);
    assert_eq!(error.to_string(), "`gather`: indices are f32, needed u8, i32 or i64");
    assert_eq!(code(&Op::Rows(Rows::Gather), &["f32[3]", "bool[2]"]), E4011);
}

#[test]
fn gather_c2() {
    assert_eq!(code(&Op::Rows(Rows::Gather), &["f32", "i64[2]"]), E3002);
}

fn take_along(axis: i64) -> Op {
    Op::Rows(Rows::TakeAlong { axis })
}

#[test]
fn take_along_c1() {
    for axis in [-1, 1, i64::MAX, i64::MIN] {
        let error = refused(&take_along(axis), &["f32[N]", "i64[2]"]);
        assert_eq!((error.code, error.focus), (E3004, Focus::Attribute("axis")));
    }
    assert_eq!(code(&take_along(0), &["f32", "i64"]), E3004);
}

#[test]
fn take_along_c2() {
    let error = refused(&take_along(0), &["f32[3]", "f32[2]"]);
    assert_eq!(error.to_string(), "`take_along`: indices are f32, needed u8, i32 or i64");
    assert_eq!((error.code, error.focus), (E4011, Focus::Operand(1)));
    assert_eq!(code(&take_along(0), &["f32[3]", "bool[2]"]), E4011);
}

#[test]
fn take_along_c3() {
    let error = refused(&take_along(0), &["f32[3, 2]", "i64[2]"]);
    assert_eq!((error.code, error.focus), (E3002, Focus::Operand(1)));
}

#[test]
fn take_along_c4() {
    let error = refused(&take_along(1), &["f32[N, 3]", "i64[M, 4]"]);
    assert_eq!(error.to_string(), "`take_along`: extents N and M differ in dimension 0");
    assert_eq!((error.code, error.focus), (E3003, Focus::Operand(1)));
    // An extent of 1 is not broadcast.
    assert_eq!(code(&take_along(1), &["f32[2, 3]", "i64[1, 4]"]), E3003);
}

fn dynamic_slice(dims: &str, axis: i64) -> Op {
    Op::Rows(Rows::DynamicSlice { shape: shape(dims), axis })
}

#[test]
fn dynamic_slice_c1() {
    for axis in [-1, 1] {
        let error = refused(&dynamic_slice("2", axis), &["f32[4]", "i64"]);
        assert_eq!((error.code, error.focus), (E3004, Focus::Attribute("axis")));
    }
}

#[test]
fn dynamic_slice_c2() {
    let error = refused(&dynamic_slice("2, 1", 0), &["f32[4]", "i64"]);
    assert_eq!((error.code, error.focus), (E3002, Focus::Attribute("shape")));
}

#[test]
fn dynamic_slice_c3() {
    assert_eq!(code(&dynamic_slice("2, 2", 0), &["f32[4, 3]", "i64"]), E3003);
    assert_eq!(code(&dynamic_slice("2, M", 0), &["f32[4, N]", "i64"]), E3003);
}

#[test]
fn dynamic_slice_c4() {
    let error = refused(&dynamic_slice("5", 0), &["f32[4]", "i64"]);
    assert_eq!(error.to_string(), "`index`: a part of 5 elements does not fit dimension 0 of extent 4");
    assert_eq!((error.code, error.focus), (E3011, Focus::Attribute("shape")));
    assert_eq!(code(&dynamic_slice("N + 1", 0), &["f32[N]", "i64"]), E3011);
    assert_eq!(code(&dynamic_slice("0", 0), &["f32[4]", "i64"]), E3006);
    // Whether `x` has 2 elements is checked when the program runs.
    assert!(infer_types(&dynamic_slice("2", 0), &["f32[N]", "i64"]).is_ok());
}

#[test]
fn dynamic_slice_c5() {
    for dtype in ["f32", "bool"] {
        let error = refused(&dynamic_slice("2", 0), &["f32[4]", dtype]);
        assert_eq!((error.code, error.focus), (E4011, Focus::Operand(1)));
    }
}

#[test]
fn dynamic_slice_c6() {
    let error = refused(&dynamic_slice("2", 0), &["f32[4]", "i64[1]"]);
    assert_eq!((error.code, error.focus), (E3002, Focus::Operand(1)));
}

fn dynamic_update(axis: i64) -> Op {
    Op::Rows(Rows::DynamicUpdate { axis })
}

#[test]
fn dynamic_update_c1() {
    for axis in [-1, 1] {
        let error = refused(&dynamic_update(axis), &["f32[4]", "i64", "f32[2]"]);
        assert_eq!((error.code, error.focus), (E3004, Focus::Attribute("axis")));
    }
}

#[test]
fn dynamic_update_c2() {
    let error = refused(&dynamic_update(0), &["f32[4]", "f32", "f32[2]"]);
    assert_eq!((error.code, error.focus), (E4011, Focus::Operand(1)));
}

#[test]
fn dynamic_update_c3() {
    let error = refused(&dynamic_update(0), &["f32[4]", "i64[1]", "f32[2]"]);
    assert_eq!((error.code, error.focus), (E3002, Focus::Operand(1)));
}

#[test]
fn dynamic_update_c4() {
    assert_eq!(code(&dynamic_update(0), &["f32[4]", "i64", "f64[2]"]), E2004);
}

#[test]
fn dynamic_update_c5() {
    let error = refused(&dynamic_update(0), &["f32[4]", "i64", "f32"]);
    assert_eq!((error.code, error.focus), (E3002, Focus::Operand(2)));
}

#[test]
fn dynamic_update_c6() {
    let error = refused(&dynamic_update(0), &["f32[4, 3]", "i64", "f32[2, 2]"]);
    assert_eq!((error.code, error.focus), (E3003, Focus::Operand(2)));
}

#[test]
fn dynamic_update_c7() {
    let error = refused(&dynamic_update(0), &["f32[4]", "i64", "f32[5]"]);
    assert_eq!((error.code, error.focus), (E3011, Focus::Operand(2)));
}

#[test]
fn scatter_c1() {
    let error = refused(&Op::Rows(Rows::Scatter), &["f32[4, 2]", "f32[3]", "f32[3, 2]"]);
    assert_eq!((error.code, error.focus), (E4011, Focus::Operand(1)));
}

#[test]
fn scatter_c2() {
    for (indices, updates) in [("i64", "f32[2]"), ("i64[3, 1]", "f32[3, 1, 2]")] {
        let error = refused(&Op::Rows(Rows::Scatter), &["f32[4, 2]", indices, updates]);
        assert_eq!((error.code, error.focus), (E3002, Focus::Operand(1)));
    }
}

#[test]
fn scatter_c3() {
    let error = refused(&Op::Rows(Rows::Scatter), &["f32", "i64[3]", "f32[3]"]);
    assert_eq!((error.code, error.focus), (E3002, Focus::Operand(0)));
}

#[test]
fn scatter_c4() {
    assert_eq!(code(&Op::Rows(Rows::Scatter), &["f32[4, 2]", "i64[3]", "f64[3, 2]"]), E2004);
}

#[test]
fn scatter_c5() {
    for updates in ["f32[2, 2]", "f32[3, 3]", "f32[2]", "f32[3]"] {
        let error = refused(&Op::Rows(Rows::Scatter), &["f32[4, 2]", "i64[3]", updates]);
        assert_eq!((error.code, error.focus), (E3003, Focus::Operand(2)));
    }
}

#[test]
fn add_rows_c1() {
    let error = refused(&Op::Rows(Rows::AddRows), &["f32[4, 2]", "f32[3]", "f32[3, 2]"]);
    assert_eq!((error.code, error.focus), (E4011, Focus::Operand(1)));
}

#[test]
fn add_rows_c2() {
    let error = refused(&Op::Rows(Rows::AddRows), &["bool[4, 2]", "i64[3]", "bool[3, 2]"]);
    assert_eq!((error.code, error.focus), (E2005, Focus::Operand(0)));
}

#[test]
fn add_rows_c3() {
    let error = refused(&Op::Rows(Rows::AddRows), &["f32", "i64[3]", "f32[3]"]);
    assert_eq!((error.code, error.focus), (E3002, Focus::Operand(0)));
}

#[test]
fn add_rows_c4() {
    assert_eq!(code(&Op::Rows(Rows::AddRows), &["f32[4, 2]", "i64[3]", "f64[3, 2]"]), E2004);
}

#[test]
fn add_rows_c5() {
    for updates in ["f32[2, 2]", "f32[3, 3]", "f32[2]", "f32[3]", "f32[3, 1, 2]"] {
        let error = refused(&Op::Rows(Rows::AddRows), &["f32[4, 2]", "i64[3]", updates]);
        assert_eq!((error.code, error.focus), (E3003, Focus::Operand(2)));
    }
}

fn add_along(dims: &str, axis: i64) -> Op {
    Op::Rows(Rows::AddAlong { shape: shape(dims), axis })
}

#[test]
fn add_along_c1() {
    let error = refused(&add_along("2, 0", 1), &["i64[2, 3]", "f32[2, 3]"]);
    assert_eq!((error.code, error.focus), (E3006, Focus::Attribute("shape")));
}

#[test]
fn add_along_c2() {
    for axis in [-1, 2] {
        let error = refused(&add_along("2, 4", axis), &["i64[2, 3]", "f32[2, 3]"]);
        assert_eq!((error.code, error.focus), (E3004, Focus::Attribute("axis")));
    }
}

#[test]
fn add_along_c3() {
    let error = refused(&add_along("2, 4", 1), &["f32[2, 3]", "f32[2, 3]"]);
    assert_eq!((error.code, error.focus), (E4011, Focus::Operand(0)));
}

#[test]
fn add_along_c4() {
    let error = refused(&add_along("2, 4", 1), &["i64[2]", "f32[2]"]);
    assert_eq!((error.code, error.focus), (E3002, Focus::Operand(0)));
}

#[test]
fn add_along_c5() {
    let error = refused(&add_along("2, 4", 1), &["i64[3, 3]", "f32[3, 3]"]);
    assert_eq!((error.code, error.focus), (E3003, Focus::Operand(0)));
}

#[test]
fn add_along_c6() {
    let error = refused(&add_along("4", 0), &["i64[3]", "bool[3]"]);
    assert_eq!((error.code, error.focus), (E2005, Focus::Operand(1)));
}

#[test]
fn add_along_c7() {
    let error = refused(&add_along("2, 4", 1), &["i64[2, 3]", "f32[2, 1]"]);
    assert_eq!((error.code, error.focus), (E3003, Focus::Operand(1)));
}

fn iota(dims: &str, axis: i64) -> Op {
    Op::Made(Made::Iota { shape: shape(dims).to_vec(), axis })
}

#[test]
fn iota_c1() {
    let error = refused(&iota("2, 0", 0), &[]);
    assert_eq!((error.code, error.focus), (E3006, Focus::Attribute("shape")));
    assert_eq!(code(&iota("N - N", 0), &[]), E3006);
}

#[test]
fn iota_c2() {
    for axis in [-1, 2, i64::MAX, i64::MIN] {
        let error = refused(&iota("2, N", axis), &[]);
        assert_eq!((error.code, error.focus), (E3004, Focus::Attribute("axis")));
    }
    assert_eq!(code(&iota("", 0), &[]), E3004);
}

fn cumsum(axis: i64) -> Op {
    Op::Cumulate(Cumulate::Sum, Cumulation { axis, reverse: false, exclusive: false })
}

#[test]
fn cum_sum_c1() {
    for axis in [-1, 1, i64::MAX, i64::MIN] {
        let error = refused(&cumsum(axis), &["f32[N]"]);
        assert_eq!((error.code, error.focus), (E3004, Focus::Attribute("axis")));
    }
    assert_eq!(code(&cumsum(0), &["f32"]), E3004);
}

#[test]
fn cum_sum_c2() {
    let error = refused(&cumsum(0), &["bool[2]"]);
    assert_eq!((error.code, error.focus), (E2005, Focus::Operand(0)));
}

#[test]
fn cum_prod_c1() {
    let op = Op::Cumulate(Cumulate::Prod, Cumulation { axis: 1, reverse: false, exclusive: false });
    assert_eq!(code(&op, &["f32[N]"]), E3004);
}

#[test]
fn cum_prod_c2() {
    let op = Op::Cumulate(Cumulate::Prod, Cumulation { axis: 0, reverse: false, exclusive: false });
    assert_eq!(code(&op, &["bool[2]"]), E2005);
}

#[test]
fn cum_max_c1() {
    let op = Op::Cumulate(Cumulate::Max, Cumulation { axis: 1, reverse: false, exclusive: false });
    assert_eq!(code(&op, &["f32[N]"]), E3004);
}

#[test]
fn cum_max_c2() {
    let op = Op::Cumulate(Cumulate::Max, Cumulation { axis: 0, reverse: false, exclusive: false });
    assert_eq!(code(&op, &["bool[2]"]), E2005);
}

#[test]
fn cum_min_c1() {
    let op = Op::Cumulate(Cumulate::Min, Cumulation { axis: 1, reverse: false, exclusive: false });
    assert_eq!(code(&op, &["f32[N]"]), E3004);
}

#[test]
fn cum_min_c2() {
    let op = Op::Cumulate(Cumulate::Min, Cumulation { axis: 0, reverse: false, exclusive: false });
    assert_eq!(code(&op, &["bool[2]"]), E2005);
}

fn recurrence(axis: i64) -> Op {
    Op::Cumulate(Cumulate::Recurrence, Cumulation { axis, reverse: false, exclusive: false })
}

#[test]
fn recurrence_c1() {
    assert_eq!(code(&recurrence(0), &["f32[2]", "f64[2]"]), E2004);
}

#[test]
fn recurrence_c2() {
    let error = refused(&recurrence(0), &["f32[N]", "f32[M]"]);
    assert_eq!((error.code, error.focus), (E3003, Focus::Operation));
}

#[test]
fn recurrence_c3() {
    let error = refused(&recurrence(0), &["i32[2]", "i32[2]"]);
    assert_eq!((error.code, error.focus), (E2005, Focus::Operand(0)));
}

#[test]
fn recurrence_c4() {
    let error = refused(&recurrence(1), &["f32[2]", "f32[2]"]);
    assert_eq!((error.code, error.focus), (E3004, Focus::Attribute("axis")));
}

#[test]
fn flip_c1() {
    let error = refused(&Op::Reorder(Reorder::Flip { axis: 1 }), &["f32[N]"]);
    assert_eq!((error.code, error.focus), (E3004, Focus::Attribute("axis")));
}

fn sorts(axis: i64) -> [Op; 2] {
    [Reorder::Sort { axis, descending: false }, Reorder::ArgSort { axis, descending: true }].map(Op::Reorder)
}

#[test]
fn sort_c1() {
    for op in sorts(1) {
        let error = refused(&op, &["f32[N]"]);
        assert_eq!((error.code, error.focus), (E3004, Focus::Attribute("axis")));
    }
}

#[test]
fn sort_c2() {
    for op in sorts(0) {
        let error = refused(&op, &["bool[2]"]);
        assert_eq!((error.code, error.focus), (E2005, Focus::Operand(0)));
    }
}

#[test]
fn roll_c1() {
    let error = refused(&Op::Reorder(Reorder::Roll { shift: 1, axis: 1 }), &["f32[N]"]);
    assert_eq!((error.code, error.focus), (E3004, Focus::Attribute("axis")));
}

fn concat(axis: i64) -> Op {
    Op::Join(Join::Concat { axis })
}

#[test]
fn concat_c1() {
    assert_eq!(code(&concat(0), &[]), E2007);
    assert_eq!(code(&concat(0), &["f32[2]"; Operands::MAX + 1]), E2007);
}

#[test]
fn concat_c2() {
    for axis in [-1, 1, i64::MAX, i64::MIN] {
        assert_eq!(code(&concat(axis), &["f32[2]", "f32[2]"]), E3004);
    }
    assert_eq!(code(&concat(0), &["f32", "f32"]), E3004);
}

#[test]
fn concat_c3() {
    let error = refused(&concat(0), &["f32[3]", "f32[2]", "f64[2]"]);
    assert_eq!((error.code, &error.operands[..], error.focus), (E2004, &[0, 2][..], Focus::Operand(2)));
}

#[test]
fn concat_c4() {
    assert_eq!(code(&concat(0), &["f32[3]", "f32[3, 1]"]), E3002);
}

#[test]
fn concat_c5() {
    let error = refused(&concat(0), &["f32[3, 2]", "f32[4, 2]", "f32[3, 4]"]);
    assert_eq!(error.to_string(), "`concat`: extents 2 and 4 differ in dimension 1");
    assert_eq!((error.code, error.focus), (E3003, Focus::Operand(2)));
    assert_eq!(code(&concat(0), &["f32[3, N]", "f32[4, M]"]), E3003);
    let long = format!("f32[{}]", i64::MAX);
    assert_eq!(code(&concat(0), &[&long, &long]), E1008);
}

#[test]
fn slice_grad_c1() {
    assert_eq!(code(&slice_grad("4", "0, 0", "1", &[1]), &["f32[1]"]), E4007);
    assert_eq!(code(&slice_grad("4", "0", "1", &[0]), &["f32[1]"]), E4008);
    assert_eq!(code(&slice_grad("4", "0", "5", &[1]), &["f32[5]"]), E3011);
    assert_eq!(code(&slice_grad("4", "2", "2", &[1]), &["f32[1]"]), E3006);
}

#[test]
fn slice_grad_c2() {
    assert_eq!(code(&slice_grad("4", "0", "3", &[1]), &["f32[2]"]), E3003);
}

fn windows(axes: &[i64], sizes: &[i64], strides: &[i64], dilations: &[i64]) -> Box<Windows> {
    Box::new(Windows {
        axes: axes.to_vec(),
        sizes: sizes.iter().copied().map(Dim::literal).collect(),
        strides: strides.to_vec(),
        dilations: dilations.to_vec(),
    })
}

fn unfold(axes: &[i64], sizes: &[i64], strides: &[i64], dilations: &[i64]) -> Op {
    Op::Part(Part::Unfold(windows(axes, sizes, strides, dilations)))
}

#[test]
fn unfold_c1() {
    assert_eq!(code(&unfold(&[1], &[2], &[1], &[1]), &["f32[5]"]), E3004);
    assert_eq!(code(&unfold(&[0, 0], &[2, 2], &[1, 1], &[1, 1]), &["f32[5]"]), E3005);
    assert_eq!(code(&unfold(&[1, 0], &[2, 2], &[1, 1], &[1, 1]), &["f32[5, 5]"]), E3005);
}

#[test]
fn unfold_c2() {
    for [sizes, strides, dilations] in [[0, 1, 1], [1, 0, 1], [1, 1, 0]] {
        assert_eq!(code(&unfold(&[0], &[sizes], &[strides], &[dilations]), &["f32[5]"]), E4010);
    }
    assert_eq!(code(&unfold(&[0], &[1, 1], &[1], &[1]), &["f32[5]"]), E4010);
    assert_eq!(code(&unfold(&[0], &[1], &[], &[1]), &["f32[5]"]), E4010);
}

#[test]
fn unfold_c3() {
    let error = refused(&unfold(&[0], &[3], &[2], &[2]), &["f32[4]"]);
    assert_eq!(error.code, E3006);
    assert_eq!(
        error.to_string(),
        "`unfold`: a window of 5 does not fit dimension 0 of extent 4: the result has extent 0"
    );
    assert!(infer_types(&unfold(&[0], &[3], &[2], &[2]), &["f32[N]"]).is_ok());
}

fn unfold_grad(of: &str, size: i64) -> Op {
    Op::Part(Part::UnfoldGrad { shape: shape(of), windows: windows(&[0], &[size], &[1], &[1]) })
}

#[test]
fn unfold_grad_c1() {
    assert_eq!(code(&unfold_grad("2", 3), &["f32[1, 3]"]), E3006);
    assert_eq!(code(&unfold_grad("2", 0), &["f32[1, 3]"]), E4010);
}

#[test]
fn unfold_grad_c2() {
    assert_eq!(code(&unfold_grad("5", 3), &["f32[2, 3]"]), E3003);
}

#[test]
fn unfold_grad_c3() {
    assert_eq!(code(&unfold_grad("5", 3), &["bool[3, 3]"]), E2005);
}

fn pooling(sizes: &[i64], stride: i64, padding: Padding) -> Box<Pooling> {
    let each = vec![stride; sizes.len()];
    let slide = Convolution { strides: each.clone(), padding };
    Box::new(Pooling { sizes: sizes.to_vec(), dilations: vec![1; sizes.len()], slide })
}

/// The operations that pool their first operand, with the types of the others for one of `f32[1, 5, 1]`.
fn pools(sizes: &[i64], stride: i64, padding: &Padding) -> [Op; 2] {
    [Pool::Max, Pool::Total].map(|of| Op::Pool(of(pooling(sizes, stride, padding.clone()))))
}

/// The codes of both pools of a value of this type.
fn pool_codes(sizes: &[i64], stride: i64, padding: &Padding, ty: &str) -> [Code; 2] {
    pools(sizes, stride, padding).map(|op| code(&op, &[ty]))
}

#[test]
fn max_pool_c1_sum_pool_c1() {
    assert_eq!(pool_codes(&[], 1, &Padding::Valid, "f32[1, 5, 1]"), [E4010; 2]);
    assert_eq!(pool_codes(&[0], 1, &Padding::Valid, "f32[1, 5, 1]"), [E4010; 2]);
    assert_eq!(pool_codes(&[1; 4], 1, &Padding::Valid, "f32[1, 5, 5, 5, 5, 1]"), [E4010; 2]);
}

#[test]
fn max_pool_c2_sum_pool_c2() {
    assert_eq!(pool_codes(&[2], 0, &Padding::Valid, "f32[1, 5, 1]"), [E4010; 2]);
    for padding in [vec![], vec![[0, -1]], vec![[0, 0]; 2]] {
        assert_eq!(pool_codes(&[2], 1, &Padding::Custom(padding), "f32[1, 5, 1]"), [E4010; 2]);
    }
    let dilated = Pooling { dilations: vec![0], ..*pooling(&[2], 1, Padding::Valid) };
    assert_eq!(code(&Op::Pool(Pool::Max(dilated.into())), &["f32[1, 5, 1]"]), E4010);
}

#[test]
fn max_pool_c3_sum_pool_c3() {
    assert_eq!(pool_codes(&[2, 2], 1, &Padding::Valid, "f32[5, 5]"), [E3002; 2]);
}

#[test]
fn max_pool_c4_sum_pool_c4() {
    assert_eq!(pool_codes(&[2], 1, &Padding::Valid, "bool[1, 5, 1]"), [E2005; 2]);
}

#[test]
fn max_pool_c5_sum_pool_c5() {
    assert_eq!(pool_codes(&[6], 1, &Padding::Valid, "f32[1, 5, 1]"), [E3006; 2]);
    let error = refused(&pools(&[6], 1, &Padding::Valid)[0], &["f32[1, 5, 1]"]);
    assert_eq!(
        error.to_string(),
        "`max_pool`: a window of 6 does not fit dimension 1 of extent 5: the result has extent 0"
    );
    assert!(infer_types(&pools(&[6], 1, &Padding::Valid)[0], &["f32[1, N, 1]"]).is_ok());
}

#[test]
fn max_pool_grad_c1_c2_c3() {
    let op = |size| Op::Pool(Pool::MaxGrad(pooling(&[size], 1, Padding::Valid)));
    assert_eq!(code(&op(6), &["f32[1, 5, 1]", "f32[1, 1, 1]"]), E3006);
    assert_eq!(code(&op(2), &["f32[1, 5, 1]", "f64[1, 4, 1]"]), E2004);
    assert_eq!(code(&op(2), &["f32[1, 5, 1]", "f32[1, 5, 1]"]), E3003);
}

#[test]
fn max_pool_take_c1_c2_c3() {
    let op = |size| Op::Pool(Pool::MaxTake(pooling(&[size], 1, Padding::Valid)));
    assert_eq!(code(&op(6), &["f32[1, 5, 1]", "f32[1, 5, 1]"]), E3006);
    assert_eq!(code(&op(2), &["f32[1, 5, 1]", "f64[1, 5, 1]"]), E2004);
    assert_eq!(code(&op(2), &["f32[1, 5, 1]", "f32[1, 4, 1]"]), E3003);
}

#[test]
fn sum_pool_grad_c1_c2() {
    let op = |size| {
        Op::Pool(Pool::SumGrad { shape: shape("1, 5, 1"), pooling: pooling(&[size], 1, Padding::Valid) })
    };
    assert_eq!(code(&op(6), &["f32[1, 1, 1]"]), E3006);
    assert_eq!(code(&op(0), &["f32[1, 1, 1]"]), E4010);
    assert_eq!(code(&op(2), &["f32[1, 5, 1]"]), E3003);
}

#[test]
fn depthwise_conv_c1_c2_c3() {
    let op = |size| Op::Pool(Pool::Depthwise(pooling(&[size], 1, Padding::Valid)));
    assert_eq!(code(&op(6), &["f32[1, 5, 2]", "f32[6, 2]"]), E3006);
    assert_eq!(code(&op(0), &["f32[1, 5, 2]", "f32[0, 2]"]), E4010);
    assert_eq!(code(&op(2), &["f32[1, 5, 2]", "f64[2, 2]"]), E2004);
    assert_eq!(code(&op(2), &["f32[1, 5, 2]", "f32[2, 1]"]), E3003);
    assert!(infer_types(&op(2), &["f32[B, N, C]", "f32[2, C]"]).is_ok());
}

#[test]
fn depthwise_conv_grad_input_c1_c2_c3() {
    let op = |size| {
        let pooling = pooling(&[size], 1, Padding::Valid);
        Op::Pool(Pool::DepthwiseGradInput { shape: shape("1, 5, 2"), pooling })
    };
    assert_eq!(code(&op(6), &["f32[1, 1, 2]", "f32[6, 2]"]), E3006);
    assert_eq!(code(&op(2), &["f32[1, 4, 2]", "f32[3, 2]"]), E3003);
    assert_eq!(code(&op(2), &["f32[1, 4, 2]", "f64[2, 2]"]), E2004);
    assert_eq!(code(&op(2), &["f32[1, 5, 2]", "f32[2, 2]"]), E3003);
}

#[test]
fn depthwise_conv_grad_filter_c1_c2_c3() {
    let op = |size| Op::Pool(Pool::DepthwiseGradFilter(pooling(&[size], 1, Padding::Valid)));
    assert_eq!(code(&op(6), &["f32[1, 5, 2]", "f32[1, 1, 2]"]), E3006);
    assert_eq!(code(&op(2), &["f32[1, 5, 2]", "f64[1, 4, 2]"]), E2004);
    assert_eq!(code(&op(2), &["f32[1, 5, 2]", "f32[1, 5, 2]"]), E3003);
}

#[test]
fn scatter_add_c1() {
    assert_eq!(code(&Op::Rows(Rows::ScatterAdd { shape: shape("3") }), &["f32[2]", "f32[2]"]), E4011);
}

#[test]
fn scatter_add_c2() {
    assert_eq!(code(&Op::Rows(Rows::ScatterAdd { shape: shape("") }), &["i64[2]", "f32[2]"]), E3002);
    assert_eq!(code(&Op::Rows(Rows::ScatterAdd { shape: shape("0") }), &["i64[2]", "f32[2]"]), E3006);
}

#[test]
fn scatter_add_c3() {
    assert_eq!(code(&Op::Rows(Rows::ScatterAdd { shape: shape("3, 4") }), &["i64[2]", "f32[2, 3]"]), E3003);
}

#[test]
fn dot_c1() {
    let error = refused(&Op::Product(Product::Dot), &["f32[2, 3, 4]", "f32[4]"]);
    assert_eq!(error.code, E3002);
    assert_eq!(error.to_string(), "`dot`: operand of rank 3, needed rank 1 or 2");
    assert_eq!(code(&Op::Product(Product::Dot), &["f32[2]", "f32"]), E3002);
}

#[test]
fn dot_c2() {
    assert_eq!(code(&Op::Product(Product::Dot), &["f32[2]", "f64[2]"]), E2004);
}

#[test]
fn dot_c3() {
    let error = refused(&Op::Product(Product::Dot), &["f32[2]", "f32[3, 4]"]);
    assert_eq!((error.code, error.dims), (E3003, vec![(0, 0), (1, 0)]));
    assert_eq!(code(&Op::Product(Product::Dot), &["f32[2, 3]", "f32[2]"]), E3003);
    assert_eq!(code(&Op::Product(Product::Dot), &["f32[N]", "f32[M]"]), E3003);
}

#[test]
fn matmul_c1() {
    let error = refused(&Op::Product(Product::MatMul), &["f32[3]", "f32[3, 4]"]);
    assert_eq!(error.code, E3002);
    assert_eq!(error.focus, Focus::Operand(0));
    assert_eq!(code(&Op::Product(Product::MatMul), &["f32[3, 4]", "f32"]), E3002);
}

#[test]
fn matmul_c2() {
    assert_eq!(code(&Op::Product(Product::MatMul), &["f32[2, 3]", "f64[3, 2]"]), E2004);
}

#[test]
fn matmul_c3() {
    let error = refused(&Op::Product(Product::MatMul), &["f32[N, 784]", "f32[785, 256]"]);
    assert_eq!((error.code, error.dims.clone()), (E3003, vec![(0, 1), (1, 0)]));
    let named = error.message(|operand| ["x is f32[N, 784]", "w is f32[785, 256]"][operand].into());
    assert_eq!(named, "`@`: inner dimensions differ, 784 and 785: x is f32[N, 784], w is f32[785, 256]");
    let name = |operand: usize| ["x", "w"][operand].to_string();
    let help = |operands: &[&str]| refused(&Op::Product(Product::MatMul), operands).help_with(name);
    assert_eq!(help(&["f32[8, 3]", "f32[4, 3]"]).unwrap(), "write `w.T`");
    assert_eq!(help(&["f32[3, 8]", "f32[3, 4]"]).unwrap(), "write `x.T`");
    assert!(help(&["f32[2, N]", "f32[M, 4]"]).unwrap().starts_with("use one symbol"));
    assert_eq!(help(&["f32[2, 5]", "f32[6, 4]"]), None);
}

#[test]
fn matmul_c4() {
    let error = refused(&Op::Product(Product::MatMul), &["f32[2, 5, 3]", "f32[4, 3, 5]"]);
    assert_eq!((error.code, error.dims), (E3001, vec![(0, 0), (1, 0)]));
}

#[test]
fn conv2d_c1() {
    assert_eq!(code(&Op::Window(Window::Conv2d(valid())), &["f32[5, 5, 2]", "f32[3, 3, 2, 4]"]), E3002);
    assert_eq!(code(&Op::Window(Window::Conv2d(valid())), &["f32[1, 5, 5, 2]", "f32[3, 3, 2]"]), E3002);
}

#[test]
fn conv2d_c2() {
    assert_eq!(code(&Op::Window(Window::Conv2d(valid())), &["f32[1, 5, 5, 2]", "f64[3, 3, 2, 4]"]), E2004);
}

#[test]
fn conv2d_c3() {
    let error = refused(&Op::Window(Window::Conv2d(valid())), &["f32[1, 5, 5, 2]", "f32[3, 3, 3, 4]"]);
    assert_eq!(error.code, E4009);
    assert_eq!(error.to_string(), "`conv2d`: channels differ, 2 in the image and 3 in the filter");
}

#[test]
fn conv2d_c4() {
    let operands = ["f32[1, 5, 5, 2]", "f32[3, 3, 2, 4]"];
    assert_eq!(code(&conv2d(&[1], Padding::Valid), &operands), E4010);
    assert_eq!(code(&conv2d(&[0, 1], Padding::Valid), &operands), E4010);
    assert_eq!(code(&conv2d(&[1, 1], Padding::Custom(vec![[0, 0]])), &operands), E4010);
    assert_eq!(code(&conv2d(&[1, 1], Padding::Custom(vec![[0, 0], [-1, 0]])), &operands), E4010);
}

#[test]
fn conv2d_c5() {
    let error = refused(&Op::Window(Window::Conv2d(valid())), &["f32[1, 5, 2, 2]", "f32[3, 3, 2, 4]"]);
    assert_eq!(error.code, E3006);
    assert_eq!(
        error.to_string(),
        "`conv2d`: a window of 3 does not fit dimension 2 of extent 2: the result has extent 0"
    );
    // Rounded towards zero, (2 - 5) / 2 + 1 would be 0. Rounded down it is -1.
    let error = refused(&conv2d(&[1, 2], Padding::Valid), &["f32[1, 5, 2, 2]", "f32[3, 5, 2, 4]"]);
    assert!(error.to_string().ends_with("extent -1"));
}

fn grad_input(of: &str) -> Op {
    Op::Window(Window::Conv2dGradInput { shape: shape(of), convolution: valid().into() })
}

fn grad_filter(of: &str) -> Op {
    Op::Window(Window::Conv2dGradFilter { shape: shape(of), convolution: valid().into() })
}

#[test]
fn conv2d_grad_input_c1() {
    assert_eq!(code(&grad_input("1, 5, 5"), &["f32[1, 3, 3, 4]", "f32[3, 3, 2, 4]"]), E3002);
    assert_eq!(code(&grad_input("1, 5, 5, 2"), &["f32[3, 3, 4]", "f32[3, 3, 2, 4]"]), E3002);
}

#[test]
fn conv2d_grad_input_c2() {
    assert_eq!(code(&grad_input("1, 5, 5, 2"), &["f64[1, 3, 3, 4]", "f32[3, 3, 2, 4]"]), E2004);
}

#[test]
fn conv2d_grad_input_c3() {
    assert_eq!(code(&grad_input("1, 5, 5, 1"), &["f32[1, 3, 3, 4]", "f32[3, 3, 2, 4]"]), E4009);
    assert_eq!(code(&grad_input("1, 2, 5, 2"), &["f32[1, 3, 3, 4]", "f32[3, 3, 2, 4]"]), E3006);
}

#[test]
fn conv2d_grad_input_c4() {
    assert_eq!(code(&grad_input("1, 5, 5, 2"), &["f32[1, 4, 3, 4]", "f32[3, 3, 2, 4]"]), E3003);
}

#[test]
fn conv2d_grad_filter_c1() {
    assert_eq!(code(&grad_filter("3, 3, 2"), &["f32[1, 5, 5, 2]", "f32[1, 3, 3, 4]"]), E3002);
}

#[test]
fn conv2d_grad_filter_c2() {
    assert_eq!(code(&grad_filter("3, 3, 2, 4"), &["f32[1, 5, 5, 2]", "f64[1, 3, 3, 4]"]), E2004);
}

#[test]
fn conv2d_grad_filter_c3() {
    assert_eq!(code(&grad_filter("3, 3, 1, 4"), &["f32[1, 5, 5, 2]", "f32[1, 3, 3, 4]"]), E4009);
}

#[test]
fn conv2d_grad_filter_c4() {
    assert_eq!(code(&grad_filter("3, 3, 2, 4"), &["f32[1, 5, 5, 2]", "f32[1, 3, 3, 3]"]), E3003);
}

#[test]
fn arithmetic_on_dims_that_leaves_64_bits_is_an_error() {
    let huge = ty("f32[N, 4611686018427387904]");
    let op = Op::Arrange(Arrange::Reshape { shape: shape("N, 2, 4611686018427387904") });
    assert_eq!(mind_core::ops::infer(&op, &[&huge]).unwrap_err().code, E1008);
    assert_eq!(
        code(&Op::Part(Part::Index { indices: vec![dim("9223372036854775807")] }), &["f32[N]"]),
        E1008
    );
    assert!(infer_types(&Op::Map(Map::Neg), &["f32[N, 4611686018427387904]"]).is_ok());
}

/// The module of a text, within an instruction.
fn nested(text: &str) -> Nested {
    let module = core_ir::parse(text, &Limits::default()).unwrap();
    Nested::new(module).unwrap()
}

/// A module that has inputs of these types and returns some of them.
fn inner(inputs: &[&str], outputs: &[usize]) -> Nested {
    let lines =
        inputs.iter().enumerate().map(|(at, ty)| format!("%{at} = Input () {{name=\"x{at}\"}} : {ty}\n"));
    let outputs: Vec<_> = outputs.iter().map(|output| format!("%{output}")).collect();
    nested(&format!("{}outputs: {}\n", lines.collect::<String>(), outputs.join(", ")))
}

fn call(inputs: &[&str], outputs: &[usize]) -> Op {
    Op::Own(Own::Nesting(Nesting::Call(inner(inputs, outputs))))
}

fn pullback(inputs: &[&str], outputs: &[usize]) -> Op {
    Op::Own(Own::Nesting(Nesting::Pullback(inner(inputs, outputs))))
}

#[test]
fn call_c1() {
    assert!(infer_types(&call(&["f32[2]"], &[0]), &["f32[2]"]).is_ok());
    assert_eq!(code(&call(&["f32[2]"], &[0]), &["f32[2]", "f32[2]"]), E2007);
    assert_eq!(code(&call(&["f32[2]"], &[0]), &[]), E2007);
}

#[test]
fn call_c2() {
    assert_eq!(code(&call(&["f32[2]"], &[0]), &["f32[3]"]), E2001);
    assert_eq!(code(&call(&["f32[2]"], &[0]), &["f64[2]"]), E2001);
}

#[test]
fn call_c4() {
    let mut deepest = inner(&["f32"], &[0]);
    for _ in 1..Nested::MAX_DEPTH {
        let mut b = Builder::new();
        let x = b.input("x", ty("f32")).unwrap();
        let y = b.push(Op::Own(Own::Nesting(Nesting::Call(deepest))), &[x]).unwrap();
        deepest = Nested::new(b.finish([y])).unwrap();
    }
    let mut b = Builder::new();
    let x = b.input("x", ty("f32")).unwrap();
    let y = b.push(Op::Own(Own::Nesting(Nesting::Call(deepest.clone()))), &[x]).unwrap();
    let module = b.finish([y]);
    assert!(verify(module.clone(), Profile::Extended).is_ok());
    assert_eq!(Nested::new(module).unwrap_err(), NestingFault::Depth);
    assert_eq!(deepest.depth(), Nested::MAX_DEPTH);
    assert_eq!(deepest.size(), 2 * Nested::MAX_DEPTH - 1);
}

#[test]
fn pullback_c1() {
    assert!(infer_types(&pullback(&["f32"; 3], &[0]), &["f32"; 2]).is_ok());
    assert!(infer_types(&pullback(&["f32"; 5], &[0]), &["f32"; 3]).is_ok());
    assert_eq!(code(&pullback(&["f32"; 2], &[0]), &["f32"; 2]), E2007);
    assert_eq!(code(&pullback(&["f32"; 5], &[0]), &["f32"; 2]), E2007);
}

#[test]
fn pullback_c2() {
    assert_eq!(code(&pullback(&["f32", "f32[2]", "f32"], &[0]), &["f32[2]", "f32"]), E2001);
    assert_eq!(code(&pullback(&["f32", "f32", "f32[2]"], &[0]), &["f32", "f32"]), E2001);
}

#[test]
fn pullback_c3() {
    assert_eq!(code(&pullback(&["f32", "i64", "i64"], &[0]), &["i64", "f32"]), E2005);
    assert_eq!(code(&pullback(&["i64", "f32", "f32"], &[0]), &["f32", "i64"]), E2005);
}

#[test]
fn pullback_c4() {
    assert_eq!(code(&pullback(&["f32"; 3], &[0, 0]), &["f32"; 2]), E2007);
    assert!(infer_types(&pullback(&["f32", "i64", "f32", "f32"], &[0]), &["f32", "f32", "i64"]).is_ok());
}

#[test]
fn pullback_c5() {
    assert_eq!(code(&pullback(&["f32[2]", "f32", "f32"], &[1]), &["f32", "f32[2]"]), E2001);
}

fn scan(carries: i64, inputs: &[&str], outputs: &[usize]) -> Op {
    let body = inner(inputs, outputs);
    Op::Own(Own::Nesting(Nesting::Scan(Scan::new(body, carries, Guard::Always))))
}

#[test]
fn scan_c1() {
    assert!(infer_types(&scan(1, &["f32", "i64"], &[0, 1]), &["f32", "i64[N]"]).is_ok());
    assert_eq!(code(&scan(0, &["f32"], &[0]), &["f32[3]", "f32[3]"]), E2007);
    assert_eq!(code(&scan(-1, &["f32"], &[0]), &["f32[3]"]), E2007);
    assert_eq!(code(&scan(2, &["f32", "f32"], &[0]), &["f32", "f32"]), E2007);
    assert_eq!(code(&scan(1, &["f32", "f32"], &[0]), &["f32", "f32"]), E2007);
    let kept = |checkpoint, residuals| {
        let body = inner(&["f32", "i64"], &[0, 1]);
        let scan = Scan { checkpoint, residuals, ..Scan::new(body, 1, Guard::Always) };
        infer_types(&scan.into(), &["f32", "i64[N]"]).map_err(|error| error.code)
    };
    assert!(kept(2, 1).is_ok());
    assert_eq!(kept(-1, 0).unwrap_err(), E2007);
    assert_eq!(kept(2, 2).unwrap_err(), E2007);
    assert_eq!(kept(2, -1).unwrap_err(), E2007);
}

#[test]
fn scan_c2() {
    assert_eq!(code(&scan(1, &["f32", "f32"], &[0]), &["f32", "f64[3]"]), E2001);
    assert_eq!(code(&scan(1, &["f32[2]", "f32"], &[0]), &["f32[3]", "f32[3]"]), E2001);
    assert_eq!(code(&scan(1, &["f32[2]", "f32"], &[1]), &["f32[2]", "f32[3]"]), E2001);
}

#[test]
fn scan_c3() {
    assert_eq!(code(&scan(0, &["f32", "f32"], &[0]), &["f32[3]", "f32[N]"]), E3003);
}

fn guarded(guard: Guard, carries: i64, inputs: &[&str], outputs: &[usize]) -> Op {
    let body = inner(inputs, outputs);
    Scan::new(body, carries, guard).into()
}

#[test]
fn while_c1() {
    let unlimited = guarded(Guard::Carry, 2, &["bool", "f32"], &[0, 1]);
    assert!(infer_types(&unlimited, &["bool", "f32"]).is_ok());
    let limited = guarded(Guard::Carry, 1, &["bool", "f32"], &[0, 1]);
    assert!(infer_types(&limited, &["bool", "f32[3]"]).is_ok());
    // Nothing says how many results are stacked.
    assert_eq!(code(&guarded(Guard::Carry, 1, &["bool", "f32"], &[0, 1]), &["bool", "f32"]), E2007);
    assert_eq!(code(&unlimited, &["bool"]), E2007);
}

#[test]
fn while_c2() {
    assert_eq!(code(&guarded(Guard::Carry, 1, &["f32", "bool"], &[0]), &["f32", "bool[3]"]), E2001);
    assert_eq!(code(&guarded(Guard::Carry, 1, &["bool[2]", "f32"], &[0]), &["bool[2]", "f32[3]"]), E2001);
    assert_eq!(code(&guarded(Guard::Carry, 0, &["bool", "f32"], &[1]), &["bool", "f32[3]"]), E2001);
}

#[test]
fn when_c1() {
    let each = guarded(Guard::Operand, 1, &["f32", "bool", "f32"], &[2]);
    assert!(infer_types(&each, &["f32", "bool[3]", "f32"]).is_ok());
    assert!(infer_types(&each, &["f32", "bool", "f32[N]"]).is_ok());
    assert_eq!(code(&each, &["f32", "bool", "f32"]), E2007);
    assert_eq!(code(&each, &["f32", "bool[3]", "f32[2]"]), E3003);
}

#[test]
fn when_c2() {
    assert_eq!(
        code(&guarded(Guard::Operand, 1, &["f32", "f32", "bool"], &[0]), &["f32", "f32[3]", "bool"]),
        E2001
    );
    assert_eq!(code(&guarded(Guard::Operand, 2, &["f32", "bool"], &[0, 1]), &["f32", "bool"]), E2007);
}

#[test]
fn result_c1() {
    let mut b = Builder::new();
    let x = b.input("x", ty("f32[3]")).unwrap();
    let i = b.input("i", ty("i64[2]")).unwrap();
    let y = b.push(call(&["f32[3]", "i64[2]"], &[0, 1]), &[x, i]).unwrap();
    let result = |position| Op::Own(Own::Nesting(Nesting::Result { position }));
    let second = b.push(result(1), &[y]).unwrap();
    assert_eq!(b.ty(second).to_string(), "i64[2]");
    for (position, of) in [(0, y), (2, y), (-1, y), (1, x), (1, second)] {
        assert_eq!(b.push(result(position), &[of]).unwrap_err().code, E4003, "{position}");
    }
}

fn external(function: &str) -> Op {
    Op::Own(Own::External(External::Call { function: function.into(), shape: shape("2") }))
}

#[test]
fn extern_c1() {
    assert_eq!(code(&external("cell"), &["i64"]), E2005);
    assert_eq!(code(&external("cell"), &["f64", "i32"]), E2005);
    assert_eq!(code(&external("cell"), &["f64"; 9]), E2007);
}

#[test]
fn extern_c2() {
    let error = refused(&external("cell"), &["f64[2]", "i64", "f32"]);
    assert_eq!(error.code, E2004);
    assert_eq!(error.to_string(), "`extern`: element types differ, f64 and f32");
}

#[test]
fn extern_c3() {
    for path in ["", "a b", "a::", "::a", "a(); b", "a\n", "1a"] {
        assert_eq!(code(&external(path), &["f64"]), E1002, "{path:?}");
    }
}

fn external_back(function: &str) -> Op {
    external_back_again(function, 1)
}

fn external_back_again(function: &str, order: i64) -> Op {
    Op::Own(Own::External(External::Grad { function: function.into(), order }))
}

#[test]
fn extern_grad_c1() {
    assert_eq!(code(&external_back("cell"), &["f64", "i64"]), E2005);
    assert_eq!(code(&external_back("cell"), &["i64", "f64"]), E2005);
    assert_eq!(code(&external_back_again("cell", 2), &["i64", "f64", "f64[1]"]), E2005);
}

#[test]
fn extern_grad_c2() {
    assert_eq!(code(&external_back("cell"), &["f64[2]", "f32"]), E2004);
}

#[test]
fn extern_grad_c3() {
    assert_eq!(code(&external_back("cell::1"), &["f64", "f64"]), E1002);
}

#[test]
fn extern_grad_c4() {
    assert_eq!(code(&external_back("cell"), &[]), E2007);
    for order in [i64::MIN, -1, 0, 2, 3, i64::MAX] {
        assert_eq!(code(&external_back_again("cell", order), &["f64", "f64"]), E2007, "{order}");
    }
}

#[test]
fn extern_grad_c5() {
    let operands = ["f64[2, 3]", "i64", "f64[4]", "f64[6]", "f64[10]"];
    for (order, given) in [(1, "f64[6]"), (2, "f64[10]"), (3, "f64[16]")] {
        let op = external_back_again("cell", order as i64);
        let ty =
            infer_types(&op, &operands[..2 + order]).expect("each cotangent has the type of what is given");
        assert_eq!(ty.to_string(), given);
    }
    for wrong in ["f64[4]", "f64", "f64[6, 1]"] {
        assert_eq!(code(&external_back_again("cell", 2), &["f64[2, 3]", "i64", "f64[4]", wrong]), E3003);
    }
    let error = refused(&external_back_again("cell", 3), &["f64[2, 3]", "i64", "f64[4]", "f64[6]", "f64[6]"]);
    assert_eq!(error.to_string(), "`extern_grad`: the cotangent is f64[6], needed f64[10]");
}

const CHOLESKY: Op = Op::Matrix(Matrix::Factor(Factorization::Cholesky));
const LU: Op = Op::Matrix(Matrix::Factor(Factorization::Lu));
const QR: Op = Op::Matrix(Matrix::Factor(Factorization::Qr));
const EIGH: Op = Op::Matrix(Matrix::Factor(Factorization::Eigh));
const SVD: Op = Op::Matrix(Matrix::Factor(Factorization::Svd));
const TRIANGLE: Op = Op::Matrix(Matrix::Triangle { lower: true, strict: false });
const LOWER: Op =
    Op::Matrix(Matrix::SolveTriangular(Triangular { lower: true, transposed: false, unit_diagonal: false }));

#[test]
fn cholesky_c1() {
    for operand in ["f32", "f32[3]"] {
        let error = refused(&CHOLESKY, &[operand]);
        assert_eq!((error.code, error.focus), (E3002, Focus::Operand(0)));
    }
}

#[test]
fn cholesky_c2() {
    for operand in ["i32[2, 2]", "bool[2, 2]"] {
        let error = refused(&CHOLESKY, &[operand]);
        assert_eq!((error.code, error.focus), (E2005, Focus::Operand(0)));
    }
}

#[test]
fn cholesky_c3() {
    for operand in ["f32[2, 3]", "f64[2, N, M]"] {
        let error = refused(&CHOLESKY, &[operand]);
        assert_eq!((error.code, error.focus), (E3003, Focus::Operand(0)));
    }
}

#[test]
fn lu_c1() {
    assert_eq!(code(&LU, &["f32[3]"]), E3002);
}

#[test]
fn lu_c2() {
    assert_eq!(code(&LU, &["i64[2, 2]"]), E2005);
}

#[test]
fn lu_c3() {
    assert_eq!(code(&LU, &["f32[2, 3]"]), E3003);
    let ty = infer_types(&LU, &["f32[2, N, N]"]).expect("it is square");
    assert_eq!(ty.to_string(), "f32[2, N + 2, N]");
}

#[test]
fn qr_c1() {
    assert_eq!(code(&QR, &["f32[3]"]), E3002);
}

#[test]
fn qr_c2() {
    assert_eq!(code(&QR, &["i64[2, 2]"]), E2005);
}

#[test]
fn eigh_c1() {
    assert_eq!(code(&EIGH, &["f32[3]"]), E3002);
}

#[test]
fn eigh_c2() {
    assert_eq!(code(&EIGH, &["i64[2, 2]"]), E2005);
}

#[test]
fn eigh_c3() {
    assert_eq!(code(&EIGH, &["f32[2, 3]"]), E3003);
    let ty = infer_types(&EIGH, &["f32[2, N, N]"]).expect("it is square");
    assert_eq!(ty.to_string(), "f32[2, N + 1, N]");
}

#[test]
fn svd_c1() {
    assert_eq!(code(&SVD, &["f32[3]"]), E3002);
}

#[test]
fn svd_c2() {
    assert_eq!(code(&SVD, &["i64[2, 2]"]), E2005);
}

const FFT: Op = Op::Fourier(Fourier::Fft { inverse: false });
const REAL_FFT: Op = Op::Fourier(Fourier::RealFft);

fn real_fft_grad(of: &str) -> Op {
    Op::Fourier(Fourier::RealFftGrad { shape: shape(of) })
}

#[test]
fn fft_c1() {
    assert_eq!(code(&FFT, &["f32[2]"]), E3002);
}

#[test]
fn fft_c2() {
    assert_eq!(code(&FFT, &["i64[3, 2]"]), E2005);
}

#[test]
fn fft_c3() {
    assert_eq!(code(&FFT, &["f32[2, 3]"]), E3003);
    assert_eq!(code(&FFT, &["f32[2, N]"]), E3003);
    let ty = infer_types(&FFT, &["f64[3, N, 2]"]).expect("it has pairs");
    assert_eq!(ty.to_string(), "f64[3, N, 2]");
}

#[test]
fn real_fft_c1() {
    assert_eq!(code(&REAL_FFT, &["f32"]), E3002);
    for (of, to) in
        [("1", "1"), ("2", "2"), ("3", "2"), ("3, 8", "3, 5"), ("N", "N / 2 + 1"), ("2 * N + 1", "N + 1")]
    {
        let ty = infer_types(&REAL_FFT, &[&format!("f32[{of}]")]).expect("it has rows");
        assert_eq!(ty.to_string(), format!("f32[{to}, 2]"));
    }
}

#[test]
fn real_fft_c2() {
    assert_eq!(code(&REAL_FFT, &["i32[3]"]), E2005);
}

#[test]
fn real_fft_grad_c1() {
    assert_eq!(code(&real_fft_grad(""), &["f32[1, 2]"]), E3002);
}

#[test]
fn real_fft_grad_c2() {
    assert_eq!(code(&real_fft_grad("2"), &["i64[2, 2]"]), E2005);
}

#[test]
fn real_fft_grad_c3() {
    for found in ["f32[3, 2]", "f32[5, 2]", "f32[4]", "f32[4, 3]", "f32[1, 4, 2]"] {
        assert_eq!(code(&real_fft_grad("7"), &[found]), E3003);
    }
    assert_eq!(code(&real_fft_grad("N"), &["f32[N, 2]"]), E3003);
    for of in ["6", "7", "2, 6"] {
        let outer = of.strip_suffix('6').unwrap_or_default();
        let ty = infer_types(&real_fft_grad(of), &[&format!("f32[{outer}4, 2]")]).expect("the extents agree");
        assert_eq!(ty.to_string(), format!("f32[{of}]"));
    }
    let ty = infer_types(&real_fft_grad("2 * N - 1"), &["f32[N, 2]"]).expect("it is so for every extent");
    assert_eq!(ty.to_string(), "f32[2 * N - 1]");
}

#[test]
fn triangle_c1() {
    assert_eq!(code(&TRIANGLE, &["f32[3]"]), E3002);
}

#[test]
fn triangle_c2() {
    assert_eq!(code(&TRIANGLE, &["i64[2, 3]"]), E2005);
}

#[test]
fn solve_triangular_c1() {
    let error = refused(&LOWER, &["f32[3]", "f32[3]"]);
    assert_eq!((error.code, error.focus), (E3002, Focus::Operand(0)));
}

#[test]
fn solve_triangular_c2() {
    assert_eq!(code(&LOWER, &["i64[2, 2]", "i64[2, 1]"]), E2005);
}

#[test]
fn solve_triangular_c3() {
    assert_eq!(code(&LOWER, &["f32[2, 2]", "f64[2, 1]"]), E2004);
}

#[test]
fn solve_triangular_c4() {
    let error = refused(&LOWER, &["f32[2, 3]", "f32[2, 1]"]);
    assert_eq!((error.code, error.focus), (E3003, Focus::Operand(0)));
}

#[test]
fn solve_triangular_c5() {
    for b in ["f32[2]", "f32[1, 2, 1]"] {
        let error = refused(&LOWER, &["f32[2, 2]", b]);
        assert_eq!((error.code, error.focus), (E3002, Focus::Operand(1)));
    }
}

#[test]
fn solve_triangular_c6() {
    for b in ["f32[5, 3, 1]", "f32[4, 2, 1]"] {
        let error = refused(&LOWER, &["f32[5, 2, 2]", b]);
        assert_eq!((error.code, error.focus), (E3003, Focus::Operand(1)));
    }
}
