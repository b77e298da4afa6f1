//! Ranks and counts at the limits.

use mind_shape::rules::{
    Gives, Padding, Subscript, Takes, binary, broadcast_to, conv2d, expand_dims, filled, gather, matmul,
    reshape, slice, subscript,
};
use mind_shape::{DType, Type};

use super::support::{Program, f32s, name};

const HUGE: i64 = i64::MAX;
const ROOT: i64 = 3_037_000_500;

#[test]
fn results_beyond_the_limits_are_refused() {
    let types = [
        f32s(&[1; 8]),
        f32s(&[ROOT]),
        f32s(&[ROOT, 1]),
        f32s(&[1, ROOT]),
        Type::new(DType::I64, &[ROOT]),
        f32s(&[2, ROOT]),
        f32s(&[HUGE]),
        f32s(&[1, HUGE, 1, 1]),
        f32s(&[1, 2, 1, 1]),
        f32s(&[2, 1, 1, 1]),
        f32s(&[1, 1, 1, ROOT]),
        f32s(&[ROOT, 1, 1, 1]),
        Type::new(DType::I64, &[1; 8]),
    ];
    let mut program = Program::new(types);
    let parameters = program.parameters();
    let x = |position: usize| (parameters[position].1, name(&parameters[position]));
    let expand = |axes: &'static [i64]| (format!("expand_dims(x0, {axes:?})"), expand_dims(x(0).0, axes));
    for (expression, answer) in [expand(&[0]), expand(&[0, 1]), expand(&[9]), expand(&[-9]), expand(&[])] {
        program.case(expression, answer, "expand_dims", &[x(0).1]);
    }
    for shape in [&[1; 9][..], &[1; 8], &[1; 12], &[1, 1, 1, 1, 1, 1, 1, 1, 2], &[0; 9], &[2; 9]] {
        program.case(format!("reshape(x0, {shape:?})"), reshape(x(0).0, shape), "reshape", &[x(0).1]);
        program.case(
            format!("broadcast_to(x0, {shape:?})"),
            broadcast_to(x(0).0, shape),
            "broadcast_to",
            &[x(0).1],
        );
        program.case(format!("sum(x0) + zeros({shape:?})"), filled(DType::F32, shape), "zeros", &[]);
    }
    for shape in
        [&[ROOT, ROOT][..], &[HUGE, 2], &[HUGE, HUGE, 0], &[HUGE, 1], &[HUGE, -1], &[HUGE, 2, -1], &[0, -1]]
    {
        program.case(format!("reshape(x1, {shape:?})"), reshape(x(1).0, shape), "reshape", &[x(1).1]);
        program.case(format!("reshape(x6, {shape:?})"), reshape(x(6).0, shape), "reshape", &[x(6).1]);
        program.case(
            format!("broadcast_to(sum(x1), {shape:?})"),
            broadcast_to(f32s(&[]), shape),
            "broadcast_to",
            &[mind_shape::Operand::new("`sum(x1)`", "sum(x1)", f32s(&[]))],
        );
        program.case(format!("sum(x0) + zeros({shape:?})"), filled(DType::F32, shape), "zeros", &[]);
    }
    let pairs = |a: usize, b: usize| ((x(a).0, x(b).0), [x(a).1, x(b).1]);
    for (a, b) in [(2, 3), (3, 2), (2, 5), (5, 3), (5, 1), (0, 1), (10, 11)] {
        let ((lhs, rhs), operands) = pairs(a, b);
        program.case(
            format!("x{a} * x{b}"),
            binary(Takes::Numbers, Gives::Operand, lhs, rhs),
            "*",
            &operands,
        );
        program.case(format!("matmul(x{a}, x{b})"), matmul(lhs, rhs), "matmul", &operands);
    }
    for (a, b) in [(0, 4), (0, 12), (3, 4), (5, 4), (1, 12), (2, 12)] {
        let ((table, indices), operands) = pairs(a, b);
        program.case(format!("gather(x{a}, x{b})"), gather(table, indices), "gather", &operands);
    }
    program.check();
}

#[test]
fn arithmetic_on_extents_does_not_overflow() {
    let types = [f32s(&[HUGE]), f32s(&[3]), f32s(&[1, HUGE, 1, 1]), f32s(&[1, 2, 1, 1]), f32s(&[2, 1, 1, 1])];
    let mut program = Program::new(types);
    let parameters = program.parameters();
    let numbers = [i64::MIN + 1, -HUGE, -3, -1, 0, 1, 2, 3, HUGE - 1, HUGE];
    for x in &parameters[..2] {
        for start in numbers {
            program.case(
                format!("{}[{start}]", x.0),
                subscript(x.1, &[Subscript::At(start)]),
                "index",
                &[name(x)],
            );
            for end in numbers {
                for step in [1, 2, HUGE] {
                    let range = Subscript::Range { start: Some(start), end: Some(end), step: Some(step) };
                    let answer = subscript(x.1, &[range]);
                    program.case(format!("{}[{start}..{end};{step}]", x.0), answer, "index", &[name(x)]);
                    let answer = slice(x.1, &[start], &[end], Some(&[step]));
                    let expression = format!("slice({}, [{start}], [{end}], [{step}])", x.0);
                    program.case(expression, answer, "slice", &[name(x)]);
                }
            }
        }
    }
    for (image, filter) in [(2, 3), (3, 4), (3, 2), (2, 4), (3, 3)] {
        let (x, f) = (&parameters[image], &parameters[filter]);
        for stride in [1, 2, 3, HUGE - 1, HUGE] {
            let strides = [stride, 1];
            for zeros in [0, 1, HUGE - 1, HUGE] {
                let pairs = [[zeros, 1], [1, 0]];
                let answer = conv2d(x.1, f.1, &strides, Padding::Pairs(&pairs));
                let of = format!("{}, {}, strides = [{stride}, 1]", x.0, f.0);
                let operands = [name(x), name(f)];
                program.case(format!("conv2d({of}, padding = {pairs:?})"), answer, "conv2d", &operands);
            }
            for (padding, written) in [(Padding::Same, "same"), (Padding::Valid, "valid")] {
                let answer = conv2d(x.1, f.1, &strides, padding);
                let expression =
                    format!("conv2d({}, {}, strides = {strides:?}, padding = {written})", x.0, f.0);
                program.case(expression, answer, "conv2d", &[name(x), name(f)]);
            }
        }
    }
    program.check();
}
