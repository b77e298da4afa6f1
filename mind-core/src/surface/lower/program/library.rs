//! Functions, structs and constants of other blocks, as a program imports them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use proc_macro2::Ident;

use crate::diag::{Code, Diag, Diags, Site};
use crate::surface::ast::{self, Home, Import};
use crate::surface::lower::body::{LoweredBody, lower_body};
use crate::surface::lower::callees::inline::Templates;
use crate::surface::lower::callees::table::{Entry, Table};
use crate::surface::lower::declarations::constants::constants as constants_of;
use crate::surface::lower::declarations::signature::function_signature;
use crate::surface::lower::declarations::structs::structs as structs_of;
use crate::surface::lower::declarations::structure::Defined;
use crate::surface::lower::declarations::types::DimNames;

/// What a program names of other blocks, and what that names.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Each once; one stands behind those that it calls.
    pub functions: Vec<Foreign>,
    /// What each import of the program is.
    pub imported: Vec<Imported>,
    /// The blocks that all of it stands in; one stands behind those whose structs and constants it names.
    pub blocks: Vec<ForeignBlock>,
}

/// What an import is.
#[derive(Clone, Debug)]
pub enum Imported {
    /// A function or template, by its place in [`Library::functions`].
    Function(usize),
    /// A struct or constant.
    Item {
        /// Its block, by its place in [`Library::blocks`].
        block: usize,
        /// Its name there.
        name: String,
        /// What it is called in the Rust that the program becomes.
        alias: Ident,
    },
}

/// A struct or constant that a block has of another.
#[derive(Clone, Debug)]
pub struct ForeignName {
    /// What it is called here.
    pub local: String,
    /// Its block, by its place in [`Library::blocks`].
    pub block: usize,
    /// Its name there.
    pub name: String,
}

/// What the functions of another block share.
#[derive(Clone, Debug, Default)]
pub struct ForeignBlock {
    /// Its structs and constants of other blocks.
    pub imports: Vec<ForeignName>,
    /// Its constants, each worked out.
    pub constants: Vec<ast::Constant>,
    /// Its structs.
    pub structs: Vec<ast::Struct>,
    /// The names of functions that are elsewhere, which mean nothing here.
    pub externs: Vec<String>,
}

/// A function or template of another block, and what the names in it mean.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// What it is. One with a mistake that is reported where it stands has no body.
    pub item: ForeignItem,
    /// Under which names it calls which of the library.
    pub callees: Vec<(String, usize)>,
    /// Its block, by its place in [`Library::blocks`].
    pub block: usize,
}

/// What another block has.
#[derive(Clone, Debug)]
pub enum ForeignItem {
    /// Its attributes, its gradient and its visibility mean nothing here.
    Function(ast::Function),
    /// Inlined where it is called.
    Template(ast::Template),
}

impl ForeignItem {
    /// Every name that it calls, built-in ones too, with the call.
    pub fn callees(&self) -> impl Iterator<Item = (&ast::Callee, Site)> {
        self.body().into_iter().flat_map(ast::Body::callees)
    }

    fn body(&self) -> Option<&ast::Body> {
        match self {
            Self::Function(function) => function.body.as_ref(),
            Self::Template(template) => template.body.as_ref(),
        }
    }

    fn name_and_site(&self) -> (&Ident, Site) {
        match self {
            Self::Function(function) => (&function.name, function.site),
            Self::Template(template) => (&template.name, template.site),
        }
    }
}

