use mind_shape::rules::{Permutation, broadcast_to, expand_dims, expect, reshape, squeeze, transpose};
use mind_shape::{DType, Type};

use super::support::{Program, f32s, lists, lists_up_to, name, samples, shapes};

#[test]
fn reshapes_keep_the_count() {
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        let written = [lists_up_to(2, &[-2, -1, 0, 1, 2, 3, 6]), lists(3, &[-1, 1, 2, 3])];
        for shape in written.concat() {
            program.case(format!("reshape({}, {shape:?})", x.0), reshape(x.1, &shape), "reshape", &[name(x)]);
        }
        for y in shapes() {
            program.case(format!("reshape({}, {y:?})", x.0), reshape(x.1, &y), "reshape", &[name(x)]);
        }
    }
    program.check();
}

#[test]
fn transpositions_permute_axes() {
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        for text in [format!("{}.T", x.0), format!("transpose({})", x.0)] {
            program.case(text, transpose(x.1, Permutation::Reversed), "transpose", &[name(x)]);
        }
        program.case(format!("{}.mT", x.0), transpose(x.1, Permutation::Matrices), ".mT", &[name(x)]);
        let rank = x.1.rank() as i64;
        for (from, to) in (-rank - 1..=rank).flat_map(|from| (-rank - 1..=rank).map(move |to| (from, to))) {
            let moved = transpose(x.1, Permutation::Moved { from, to });
            program.case(format!("moveaxis({}, {from}, {to})", x.0), moved, "moveaxis", &[name(x)]);
        }
        for permutation in permutations(x.1.rank()) {
            let from_end: Vec<_> = permutation.iter().map(|axis| axis - permutation.len() as i64).collect();
            for permutation in [permutation, from_end] {
                let expression = format!("transpose({}, {permutation:?})", x.0);
                program.case(
                    expression,
                    transpose(x.1, Permutation::Written(&permutation)),
                    "transpose",
                    &[name(x)],
                );
            }
        }
    }
    program.check();
}

fn permutations(rank: usize) -> Vec<Vec<i64>> {
    let positions: Vec<i64> = (0..rank as i64).collect();
    let mut permutations = lists(rank, &positions);
    permutations.retain(|list| positions.iter().all(|position| list.contains(position)));
    permutations
}

#[test]
fn permutations_name_each_axis_once() {
    let mut program = Program::new(samples().iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        let rank = x.1.rank() as i64;
        let axes: Vec<i64> = (-rank - 1..=rank).collect();
        let length = x.1.rank().min(3) + 1;
        for permutation in lists_up_to(length, &axes) {
            let expression = format!("transpose({}, {permutation:?})", x.0);
            program.case(
                expression,
                transpose(x.1, Permutation::Written(&permutation)),
                "transpose",
                &[name(x)],
            );
        }
    }
    program.check();
}

#[test]
fn axes_are_added() {
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        let rank = x.1.rank() as i64;
        let axes: Vec<i64> = (-rank - 3..=rank + 2).collect();
        for axes in lists_up_to(2, &axes) {
            let expression = format!("expand_dims({}, {axes:?})", x.0);
            program.case(expression, expand_dims(x.1, &axes), "expand_dims", &[name(x)]);
        }
        for axis in axes {
            let expression = format!("expand_dims({}, axis = {axis})", x.0);
            program.case(expression, expand_dims(x.1, &[axis]), "expand_dims", &[name(x)]);
        }
    }
    program.check();
}

#[test]
fn axes_of_extent_one_are_removed() {
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        program.case(format!("squeeze({})", x.0), squeeze(x.1, None), "squeeze", &[name(x)]);
        let rank = x.1.rank() as i64;
        let axes: Vec<i64> = (-rank - 1..=rank).collect();
        let ones: Vec<i64> = (0..rank).filter(|axis| x.1.extent(*axis as usize) == 1).collect();
        let backwards: Vec<i64> = (0..rank).rev().collect();
        for axes in [lists_up_to(2, &axes), vec![ones, backwards]].concat() {
            let expression = format!("squeeze({}, axes = {axes:?})", x.0);
            program.case(expression, squeeze(x.1, Some(&axes)), "squeeze", &[name(x)]);
        }
    }
    program.check();
}

#[test]
fn operands_broadcast_to_shapes() {
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        for shape in shapes().into_iter().chain(lists_up_to(2, &[-1, 0, 2])) {
            let answer = broadcast_to(x.1, &shape);
            let label = "broadcast_to";
            program.case(format!("{label}({}, {shape:?})", x.0), answer, label, &[name(x)]);
        }
        for shape in lists_up_to(2, &[0, 1, 2, 3]) {
            let answer = broadcast_to(x.1, &shape);
            program.case(format!("full({shape:?}, {})", x.0), answer, "full", &[name(x)]);
        }
    }
    program.check();
}

#[test]
fn element_types_pass_through() {
    let types = DType::ALL.map(|dtype| Type::new(dtype, &[2, 1]));
    let mut program = Program::new(types);
    for x in &program.parameters() {
        program.case(format!("reshape({}, [2])", x.0), reshape(x.1, &[2]), "reshape", &[]);
        program.case(format!("{}.T", x.0), transpose(x.1, Permutation::Reversed), "transpose", &[]);
        program.case(format!("expand_dims({}, [0])", x.0), expand_dims(x.1, &[0]), "expand_dims", &[]);
        program.case(format!("squeeze({})", x.0), squeeze(x.1, None), "squeeze", &[]);
        program.case(
            format!("broadcast_to({}, [2, 2])", x.0),
            broadcast_to(x.1, &[2, 2]),
            "broadcast_to",
            &[],
        );
        program.case(format!("zeros_like({})", x.0), mind_shape::rules::like(x.1), "zeros_like", &[]);
    }
    assert_eq!(program.check(), [36, 0]);
}

#[test]
fn declared_types_are_those_found() {
    let types = DType::ALL.into_iter().flat_map(|dtype| {
        [&[][..], &[2], &[3], &[1, 2], &[2, 2], &[2, 3, 1]].map(|shape| Type::new(dtype, shape))
    });
    let mut program = Program::new(types);
    let parameters = program.parameters();
    for x in &parameters {
        for (_, expected) in &parameters {
            let expression = format!("{{ let z: {expected} = {}; z }}", x.0);
            program.case(expression, expect(x.1, *expected), "`z`", &[name(x)]);
        }
    }
    assert_eq!(program.check(), [36, 1260]);
}
