//! Unknown extents: the answers given before extents are known remain true for all possible values.

use mind_shape::rules::{
    self, Gives, LATER, Padding, Permutation, Subscript, Takes, as_bound, binary, broadcast_like,
    broadcast_to, concat, conv2d, dot, expand_dims, expect, floored, gather, matmul, product_grad_lhs,
    reduce, reshape, reshape_like, same_shape_binary, slice, squeeze, stack, subscript, sum, sum_like, times,
    transpose, unary,
};
use mind_shape::{DType, Type, TypeResult, UNKNOWN};

use super::support::{f32s, lists, lists_up_to};

const EXTENTS: [i64; 3] = [UNKNOWN, 1, 2];

/// Every type that a type with unknown extents can become, for extents up to 3.
fn completions(ty: Type) -> Vec<Type> {
    let axis = |extent: &i64| if *extent == UNKNOWN { vec![1, 2, 3] } else { vec![*extent] };
    let lists = ty.dims().iter().map(axis).fold(vec![vec![]], |lists: Vec<Vec<i64>>, extents| {
        let longer = |list: &Vec<i64>| {
            extents.iter().map(|extent| [&list[..], &[*extent]].concat()).collect::<Vec<_>>()
        };
        lists.iter().flat_map(longer).collect()
    });
    lists.iter().map(|dims| Type::new(ty.dtype(), dims)).collect()
}

/// Whether `open` can become this type.
fn completes(ty: Type, open: Type) -> bool {
    let agrees = |(known, open): (&i64, &i64)| known == open || *open == UNKNOWN;
    ty.rank() == open.rank() && ty.dtype() == open.dtype() && ty.dims().iter().zip(open.dims()).all(agrees)
}

/// Checks a rule before and after extents are known. A refusal must remain a refusal, for the same reason or an earlier
/// one. An accepted type must keep its rank and known extents. At least one completion of an accepted type must be
/// accepted.
fn check<'a, const N: usize>(operands: [Type; N], rule: impl Fn([Type; N]) -> TypeResult<'a>) {
    let open = rule(operands);
    let complete = operands.map(completions);
    let mut accepted = 0;
    let mut chosen = [0; N];
    loop {
        let types: [Type; N] = std::array::from_fn(|operand| complete[operand][chosen[operand]]);
        match (open, rule(types)) {
            (Ok(open), Ok(ty)) => {
                accepted += 1;
                assert!(completes(ty, open), "{operands:?} gave {open}, {types:?} gives {ty}");
            }
            (Err(_), Ok(ty)) => panic!("{operands:?} was refused, {types:?} gives {ty}"),
            (Ok(_) | Err(_), Err(_)) => {}
        }
        let next = (0..N).find(|operand| chosen[*operand] + 1 < complete[*operand].len());
        let Some(next) = next else { break };
        chosen[next] += 1;
        chosen[..next].fill(0);
    }
    // With all extents known, the rule must give its final answer immediately.
    if operands.iter().all(Type::is_static) {
        assert_eq!(accepted, usize::from(open.is_ok()));
    }
}

fn types(rank: usize) -> Vec<Type> {
    lists_up_to(rank, &EXTENTS).iter().map(|dims| f32s(dims)).collect()
}

fn concat_of<'a>(parts: [Type; 2], axis: i64) -> TypeResult<'a> {
    concat(&parts, axis)
}

fn stack_of<'a>(parts: [Type; 2], axis: i64) -> TypeResult<'a> {
    stack(&parts, axis)
}

#[test]
fn operators_and_products() {
    for a in types(3) {
        check([a], |[a]| unary(Takes::Floats, Gives::Operand, a));
        for b in types(3) {
            check([a, b], |[a, b]| binary(Takes::Floats, Gives::Operand, a, b));
            check([a, b], |[a, b]| rules::at(a, b));
            check([a, b], |[a, b]| dot(a, b));
            check([a, b], |[a, b]| matmul(a, b));
            check([a, b], |[a, b]| same_shape_binary(Takes::Floats, a, b));
            check([a, b], |[a, b]| sum_like(a, b));
            check([a, b], |[a, b]| broadcast_like(a, b));
            check([a, b], |[a, b]| reshape_like(a, b));
            check([a, b], |[a, b]| expect(a, b));
            check([a, b], |[a, b]| gather(a, b.with_dtype(DType::I32)));
            for axis in [-1, 0, 1] {
                check([a, b], |parts| concat_of(parts, axis));
                check([a, b], |parts| stack_of(parts, axis));
            }
        }
    }
}

#[test]
fn products_backwards() {
    for (a, b) in types(2).into_iter().flat_map(|a| types(2).into_iter().map(move |b| (a, b))) {
        for dy in types(2) {
            check([dy, a, b], |[dy, a, b]| product_grad_lhs(dy, a, b));
        }
    }
}

