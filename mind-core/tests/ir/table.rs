//! The table of operations: its rows are complete, and agree with the specification and with each other.

use std::collections::BTreeSet;

use mind_core::{
    interp::Elements,
    ir::{Op, Rows},
    map::Map,
    ops::{Profile, TABLE, WorkClass, infer},
    provenance::{Origin, origin},
    testing::random_inputs,
    ty::DType,
};

use super::support::{single, verified};

/// The operations of the specification.
const CORE_V1: &str = "Input ConstI64 ConstF32 ConstF64 ConstTensor Add Sub Mul Sum Mean Reshape Transpose ExpandDims \
     Squeeze Index Slice Gather Dot MatMul Conv2d Relu Neg Exp Log";

#[test]
fn core_v1_is_what_the_specification_lists() {
    let listed: BTreeSet<&str> = CORE_V1.split_whitespace().collect();
    let rows = TABLE.iter().filter(|row| row.profile == Profile::CoreV1).map(|row| row.name);
    assert_eq!(rows.collect::<BTreeSet<_>>(), listed);
}

#[test]
fn names_and_mnemonics_are_unique() {
    let names: BTreeSet<&str> = TABLE.iter().map(|row| row.name).collect();
    let mnemonics: BTreeSet<&str> = TABLE.iter().map(|row| row.mnemonic).collect();
    assert_eq!((names.len(), mnemonics.len()), (TABLE.len(), TABLE.len()));
    assert!(TABLE.iter().all(|row| !row.label.is_empty() && !row.mnemonic.is_empty()));
}

#[test]
fn every_operation_with_operands_is_sampled() {
    for row in TABLE {
        let cases = DType::ALL.iter().map(|dtype| row.cases(*dtype).len()).sum::<usize>();
        // External functions cannot be evaluated by the compiler. Operations with a module are covered by random
        // modules.
        let is_sampled = row.arity > 0 && !row.name.starts_with("Extern") && row.class != WorkClass::Module;
        assert_eq!(cases > 0, is_sampled, "{}", row.name);
    }
}

#[test]
fn samples_are_of_their_row_and_infer() {
    each_case(|name, op, types| {
        assert_eq!(op.info().name, name);
        let inferred = infer(op, &types.iter().collect::<Vec<_>>());
        assert!(inferred.is_ok(), "{op:?} on {types:?}: {inferred:?}");
    });
}

#[test]
fn evaluated_samples_have_the_inferred_type() {
    each_case(|_, op, types| {
        let module = verified(single(op, types));
        let mut inputs = random_inputs(&module, 1).unwrap();
        // Makes indices less than 2, which is valid for all samples, and divisors nonzero.
        let divides = matches!(op, Op::Map(map) if map.row().pole.is_some());
        for input in &mut inputs {
            match &mut input.elements {
                Elements::I64(elements) => {
                    elements.iter_mut().for_each(|x| *x = *x % 2 + i64::from(divides) * 2)
                }
                Elements::I32(elements) if divides => elements.iter_mut().for_each(|x| *x = *x % 2 + 2),
                Elements::U8(elements) if divides => elements.iter_mut().for_each(|x| *x = *x % 2 + 2),
                _ => {}
            }
        }
        let results = mind_core::interp::run(&module, &inputs).unwrap();
        let ty = module.ty(module.outputs()[0]);
        let extents: Vec<i64> = results[0].shape.iter().map(|extent| *extent as i64).collect();
        assert_eq!((results[0].dtype(), Some(extents)), (ty.dtype, ty.shape.as_literals()), "{op:?}");
    });
}

#[test]
fn origins_have_the_extent_they_explain() {
    each_case(|_, op, types| {
        let module = single(op, types);
        let result = module.outputs()[0];
        for axis in 0..module.ty(result).rank() {
            if let Origin::Input { input, axis: from } = origin(module.insts(), result, axis) {
                let (found, explained) = (&module.ty(input).shape[from], &module.ty(result).shape[axis]);
                assert_eq!(found, explained, "{op:?} on {types:?}, axis {axis}");
            }
        }
    });
}

#[test]
fn costs_of_samples_are_known_and_not_negative() {
    each_case(|_, op, types| {
        let operands: Vec<_> = types.iter().collect();
        let flops = (op.info().flops)(op, &operands, &infer(op, &operands).unwrap()).unwrap();
        assert!(flops.as_literal().is_some_and(|flops| flops >= 0), "{op:?}: {flops}");
        let free = matches!(op.info().class, WorkClass::View)
            || matches!(op, Op::Rows(Rows::Gather | Rows::TakeAlong { .. }) | Op::Map(Map::StopGradient));
        assert!(!free || flops.as_literal() == Some(0), "{op:?}: {flops}");
    });
}

#[test]
fn commutative_rows_do_commute() {
    for row in TABLE.iter().filter(|row| row.commutative) {
        for case in row.cases(DType::F32) {
            let [lhs, rhs] = &case.operands[..] else { panic!("{} has two operands", row.name) };
            let one_way = verified(single(&case.op, &[lhs.clone(), rhs.clone()]));
            let other_way = verified(single(&case.op, &[rhs.clone(), lhs.clone()]));
            let mut inputs = random_inputs(&one_way, 7).unwrap();
            let result = mind_core::interp::run(&one_way, &inputs).unwrap();
            inputs.reverse();
            assert_eq!(mind_core::interp::run(&other_way, &inputs).unwrap(), result, "{}", row.name);
        }
    }
}

fn each_case(mut check: impl FnMut(&str, &Op, &[mind_core::ty::Type])) {
    for row in TABLE {
        for dtype in DType::ALL {
            for case in row.cases(dtype) {
                check(row.name, &case.op, &case.operands);
            }
        }
    }
}
