//! Paths: `nn::softmax(x)` calls the library; `crate::layers::dense(x)` and `layers::Dense<2, 3>` import the items that
//! they name.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::buffer::Cursor;

use super::imports::push_separator;
use super::parser::Parser;
use crate::diag::Diag;
use crate::standard;
use crate::surface::ast::{Block, Body, Callee, Closure, Expression, Import, ImportKind};
use crate::surface::habits;
use crate::ty::DType;

impl Parser<'_> {
    /// Reads a path of two or more segments if arguments follow it.
    pub(super) fn called_path(&mut self) -> Option<Callee> {
        self.path_before(|behind| behind.group(Delimiter::Parenthesis).is_some())
    }

    /// Whether a path of two or more segments comes next.
    pub(super) fn at_path(&self) -> bool {
        let behind = self.cursor.ident().and_then(|(_, behind)| separator(behind));
        behind.is_some_and(|behind| behind.ident().is_some())
    }

    /// Reads a name or a path.
    pub(super) fn name_or_path(&mut self, expected: &str) -> Result<Callee, Diag> {
        match self.path_before(|_| true) {
            Some(path) => Ok(path),
            None => self.name(expected).map(Callee::from),
        }
    }

    /// Reads a path to a constant of another block; `None` for a constant of Rust.
    pub(super) fn constant_path(&mut self) -> Option<Callee> {
        if !self.at_path() {
            return None;
        }
        let (first, _) = self.cursor.ident()?;
        let is_rust =
            RUST.iter().any(|rust| first == rust) || DType::NUMERIC.iter().any(|dtype| first == dtype.name());
        if is_rust { None } else { self.path_before(|_| true) }
    }

    /// Reads a path of two or more segments, if the caller accepts the tokens after it.
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
        Some(Callee { path, name, of_library: false, in_library: false })
    }
}

/// The first segments of paths to Rust's own constants, beside types as in `f32::MAX`.
const RUST: &[&str] = &["alloc", "core", "std", "usize"];

/// The position after `::`.
pub(super) fn separator(cursor: Cursor<'_>) -> Option<Cursor<'_>> {
    let (first, behind) = cursor.punct()?;
    let (second, behind) = behind.punct()?;
    (first.as_char() == ':' && second.as_char() == ':').then_some(behind)
}

/// Resolves all paths and imports of a block; see [`resolve_paths`].
pub(super) fn resolve_block_paths(block: &mut Block) {
    let mut items = Vec::new();
    block.items(&mut |name| items.push(name.clone()));
    let mut imports = std::mem::take(&mut block.imports);
    add_items(&mut imports, &items, block_bodies(block));
    let functions = block.functions.iter_mut().map(|function| &mut function.body);
    let templates = block.templates.iter_mut().map(|template| &mut template.body);
    block.library = resolve_paths(&mut imports, functions.chain(templates).flatten());
    block.imports = imports;
}

fn block_bodies(block: &Block) -> impl Iterator<Item = &Body> + Clone {
    let functions = block.functions.iter().filter_map(|function| function.body.as_ref());
    functions.chain(block.templates.iter().filter_map(|template| template.body.as_ref()))
}

/// As [`resolve_block_paths`].
pub(super) fn resolve_closure_paths(closure: &mut Closure) {
    let mut items = Vec::new();
    closure.items(&mut |name| items.push(name.clone()));
    let mut imports = std::mem::take(&mut closure.imports);
    add_items(&mut imports, &items, closure.body.iter());
    resolve_paths(&mut imports, closure.body.iter_mut());
    closure.imports = imports;
}

/// As [`resolve_block_paths`].
pub(super) fn resolve_expression_paths(expression: &mut Expression) {
    let mut items = Vec::new();
    expression.items(&mut |name| items.push(name.clone()));
    let mut imports = std::mem::take(&mut expression.imports);
    add_items(&mut imports, &items, [&expression.body].into_iter());
    resolve_paths(&mut imports, [&mut expression.body].into_iter());
    expression.imports = imports;
}

/// Determines which imports are structs and constants, and adds those that are used by their path.
///
/// `items` are the structs and constants in types, patterns and paths. Any other import that is called is a function.
/// An import that is read as a value, or whose name begins with an upper-case letter, is a struct or constant. An import
/// to which none of this applies is a function.
fn add_items<'a>(
    imports: &mut Vec<Import>,
    items: &[Callee],
    bodies: impl Iterator<Item = &'a Body> + Clone,
) {
    // Without imports, the bodies are not searched.
    let bodies = || bodies.clone().filter(|_| !imports.is_empty());
    let called: BTreeSet<String> =
        bodies().flat_map(Body::callees).map(|(callee, _)| callee.to_string()).collect();
    let reads: BTreeSet<String> = bodies().flat_map(Body::reads).collect();
    for import in imports.iter_mut() {
        let name = import.name.to_string();
        let is_item = items.iter().any(|item| item.is_name() && item.name == import.name.name);
        let is_capital = name.trim_start_matches("r#").starts_with(char::is_uppercase);
        if is_item || !called.contains(&name) && (is_capital || reads.contains(&name)) {
            import.kind = ImportKind::Item;
        }
    }
    let written = imports.clone();
    for item in items.iter().filter(|item| !item.is_name()) {
        if imports.iter().any(|import| import.name.to_string() == item.to_string()) {
            continue;
        }
        let (_, path) = whole_path(item, &written);
        if is_of_structs(&path) {
            continue;
        }
        let (path, name, site) = (tokens(&path), item.clone(), item.site());
        imports.push(Import { path, name, site, kind: ImportKind::Item });
    }
}

