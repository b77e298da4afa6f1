//! Properties that hold for every input. Fuzzers check them on inputs of their choice, and tests on seeded inputs.
//!
//! A property that does not hold panics with the program that breaks it.

use mind_core::{random::Random, snippet};

use super::{RandomProgram, check_derivatives, check_second_derivatives, program_from_bytes};
use crate::{
    FunctionId, Program, check,
    interp::{Options, run},
    ir::Derivative,
    print,
    rules::try_rule,
    types::{Type, TypeId},
    verify,
};

/// A text is refused as a program in Knossos, or becomes a program that verifies, can be printed, and runs to its end
/// or to a failure. The same holds for its derivatives, if it has few functions.
pub fn text_is_read_or_refused(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut program = match check(text) {
        Ok(program) => program,
        Err(diags) => {
            let shown: String = diags.into_iter().map(|diag| snippet::render(&diag, "text", text)).collect();
            return assert!(!shown.is_empty(), "a refusal says why");
        }
    };
    verifies(&program);
    if program.functions.len() <= 12 {
        // Functions that take accumulators are parts of derivatives, and programs cannot name them.
        let is_accumulator = |ty: &TypeId| matches!(program.types.get(*ty), Type::Accumulator(_));
        let named = |id: &FunctionId| !program.function(*id).parameters.iter().any(is_accumulator);
        let ids: Vec<_> = (0..program.functions.len()).map(FunctionId::new).filter(named).collect();
        for id in ids {
            for derivative in [Derivative::Fwd, Derivative::Rev] {
                program.derivative(derivative, id);
            }
        }
        // A function that is only declared has no derivative.
        let _ = program.complete();
        verifies(&program);
    }
    let options =
        Options { most_calls: 200, most_elements: 1 << 12, most_steps: 20_000, ..Options::default() };
    for (index, function) in program.functions.iter().enumerate() {
        if function.parameters.is_empty() {
            match run(&program, FunctionId::new(index), &[], &options) {
                Ok(outcome) => {
                    assert!(outcome.value.is_of(&program.types, function.result), "{}", function.name)
                }
                Err(failure) => assert!(!snippet::render(&failure.diag(), "text", text).is_empty()),
            }
        }
    }
    for rule in &program.rules {
        try_rule(&program, rule);
    }
}

fn verifies(program: &Program) {
    let listing = print(program);
    assert_eq!(verify(program), Ok(()), "{listing}");
}

/// A program in Knossos that the bytes choose is accepted, and its first and second derivatives are right.
pub fn programs_have_right_derivatives(bytes: &[u8]) {
    let random = program_from_bytes(bytes);
    let mut program =
        check(&random.to_string()).unwrap_or_else(|diags| panic!("{:?}\n{random}", diags.as_slice()));
    verifies(&program);
    let id = program.overloads(RandomProgram::NAME)[0];
    let arguments = random.arguments(1);
    for agree in [check_derivatives, check_second_derivatives] {
        agree(&mut program, id, &arguments, &mut Random::new(1))
            .unwrap_or_else(|message| panic!("{message}\n{random}"));
    }
}
