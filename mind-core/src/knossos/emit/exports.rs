//! Which functions users see, and what they are called.

use std::collections::BTreeSet;

use super::{
    calls::Reached,
    names::{plain_name, rust_name, type_name},
};
use crate::{
    diag::{Code, Diag, Diags, Site},
    knossos::{
        bind::Binding,
        elaborate::elaborate,
        ir::{Definition, Derivative, Function, FunctionId, Program},
    },
    surface::lower::declarations::names::undefined,
};

/// What is asked for, by names of functions as programs or as Rust have them, and where that is asked.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The functions to export; nothing for all but `main`.
    pub export: Option<Vec<(String, Site)>>,
    /// The functions whose derivatives are exported, each with the derivative of which derivative it is, the outermost
    /// first; nothing for forward and reverse.
    pub grad: Vec<(Vec<Derivative>, String, Site)>,
}

/// A function that users see.
#[derive(Clone, Debug)]
pub struct Export {
    /// The function.
    pub function: FunctionId,
    /// What Rust calls it.
    pub name: String,
    /// Of which function, of which the arguments are named, it is a derivative.
    pub(super) of: Option<(Derivative, Box<Self>)>,
}

impl Export {
    /// A function under a name that Rust takes.
    pub fn new(function: FunctionId, name: impl Into<String>) -> Self {
        Self { function, name: name.into(), of: None }
    }
}

/// A program from its text, with the functions that a request is about, improved before derivatives are made and after.
///
/// # Errors
/// Those of [`check_bound`](crate::knossos::check_bound); then those of [`exports`].
pub fn compile(text: &str, bindings: &[Binding], request: &Request) -> Result<(Program, Vec<Export>), Diags> {
    let mut program = elaborate(text)?;
    program.bind(bindings)?;
    program.define_by_prelude();
    program.optimise();
    program.complete()?;
    let exports = exports(&mut program, request)?;
    program.optimise();
    Ok((program, exports))
}

/// The functions that a request is about. Derivatives are made that are not there.
///
/// # Errors
/// E2002 for a name that the program does not define, and for a function that is called and declared only; E5001 for
/// the derivative of one, or of a Rust function.
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

/// Functions that are called and that nothing defines.
fn undefined_calls(program: &Program, exports: &[Export]) -> impl Iterator<Item = Diag> {
    let reached = Reached::from(program, exports.iter().map(|export| export.function));
    reached.order.into_iter().filter_map(|id| {
        let Function { name, place, definition, .. } = program.function(id);
        if !matches!(definition, Definition::Declared) {
            return None;
        }
        let message = format!("`{name}` is declared and called, and nothing defines it");
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

/// Every function that the program itself defines, with its name there.
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
            // The halves of the program's own are what it likes.
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

/// The functions of a name: every overload, or the one that Rust calls so.
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
