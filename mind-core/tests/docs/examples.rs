//! The examples of error codes: the wrong one reports exactly its code, the right one reports none.

use mind_core::{
    canon::canonicalise,
    diag::{Code, Example, ExampleInput},
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::{Array, run},
    ir::{Module, ValueId},
    ops::Profile,
    pipeline,
    surface::{lex, lower, parse},
    text::{Limits, mic},
    ty::DType,
    verify::{Verified, verify},
};

#[test]
fn every_example_gives_its_code_and_its_mended_form_none() {
    let mut wrong_ones = String::new();
    for code in Code::ALL {
        let (wrong, right) = match code.explanation().example {
            Example::Program { wrong, right } => (codes_of_program(wrong), codes_of_program(right)),
            Example::Mic { wrong, right, profile } => {
                (codes_of_mic(wrong, profile), codes_of_mic(right, profile))
            }
            Example::Gradient { wrong, right, wrt } => {
                (code_of_gradient(wrong, wrt), code_of_gradient(right, wrt))
            }
            Example::Run { program, wrong, right } => {
                (code_of_run(program, wrong), code_of_run(program, right))
            }
            // The tests of mind-knossos check these.
            Example::Knossos { .. } => continue,
            Example::Words(_) => continue,
        };
        if wrong != [*code] || !right.is_empty() {
            wrong_ones += &format!("{code}: the wrong form gives {wrong:?}, the right one {right:?}\n");
        }
    }
    assert!(wrong_ones.is_empty(), "{wrong_ones}");
}

#[test]
fn what_can_arise_has_an_example_unless_it_is_a_fault_or_of_no_program() {
    use mind_core::diag::Arises;
    for code in Code::ALL {
        let reserved = code.info().arises == [Arises::Reserved];
        let words = matches!(code.explanation().example, Example::Words(_));
        let excepted = [Code::E1001, Code::E5002, Code::E5003, Code::E6002, Code::E6003].contains(code);
        assert_eq!(words, reserved || excepted, "{code}");
    }
}

fn codes_of_program(program: &str) -> Vec<Code> {
    let (tokens, mut diags) = lex(program);
    let (program, mistakes) = parse(tokens);
    diags.extend(mistakes);
    let (lowered, mistakes) = lower(&program);
    diags.extend(mistakes);
    for function in &lowered.functions {
        let gradient = function.gradient.as_ref();
        let gradient = gradient.and_then(|request| pipeline::compile_gradient(function, request));
        diags.extend([pipeline::compile(function), gradient].into_iter().flatten().filter_map(Result::err));
    }
    diags.into_iter().map(|diag| diag.code).collect()
}

fn codes_of_mic(text: &str, profile: Profile) -> Vec<Code> {
    let document = mic::parse_document(text, &Limits::default());
    let Err(diags) = document.and_then(|document| document.verify(profile)) else { return Vec::new() };
    diags.into_iter().map(|diag| diag.code).collect()
}

/// The last function of a program.
fn module(program: &str) -> Verified {
    let (program, _) = parse(lex(program).0);
    let (lowered, diags) = lower(&program);
    assert!(diags.is_empty(), "{:?}", diags.as_slice());
    let function = lowered.functions.into_iter().next_back().expect("there is a function");
    verify(function.program.expect("it has a program").module, Profile::Extended).expect("it is valid")
}

fn input(module: &Module, name: &str) -> ValueId {
    ValueId::new(module.inputs().position(|(input, _)| **input == *name).expect("the input exists"))
}

fn code_of_gradient((program, profile): (&str, Profile), wrt: &str) -> Vec<Code> {
    let module = canonicalise(module(program));
    let wrt = vec![Wrt { input: input(&module, wrt), zero_ok: false }];
    let options = GradientOptions { wrt, cotangent: Cotangent::One, profile };
    differentiate(&module, &options).err().map(|error| error.code()).into_iter().collect()
}

fn code_of_run(program: &str, given: &[ExampleInput]) -> Vec<Code> {
    let module = module(program);
    let mut values = Vec::new();
    for (name, ty) in module.inputs() {
        let ExampleInput { shape, value, .. } =
            given.iter().find(|given| *given.name == **name).expect("it is given");
        let count = shape.iter().product();
        values.push(match ty.dtype {
            DType::U8 => Array::new(*shape, vec![*value as u8; count]),
            DType::I32 => Array::new(*shape, vec![*value as i32; count]),
            DType::I64 => Array::new(*shape, vec![*value as i64; count]),
            DType::F32 => Array::new(*shape, vec![*value as f32; count]),
            DType::F64 => Array::new(*shape, vec![*value; count]),
            DType::Bool => Array::new(*shape, vec![*value != 0.0; count]),
        });
    }
    run(&module, &values).err().map(|error| error.code).into_iter().collect()
}
