//! Gradients of gradients: computed by hand, and for the table compared with differences of the first gradient.

use mind_core::{
    canon::Canonical,
    dim::Dim,
    grad::{AutodiffError, GradientOptions, differentiate},
    ir::{Module, Op, Part, Product, Reduction, Rows, Slice},
    map::Map,
    ops::{self, Derivative, Profile},
    reduce::Reduce,
    ty::{DType, Shape, Type},
};

use super::support::{
    PROFILES, Rng, arguments, assert_gradients, bound, build, canonical, every_float, filled, numbers, push,
    rows, run, scalar, scalar_options, single, vector,
};
use crate::sample::sample;

/// The module that computes only the gradients, from the primal's inputs and the cotangents.
pub fn gradients_only(module: &Canonical, options: &GradientOptions) -> Result<Canonical, AutodiffError> {
    let gradient = differentiate(module, options)?;
    let (insts, outputs) = Module::clone(&gradient.module).into_parts();
    let kept = outputs[module.outputs().len()..].to_vec();
    Ok(canonical(Module::from_parts(insts, kept)))
}

#[test]
fn derivatives_of_a_polynomial_come_out_one_after_the_other() {
    // x³ as products.
    let mut module = build(&[Type::scalar(DType::F64)], |b, inputs| {
        let square = push(b, Op::Map(Map::Mul), &[inputs[0], inputs[0]]);
        vec![push(b, Op::Map(Map::Mul), &[square, inputs[0]])]
    });
    for profile in PROFILES {
        let mut found = Vec::new();
        for _ in 0..3 {
            module = gradients_only(&module, &scalar_options(&[0], profile)).expect("a polynomial");
            found.push(numbers(&run(&module, &[scalar(DType::F64, 2.0)])[0])[0]);
        }
        assert_eq!(found, [12.0, 12.0, 6.0], "{profile:?}");
        module = build(&[Type::scalar(DType::F64)], |b, inputs| {
            let square = push(b, Op::Map(Map::Mul), &[inputs[0], inputs[0]]);
            vec![push(b, Op::Map(Map::Mul), &[square, inputs[0]])]
        });
    }
}

#[test]
fn the_hessian_of_a_least_squares_loss_times_a_vector_is_exact() {
    // |a x - b|²; its Hessian times v is 2 aᵀ a v.
    let (matrix, long, short) = ([3, 2], [3], [2]);
    let types =
        [&matrix[..], &long, &short, &short].map(|shape| Type::new(DType::F64, Shape::literal(shape)));
    let loss = build(&types[..3], |b, inputs| {
        let product = push(b, Op::Product(Product::Dot), &[inputs[0], inputs[2]]);
        let rest = push(b, Op::Map(Map::Sub), &[product, inputs[1]]);
        vec![push(b, Op::Product(Product::Dot), &[rest, rest])]
    });
    for profile in PROFILES {
        let slope = gradients_only(&loss, &scalar_options(&[2], profile)).expect("a gradient");
        let along = build(&types, |b, inputs| {
            let slope = b.inline(&slope, &inputs[..3], &Default::default()).expect("the same types");
            vec![push(b, Op::Product(Product::Dot), &[slope[0], inputs[3]])]
        });
        let product = gradients_only(&along, &scalar_options(&[2], profile)).expect("a gradient");
        let a = filled(DType::F64, &[3, 2], |i| [1.0, 2.0, 3.0, 4.0, 5.0, 6.0][i]);
        let given = [
            a,
            vector(DType::F64, &[1.0, 0.0, 2.0]),
            vector(DType::F64, &[0.5, 0.25]),
            vector(DType::F64, &[1.0, -1.0]),
        ];
        // aᵀ a = [[35, 44], [44, 56]].
        assert_eq!(numbers(&run(&product, &given)[0]), [-18.0, -24.0], "{profile:?}");
    }
}

