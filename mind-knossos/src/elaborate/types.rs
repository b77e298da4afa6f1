//! The syntax of types.

use mind_core::{diag::Code, surface::lower::undefined};

use super::{Elaborator, Found};
use crate::{
    read::{Form, FormId},
    types::{MAX_RANK, Type, TypeId},
};

const NAMES: [&str; 10] =
    ["Integer", "Float", "Bool", "String", "Vec", "Tensor", "Tuple", "Lam", "LM", "Tape"];

impl Elaborator<'_, '_> {
    pub(super) fn ty(&mut self, form: FormId) -> Found<TypeId> {
        match self.forms.get(form) {
            Form::Name(_) => self.type_of(&[form], form),
            Form::List(members) => self.type_of(&members.clone(), form),
            _ => {
                self.unexpected(form, "a type");
                None
            }
        }
    }

    /// Reads a type made of several forms, as after the `:` of a parameter. `at` is the form that contains them.
    pub(super) fn type_of(&mut self, forms: &[FormId], at: FormId) -> Found<TypeId> {
        let Some((head, rest)) = forms.split_first() else {
            self.unexpected(at, "a type");
            return None;
        };
        let Some(name) = self.forms.name(*head) else {
            // `(T)` means `T`.
            let ty = self.ty(*head)?;
            return self.nothing_follows(rest, "the type").then_some(ty);
        };
        let scalar = match name {
            "Integer" => TypeId::INTEGER,
            "Float" => TypeId::FLOAT,
            "Bool" => TypeId::BOOL,
            "String" => TypeId::STRING,
            "Tape" => TypeId::TAPE,
            "Vec" => {
                let element = self.types(name, rest, 1, *head)?;
                return Some(self.program.types.tensor(1, element[0]));
            }
            "Tensor" => {
                let Some((rank, rest)) = rest.split_first() else {
                    self.report(Code::E1007, *head, "`Tensor` needs a rank and an element type");
                    return None;
                };
                let element = self.types(name, rest, 1, *head);
                let rank = self.rank(*rank)?;
                return Some(self.program.types.tensor(rank, element?[0]));
            }
            "Tuple" => {
                let members = self.types(name, rest, rest.len(), *head)?;
                return Some(self.program.types.tuple(members));
            }
            "Lam" | "LM" => {
                let pair = self.types(name, rest, 2, *head)?;
                let (from, to) = (pair[0], pair[1]);
                let ty = if name == "Lam" { Type::Lambda(from, to) } else { Type::LinearMap(from, to) };
                return Some(self.program.types.intern(ty));
            }
            _ => {
                self.diags.push(undefined("type", name, self.forms.place(*head).into(), NAMES));
                return None;
            }
        };
        self.nothing_follows(rest, "the type").then_some(scalar)
    }

    fn types(&mut self, name: &str, forms: &[FormId], count: usize, at: FormId) -> Found<Vec<TypeId>> {
        if forms.len() != count {
            let types = if count == 1 { "1 type".into() } else { format!("{count} types") };
            self.report(Code::E1007, at, format!("`{name}` needs {types}, found {}", forms.len()));
            return None;
        }
        let types: Vec<_> = forms.iter().map(|form| self.ty(*form)).collect();
        types.into_iter().collect()
    }

    fn rank(&mut self, form: FormId) -> Found<u32> {
        match self.forms.get(form) {
            Form::Integer(rank) if (1..=i64::from(MAX_RANK)).contains(rank) => u32::try_from(*rank).ok(),
            Form::Integer(rank) if *rank > i64::from(MAX_RANK) => {
                self.report(Code::E1008, form, format!("rank {rank} is over the limit of {MAX_RANK}"));
                None
            }
            _ => {
                self.unexpected(form, "a rank of at least 1");
                None
            }
        }
    }

    fn nothing_follows(&mut self, rest: &[FormId], what: &str) -> bool {
        if let Some(first) = rest.first() {
            self.unexpected(*first, &format!("`)` after {what}"));
        }
        rest.is_empty()
    }

    /// Reports `expected …, found …` unless the types are equal. Returns whether they are.
    pub(super) fn same(&mut self, at: FormId, what: &str, expected: TypeId, found: TypeId) -> bool {
        if expected != found {
            let types = &self.program.types;
            let message = format!("{what}: expected {}, found {}", types.show(expected), types.show(found));
            self.report(Code::E2001, at, message);
        }
        expected == found
    }
}
