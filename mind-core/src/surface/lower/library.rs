//! Functions of other blocks, as a program imports them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::body::lower_body;
use super::signature::function_signature;
use super::structs::structs;
use super::table::{Entry, Table};
use super::types::DimNames;
use crate::diag::{Code, Diag, Diags};
use crate::dim::Dim;
use crate::surface::ast::{self, Import};

/// The functions of other blocks that a program calls, and those that these call.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Each once; one stands behind those that it calls.
    pub functions: Vec<Foreign>,
    /// The function that each import of the program names, by its place in `functions`.
    pub imported: Vec<usize>,
    /// The blocks that the functions stand in.
    pub blocks: Vec<ForeignBlock>,
}

/// What the functions of another block share.
#[derive(Clone, Debug, Default)]
pub struct ForeignBlock {
    /// Its constants.
    pub constants: Vec<(String, i64)>,
    /// Its structs.
    pub structs: Vec<ast::Struct>,
    /// The names of functions that are elsewhere, which mean nothing here.
    pub externs: Vec<String>,
}

/// A function of another block, and what the names in it mean.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// Its attributes, its gradient and its visibility mean nothing here. One with a mistake that is reported where it
    /// stands has no body.
    pub function: ast::Function,
    /// Under which names it calls which function of the library.
    pub callees: Vec<(String, usize)>,
    /// Its block, by its place in [`Library::blocks`].
    pub block: usize,
}

/// Adds the functions of a library to a table, lowered.
///
/// They were lowered where they stand, so mistakes in them are rare: those of another version of the language. Each is
/// told once, at the import that it came by.
pub(super) fn add_library(table: &mut Table, library: &Library, imports: &[Import], diags: &mut Diags) {
    let first = table.entries.len();
    let dims: Vec<DimNames> = library.blocks.iter().map(ForeignBlock::dims).collect();
    for (position, foreign) in library.functions.iter().enumerate() {
        let mut own = Diags::new();
        let function = ast::Function { gradient: None, ..foreign.function.clone() };
        let signature = function_signature(&function, &dims[foreign.block], &mut own);
        let names: BTreeMap<String, usize> =
            foreign.callees.iter().map(|(name, callee)| (name.clone(), first + callee)).collect();
        let is_extern = |name: &String| library.blocks[foreign.block].externs.contains(name);
        let mut called = foreign.function.callees().map(|(callee, site)| (callee.to_string(), site));
        let external = called.find(|(name, _)| is_extern(name) && !names.contains_key(name));
        let scope = table.add_scope(names);
        let is_external = external.is_some();
        own.extend(external.map(|(callee, site)| {
            let message = format!("it calls `{callee}`, which only its own block declares by `extern`");
            let help =
                format!("declare `{callee}` by `extern` in this block too, and call it from a function here");
            Diag::new(Code::E2002, site, message).help(help)
        }));
        let compiled = match (&signature, &foreign.function.body) {
            (Some(signature), Some(body)) if !is_external => {
                let (compiled, more) = lower_body(table.scope(scope), signature, body);
                own.extend(more);
                compiled
            }
            (None, _) | (_, None) | (Some(_), Some(_)) => None,
        };
        if let Some(diag) = own.into_iter().next() {
            let import = library.imported.iter().position(|imported| library.reaches(*imported, position));
            diags.push(at_import(diag, &foreign.function, import.map(|import| &imports[import])));
        }
        table.entries.push(Entry { signature, compiled });
    }
    for (import, position) in imports.iter().zip(&library.imported) {
        table.own().insert(import.name.to_string(), first + position);
    }
}

impl ForeignBlock {
    /// The names in dimensions and types. Structs that make no sense have been reported where they stand.
    fn dims(&self) -> DimNames {
        let constants =
            self.constants.iter().map(|(name, value)| (name.clone(), Dim::literal(*value))).collect();
        let mut dims = DimNames { constants: Arc::new(constants), ..DimNames::default() };
        let block = ast::Block { structs: self.structs.clone(), ..ast::Block::default() };
        structs(&block, &mut dims, &mut Diags::new());
        dims
    }
}

impl Library {
    /// Whether a function is another or calls it.
    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut reached = vec![false; self.functions.len()];
        let mut rest = vec![from];
        while let Some(next) = rest.pop() {
            if !std::mem::replace(&mut reached[next], true) {
                rest.extend(self.functions[next].callees.iter().map(|(_, callee)| *callee));
            }
        }
        reached[to]
    }
}

/// A mistake in an imported function, told where it is imported.
fn at_import(diag: Diag, function: &ast::Function, import: Option<&Import>) -> Diag {
    let name = &function.name;
    let site = import.map_or(function.site, |import| import.site);
    let message = format!("in the imported function `{name}`: {}", diag.message);
    let told = Diag { site, message, ..diag };
    told.note_at(diag.site, "it stands")
}
