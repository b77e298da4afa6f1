//! Emits the functions that users call.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{
    body::inner_name,
    calls::Reached,
    exports::Export,
    kinds::{Kind, Kinds, Tree},
    names::rust_name,
};
use crate::{
    ir::{Definition, Derivative, FunctionId, Position},
    types::{Type, TypeId},
};

/// Emits `f`, which panics on an error, and `try_f`, which returns it.
pub(super) fn functions(kinds: &Kinds, reached: &Reached, export: &Export) -> String {
    let function = kinds.program.function(export.function);
    let Export { name, function: id, .. } = export;
    let parameters = parameters(kinds, export);
    let tree = kinds.tree(function.result);
    let result = owned_type(kinds, &tree);
    let at = kinds.at(&function.name, function.place);
    let Position { line, .. } = kinds.options.start.of(function.place);
    let (mut signature, mut names, mut views, mut checks) =
        (String::new(), Vec::new(), Vec::new(), String::new());
    for (name, ty) in &parameters {
        let tree = kinds.tree(*ty);
        let _ = write!(signature, "{name}: {}, ", argument_type(kinds, &tree));
        names.push(name.clone());
        let first = views.len();
        argument_views(&tree, name, &mut views);
        check_sizes(kinds, *ty, &views[first..], &at, &mut checks);
    }
    let signature = signature.trim_end_matches(", ");
    let (arguments, views) = (names.join(", "), views.join(", "));
    let calls = if reached.is_counted(*id) { "k::FIRST_CALL, " } else { "" };
    let leaves: Vec<_> = (0..tree.leaves().len()).map(|leaf| format!("r{leaf}")).collect();
    let mut left = leaves.iter();
    let together = together(&tree, &mut left);
    let shown = signature_shown(kinds, export.function);
    let file = &kinds.options.file;
    let root = &kinds.options.root;
    let doc = format!("`{shown}`, line {line} of `{file}`.");
    format!(
        "#[doc = {doc:?}]\n#[doc = \"\"]\n#[doc = \"# Panics\"]\n#[doc = \"Where `try_{name}` has an error.\"]\n\
         #[track_caller]\npub fn {name}({signature}) -> {result} {{\n\
         match try_{name}({arguments}) {{ Ok(result) => result, Err(error) => {root}::fail(error) }}\n}}\n\
         #[doc = {doc:?}]\n#[doc = \"\"]\n#[doc = \"# Errors\"]\n\
         #[doc = \"E6001 an index out of range, E6004 a size that is too large, E6010 anything else that fails as the program runs.\"]\n\
         pub fn try_{name}({signature}) -> Result<{result}, {root}::Error> {{\n\
         let run = || -> Result<{result}, k::Fault> {{\n{checks}let {} = {}({calls}{views})?;\nOk({together})\n}};\n\
         run().map_err(|fault| fault.in_file({file:?}))\n}}\n",
        super::kinds::tuple(&leaves),
        inner_name(kinds, *id),
    )
}

/// The parameters with their Rust names. A derivative has the function's parameters followed by their tangents.
fn parameters(kinds: &Kinds, export: &Export) -> Vec<(String, TypeId)> {
    let mut taken = BTreeSet::new();
    let argument = kinds.program.function(export.function).argument;
    let mut named = parameters_of(kinds, export, argument);
    for (name, _) in &mut named {
        *name = rust_name(name);
        while !taken.insert(name.clone()) {
            name.push('_');
        }
    }
    named
}

/// The named parameters for an argument of this type, which is the function's argument or its tangent.
fn parameters_of(kinds: &Kinds, export: &Export, argument: TypeId) -> Vec<(String, TypeId)> {
    let types = &kinds.program.types;
    let function = kinds.program.function(export.function);
    let parts = |ty: TypeId| types.members(ty).map_or_else(Vec::new, <[_]>::to_vec);
    match (&export.of, &*function.parameters) {
        (Some((derivative, of)), [_, _]) => {
            let both = parts(argument);
            let mut named = parameters_of(kinds, of, both[0]);
            match derivative {
                Derivative::Fwd => {
                    let tangents = parameters_of(kinds, of, both[1]).into_iter();
                    named.extend(tangents.map(|(name, ty)| (format!("d_{name}"), ty)));
                }
                _ if of.of.is_none() => named.push(("d_result".into(), both[1])),
                _ => named.push((format!("d_{}", of.name), both[1])),
            }
            named
        }
        (_, own) => {
            let tys = if own.len() == 1 { vec![argument] } else { parts(argument) };
            names(kinds, export.function).into_iter().zip(tys).collect()
        }
    }
}

