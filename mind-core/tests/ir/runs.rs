//! Runs of whole modules: binding symbols, checking requirements, naming faults.

use mind_core::{
    build::Builder,
    diag::Code,
    dim::Dim,
    interp::{Array, run},
    ir::{Convolution, Op, Padding, Part, Rows, Slice, Window},
    map::Map,
};

use super::support::{dim, f32s, i64s, single, ty, verified};

fn stop(op: Op, operands: &[&str], inputs: &[Array]) -> Code {
    let types: Vec<_> = operands.iter().map(|text| ty(text)).collect();
    run(&verified(single(&op, &types)), inputs).unwrap_err().code
}

#[test]
fn symbols_are_bound_by_extents() {
    let module = verified(single(&Op::Map(Map::Add), &[ty("f32[N, 2]"), ty("f32[2]")]));
    for n in 1..4 {
        let results = run(&module, &[f32s(&[n, 2], &vec![1.0; 2 * n]), f32s(&[2], &[1., 2.])]).unwrap();
        assert_eq!(results, [f32s(&[n, 2], &[2., 3.].repeat(n))]);
    }
}

#[test]
fn symbols_are_solved_from_derived_extents() {
    let mut b = Builder::new();
    let x = b.input("x", ty("f32[2*N + 1, M]")).unwrap();
    b.input("y", ty("f32[M + N]")).unwrap();
    let starts = vec![Dim::ZERO, Dim::ZERO];
    let slice = Slice { starts, ends: vec![dim("N"), Dim::ONE], steps: vec![1, 1] };
    let first = b.push(Op::Part(Part::Slice(slice.into())), &[x]).unwrap();
    let module = verified(b.finish([first]));
    let x = f32s(&[5, 1], &[1., 2., 3., 4., 5.]);
    assert_eq!(run(&module, &[x.clone(), f32s(&[3], &[0.; 3])]), Ok(vec![f32s(&[2, 1], &[1., 2.])]));
    assert_eq!(run(&module, &[x, f32s(&[4], &[0.; 4])]).unwrap_err().code, Code::E6009);
    let even = f32s(&[4, 1], &[0.; 4]);
    assert_eq!(run(&module, &[even, f32s(&[3], &[0.; 3])]).unwrap_err().code, Code::E6009);
}

#[test]
fn an_extent_that_no_symbol_gives_is_named() {
    let module = verified(single(&Op::Map(Map::Neg), &[ty("f32[2*N + 1]")]));
    for extent in [1, 4] {
        let error = run(&module, &[f32s(&[extent], &vec![0.; extent])]).unwrap_err();
        assert_eq!(error.code, Code::E6009);
        let end = format!("but no extents make 2 * N + 1 equal to {extent}");
        assert!(error.message.ends_with(&end), "{error}");
    }
}

#[test]
fn contradicting_extents_are_named() {
    let module = verified(single(&Op::Map(Map::Add), &[ty("f32[N]"), ty("f32[N]")]));
    let error = run(&module, &[f32s(&[2], &[0.; 2]), f32s(&[3], &[0.; 3])]).unwrap_err();
    assert_eq!(error.to_string(), "[E6009] dimension 0 of `x1` is 3, needed N = 2");
}

#[test]
fn known_extents_are_checked() {
    assert_eq!(stop(Op::Map(Map::Neg), &["f32[2]"], &[f32s(&[3], &[0.; 3])]), Code::E6009);
}

#[test]
fn inputs_have_the_declared_number_element_type_and_rank() {
    assert_eq!(stop(Op::Map(Map::Neg), &["f32[2]"], &[]), Code::E2007);
    assert_eq!(stop(Op::Map(Map::Neg), &["f32[2]"], &[i64s(&[2], &[0; 2])]), Code::E2001);
    assert_eq!(stop(Op::Map(Map::Neg), &["f32[2]"], &[f32s(&[1, 2], &[0.; 2])]), Code::E2001);
}

#[test]
fn extents_are_positive() {
    assert_eq!(stop(Op::Map(Map::Neg), &["f32[N]"], &[f32s(&[0], &[])]), Code::E3006);
    let conv = Op::Window(Window::Conv2d(Convolution { strides: vec![1, 1], padding: Padding::Valid }));
    let (image, filter) = (f32s(&[1, 2, 3, 1], &[0.; 6]), f32s(&[3, 3, 1, 1], &[0.; 9]));
    assert_eq!(stop(conv, &["f32[1, H, W, 1]", "f32[3, 3, 1, 1]"], &[image, filter]), Code::E3006);
}

#[test]
fn bounds_on_symbolic_extents_are_checked() {
    let slice = Slice { starts: vec![Dim::ZERO], ends: vec![Dim::literal(3)], steps: vec![1] };
    let op = Op::Part(Part::Slice(slice.into()));
    assert_eq!(stop(op.clone(), &["f32[N]"], &[f32s(&[2], &[0.; 2])]), Code::E6009);
    let module = verified(single(&op, &[ty("f32[N]")]));
    assert_eq!(run(&module, &[f32s(&[4], &[1., 2., 3., 4.])]), Ok(vec![f32s(&[3], &[1., 2., 3.])]));
    let index = Op::Part(Part::Index { indices: vec![Dim::literal(4)] });
    assert_eq!(stop(index, &["f32[N]"], &[f32s(&[4], &[0.; 4])]), Code::E6009);
}

#[test]
fn indices_out_of_range_stop_the_program() {
    let table = f32s(&[3], &[1., 2., 3.]);
    for bad in [3, -1, i64::MAX] {
        let code =
            stop(Op::Rows(Rows::Gather), &["f32[3]", "i64[2]"], &[table.clone(), i64s(&[2], &[0, bad])]);
        assert_eq!(code, Code::E6001);
    }
    let operands = |index| [table.clone(), i64s(&[2], &[0, index]), f32s(&[2], &[4., 5.])];
    for bad in [3, -1, i64::MIN] {
        for rows in [Rows::Scatter, Rows::AddRows] {
            let code = stop(Op::Rows(rows), &["f32[3]", "i64[2]", "f32[2]"], &operands(bad));
            assert_eq!(code, Code::E6001);
        }
    }
    let scatter = Op::Rows(Rows::ScatterAdd { shape: super::support::shape("2") });
    assert_eq!(stop(scatter, &["i64[1]", "f32[1]"], &[i64s(&[1], &[2]), f32s(&[1], &[1.])]), Code::E6001);
}
