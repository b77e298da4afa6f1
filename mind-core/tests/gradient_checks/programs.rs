//! Random programs: their gradients compared with differences, and the two profiles compared with each other.

use mind_core::{
    canon::Canonical,
    grad::{AutodiffError, Gradient, differentiate},
    interp::{self, Array},
    ir::{Inst, Module, Op, ValueId},
    map::{Domain, Map},
    ops::Profile,
    testing::{random_core_v1_module, random_inputs, random_module},
    text::core_ir,
    ty::DType,
};

use super::support::{
    Rng, are_fractions, canonical, every_float, frozen, in_f64, jumps_between_integers, like, numbers, run,
    slope_along,
};
use crate::sample::sample;

/// The number of programs to check. Seeds are tried until this many programs are found.
fn programs() -> usize {
    sample("random programs", 0..1_000).len()
}

#[test]
fn gradients_of_random_programs_agree_with_differences() {
    let checked = check_programs(Profile::Extended, |seed| random_module(seed, 4 + seed as usize % 12));
    assert_eq!(checked, programs());
}

#[test]
fn gradients_of_random_core_v1_programs_agree_with_differences() {
    let checked = check_programs(Profile::CoreV1, |seed| random_core_v1_module(seed, 4 + seed as usize % 12));
    assert_eq!(checked, programs());
}

#[test]
fn both_profiles_agree_on_random_programs() {
    let mut compared = 0;
    let wanted = programs();
    for seed in 0..wanted as u64 * 4 {
        let Some(program) = program(seed, &random_core_v1_module(seed, 12)) else { continue };
        let both = [Profile::Extended, Profile::CoreV1].map(|profile| gradient_of(&program, profile, seed));
        let [Some(extended), Some(core)] = both else { continue };
        let given = [&program.arguments[..], &program.cotangents].concat();
        for (a, b) in run(&extended.module, &given).iter().zip(run(&core.module, &given)) {
            let (a, b) = (numbers(a), numbers(&b));
            let scale = a.iter().fold(1.0f64, |scale, element| scale.max(element.abs()));
            let near = a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-9 * scale);
            assert!(near, "seed {seed}: {a:?} and {b:?}\n{}", core_ir::print(&program.module));
        }
        compared += 1;
    }
    assert!(compared > wanted, "only {compared} programs have a gradient in both profiles");
}

/// A program in f64, with arguments at which it is smooth, and one cotangent per output.
struct Program {
    module: Canonical,
    arguments: Vec<Array>,
    cotangents: Vec<Array>,
}

fn check_programs(profile: Profile, make: impl Fn(u64) -> Module) -> usize {
    let mut checked = 0;
    let wanted = programs();
    for seed in 0..wanted as u64 * 20 {
        if checked == wanted {
            break;
        }
        let Some(program) = program(seed, &make(seed)) else { continue };
        if let Some(gradient) = gradient_of(&program, profile, seed) {
            check(&program, &gradient, seed);
            checked += 1;
        }
    }
    checked
}

/// The gradient by every float input, or `None` if Core v1 has no gradient.
fn gradient_of(program: &Program, profile: Profile, seed: u64) -> Option<Gradient> {
    match differentiate(&program.module, &every_float(&program.module, profile)) {
        Ok(gradient) => {
            assert!(
                gradient.gradients.is_sorted_by(|a, b| a.0 < b.0),
                "seed {seed}: {:?}",
                gradient.gradients
            );
            let same_type =
                |(value, of): &(ValueId, ValueId)| gradient.module.ty(*value) == gradient.module.ty(*of);
            assert!(gradient.gradients.iter().all(same_type), "seed {seed}: {:?}", gradient.gradients);
            Some(gradient)
        }
        Err(
            AutodiffError::UnsupportedOp { .. }
            | AutodiffError::UnsupportedType(_)
            | AutodiffError::UnsupportedShape(_),
        ) if profile == Profile::CoreV1 => None,
        // Derivatives of factorizations are text of the library.
        Err(AutodiffError::UnsupportedOp { op: "Cholesky" | "Lu" | "Qr" | "Eigh" | "Svd", .. }) => None,
        Err(error) => panic!("seed {seed}: {error}\n{}", core_ir::print(&program.module)),
    }
}

