//! Expressions: literals, variables, special forms and calls.

use std::sync::Arc;

use mind_core::{
    diag::{Code, Diag},
    surface::lower::undefined,
};

use super::{Elaborator, Found};
use crate::{
    ir::{Check, Operation, ValueId},
    prelude,
    primitives::{self, TAKE_LAMBDAS, dummy, is_primitive, selector},
    read::{Form, FormId},
    types::{MAX_PARTS, TypeId},
};

impl<'a> Elaborator<'_, 'a> {
    pub(super) fn expression(&mut self, form: FormId) -> Found {
        let before = std::mem::replace(&mut self.b.place, self.forms.place(form));
        let found = self.expression_here(form);
        self.b.place = before;
        found.filter(|value| self.is_of_few_parts(form, self.b.ty(*value)))
    }

    /// Checks that a type is within the limit of parts. Reports an error if not.
    pub(super) fn is_of_few_parts(&mut self, at: FormId, ty: TypeId) -> bool {
        let is_within = self.program.types.parts(ty) <= MAX_PARTS;
        if !is_within {
            let message = format!("the type has more parts than the limit of {MAX_PARTS}");
            self.report(Code::E1008, at, message);
        }
        is_within
    }

    fn expression_here(&mut self, form: FormId) -> Found {
        match self.forms.get(form) {
            Form::Integer(value) => Some(self.b.integer(*value)),
            Form::Float(value) => Some(self.b.float(*value)),
            Form::String(value) => {
                let value = Arc::from(value.as_str());
                Some(self.b.emit(Operation::String(value), [], TypeId::STRING))
            }
            Form::Name(name) => self.variable(name, form),
            Form::List(members) => match members.split_first() {
                Some((head, arguments)) => match self.forms.get(*head) {
                    Form::Name(name) => self.named(name, *head, arguments, form),
                    Form::List(inner) if inner.first().is_some_and(|first| self.is_lambda(*first)) => {
                        let message = "a lambda cannot be called: lambdas are only arguments of primitives";
                        self.report(Code::E2011, *head, message);
                        None
                    }
                    // `((add 1 2))`: the grammar of ksc allows parentheses around an expression.
                    Form::List(_) if arguments.is_empty() && !self.forms.is_bracketed(*head) => {
                        self.expression(*head)
                    }
                    Form::List(_) if !self.is_function_name(*head) => {
                        self.several_expressions(*head, arguments)
                    }
                    Form::List(_) => self.derived_call(*head, arguments),
                    _ => {
                        self.unexpected(*head, "the name of a function to call");
                        self.expressions(arguments).and(None)
                    }
                },
                None => {
                    self.unexpected(form, "an expression");
                    None
                }
            },
            Form::Wrong => None,
        }
    }

    fn variable(&mut self, name: &'a str, at: FormId) -> Found {
        match name {
            "true" => return Some(self.b.emit(Operation::Bool(true), [], TypeId::BOOL)),
            "false" => return Some(self.b.emit(Operation::Bool(false), [], TypeId::BOOL)),
            _ => {}
        }
        if let Some((_, value)) = self.variables.iter().rev().find(|(own, _)| *own == name) {
            return *value;
        }
        if self.is_function(name) {
            let diag =
                Diag::new(Code::E2002, self.forms.place(at).into(), format!("`{name}` is not a variable"));
            let help = format!("`{name}` is a function: call it, or write a lambda that calls it");
            self.diags.push(diag.help(help));
        } else {
            let known = self.variables.iter().rev().map(|(own, _)| *own).chain(["true", "false"]);
            self.diags.push(undefined("variable", name, self.forms.place(at).into(), known));
        }
        None
    }

    fn is_function(&self, name: &str) -> bool {
        !self.program.overloads(name).is_empty()
            || is_primitive(name)
            || prelude::names().any(|own| own == name)
    }

    fn is_lambda(&self, head: FormId) -> bool {
        matches!(self.forms.name(head), Some("lam" | "lambda"))
    }

    /// Whether a list may be a function name, such as `[rev f]` or `[f Float]`, possibly in parentheses.
    fn is_function_name(&self, head: FormId) -> bool {
        let names = self.forms.list(head).unwrap_or_default();
        self.forms.is_bracketed(head) || names.len() == 2
    }

    /// Reports E1007 for several expressions in a row, which ksc's compilers do not accept either.
    fn several_expressions(&mut self, head: FormId, arguments: &[FormId]) -> Found {
        let message = format!("expected the name of a function to call, found {}", self.forms.describe(head));
        let help =
            "parentheses enclose one expression; write `(tuple …)` for several, or name each with `let`";
        self.diags.push(Diag::new(Code::E1007, self.forms.place(head).into(), message).help(help));
        self.expressions(arguments).and(None)
    }

    /// Elaborates a special form or a call.
    fn named(&mut self, name: &'a str, head: FormId, arguments: &[FormId], at: FormId) -> Found {
        match (name, arguments) {
            ("if", [condition, then, otherwise]) => self.branch(*condition, *then, *otherwise),
            ("assert", [condition, body]) => self.assertion(*condition, *body),
            ("let", [bindings, body]) => self.bindings(*bindings, *body),
            ("$dummy", [ty]) => {
                let ty = self.ty(*ty)?;
                Some(dummy(&mut self.b, &mut self.program.types, ty))
            }
            ("tuple", members) => {
                let members = self.expressions(members)?;
                Some(self.b.tuple(&mut self.program.types, &members))
            }
            ("lam" | "lambda", _) => {
                let message = "a lambda is not a value: lambdas are only arguments of primitives";
                self.report(Code::E2011, at, message);
                None
            }
            ("if" | "assert" | "let" | "$dummy", _) => {
                let usage = primitives::usage(name).unwrap_or_default();
                if arguments.iter().all(|part| *self.forms.get(*part) != Form::Wrong) {
                    self.wrong_parts(at, usage, name, arguments.len());
                }
                None
            }
            _ if TAKE_LAMBDAS.contains(&name) => self.with_lambda(name, head, arguments),
            _ => {
                let operands = self.expressions(arguments)?;
                self.call_named(name, head, &operands)
            }
        }
    }

    /// Elaborates all expressions, so that each reports its errors.
    pub(super) fn expressions(&mut self, forms: &[FormId]) -> Found<Vec<ValueId>> {
        let found: Vec<_> = forms.iter().map(|form| self.expression(*form)).collect();
        found.into_iter().collect()
    }

    fn branch(&mut self, condition: FormId, then: FormId, otherwise: FormId) -> Found {
        let decided = self.truth(condition, "the condition of `if`");
        self.b.begin(&[]);
        let first = self.expression(then);
        let then = self.b.end(first.unwrap_or_default());
        self.b.begin(&[]);
        let second = self.expression(otherwise);
        let block = self.b.end(second.unwrap_or_default());
        let (first, second) = (self.b.ty(first?), self.b.ty(second?));
        self.same(otherwise, "the branches of `if`", first, second).then_some(())?;
        Some(self.b.emit(Operation::If(then, block), [decided?], first))
    }

    fn assertion(&mut self, condition: FormId, body: FormId) -> Found {
        let holds = self.truth(condition, "the condition of `assert`");
        if let Some(holds) = holds {
            self.b.assert(holds, Check::Written);
        }
        let body = self.expression(body);
        holds.and(body)
    }

    fn truth(&mut self, form: FormId, what: &str) -> Found {
        let value = self.expression(form)?;
        self.same(form, what, TypeId::BOOL, self.b.ty(value)).then_some(value)
    }

    fn bindings(&mut self, bindings: FormId, body: FormId) -> Found {
        let outside = self.variables.len();
        let Some(members) = self.forms.list(bindings) else {
            self.unexpected(bindings, "bindings such as `(x 1)` or `((x 1) (y 2))`");
            return None;
        };
        let names = |form: FormId| {
            let members = self.forms.list(form)?;
            members.iter().all(|member| self.forms.name(*member).is_some()).then_some(())
        };
        match members {
            [pattern, _] if self.forms.name(*pattern).is_some() || names(*pattern).is_some() => {
                self.binding(bindings);
            }
            several => several.iter().for_each(|binding| self.binding(*binding)),
        }
        let found = self.expression(body);
        self.variables.truncate(outside);
        found
    }

    /// Elaborates a binding: `(name value)` or `((name …) value)`.
    fn binding(&mut self, form: FormId) {
        let Some(&[pattern, value]) = self.forms.list(form) else {
            return self.unexpected(form, "a name and a value such as `(x 1)`");
        };
        let found = self.expression(value);
        match self.forms.get(pattern) {
            Form::Name(name) => {
                if let Some(value) = found {
                    self.b.name(value, *name);
                }
                self.variables.push((name, found));
            }
            Form::List(names) => {
                let mut members = vec![None; names.len()];
                if let Some(tuple) = found {
                    let ty = self.b.ty(tuple);
                    match self.program.types.members(ty).map(<[_]>::len) {
                        Some(count) if count == names.len() => {
                            let found = self.b.members(&self.program.types, tuple);
                            members = found.into_iter().map(Some).collect();
                        }
                        _ => {
                            let ty = self.program.types.show(ty);
                            let message = format!(
                                "the pattern: expected a tuple of length {}, found {ty}",
                                names.len()
                            );
                            self.report(Code::E2001, pattern, message);
                        }
                    }
                }
                for (name, member) in names.iter().zip(members) {
                    match self.forms.name(*name) {
                        Some(name) => {
                            if let Some(member) = member {
                                self.b.name(member, name);
                            }
                            self.variables.push((name, member));
                        }
                        None => self.unexpected(*name, "a name"),
                    }
                }
            }
            _ => self.unexpected(pattern, "a name or a list of names"),
        }
    }

    /// Elaborates a call of a function by its plain name.
    fn call_named(&mut self, name: &'a str, head: FormId, operands: &[ValueId]) -> Found {
        let types: Vec<_> = operands.iter().map(|operand| self.b.ty(*operand)).collect();
        let argument = self.program.argument(&types);
        if let Some(id) = self.program.overload(name, argument) {
            return Some(self.call(id, operands));
        }
        let base = self.base_of_suffixed(name, head, &types)?;
        if let Some(id) = self.program.overload(base, argument) {
            return Some(self.call(id, operands));
        }
        let types = &mut self.program.types;
        if let Some(value) = primitives::call(&mut self.b, types, base, operands) {
            return Some(value);
        }
        // A call `(f t)` with a tuple means `(f a b)` with its members.
        if let [tuple] = operands
            && let Some(members) = types.members(self.b.ty(*tuple))
            && members.len() != 1
        {
            let at = self.b.depth();
            let members = self.b.members(types, *tuple);
            assert_eq!(at, self.b.depth(), "members are taken in the block of the call");
            if let Some(value) = primitives::call(&mut self.b, types, base, &members) {
                return Some(value);
            }
        }
        self.no_overload(base, head, argument);
        None
    }

    /// The name without a suffix such as `@ff`, whose letters must match the argument types.
    fn base_of_suffixed(&mut self, name: &'a str, head: FormId, types: &[TypeId]) -> Found<&'a str> {
        let Some((base, suffix)) = name.split_once('@') else { return Some(name) };
        if !prelude::names().any(|own| own == base) && !["eq", "ne"].contains(&base) {
            return Some(name);
        }
        let letter = |letter| match letter {
            'f' => Some(TypeId::FLOAT),
            'i' => Some(TypeId::INTEGER),
            _ => None,
        };
        let promised: Option<Vec<_>> = suffix.chars().map(letter).collect();
        if promised.as_deref() == Some(types) {
            return Some(base);
        }
        let types: Vec<_> = types.iter().map(|ty| self.program.types.show(*ty)).collect();
        let message = format!("the suffix `@{suffix}` does not match the argument types {}", types.join(" "));
        let diag = Diag::new(Code::E2006, self.forms.place(head).into(), message);
        let diag = self.with_overloads(diag, base);
        self.diags.push(diag.help(format!("write `{base}`")));
        None
    }

    /// Reports the error of a call that no overload accepts.
    pub(super) fn no_overload(&mut self, name: &'a str, head: FormId, argument: TypeId) {
        let place = self.forms.place(head);
        if self.is_function(name) || !self.program.overloads(name).is_empty() {
            let mut message = format!("no overload of `{name}` takes {}", self.program.types.show(argument));
            if name.starts_with("get$") {
                message = match selector(name) {
                    Some((_, count)) => format!(
                        "`{name}` takes a tuple of length {count}, found {}",
                        self.program.types.show(argument)
                    ),
                    None => format!("`{name}` is not of the form `get$i$n` with i from 1 to n"),
                };
            }
            let diag = Diag::new(Code::E2006, place.into(), message);
            let diag = self.with_overloads(diag, name);
            self.diags.push(diag);
        } else if let Some((_, value)) = self.variables.iter().rev().find(|(own, _)| *own == name) {
            if value.is_some() {
                let message = format!("`{name}` is a variable, and only functions can be called");
                self.report_at(Code::E2011, place, message);
            }
        } else {
            self.undefined_function(name, place);
        }
    }

    /// Elaborates a call of a derivative, `([rev f] …)`.
    fn derived_call(&mut self, head: FormId, arguments: &[FormId]) -> Found {
        let name = self.name(head);
        let operands = self.expressions(arguments);
        let (name, operands) = (name?, operands?);
        let types: Vec<_> = operands.iter().map(|operand| self.b.ty(*operand)).collect();
        let argument = self.program.argument(&types);
        let base = self.base_of(head, &name, Some(argument))?;
        let id = self.derive(head, &name.derivatives, base)?;
        let function = self.program.function(id);
        if function.argument == argument {
            return Some(self.call(id, &operands));
        }
        let types = &self.program.types;
        let (expected, found) = (types.show(function.argument), types.show(argument));
        let message = format!("no overload of `{name}` takes {found}");
        let result = types.show(function.result);
        let diag = Diag::new(Code::E2006, self.forms.place(head).into(), message);
        self.diags.push(diag.note(format!("`{name}` takes {expected} and returns {result}")));
        None
    }
}
