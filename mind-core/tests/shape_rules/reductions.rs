use mind_shape::rules::{Permutation, Takes, permuted, reduce, reduced, squeezable};
use mind_shape::{DType, Type, UNKNOWN};

use super::support::{Program, f32s, lists, lists_up_to, name, samples, shapes};

const REDUCTIONS: [(Takes, &str); 2] = [(Takes::Numbers, "sum"), (Takes::Floats, "mean")];

#[test]
fn reductions_take_axes_away() {
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        let rank = x.1.rank() as i64;
        let axes: Vec<i64> = (-rank - 1..=rank).collect();
        for (position, axes) in lists_up_to(2, &axes).iter().enumerate() {
            // The two reductions and the two settings of `keepdims` alternate.
            let (op, label) = REDUCTIONS[position % 2];
            let keepdims = position % 4 < 2;
            let expression = format!("{label}({}, axes = {axes:?}, keepdims = {keepdims})", x.0);
            program.case(expression, reduce(op, x.1, Some(axes), keepdims), label, &[name(x)]);
        }
        for (op, label) in REDUCTIONS {
            for keepdims in [false, true] {
                let expression = format!("{label}({}, keepdims = {keepdims})", x.0);
                program.case(expression, reduce(op, x.1, None, keepdims), label, &[name(x)]);
                for axis in &axes {
                    let expression = format!("{label}({}, axis = {axis}, keepdims = {keepdims})", x.0);
                    program.case(expression, reduce(op, x.1, Some(&[*axis]), keepdims), label, &[name(x)]);
                }
            }
        }
    }
    program.check();
}

#[test]
fn reductions_over_many_axes() {
    let mut program = Program::new(samples().iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        let rank = x.1.rank() as i64;
        let axes: Vec<i64> = (-rank..rank.max(1)).collect();
        for axes in [lists(3, &axes), lists(4, &axes), lists(5, &[0, 1])].concat() {
            let expression = format!("sum({}, axes = {axes:?})", x.0);
            program.case(expression, reduce(Takes::Numbers, x.1, Some(&axes), false), "sum", &[name(x)]);
        }
    }
    program.check();
}

#[test]
fn means_are_of_floats() {
    let types = DType::ALL
        .into_iter()
        .flat_map(|dtype| samples().into_iter().map(move |shape| Type::new(dtype, &shape)));
    let mut program = Program::new(types);
    for x in &program.parameters() {
        for (op, label) in REDUCTIONS {
            program.case(format!("{label}({})", x.0), reduce(op, x.1, None, false), label, &[name(x)]);
            for axes in [&[][..], &[0], &[5]] {
                let expression = format!("{label}({}, axes = {axes:?})", x.0);
                program.case(expression, reduce(op, x.1, Some(axes), false), label, &[name(x)]);
            }
        }
    }
    program.check();
}

#[test]
fn long_lists_are_shortened() {
    let mut program = Program::new([f32s(&[2, 3])]);
    for length in 12..20 {
        for ones in 0..4 {
            let axes = [vec![-1; ones], vec![0; length]].concat();
            let answer = reduce(Takes::Numbers, f32s(&[2, 3]), Some(&axes), false);
            program.case(
                format!("sum(x0, axes = {axes:?})"),
                answer,
                "sum",
                &[name(&("x0".into(), f32s(&[2, 3])))],
            );
        }
    }
    assert_eq!(program.check(), [0, 32]);
}

#[test]
fn axes_are_told_as_positions() {
    let first = |axes: [bool; 8]| [axes[0], axes[1], axes[2], axes[3]];
    assert_eq!(first(reduced(3, Some(&[-1, 0]))), [true, false, true, false]);
    assert_eq!(first(reduced(3, None)), [true, true, true, false]);
    assert_eq!(first(squeezable(f32s(&[1, 2, 1, UNKNOWN]))), [true, false, true, false]);
    assert_eq!(permuted(3, Permutation::Written(&[-1, 0, 1]))[..3], [2, 0, 1]);
    assert_eq!(permuted(3, Permutation::Matrices)[..3], [0, 2, 1]);
    assert_eq!(permuted(3, Permutation::Reversed)[..3], [2, 1, 0]);
    assert_eq!(permuted(4, Permutation::Moved { from: 2, to: 0 })[..4], [2, 0, 1, 3]);
    assert_eq!(permuted(4, Permutation::Moved { from: 0, to: -2 })[..4], [1, 2, 0, 3]);
}