#[test]
fn gradients_of_every_case_are_differentiated_again() {
    let mut cases = Vec::new();
    for row in ops::TABLE {
        match row.derivative {
            Derivative::Rule | Derivative::Linear => {}
            Derivative::Zero | Derivative::Unsupported => continue,
        }
        cases.extend(row.cases(DType::F64).into_iter().enumerate().map(|(number, case)| (row, number, case)));
    }
    assert!(cases.len() > 100, "{} cases", cases.len());
    for (row, number, case) in &sample("cases of operations", cases) {
        for profile in PROFILES {
            let module = single(&case.op, &case.operands);
            let options = every_float(&module, profile);
            let first = match gradients_only(&module, &options) {
                Ok(first) => first,
                Err(AutodiffError::UnsupportedOp { .. } | AutodiffError::UnsupportedType(_))
                    if profile == Profile::CoreV1 =>
                {
                    continue;
                }
                Err(error) => panic!("{}: {error}", row.name),
            };
            let what = format!("{} case {number} again", row.name);
            let types: Vec<_> = first.inputs().map(|(_, ty)| ty.clone()).collect();
            let given = arguments(&mut Rng::new(&what), &types, row.sample.domain, rows(case));
            let (_, tolerance) = row.sample.tolerance;
            assert_gradients(&what, &first, &given, profile, tolerance)
                .unwrap_or_else(|error| panic!("{what} in {profile:?}: {error}"));
        }
    }
}

#[test]
fn a_network_is_differentiated_twice_through_its_kinks_and_reductions() {
    let n = Dim::symbol("N");
    let types = [
        Type::new(DType::F64, Shape::new([n.clone(), 3.into()])),
        Type::new(DType::F64, Shape::literal(&[3, 4])),
        Type::new(DType::F64, Shape::literal(&[4])),
    ];
    let network = build(&types, |b, inputs| {
        let z = push(b, Op::Product(Product::MatMul), &inputs[..2]);
        let z = push(b, Op::Map(Map::Add), &[z, inputs[2]]);
        let h = push(b, Op::Map(Map::Relu), &[z]);
        let power = push(b, Op::Map(Map::Exp), &[h]);
        let total = push(b, Op::Reduce(Reduce::Sum, Reduction { axes: vec![1], keepdims: false }), &[power]);
        let log = push(b, Op::Map(Map::Log), &[total]);
        vec![push(b, Op::Reduce(Reduce::Mean, Reduction { axes: vec![0], keepdims: false }), &[log])]
    });
    for profile in PROFILES {
        let first = gradients_only(&network, &scalar_options(&[0, 1, 2], profile)).expect("a gradient");
        let mut rng = Rng::new("a network away from its kinks");
        // Far enough from 0 that no step crosses a kink: |x w| < 1 and |b| > 1.
        let x = filled(DType::F64, &bound(&types[0].shape), |_| rng.between(-0.5, 0.5));
        let w = filled(DType::F64, &[3, 4], |_| rng.between(-0.5, 0.5));
        let b = vector(DType::F64, &[1.5, -1.5, 1.25, -1.25]);
        assert_gradients("a network twice", &first, &[x, w, b], profile, 1e-6).expect("a second gradient");
    }
}

#[test]
fn a_slice_of_a_gather_is_differentiated_twice() {
    let types = [Type::new(DType::F64, Shape::literal(&[5, 3])), Type::new(DType::I64, Shape::literal(&[4]))];
    let slice = Slice { starts: vec![1.into(), 0.into()], ends: vec![4.into(), 3.into()], steps: vec![2, 2] };
    let module = build(&types, |b, inputs| {
        let picked = push(b, Op::Rows(Rows::Gather), inputs);
        let part = push(b, Op::Part(Part::Slice(Box::new(slice))), &[picked]);
        vec![push(b, Op::Map(Map::Exp), &[part])]
    });
    for profile in PROFILES {
        let first = gradients_only(&module, &every_float(&module, profile)).expect("a gradient");
        let types: Vec<_> = first.inputs().map(|(_, ty)| ty.clone()).collect();
        let mut rng = Rng::new("a slice of a gather");
        let given = arguments(&mut rng, &types, ops::sample::Domain::Any, 5);
        assert_gradients("a slice of a gather twice", &first, &given, profile, 1e-6)
            .expect("a second gradient");
    }
}
