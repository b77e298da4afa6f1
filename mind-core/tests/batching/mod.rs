//! Batched modules against the module run once for each slice, by the reference interpreter, bit for bit.

use mind_core::{
    batch::batch,
    canon::{Canonical, canonicalise},
    diag::Code,
    dim::Dim,
    interp::{Array, Elements, run},
    ir::{Module, ValueId},
    ops::{Profile, TABLE},
    testing::{Random, random_inputs, random_module, same},
    text::core_ir,
    ty::{DType, MAX_RANK},
    verify::verify,
};

use crate::{
    gradient_checks::{
        loops,
        support::{Rng, arguments, canonical, rows, single},
    },
    sample::sample,
};

const SLICES: usize = 3;

/// The outcome of a comparison.
#[derive(PartialEq)]
enum Outcome {
    Compared,
    /// A slice stops the module.
    Stops,
}

/// Compares the module, batched over the inputs at the positions `over`, with runs for each slice. `slices` has the
/// arguments of each run. Arguments for the other inputs are the same in all runs.
fn compare(what: &str, module: &Canonical, over: &[usize], slices: &[Vec<Array>]) -> Outcome {
    let inputs: Vec<_> = over.iter().copied().map(ValueId::new).collect();
    let batched = batch(module, &inputs, &Dim::literal(SLICES as i64))
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(batched.made_for.len(), batched.module.insts().len(), "{what}");
    let text = core_ir::print(&batched.module);
    let batched = verify(batched.module, Profile::Extended)
        .unwrap_or_else(|errors| panic!("{what}: {errors:?}\n{text}"));
    let batched = canonicalise(batched);
    let given = (0..slices[0].len()).map(|at| match over.contains(&at) {
        true => stacked(slices.iter().map(|slice| &slice[at])),
        false => slices[0][at].clone(),
    });
    let given: Vec<_> = given.collect();
    let Ok(runs) = slices.iter().map(|slice| run(module, slice)).collect::<Result<Vec<_>, _>>() else {
        return Outcome::Stops;
    };
    let found = run(&batched, &given).unwrap_or_else(|error| panic!("{what}: {error}\n{text}"));
    for (at, found) in found.iter().enumerate() {
        let wanted = stacked(runs.iter().map(|results| &results[at]));
        assert!(
            same(found, &wanted),
            "{what} over {over:?}: result {at} is {found:?}, needed {wanted:?}\n{}\n{text}",
            core_ir::print(module)
        );
    }
    Outcome::Compared
}

/// Arrays of one type along a new leading axis.
fn stacked<'a>(slices: impl Iterator<Item = &'a Array>) -> Array {
    let slices: Vec<_> = slices.collect();
    let shape: Vec<usize> = [slices.len()].iter().chain(&slices[0].shape).copied().collect();
    let numbers: Vec<f64> = slices.iter().flat_map(|slice| slice.elements.to_f64()).collect();
    let elements: Elements = match slices[0].dtype() {
        DType::Bool => numbers.iter().map(|number| *number != 0.0).collect::<Vec<_>>().into(),
        DType::U8 => numbers.iter().map(|number| *number as u8).collect::<Vec<_>>().into(),
        DType::I32 => numbers.iter().map(|number| *number as i32).collect::<Vec<_>>().into(),
        DType::I64 => {
            let all = slices.iter().flat_map(|slice| match &slice.elements {
                Elements::I64(elements) => elements.clone(),
                other => panic!("{other:?}"),
            });
            all.collect::<Vec<_>>().into()
        }
        DType::F32 => numbers.iter().map(|number| *number as f32).collect::<Vec<_>>().into(),
        DType::F64 => numbers.into(),
    };
    Array::new(shape, elements)
}

/// Draws the arguments of each run. Inputs that are not batched have the same argument in all runs.
fn slices(over: &[usize], mut draw: impl FnMut(usize) -> Vec<Array>) -> Vec<Vec<Array>> {
    let mut slices: Vec<_> = (0..SLICES).map(&mut draw).collect();
    let first = slices[0].clone();
    for slice in &mut slices {
        for (at, value) in slice.iter_mut().enumerate().filter(|(at, _)| !over.contains(at)) {
            *value = first[at].clone();
        }
    }
    slices
}

fn largest_rank(module: &Module) -> usize {
    let own = module.insts().iter().map(|inst| inst.ty.rank());
    let inner = module.nested().map(|nested| largest_rank(nested));
    own.chain(inner).max().unwrap_or(0)
}

/// All non-empty sets of positions below `count`.
fn subsets(count: usize) -> Vec<Vec<usize>> {
    (1..1_usize << count).map(|bits| (0..count).filter(|at| bits >> at & 1 == 1).collect()).collect()
}

#[test]
fn every_case_of_every_operation_is_that_of_each_slice() {
    let mut compared = 0;
    for row in TABLE {
        for dtype in DType::ALL {
            for (number, case) in row.cases(dtype).into_iter().enumerate() {
                let module = single(&case.op, &case.operands);
                for over in subsets(case.operands.len()) {
                    let what = format!("{} {dtype} case {number}", row.name);
                    let mut rng = Rng::new(&what);
                    let given = slices(&over, |_| {
                        arguments(&mut rng, &case.operands, row.sample.domain, rows(&case))
                    });
                    compared += usize::from(compare(&what, &module, &over, &given) == Outcome::Compared);
                }
            }
        }
    }
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn loops_are_those_of_each_slice() {
    for (what, program) in loops::PROGRAMS {
        let module = loops::module(program);
        if largest_rank(&module) == MAX_RANK {
            let inputs: Vec<_> = (0..module.inputs().len()).map(ValueId::new).collect();
            let error = batch(&module, &inputs, &Dim::literal(2)).expect_err(what);
            assert_eq!(error.code, Code::E1008, "{what}");
            continue;
        }
        for over in subsets(module.inputs().len()) {
            let given = slices(&over, |slice| loops::given(&format!("{what} {slice}"), &module));
            assert!(compare(what, &module, &over, &given) == Outcome::Compared, "{what}");
        }
    }
}

#[test]
fn random_modules_are_those_of_each_slice() {
    let mut compared = 0;
    let mut random = Random::new(7);
    let seeds = sample("random modules", 0..2_000_u64);
    for seed in &seeds {
        let module: Module = random_module(*seed, 4 + (*seed % 20) as usize);
        let module = canonical(module);
        let count = module.inputs().len();
        let over: Vec<_> = (0..count).filter(|_| random.once_in(2)).collect();
        let Some(first) = random_inputs(module.as_verified(), *seed) else { continue };
        // Another seed could give the symbols other extents.
        let mut rng = Random::new(*seed);
        let given = slices(&over, |_| first.iter().map(|value| rotated(value, rng.below(8))).collect());
        compared +=
            usize::from(compare(&format!("seed {seed}"), &module, &over, &given) == Outcome::Compared);
    }
    assert!(compared * 2 > seeds.len(), "{compared} of {}", seeds.len());
}

/// The elements in another order.
fn rotated(value: &Array, by: usize) -> Array {
    let mut value = value.clone();
    match &mut value.elements {
        Elements::Bool(elements) => turn(elements, by),
        Elements::U8(elements) => turn(elements, by),
        Elements::I32(elements) => turn(elements, by),
        Elements::I64(elements) => turn(elements, by),
        Elements::F32(elements) => turn(elements, by),
        Elements::F64(elements) => turn(elements, by),
    }
    value
}

fn turn<T>(elements: &mut [T], by: usize) {
    let by = by % elements.len().max(1);
    elements.rotate_left(by);
}
