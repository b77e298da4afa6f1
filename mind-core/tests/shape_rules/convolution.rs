use mind_shape::rules::{Padding, conv2d};
use mind_shape::{DType, Type};

use super::support::{Program, f32s, lists, lists_up_to, name, samples, shapes, shapes_of_rank};

fn case(
    program: &mut Program,
    (x, f): (&(String, Type), &(String, Type)),
    strides: &[i64],
    padding: Padding<'_>,
) {
    let written = match padding {
        Padding::Valid => "valid".to_owned(),
        Padding::Same => "same".to_owned(),
        Padding::Pairs(pairs) => format!("{pairs:?}"),
    };
    let expression = format!("conv2d({}, {}, strides = {strides:?}, padding = {written})", x.0, f.0);
    program.case(expression, conv2d(x.1, f.1, strides, padding), "conv2d", &[name(x), name(f)]);
}

const PADDINGS: [Padding<'_>; 6] = [
    Padding::Valid,
    Padding::Same,
    Padding::Pairs(&[[0, 0], [0, 0]]),
    Padding::Pairs(&[[1, 0], [0, 2]]),
    Padding::Pairs(&[[0, 3], [1, 1]]),
    Padding::Pairs(&[[1, 1], [1, 0]]),
];

const STRIDES: [[i64; 2]; 5] = [[1, 1], [1, 2], [2, 1], [2, 3], [4, 4]];

/// Every image with every filter. Strides and padding alternate.
#[test]
fn images_and_filters() {
    let types = shapes_of_rank(4).into_iter().flat_map(|shape| [f32s(&shape); 2]);
    let mut program = Program::new(types);
    let parameters = program.parameters();
    let mut turn = 0;
    for image in parameters.iter().step_by(2) {
        for filter in parameters.iter().skip(1).step_by(2) {
            turn += 1;
            let (strides, padding) = (STRIDES[turn % STRIDES.len()], PADDINGS[turn % PADDINGS.len()]);
            case(&mut program, (image, filter), &strides, padding);
        }
    }
    program.check();
}

/// All images and windows with extents 1 to 3, with all strides and paddings.
#[test]
fn windows_and_steps() {
    let spatial = lists(4, &[1, 2, 3]);
    let types = spatial.iter().flat_map(|s| [f32s(&[2, s[0], s[1], 1]), f32s(&[s[2], s[3], 1, 3])]);
    let mut program = Program::new(types);
    for pair in program.parameters().chunks_exact(2) {
        for strides in lists(2, &[1, 2, 3, 4]) {
            for padding in PADDINGS {
                case(&mut program, (&pair[0], &pair[1]), &strides, padding);
            }
        }
    }
    program.check();
}

#[test]
fn strides_and_padding_are_two() {
    let mut program = Program::new([f32s(&[1, 3, 3, 1]), f32s(&[2, 2, 1, 1])]);
    let parameters = program.parameters();
    let operands = (&parameters[0], &parameters[1]);
    for strides in lists_up_to(3, &[-1, 0, 1, 2]) {
        case(&mut program, operands, &strides, Padding::Valid);
        case(&mut program, operands, &strides, Padding::Pairs(&[[0, -1], [0, 0]]));
    }
    for pairs in lists_up_to(3, &[[0, 0], [1, 0], [-1, 0], [0, -2]]) {
        // The language does not treat an empty list as a list of pairs.
        if !pairs.is_empty() {
            case(&mut program, operands, &[1, 1], Padding::Pairs(&pairs));
        }
    }
    program.check();
}

#[test]
fn images_and_filters_have_rank_four() {
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    let parameters = program.parameters();
    for image in &parameters {
        for filter in &parameters {
            if image.1.rank() != 4 || filter.1.rank() != 4 {
                case(&mut program, (image, filter), &[1, 1], Padding::Valid);
            }
        }
    }
    program.check();
}

#[test]
fn images_and_filters_have_one_element_type() {
    let shapes = [samples(), vec![vec![1, 3, 3, 2], vec![2, 2, 2, 1], vec![2, 2, 3, 1]]].concat();
    let types =
        DType::ALL.into_iter().flat_map(|dtype| shapes.iter().map(move |shape| Type::new(dtype, shape)));
    let mut program = Program::new(types);
    let parameters = program.parameters();
    for image in &parameters {
        for filter in &parameters {
            case(&mut program, (image, filter), &[1, 1], Padding::Valid);
        }
    }
    program.check();
}
