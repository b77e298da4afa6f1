//! Programs that call the library, run by the reference interpreter.

use mind_core::{
    canon::{Canonical, canonicalise},
    diag::Diags,
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::{self, Array, Elements},
    ir::ValueId,
    open,
    ops::Profile,
    standard::{FILES, function, functions},
    surface::{
        ast::{Block, Program, Struct, Template},
        lex, lower, parse,
    },
    testing::{leaf_types, open_program},
    ty::{DType, Type},
    verify::verify,
};

/// The text of a file of the library.
pub fn library(file: &str) -> &'static str {
    FILES
        .iter()
        .find(|(name, _)| *name == file)
        .unwrap_or_else(|| panic!("there is no standard/{file}.mind"))
        .1
}

/// The functions of a file of the library.
pub fn templates(file: &str) -> Vec<Template> {
    let is_public = |template: &Template| functions(file).any(|name| template.name == name);
    block(file).templates.into_iter().filter(is_public).collect()
}

/// The structs of a file of the library.
pub fn structs(file: &str) -> Vec<Struct> {
    block(file).structs
}

fn block(file: &str) -> Block {
    let (tokens, mut mistakes) = lex(library(file));
    let (program, more) = parse(tokens);
    mistakes.extend(more);
    assert!(mistakes.is_empty(), "standard/{file}.mind: {}", listed(&mistakes));
    match program {
        Program::Block(block) => block,
        Program::Closure(_) | Program::Expression(_) => {
            panic!("standard/{file}.mind is no list of functions")
        }
    }
}

/// Compiles the last function of a program that calls functions of a library file by their plain names.
pub fn compiled(file: &str, program: &str) -> Canonical {
    let (tokens, mut mistakes) = lex(&qualified(file, program));
    let (parsed, more) = parse(tokens);
    mistakes.extend(more);
    let (lowered, more) = lower(&parsed);
    mistakes.extend(more);
    assert!(mistakes.is_empty(), "{program}\n{}", listed(&mistakes));
    let function = lowered.functions.into_iter().next_back().expect("the program has a function");
    let module = function.program.expect("it has no mistake").module;
    canonicalise(verify(module, Profile::Extended).expect("lowered modules are valid"))
}

/// Compiles an expression that calls functions of a library file by their plain names, with leaves of these types.
/// Returns the module and the names of the leaves in the order of its inputs.
pub fn expression(
    file: &str,
    text: &str,
    leaves: &[(String, Type)],
) -> Result<(Canonical, Vec<String>), String> {
    let program = open_program(&qualified(file, text)).map_err(|diags| diags.to_string())?;
    let types = leaf_types(&program, leaves).ok_or("a leaf has no type")?;
    let module = open::instantiate(&program, &types).map_err(|diag| diag.message)?;
    let names = program.leaves.iter().map(|leaf| leaf.text.clone()).collect();
    Ok((canonicalise(verify(module, Profile::Extended).expect("lowered modules are valid")), names))
}

/// The program with qualified calls: for example, calls of functions of `nn` get the prefix `nn::`.
fn qualified(file: &str, program: &str) -> String {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut text = String::new();
    let mut rest = program;
    while let Some(start) = rest.find(is_of_word) {
        let end = start + rest[start..].find(|c| !is_of_word(c)).unwrap_or(rest.len() - start);
        text += &rest[..start];
        let (word, behind) = (&rest[start..end], &rest[end..]);
        if behind.starts_with('(') && function(file, word).is_some() {
            text += &format!("{file}::");
        }
        text += word;
        rest = behind;
    }
    text + rest
}

fn listed(mistakes: &Diags) -> String {
    mistakes.as_slice().iter().map(|diag| format!("{}: {}\n", diag.code, diag.message)).collect()
}

/// The results of a function, and the gradients of its float inputs for these cotangents.
pub fn with_gradients(module: &Canonical, inputs: &[Array], cotangents: &[Array]) -> Vec<Array> {
    run(&gradient_of(module), &[inputs, cotangents].concat())
}

/// The function with cotangents as additional inputs, and the gradients of the float inputs as additional results.
pub fn gradient_of(module: &Canonical) -> Canonical {
    let floats = module.inputs().enumerate().filter(|(_, (_, ty))| ty.dtype.is_float());
    let wrt = floats.map(|(position, _)| Wrt { input: ValueId::new(position), zero_ok: true }).collect();
    let options = GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended };
    differentiate(module, &options).expect("the function has a gradient").module
}

pub fn run(module: &Canonical, inputs: &[Array]) -> Vec<Array> {
    interp::run(module, inputs).unwrap_or_else(|error| panic!("{}: {}", error.code, error.message))
}

/// Floats of type `f32` or `f64`.
pub fn floats(dtype: DType, shape: &[usize], numbers: &[f64]) -> Array {
    let elements = match dtype {
        DType::F32 => Elements::F32(numbers.iter().map(|number| *number as f32).collect()),
        DType::F64 => Elements::F64(numbers.to_vec()),
        DType::U8 | DType::I32 | DType::I64 | DType::Bool => panic!("{dtype} is no float"),
    };
    Array::new(shape, elements)
}