/// Compares the gradient with difference quotients along random directions, for all inputs at once and for each alone.
fn check(program: &Program, gradient: &Gradient, seed: u64) {
    let Program { module, arguments, cotangents } = program;
    let outputs = run(&gradient.module, &[&arguments[..], cotangents].concat());
    let gradients = &outputs[module.outputs().len()..];
    let floats: Vec<usize> = (0..arguments.len()).filter(|at| arguments[*at].dtype() == DType::F64).collect();
    let (reference, stopped) = frozen(module, arguments);
    let given = [&arguments[..], &stopped].concat();
    let mut rng = Rng::new(&format!("directions {seed}"));
    let every = (0..floats.len()).collect();
    for chosen in (0..floats.len()).map(|one| vec![one]).chain([every]) {
        let mut directions: Vec<Array> = given.iter().map(|value| like(value, |_| 0.0)).collect();
        let mut wanted = 0.0;
        let mut scale = 1.0f64;
        for one in chosen {
            let direction = like(&gradients[one], |_| rng.between(-1.0, 1.0));
            for (slope, along) in numbers(&gradients[one]).into_iter().zip(numbers(&direction)) {
                wanted += slope * along;
                scale = scale.max(slope.abs());
            }
            directions[floats[one]] = direction;
        }
        let found = slope_along(&reference, &given, &directions, cotangents);
        assert!(
            (found - wanted).abs() <= 1e-5 * scale,
            "seed {seed}: gradient {wanted:e}, differences {found:e}\n{}\n{}\narguments {arguments:?}",
            core_ir::print(module),
            core_ir::print(&gradient.module)
        );
    }
}

/// A random program in f64, with arguments at which it is smooth.
pub fn smooth(seed: u64) -> Option<(Canonical, Vec<Array>)> {
    let program = program(seed, &random_module(seed, 4 + seed as usize % 12))?;
    Some((program.module, program.arguments))
}

/// The float outputs of a module in f64, if arguments are found at which it is smooth.
fn program(seed: u64, module: &Module) -> Option<Program> {
    let (insts, outputs) = module.clone().into_parts();
    let is_float = |output: &ValueId| insts[output.index()].ty.dtype.is_float();
    let outputs: Vec<ValueId> = outputs.into_iter().filter(is_float).collect();
    if outputs.is_empty() || !module.inputs().any(|(_, ty)| ty.dtype.is_float()) {
        return None;
    }
    let module = in_f64(&canonical(Module::from_parts(insts, outputs)));
    (0..8).find_map(|attempt| {
        let mut rng = Rng::new(&format!("arguments {seed} {attempt}"));
        let drawn = random_inputs(module.as_verified(), seed * 8 + attempt)?;
        // Moved off the grid of drawn values, because kinks lie on it.
        let shifted = drawn.iter().map(|value| match value.dtype() {
            DType::F64 => like(value, |_| rng.between(-2.0, 2.0)),
            DType::Bool | DType::U8 | DType::I32 | DType::I64 | DType::F32 => value.clone(),
        });
        let arguments: Vec<Array> = shifted.collect();
        let results = interp::run(&module, &arguments).ok().filter(|_| is_smooth(&module, &arguments))?;
        let cotangents = results.iter().map(|result| like(result, |_| rng.between(-1.0, 1.0))).collect();
        Some(Program { module: module.clone(), arguments, cotangents })
    })
}

/// Whether all values are moderate, and operands are away from jumps, kinks and poles of operations.
fn is_smooth(module: &Canonical, arguments: &[Array]) -> bool {
    let (mut insts, _) = Module::clone(module).into_parts();
    let count = insts.len();
    let quotients = insts.iter().filter(|inst| jumps_between_integers(&inst.op));
    let quotients: Vec<_> = quotients.map(|inst| Inst { op: Op::Map(Map::Div), ..inst.clone() }).collect();
    insts.extend(quotients);
    let every = (0..insts.len()).map(ValueId::new).collect();
    let values = run(&canonical(Module::from_parts(insts, every)), arguments);
    let values: Vec<Vec<f64>> = values.iter().map(numbers).collect();
    if !values[count..].iter().all(|quotients| are_fractions(quotients)) {
        return false;
    }
    let all =
        |value: ValueId, holds: fn(f64) -> bool| values[value.index()].iter().all(|element| holds(*element));
    module.iter().all(|(value, inst)| {
        let at = |position: usize| inst.operands[position];
        let fit = if let Op::Map(map) = inst.op {
            let row = map.row();
            match (row.domain, row.pole) {
                (Domain::Any | Domain::Apart, _) => true,
                (Domain::NonZero, _) => all(at(row.mask.unwrap_or(0)), |x| x.abs() > 0.05),
                (Domain::OffHalves, _) => all(at(0), |x| (x * 2.0 - (x * 2.0).round()).abs() > 0.02),
                (Domain::AboveOne, _) => all(at(0), |x| x > 1.1),
                (Domain::Unit, _) => all(at(0), |x| x.abs() < 0.95),
                (Domain::Positive, Some(pole)) => all(at(pole), |x| x.abs() > 0.1),
                (Domain::Positive, None) => all(at(0), |x| x > 0.1),
            }
        } else {
            true
        };
        fit && all(value, |x| x.abs() < 100.0)
    })
}
