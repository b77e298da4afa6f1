//! The functions that bodies call, and what each of them comes to.

use std::collections::BTreeMap;

use crate::surface::lower::declarations::lowered::{Local, Seen, Source};
use crate::surface::lower::declarations::signature::Signature;
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::declarations::types::DimNames;

/// The functions of a program, and of those it imports.
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
    /// Which names mean which entry: first to the program itself, then to nobody, as in the library, then to each function
    /// and template of other blocks.
    scopes: Vec<BTreeMap<String, usize>>,
    /// The templates of other blocks: the scope of each, and the names in its dimensions.
    homes: Vec<(usize, DimNames)>,
    /// The names of items that could not be read.
    unread: Vec<String>,
}

/// The functions that a body sees.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    table: &'a Table,
    scope: usize,
}

/// A function of a block.
#[derive(Default)]
pub(crate) struct Entry {
    /// Nothing where the signature makes no sense, which has been reported.
    pub(crate) signature: Option<Signature>,
    /// Nothing where the body makes none, or has not been lowered so far.
    pub(crate) compiled: Option<Compiled>,
    /// What the body binds.
    pub(crate) locals: Vec<Local>,
}

/// A body that has been lowered.
pub(crate) struct Compiled {
    pub(crate) source: Source,
    pub(crate) result: Structure,
    pub(crate) updates: Vec<usize>,
    pub(crate) seen: Vec<Seen>,
}

const OWN: usize = 0;
const NOBODY: usize = 1;

impl Table {
    pub(crate) fn new(unread: Vec<String>) -> Self {
        Self { entries: Vec::new(), scopes: vec![BTreeMap::new(); 2], homes: Vec::new(), unread }
    }

    /// The names that the program itself uses.
    pub(crate) fn own(&mut self) -> &mut BTreeMap<String, usize> {
        &mut self.scopes[OWN]
    }

    pub(crate) fn add_scope(&mut self, names: BTreeMap<String, usize>) -> usize {
        self.scopes.push(names);
        self.scopes.len() - 1
    }

    /// Adds what the names in a template of another block mean.
    pub(crate) fn add_home(&mut self, names: BTreeMap<String, usize>, dims: DimNames) -> usize {
        let scope = self.add_scope(names);
        self.homes.push((scope, dims));
        self.homes.len() - 1
    }

    pub(crate) fn scope(&self, scope: usize) -> Scope<'_> {
        Scope { table: self, scope }
    }
}

impl<'a> Scope<'a> {
    pub(crate) fn position(self, name: &str) -> Option<usize> {
        self.table.scopes[self.scope].get(name).copied()
    }

    pub(crate) fn entry(self, position: usize) -> &'a Entry {
        &self.table.entries[position]
    }

    pub(crate) fn is_unread(self, name: &str) -> bool {
        self.scope == OWN && self.table.unread.iter().any(|unread| unread == name)
    }

    pub(crate) fn names(self) -> impl Iterator<Item = &'a str> {
        self.table.scopes[self.scope].keys().map(String::as_str)
    }

    /// Whether a function has a parameter that it may update.
    pub(crate) fn updates(self, name: &str) -> bool {
        let signature =
            self.position(name).and_then(|position| self.table.entries[position].signature.as_ref());
        signature.is_some_and(|signature| signature.parameters.iter().any(|parameter| parameter.update))
    }

    /// What the library sees.
    pub(crate) fn of_library(self) -> Self {
        Self { scope: NOBODY, ..self }
    }

    /// What a template of another block sees.
    pub(crate) fn of_home(self, home: usize) -> (Self, &'a DimNames) {
        let (scope, dims) = &self.table.homes[home];
        (Self { scope: *scope, ..self }, dims)
    }
}
