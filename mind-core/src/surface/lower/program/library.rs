//! Functions, structs and constants of other blocks, as a program imports them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use proc_macro2::{Ident, Span};

use crate::diag::{Code, Diag, Diags, Site};
use crate::surface::ast::{self, Home, Import};
use crate::surface::lower::body::{LoweredBody, lower_body};
use crate::surface::lower::callees::inline::Templates;
use crate::surface::lower::callees::table::{Entry, Table};
use crate::surface::lower::declarations::constants::constants as constants_of;
use crate::surface::lower::declarations::signature::function_signature;
use crate::surface::lower::declarations::structs::structs as structs_of;
use crate::surface::lower::declarations::structure::{Alias, Defined, ident, stack_name};
use crate::surface::lower::declarations::types::DimNames;

/// The items of other blocks that a program uses, and the items that these use.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// The functions and templates, each once. One comes after those that it calls.
    pub functions: Vec<ImportedItem>,
    /// The item of each import of the program.
    pub imported: Vec<Imported>,
    /// The blocks of all these items. A block comes after those whose structs and constants it uses.
    pub blocks: Vec<ForeignBlock>,
}

/// The item that an import names.
#[derive(Clone, Debug)]
pub enum Imported {
    /// A function or template, by its index in [`Library::functions`].
    Function(usize),
    /// A struct or constant.
    Item {
        /// Its block, by its index in [`Library::blocks`].
        block: usize,
        /// Its name in that block.
        name: String,
        /// Its name in the generated Rust.
        alias: Ident,
    },
}

/// A struct or constant that a block imports from another one.
#[derive(Clone, Debug)]
pub struct ForeignName {
    /// Its name in the importing block.
    pub local: String,
    /// Its block, by its index in [`Library::blocks`].
    pub block: usize,
    /// Its name in that block.
    pub name: String,
}

/// The declarations that the functions of another block share.
#[derive(Clone, Debug, Default)]
pub struct ForeignBlock {
    /// The structs and constants that it imports from other blocks.
    pub imports: Vec<ForeignName>,
    /// Its constants, with their values evaluated.
    pub constants: Vec<ast::Constant>,
    /// Its structs.
    pub structs: Vec<ast::Struct>,
    /// The Rust names of the stacks of structs for which it has Rust types.
    pub stacks: Vec<String>,
    /// The names of functions that it declares by `extern`. They cannot be called here.
    pub externs: Vec<String>,
}

/// A function or template of another block, and the meaning of the names in it.
#[derive(Clone, Debug)]
pub struct ImportedItem {
    /// The function or template. If it has an error, which is reported in its own block, it has no body.
    pub item: ForeignItem,
    /// The functions that it calls: the name that it uses, and the index in [`Library::functions`].
    pub callees: Vec<(String, usize)>,
    /// Its block, by its index in [`Library::blocks`].
    pub block: usize,
}

/// A function or template of another block.
#[derive(Clone, Debug)]
pub enum ForeignItem {
    /// A function. Its attributes, gradient and visibility have no effect here.
    Function(ast::Function),
    /// A template, which is inlined where it is called.
    Template(ast::Template),
}

impl ForeignItem {
    /// Every callee in its body, including built-in functions, with the site of the call.
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

/// Lowers the functions of a library and adds them to a table. Returns the templates that the program calls.
///
/// These functions were already lowered in their own blocks. Errors in them are therefore rare: they come from another
/// version of the language. Each is reported once, at the import by which the program reaches the function.
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
            let message = format!("it calls `{callee}`, which is declared `extern` only in its own block");
            let help =
                format!("declare `{callee}` as `extern` in this block too, and call it from a function here");
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
    /// The names for dimensions and types. Errors in structs have been reported in the block itself.
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
    /// Adds a struct or constant of another block. If the block does not have it, the name is added as one whose error
    /// has been reported.
    fn import(&mut self, local: String, from: Option<&Self>, name: &str, alias: Option<Alias>) {
        let defined = from.and_then(|from| from.structs.get(name)).cloned();
        let dim = from.and_then(|from| from.constants.get(name));
        let plain = from.and_then(|from| from.plain.get(name));
        match (defined, dim, plain) {
            (Some(defined), ..) => {
                let defined = defined.map(|defined| Defined { alias, ..defined });
                Rc::make_mut(&mut self.structs).insert(local, defined);
            }
            (None, Some(dim), _) => _ = Arc::make_mut(&mut self.constants).insert(local, dim.clone()),
            (None, None, Some(plain)) => _ = Arc::make_mut(&mut self.plain).insert(local, plain.clone()),
            (None, None, None) => Arc::make_mut(&mut self.unread).push(local),
        }
    }
}

impl Library {
    /// The names for dimensions and types in each block.
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
                let alias = Alias { name: alias.clone(), stacks: self.stack_levels(*block, name) };
                known.import(import.name.to_string(), all.get(*block), name, Some(alias));
            }
        }
        known
    }

    /// The number of leading axes up to which a block has Rust types for stacks of its struct `name`.
    pub fn stack_levels(&self, block: usize, name: &str) -> usize {
        let has = |level: &usize| {
            let stack = stack_name(&ident(name, Span::call_site()), *level).to_string();
            self.blocks.get(block).is_some_and(|block| block.stacks.contains(&stack))
        };
        (1..).take_while(has).count()
    }

    /// Whether an import is the function `to`, or calls it directly or indirectly.
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

/// Moves an error in an imported function to the import.
fn at_import(diag: Diag, item: &ForeignItem, import: Option<&Import>) -> Diag {
    let (name, site) = item.name_and_site();
    let site = import.map_or(site, |import| import.site);
    let message = format!("in the imported function `{name}`: {}", diag.message);
    let diag_at_call = Diag { site, message, ..diag };
    diag_at_call.note_at(diag.site, "the error is")
}