/// The parameter names of a function in the program.
fn names(kinds: &Kinds, id: FunctionId) -> Vec<String> {
    let function = kinds.program.function(id);
    let body = match &function.definition {
        Definition::Defined(body) => Some(body),
        Definition::Declared | Definition::Bound(_) | Definition::Pending(..) | Definition::Wrong => None,
    };
    let name = |position: usize| {
        let value = body.map(|body| body.block(body.entry).parameters[position]);
        let name = value.zip(body).and_then(|(value, body)| body.values[value.index()].name.clone());
        name.map_or_else(|| format!("x{}", position + 1), |name| name.to_string())
    };
    (0..function.parameters.len()).map(name).collect()
}

/// The signature for documentation: `f : Float (Vec Float) -> Float`.
fn signature_shown(kinds: &Kinds, id: FunctionId) -> String {
    let function = kinds.program.function(id);
    let types = &kinds.program.types;
    let parameters: String = function.parameters.iter().map(|ty| format!("{} ", types.show(*ty))).collect();
    format!("{} : {parameters}-> {}", function.name, types.show(function.result))
}

pub(super) fn owned_type(kinds: &Kinds, tree: &Tree) -> String {
    match tree {
        Tree::Leaf(kind) => kinds.owned(kind),
        Tree::Tuple(members) => {
            let members: String = members.iter().map(|tree| owned_type(kinds, tree) + ", ").collect();
            format!("({members})")
        }
    }
}

pub(super) fn argument_type(kinds: &Kinds, tree: &Tree) -> String {
    match tree {
        Tree::Tuple(members) => {
            let members: String = members.iter().map(|tree| argument_type(kinds, tree) + ", ").collect();
            format!("({members})")
        }
        Tree::Leaf(kind) => match kind {
            Kind::Tensor(rank, element) if kind.is_numeric_tensor() => {
                format!("&TensorRef<{}, ({})>", kinds.owned(element), "usize, ".repeat(*rank))
            }
            Kind::Tensor(1, element) => format!("&[{}]", kinds.owned(element)),
            Kind::Tensor(..) => format!("&{}", kinds.owned(kind)),
            kind => kinds.borrowed(kind),
        },
    }
}

/// Collects the leaves of an argument in the form that the module's functions take.
fn argument_views(tree: &Tree, text: &str, views: &mut Vec<String>) {
    match tree {
        Tree::Tuple(members) => {
            for (position, member) in members.iter().enumerate() {
                argument_views(member, &format!("{text}.{position}"), views);
            }
        }
        Tree::Leaf(kind) => views.push(match kind {
            Kind::Tensor(..) if kind.is_numeric_tensor() => format!("k::tensor({text})"),
            Kind::Tensor(1, _) => format!("k::View {{ size: [{text}.len()], data: {text} }}"),
            Kind::Tensor(..) => format!("{text}.view()"),
            _ => text.to_owned(),
        }),
    }
}

/// Emits checks that the tensors representing a tensor of tuples have equal sizes.
pub(super) fn check_sizes(kinds: &Kinds, ty: TypeId, views: &[String], at: &str, checks: &mut String) {
    match kinds.program.types.get(ty) {
        Type::Tuple(members) => {
            let mut views = views;
            for member in members {
                let (own, rest) = views.split_at(kinds.tree(*member).leaves().len());
                views = rest;
                check_sizes(kinds, *member, own, at, checks);
            }
        }
        Type::Tensor(..) => {
            for pair in views.windows(2) {
                let _ = writeln!(
                    checks,
                    "if {}.size != {}.size {{ return Err({at}.failure(\"the members of a tensor of tuples differ in size\")); }}",
                    pair[0], pair[1]
                );
            }
        }
        _ => {}
    }
}

/// Combines leaves to a value.
fn together<'a>(tree: &Tree, leaves: &mut impl Iterator<Item = &'a String>) -> String {
    match tree {
        Tree::Leaf(_) => leaves.next().expect("one for each leaf").clone(),
        Tree::Tuple(members) => {
            let mut text = String::from("(");
            for member in members {
                text += &together(member, leaves);
                text += ", ";
            }
            text + ")"
        }
    }
}
