//! The functions that bodies call, with their signatures and lowered bodies.

use std::collections::BTreeMap;

use crate::surface::lower::declarations::lowered::{Local, LoweredModule, Seen};
use crate::surface::lower::declarations::signature::Signature;
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::declarations::types::DimNames;

/// The functions of a program, and of those it imports.
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
    /// The entry of each name, by scope. The first scope is that of the program. The second has no names and is that of
    /// the library. Each function and template of another block has a scope after those.
    scopes: Vec<BTreeMap<String, usize>>,
    /// The templates of other blocks: the scope of each, and the names that its dimensions may use.
    homes: Vec<(usize, DimNames)>,
    /// The names of items that could not be parsed.
    unread: Vec<String>,
    /// Whether each call becomes an instruction that holds the body of the callee. Otherwise it is inlined.
    pub(crate) keeps_calls: bool,
}

/// The functions that are visible in a body.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    table: &'a Table,
    scope: usize,
}

/// A function of a block.
#[derive(Default)]
pub(crate) struct Entry {
    /// `None` if the signature is invalid; the error has been reported.
    pub(crate) signature: Option<Signature>,
    /// `None` if the body is invalid or has not been lowered yet.
    pub(crate) compiled: Option<Compiled>,
    /// The names that the body binds.
    pub(crate) locals: Vec<Local>,
}

/// A body that has been lowered.
pub(crate) struct Compiled {
    pub(crate) source: LoweredModule,
    pub(crate) result: Structure,
    pub(crate) updates: Vec<usize>,
    pub(crate) seen: Vec<Seen>,
}

const OWN: usize = 0;
const LIBRARY: usize = 1;

impl Table {
    pub(crate) fn new(unread: Vec<String>) -> Self {
        let scopes = vec![BTreeMap::new(); 2];
        Self { entries: Vec::new(), scopes, homes: Vec::new(), unread, keeps_calls: false }
    }

    /// The names that are visible in the program itself.
    pub(crate) fn own(&mut self) -> &mut BTreeMap<String, usize> {
        &mut self.scopes[OWN]
    }

    pub(crate) fn add_scope(&mut self, names: BTreeMap<String, usize>) -> usize {
        self.scopes.push(names);
        self.scopes.len() - 1
    }

    /// Adds the names that a template of another block sees.
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

    /// Whether each call becomes an instruction that holds the body of the callee.
    pub(crate) fn keeps_calls(self) -> bool {
        self.table.keeps_calls
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

    /// The scope of the library.
    pub(crate) fn of_library(self) -> Self {
        Self { scope: LIBRARY, ..self }
    }

    /// The scope of a template of another block, and the names that its dimensions may use.
    pub(crate) fn of_home(self, home: usize) -> (Self, &'a DimNames) {
        let (scope, dims) = &self.table.homes[home];
        (Self { scope: *scope, ..self }, dims)
    }
}
