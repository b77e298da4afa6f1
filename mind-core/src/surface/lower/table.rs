//! The functions that bodies call, and what each of them comes to.

use std::collections::BTreeMap;

use super::lowered::Source;
use super::signature::Signature;
use super::structure::Structure;

/// The functions of a program, and of those it imports.
pub(super) struct Table {
    pub(super) entries: Vec<Entry>,
    /// Which names mean which entry: first to the program itself, then to each function of other blocks.
    scopes: Vec<BTreeMap<String, usize>>,
    /// The names of items that could not be read.
    unread: Vec<String>,
}

/// The functions that a body sees.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    entries: &'a [Entry],
    positions: &'a BTreeMap<String, usize>,
    unread: &'a [String],
}

/// A function of a block.
#[derive(Default)]
pub(super) struct Entry {
    /// Nothing where the signature makes no sense, which has been reported.
    pub(super) signature: Option<Signature>,
    /// Nothing where the body makes none, or has not been lowered so far.
    pub(super) compiled: Option<Compiled>,
}

/// A body that has been lowered.
pub(super) struct Compiled {
    pub(super) source: Source,
    pub(super) result: Structure,
    pub(super) updates: Vec<usize>,
}

impl Table {
    pub(super) fn new(unread: Vec<String>) -> Self {
        Self { entries: Vec::new(), scopes: vec![BTreeMap::new()], unread }
    }

    /// The names that the program itself uses.
    pub(super) fn own(&mut self) -> &mut BTreeMap<String, usize> {
        &mut self.scopes[0]
    }

    pub(super) fn add_scope(&mut self, names: BTreeMap<String, usize>) -> usize {
        self.scopes.push(names);
        self.scopes.len() - 1
    }

    pub(super) fn scope(&self, scope: usize) -> Scope<'_> {
        Scope { entries: &self.entries, positions: &self.scopes[scope], unread: &self.unread }
    }
}

impl<'a> Scope<'a> {
    pub(super) fn position(self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    pub(super) fn entry(self, position: usize) -> &'a Entry {
        &self.entries[position]
    }

    pub(super) fn is_unread(self, name: &str) -> bool {
        self.unread.iter().any(|unread| unread == name)
    }

    pub(super) fn names(self) -> impl Iterator<Item = &'a str> {
        self.positions.keys().map(String::as_str)
    }

    /// Whether a function has a parameter that it may update.
    pub(super) fn updates(self, name: &str) -> bool {
        let signature = self.position(name).and_then(|position| self.entries[position].signature.as_ref());
        signature.is_some_and(|signature| signature.parameters.iter().any(|parameter| parameter.update))
    }
}