/// Adds the functions of a library to a table, lowered; gives the templates that the program calls.
///
/// They were lowered where they stand, so mistakes in them are rare: those of another version of the language. Each is
/// told once, at the import that it came by.
pub(crate) fn add_library(
    table: &mut Table,
    library: &Library,
    imports: &[Import],
    diags: &mut Diags,
) -> Templates {
    let first = table.entries.len();
    let dims = library.dims();
    let mut templates: Vec<Option<Rc<ast::Template>>> = vec![None; library.functions.len()];
    for (position, foreign) in library.functions.iter().enumerate() {
        let mut own = Diags::new();
        let (mut names, mut inlined) = (BTreeMap::new(), Templates::default());
        for (name, callee) in &foreign.callees {
            match &library.functions[*callee].item {
                ForeignItem::Function(_) => _ = names.insert(name.clone(), first + callee),
                ForeignItem::Template(_) => inlined.import(name.clone(), templates[*callee].clone()),
            }
        }
        let is_known = |name: &String| foreign.callees.iter().any(|(callee, _)| callee == name);
        let is_extern = |name: &String| library.blocks[foreign.block].externs.contains(name);
        let mut called = foreign.item.callees().map(|(callee, site)| (callee.to_string(), site));
        let external = called.find(|(name, _)| is_extern(name) && !is_known(name));
        let is_external = external.is_some();
        own.extend(external.map(|(callee, site)| {
            let message = format!("it calls `{callee}`, which only its own block declares by `extern`");
            let help =
                format!("declare `{callee}` by `extern` in this block too, and call it from a function here");
            Diag::new(Code::E2002, site, message).help(help)
        }));
        let mut entry = Entry::default();
        match &foreign.item {
            ForeignItem::Function(function) => {
                let mut function = ast::Function { gradient: None, ..function.clone() };
                entry.signature = function_signature(&function, &dims[foreign.block], &mut own);
                let scope = table.add_scope(names);
                if let (Some(signature), Some(body), false) =
                    (&entry.signature, &mut function.body, is_external)
                {
                    inlined.inline(body, &mut own);
                    let LoweredBody { compiled, diags, .. } = lower_body(table.scope(scope), signature, body);
                    own.extend(diags);
                    entry.compiled = compiled;
                }
            }
            ForeignItem::Template(template) => {
                let home = table.add_home(names, dims[foreign.block].clone());
                let mut template = ast::Template { home: Home::Elsewhere(home), ..template.clone() };
                if let (Some(body), false) = (&mut template.body, is_external) {
                    inlined.inline(body, &mut own);
                    templates[position] = own.is_empty().then(|| Rc::new(template));
                }
            }
        }
        if let Some(diag) = own.into_iter().next() {
            let import = library.imported.iter().position(|imported| library.reaches(imported, position));
            diags.push(at_import(diag, &foreign.item, import.map(|import| &imports[import])));
        }
        table.entries.push(entry);
    }
    let mut templates_here = Templates::default();
    for (import, imported) in imports.iter().zip(&library.imported) {
        let Imported::Function(position) = imported else { continue };
        match &library.functions[*position].item {
            ForeignItem::Function(_) => _ = table.own().insert(import.name.to_string(), first + position),
            ForeignItem::Template(_) => {
                templates_here.import(import.name.to_string(), templates[*position].clone())
            }
        }
    }
    templates_here
}

impl ForeignBlock {
    /// The names in dimensions and types. Structs that make no sense have been reported where they stand.
    fn dims(&self, others: &[DimNames]) -> DimNames {
        let mut known = DimNames::default();
        for ForeignName { local, block, name } in &self.imports {
            known.import(local.clone(), others.get(*block), name, None);
        }
        let (constants, structs) = (self.constants.clone(), self.structs.clone());
        let block = ast::Block { constants, structs, ..ast::Block::default() };
        let (_, mut dims) = constants_of(&block, known, &mut Diags::new());
        structs_of(&block, &mut dims, &mut Diags::new());
        dims
    }
}

impl DimNames {
    /// Adds a struct or constant of another block; where there is none, one that has been reported.
    fn import(&mut self, local: String, from: Option<&Self>, name: &str, alias: Option<&Ident>) {
        let defined = from.and_then(|from| from.structs.get(name)).cloned();
        let dim = from.and_then(|from| from.constants.get(name));
        let plain = from.and_then(|from| from.plain.get(name));
        match (defined, dim, plain) {
            (Some(defined), ..) => {
                let defined = defined.map(|defined| Defined { alias: alias.cloned(), ..defined });
                Rc::make_mut(&mut self.structs).insert(local, defined);
            }
            (None, Some(dim), _) => _ = Arc::make_mut(&mut self.constants).insert(local, dim.clone()),
            (None, None, Some(plain)) => _ = Arc::make_mut(&mut self.plain).insert(local, plain.clone()),
            (None, None, None) => Arc::make_mut(&mut self.unread).push(local),
        }
    }
}

impl Library {
    /// The names in dimensions and types of each block.
    fn dims(&self) -> Vec<DimNames> {
        let mut all: Vec<DimNames> = Vec::new();
        for block in &self.blocks {
            let dims = block.dims(&all);
            all.push(dims);
        }
        all
    }

    /// The structs and constants that a program imports.
    pub(crate) fn names(&self, imports: &[Import]) -> DimNames {
        let mut known = DimNames::default();
        if !self.imported.iter().any(|imported| matches!(imported, Imported::Item { .. })) {
            return known;
        }
        let all = self.dims();
        for (import, imported) in imports.iter().zip(&self.imported) {
            if let Imported::Item { block, name, alias } = imported {
                known.import(import.name.to_string(), all.get(*block), name, Some(alias));
            }
        }
        known
    }

    /// Whether what is imported is a function or calls it.
    fn reaches(&self, from: &Imported, to: usize) -> bool {
        let Imported::Function(from) = *from else { return false };
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
fn at_import(diag: Diag, item: &ForeignItem, import: Option<&Import>) -> Diag {
    let (name, site) = item.name_and_site();
    let site = import.map_or(site, |import| import.site);
    let message = format!("in the imported function `{name}`: {}", diag.message);
    let told = Diag { site, message, ..diag };
    told.note_at(diag.site, "it stands")
}
