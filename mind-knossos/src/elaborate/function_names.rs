//! The syntax of function names: `f`, `[f T]`, `[rev f]`, `[fwd [rev [f T]]]`.

use std::fmt;

use mind_core::{
    diag::{Code, Diag},
    surface::lower::undefined,
};

use super::{Elaborator, Found};
use crate::{
    ir::{Derivative, Function, FunctionId, Position},
    prelude,
    primitives::{self, PRIMITIVES, is_primitive},
    read::{Form, FormId},
    types::TypeId,
};

/// A name of a function.
#[derive(Debug)]
pub(super) struct Name<'a> {
    /// The derivatives, outermost first.
    pub derivatives: Vec<Derivative>,
    pub base: &'a str,
    /// The argument type of `base`, if it is written.
    pub ty: Option<TypeId>,
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.derivatives.iter().try_for_each(|derivative| write!(f, "[{} ", derivative.name()))?;
        write!(f, "{}{}", self.base, "]".repeat(self.derivatives.len()))
    }
}

/// The derivative with this keyword. `CL` stands for the function itself and gives `Some(None)`.
fn derivative(name: &str) -> Option<Option<Derivative>> {
    Some(Some(match name {
        "fwd" => Derivative::Fwd,
        "rev" | "sufrev" => Derivative::Rev,
        "suffwdpass" => Derivative::SufFwdPass,
        "sufrevpass" => Derivative::SufRevPass,
        "shape" => Derivative::Shape,
        "CL" => return Some(None),
        _ => return None,
    }))
}

/// Whether a name, with or without a suffix of operand types, belongs to the prelude or is a primitive.
pub(super) fn names_builtin(name: &str) -> bool {
    let base = suffixed(name).map_or(name, |(base, _)| base);
    is_primitive(base) || prelude::names().any(|own| own == base)
}

/// Splits a name such as `add@ff` into the predeclared function's name and the types of the suffix.
fn suffixed(name: &str) -> Option<(&str, Vec<TypeId>)> {
    let (base, suffix) = name.split_once('@')?;
    let is_predeclared = prelude::names().any(|own| own == base) || ["eq", "ne"].contains(&base);
    let letter = |letter| match letter {
        'f' => Some(TypeId::FLOAT),
        'i' => Some(TypeId::INTEGER),
        _ => None,
    };
    let types = suffix.chars().map(letter).collect::<Option<_>>()?;
    is_predeclared.then_some((base, types))
}

const DERIVATIVES: [&str; 7] = ["fwd", "rev", "sufrev", "suffwdpass", "sufrevpass", "shape", "CL"];

