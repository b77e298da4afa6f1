//! A program behind the text of a file of the library, run by the reference interpreter.

use std::collections::{BTreeMap, BTreeSet};

use mind_core::{
    canon::{Canonical, canonicalise},
    diag::Diags,
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::{self, Elements, Value},
    ir::ValueId,
    ops::Profile,
    std::FILES,
    surface::{
        ast::{Function, Program, Template},
        lex, lower, parse, parse_block,
    },
    ty::DType,
    verify::verify,
};

/// The text of a file of the library.
pub fn library(file: &str) -> &'static str {
    FILES.iter().find(|(name, _)| *name == file).unwrap_or_else(|| panic!("there is no std/{file}.mind")).1
}

/// The functions of a file of the library.
pub fn templates(file: &str) -> Vec<Template> {
    let (tokens, mut mistakes) = lex(library(file));
    let (program, more) = parse(tokens);
    mistakes.extend(more);
    assert!(mistakes.is_empty(), "std/{file}.mind: {}", listed(&mistakes));
    match program {
        Program::Block(block) => block.templates,
        Program::Closure(_) | Program::Expression(_) => panic!("std/{file}.mind is no list of functions"),
    }
}

/// The last function of a program that calls those of a file of the library.
pub fn compiled(file: &str, program: &str) -> Canonical {
    let (tokens, mut mistakes) = lex(program);
    let (mut block, more) = parse_block(tokens);
    mistakes.extend(more);
    let mut called: BTreeSet<String> =
        block.functions.iter().flat_map(Function::callees).map(|(name, _)| name.to_string()).collect();
    // What a function calls stands before or behind it.
    let mut rest = TEMPLATES.with(|all| all[file].clone());
    while let Some(at) = rest.iter().position(|template| called.contains(&template.name.to_string())) {
        let template = rest.swap_remove(at);
        called.extend(template.callees().map(|(name, _)| name.to_string()));
        block.templates.push(template);
    }
    let (lowered, more) = lower(&Program::Block(block));
    mistakes.extend(more);
    assert!(mistakes.is_empty(), "{program}\n{}", listed(&mistakes));
    let function = lowered.functions.into_iter().next_back().expect("the program has a function");
    let module = function.program.expect("it has no mistake").module;
    canonicalise(verify(module, Profile::Extended).expect("what is lowered verifies"))
}

thread_local! {
    static TEMPLATES: BTreeMap<&'static str, Vec<Template>> =
        FILES.iter().map(|(file, _)| (*file, templates(file))).collect();
}

fn listed(mistakes: &Diags) -> String {
    mistakes.as_slice().iter().map(|diag| format!("{}: {}\n", diag.code, diag.message)).collect()
}

/// The results of a function, and what it passes back of cotangents to each of its float inputs.
pub fn with_gradients(module: &Canonical, inputs: &[Value], cotangents: &[Value]) -> Vec<Value> {
    let floats = inputs.iter().enumerate().filter(|(_, input)| input.dtype().is_float());
    let wrt = floats.map(|(position, _)| Wrt { input: ValueId::new(position), zero_ok: true }).collect();
    let options = GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended };
    let gradient = differentiate(module, &options).expect("the function has a gradient");
    run(&gradient.module, &[inputs, cotangents].concat())
}

pub fn run(module: &Canonical, inputs: &[Value]) -> Vec<Value> {
    interp::run(module, inputs).unwrap_or_else(|error| panic!("{}: {}", error.code, error.message))
}

/// Floats of one of the two types.
pub fn floats(dtype: DType, shape: &[usize], numbers: &[f64]) -> Value {
    let elements = match dtype {
        DType::F32 => Elements::F32(numbers.iter().map(|number| *number as f32).collect()),
        DType::F64 => Elements::F64(numbers.to_vec()),
        DType::I32 | DType::I64 | DType::Bool => panic!("{dtype} is no float"),
    };
    Value::new(shape, elements)
}
