//! Statements as they are lowered: those so far, and what they stand in.

use std::mem;

use crate::{
    ir::ValueId,
    loops::{Head, Holds, Size, Statement, Var, Variable},
    ty::DType,
};

/// What has been written so far.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) variables: Vec<Variable>,
    pub(super) body: Vec<Statement>,
    /// The heads that are open, and what stands before them.
    open: Vec<(Head, Vec<Statement>)>,
}

impl Writer {
    /// A new variable; `what` it is of the value, or its name if there is none.
    pub(super) fn variable(&mut self, value: Option<ValueId>, what: &str, holds: Holds) -> Var {
        self.variables.push(Variable { value, what: what.to_owned(), holds });
        Var(self.variables.len() - 1)
    }

    /// What is something of another variable: `x` has a `row`.
    pub(super) fn derived(&mut self, of: Var, what: &str, holds: Holds) -> Var {
        let Variable { value, what: own, .. } = &self.variables[of.0];
        let what = if own.is_empty() { what.to_owned() } else { format!("{own}_{what}") };
        self.variables.push(Variable { value: *value, what, holds });
        Var(self.variables.len() - 1)
    }

    pub(super) fn holds(&self, var: Var) -> Holds {
        self.variables[var.0].holds
    }

    pub(super) fn dtype(&self, var: Var) -> DType {
        self.holds(var).dtype().expect("a variable that holds elements")
    }

    pub(super) fn push(&mut self, statement: Statement) {
        self.body.push(statement);
    }

    /// A size under a name.
    pub(super) fn size(&mut self, name: &str, size: Size) -> Var {
        let var = self.variable(None, name, Holds::Size);
        self.push(Statement::Size(var, size));
        var
    }

    /// What follows stands under this head, until it is closed.
    pub(super) fn open(&mut self, head: Head) {
        self.open.push((head, mem::take(&mut self.body)));
    }

    pub(super) fn close(&mut self) {
        let (head, before) = self.open.pop().expect("what is closed was opened");
        let body = mem::replace(&mut self.body, before);
        self.push(Statement::Do(head, body));
    }

    /// Everything, once all is closed.
    pub(super) fn finish(self) -> (Vec<Variable>, Vec<Statement>) {
        assert!(self.open.is_empty(), "what was opened is closed");
        (self.variables, self.body)
    }
}