#[test]
fn reductions_and_arrangements() {
    for x in types(3) {
        let axes = lists_up_to(2, &[-3, -1, 0, 1, 2]);
        for axes in &axes {
            check([x], |[x]| reduce(Takes::Numbers, x, Some(axes), true));
            check([x], |[x]| reduce(Takes::Numbers, x, Some(axes), false));
            check([x], |[x]| expand_dims(x, axes));
            check([x], |[x]| squeeze(x, Some(axes)));
            check([x], |[x]| transpose(x, Permutation::Written(axes)));
        }
        check([x], |[x]| transpose(x, Permutation::Reversed));
        check([x], |[x]| transpose(x, Permutation::Matrices));
        check([x], |[x]| transpose(x, Permutation::Moved { from: 0, to: -1 }));
        for shape in lists_up_to(3, &[-1, 0, 1, 2, 3]) {
            check([x], |[x]| reshape(x, &shape));
            check([x], |[x]| broadcast_to(x, &shape));
        }
    }
}

#[test]
fn index_expressions_and_slices() {
    let bounds = [None, Some(-3), Some(-2), Some(-1), Some(0), Some(1), Some(2), Some(4)];
    let mut subscripts: Vec<_> = (-3..=3).map(Subscript::At).collect();
    for start in bounds {
        for end in bounds {
            subscripts.extend([None, Some(2)].map(|step| Subscript::Range { start, end, step }));
        }
    }
    for taken in &subscripts {
        for x in types(2) {
            check([x], |[x]| subscript(x, &[*taken]));
            check([x], |[x]| subscript(x, &[Subscript::Rest, *taken]));
        }
    }
    for starts in lists_up_to(2, &[-1, 0, 1, 2]) {
        for ends in lists(starts.len(), &[0, 1, 3, 4]) {
            for x in types(2) {
                check([x], |[x]| slice(x, &starts, &ends, None));
            }
        }
    }
}

/// Every list of bounds that a list with unknown bounds can become.
fn known_bounds(bounds: &[i64]) -> Vec<Vec<i64>> {
    let lists = bounds.iter().map(|bound| if *bound == LATER { (-4..=4).collect() } else { vec![*bound] });
    lists.fold(vec![vec![]], |lists: Vec<Vec<i64>>, numbers: Vec<i64>| {
        let longer = |list: &Vec<i64>| {
            numbers.iter().map(|number| [&list[..], &[*number]].concat()).collect::<Vec<_>>()
        };
        lists.iter().flat_map(longer).collect()
    })
}

/// Checks that the answer before bounds are known remains true for all values. Returns how many values are accepted.
fn check_bounds<'a>(x: Type, bounds: &[i64], rule: impl Fn(Type, &[i64]) -> TypeResult<'a>) -> usize {
    let open = rule(x, bounds);
    let mut accepted = 0;
    for numbers in known_bounds(bounds) {
        match (open, rule(x, &numbers)) {
            (Ok(open), Ok(ty)) => {
                accepted += 1;
                assert!(completes(ty, open), "{x} by {bounds:?} gave {open}, by {numbers:?} gives {ty}");
            }
            (Err(_), Ok(ty)) => panic!("{x} by {bounds:?} was refused, by {numbers:?} gives {ty}"),
            (Ok(_) | Err(_), Err(_)) => {}
        }
        check([x], |[x]| rule(x, bounds));
    }
    accepted
}

#[test]
fn bounds_that_are_not_known_yet() {
    const BOUNDS: [i64; 7] = [LATER, -3, -1, 0, 1, 3, 4];
    let range =
        |bounds: &[i64], step| Subscript::Range { start: Some(bounds[0]), end: Some(bounds[1]), step };
    for x in types(2).into_iter().chain([f32s(&[3]), f32s(&[2, 3])]) {
        for bounds in lists(2, &BOUNDS) {
            for step in [None, Some(2)] {
                check_bounds(x, &bounds, |x, bounds| subscript(x, &[range(bounds, step)]));
                check_bounds(x, &bounds, |x, bounds| subscript(x, &[Subscript::Rest, range(bounds, step)]));
            }
            let from = |x, bounds: &[i64]| {
                let range = Subscript::Range { start: Some(bounds[0]), end: None, step: None };
                subscript(x, &[range, Subscript::At(bounds[1])])
            };
            check_bounds(x, &bounds, from);
            check_bounds(x, &bounds, |x, bounds| slice(x, &bounds[..1], &bounds[1..], None));
        }
        for bounds in lists(4, &[LATER, 0, 2]) {
            check_bounds(x, &bounds, |x, bounds| slice(x, &bounds[..2], &bounds[2..], Some(&[1, 2])));
        }
    }
    // An unknown bound is refused neither too early nor always. A bound that is outside for all values is refused
    // immediately.
    let x = f32s(&[3]);
    assert_eq!(check_bounds(x, &[LATER, LATER], |x, bounds| slice(x, &bounds[..1], &bounds[1..], None)), 6);
    assert_eq!(check_bounds(x, &[LATER], |x, bounds| subscript(x, &[Subscript::At(bounds[0])])), 6);
    assert_eq!(slice(x, &[LATER], &[LATER], None), Ok(f32s(&[UNKNOWN])));
    assert_eq!(slice(x, &[LATER], &[4], None).unwrap_err().code(), "E3011");
    assert_eq!(slice(x, &[-1], &[LATER], None).unwrap_err().code(), "E3011");
    assert_eq!(subscript(x, &[range(&[LATER, 4], None)]).unwrap_err().code(), "E3011");
    assert_eq!(slice(x, &[LATER], &[LATER], Some(&[0])).unwrap_err().code(), "E4008");
}

