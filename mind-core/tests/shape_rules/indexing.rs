use mind_shape::rules::{Subscript, gather, slice, sliced, subscript, subscripted};
use mind_shape::{DType, Type, UNKNOWN};

use super::support::{Program, f32s, lists, lists_up_to, name, samples, shapes, shapes_of_rank};

type Triple = (i64, i64, i64);

fn slices(program: &mut Program, x: &(String, Type), triples: &[Triple]) {
    let starts: Vec<_> = triples.iter().map(|(start, _, _)| *start).collect();
    let ends: Vec<_> = triples.iter().map(|(_, end, _)| *end).collect();
    let steps: Vec<_> = triples.iter().map(|(_, _, step)| *step).collect();
    slice_of(program, x, (&starts, &ends, Some(&steps)));
}

fn slice_of(
    program: &mut Program,
    x: &(String, Type),
    (starts, ends, steps): (&[i64], &[i64], Option<&[i64]>),
) {
    let written = steps.map(|steps| format!(", steps = {steps:?}")).unwrap_or_default();
    let expression = format!("slice({}, starts = {starts:?}, ends = {ends:?}{written})", x.0);
    program.case(expression, slice(x.1, starts, ends, steps), "slice", &[name(x)]);
}

#[test]
fn slices_are_within_the_extents() {
    let mut triples: Vec<Triple> = Vec::new();
    for start in -1..=4 {
        for end in -1..=4 {
            triples.extend((-1..=4).map(|step| (start, end, step)));
        }
    }
    let some = [
        (0, 1, 1),
        (0, 3, 2),
        (1, 2, 3),
        (0, 2, 1),
        (2, 3, 1),
        (3, 3, 1),
        (1, 1, 1),
        (-1, 1, 1),
        (0, 9, 1),
        (0, 1, 0),
    ];
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        let triples = match x.1.rank() {
            1 => &triples[..],
            0 | 2 => &some,
            3 => &some[..5],
            _ => &some[..2],
        };
        for triples in lists(x.1.rank(), triples) {
            slices(&mut program, x, &triples);
        }
    }
    program.check();
}

#[test]
fn slices_have_an_entry_an_axis() {
    let mut program = Program::new(samples().iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        for starts in 0..=5 {
            for ends in 0..=5 {
                let (starts, ends) = (vec![0; starts], vec![1; ends]);
                slice_of(&mut program, x, (&starts, &ends, None));
                for steps in 0..=5 {
                    slice_of(&mut program, x, (&starts, &ends, Some(&vec![1; steps])));
                }
            }
        }
    }
    program.check();
}

fn subscripts(program: &mut Program, x: &(String, Type), subscripts: &[Subscript]) {
    let written: Vec<_> = subscripts.iter().map(written).collect();
    let expression = format!("{}[{}]", x.0, written.join(", "));
    program.case(expression, subscript(x.1, subscripts), "index", &[name(x)]);
}

fn written(subscript: &Subscript) -> String {
    let bound = |bound: &Option<i64>| bound.map(|bound| bound.to_string()).unwrap_or_default();
    match subscript {
        Subscript::At(index) => index.to_string(),
        Subscript::Range { start, end, step } => {
            let step = step.map(|step| format!(";{step}")).unwrap_or_default();
            format!("{}..{}{step}", bound(start), bound(end))
        }
        Subscript::Rest => "..".to_owned(),
    }
}

fn range(start: Option<i64>, end: Option<i64>, step: Option<i64>) -> Subscript {
    Subscript::Range { start, end, step }
}

/// Every index and range with bounds around the extents 1 to 3.
fn all_of_an_axis() -> Vec<Subscript> {
    let bounds: Vec<_> = [None].into_iter().chain((-4..=4).map(Some)).collect();
    let mut all: Vec<_> = (-4..=4).map(Subscript::At).collect();
    for start in &bounds {
        for end in &bounds {
            // A range with a step below 0 is another operation on the range.
            for step in [None, Some(0), Some(1), Some(2), Some(3)] {
                if (start, end, step) != (&None, &None, None) {
                    all.push(range(*start, *end, step));
                }
            }
        }
    }
    all
}

fn some_of_an_axis() -> Vec<Subscript> {
    let mut some: Vec<_> = [0, -1, 1, 2, -2].map(Subscript::At).into();
    some.extend([
        range(Some(1), None, None),
        range(None, Some(-1), None),
        range(None, None, Some(2)),
        range(Some(0), Some(1), None),
        range(Some(-2), None, Some(1)),
        range(Some(2), Some(1), None),
        range(None, Some(4), None),
        range(Some(0), Some(2), Some(0)),
    ]);
    some
}