impl<'a> Elaborator<'_, 'a> {
    pub(super) fn name(&mut self, form: FormId) -> Found<Name<'a>> {
        match self.forms.get(form) {
            Form::Name(base) => Some(Name { derivatives: Vec::new(), base, ty: None }),
            Form::List(members) => match members[..] {
                [first, second] if self.forms.name(first).and_then(derivative).is_some() => {
                    self.derived(first, second)
                }
                [first, ty] if self.forms.name(first).is_some() => {
                    let base = self.forms.name(first)?;
                    Some(Name { derivatives: Vec::new(), base, ty: Some(self.ty(ty)?) })
                }
                _ => {
                    self.unexpected(form, "a function name such as `f`, `[rev f]` or `[f Float]`");
                    None
                }
            },
            _ => {
                self.unexpected(form, "a function name");
                None
            }
        }
    }

    /// Reads `[derivative name]`.
    pub(super) fn derived(&mut self, outer: FormId, inner: FormId) -> Found<Name<'a>> {
        let Some(outer_name) = self.forms.name(outer) else {
            self.unexpected(outer, "the name of a derivative");
            return None;
        };
        let Some(outer) = derivative(outer_name) else {
            let place = self.forms.place(outer).into();
            self.diags.push(undefined("derivative", outer_name, place, DERIVATIVES));
            return None;
        };
        let mut name = self.name(inner)?;
        name.derivatives.splice(0..0, outer);
        Some(name)
    }

    /// Whether this is the old syntax `[D f]`, `[Dt f]`, or `D$f`. Such names can be declared, but linear maps do not
    /// exist.
    pub(super) fn is_old_derivative(&self, form: FormId) -> bool {
        match self.forms.get(form) {
            Form::Name(name) => name.starts_with("D$") || name.starts_with("Dt$"),
            Form::List(members) => {
                matches!(members.first().and_then(|first| self.forms.name(*first)), Some("D" | "Dt"))
            }
            _ => false,
        }
    }

    /// The name without a suffix such as `@ff`, if the suffix matches the argument of a predeclared function.
    pub(super) fn unsuffixed(&self, name: &'a str, argument: TypeId) -> &'a str {
        let types = &self.program.types;
        let members = types.members(argument);
        match suffixed(name) {
            Some((base, promised)) if promised == [argument] || Some(&promised[..]) == members => base,
            _ => name,
        }
    }

    pub(super) fn is_builtin(&self, base: &str, argument: TypeId) -> bool {
        let members = self.program.types.members(argument);
        is_primitive(base)
            || prelude::overloads(base)
                .any(|(parameters, _)| parameters == [argument] || members == Some(parameters))
    }

    /// The derivative that a definition with this name and argument defines, and the function that it is a derivative
    /// of.
    pub(super) fn derivative_of(
        &mut self,
        at: FormId,
        name: &Name<'a>,
        argument: TypeId,
    ) -> Found<(Derivative, FunctionId)> {
        let base = self.base_of(at, name, Some(argument))?;
        let (outer, inner) = name.derivatives.split_first()?;
        let of = self.derive(at, inner, base)?;
        // `foretell` declared the prelude functions whose derivatives the program defines, except those with their own
        // syntax.
        let argument = self.program.function(base).argument;
        let builtin = self.program.overload(self.unsuffixed(name.base, argument), argument).is_none();
        if builtin {
            let message = format!("`{name}` is built in and cannot be redefined");
            self.report(Code::E2008, at, message);
            return None;
        }
        Some((*outer, of))
    }

    /// Applies derivatives to a function, the last one in the list first. Each can double the parts of the types, so
    /// their number is checked.
    pub(super) fn derive(
        &mut self,
        at: FormId,
        derivatives: &[Derivative],
        of: FunctionId,
    ) -> Found<FunctionId> {
        let mut id = of;
        for derivative in derivatives.iter().rev() {
            id = self.program.derivative(*derivative, id);
            let Function { argument, result, .. } = *self.program.function(id);
            if !self.is_of_few_parts(at, argument) || !self.is_of_few_parts(at, result) {
                return None;
            }
        }
        Some(id)
    }

    /// The function that a name is a derivative of. `argument` is the argument type of the derivative, if it is known.
    pub(super) fn base_of(
        &mut self,
        at: FormId,
        name: &Name<'a>,
        argument: Option<TypeId>,
    ) -> Found<FunctionId> {
        let argument = self.base_argument(name, argument);
        let overloads = self.program.overloads(name.base);
        let found = match argument {
            Some(argument) => {
                let base = self.unsuffixed(name.base, argument);
                self.program.overload(base, argument).or_else(|| self.program.builtin(base, argument))
            }
            // With only one overload, the argument type need not be written.
            None => (overloads.len() == 1).then(|| overloads[0]),
        };
        if found.is_some() {
            return found;
        }
        let known = is_primitive(name.base) || prelude::names().any(|own| own == name.base);
        if self.program.overloads(name.base).is_empty() && !known {
            self.undefined_function(name.base, self.forms.place(at));
        } else {
            let types = &self.program.types;
            let message = match argument {
                Some(argument) => format!("no overload of `{}` takes {}", name.base, types.show(argument)),
                None => format!("`{name}` is ambiguous: `{}` has several overloads", name.base),
            };
            let diag = Diag::new(Code::E2006, self.forms.place(at).into(), message);
            let diag = self.with_overloads(diag, name.base);
            self.diags
                .push(diag.help(format!("write the type of the argument, as in [{} Float]", name.base)));
        }
        None
    }

    /// The argument type of the base function, if it follows from the argument type of the derivative.
    pub(super) fn base_argument(&self, name: &Name<'a>, argument: Option<TypeId>) -> Option<TypeId> {
        let types = &self.program.types;
        let inner = name.derivatives.iter().try_fold(argument, |argument, derivative| match derivative {
            Derivative::Fwd | Derivative::Rev => match types.members(argument?) {
                Some([first, _]) => Some(Some(*first)),
                _ => None,
            },
            _ if *derivative == Derivative::SufRevPass => Some(None),
            _ => Some(argument),
        });
        name.ty.or(inner.flatten())
    }

    /// Reports E2002 for the head of a call.
    pub(super) fn undefined_function(&mut self, name: &str, place: Position) {
        if let Some(later) = self.defined_later(name) {
            let diag = Diag::new(
                Code::E2002,
                place.into(),
                format!("function `{name}` is used before its definition"),
            );
            let diag = diag.note_at(later.into(), "defined");
            return self.diags.push(diag.help(format!("declare it first: (edef {name} type argument-type)")));
        }
        let mut known: Vec<&str> = self.program.function_names().collect();
        for name in prelude::names().chain(PRIMITIVES.iter().map(|(name, _)| *name)) {
            known.push(name);
        }
        let diag = undefined("function", name, place.into(), known);
        self.diags.push(diag);
    }

    /// The position of a name's definition, anywhere in the file.
    fn defined_later(&self, name: &str) -> Option<Position> {
        let defines = |form: &&FormId| match self.forms.list(**form) {
            Some([head, own, ..]) => {
                self.forms.name(*head) == Some("def") && self.forms.name(*own) == Some(name)
            }
            _ => false,
        };
        self.forms.top.iter().find(defines).map(|form| self.forms.place(*form))
    }

    /// Adds notes with the usage and the overloads of a name.
    pub(super) fn with_overloads(&self, mut diag: Diag, name: &str) -> Diag {
        let types = &self.program.types;
        if let Some(usage) = primitives::usage(name) {
            diag = diag.note(format!("usage: {usage}"));
        }
        let own = self.program.overloads(name);
        let is_own = |parameters: &[TypeId]| {
            own.iter().any(|id| {
                let argument = self.program.function(*id).argument;
                *parameters == [argument] || types.members(argument) == Some(parameters)
            })
        };
        let takes = |parameters: &[TypeId], result: TypeId| {
            let parameters: Vec<_> = parameters.iter().map(|ty| types.show(*ty)).collect();
            let parameters = if parameters.is_empty() { "no arguments".into() } else { parameters.join(" ") };
            format!("`{name}` takes {parameters} and returns {}", types.show(result))
        };
        for (parameters, result) in prelude::overloads(name).filter(|(parameters, _)| !is_own(parameters)) {
            diag = diag.note(takes(parameters, result));
        }
        for id in own {
            let function = self.program.function(*id);
            let text = takes(&function.parameters, function.result);
            diag = diag.note_at(function.place.into(), text + ", defined");
        }
        diag
    }
}
