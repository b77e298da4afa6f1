//! Selects the exported functions and their names.

use std::collections::BTreeSet;

use mind_core::{
    diag::{Code, Diag, Diags, Site},
    surface::lower::undefined,
};

use super::{
    calls::Reached,
    names::{plain_name, rust_name, type_name},
};
use crate::{
    bind::Binding,
    elaborate::elaborate,
    ir::{Definition, Derivative, Function, FunctionId, Program},
};

/// A request for exports. Functions are named as in the program or as in Rust, with the position of the request.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The functions to export; `None` for all except `main`.
    pub export: Option<Vec<(String, Site)>>,
    /// The functions whose derivatives are exported. Each has a list of nested derivatives, the outermost first. An
    /// empty list stands for the forward and the reverse derivative.
    pub grad: Vec<(Vec<Derivative>, String, Site)>,
}

/// An exported function.
#[derive(Clone, Debug)]
pub struct Export {
    /// The function.
    pub function: FunctionId,
    /// The name in Rust.
    pub name: String,
    /// For a derivative: its kind, and the function that it is a derivative of, which provides the argument names.
    pub(super) of: Option<(Derivative, Box<Self>)>,
}

impl Export {
    /// An export with a valid Rust name.
    pub fn new(function: FunctionId, name: impl Into<String>) -> Self {
        Self { function, name: name.into(), of: None }
    }
}

/// Compiles a program with the functions of a request. It is optimised before and after derivatives are generated.
///
/// # Errors
/// The errors of [`check_bound`](crate::check_bound) and of [`exports`].
pub fn compile(text: &str, bindings: &[Binding], request: &Request) -> Result<(Program, Vec<Export>), Diags> {
    let mut program = elaborate(text)?;
    program.bind(bindings)?;
    program.define_by_prelude();
    program.optimise();
    program.complete()?;
    let exports = exports(&mut program, request)?;
    program.optimise();
    program.inline_base_cases();
    Ok((program, exports))
}

/// Selects the functions of a request. Creates missing derivatives.
///
/// # Errors
/// E2002 for a name that the program does not define, and for a declared function that is called but not defined. E5001
/// for the derivative of such a function or of a Rust function.
pub fn exports(program: &mut Program, request: &Request) -> Result<Vec<Export>, Diags> {
    let mut diags = Diags::new();
    let mut named = all(program);
    let mut chosen: Vec<Export> = match &request.export {
        None => named.iter().filter(|(name, _)| name != "main").map(|(_, export)| export.clone()).collect(),
        Some(wanted) => {
            let found = wanted.iter().filter_map(|(name, site)| find(&named, name, *site, &mut diags));
            found.flatten().collect()
        }
    };
    let mut wanted: Vec<(Vec<Derivative>, Export)> = Vec::new();
    for (derivatives, name, site) in &request.grad {
        let asked = match &derivatives[..] {
            [] => vec![vec![Derivative::Fwd], vec![Derivative::Rev]],
            derivatives => vec![derivatives.to_vec()],
        };
        for export in find(&named, name, *site, &mut diags).into_iter().flatten() {
            wanted.extend(asked.iter().map(|derivatives| (derivatives.clone(), export.clone())));
        }
    }
    for (derivatives, export) in wanted {
        let export = derivatives.into_iter().rev().fold(export, |of, derivative| {
            let function = program.derivative(derivative, of.function);
            let name = format!("{}_{}", derivative.name(), of.name);
            Export { function, name, of: Some((derivative, of.into())) }
        });
        if chosen.iter().all(|chosen| chosen.function != export.function) {
            let export = Export { name: unique(export.name, &named), ..export };
            named.push((String::new(), export.clone()));
            chosen.push(export);
        }
    }
    match program.complete() {
        Ok(()) => undefined_calls(program, &chosen).for_each(|diag| diags.push(diag)),
        Err(unmade) => unmade.into_iter().for_each(|diag| diags.push(diag)),
    }
    diags.into_result(chosen)
}

/// Reports functions that are called but not defined.
fn undefined_calls(program: &Program, exports: &[Export]) -> impl Iterator<Item = Diag> {
    let reached = Reached::from(program, exports.iter().map(|export| export.function));
    reached.order.into_iter().filter_map(|id| {
        let Function { name, place, definition, .. } = program.function(id);
        if !matches!(definition, Definition::Declared) {
            return None;
        }
        let message = format!("`{name}` is declared and called, but not defined");
        let plain = name.trim_start_matches('[').trim_end_matches(']');
        let help = match plain.contains('[') {
            false => {
                format!("define it, or bind it to a Rust function: `bind = [{plain} = path::to::function]`")
            }
            true => "define it: only functions and their first derivatives can be bound".into(),
        };
        Some(Diag::new(Code::E2002, (*place).into(), message).help(help))
    })
}

/// Every function that the program defines, with its name in the program.
fn all(program: &Program) -> Vec<(String, Export)> {
    let names: Vec<String> = program.function_names().map(str::to_owned).collect();
    let mut functions: Vec<_> = names
        .iter()
        .flat_map(|name| program.overloads(name).iter().map(move |id| (*id, name.clone())))
        .collect();
    functions.sort_unstable();
    let mut named: Vec<(String, Export)> = Vec::new();
    for (id, name) in functions {
        let function = program.function(id);
        let plain = rust_name(&name);
        let free = named.iter().all(|(_, export)| export.name != plain);
        let rust = match free {
            true => plain,
            false => unique(format!("{plain}_{}", type_name(&program.types, function.argument)), &named),
        };
        let own = Export::new(id, rust);
        if matches!(function.definition, Definition::Defined(_)) && !program.is_left_to_prelude(id) {
            named.push((name.clone(), own.clone()));
        }
        for derivative in [
            Derivative::Fwd,
            Derivative::Rev,
            Derivative::SufFwdPass,
            Derivative::SufRevPass,
            Derivative::Shape,
        ] {
            let Some(written) = program.written_derivative(derivative, id) else { continue };
            let function = program.function(written);
            let rust = unique(plain_name(&function.name), &named);
            // The two halves can have any signature, so they do not inherit argument names.
            let of = matches!(derivative, Derivative::Fwd | Derivative::Rev)
                .then(|| (derivative, own.clone().into()));
            let known = named.iter().any(|(_, export)| export.function == written);
            if !known && matches!(function.definition, Definition::Defined(_)) {
                named.push((function.name.to_string(), Export { function: written, name: rust, of }));
            }
        }
    }
    named
}

/// The functions with this name: every overload, or the one with this name in Rust.
fn find(named: &[(String, Export)], name: &str, site: Site, diags: &mut Diags) -> Option<Vec<Export>> {
    let of_name = |wanted: &dyn Fn(&(String, Export)) -> bool| -> Vec<Export> {
        named.iter().filter(|named| wanted(named)).map(|(_, export)| export.clone()).collect()
    };
    let mut found = of_name(&|(own, _)| rust_name(own) == name);
    if found.is_empty() {
        found = of_name(&|(_, export)| export.name == name);
    }
    if found.is_empty() {
        let known: BTreeSet<_> = named.iter().map(|(_, export)| export.name.as_str()).collect();
        let diag: Diag = undefined("function", name, site, known);
        diags.push(diag);
        return None;
    }
    Some(found)
}

fn unique(name: String, named: &[(String, Export)]) -> String {
    let taken = |name: &str| named.iter().any(|(_, export)| export.name == name);
    if !taken(&name) {
        return name;
    }
    (2..).map(|count| format!("{name}_{count}")).find(|name| !taken(name)).expect("some number is free")
}
