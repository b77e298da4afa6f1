//! Compares `tile`, `repeat`, `split`, `pad` and slices with steps with their definitions: for each axis, the position
//! in the operand of each position of the result. Results and gradients are compared in functions, and results in
//! expressions. All numbers are small integers, so they are exact.

use mind_core::{
    interp::{Array, Elements},
    testing::Random,
    ty::{DType, Shape, Type},
};

use crate::library::support::{compiled, expression, floats, run, with_gradients};

/// For each axis of a result, the positions in the operand. `None` is a number that the function adds.
type Positions = Vec<Vec<Option<usize>>>;

/// Compares a call on `x` with its positions. `added` is the number that it adds.
#[track_caller]
fn check(call: &str, shape: &[usize], positions: &[Vec<Option<usize>>], added: f64) {
    check_function(call, shape, positions, added);
    let (x, expected) = (numbers(shape), defined(shape, &numbers(shape), positions, added));
    let extents: Vec<i64> = shape.iter().map(|extent| *extent as i64).collect();
    let leaves = [("x".to_owned(), Type::new(DType::F64, Shape::literal(&extents)))];
    let (module, _) = expression("num", call, &leaves).unwrap_or_else(|why| panic!("{call}: {why}"));
    let found = run(&module, &[floats(DType::F64, shape, &x)]);
    assert_eq!(
        (floats_of(&found[0]), &found[0].shape),
        (expected, &lengths(positions)),
        "{call} without types"
    );
}

/// As [`check`], in functions alone.
#[track_caller]
fn check_function(call: &str, shape: &[usize], positions: &[Vec<Option<usize>>], added: f64) {
    let x = numbers(shape);
    let (expected, result) = (defined(shape, &x, positions, added), lengths(positions));
    let program = format!("fn f(x: f64{shape:?}) -> f64{result:?} {{ {call} }}");
    let module = compiled("num", &program);
    let mut random = Random::new(1);
    let cotangent: Vec<f64> = expected.iter().map(|_| random.below(7) as f64 - 3.0).collect();
    let found =
        with_gradients(&module, &[floats(DType::F64, shape, &x)], &[floats(DType::F64, &result, &cotangent)]);
    assert_eq!(floats_of(&found[0]), expected, "{call}");
    let mut gradient = vec![0.0; x.len()];
    for (number, from) in sources(shape, positions).into_iter().enumerate() {
        if let Some(from) = from {
            gradient[from] += cotangent[number];
        }
    }
    assert_eq!(floats_of(&found[1]), gradient, "gradient of {call}");
}

fn numbers(shape: &[usize]) -> Vec<f64> {
    (0..shape.iter().product()).map(|number| number as f64 + 1.0).collect()
}

fn lengths(positions: &[Vec<Option<usize>>]) -> Vec<usize> {
    positions.iter().map(Vec::len).collect()
}

/// The element of the operand at each element of the result.
fn sources(shape: &[usize], positions: &[Vec<Option<usize>>]) -> Vec<Option<usize>> {
    let mut sources = vec![Some(0)];
    for (extent, positions) in shape.iter().zip(positions) {
        let next = |from: Option<usize>| positions.iter().map(move |at| Some(from? * extent + (*at)?));
        sources = sources.into_iter().flat_map(next).collect();
    }
    sources
}

fn defined(shape: &[usize], x: &[f64], positions: &[Vec<Option<usize>>], added: f64) -> Vec<f64> {
    sources(shape, positions).into_iter().map(|from| from.map_or(added, |from| x[from])).collect()
}

fn floats_of(array: &Array) -> Vec<f64> {
    match &array.elements {
        Elements::F64(numbers) => numbers.clone(),
        other => panic!("{other:?}"),
    }
}

fn whole(extent: usize) -> Vec<Option<usize>> {
    (0..extent).map(Some).collect()
}

#[test]
fn tiles_are_copies_of_the_whole_tensor() {
    let tiled = |extent: usize, count: usize| (0..extent * count).map(|at| Some(at % extent)).collect();
    check("tile(x, [2, 3])", &[2, 3], &[tiled(2, 2), tiled(3, 3)], 0.0);
    check("tile(x, [1, 4, 1])", &[2, 3, 2], &[whole(2), tiled(3, 4), whole(2)], 0.0);
    check("tile(x, [3])", &[1], &[tiled(1, 3)], 0.0);
    let eight: Positions = (0..8).map(|axis| tiled(1 + axis % 2, 2 - axis % 2)).collect();
    check("tile(x, [2, 1, 2, 1, 2, 1, 2, 1])", &[1, 2, 1, 2, 1, 2, 1, 2], &eight, 0.0);
}