#[test]
fn indices_and_ranges_of_an_axis() {
    let mut program = Program::new(shapes_of_rank(1).iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        for taken in all_of_an_axis() {
            subscripts(&mut program, x, &[taken]);
        }
    }
    assert_eq!(program.check(), [217, 1_307]);
}

/// The position of a bound, which may count from the end.
fn position(bound: i64, extent: i64) -> i64 {
    if bound < 0 { extent + bound } else { bound }
}

#[test]
fn what_is_taken_of_an_axis_are_the_positions_that_are_written() {
    for extent in 1..=4 {
        for written in all_of_an_axis() {
            let Ok(taken) = subscripted(f32s(&[2, extent]), &[Subscript::Rest, written]) else { continue };
            let found: Vec<_> = (0..taken[1].extent).map(|i| taken[1].start + i * taken[1].step).collect();
            let expected: Vec<_> = match written {
                Subscript::At(index) => vec![position(index, extent)],
                Subscript::Range { start, end, step } => {
                    let start = start.map_or(0, |start| position(start, extent));
                    let end = end.map_or(extent, |end| position(end, extent));
                    (start..end).step_by(usize::try_from(step.unwrap_or(1)).unwrap()).collect()
                }
                Subscript::Rest => unreachable!("it is not among them"),
            };
            assert_eq!(found, expected, "{written:?} of {extent}");
            assert_eq!(taken[1].dropped, matches!(written, Subscript::At(_)));
            assert_eq!((taken[0].start, taken[0].extent, taken[0].step, taken[0].dropped), (0, 2, 1, false));
        }
        for (start, end, step) in [(0, 1, 1), (1, 3, 1), (0, 4, 3), (3, 4, 2), (1, 4, 2)] {
            let Ok(taken) = sliced(f32s(&[extent]), &[start], &[end], Some(&[step])) else { continue };
            let found: Vec<_> = (0..taken[0].extent).map(|i| taken[0].start + i * taken[0].step).collect();
            let expected: Vec<_> = (start..end).step_by(usize::try_from(step).unwrap()).collect();
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn where_a_part_of_an_unknown_axis_begins_is_known_only_from_its_start() {
    for written in all_of_an_axis() {
        let Ok(taken) = subscripted(f32s(&[UNKNOWN]), &[written]) else { continue };
        let first = match written {
            Subscript::At(first) => first,
            Subscript::Range { start, .. } => start.unwrap_or(0),
            Subscript::Rest => unreachable!("it is not among them"),
        };
        assert_eq!(taken[0].start, if first < 0 { UNKNOWN } else { first }, "{written:?}");
    }
}

#[test]
fn indices_and_ranges_of_several_axes() {
    let some = some_of_an_axis();
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        let some = match x.1.rank() {
            0..=2 => &some[..],
            3 => &some[..8],
            _ => &[Subscript::At(-1), range(None, Some(-1), None), range(Some(0), None, Some(2))],
        };
        for taken in lists(x.1.rank(), some) {
            if !taken.is_empty() {
                subscripts(&mut program, x, &taken);
            }
        }
    }
    program.check();
}

#[test]
fn the_rest_is_taken_whole() {
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    for x in &program.parameters() {
        for taken in lists_up_to(2, &[Subscript::At(0), Subscript::At(-2), range(Some(1), None, None)]) {
            for rest in 0..=taken.len() {
                let taken = [&taken[..rest], &[Subscript::Rest], &taken[rest..]].concat();
                subscripts(&mut program, x, &taken);
            }
            if !taken.is_empty() {
                subscripts(&mut program, x, &taken);
            }
        }
        for count in 1..=6 {
            subscripts(&mut program, x, &vec![Subscript::At(0); count]);
        }
    }
    program.check();
}

#[test]
fn rows_are_gathered() {
    let types = shapes().into_iter().flat_map(|shape| [f32s(&shape), Type::new(DType::I64, &shape)]);
    let mut program = Program::new(types);
    let parameters = program.parameters();
    for table in parameters.iter().step_by(2) {
        for indices in parameters.iter().skip(1).step_by(2) {
            let expression = format!("gather({}, {})", table.0, indices.0);
            program.case(expression, gather(table.1, indices.1), "gather", &[name(table), name(indices)]);
        }
    }
    program.check();
}

#[test]
fn rows_are_picked_by_integers() {
    let types = DType::ALL
        .into_iter()
        .flat_map(|dtype| samples().into_iter().map(move |shape| Type::new(dtype, &shape)));
    let mut program = Program::new(types);
    let parameters = program.parameters();
    for table in &parameters {
        for indices in &parameters {
            let expression = format!("gather({}, {})", table.0, indices.0);
            program.case(expression, gather(table.1, indices.1), "gather", &[name(table), name(indices)]);
        }
    }
    program.check();
}