#[test]
fn numbers_that_leave_64_bits_are_outside_of_everything() {
    let large = Some(i64::MAX / 2);
    let beyond = times(large, Some(3));
    for number in [
        beyond,
        sum(beyond, Some(-5)),
        sum(beyond, times(beyond, Some(-1))),
        times(times(large, Some(-3)), Some(1)),
        times(beyond, Some(0)),
        floored(beyond, 1 << 40),
        Some(i64::MIN),
    ] {
        let bound = as_bound(number);
        assert_ne!(bound, LATER);
        for x in [f32s(&[3]), f32s(&[UNKNOWN])] {
            let range = Subscript::Range { start: None, end: Some(bound), step: None };
            assert!(x.dims() == [UNKNOWN] || subscript(x, &[range]).is_err(), "{number:?}");
            assert!(x.dims() == [UNKNOWN] || subscript(x, &[Subscript::At(bound)]).is_err(), "{number:?}");
            assert!(slice(x, &[bound], &[3], None).is_err(), "{number:?}");
        }
    }
}

#[test]
fn a_range_from_the_end_has_a_known_length() {
    let x = f32s(&[UNKNOWN]);
    let range = |start, end| subscript(x, &[Subscript::Range { start, end, step: None }]);
    assert_eq!(range(Some(-3), Some(-1)), Ok(f32s(&[2])));
    assert_eq!(range(Some(-3), None), Ok(f32s(&[3])));
    assert_eq!(range(Some(1), Some(4)), Ok(f32s(&[3])));
    assert_eq!(range(Some(1), None), Ok(x));
    assert_eq!(range(None, Some(-1)), Ok(x));
    let operands = [mind_shape::Operand::name("x", x)];
    let context = mind_shape::Context { label: "index", operands: &operands };
    assert_eq!(
        range(Some(-1), Some(-2)).unwrap_err().message(&context).as_str(),
        "[E3006] `index`: ? - 1..? - 2 in dimension 0 is empty: x is f32[?]\n  help: a range goes up, and excludes its end"
    );
}

#[test]
fn extents_that_are_known_are_kept() {
    let known = |answer: TypeResult<'_>| answer.unwrap().text().to_string();
    assert_eq!(known(binary(Takes::Numbers, Gives::Operand, f32s(&[UNKNOWN, 3]), f32s(&[3]))), "f32[?, 3]");
    assert_eq!(
        known(binary(Takes::Numbers, Gives::Operand, f32s(&[UNKNOWN, 1]), f32s(&[2, UNKNOWN]))),
        "f32[2, ?]"
    );
    assert_eq!(known(rules::at(f32s(&[UNKNOWN, 784]), f32s(&[784, 10]))), "f32[?, 10]");
    assert_eq!(known(rules::at(f32s(&[2, UNKNOWN]), f32s(&[784]))), "f32[2]");
    assert_eq!(known(reshape(f32s(&[UNKNOWN, 4]), &[-1, 2])), "f32[?, 2]");
    assert_eq!(known(reshape(f32s(&[UNKNOWN, 4]), &[3, 4])), "f32[3, 4]");
    assert_eq!(known(squeeze(f32s(&[UNKNOWN, 1]), None)), "f32[?]");
    assert_eq!(known(squeeze(f32s(&[UNKNOWN, 1]), Some(&[0]))), "f32[1]");
    assert_eq!(known(expect(f32s(&[UNKNOWN, 1]), f32s(&[2, UNKNOWN]))), "f32[2, 1]");
    assert_eq!(
        known(same_shape_binary(Takes::Floats, f32s(&[UNKNOWN, 1]), f32s(&[2, UNKNOWN]))),
        "f32[2, 1]"
    );
    assert_eq!(known(broadcast_like(f32s(&[3]), f32s(&[UNKNOWN, UNKNOWN]))), "f32[?, 3]");
}

#[test]
fn convolutions() {
    let spatial = lists(2, &[UNKNOWN, 2, 3]);
    for (image, filter) in spatial.iter().flat_map(|image| spatial.iter().map(move |filter| (image, filter)))
    {
        for channels in lists(2, &[UNKNOWN, 1, 2]) {
            let x = f32s(&[UNKNOWN, image[0], image[1], channels[0]]);
            let f = f32s(&[filter[0], filter[1], channels[1], 1]);
            for padding in [Padding::Valid, Padding::Same, Padding::Pairs(&[[1, 0], [0, 1]])] {
                check([x, f], |[x, f]| conv2d(x, f, &[1, 2], padding));
            }
        }
    }
}
