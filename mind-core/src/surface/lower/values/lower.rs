//! The node-by-node lowering that both forms of the language share: error reporting, and lookup of extents and
//! constants.

use std::collections::BTreeSet;

use proc_macro2::Ident;

use super::expressions::{BoundNames, Expressions};
use super::patterns::fields_in;
use super::{Binding, Lowered, MAX_TUPLE_DEPTH, MAX_TUPLE_LEAVES, Record, Stop, Value, VariableScopes};
use crate::diag::{Code, Diag, Diags, Site};
use crate::surface::ast::{ExprId, Pattern};
use crate::surface::lower::declarations::structure::StructType;

/// A body that is being lowered.
pub(crate) trait Lower: Expressions {
    /// Mutable access to the values of the nodes that have been lowered.
    fn values_mut(&mut self) -> &mut Vec<Value<Self::Tensor>>;

    /// The variables in scope.
    fn names_mut(&mut self) -> &mut VariableScopes<Self::Tensor>;

    /// The errors so far.
    fn diags_mut(&mut self) -> &mut Diags;

    /// The keys of errors that are reported only once.
    fn reported_mut(&mut self) -> &mut BTreeSet<String>;

    /// Attributes an error inside of templates to the call that led there.
    fn at_call(&self, diag: Diag) -> Diag;

    /// The site of the argument that a name in a template stands for.
    fn argument_site(&self, expr: ExprId) -> Option<Site>;

    /// The key of a name in the scope.
    fn key(name: &Ident) -> String {
        name.to_string()
    }

    /// Records that the program names a field of a struct, which may be private in Rust.
    fn sees(&mut self, ty: &StructType, field: &Ident) -> Lowered<()>;

    /// Records the value that a name is bound to.
    fn note_binding(&mut self, _name: &Ident, _value: &Value<Self::Tensor>) {}

    /// Checks that two structs of one type have the same extents, where these are not known.
    fn check_same(
        &mut self,
        _label: &str,
        _first: (&Record<Self::Tensor>, &str),
        _other: (&Record<Self::Tensor>, &str),
        _expr: ExprId,
    ) {
    }

    fn value_or_poison(&mut self, value: Lowered<Value<Self::Tensor>>) -> Value<Self::Tensor> {
        value.unwrap_or_else(|stop| {
            self.report(stop);
            Value::Poison
        })
    }

    /// Reports an error; lowering continues.
    fn report(&mut self, stop: Stop) {
        let (argument, diag) = match stop {
            Stop::Poisoned => return,
            Stop::Mistake(diag) => (None, diag),
            Stop::Argument(expr, diag) => (self.argument_site(expr), diag),
        };
        let diag = self.at_call(*diag);
        self.diags_mut().push(Diag { site: argument.unwrap_or(diag.site), ..diag });
    }

    /// Records the fields that a pattern names.
    fn sees_in(&mut self, pattern: &Pattern, value: &Value<Self::Tensor>) {
        for (ty, field) in fields_in(pattern, value) {
            self.sees(&ty, field).unwrap_or_else(|stop| self.report(stop));
        }
    }

    /// Binds the names in a pattern.
    fn bind(&mut self, pattern: &Pattern, value: Value<Self::Tensor>, expr: ExprId) {
        self.sees_in(pattern, &value);
        let BoundNames { names, mistakes } = self.bound_by(pattern, value, expr);
        mistakes.into_iter().for_each(|mistake| self.report(mistake.into()));
        for (name, value) in names {
            self.note_binding(name, &value);
            self.names_mut().bind(Self::key(name), Binding::Local(value));
        }
    }

    /// An error that is reported once per `name`, even if it occurs again: for example an undefined name.
    fn once(&mut self, name: String, diag: impl FnOnce() -> Diag) -> Stop {
        if self.reported_mut().insert(name) { diag().into() } else { Stop::Poisoned }
    }

    fn tuple(&mut self, elements: Vec<Value<Self::Tensor>>, expr: ExprId) -> Lowered<Value<Self::Tensor>> {
        if let Some(tuple) = Value::tuple(elements) {
            return Ok(tuple);
        }
        let site = self.site(expr);
        // Reported once: a tuple beyond the limits is often an element of another one.
        Err(self.once("(…)".to_owned(), || {
            let message = format!(
                "a tuple exceeds the limit of {MAX_TUPLE_DEPTH} levels and {MAX_TUPLE_LEAVES} values in all"
            );
            Diag::new(Code::E1008, site, message)
        }))
    }

    /// The extent or constant of this name; `None` if neither exists.
    fn constant(&mut self, name: &str, expr: ExprId) -> Option<Lowered<Value<Self::Tensor>>> {
        let dims = self.dims();
        if let Some(dim) = dims.get(name) {
            return Some(Ok(Value::Literal(self.literals_mut().dim(dim, expr))));
        }
        if dims.is_unread(name) {
            return Some(Err(Stop::Poisoned));
        }
        let plain = dims.plain.get(name).cloned()?;
        Some(Ok(Value::Literal(self.literals_mut().plain(plain, expr))))
    }
}