/// The import through which a path goes, and the path with its first segment replaced by the path of that import.
fn whole_path<'a>(callee: &Callee, imports: &'a [Import]) -> (Option<&'a Import>, Vec<Ident>) {
    let module = imports.iter().find(|import| import.name.is_name() && import.name.name == callee.path[0]);
    let first = module.map_or_else(|| vec![callee.path[0].clone()], |module| segments(&module.path));
    let rest = callee.path[1..].iter().chain([&callee.name]).cloned();
    (module, first.into_iter().chain(rest).collect())
}

/// Determines for every call by a path, and for every import, whether the function belongs to the library or to a
/// block. Returns the imports that belong to the library.
///
/// `nn` and the other files of the library are those of the library unless an import has the same name. An import
/// through which a path goes is a module and not a function. Any other path is added as an import.
fn resolve_paths<'a>(imports: &mut Vec<Import>, bodies: impl Iterator<Item = &'a mut Body>) -> Vec<Import> {
    let written = imports.clone();
    let import_of = |name: &Ident| written.iter().find(|import| import.name.name == *name);
    let is_hidden = |path: &[Ident]| import_of(&path[0]).is_some();
    let library: Vec<Import> = imports
        .extract_if(.., |import| {
            let path = segments(&import.path);
            import.kind == ImportKind::Function && is_of_library(&path) && !is_hidden(&path)
        })
        .collect();
    let through = written.iter().filter(|import| !import.name.is_name());
    let through = through.filter_map(|import| import_of(&import.name.path[0]));
    let mut modules: BTreeSet<String> = through.map(|module| module.name.to_string()).collect();
    for callee in bodies.flat_map(Body::callees_mut) {
        if callee.is_name() {
            if let Some(import) = library.iter().find(|import| import.name.name == callee.name) {
                *callee = in_library(callee, segments(&import.path));
            }
            continue;
        }
        let (module, path) = whole_path(callee, &written);
        modules.extend(module.map(|module| module.name.to_string()));
        if is_of_library(&path) {
            *callee = in_library(callee, path);
        } else if habits::is_foreign(&path[0].to_string()) {
            // The unknown function is reported at the call. A module of that name can be reached by `self::`.
        } else if imports.iter().all(|import| import.name.to_string() != callee.to_string()) {
            let (path, name, site) = (tokens(&path), callee.clone(), callee.site());
            imports.push(Import { path, name, site, kind: ImportKind::Function });
        }
    }
    imports.retain(|import| !modules.contains(&import.name.to_string()));
    library
}

/// Marks calls of functions that a block imports from the library as calls of the library. `library` holds the name and
/// the path of each import.
pub fn resolve_library_calls(body: &mut Body, library: &[(String, TokenStream)]) {
    for callee in body.callees_mut() {
        if let Some((_, path)) = library.iter().find(|(name, _)| *name == callee.to_string()) {
            *callee = in_library(callee, segments(path));
        }
    }
}

fn is_of_library(path: &[Ident]) -> bool {
    matches!(path, [file, _] if standard::is_file(&file.to_string()))
}

/// Whether a path is a path of two segments into a library file that contains structs.
pub(super) fn is_of_structs(path: &[Ident]) -> bool {
    matches!(path, [file, _] if standard::structs(&file.to_string()).next().is_some())
}

/// The callee for a function of the library, with the spans of the original callee.
fn in_library(callee: &Callee, path: Vec<Ident>) -> Callee {
    let at = |mut name: Ident, span| {
        name.set_span(span);
        name
    };
    let first = callee.path.first().unwrap_or(&callee.name).span();
    let [file, name] = <[Ident; 2]>::try_from(path).expect("a function of the library has a file and a name");
    Callee {
        path: vec![at(file, first)],
        name: at(name, callee.name.span()),
        of_library: true,
        in_library: false,
    }
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