#[test]
fn repeats_are_copies_of_each_element() {
    let repeated = |extent: usize, count: usize| (0..extent * count).map(|at| Some(at / count)).collect();
    check("repeat(x, 3, axis = -1)", &[2, 3], &[whole(2), repeated(3, 3)], 0.0);
    check("repeat(x, 2, axis = -2)", &[2, 3], &[repeated(2, 2), whole(3)], 0.0);
    check_function("repeat(x, 2, axis = 1)", &[2, 3, 2], &[whole(2), repeated(3, 2), whole(2)], 0.0);
    check_function("repeat(x, 4, axis = 0)", &[3], &[repeated(3, 4)], 0.0);
}

#[test]
fn parts_are_ranges_of_an_axis() {
    let range = |start: usize, end: usize| (start..end).map(Some).collect();
    for part in 0..3 {
        let call = format!("split(x, 3, axis = -1).{part}");
        check(&call, &[2, 6], &[whole(2), range(2 * part, 2 * part + 2)], 0.0);
    }
    for (part, (start, end)) in [(0, 1), (1, 4), (4, 5)].into_iter().enumerate() {
        let call = format!("split(x, [1, -1], axis = 0).{part}");
        check(&call, &[5, 2], &[range(start, end), whole(2)], 0.0);
    }
    check("split(x, 1, axis = -1)", &[4], &[whole(4)], 0.0);
}

#[test]
fn padding_continues_a_tensor() {
    type Position = fn(i64, i64) -> Option<i64>;
    let modes: [(&str, Position, f64); 6] = [
        ("", |at, extent| (0..extent).contains(&at).then_some(at), 0.0),
        (", value = 7.0", |at, extent| (0..extent).contains(&at).then_some(at), 7.0),
        (", mode = \"edge\"", |at, extent| Some(at.clamp(0, extent - 1)), 0.0),
        (", mode = \"wrap\"", |at, extent| Some(at.rem_euclid(extent)), 0.0),
        (
            ", mode = \"reflect\"",
            |at, extent| {
                Some(if at < 0 {
                    -at
                } else if at < extent {
                    at
                } else {
                    2 * extent - 2 - at
                })
            },
            0.0,
        ),
        (
            ", mode = \"symmetric\"",
            |at, extent| {
                Some(if at < 0 {
                    -1 - at
                } else if at < extent {
                    at
                } else {
                    2 * extent - 1 - at
                })
            },
            0.0,
        ),
    ];
    for (mode, position, added) in modes {
        let padded = |extent: i64, low: i64, high: i64| -> Vec<Option<usize>> {
            (-low..extent + high).map(|at| position(at, extent).map(|at| at as usize)).collect()
        };
        let call = |low: &str, high: &str| format!("pad(x, {low}, {high}{mode})");
        check(&call("[1, 0]", "[2, 3]"), &[3, 4], &[padded(3, 1, 2), padded(4, 0, 3)], added);
        check(&call("[0, 0, 2]", "[0, 0, 0]"), &[2, 1, 3], &[whole(2), whole(1), padded(3, 2, 0)], added);
    }
}

#[test]
fn interior_padding_is_between_elements() {
    let spaced = |extent: usize, step: usize, low: usize, high: usize| -> Vec<Option<usize>> {
        let between = (0..(extent - 1) * step + 1).map(|at| (at % step == 0).then_some(at / step));
        std::iter::repeat_n(None, low).chain(between).chain(std::iter::repeat_n(None, high)).collect()
    };
    let positions = [spaced(2, 3, 1, 0), spaced(3, 1, 0, 2), spaced(4, 2, 0, 0)];
    check("pad(x, [1, 0, 0], [0, 2, 0], interior = [2, 0, 1])", &[2, 3, 4], &positions, 0.0);
    check("pad(x, [1, 0, 0], [0, 2, 0], value = -2.0, interior = [2, 0, 1])", &[2, 3, 4], &positions, -2.0);
}

#[test]
fn steps_below_0_go_back_from_the_end_of_a_range() {
    let back = |range: std::ops::Range<usize>, step: usize| range.rev().step_by(step).map(Some).collect();
    check("x[..;-1]", &[4], &[back(0..4, 1)], 0.0);
    check("x[..;-1, ..;-2]", &[3, 5], &[back(0..3, 1), back(0..5, 2)], 0.0);
    check("x[1..4;-2]", &[6], &[back(1..4, 2)], 0.0);
    check("x[-3..;-1]", &[6], &[back(3..6, 1)], 0.0);
    check("x[.., 1..;-3]", &[2, 3, 8], &[whole(2), whole(3), back(1..8, 3)], 0.0);
    check("x[0..2, ..;-9223372036854775808]", &[3, 4], &[(0..2).map(Some).collect(), back(3..4, 1)], 0.0);
}
