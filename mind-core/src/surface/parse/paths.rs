//! Calls by a path: `nn::softmax(x)` is the library's, `crate::layers::dense(x)` imports what it names.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::buffer::Cursor;

use super::imports::push_separator;
use super::parser::Parser;
use crate::standard;
use crate::surface::ast::{Body, Callee, Import};

impl Parser<'_> {
    /// Reads a path of two segments or more before arguments.
    pub(super) fn called_path(&mut self) -> Option<Callee> {
        self.path_before(|behind| behind.group(Delimiter::Parenthesis).is_some())
    }

    /// Reads a path of two segments or more before what the caller wants behind it.
    pub(super) fn path_before(&mut self, is_wanted: impl FnOnce(Cursor<'_>) -> bool) -> Option<Callee> {
        let (mut name, mut behind) = self.cursor.ident()?;
        let mut path = Vec::new();
        while let Some(next) = separator(behind) {
            path.push(name);
            (name, behind) = next.ident()?;
        }
        if path.is_empty() || !is_wanted(behind) {
            return None;
        }
        self.advance(name.span(), behind);
        Some(Callee { path, name, of_library: false })
    }
}

/// What stands behind `::`.
fn separator(cursor: Cursor<'_>) -> Option<Cursor<'_>> {
    let (first, behind) = cursor.punct()?;
    let (second, behind) = behind.punct()?;
    (first.as_char() == ':' && second.as_char() == ':').then_some(behind)
}

/// Says of every call by a path, and of every import, whose function it is; gives the imports that are of the library.
///
/// `nn` and the other files of the library mean these unless an import has their name. An import through which a path
/// goes names a module, and no function. Any other path is an import of its own.
pub(super) fn settle<'a>(
    imports: &mut Vec<Import>,
    bodies: impl Iterator<Item = &'a mut Body>,
) -> Vec<Import> {
    let written = imports.clone();
    let import_of = |name: &Ident| written.iter().find(|import| import.name.name == *name);
    let is_hidden = |path: &[Ident]| import_of(&path[0]).is_some();
    let library: Vec<Import> = imports
        .extract_if(.., |import| {
            let path = segments(&import.path);
            is_of_library(&path) && !is_hidden(&path)
        })
        .collect();
    let mut modules: BTreeSet<String> = BTreeSet::new();
    for callee in bodies.flat_map(Body::callees_mut) {
        if callee.is_name() {
            if let Some(import) = library.iter().find(|import| import.name.name == callee.name) {
                *callee = in_library(callee, segments(&import.path));
            }
            continue;
        }
        let module = import_of(&callee.path[0]);
        modules.extend(module.map(|module| module.name.to_string()));
        let first = module.map_or_else(|| vec![callee.path[0].clone()], |module| segments(&module.path));
        let rest = callee.path[1..].iter().chain([&callee.name]).cloned();
        let path: Vec<Ident> = first.into_iter().chain(rest).collect();
        if is_of_library(&path) {
            *callee = in_library(callee, path);
        } else if imports.iter().all(|import| import.name.to_string() != callee.to_string()) {
            imports.push(Import { path: tokens(&path), name: callee.clone(), site: callee.site() });
        }
    }
    imports.retain(|import| !modules.contains(&import.name.to_string()));
    library
}

/// Makes calls of what a block imports from the library, each by its name there and its path, calls of the library.
pub fn settle_library(body: &mut Body, library: &[(String, TokenStream)]) {
    for callee in body.callees_mut() {
        if let Some((_, path)) = library.iter().find(|(name, _)| *name == callee.to_string()) {
            *callee = in_library(callee, segments(path));
        }
    }
}

fn is_of_library(path: &[Ident]) -> bool {
    matches!(path, [file, _] if standard::is_file(&file.to_string()))
}

/// A function of the library, at the place of what calls it.
fn in_library(callee: &Callee, path: Vec<Ident>) -> Callee {
    let at = |mut name: Ident, span| {
        name.set_span(span);
        name
    };
    let first = callee.path.first().unwrap_or(&callee.name).span();
    let [file, name] = <[Ident; 2]>::try_from(path).expect("a function of the library has a file and a name");
    Callee { path: vec![at(file, first)], name: at(name, callee.name.span()), of_library: true }
}

/// The names in a path.
fn segments(path: &TokenStream) -> Vec<Ident> {
    let name = |tree| match tree {
        TokenTree::Ident(name) => Some(name),
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    };
    path.clone().into_iter().filter_map(name).collect()
}

fn tokens(path: &[Ident]) -> TokenStream {
    let mut trees = Vec::new();
    for segment in path {
        if !trees.is_empty() {
            push_separator(&mut trees);
        }
        trees.push(TokenTree::Ident(segment.clone()));
    }
    trees.into_iter().collect()
}
