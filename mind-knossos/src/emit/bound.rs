//! Emits calls of Rust functions that a program declares.
//!
//! Such a function is called from a separate module in which names resolve as next to the macro. A wrapper with the
//! name that callers use passes the arguments and takes the result apart.

use std::fmt::Write;

use super::{
    body::inner_name,
    calls::Reached,
    interface::{argument_type, check_sizes, owned_type},
    kinds::{Kind, Kinds, Tree, tuple},
};
use crate::ir::{Definition, FunctionId};

/// Emits the module that calls the Rust functions.
pub(super) fn rust_functions(kinds: &Kinds, reached: &Reached) -> String {
    let mut calls = String::new();
    for id in &reached.order {
        let function = kinds.program.function(*id);
        let Definition::Bound(number) = function.definition else { continue };
        let rust = kinds.options.bound.get(number).map_or("()", String::as_str);
        let (mut signature, mut names) = (String::new(), Vec::new());
        for (position, ty) in function.parameters.iter().enumerate() {
            let name = format!("x{position}");
            let ty = argument_type(kinds, &kinds.tree(*ty)).replace("k::", KNOSSOS);
            let _ = write!(signature, "{name}: {ty}, ");
            names.push(name);
        }
        let result = owned_type(kinds, &kinds.tree(function.result)).replace("k::", KNOSSOS);
        let _ = writeln!(
            calls,
            "pub(super) fn {}({signature}) -> {KNOSSOS}Returned<{result}> \
             {{ {KNOSSOS}returned::<{result}>({rust}({})) }}",
            rust_call(*id),
            names.join(", "),
        );
    }
    if calls.is_empty() {
        return calls;
    }
    let root = &kinds.options.root;
    // Explicit imports take precedence over glob imports.
    format!(
        "mod bound {{\nuse super::super::*;\n\
         use {root}::{{Tensor, TensorRef, knossos as __mind_knossos, std::{{string::String, vec::Vec}}}};\n\
         {calls}}}\n"
    )
}

/// The run time's `knossos` module, under a name that does not collide with users' names.
const KNOSSOS: &str = "__mind_knossos::";

fn rust_call(id: FunctionId) -> String {
    format!("__mind_call_{}", id.index())
}

/// Emits the wrapper that callers use. It passes the leaves as the arguments of the Rust function.
pub(super) fn function(kinds: &Kinds, id: FunctionId, text: &mut String) {
    let function = kinds.program.function(id);
    let tree = kinds.tree(function.result);
    let (mut signature, mut arguments, mut used) = (String::from("at: k::At, "), Vec::new(), 0);
    for ty in &function.parameters {
        arguments.push(argument(kinds, &kinds.tree(*ty), &mut used, &mut signature));
    }
    let mut leaves = Vec::new();
    places(&tree, "result", &mut leaves);
    let names: Vec<_> = (0..leaves.len()).map(|leaf| format!("r{leaf}")).collect();
    let (mut taken, mut views) = (String::new(), Vec::new());
    for (name, place) in names.iter().zip(&leaves) {
        let _ = writeln!(taken, "let {name} = {place};");
        views.push(format!("{name}.view()"));
    }
    check_sizes(kinds, function.result, &views, "at", &mut taken);
    let _ = writeln!(
        text,
        "fn {}({signature}) -> Result<{}, k::Fault> {{\n\
         let result = bound::{}({}).map_err(|error| at.refused({:?}, &error))?;\n{taken}Ok({})\n}}",
        inner_name(kinds, id),
        kinds.owned_leaves(&tree),
        rust_call(id),
        arguments.join(", "),
        function.name,
        tuple(&names),
    );
}

/// An argument built from parameters, which are added to the signature.
fn argument(kinds: &Kinds, tree: &Tree, used: &mut usize, signature: &mut String) -> String {
    let kind = match tree {
        Tree::Tuple(members) => {
            let members: String =
                members.iter().map(|tree| argument(kinds, tree, used, signature) + ", ").collect();
            return format!("({members})");
        }
        Tree::Leaf(kind) => kind,
    };
    let name = format!("a{used}");
    *used += 1;
    let _ = write!(signature, "{name}: {}, ", kinds.borrowed(kind));
    match kind {
        Kind::Tensor(..) if kind.is_numeric_tensor() => format!("&*k::tensor_argument({name})"),
        Kind::Tensor(1, _) => format!("{name}.data"),
        Kind::Tensor(..) => format!("&k::owned::<{}>({name}, at)?", kinds.owned(kind)),
        _ => name,
    }
}

/// Collects the expressions for the leaves of a value.
fn places(tree: &Tree, text: &str, leaves: &mut Vec<String>) {
    match tree {
        Tree::Leaf(_) => leaves.push(text.to_owned()),
        Tree::Tuple(members) => {
            for (position, member) in members.iter().enumerate() {
                places(member, &format!("{text}.{position}"), leaves);
            }
        }
    }
}
