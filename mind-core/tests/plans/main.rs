//! What programs are planned as. Each file beside this one is a program of the surface language, a line `----`, and the
//! listings of its functions and their gradients; `MIND_BLESS=1` writes them anew.

mod costs;

use std::{env, fs, path::Path};

use mind_core::{
    dim::{Bindings, Dim},
    ir::ValueId,
    pipeline::{Compiled, compile, compile_gradient},
    plan::{Listing, Step, listing},
    surface::{lex, lower, lower::Function, parse},
};

const SEPARATOR: &str = "\n----\n";

#[test]
fn programs_are_planned_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans");
    let entries = fs::read_dir(&folder).expect("the folder of this test");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("files can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    assert!(files.len() > 5, "programs are found");
    let mut wrong = Vec::new();
    for file in files {
        let recorded = fs::read_to_string(&file).expect("files can be read");
        let (program, _) = recorded.split_once(SEPARATOR).unwrap_or((&recorded, ""));
        let found = format!("{}{SEPARATOR}{}", program.trim_end(), plans(program));
        if found != recorded {
            if env::var_os("MIND_BLESS").is_some() {
                fs::write(&file, found).expect("files can be written");
            } else {
                wrong.push(format!("{}:\n{found}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "bless with MIND_BLESS=1 if this is right:\n{}", wrong.join("\n"));
}

/// A training step needs the activation, its gradient, and little else beside parameters: no gradient of a parameter, and
/// nothing of the loss but one small tensor.
#[test]
fn a_training_step_keeps_activations_only() {
    let program = include_str!("mlp.txt").split_once(SEPARATOR).expect("a recorded file").0;
    let (lowered, diags) = lower(&parse(lex(program).0).0);
    assert!(diags.is_empty(), "{diags:?}");
    let step = lowered.functions.iter().find(|function| function.name == "step").expect("it is there");
    let plan = compile(step).expect("no mistakes").expect("it verifies").plan;
    let [arena] = &plan.arenas[..] else { panic!("one element type") };
    let (batch, hidden, outputs) = (32, 256, 10);
    assert_eq!(arena.len, Dim::literal(2 * batch * hidden + (batch * outputs)));
    assert!(
        !plan.steps.iter().any(|step| matches!(step, Step::Update { .. })),
        "parameters are updated in place"
    );
}

fn plans(text: &str) -> String {
    let (tokens, mut diags) = lex(text);
    let (program, more) = parse(tokens);
    diags.extend(more);
    let (lowered, more) = lower(&program);
    diags.extend(more);
    assert!(diags.is_empty(), "{diags:?}");
    let mut plans = String::new();
    for function in &lowered.functions {
        if let Some(compiled) = compile(function) {
            plans += &shown(function, &function.name.to_string(), &compiled.expect("it verifies"));
        }
        if let Some(gradient) =
            function.gradient.as_ref().and_then(|request| compile_gradient(function, request))
        {
            let name = format!("{}_grad", function.name);
            plans += &shown(function, &name, &gradient.expect("it has a gradient"));
        }
    }
    plans
}

fn shown(function: &Function, name: &str, compiled: &Compiled) -> String {
    let names = &function.program.as_ref().expect("it was compiled").names;
    let value_name = |value: ValueId| {
        let origin = compiled.origins.get(value.index()).copied().flatten()?;
        names.get(origin.index())?.clone()
    };
    let plan = &compiled.plan;
    format!("{name}\n{}\n", listing(&Listing { plan, value_name: &value_name, bindings: &Bindings::new() }))
}
