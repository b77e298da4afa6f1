//! Products and convolutions in all forms, beyond the cases of their rows.

use mind_core::{
    dim::Dim,
    ir::{Convolution, Op, Padding, Product, Window},
    ops::{Profile, sample::Domain},
    ty::{DType, Shape, Type},
};

use super::support::{FLOATS, PROFILES, Rng, arguments, assert_gradients, single};
use crate::sample::sample;

fn tolerance(dtype: DType) -> f64 {
    if dtype == DType::F32 { 1e-4 } else { 1e-8 }
}

fn check(op: &Op, operands: &[Type], profile: Profile) {
    let shapes: Vec<_> = operands.iter().map(ToString::to_string).collect();
    let what = format!("{op:?} on {}", shapes.join(", "));
    let given = arguments(&mut Rng::new(&what), operands, Domain::Any, 1);
    let tolerance = tolerance(operands[0].dtype);
    assert_gradients(&what, &single(op, operands), &given, profile, tolerance)
        .unwrap_or_else(|error| panic!("{what} in {profile:?}: {error}"));
}

#[test]
fn dot_in_all_four_forms() {
    for profile in PROFILES {
        for dtype in FLOATS {
            for m in [1.into(), 3.into(), Dim::symbol("M")] {
                for n in [1.into(), 2.into(), Dim::symbol("N")] {
                    let k = || Dim::symbol("K");
                    for [lhs, rhs] in [
                        [vec![k()], vec![k()]],
                        [vec![m.clone(), k()], vec![k()]],
                        [vec![k()], vec![k(), n.clone()]],
                        [vec![m.clone(), k()], vec![k(), n.clone()]],
                    ] {
                        let operands = [lhs, rhs].map(|dims| Type::new(dtype, Shape::new(dims)));
                        check(&Op::Product(Product::Dot), &operands, profile);
                    }
                }
            }
        }
    }
}

#[test]
fn matmul_with_every_pattern_of_batches() {
    let n = || Dim::symbol("N");
    let batches: [[Vec<Dim>; 2]; 12] = [
        [vec![], vec![]],
        [vec![2.into()], vec![]],
        [vec![], vec![2.into()]],
        [vec![2.into()], vec![2.into()]],
        [vec![1.into()], vec![2.into()]],
        [vec![2.into()], vec![1.into()]],
        [vec![1.into()], vec![1.into()]],
        [vec![2.into(), 1.into()], vec![1.into(), 3.into()]],
        [vec![3.into()], vec![2.into(), 1.into()]],
        [vec![n()], vec![]],
        [vec![n(), 1.into()], vec![2.into()]],
        [vec![1.into()], vec![n(), n()]],
    ];
    for profile in PROFILES {
        for dtype in FLOATS {
            for [lhs, rhs] in &batches {
                for [rows, inner, columns] in [[2, 3, 2], [1, 2, 3], [2, 1, 1]] {
                    let of = |batch: &[Dim], last: [i64; 2]| {
                        let dims = batch.iter().cloned().chain(last.map(Dim::literal));
                        Type::new(dtype, dims.collect())
                    };
                    let operands = [of(lhs, [rows, inner]), of(rhs, [inner, columns])];
                    check(&Op::Product(Product::MatMul), &operands, profile);
                }
            }
        }
    }
}

#[test]
fn convolution_with_strides_times_paddings() {
    let paddings = [
        Padding::Valid,
        Padding::Same,
        Padding::Custom(vec![[0, 0], [0, 0]]),
        Padding::Custom(vec![[2, 1], [0, 3]]),
    ];
    let mut cases = Vec::new();
    for padding in &paddings {
        for vertical in 1..=3 {
            for horizontal in 1..=3 {
                cases.extend([[1, 1], [3, 2]].map(|window| (padding, vec![vertical, horizontal], window)));
            }
        }
    }
    for (padding, strides, [height, width]) in sample("convolutions", cases) {
        let op = Op::Window(Window::Conv2d(Convolution { strides, padding: padding.clone() }));
        let shapes: [&[i64]; 2] = [&[1, 5, 4, 2], &[height, width, 2, 3]];
        let operands = shapes.map(|shape| Type::new(DType::F64, Shape::literal(shape)));
        check(&op, &operands, Profile::Extended);
    }
}

#[test]
fn convolution_of_a_batch_and_an_image_of_unknown_extents() {
    for padding in [Padding::Valid, Padding::Same] {
        for stride in [1, 2] {
            let op = Op::Window(Window::Conv2d(Convolution {
                strides: vec![stride; 2],
                padding: padding.clone(),
            }));
            let dims = [Dim::symbol("N"), Dim::symbol("H"), Dim::symbol("W"), 2.into()];
            let operands = [Shape::new(dims), Shape::literal(&[2, 2, 2, 2])];
            check(&op, &operands.map(|shape| Type::new(DType::F64, shape)), Profile::Extended);
        }
    }
}
