//! Random well-typed programs and their required properties, on a fixed number of seeds.

use mind_core::random::Random;
use mind_knossos::{
    check,
    interp::{Options, run},
    testing::{Checked, RandomProgram, check_derivatives, check_second_derivatives, random_program},
    verify,
};

use crate::sample::sample;

const PROGRAMS: u64 = 300;

/// A property of a program. The error describes the violation.
type Property = fn(&RandomProgram, u64) -> Result<Checked, String>;

/// Checks a property on every seed. The message shows the smallest program that violates it.
fn holds(property: Property, seeds: std::ops::Range<u64>, size: usize) -> Vec<Checked> {
    sample("random programs in Knossos", seeds)
        .into_iter()
        .map(|seed| {
            let program = random_program(seed, 4 + seed as usize % size);
            property(&program, seed).unwrap_or_else(|message| {
                panic!("seed {seed}: {}", smallest(program, seed, property, message))
            })
        })
        .collect()
}

fn smallest(mut program: RandomProgram, seed: u64, property: Property, mut message: String) -> String {
    // The text before the first colon is the kind of error. A smaller program must have the same kind.
    let kind = message.split(':').next().unwrap_or_default().to_owned();
    let breaks = |smaller: RandomProgram| {
        let message = property(&smaller, seed).err()?;
        message.starts_with(&kind).then_some((smaller, message))
    };
    while let Some((smaller, new)) = program.shrink().find_map(breaks) {
        (program, message) = (smaller, new);
    }
    format!(
        "{message}\n{program}on {:?}",
        program.arguments(seed).iter().map(ToString::to_string).collect::<Vec<_>>()
    )
}

fn runs(program: &RandomProgram, seed: u64) -> Result<Checked, String> {
    let checked = check(&program.to_string()).map_err(|diags| format!("{:?}", diags.as_slice()))?;
    verify(&checked).map_err(|faults| faults[0].to_string())?;
    let id = checked.overloads(RandomProgram::NAME)[0];
    let options = Options { most_steps: 5_000_000, ..Options::default() };
    match run(&checked, id, &program.arguments(seed), &options) {
        Ok(outcome) => match outcome.value.is_of(&checked.types, checked.function(id).result) {
            true => Ok(Checked::Right),
            false => Err(format!("it gives {}", outcome.value)),
        },
        Err(failure) if failure.message.contains("instructions") => Ok(Checked::Rough),
        Err(failure) => Err(format!("it fails: {failure}")),
    }
}

fn has_right_derivatives(program: &RandomProgram, seed: u64) -> Result<Checked, String> {
    let mut checked = check(&program.to_string()).map_err(|diags| format!("{:?}", diags.as_slice()))?;
    let id = checked.overloads(RandomProgram::NAME)[0];
    check_derivatives(&mut checked, id, &program.arguments(seed), &mut Random::new(seed))
}

fn has_right_second_derivatives(program: &RandomProgram, seed: u64) -> Result<Checked, String> {
    let mut checked = check(&program.to_string()).map_err(|diags| format!("{:?}", diags.as_slice()))?;
    let id = checked.overloads(RandomProgram::NAME)[0];
    check_second_derivatives(&mut checked, id, &program.arguments(seed), &mut Random::new(seed))
}

/// The optimiser changes no bit of the results, and adds no executed instructions.
fn runs_the_same_optimised(program: &RandomProgram, seed: u64) -> Result<Checked, String> {
    let plain = check(&program.to_string()).map_err(|diags| format!("{:?}", diags.as_slice()))?;
    let mut optimised = plain.clone();
    optimised.optimise();
    optimised.inline_base_cases();
    verify(&optimised).map_err(|faults| faults[0].to_string())?;
    let id = plain.overloads(RandomProgram::NAME)[0];
    let options = Options { most_steps: 5_000_000, ..Options::default() };
    let outcome =
        |of| run(of, id, &program.arguments(seed), &options).map_err(|failure| format!("fails: {failure}"));
    let (plain, optimised) = (outcome(&plain)?, outcome(&optimised)?);
    let (expected, found) = (plain.value.to_string(), optimised.value.to_string());
    if (&expected, &plain.printed) != (&found, &optimised.printed) {
        return Err(format!("differs: {expected} is {found}"));
    }
    if plain.steps < optimised.steps {
        return Err(format!("longer: {} steps are {}", plain.steps, optimised.steps));
    }
    Ok(Checked::Right)
}

fn has_right_derivatives_optimised(program: &RandomProgram, seed: u64) -> Result<Checked, String> {
    let mut checked = check(&program.to_string()).map_err(|diags| format!("{:?}", diags.as_slice()))?;
    checked.optimise();
    let id = checked.overloads(RandomProgram::NAME)[0];
    check_derivatives(&mut checked, id, &program.arguments(seed), &mut Random::new(seed))
}

#[test]
fn random_programs_do_the_same_optimised() {
    holds(runs_the_same_optimised, 0..4 * PROGRAMS, 80);
}

#[test]
fn random_programs_check_verify_and_run() {
    let found = holds(runs, 0..4 * PROGRAMS, 80);
    assert!(found.iter().all(|checked| *checked == Checked::Right));
}

#[test]
fn derivatives_of_random_programs_are_right() {
    let found = holds(has_right_derivatives, 0..PROGRAMS, 40);
    let right = found.iter().filter(|checked| **checked == Checked::Right).count();
    assert!(right * 10 > found.len() * 9, "{right}");
}

#[test]
fn derivatives_of_derivatives_of_random_programs_are_right() {
    let found = holds(has_right_second_derivatives, 0..PROGRAMS / 2, 30);
    let right = found.iter().filter(|checked| **checked == Checked::Right).count();
    assert!(right * 10 > found.len() * 9, "{right}");
}

#[test]
fn derivatives_of_random_programs_are_right_where_these_are_optimised() {
    let found = holds(has_right_derivatives_optimised, 0..PROGRAMS, 40);
    let right = found.iter().filter(|checked| **checked == Checked::Right).count();
    assert!(right * 10 > found.len() * 9, "{right}");
}
