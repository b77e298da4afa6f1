//! Collects statements during lowering, and the heads around them.

use std::mem;

use crate::{
    ir::ValueId,
    loops::{Control, Holds, Size, Statement, Var, Variable},
    ty::DType,
};

/// The variables and statements so far.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) variables: Vec<Variable>,
    pub(super) body: Vec<Statement>,
    /// The open heads, each with the statements before it.
    open: Vec<(Control, Vec<Statement>)>,
}

impl Writer {
    /// A new variable. `what` is its role for the value, or its name if there is no value.
    pub(super) fn variable(&mut self, value: Option<ValueId>, what: &str, holds: Holds) -> Var {
        self.variables.push(Variable { value, what: what.to_owned(), holds });
        Var(self.variables.len() - 1)
    }

    /// A new variable that is derived from another: `x` has a `row`.
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

    /// Defines a size under a name.
    pub(super) fn size(&mut self, name: &str, size: Size) -> Var {
        let var = self.variable(None, name, Holds::Size);
        self.push(Statement::Size(var, size));
        var
    }

    /// Opens a head. The statements that follow belong to it until it is closed.
    pub(super) fn open(&mut self, head: Control) {
        self.open.push((head, mem::take(&mut self.body)));
    }

    pub(super) fn close(&mut self) {
        let (head, before) = self.open.pop().expect("a head is open");
        let body = mem::replace(&mut self.body, before);
        self.push(Statement::Do(head, body));
    }

    /// All variables and statements, once all heads are closed.
    pub(super) fn finish(self) -> (Vec<Variable>, Vec<Statement>) {
        assert!(self.open.is_empty(), "every head is closed");
        (self.variables, self.body)
    }
}
